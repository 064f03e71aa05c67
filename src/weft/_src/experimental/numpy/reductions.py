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

    Args:
      a: an array, number or (nested) list.
      axis: an axis or a list of them; None is all.
      dtype: the dtype that elements are cast to; None is that of `a`, int64 or uint64 for narrower
        integers and bools.
      keepdims: whether the axes stay, with size 1. None is False.

    Returns:
      A tensor without the axes; a scalar if `axis` is None.

    Raises:
      ShapeError: if there is no such axis.

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

    Args:
      a: an array, number or (nested) list.
      axis: an axis or a list of them; None is all.
      dtype: the dtype that elements are cast to; None is that of `a`, int64 or uint64 for narrower
        integers and bools.
      keepdims: whether the axes stay, with size 1. None is False.

    Returns:
      A tensor without the axes; a scalar if `axis` is None.

    Raises:
      ShapeError: if there is no such axis.

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

    Args:
      a: an array, number or (nested) list.
      axis: an axis or a list of them; None is all.
      dtype: the dtype that elements are cast to; None is that of `a`, float64 for integers and
        bools.
      out: must be None.
      keepdims: whether the axes stay, with size 1. None is False.

    Returns:
      A tensor without the axes; a scalar if `axis` is None.

    Raises:
      ValueError: if `out` is given.
      ShapeError: if there is no such axis.

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

    Args:
      a: an array, number or (nested) list.
      axis: an axis or a list of them; None is all.
      dtype: the dtype that elements are cast to; None is that of `a`, int64 or uint64 for narrower
        integers and bools.
      keepdims: whether the axes stay, with size 1.

    Returns:
      A tensor without the axes, 0 where all elements are NaN.

    Raises:
      ShapeError: if there is no such axis.

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

    Args:
      a: an array, number or (nested) list.
      axis: an axis or a list of them; None is all.
      dtype: the dtype that elements are cast to; None is that of `a`, int64 or uint64 for narrower
        integers and bools.
      keepdims: whether the axes stay, with size 1.

    Returns:
      A tensor without the axes, 1 where all elements are NaN.

    Raises:
      ShapeError: if there is no such axis.

    >>> tf.experimental.numpy.nanprod([3.0, float("nan"), 2.0]).numpy()
    np.float64(6.0)
    """
    return prod(_without_nan(a, dtype, 1), axis, dtype, keepdims)


def nanmean(
    a: TensorLike, axis: Any = None, dtype: DTypeLike | None = None, keepdims: Any = None
) -> tf.Tensor:
    """The mean over axes; NaN does not count.

    Args:
      a: an array, number or (nested) list.
      axis: an axis or a list of them; None is all.
      dtype: the dtype that elements are cast to first; None is that of `a`. Integers and bools then
        become float64.
      keepdims: whether the axes stay, with size 1. None is False.

    Returns:
      A tensor without the axes, NaN where all elements are NaN.

    Raises:
      ShapeError: if there is no such axis.

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

    Args:
      a: an array, number or (nested) list.
      axis: an axis or a list of them; None is all.
      dtype: the dtype of the result, and of the computation if it is floating or complex; None is
        that of `a`, or of the parts of complex numbers, float64 for integers and bools.
      out: must be None.
      ddof: what is taken off the count.
      keepdims: whether the axes stay, with size 1. None is False.

    Returns:
      A tensor without the axes.

    Raises:
      ValueError: if `out` is given.
      ShapeError: if there is no such axis.

    >>> tf.experimental.numpy.var([1, 2, 4], ddof=1).numpy().round(4)
    np.float64(2.3333)
    """
    _no_out("var", out)
    wanted = None if dtype is None else as_dtype(dtype)
    x = floating(a)
    if wanted is not None and (wanted.is_floating or wanted.is_complex):
        x = tf.cast(x, wanted)
    centred = tf.abs(x - tf.reduce_mean(x, axis, keepdims=True))
    total = tf.reduce_sum(centred * centred, axis, bool(keepdims))
    count = tf.size(x) // tf.maximum(tf.size(tf.reduce_sum(x, axis)), 1)
    found = total / tf.cast(count - ddof, total.dtype)
    return found if wanted is None else tf.cast(found, wanted)


def std(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> tf.Tensor:
    """The standard deviation over axes.

    Args:
      a: an array, number or (nested) list; integers and bools become float64.
      axis: an axis or a list of them; None is all.
      keepdims: whether the axes stay, with size 1. None is False.

    Returns:
      A tensor without the axes; real also if the elements are complex.

    Raises:
      ShapeError: if there is no such axis.

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

    Args:
      a: an array, number or (nested) list; integers and bools become float64.
      axis: an axis or a list of them; None is all.
      weights: an array that broadcasts to the shape of `a`, or a vector along the one axis; None is
        all ones.
      returned: whether the sums of the weights are returned too.

    Returns:
      A tensor without the axes; with `returned` a pair of it and the sums of weights.

    Raises:
      ValueError: if the weights have fewer axes than `a`, and are no vector, or `axis` is not one
        axis.
      ShapeError: if there is no such axis.
      ZeroDivisionError: if weights are known to sum to 0.

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
    known = None if weights is None else tf.get_static_value(total)
    if known is not None and not known.all():
        raise ZeroDivisionError("average: weights sum to 0, there is no mean with them.")
    found = tf.reduce_sum(x * w, axis) / total
    return (found, total) if returned else found


def _no_out(function: str, out: Any) -> None:
    if out is not None:
        raise ValueError(f"{function}: out is not supported; tensors are not written into.")


def max(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> tf.Tensor:
    """The largest elements along axes.

    Args:
      a: an array, number or (nested) list; not complex.
      axis: an axis or a list of them; None is all.
      keepdims: whether the axes stay, with size 1. None is False.

    Returns:
      A tensor of the dtype of `a` without the axes.

    Raises:
      ValueError: if there are no elements to choose from, as far as the shape is known.
      ShapeError: if there is no such axis.
      DTypeError: if the numbers are complex.

    >>> tf.experimental.numpy.max([[1, 5], [3, 4]], axis=1).numpy()
    array([5, 4])
    """
    x = asarray(a)
    largest = tf.reduce_any if x.dtype is tf.bool else tf.reduce_max
    return _chosen("max", x, largest(x, axis, bool(keepdims)))


def _chosen(function: str, x: tf.Tensor, found: tf.Tensor) -> tf.Tensor:
    """What was found among elements; ValueError if there were none."""
    if x.shape.num_elements() == 0 and found.shape.num_elements() != 0:
        raise ValueError(f"{function}: there are no elements in an array of shape {x.shape}.")
    return found


def min(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> tf.Tensor:
    """The smallest elements along axes.

    Args:
      a: an array, number or (nested) list; not complex.
      axis: an axis or a list of them; None is all.
      keepdims: whether the axes stay, with size 1. None is False.

    Returns:
      A tensor of the dtype of `a` without the axes.

    Raises:
      ValueError: if there are no elements to choose from, as far as the shape is known.
      ShapeError: if there is no such axis.
      DTypeError: if the numbers are complex.

    >>> tf.experimental.numpy.min([[1, 5], [3, 4]], axis=1).numpy()
    array([1, 3])
    """
    x = asarray(a)
    smallest = tf.reduce_all if x.dtype is tf.bool else tf.reduce_min
    return _chosen("min", x, smallest(x, axis, bool(keepdims)))


amax, amin = max, min


def ptp(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> tf.Tensor:
    """The largest less the smallest element along axes.

    Args:
      a: an array, number or (nested) list; neither complex nor bool.
      axis: an axis or a list of them; None is all.
      keepdims: whether the axes stay, with size 1. None is False.

    Returns:
      A tensor of the dtype of `a` without the axes.

    Raises:
      ValueError: if there are no elements to choose from, as far as the shape is known.
      ShapeError: if there is no such axis.
      DTypeError: if the elements are complex or bools.

    >>> tf.experimental.numpy.ptp([1, 5, 3]).numpy()
    np.int64(4)
    """
    return max(a, axis, keepdims) - min(a, axis, keepdims)


def all(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> tf.Tensor:
    """Whether all elements along axes are true, that is not zero.

    Args:
      a: an array, number or (nested) list.
      axis: an axis or a list of them; None is all.
      keepdims: whether the axes stay, with size 1. None is False.

    Returns:
      A bool tensor without the axes, true where there are no elements.

    Raises:
      ShapeError: if there is no such axis.

    >>> tf.experimental.numpy.all([1, 0]).numpy()
    np.False_
    """
    return tf.reduce_all(tf.cast(asarray(a), tf.bool), axis, bool(keepdims))


def any(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> tf.Tensor:
    """Whether any element along axes is true, that is not zero.

    Args:
      a: an array, number or (nested) list.
      axis: an axis or a list of them; None is all.
      keepdims: whether the axes stay, with size 1. None is False.

    Returns:
      A bool tensor without the axes, false where there are no elements.

    Raises:
      ShapeError: if there is no such axis.

    >>> tf.experimental.numpy.any([1, 0]).numpy()
    np.True_
    """
    return tf.reduce_any(tf.cast(asarray(a), tf.bool), axis, bool(keepdims))


def count_nonzero(a: TensorLike, axis: AxisLike | None = None) -> tf.Tensor:
    """How many elements along axes are not zero.

    Args:
      a: an array, number or (nested) list.
      axis: an axis or a list of them; None is all.

    Returns:
      An int64 tensor without the axes.

    Raises:
      ShapeError: if there is no such axis.

    >>> tf.experimental.numpy.count_nonzero([1, 0, 2]).numpy()
    np.int64(2)
    """
    return tf.math.count_nonzero(asarray(a), axis)


def cumsum(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None
) -> tf.Tensor:
    """Sums of all elements up to each, along an axis or of the flat array.

    Args:
      a: an array, number or (nested) list.
      axis: the axis; None takes the array as flat.
      dtype: the dtype that elements are cast to; None is that of `a`, int64 or uint64 for narrower
        integers and bools.

    Returns:
      A tensor of the shape of `a`, a vector if `axis` is None.

    Raises:
      ShapeError: if there is no such axis.

    >>> tf.experimental.numpy.cumsum([[1, 2], [3, 4]]).numpy()
    array([ 1,  3,  6, 10])
    """
    x = _summed(a, dtype)
    return tf.cumsum(tf.reshape(x, [-1])) if axis is None else tf.cumsum(x, axis)


def cumprod(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None
) -> tf.Tensor:
    """Products of all elements up to each, along an axis or of the flat array.

    Args:
      a: an array, number or (nested) list.
      axis: the axis; None takes the array as flat.
      dtype: the dtype that elements are cast to; None is that of `a`, int64 or uint64 for narrower
        integers and bools.

    Returns:
      A tensor of the shape of `a`, a vector if `axis` is None.

    Raises:
      ShapeError: if there is no such axis.

    >>> tf.experimental.numpy.cumprod([2, 3, 4]).numpy()
    array([ 2,  6, 24])
    """
    x = _summed(a, dtype)
    return tf.math.cumprod(tf.reshape(x, [-1])) if axis is None else tf.math.cumprod(x, axis)


def argmax(a: TensorLike, axis: AxisLike | None = None) -> tf.Tensor:
    """Where the largest element is, along an axis or in the flat array.

    Args:
      a: an array, number or (nested) list.
      axis: the axis; None takes the array as flat.

    Returns:
      An int64 tensor without the axis. Of equal elements it is the first.

    Raises:
      ShapeError: if there is no such axis, or it is empty.

    >>> tf.experimental.numpy.argmax([[1, 5], [7, 4]]).numpy()
    np.int64(2)
    """
    x = asarray(a)
    return tf.argmax(tf.reshape(x, [-1]), 0) if axis is None else tf.argmax(x, axis)


def argmin(a: TensorLike, axis: AxisLike | None = None) -> tf.Tensor:
    """Where the smallest element is, along an axis or in the flat array.

    Args:
      a: an array, number or (nested) list.
      axis: the axis; None takes the array as flat.

    Returns:
      An int64 tensor without the axis. Of equal elements it is the first.

    Raises:
      ShapeError: if there is no such axis, or it is empty.

    >>> tf.experimental.numpy.argmin([[1, 5], [0, 4]]).numpy()
    np.int64(2)
    """
    x = asarray(a)
    return tf.argmin(tf.reshape(x, [-1]), 0) if axis is None else tf.argmin(x, axis)


def sort(
    a: TensorLike, axis: int | None = -1, kind: str = "quicksort", order: None = None
) -> tf.Tensor:
    """Elements in ascending order, along an axis or of the flat array.

    Args:
      a: an array, number or (nested) list; not complex. False comes before True.
      axis: the axis, -1 for the last one; None takes the array as flat.
      kind: accepted for compatibility.
      order: accepted for compatibility.

    Returns:
      A tensor of the shape and dtype of `a`, a vector if `axis` is None.

    Raises:
      ShapeError: if there is no such axis.
      DTypeError: if the elements are complex.

    >>> tf.experimental.numpy.sort([3, 1, 2]).numpy()
    array([1, 2, 3])
    """
    x = asarray(a)
    keys = _sortable(x)
    found = tf.sort(tf.reshape(keys, [-1])) if axis is None else tf.sort(keys, axis)
    return tf.cast(found, x.dtype)


def _sortable(x: tf.Tensor) -> tf.Tensor:
    """Numbers in the order of the elements: those of truth values are 0 and 1."""
    return tf.cast(x, tf.int8) if x.dtype is tf.bool else x


def argsort(
    a: TensorLike, axis: int | None = -1, kind: str = "quicksort", order: None = None
) -> tf.Tensor:
    """Where the elements in ascending order are found.

    Args:
      a: an array, number or (nested) list; not complex. False comes before True.
      axis: the axis, -1 for the last one; None takes the array as flat.
      kind: accepted for compatibility.
      order: accepted for compatibility.

    Returns:
      An int64 tensor of the shape of `a`, a vector if `axis` is None.

    Raises:
      ShapeError: if there is no such axis.
      DTypeError: if the elements are complex.

    >>> tf.experimental.numpy.argsort([3, 1, 2]).numpy()
    array([1, 2, 0])
    """
    x = _sortable(asarray(a))
    found = tf.argsort(tf.reshape(x, [-1])) if axis is None else tf.argsort(x, axis)
    return tf.cast(found, tf.int64)
