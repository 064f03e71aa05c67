"""Tensors filled with one value."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core import dtypes, memory
from weft._src.core.aliases import ArrayNamespace, DTypeLike, ShapeLike, TensorLike
from weft._src.core.composite import CompositeTensor
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA, INDEX, DType, float32
from weft._src.core.native_rules import Special
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL
from weft._src.ops import batching, rules
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.reduce import sums
from weft._src.ops.registry import args, define_op


def _fill_infer(dims: TensorSpec, value: TensorSpec) -> TensorSpec:
    rules.check_rank("fill", value, 0, name="value")
    return value.with_dims(rules.dims_from_value("fill", dims, name="dims"))


def _fill_kernel(xp: ArrayNamespace, dims: Array, value: Array) -> Array:
    shape = tuple(dims.tolist())
    if value.ndim:
        raise ValueError("the type rule says what is wrong")
    memory.check("fill", shape, value.dtype)
    return xp.full(shape, value, value.dtype)


fill_op = define_op(
    "Fill",
    args("dims", INDEX, is_shape=True) + args("value", DATA),
    infer=_fill_infer,
    kernel=_fill_kernel,
    native=Special("fill"),
    xla=KERNEL,
    vjp=lambda ctx, g: (None, sums.sum_op(g, axis=None, keepdims=False)),
    trusts_kernel=True,
    fresh=True,
    shape_arithmetic=True,
    batch=batching.filled,
)


def fill(dims: Any, value: TensorLike, name: str | None = None, layout: None = None) -> Tensor:
    """A tensor of the given shape with the same value everywhere.

    Args:
      dims: the shape: a list, `tf.TensorShape`, vector of int32 or int64, or one number for a
        vector.
      value: a scalar of any dtype that holds data.
      layout: accepted for compatibility, ignored.

    Returns:
      A tensor of shape `dims` with the dtype of `value`.

    Raises:
      ShapeError: if `value` is no scalar, `dims` no vector, or a size is negative.

    >>> tf.fill([2, 3], 9).numpy()
    array([[9, 9, 9],
           [9, 9, 9]], dtype=int32)
    """
    return _filled(dims, convert_to_tensor(value), name)


def _filled(shape: Any, value: Tensor, name: str | None) -> Tensor:
    try:
        sizes = shapes.shape_argument(shape)
    except shapes.RaggedSizesError as error:
        return error.shape._filled(value)
    return fill_op(sizes, value, name=name)


def _constant_of(dtype: DType, number: int) -> Tensor:
    if dtype is dtypes.string:
        if number:
            raise TypeError(f"A tensor of strings cannot be filled with {number}. Use tf.fill.")
        return convert_to_tensor("")
    return convert_to_tensor(np.array(number, dtype.numpy_dtype))


def zeros(
    shape: ShapeLike, dtype: DTypeLike = float32, name: str | None = None, layout: None = None
) -> Tensor:
    """Zeros (empty strings, False) of the given shape.

    Args:
      shape: the sizes: a list, `tf.TensorShape`, integer vector, or one number for a vector.
      dtype: the dtype of the result, of numbers, truth values or strings.
      layout: accepted for compatibility, ignored.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      ShapeError: if a size is negative.
      ValueError: if the shape contains None.

    >>> tf.zeros([2, 3], tf.int32).numpy()
    array([[0, 0, 0],
           [0, 0, 0]], dtype=int32)
    """
    zero = _constant_of(dtypes.as_dtype(dtype), 0)
    return _filled(shape, zero, name or "zeros")


def ones(
    shape: ShapeLike, dtype: DTypeLike = float32, name: str | None = None, layout: None = None
) -> Tensor:
    """Ones of the given shape.

    Args:
      shape: the sizes: a list, `tf.TensorShape`, integer vector, or one number for a vector.
      dtype: the dtype of the result, of numbers or truth values (then it holds True).
      layout: accepted for compatibility, ignored.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      TypeError: if the dtype is string.
      ShapeError: if a size is negative.
      ValueError: if the shape contains None.

    >>> tf.ones([3]).numpy()
    array([1., 1., 1.], dtype=float32)
    """
    one = _constant_of(dtypes.as_dtype(dtype), 1)
    return _filled(shape, one, name or "ones")


def _like(input: Any, dtype: Any, number: int, name: str) -> Any:
    if isinstance(input, CompositeTensor):
        return input.with_all_values(_like(input.all_values, dtype, number, name))
    x = convert_to_tensor(input)
    value = _constant_of(x.dtype if dtype is None else dtypes.as_dtype(dtype), number)
    return fill_op(shapes.shape(x), value, name=name)


def zeros_like(
    input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, layout: Any = None
) -> Tensor:
    """Zeros with the shape (and dtype, unless another is given) of a tensor.

    Args:
      input: a tensor, or a sparse or ragged tensor, of which only the values are replaced.
      dtype: the dtype of the result; None means that of `input`.
      layout: accepted for compatibility, ignored.

    Returns:
      A tensor of the shape of `input`; sparse or ragged if `input` is.

    >>> tf.zeros_like([1.5, 2.5]).numpy()
    array([0., 0.], dtype=float32)
    """
    return _like(input, dtype, 0, name or "zeros_like")


def ones_like(
    input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, layout: Any = None
) -> Tensor:
    """Ones with the shape (and dtype, unless another is given) of a tensor.

    Args:
      input: a tensor, or a sparse or ragged tensor, of which only the values are replaced.
      dtype: the dtype of the result; None means that of `input`.
      layout: accepted for compatibility, ignored.

    Returns:
      A tensor of the shape of `input`; sparse or ragged if `input` is.

    Raises:
      TypeError: if the dtype is string.

    >>> tf.ones_like([1.5, 2.5]).numpy()
    array([1., 1.], dtype=float32)
    """
    return _like(input, dtype, 1, name or "ones_like")
