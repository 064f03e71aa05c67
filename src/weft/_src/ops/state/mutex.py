"""The lock of a critical section, as a resource.

A call of a function holds the locks of all resources it writes, so that it is atomic. A section
needs no more than to count as one of them.
"""

from __future__ import annotations

from weft._src.core.dtypes import RESOURCE
from weft._src.core.holding import ResourceLock
from weft._src.core.resources import Resource
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, args, define_op


class MutexCell(Resource):
    """A lock that graphs can refer to."""

    __slots__ = ("lock", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = ResourceLock(f"the critical section {name!r}")

    def __repr__(self) -> str:
        return f"<MutexCell {self.name!r}>"


mutex_lock_op = define_op(
    "MutexLock",
    args("resource", RESOURCE),
    infer=lambda mutex: (),
    kernel=lambda xp, mutex: (),
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    outputs=0,
    writes=(0,),
)
