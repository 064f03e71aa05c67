"""`tensorflow.python.framework.composite_tensor`: the base of objects that are made of tensors.

TensorFlow Probability's distributions and bijectors are such objects. Of Weft's own, ragged and
sparse tensors count as some.
"""

from __future__ import annotations

from abc import ABC
from typing import Any

from weft._src.core import composite
from weft._src.distribute.per_replica import PerReplica
from weft._src.function.trace_types import ObjectType, TraceType


class CompositeTensor(ABC):  # noqa: B024 - a base that others ask for; what it needs has its spec
    """An object with a `_type_spec` that says how it is taken apart and put together.

    As an argument of a function it is what a module is: one object, whose variables are its own.
    """

    def __tf_tracing_type__(self, context: Any) -> TraceType:
        """Functions are traced for each object."""
        return ObjectType(self)


CompositeTensor.register(composite.CompositeTensor)  # type: ignore[type-abstract]
CompositeTensor.register(PerReplica)  # by which Keras knows values of several replicas
