"""Limiting values to a range."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.convert import convert_to_tensor
from weft.core.dtypes import DType
from weft.core.tensor import Tensor
from weft.errors import ShapeError
from weft.ops.indexing.indexed_slices import IndexedSlices
from weft.ops.math import arithmetic, casting, complex_parts


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """t with what lies outside of a range moved to its edge.

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


def _bound(limit: Any, dtype: DType, towards: Any) -> Any:
    """A limit of one dtype as a number of another: not beyond it, though it may be rounded."""
    value = dtype.as_numpy_dtype(limit)
    if dtype.is_floating and abs(int(value)) > abs(int(limit)):
        value = np.nextafter(value, dtype.as_numpy_dtype(towards))
    return value


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """x with elements of another dtype; what does not fit becomes its smallest or largest value.

    >>> tf.saturate_cast([-1.0, 300.0], tf.uint8).numpy()
    array([  0, 255], dtype=uint8)
    """
    dtype = dtypes.as_dtype(dtype)
    x = convert_to_tensor(value)
    if x.dtype.is_complex and not dtype.is_complex:
        x = complex_parts.real(x)
    if x.dtype.is_bool or dtype.is_complex or dtype.is_bool:
        return casting.cast(x, dtype, name)
    # Compared as Python's integers, which all finite limits are, and which do not overflow.
    if int(dtype.min) > int(x.dtype.min):
        x = arithmetic.maximum(x, _bound(dtype.min, x.dtype, 0))
    if int(dtype.max) < int(x.dtype.max):
        x = arithmetic.minimum(x, _bound(dtype.max, x.dtype, 0))
    return casting.cast(x, dtype, name)
