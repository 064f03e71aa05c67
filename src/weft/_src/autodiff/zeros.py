"""Gradients of zeros, and the shapes of gradients, for things that are not at hand as tensors."""

from __future__ import annotations

from weft._src.core import dtypes
from weft._src.core.convert import convert_to_tensor
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.ops.arrays import fill, shape as shapes
from weft._src.ops.control import stack
from weft._src.ops.state.variables import read_op


def zeros_for(tensor: Tensor, like: TensorSpec | None = None) -> Tensor:
    """A gradient of zeros for a tensor, a stack, or (given its type) a variable's handle."""
    if tensor.dtype is dtypes.variant:
        return stack.zeros_op()
    spec = tensor.spec
    if tensor.dtype is dtypes.resource:
        assert like is not None
        spec = like
    if spec.is_static:  # needs no value, so none has to be saved for it
        return fill.zeros(spec.shape, spec.dtype)
    return fill.zeros(shape_for(tensor, spec), spec.dtype)


def shape_for(tensor: Tensor, like: TensorSpec) -> Tensor:
    """The shape of a tensor or a variable; no value is read if it is known."""
    if like.is_static:
        return shapes.shape_argument(like.shape.as_list())
    if tensor.dtype is dtypes.resource:
        tensor = read_op(tensor, dtype=like.dtype, shape=like.dims)
    return shapes.shape_op(tensor, out_type=dtypes.int32)


def placeholder_value(spec: TensorSpec) -> Tensor:
    """Something of a type, where nobody will read the value."""
    if spec.dtype is dtypes.variant:
        return stack.reserve_op(convert_to_tensor(0), dtype=dtypes.float32)
    dims = [] if spec.dims is None else [d if type(d) is int else 0 for d in spec.dims]
    return fill.zeros(dims, spec.dtype)
