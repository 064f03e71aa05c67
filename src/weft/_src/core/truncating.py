"""Floats as integers, defined for every float: the same on every processor and every tier.

C leaves undefined what becomes of a float that does not fit, and NumPy what C does. Here it is
first cut to an integer of 32 bits (for int32 and all smaller types) or of 64 bits; what does not
fit that, infinities and NaN too, becomes its smallest number. Bits that are too many are dropped.
That is what TensorFlow does with a single number on x86.
"""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]

_NARROW = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))  # cannot hold the limits
_UINT64 = np.dtype(np.uint64)
_HALF = 2.0**63


def truncated(x: Array, dtype: np.dtype[Any]) -> Array:
    """An array of floats as integers of a dtype, cut towards zero.

    >>> from weft._src.core.truncating import truncated
    >>> truncated(np.array([1.9, -1.9, 300.0]), np.dtype(np.uint8))
    array([  1, 255,  44], dtype=uint8)
    """
    return x.astype(dtype) if _is_numpy_right(x.dtype, dtype) else _by_definition(x, dtype)


def _by_definition(x: Array, dtype: np.dtype[Any]) -> Array:
    if x.dtype in _NARROW:
        x = x.astype(np.float32)
    wide = np.int32 if dtype.itemsize < 4 or dtype == np.int32 else np.int64
    limit = x.dtype.type(2.0 ** (8 * wide().itemsize - 1))
    smallest = np.iinfo(wide).min
    fits = (x >= -limit) & (x < limit)
    out = np.where(fits, np.where(fits, x, 0).astype(wide), wide(smallest))
    if dtype == _UINT64:  # the upper half of its numbers
        high = (x >= _HALF) & (x < 2 * _HALF)
        out = np.where(high, np.where(high, x - _HALF, 0).astype(np.int64) ^ smallest, out)
    return out.astype(dtype)


@functools.cache
def _is_numpy_right(source: np.dtype[Any], dtype: np.dtype[Any]) -> bool:
    """Whether this NumPy, on this processor, happens to do what is defined, and at once.

    It has code of its own for whole vectors of elements and for what is left over.
    """
    with np.errstate(all="ignore"):
        limits = [sign * 2.0**bits for bits in (7, 8, 15, 16, 31, 32, 63, 64) for sign in (1, -1)]
        some = [
            *limits,
            *[1.5 * x for x in limits],
            1e30,
            -1e30,
            np.inf,
            -np.inf,
            np.nan,
            -1.5,
            300,
        ]
        several = np.repeat(np.array(some).astype(source), 37)
        single = [x.astype(dtype) for x in several[::37].reshape(-1, 1)]
        return np.array_equal(several.astype(dtype), _by_definition(several, dtype)) and (
            np.array_equal(np.concatenate(single), _by_definition(several[::37], dtype))
        )
