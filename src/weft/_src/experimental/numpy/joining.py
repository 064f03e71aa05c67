"""Arrays joined, taken apart, repeated, and given more axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.core.growing import GrowingList
from weft._src.experimental.numpy import making, shapes
from weft._src.experimental.numpy.promotion import asarray, promoted


def concatenate(arys: Sequence[Any], axis: int | None = 0) -> tf.Tensor:
    """Arrays joined along an axis.

    Args:
      arys: a list of arrays that have equal shapes but for this axis. They get their common dtype.
      axis: the axis; None joins them flat.

    Returns:
      A tensor, as long along the axis as all together.

    Raises:
      ShapeError: if the other sizes or the numbers of axes differ, or there is no such axis.

    >>> tf.experimental.numpy.concatenate([[1, 2], [3.5]]).numpy()
    array([1. , 2. , 3.5])
    """
    if isinstance(arys, GrowingList) and axis is not None:
        return tf.concat(arys, axis)
    parts = promoted(*arys)
    return (
        tf.concat([shapes.ravel(p) for p in parts], 0) if axis is None else tf.concat(parts, axis)
    )


def stack(arrays: Sequence[Any], axis: int = 0) -> tf.Tensor:
    """Arrays joined along a new axis.

    Args:
      arrays: a list of arrays of one shape. They get their common dtype.
      axis: where the new axis stands in the result; negative ones count from the end.

    Returns:
      A tensor with one axis more.

    Raises:
      ShapeError: if the shapes differ, or there is no such axis.

    >>> tf.experimental.numpy.stack([[1, 2], [3, 4]]).shape
    TensorShape([2, 2])
    """
    return tf.stack(arrays if isinstance(arrays, GrowingList) else promoted(*arrays), axis)


def vstack(tup: Sequence[Any]) -> tf.Tensor:
    """Arrays joined as rows.

    Args:
      tup: a list of arrays, which get their common dtype. Numbers and vectors count as single rows.

    Returns:
      A tensor of two axes or more, joined along the first.

    Raises:
      ShapeError: if the sizes of the other axes differ.

    >>> tf.experimental.numpy.vstack([[1, 2], [3, 4]]).shape
    TensorShape([2, 2])
    """
    return tf.concat([tf.reshape(p, [1, -1]) if p.ndim < 2 else p for p in promoted(*tup)], 0)


def hstack(tup: Sequence[Any]) -> tf.Tensor:
    """Arrays joined along their second axis, vectors along their only one.

    Args:
      tup: a list of arrays, which get their common dtype. Numbers count as vectors of one element.

    Returns:
      A tensor with as many axes as the first array, at least one.

    Raises:
      ShapeError: if the sizes of the other axes differ.

    >>> tf.experimental.numpy.hstack([[1, 2], [3]]).numpy()
    array([1, 2, 3])
    """
    parts = [tf.reshape(p, [-1]) if p.ndim == 0 else p for p in promoted(*tup)]
    return tf.concat(parts, 0 if parts[0].ndim == 1 else 1)


def split(ary: TensorLike, indices_or_sections: TensorLike, axis: int = 0) -> list[tf.Tensor]:
    """The array cut into equal parts, or at places.

    Args:
      ary: an array.
      indices_or_sections: how many equal parts, or a list of the places where parts begin, but for
        the first.
      axis: the axis that is cut.

    Returns:
      A list of tensors.

    Raises:
      ShapeError: if the axis has no equal parts.
      ValueError: if there is no such axis.
      TypeError: if `indices_or_sections` is neither an integer nor a list.

    >>> [part.numpy().tolist() for part in tf.experimental.numpy.split([1, 2, 3], [1])]
    [[1], [2, 3]]
    """
    x = asarray(ary)
    if isinstance(indices_or_sections, (int, np.integer)):
        return list(tf.split(x, int(indices_or_sections), axis))
    if not isinstance(indices_or_sections, (list, tuple, np.ndarray, tf.Tensor)):
        raise TypeError(
            "split: indices_or_sections must be an integer or a list of them, got "
            f"{indices_or_sections!r}."
        )
    before = (slice(None),) * shapes.axis_of("split", axis, x)
    places = list(cast(Sequence[Any], indices_or_sections))
    bounds = zip([None, *places], [*places, None], strict=True)
    return [x[(*before, slice(start, stop))] for start, stop in bounds]


def tile(a: TensorLike, reps: TensorLike) -> tf.Tensor:
    """The array repeated as a whole.

    Args:
      a: an array, number or (nested) list.
      reps: how many times, a number for the last axis or one for each axis; more of them than axes
        give `a` new axes in front.

    Returns:
      A tensor of the dtype of `a`, each axis as many times as long.

    >>> tf.experimental.numpy.tile([1, 2], 2).numpy()
    array([1, 2, 1, 2])
    """
    x = asarray(a)
    times = list(reps) if isinstance(reps, (list, tuple)) else [reps]
    rank = max(x.ndim, len(times))
    x = x[(None,) * (rank - x.ndim)]
    return tf.tile(x, [1] * (rank - len(times)) + times)


def repeat(a: TensorLike, repeats: TensorLike, axis: int | None = None) -> tf.Tensor:
    """Each element repeated.

    Args:
      a: an array, number or (nested) list.
      repeats: how many times, one number or one for each element along the axis.
      axis: the axis; None repeats the elements of the flat array.

    Returns:
      A tensor of the dtype of `a`, a vector if `axis` is None.

    Raises:
      ShapeError: if there are more or fewer numbers than elements along the axis.

    >>> tf.experimental.numpy.repeat([1, 2], 2).numpy()
    array([1, 1, 2, 2])
    """
    return tf.repeat(asarray(a), repeats, axis)


def append(arr: TensorLike, values: TensorLike, axis: int | None = None) -> tf.Tensor:
    """An array with others behind it, along an axis or flat.

    Args:
      arr: an array.
      values: the array that goes behind it.
      axis: the axis, but for which both have equal shapes; None joins them flat.

    Returns:
      A tensor of their common dtype, a vector if `axis` is None.

    Raises:
      ShapeError: if the other sizes or the numbers of axes differ, or there is no such axis.

    >>> tf.experimental.numpy.append([1, 2], [3]).numpy()
    array([1, 2, 3])
    """
    return concatenate([arr, values], axis)


def atleast_1d(*arys: Any) -> Any:
    """Arrays with an axis, if they have none.

    Args:
      *arys: arrays, numbers or (nested) lists.

    Returns:
      A tensor of one axis or more, or a list of them if there are several arguments.

    >>> tf.experimental.numpy.atleast_1d(5).numpy()
    array([5])
    """
    made = [making.array(a, ndmin=1) for a in arys]
    return made[0] if len(made) == 1 else made


def atleast_2d(*arys: Any) -> Any:
    """Arrays with two axes, if they have fewer.

    Args:
      *arys: arrays, numbers or (nested) lists. New axes stand in front.

    Returns:
      A tensor of two axes or more, or a list of them if there are several arguments.

    >>> tf.experimental.numpy.atleast_2d([5]).numpy()
    array([[5]])
    """
    made = [making.array(a, ndmin=2) for a in arys]
    return made[0] if len(made) == 1 else made


def atleast_3d(*arys: Any) -> Any:
    """Arrays with three axes or more: a vector lies along the second one.

    Args:
      *arys: arrays, numbers or (nested) lists. A matrix gets a last axis.

    Returns:
      A tensor, or a list of them if there are several arguments.

    >>> tf.experimental.numpy.atleast_3d([1, 2]).shape
    TensorShape([1, 2, 1])
    """
    made = [_with_three_axes(asarray(a)) for a in arys]
    return made[0] if len(made) == 1 else made


def _with_three_axes(x: tf.Tensor) -> tf.Tensor:
    if x.ndim == 0:
        return tf.reshape(x, [1, 1, 1])
    if x.ndim == 1:
        return x[None, :, None]
    return x[:, :, None] if x.ndim == 2 else x


def dstack(tup: Sequence[Any]) -> tf.Tensor:
    """Arrays joined along their third axis.

    Args:
      tup: a list of arrays, which get their common dtype. Vectors count as rows, and matrices get a
        third axis.

    Returns:
      A tensor of three axes or more.

    Raises:
      ShapeError: if the sizes of the other axes differ.

    >>> tf.experimental.numpy.dstack([[1, 2], [3, 4]]).numpy()
    array([[[1, 3],
            [2, 4]]])
    """
    return concatenate([atleast_3d(a) for a in tup], 2)


def vsplit(ary: TensorLike, indices_or_sections: TensorLike) -> list[tf.Tensor]:
    """Parts along the first axis of an array with two axes or more.

    Args:
      ary: an array.
      indices_or_sections: how many equal parts, or a list of the places where parts begin, but for
        the first.

    Returns:
      A list of tensors.

    Raises:
      ValueError: if `ary` has fewer than two axes.
      ShapeError: if the axis has no equal parts.
      TypeError: if `indices_or_sections` is neither an integer nor a list.

    >>> [part.numpy().tolist() for part in tf.experimental.numpy.vsplit([[1], [2]], 2)]
    [[[1]], [[2]]]
    """
    return _split_along("vsplit", ary, indices_or_sections, 0, 2)


def hsplit(ary: TensorLike, indices_or_sections: TensorLike) -> list[tf.Tensor]:
    """Parts along the second axis; of a vector, along its only one.

    Args:
      ary: an array with at least one axis.
      indices_or_sections: how many equal parts, or a list of the places where parts begin, but for
        the first.

    Returns:
      A list of tensors.

    Raises:
      ValueError: if `ary` is a scalar.
      ShapeError: if the axis has no equal parts.
      TypeError: if `indices_or_sections` is neither an integer nor a list.

    >>> [part.numpy().tolist() for part in tf.experimental.numpy.hsplit([[1, 2]], 2)]
    [[[1]], [[2]]]
    """
    x = asarray(ary)
    return _split_along("hsplit", x, indices_or_sections, 0 if x.ndim == 1 else 1, 1)


def dsplit(ary: TensorLike, indices_or_sections: TensorLike) -> list[tf.Tensor]:
    """Parts along the third axis.

    Args:
      ary: an array.
      indices_or_sections: how many equal parts, or a list of the places where parts begin, but for
        the first.

    Returns:
      A list of tensors.

    Raises:
      ValueError: if `ary` has fewer than three axes.
      ShapeError: if the axis has no equal parts.
      TypeError: if `indices_or_sections` is neither an integer nor a list.

    >>> [part.numpy().tolist() for part in tf.experimental.numpy.dsplit([[[1, 2]]], 2)]
    [[[[1]]], [[[2]]]]
    """
    return _split_along("dsplit", ary, indices_or_sections, 2, 3)


def _split_along(
    name: str, ary: TensorLike, sections: TensorLike, axis: int, least: int
) -> list[tf.Tensor]:
    x = asarray(ary)
    if x.ndim is not None and x.ndim < least:
        raise ValueError(f"{name}: ary must have at least {least} axes, got shape {x.shape}.")
    return split(x, sections, axis)


def broadcast_arrays(*args: Any, **kwargs: Any) -> list[tf.Tensor]:
    """Arrays in the shape that all of them broadcast to.

    Args:
      *args: arrays, numbers or (nested) lists; each keeps its dtype.
      **kwargs: only `subok=False` is accepted.

    Returns:
      A list of tensors of one shape.

    Raises:
      ShapeError: if the shapes do not broadcast.
      ValueError: if there are other keyword arguments.

    >>> [a.numpy().tolist() for a in tf.experimental.numpy.broadcast_arrays([1, 2], [[3]])]
    [[[1, 2]], [[3, 3]]]
    """
    if kwargs.pop("subok", False) or kwargs:
        raise ValueError(f"broadcast_arrays takes arrays only, got {sorted(kwargs) or 'subok'}.")
    given = [asarray(a) for a in args]
    if not given:
        return []
    shape = tf.shape(given[0])
    for other in given[1:]:
        shape = tf.broadcast_dynamic_shape(shape, tf.shape(other))
    return [tf.broadcast_to(a, shape) for a in given]
