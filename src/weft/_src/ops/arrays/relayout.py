"""The op that says which devices have which parts of a value (`tf.experimental.dtensor`)."""

from __future__ import annotations

from typing import Any, Protocol

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.dtypes import PLAIN
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array
from weft._src.core.xla_rules import Lowered
from weft._src.ops.registry import HOST_ONLY, Op, args, define_op


class LayoutOnMesh(Protocol):
    """What is needed of a layout, which is made further above."""

    @property
    def mesh(self) -> Any:
        """The mesh of devices."""

    def check(self, shape: Any) -> None:
        """InvalidArgumentError if a value of that shape cannot be laid out so."""


def _infer(x: TensorSpec, *, layout: LayoutOnMesh) -> TensorSpec:
    if x.dims is not None and all(isinstance(n, int) for n in x.dims):
        layout.check(x.dims)
    return x


def _kernel(xp: ArrayNamespace, x: Array, *, layout: LayoutOnMesh) -> Array:
    return x  # on the host all parts are at one place


# `host_io` keeps it from being folded or merged: where a value is is no part of the value.
relayout_op: Op = define_op(
    "Relayout",
    args("input", PLAIN),
    infer=_infer,
    kernel=_kernel,
    native=HOST_ONLY,
    xla=Lowered("relayout"),
    vjp=lambda ctx, g: (g,),
    host_io=True,
    self_contained=True,
)
