"""Making arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import weft as tf
from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.experimental.numpy.promotion import (
    LARGEST,
    as_dtype,
    asarray,
    floating,
    promoted,
    result_type,
    whole,
)
from weft._src.experimental.numpy.shapes import axis_of, moveaxis, sizes_of


def array(
    val: TensorLike, dtype: DTypeLike | None = None, copy: bool = True, ndmin: int = 0
) -> tf.Tensor:
    """A tensor of numbers, lists or arrays, with NumPy's default dtypes.

    >>> tf.experimental.numpy.array([1.5, 2]).dtype
    tf.float64
    """
    x, ndmin = asarray(val, dtype), whole("array", "ndmin", ndmin, 0, 64)
    return x[(None,) * (ndmin - x.ndim)] if x.ndim < ndmin else x


def zeros(shape: ShapeLike, dtype: DTypeLike = float) -> tf.Tensor:
    """An array of zeros.

    >>> tf.experimental.numpy.zeros(2).numpy()
    array([0., 0.])
    """
    return tf.zeros(sizes_of(shape), as_dtype(dtype))


def ones(shape: ShapeLike, dtype: DTypeLike = float) -> tf.Tensor:
    """An array of ones.

    >>> tf.experimental.numpy.ones(2).numpy()
    array([1., 1.])
    """
    return tf.ones(sizes_of(shape), as_dtype(dtype))


def empty(shape: ShapeLike, dtype: DTypeLike = float) -> tf.Tensor:
    """An array whose elements do not matter: zeros.

    >>> tf.experimental.numpy.empty([2, 3]).shape
    TensorShape([2, 3])
    """
    return zeros(shape, dtype)


def empty_like(a: TensorLike, dtype: DTypeLike | None = None) -> tf.Tensor:
    """An array in the shape of another whose elements do not matter: zeros.

    >>> tf.experimental.numpy.empty_like([1, 2]).dtype
    tf.int64
    """
    return zeros_like(a, dtype)


def copy(a: TensorLike) -> tf.Tensor:
    """The array; tensors never change, so nothing is copied.

    >>> tf.experimental.numpy.copy([1, 2]).numpy()
    array([1, 2])
    """
    return tf.identity(asarray(a))


def zeros_like(a: TensorLike, dtype: DTypeLike | None = None) -> tf.Tensor:
    """An array of zeros in the shape of another.

    >>> tf.experimental.numpy.zeros_like([1, 2]).numpy()
    array([0, 0])
    """
    return tf.zeros_like(asarray(a, dtype))


def ones_like(a: TensorLike, dtype: DTypeLike | None = None) -> tf.Tensor:
    """An array of ones in the shape of another.

    >>> tf.experimental.numpy.ones_like([1, 2]).numpy()
    array([1, 1])
    """
    return tf.ones_like(asarray(a, dtype))


def full(shape: ShapeLike, fill_value: TensorLike, dtype: DTypeLike | None = None) -> tf.Tensor:
    """An array of one value.

    >>> tf.experimental.numpy.full((2,), 7).numpy()
    array([7, 7])
    """
    return tf.broadcast_to(asarray(fill_value, dtype), sizes_of(shape))


def full_like(a: TensorLike, fill_value: TensorLike, dtype: DTypeLike | None = None) -> tf.Tensor:
    """An array of one value in the shape and dtype of another.

    >>> tf.experimental.numpy.full_like([1, 2], 7).numpy()
    array([7, 7])
    """
    x = asarray(a)
    return tf.broadcast_to(asarray(fill_value, x.dtype if dtype is None else dtype), tf.shape(x))


def arange(
    start: TensorLike,
    stop: TensorLike | None = None,
    step: TensorLike = 1,
    dtype: DTypeLike | None = None,
) -> tf.Tensor:
    """Numbers from start (included) to stop (not included), step apart.

    >>> tf.experimental.numpy.arange(1, 7, 2).numpy()
    array([1, 3, 5])
    """
    if stop is None:
        start, stop = 0, start
    kind = result_type(*[asarray(v) for v in (start, stop, step)])
    first, last, delta = [asarray(v, kind) for v in (start, stop, step)]
    # Where a step leads away from stop there are no numbers.
    last = tf.where(delta > 0, tf.maximum(first, last), tf.minimum(first, last))
    out = tf.range(first, last, delta)
    return out if dtype is None else tf.cast(out, as_dtype(dtype))


def linspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = float,
    axis: int = 0,
) -> Any:
    """Numbers that are evenly spaced between two bounds.

    >>> tf.experimental.numpy.linspace(0, 1, 3).numpy()
    array([0. , 0.5, 1. ])
    """
    first, last = [asarray(v, float) for v in (start, stop)]
    num = whole("linspace", "num", num, 0, LARGEST)
    parts = num - 1 if endpoint else num
    step = (last - first) / np.maximum(parts, 1)
    shape = [num] + [1] * max(first.ndim, last.ndim)
    out = first + tf.reshape(tf.range(num, dtype=tf.float64), shape) * step
    out = tf.cast(moveaxis(out, 0, axis) if axis else out, as_dtype(dtype))
    return (out, step) if retstep else out


def logspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> tf.Tensor:
    """Powers of a base with exponents that are evenly spaced.

    >>> tf.experimental.numpy.logspace(0, 2, 3).numpy()
    array([  1.,  10., 100.])
    """
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    return tf.cast(tf.pow(tf.constant(base, tf.float64), exponents), as_dtype(dtype or float))


def geomspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> tf.Tensor:
    """Numbers of which each is the same multiple of the one before it.

    >>> tf.experimental.numpy.geomspace(1, 1000, 4).numpy()
    array([   1.,   10.,  100., 1000.])
    """
    first, last = promoted(start, stop)
    first, last = floating(first), floating(last)
    at = axis_of("geomspace", axis, tf.expand_dims(first, 0))
    # The logarithms of the sizes are spaced evenly; the sign is that of both, or there are none.
    sign = tf.sign(first)
    powers = linspace(tf.math.log(first * sign), tf.math.log(last * sign), num, endpoint, axis=at)
    out = tf.exp(powers) * tf.expand_dims(sign, at)
    return out if dtype is None else tf.cast(out, as_dtype(dtype))


def meshgrid(*xi: Any, indexing: str = "xy") -> list[tf.Tensor]:
    """Coordinates of the points of a grid.

    >>> [m.shape for m in tf.experimental.numpy.meshgrid([1, 2, 3], [4, 5])]
    [TensorShape([2, 3]), TensorShape([2, 3])]
    """
    return list(tf.meshgrid(*[asarray(x) for x in xi], indexing=indexing))
