"""Sums, means, extrema, scans, sorting and searching, with NumPy's dtypes."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft._src.core.aliases import AxisLike, DTypeLike, TensorLike
from weft._src.experimental.numpy.promotion import as_dtype, asarray, floating, promoted


def _summed(a: Any, dtype: Any) -> tf.Tensor:
    """Sums of narrow integers and of truth values are int64 (uint64)."""
    x = asarray(a)
    if dtype is not None:
        return tf.cast(x, as_dtype(dtype))
    if x.dtype is tf.bool or (x.dtype.is_integer and x.dtype.size < 8):
        return tf.cast(x, tf.uint64 if x.dtype.is_unsigned else tf.int64)
    return x


def sum(
    a: TensorLike,
    axis: AxisLike | None = None,
    dtype: DTypeLike | None = None,
    keepdims: bool | None = None,
) -> tf.Tensor:
    """The sum over axes.

    >>> tf.experimental.numpy.sum([[1, 2], [3, 4]], axis=0).numpy()
    array([4, 6])
    """
    return tf.reduce_sum(_summed(a, dtype), axis, bool(keepdims))


def prod(
    a: TensorLike,
    axis: AxisLike | None = None,
    dtype: DTypeLike | None = None,
    keepdims: bool | None = None,
) -> tf.Tensor:
    """The product over axes.

    >>> tf.experimental.numpy.prod([[1, 2], [3, 4]]).numpy()
    np.int64(24)
    """
    return tf.reduce_prod(_summed(a, dtype), axis, bool(keepdims))


def mean(
    a: TensorLike,
    axis: AxisLike | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool | None = None,
) -> tf.Tensor:
    """The mean over axes.

    >>> tf.experimental.numpy.mean([1, 2]).numpy()
    np.float64(1.5)
    """
    _no_out("mean", out)
    x = floating(a) if dtype is None else tf.cast(asarray(a), as_dtype(dtype))
    return tf.reduce_mean(x, axis, bool(keepdims))


def _without_nan(a: Any, dtype: Any, neutral: int) -> tf.Tensor:
    x = asarray(a, dtype)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        return x
    return tf.where(_is_nan(x), tf.cast(neutral, x.dtype), x)


def _is_nan(x: tf.Tensor) -> tf.Tensor:
    return x != x  # noqa: PLR0124 - also for complex numbers


def nansum(
    a: TensorLike,
    axis: AxisLike | None = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
) -> tf.Tensor:
    """The sum over axes; NaN does not count.

    >>> tf.experimental.numpy.nansum([1.0, float("nan"), 2.0]).numpy()
    np.float64(3.0)
    """
    return sum(_without_nan(a, dtype, 0), axis, dtype, keepdims)


def nanprod(
    a: TensorLike,
    axis: AxisLike | None = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
) -> tf.Tensor:
    """The product over axes; NaN does not count.

    >>> tf.experimental.numpy.nanprod([3.0, float("nan"), 2.0]).numpy()
    np.float64(6.0)
    """
    return prod(_without_nan(a, dtype, 1), axis, dtype, keepdims)


def nanmean(
    a: TensorLike, axis: Any = None, dtype: DTypeLike | None = None, keepdims: Any = None
) -> tf.Tensor:
    """The mean over axes; NaN does not count.

    >>> tf.experimental.numpy.nanmean([1.0, float("nan"), 2.0]).numpy()
    np.float64(1.5)
    """
    x = floating(asarray(a, dtype))
    count = tf.reduce_sum(tf.cast(tf.logical_not(_is_nan(x)), x.dtype), axis, bool(keepdims))
    return nansum(x, axis, keepdims=keepdims) / count


def var(
    a: TensorLike,
    axis: AxisLike | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool | None = None,
) -> tf.Tensor:
    """The variance over axes; the sum of squares is divided by the count less `ddof`.

    >>> tf.experimental.numpy.var([1, 2, 4], ddof=1).numpy().round(4)
    np.float64(2.3333)
    """
    _no_out("var", out)
    x = floating(a) if dtype is None else tf.cast(asarray(a), as_dtype(dtype))
    centred = tf.abs(x - tf.reduce_mean(x, axis, keepdims=True))
    total = tf.reduce_sum(centred * centred, axis, bool(keepdims))
    count = tf.size(x) // tf.maximum(tf.size(tf.reduce_sum(x, axis)), 1)
    return total / tf.cast(count - ddof, total.dtype)


def std(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> tf.Tensor:
    """The standard deviation over axes.

    >>> tf.experimental.numpy.std([1, 3]).numpy()
    np.float64(1.0)
    """
    return tf.sqrt(var(a, axis, keepdims=keepdims))


def average(
    a: TensorLike,
    axis: AxisLike | None = None,
    weights: TensorLike | None = None,
    returned: bool = False,
) -> Any:
    """The mean, with weights if they are given.

    >>> tf.experimental.numpy.average([1, 3], weights=[3, 1]).numpy()
    np.float64(1.5)
    """
    x = floating(a)
    w = tf.ones_like(x)
    if weights is not None:
        x, w = [floating(v) for v in promoted(a, weights)]
    if w.ndim < x.ndim:
        if not isinstance(axis, int) or w.ndim != 1:
            raise ValueError("average: weights of another shape need one axis, and one dimension.")
        shape = [1] * x.ndim
        shape[axis] = -1
        w = tf.reshape(w, shape)
    w = tf.broadcast_to(w, tf.shape(x))
    total = tf.reduce_sum(w, axis)
    found = tf.reduce_sum(x * w, axis) / total
    return (found, total) if returned else found


def _no_out(function: str, out: Any) -> None:
    if out is not None:
        raise ValueError(f"{function}: out is not supported; tensors are not written into.")


def max(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> tf.Tensor:
    """The largest elements along axes.

    >>> tf.experimental.numpy.max([[1, 5], [3, 4]], axis=1).numpy()
    array([5, 4])
    """
    x = asarray(a)
    largest = tf.reduce_any if x.dtype is tf.bool else tf.reduce_max
    return largest(x, axis, bool(keepdims))


def min(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> tf.Tensor:
    """The smallest elements along axes.

    >>> tf.experimental.numpy.min([[1, 5], [3, 4]], axis=1).numpy()
    array([1, 3])
    """
    x = asarray(a)
    smallest = tf.reduce_all if x.dtype is tf.bool else tf.reduce_min
    return smallest(x, axis, bool(keepdims))


amax, amin = max, min


def ptp(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> tf.Tensor:
    """The largest less the smallest element along axes.

    >>> tf.experimental.numpy.ptp([1, 5, 3]).numpy()
    np.int64(4)
    """
    return max(a, axis, keepdims) - min(a, axis, keepdims)


def all(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> tf.Tensor:
    """Whether all elements along axes are true, that is not zero.

    >>> tf.experimental.numpy.all([1, 0]).numpy()
    np.False_
    """
    return tf.reduce_all(tf.cast(asarray(a), tf.bool), axis, bool(keepdims))


def any(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> tf.Tensor:
    """Whether any element along axes is true, that is not zero.

    >>> tf.experimental.numpy.any([1, 0]).numpy()
    np.True_
    """
    return tf.reduce_any(tf.cast(asarray(a), tf.bool), axis, bool(keepdims))


def count_nonzero(a: TensorLike, axis: AxisLike | None = None) -> tf.Tensor:
    """How many elements along axes are not zero.

    >>> tf.experimental.numpy.count_nonzero([1, 0, 2]).numpy()
    np.int64(2)
    """
    return tf.math.count_nonzero(asarray(a), axis)


def cumsum(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None
) -> tf.Tensor:
    """Sums of all elements up to each, along an axis or of the flat array.

    >>> tf.experimental.numpy.cumsum([[1, 2], [3, 4]]).numpy()
    array([ 1,  3,  6, 10])
    """
    x = _summed(a, dtype)
    return tf.cumsum(tf.reshape(x, [-1])) if axis is None else tf.cumsum(x, axis)


def cumprod(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None
) -> tf.Tensor:
    """Products of all elements up to each, along an axis or of the flat array.

    >>> tf.experimental.numpy.cumprod([2, 3, 4]).numpy()
    array([ 2,  6, 24])
    """
    x = _summed(a, dtype)
    return tf.math.cumprod(tf.reshape(x, [-1])) if axis is None else tf.math.cumprod(x, axis)


def argmax(a: TensorLike, axis: AxisLike | None = None) -> tf.Tensor:
    """Where the largest element is, along an axis or in the flat array.

    >>> tf.experimental.numpy.argmax([[1, 5], [7, 4]]).numpy()
    np.int64(2)
    """
    x = asarray(a)
    return tf.argmax(tf.reshape(x, [-1]), 0) if axis is None else tf.argmax(x, axis)


def argmin(a: TensorLike, axis: AxisLike | None = None) -> tf.Tensor:
    """Where the smallest element is, along an axis or in the flat array.

    >>> tf.experimental.numpy.argmin([[1, 5], [0, 4]]).numpy()
    np.int64(2)
    """
    x = asarray(a)
    return tf.argmin(tf.reshape(x, [-1]), 0) if axis is None else tf.argmin(x, axis)


def sort(a: TensorLike, axis: int | None = -1) -> tf.Tensor:
    """Elements in ascending order, along an axis or of the flat array.

    >>> tf.experimental.numpy.sort([3, 1, 2]).numpy()
    array([1, 2, 3])
    """
    x = asarray(a)
    return tf.sort(tf.reshape(x, [-1])) if axis is None else tf.sort(x, axis)


def argsort(a: TensorLike, axis: int | None = -1) -> tf.Tensor:
    """Where the elements in ascending order are found.

    >>> tf.experimental.numpy.argsort([3, 1, 2]).numpy()
    array([1, 2, 0])
    """
    x = asarray(a)
    found = tf.argsort(tf.reshape(x, [-1])) if axis is None else tf.argsort(x, axis)
    return tf.cast(found, tf.int64)
