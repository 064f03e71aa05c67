"""`tf.types.experimental`: protocols of traced functions."""

from typing import Any, Protocol, runtime_checkable

from weft._src.function.trace_types import TraceType


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """A class whose objects say themselves which traces they can share."""

    def __tf_tracing_type__(self, context: Any) -> TraceType:
        """The trace type of this object."""
