"""`tf.types.experimental`: classes and protocols of traced functions."""

from typing import Any, Any as _Any, Protocol, runtime_checkable

from weft.core.missing import missing_name as _missing_name
from weft.function.concrete import ConcreteFunction as ConcreteFunction
from weft.function.polymorphic import Function as PolymorphicFunction
from weft.function.trace_types import TraceType as TraceType

GenericFunction = PolymorphicFunction
TensorLike = Any


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """A class whose objects say themselves which traces they can share."""

    def __tf_tracing_type__(self, context: Any) -> TraceType:
        """The trace type of this object."""


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
