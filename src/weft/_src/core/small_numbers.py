"""Casts of floats with eight bits and fewer, by tables: several times as fast as ml_dtypes' own.

There are 256 such numbers at most, so to read them is to look them up. To round float32 to them,
the lower half of its bits is made one bit that says whether something was there (rounding to odd):
what is left has more digits than a small float, lies on a tie only if the number did, and is one of
65,536, which are looked up as bfloat16.
"""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]

_MANY = 1 << 12  # below, ml_dtypes is as quick


@functools.cache
def _values(small: np.dtype[Any]) -> Array:
    """All numbers of a small dtype as float32, by their bits."""
    return np.arange(256, dtype=np.uint8).view(small).astype(np.float32)


@functools.cache
def _nearest(small: np.dtype[Any], wide: np.dtype[Any]) -> Array:
    """The bits of the nearest small number for all numbers of a dtype of 16 bits."""
    with np.errstate(all="ignore"):
        return np.arange(1 << 16, dtype=np.uint16).view(wide).astype(small).view(np.uint8)


def widened(x: Array) -> Array:
    """An array of small floats as float32, which all of them are exactly.

    >>> from weft._src.core.small_numbers import widened
    >>> widened(np.array([1.5, -448], tf.dtypes.experimental.float8_e4m3fn.as_numpy_dtype))
    array([   1.5, -448. ], dtype=float32)
    """
    if x.size < _MANY:
        return x.astype(np.float32)
    return np.take(_values(x.dtype), x.view(np.uint8))


def narrowed(x: Array, small: np.dtype[Any]) -> Array:
    """An array of real numbers as small floats: the nearest ones, of two the even one.

    >>> from weft._src.core.small_numbers import narrowed
    >>> small = tf.dtypes.experimental.float8_e5m2
    >>> narrowed(np.array([1.1, 1.2]), small.numpy_dtype).astype(np.float32)
    array([1.  , 1.25], dtype=float32)
    """
    if x.size < _MANY or x.dtype == np.float64:
        return x.astype(small)
    if x.dtype in (np.float16, ml_dtypes.bfloat16):
        return np.take(_nearest(small, x.dtype), x.view(np.uint16)).view(small)
    # Integers that float32 rounds are beyond all small floats.
    halves = np.ascontiguousarray(x, np.float32).view(np.uint16).reshape(*x.shape, 2)
    lower, upper = (0, 1) if np.little_endian else (1, 0)
    odd = halves[..., upper] | (halves[..., lower] != 0)
    return np.take(_nearest(small, np.dtype(ml_dtypes.bfloat16)), odd).view(small)
