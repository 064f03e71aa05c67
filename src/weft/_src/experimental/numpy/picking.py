"""Picking elements, and comparing neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.experimental.numpy.promotion import LARGEST, asarray, promoted, regular, whole
from weft._src.experimental.numpy.shapes import axis_of, swapaxes


def take(
    a: TensorLike,
    indices: TensorLike,
    axis: int | None = None,
    out: None = None,
    mode: str = "clip",
) -> tf.Tensor:
    """Elements (or slices along an axis) by number; numbers too large are cut, or wrapped.

    Args:
      a: an array, number or (nested) list.
      indices: the numbers of what is picked, an array of integers.
      axis: the axis of which slices are picked; None picks elements of the flat array.
      out: must be None.
      mode: "clip": numbers below 0 are 0 and those too large the last one; "wrap": they count round
        and round, negative ones from the end.

    Returns:
      A tensor of the dtype of `a`, with the axes of `indices` in the place of the axis.

    Raises:
      ValueError: if `mode` is something else, or `out` is given.
      ShapeError: if there is no such axis.

    >>> tf.experimental.numpy.take([10, 20, 30], [2, 0, 9]).numpy()
    array([30, 10, 30])
    """
    if out is not None or mode not in ("clip", "wrap"):
        raise ValueError(f"take: out must be None and mode 'clip' or 'wrap', got {mode!r}.")
    x, places = asarray(a), tf.cast(asarray(indices), tf.int64)
    if axis is None:
        x, axis = tf.reshape(x, [-1]), 0
    count = tf.cast(tf.shape(x)[axis], tf.int64)
    inside = tf.clip_by_value(places, 0, count - 1) if mode == "clip" else places % count
    return tf.gather(x, inside, axis=axis)


def take_along_axis(arr: TensorLike, indices: TensorLike, axis: int | None) -> tf.Tensor:
    """Elements by number along an axis, row by row.

    Args:
      arr: an array.
      indices: integers, of as many axes as `arr` and of its sizes but for this axis; negative ones
        count from the end.
      axis: the axis; None takes both as flat.

    Returns:
      A tensor of the shape of `indices` and the dtype of `arr`.

    Raises:
      ValueError: if the numbers of axes differ, or there is no such axis.
      ShapeError: if the sizes of the other axes differ.
      tf.errors.InvalidArgumentError: if an index is out of range.

    >>> tf.experimental.numpy.take_along_axis([[3, 1], [2, 4]], [[1], [0]], 1).numpy()
    array([[1],
           [2]])
    """
    x, places = asarray(arr), tf.cast(asarray(indices), tf.int64)
    if axis is None:
        x, places, axis = tf.reshape(x, [-1]), tf.reshape(places, [-1]), 0
    at, last = axis_of("take_along_axis", axis, x), x.ndim - 1
    if places.ndim != x.ndim:
        raise ValueError(
            f"take_along_axis: arr and indices must have one rank, got {x.ndim} and {places.ndim}."
        )
    x, places = swapaxes(x, at, last), swapaxes(places, at, last)
    count = tf.shape(x, tf.int64)[-1]
    places = tf.where(places < 0, places + count, places)
    return swapaxes(tf.gather(x, places, batch_dims=last), at, last)


def where(condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None) -> Any:
    """x where the condition holds, else y; the places where it holds if both are left out.

    Args:
      condition: an array of bools, or of numbers of which those that are not zero are true.
      x: the values where it holds; it broadcasts with the others.
      y: the values where it does not hold.

    Returns:
      A tensor of the common shape, and dtype of `x` and `y`; without them a list of int64 vectors,
      one for each axis, as `nonzero` gives it.

    Raises:
      ValueError: if only one of `x` and `y` is given.

    >>> tf.experimental.numpy.where([True, False], 1, 2.5).numpy()
    array([1. , 2.5])
    """
    holds = tf.cast(asarray(condition), tf.bool)
    if x is None and y is None:
        return nonzero(holds)
    if x is None or y is None:
        raise ValueError("where: x and y must both be given, or both be left out.")
    first, second = promoted(x, y)
    return tf.where(holds, first, second)


def select(
    condlist: Sequence[Any], choicelist: Sequence[Any], default: TensorLike = 0
) -> tf.Tensor:
    """From the first choice whose condition holds, the default where none does.

    Args:
      condlist: a list of arrays of bools, or of numbers of which those that are not zero are true.
      choicelist: a list of as many arrays, which broadcast with them.
      default: the value where no condition holds.

    Returns:
      A tensor of the common shape, and dtype of choices and default.

    Raises:
      ValueError: if the lists are empty, or not equally long.

    >>> x = tf.experimental.numpy.arange(5)
    >>> tf.experimental.numpy.select([x < 2, x > 3], [x, 10 * x], -1).numpy()
    array([ 0,  1, -1, -1, 40])
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"select: condlist and choicelist must be equally long and not empty, got "
            f"{len(condlist)} and {len(choicelist)}."
        )
    *choices, out = promoted(*choicelist, default)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        out = tf.where(tf.cast(asarray(condition), tf.bool), choice, out)
    return out


def compress(condition: TensorLike, a: TensorLike, axis: int | None = None) -> tf.Tensor:
    """The slices for which a condition holds; those behind its end are left out.

    Args:
      condition: a vector of bools, or of numbers of which those that are not zero are true.
      a: an array, number or (nested) list.
      axis: the axis of which slices are picked; None picks elements of the flat array.

    Returns:
      A tensor of the dtype of `a`, as long along the axis as the condition holds.

    Raises:
      ValueError: if `condition` is no vector, or longer than the axis.

    >>> tf.experimental.numpy.compress([True, False, True], [1, 2, 3, 4]).numpy()
    array([1, 3])
    """
    wanted, x = tf.cast(asarray(condition), tf.bool), asarray(a)
    if wanted.ndim != 1:
        raise ValueError(f"compress: condition must be a vector, got shape {wanted.shape}.")
    if axis is None:
        x, axis = tf.reshape(x, [-1]), 0
    size = x.shape[axis_of("compress", axis, x)]
    if size is not None and wanted.shape[0] is not None and wanted.shape[0] > size:
        raise tf.errors.ShapeError(
            f"compress: condition has {wanted.shape[0]} elements for an axis of size {size}."
        )
    return tf.gather(x, tf.where(wanted)[:, 0], axis=axis)


def ix_(*args: Any) -> list[tf.Tensor]:
    """Vectors along one axis each, so that together they index a block.

    Args:
      *args: vectors of integers, or of bools, which stand for the places where they are true.

    Returns:
      A list of tensors; the i-th one is long along the axis i, and has size 1 along the others.

    Raises:
      ValueError: if an argument is no vector.

    >>> [a.shape.as_list() for a in tf.experimental.numpy.ix_([0, 1], [2, 3, 4])]
    [[2, 1], [1, 3]]
    """
    out = []
    for i, a in enumerate(args):
        x = asarray(a)
        if x.ndim != 1:
            raise ValueError(f"ix_: all arguments must be vectors, got shape {x.shape}.")
        if x.dtype is tf.bool:
            x = tf.where(x)[:, 0]
        out.append(tf.reshape(x, [1] * i + [-1] + [1] * (len(args) - 1 - i)))
    return out


def nonzero(a: TensorLike) -> list[tf.Tensor]:
    """The indices of elements that are not zero, one vector for each axis.

    Args:
      a: an array with at least one axis.

    Returns:
      A list of int64 vectors, all as long as there are such elements.

    Raises:
      ShapeError: if `a` is a scalar.

    >>> [i.numpy().tolist() for i in tf.experimental.numpy.nonzero([[0, 1], [2, 0]])]
    [[0, 1], [1, 0]]
    """
    x = asarray(a)
    return tf.unstack(tf.where(tf.cast(x, tf.bool)), x.ndim, axis=1)


def pad(
    array: TensorLike, pad_width: TensorLike, mode: str = "constant", **kwargs: Any
) -> tf.Tensor:
    """The array with a border of constant values, or of its own reflected.

    Args:
      array: an array, number or (nested) list.
      pad_width: how wide the border is: a number, a pair for before and behind, or a pair for each
        axis.
      mode: "constant", "reflect" (the outermost element is not repeated) or "symmetric" (it is).
      **kwargs: `constant_values`, one number that "constant" fills with; 0 if it is left out.

    Returns:
      A tensor of the dtype of `array`.

    Raises:
      ValueError: if the mode is another one, there are other keyword arguments, or `pad_width` has
        no such form.
      TypeError: if `pad_width` are no integers.
      ShapeError: if a width is negative.

    >>> tf.experimental.numpy.pad([1, 2], 1).numpy()
    array([0, 1, 2, 0])
    """
    x = asarray(array)
    widths = _border_widths(pad_width, x)
    fill = kwargs.pop("constant_values", 0)
    if kwargs or mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(
            f"pad: mode must be 'constant', 'reflect' or 'symmetric', got {mode!r} with {kwargs}."
        )
    if mode != "constant":
        return tf.pad(x, widths, mode.upper())
    return tf.pad(x, widths, constant_values=tf.cast(asarray(fill), x.dtype))


def _border_widths(pad_width: Any, x: tf.Tensor) -> list[list[int]]:
    """A pair of numbers for each axis, as NumPy stretches them."""
    widths = regular(pad_width)
    if widths.size and not np.issubdtype(widths.dtype, np.integer):
        raise TypeError(f"pad: pad_width must be integers, got {pad_width!r}.")
    try:
        pairs: list[list[int]] = np.broadcast_to(widths, (x.ndim, 2)).tolist()
    except ValueError:
        raise ValueError(
            "pad: pad_width must be a number, a pair, or a pair for each axis of shape "
            f"{x.shape}, got {pad_width!r}."
        ) from None
    return pairs


def diff(a: TensorLike, n: int = 1, axis: int = -1) -> tf.Tensor:
    """Differences between neighbours along an axis, taken n times.

    Args:
      a: an array with at least one axis; of bools it is said where they change.
      n: how many times.
      axis: the axis; -1 is the last one.

    Returns:
      A tensor of the dtype of `a`, `n` shorter along the axis.

    Raises:
      ValueError: if `n` is negative, or there is no such axis.
      TypeError: if `n` or `axis` are no integers.

    >>> tf.experimental.numpy.diff([1, 4, 9]).numpy()
    array([3, 5])
    """
    x = asarray(a)
    times, at = whole("diff", "n", n, 0, LARGEST), axis_of("diff", axis, x)
    size = x.shape[at]
    # Once nothing is left, it stays so.
    for _ in range(times if size is None else min(times, size)):
        x = swapaxes(x, at, x.ndim - 1)
        after, before = x[..., 1:], x[..., :-1]
        change = after != before if x.dtype is tf.bool else after - before
        x = swapaxes(change, at, x.ndim - 1)
    return x


def array_equal(a1: TensorLike, a2: TensorLike) -> tf.Tensor:
    """Whether two arrays have the same shape and elements.

    Args:
      a1: an array, number or (nested) list.
      a2: the other one; both get their common dtype.

    Returns:
      A bool scalar.

    >>> bool(tf.experimental.numpy.array_equal([1, 2], [1, 2.0]))
    True
    """
    x, y = promoted(a1, a2)
    if not x.shape.is_compatible_with(y.shape):
        return tf.constant(False)
    return tf.reduce_all(tf.equal(x, y))
