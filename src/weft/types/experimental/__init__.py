"""`tf.types.experimental`: classes and protocols of traced functions, and what to annotate with."""

from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.function_type import Callable, FunctionType
from weft._src.function.polymorphic import PolymorphicFunction
from weft._src.function.protocols import SupportsTracingProtocol
from weft._src.function.trace_types import TraceType
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.types.experimental import distributed

GenericFunction = PolymorphicFunction
AtomicFunction = ConcreteFunction  # one trace is both here

__all__ = [
    "AtomicFunction",
    "Callable",
    "ConcreteFunction",
    "DTypeLike",
    "FunctionType",
    "GenericFunction",
    "PolymorphicFunction",
    "ShapeLike",
    "SupportsTracingProtocol",
    "TensorLike",
    "TraceType",
    "distributed",
]

_open_namespace(__name__)
