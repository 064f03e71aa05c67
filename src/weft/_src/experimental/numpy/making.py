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
    result_type,
    whole,
)
from weft._src.experimental.numpy.shapes import axis_of, moveaxis, sizes_of


def array(
    val: TensorLike, dtype: DTypeLike | None = None, copy: bool = True, ndmin: int = 0
) -> tf.Tensor:
    """A tensor of numbers, lists or arrays, with NumPy's default dtypes.

    Args:
      val: a tensor, NumPy array, number or (nested) list; lists may hold tensors.
      dtype: the dtype that it is cast to; None lets the value decide: Python ints are int64, floats
        float64.
      copy: accepted for compatibility; tensors never change.
      ndmin: the least number of axes; new ones stand in front.

    Returns:
      A tensor.

    Raises:
      TypeError: if `val` is a ragged or sparse tensor, or `ndmin` is no integer.
      ValueError: if the rows of a list have different lengths, or `ndmin` is not between 0 and 64.

    >>> tf.experimental.numpy.array([1.5, 2]).dtype
    tf.float64
    """
    x, ndmin = asarray(val, dtype), whole("array", "ndmin", ndmin, 0, 64)
    return x[(None,) * (ndmin - x.ndim)] if x.ndim < ndmin else x


def zeros(shape: ShapeLike, dtype: DTypeLike = float) -> tf.Tensor:
    """An array of zeros.

    Args:
      shape: the shape, or the size of a vector.
      dtype: the dtype, float64 if it is left out.

    Returns:
      A tensor.

    Raises:
      ShapeError: if a size is negative.

    >>> tf.experimental.numpy.zeros(2).numpy()
    array([0., 0.])
    """
    return tf.zeros(sizes_of(shape), as_dtype(dtype))


def ones(shape: ShapeLike, dtype: DTypeLike = float) -> tf.Tensor:
    """An array of ones.

    Args:
      shape: the shape, or the size of a vector.
      dtype: the dtype, float64 if it is left out.

    Returns:
      A tensor.

    Raises:
      ShapeError: if a size is negative.

    >>> tf.experimental.numpy.ones(2).numpy()
    array([1., 1.])
    """
    return tf.ones(sizes_of(shape), as_dtype(dtype))


def empty(shape: ShapeLike, dtype: DTypeLike = float) -> tf.Tensor:
    """An array whose elements do not matter: zeros.

    Args:
      shape: the shape, or the size of a vector.
      dtype: the dtype, float64 if it is left out.

    Returns:
      A tensor.

    Raises:
      ShapeError: if a size is negative.

    >>> tf.experimental.numpy.empty([2, 3]).shape
    TensorShape([2, 3])
    """
    return zeros(shape, dtype)


def empty_like(a: TensorLike, dtype: DTypeLike | None = None) -> tf.Tensor:
    """An array in the shape of another whose elements do not matter: zeros.

    Args:
      a: an array, number or (nested) list.
      dtype: the dtype; None is that of `a`.

    Returns:
      A tensor of the shape of `a`.

    >>> tf.experimental.numpy.empty_like([1, 2]).dtype
    tf.int64
    """
    return zeros_like(a, dtype)


def copy(a: TensorLike) -> tf.Tensor:
    """The array; tensors never change, so nothing is copied.

    Args:
      a: an array, number or (nested) list.

    Returns:
      A tensor of the same shape and dtype.

    >>> tf.experimental.numpy.copy([1, 2]).numpy()
    array([1, 2])
    """
    return tf.identity(asarray(a))


def zeros_like(a: TensorLike, dtype: DTypeLike | None = None) -> tf.Tensor:
    """An array of zeros in the shape of another.

    Args:
      a: an array, number or (nested) list.
      dtype: the dtype; None is that of `a`.

    Returns:
      A tensor of the shape of `a`.

    >>> tf.experimental.numpy.zeros_like([1, 2]).numpy()
    array([0, 0])
    """
    return tf.zeros_like(asarray(a, dtype))


def ones_like(a: TensorLike, dtype: DTypeLike | None = None) -> tf.Tensor:
    """An array of ones in the shape of another.

    Args:
      a: an array, number or (nested) list.
      dtype: the dtype; None is that of `a`.

    Returns:
      A tensor of the shape of `a`.

    >>> tf.experimental.numpy.ones_like([1, 2]).numpy()
    array([1, 1])
    """
    return tf.ones_like(asarray(a, dtype))


def full(shape: ShapeLike, fill_value: TensorLike, dtype: DTypeLike | None = None) -> tf.Tensor:
    """An array of one value.

    Args:
      shape: the shape, or the size of a vector.
      fill_value: the value, a number or an array that broadcasts to the shape.
      dtype: the dtype; None is that of `fill_value`.

    Returns:
      A tensor.

    Raises:
      ShapeError: if `fill_value` does not broadcast to the shape.

    >>> tf.experimental.numpy.full((2,), 7).numpy()
    array([7, 7])
    """
    return tf.broadcast_to(asarray(fill_value, dtype), sizes_of(shape))


def full_like(
    a: TensorLike,
    fill_value: TensorLike,
    dtype: DTypeLike | None = None,
    order: str = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
) -> tf.Tensor:
    """An array of one value in the shape and dtype of another.

    Args:
      a: an array, number or (nested) list.
      fill_value: the value, a number or an array that broadcasts to the shape; it is cast.
      dtype: the dtype; None is that of `a`.
      order: accepted for compatibility.
      subok: accepted for compatibility.
      shape: another shape; None is that of `a`.

    Returns:
      A tensor of the shape of `a`, or of `shape`.

    Raises:
      ShapeError: if `fill_value` does not broadcast to the shape.

    >>> tf.experimental.numpy.full_like([1, 2], 7).numpy()
    array([7, 7])
    """
    x = asarray(a)
    value = asarray(fill_value, x.dtype if dtype is None else dtype)
    return tf.broadcast_to(value, tf.shape(x) if shape is None else shape)


def arange(
    start: TensorLike,
    stop: TensorLike | None = None,
    step: TensorLike = 1,
    dtype: DTypeLike | None = None,
) -> tf.Tensor:
    """Numbers from start (included) to stop (not included), step apart.

    Args:
      start: the first number; if it is the only one, the end, and numbers go from 0.
      stop: the end, which is not included; None: `start` is the end.
      step: the distance between numbers; a negative one counts down.
      dtype: the dtype of the result; None is the common one of the arguments.

    Returns:
      A vector, empty if `step` leads away from `stop`.

    Raises:
      ShapeError: if `step` is 0.

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

    Args:
      start: the first number, or an array of them.
      stop: the last number, or an array that broadcasts with `start`.
      num: how many numbers.
      endpoint: whether `stop` is one of them.
      retstep: whether the distance between the numbers is returned too.
      dtype: the dtype, float64 if it is left out.
      axis: where in the result the axis of the numbers stands.

    Returns:
      A tensor, a vector for scalar bounds; with `retstep` a pair of it and the float64 distance.

    Raises:
      ValueError: if `num` is negative.
      TypeError: if `num` is no integer.

    >>> tf.experimental.numpy.linspace(0, 1, 3).numpy()
    array([0. , 0.5, 1. ])
    """
    first, last = [asarray(v, float) for v in (start, stop)]
    num = whole("linspace", "num", num, 0, LARGEST)
    parts = num - 1 if endpoint else num
    step = (last - first) / np.maximum(parts, 1)
    shape = [num] + [1] * max(first.ndim, last.ndim)
    out = first + tf.reshape(tf.range(num, dtype=tf.float64), shape) * step
    out = _with_exact_ends(out, first, last if endpoint else None)
    if as_dtype(dtype).is_integer:
        out = tf.floor(out)
    out = tf.cast(moveaxis(out, 0, axis) if axis else out, as_dtype(dtype))
    return (out, step) if retstep else out


def _with_exact_ends(out: tf.Tensor, first: tf.Tensor, last: tf.Tensor | None) -> tf.Tensor:
    """Numbers along the first axis, of which the first and the last are not computed."""
    num = out.shape[0]
    if num == 0:
        return out
    ends = [tf.broadcast_to(first, tf.shape(out)[1:])[None]]
    if last is None or num == 1:
        return tf.concat([*ends, out[1:]], 0)
    return tf.concat([*ends, out[1:-1], tf.broadcast_to(last, tf.shape(out)[1:])[None]], 0)


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

    Args:
      start: the first exponent, or an array of them.
      stop: the last exponent, or an array that broadcasts with `start`.
      num: how many numbers.
      endpoint: whether the power of `stop` is one of them.
      base: the number that is raised to the powers.
      dtype: the dtype; None is float64.
      axis: where in the result the axis of the numbers stands.

    Returns:
      A tensor, a vector for scalar exponents.

    Raises:
      ValueError: if `num` is negative.
      TypeError: if `num` is no integer.

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

    Args:
      start: the first number, or an array of them; not 0, and not complex.
      stop: the last number, of the same sign, or an array that broadcasts with `start`.
      num: how many numbers.
      endpoint: whether `stop` is one of them.
      dtype: the dtype; None is float64.
      axis: where in the result the axis of the numbers stands.

    Returns:
      A tensor, a vector for scalar bounds; NaN between bounds of different signs.

    Raises:
      ValueError: if `num` is negative, a bound is known to be 0, or there is no such axis.
      TypeError: if `num` or `axis` are no integers.

    >>> tf.experimental.numpy.geomspace(1, 1000, 4).numpy()
    array([   1.,   10.,  100., 1000.])
    """
    first, last = [asarray(v, float) for v in (start, stop)]
    for known in (tf.get_static_value(first), tf.get_static_value(last)):
        if known is not None and not known.all():
            raise ValueError("geomspace: no multiple of 0 is another number; a bound is 0.")
    # The logarithms of the sizes are spaced evenly; the sign is that of both, or there are none.
    sign = tf.sign(first)
    powers = linspace(tf.math.log(first * sign), tf.math.log(last * sign), num, endpoint)
    out = _with_exact_ends(tf.exp(powers) * sign, first, last if endpoint else None)
    out = moveaxis(out, 0, axis_of("geomspace", axis, out))
    return tf.cast(out, as_dtype(dtype or float))


def meshgrid(*xi: Any, indexing: str = "xy") -> list[tf.Tensor]:
    """Coordinates of the points of a grid.

    Args:
      *xi: vectors, the coordinates along each axis.
      indexing: "xy": the first vector runs along the second axis and the second along the first;
        "ij": each runs along the axis of its own number.

    Returns:
      A list with a tensor for each vector, all of the shape of the grid.

    Raises:
      ValueError: if `indexing` is something else.

    >>> [m.shape for m in tf.experimental.numpy.meshgrid([1, 2, 3], [4, 5])]
    [TensorShape([2, 3]), TensorShape([2, 3])]
    """
    return list(tf.meshgrid(*[asarray(x) for x in xi], indexing=indexing))
