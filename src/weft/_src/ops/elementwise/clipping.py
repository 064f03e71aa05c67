"""Limiting values to a range."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import NUMERIC, QUANTIZED, SMALL, DType
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops.elementwise import arithmetic, casting, complex_parts
from weft._src.ops.indexing.indexed_slices import IndexedSlices

_NUMBERS = NUMERIC | SMALL | QUANTIZED


def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Any:
    """t with what lies outside of a range moved to its edge.

    Args:
      t: a tensor of real numbers, or `tf.IndexedSlices`, of which the values are clipped.
      clip_value_min: the lower limit, a number or a tensor that broadcasts to the shape of `t`.
      clip_value_max: the upper limit, of this kind, too. Where it is lower than the lower limit,
        the lower limit is the result.

    Returns:
      A tensor (or `tf.IndexedSlices`) of the shape and dtype of `t`.

    Raises:
      ShapeError: if the limits do not broadcast to the shape of `t`.
      DTypeError: if they are tensors of another dtype.

    >>> tf.clip_by_value([-5.0, 0.5, 7.0], 0.0, 1.0).numpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    if isinstance(t, IndexedSlices):
        return t.with_values(clip_by_value(t.values, clip_value_min, clip_value_max, name))
    x = convert_to_tensor(t)
    out = arithmetic.maximum(arithmetic.minimum(x, clip_value_max), clip_value_min, name=name)
    if not x.shape.is_compatible_with(out.shape):
        raise ShapeError(
            f"clip_by_value: the limits must broadcast to the shape of t, {x.shape}; they make it "
            f"{out.shape}."
        )
    return out


def _clipped(x: Tensor, dtype: DType) -> Tensor:
    """x with what another dtype cannot hold moved to the nearest number that both can hold."""
    source = x.dtype
    # As Python's integers, which all limits are, and which do not overflow.
    low, high = (
        max(_whole(source.min), _whole(dtype.min)),
        min(_whole(source.max), _whole(dtype.max)),
    )
    if source.is_floating or low > _whole(source.min):
        x = arithmetic.maximum(x, _towards_zero(low, source))
    if source.is_floating or high < _whole(source.max):
        x = arithmetic.minimum(x, _towards_zero(high, source))
    return x


def _whole(limit: Any) -> int:
    return limit if isinstance(limit, int) else int(float(limit))


def _towards_zero(limit: int, dtype: DType) -> Any:
    """A limit as a number of a dtype: not beyond it, though it may be rounded."""
    if dtype.is_integer:
        return dtype.as_numpy_dtype(limit)
    value = dtype.as_numpy_dtype(float(limit))
    if abs(int(float(value))) > abs(limit):
        value = np.nextafter(value, dtype.as_numpy_dtype(0))
    return value


def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """x with elements of another dtype; what does not fit becomes its smallest or largest value.

    To be exact the nearest number that both dtypes can hold; so infinities become finite numbers.
    NaN is what `tf.cast` makes of it.

    Args:
      value: a tensor; complex numbers lose their imaginary part if `dtype` is real.
      dtype: the wanted dtype. What is not numeric is cast as `tf.cast` does.

    Returns:
      A tensor of the shape of `value` and dtype `dtype`.

    Raises:
      DTypeError: if `value` holds strings.
      UnsupportedError: if `dtype` is neither numeric nor bool.

    >>> tf.saturate_cast([-1.0, 300.0], tf.uint8).numpy()
    array([  0, 255], dtype=uint8)
    """
    dtype = dtypes.as_dtype(dtype)
    x = convert_to_tensor(value)
    if x.dtype.is_complex and not dtype.is_complex:
        x = complex_parts.real(x)
    if x.dtype not in _NUMBERS or dtype not in _NUMBERS:
        return casting.cast(x, dtype, name)
    if not x.dtype.is_complex:
        x = _clipped(casting.computable(x), dtypes.stored_as(dtype.real_dtype))
    elif dtype.size < x.dtype.size:
        real, imag = complex_parts.real(x), complex_parts.imag(x)
        narrow = dtype.real_dtype
        x = complex_parts.complex(_clipped(real, narrow), _clipped(imag, narrow))
    return casting.cast(x, dtype, name)
