"""Python values as state of staged blocks: what can be a tensor, and how two of them agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src import nest
from weft._src.autograph.operators.undefined import Undefined
from weft._src.core.context import state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import SymbolicTensor, Tensor
from weft._src.ops.arrays import fill
from weft._src.state.variable import Variable

_NUMBERS = (bool, int, float, complex, np.ndarray, np.generic)


def is_internal(name: str) -> bool:
    """Whether a variable was made by the converters: flags and return values."""
    return name.startswith(("retval_", "do_return_", "break_", "continue_", "go_on_"))


def is_symbolic(value: Any) -> bool:
    """Whether a value is only known when the graph runs."""
    if isinstance(value, Variable):
        return state.graph is not None
    return isinstance(value, SymbolicTensor)


def can_be_tensor(value: Any) -> bool:
    """Whether a leaf can become a tensor of the graph."""
    return isinstance(value, (Tensor, Variable, str, bytes, *_NUMBERS)) or hasattr(
        value, "__tf_tensor__"
    )


def flatten(value: Any) -> list[Any]:
    """The leaves of a nest, composite values taken apart."""
    return nest.flatten(value, expand_composites=True)


def as_tensor(value: Any, hint: DType | None = None) -> Tensor:
    """A leaf as a tensor; numbers take the dtype of what they meet."""
    if isinstance(value, Tensor):
        return value
    return convert_to_tensor(value, dtype_hint=hint)


def dummy(spec: TensorSpec) -> Tensor:
    """A value of some type for a path on which nobody reads it."""
    dims = [] if spec.dims is None else [d if type(d) is int else 0 for d in spec.dims]
    return fill.zeros(dims, spec.dtype)


def poison(name: str, error: Exception) -> Undefined:
    """A variable that raises an error when it is used."""
    return Undefined(name, error)
