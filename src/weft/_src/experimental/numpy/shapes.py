"""The shape of arrays, and the order of their axes and elements."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import weft as tf
from weft._src.core.aliases import AxisLike, ShapeLike, TensorLike
from weft._src.experimental.numpy.promotion import LARGEST, asarray, whole


def sizes_of(shape: ShapeLike) -> Any:
    """A shape as TensorFlow's functions take it."""
    return shape if isinstance(shape, (list, tuple, tf.Tensor)) else [shape]


def ndim(a: TensorLike) -> int:
    """The number of axes.

    Args:
      a: an array, number or (nested) list.

    Returns:
      An int.

    Raises:
      ValueError: if the rank is not known while tracing.

    >>> tf.experimental.numpy.ndim([[1]])
    2
    """
    return asarray(a).ndim


def shape(a: TensorLike) -> tf.TensorShape:
    """The sizes of the axes.

    Args:
      a: an array, number or (nested) list.

    Returns:
      A `tf.TensorShape`, which is equal to a tuple of ints.

    >>> tf.experimental.numpy.shape([[1, 2]])
    TensorShape([1, 2])
    """
    return asarray(a).shape


def size(x: TensorLike, axis: int | None = None) -> Any:
    """The number of elements, or the size of an axis.

    Args:
      x: an array, number or (nested) list.
      axis: the axis; None is all elements.

    Returns:
      An int; None if it is not known while tracing.

    Raises:
      ValueError: if there is no such axis.
      TypeError: if `axis` is no integer.

    >>> tf.experimental.numpy.size([[1, 2]])
    2
    """
    found = asarray(x)
    if axis is None:
        return found.shape.num_elements()
    return found.shape[axis_of("size", axis, found)]


def reshape(a: TensorLike, newshape: ShapeLike, order: str = "C") -> tf.Tensor:
    """The elements in another shape.

    Args:
      a: an array, number or (nested) list.
      newshape: the shape, or the size of a vector; -1 stands for the size that is left.
      order: "C": the last index changes fastest; "F": the first one does.

    Returns:
      A tensor of the same elements.

    Raises:
      ValueError: if `order` is something else.
      ShapeError: if the number of elements does not fit.

    >>> tf.experimental.numpy.reshape([1, 2, 3, 4], (2, -1)).shape
    TensorShape([2, 2])
    """
    if order not in ("C", "F"):
        raise ValueError(f"reshape: order must be 'C' or 'F', got {order!r}.")
    x, sizes = asarray(a), sizes_of(newshape)
    if order == "C":
        return tf.reshape(x, sizes)
    return tf.transpose(tf.reshape(tf.transpose(x), sizes[::-1]))


def ravel(a: TensorLike) -> tf.Tensor:
    """The elements in one axis.

    Args:
      a: an array, number or (nested) list.

    Returns:
      A vector of the dtype of `a`; the last index changes fastest.

    >>> tf.experimental.numpy.ravel([[1, 2], [3, 4]]).numpy()
    array([1, 2, 3, 4])
    """
    return tf.reshape(asarray(a), [-1])


def flatten(a: TensorLike, order: str = "C") -> tf.Tensor:
    """All elements along one axis.

    Args:
      a: an array, number or (nested) list.
      order: "C": the last index changes fastest; "F": the first one does.

    Returns:
      A vector of the dtype of `a`.

    Raises:
      ValueError: if `order` is something else.

    >>> tf.experimental.numpy.flatten([[1, 2], [3, 4]]).numpy()
    array([1, 2, 3, 4])
    """
    return reshape(a, -1, order)


def transpose(a: Any, axes: Any = None) -> tf.Tensor:
    """The axes in another order, by default reversed.

    Args:
      a: an array, number or (nested) list.
      axes: the axes of `a` in the order of the result; None reverses them.

    Returns:
      A tensor of the same elements.

    Raises:
      ShapeError: if `axes` does not name each axis once.

    >>> tf.experimental.numpy.transpose([[1, 2]]).shape
    TensorShape([2, 1])
    """
    return tf.transpose(asarray(a), axes)


def swapaxes(a: TensorLike, axis1: int, axis2: int) -> tf.Tensor:
    """Two axes exchanged.

    Args:
      a: an array.
      axis1: one axis; negative ones count from the end.
      axis2: the other one.

    Returns:
      A tensor of the same elements.

    Raises:
      ValueError: if there is no such axis.
      TypeError: if an axis is no integer.

    >>> tf.experimental.numpy.swapaxes([[1, 2]], 0, 1).shape
    TensorShape([2, 1])
    """
    x = asarray(a)
    first, second = [axis_of("swapaxes", axis, x) for axis in (axis1, axis2)]
    order = list(range(x.ndim))
    order[first], order[second] = order[second], order[first]
    return tf.transpose(x, order)


def axis_of(name: str, axis: Any, x: tf.Tensor) -> int:
    """The number of an axis, counted from the front; ValueError unless there is one."""
    try:
        number = operator.index(axis)
    except TypeError:
        raise TypeError(f"{name}: an axis must be an integer, got {axis!r}.") from None
    rank = x.ndim
    if rank is None or not -rank <= number < rank:
        raise ValueError(f"{name}: axis {number} is out of range for an array of rank {rank}.")
    return number % rank


def moveaxis(a: TensorLike, source: TensorLike, destination: TensorLike) -> tf.Tensor:
    """Axes moved to other places.

    Args:
      a: an array.
      source: an axis or a list of them; negative ones count from the end.
      destination: where they stand in the result, as many. The other axes keep their order.

    Returns:
      A tensor of the same elements.

    Raises:
      ValueError: if there is no such axis, or they are not equally many or not different ones.
      TypeError: if an axis is no integer.

    >>> tf.experimental.numpy.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
    TensorShape([3, 4, 2])
    """
    x = asarray(a)
    pairs = [list(v) if isinstance(v, (list, tuple)) else [v] for v in (source, destination)]
    taken, places = [[axis_of("moveaxis", axis, x) for axis in axes] for axes in pairs]
    if len(taken) != len(places) or len({*taken}) != len(taken) or len({*places}) != len(places):
        raise ValueError(
            "moveaxis: source and destination must name equally many different axes, got "
            f"{source!r} and {destination!r}."
        )
    order = [axis for axis in range(x.ndim) if axis not in taken]
    for place, axis in sorted(zip(places, taken, strict=True)):
        order.insert(place, axis)
    return tf.transpose(x, order)


def expand_dims(a: TensorLike, axis: int) -> tf.Tensor:
    """A new axis of size one.

    Args:
      a: an array, number or (nested) list.
      axis: where the new axis stands in the result; negative ones count from its end.

    Returns:
      A tensor of the same elements.

    Raises:
      ShapeError: if there is no such place.
      TypeError: if `axis` is not one integer.

    >>> tf.experimental.numpy.expand_dims([1, 2], 0).shape
    TensorShape([1, 2])
    """
    return tf.expand_dims(asarray(a), axis)


def squeeze(a: TensorLike, axis: AxisLike | None = None) -> tf.Tensor:
    """The array without axes of size one.

    Args:
      a: an array, number or (nested) list.
      axis: an axis or a list of them, which must have size one; None is all that have.

    Returns:
      A tensor of the same elements.

    Raises:
      ShapeError: if there is no such axis, or its size is not one.

    >>> tf.experimental.numpy.squeeze([[1, 2]]).shape
    TensorShape([2])
    """
    return tf.squeeze(asarray(a), axis)


def broadcast_to(array: TensorLike, shape: ShapeLike) -> tf.Tensor:
    """The array repeated to a shape.

    Args:
      array: an array, number or (nested) list.
      shape: the shape, or the size of a vector.

    Returns:
      A tensor of that shape and the dtype of `array`.

    Raises:
      ShapeError: if the array does not broadcast to it.

    >>> tf.experimental.numpy.broadcast_to([1, 2], (2, 2)).numpy()
    array([[1, 2],
           [1, 2]])
    """
    return tf.broadcast_to(asarray(array), sizes_of(shape))


def flip(m: Any, axis: Any = None) -> tf.Tensor:
    """The elements along axes in reversed order.

    Args:
      m: an array, number or (nested) list.
      axis: an axis or a list of them; None is all.

    Returns:
      A tensor of the shape and dtype of `m`.

    Raises:
      ShapeError: if there is no such axis.

    >>> tf.experimental.numpy.flip([1, 2, 3]).numpy()
    array([3, 2, 1])
    """
    x = asarray(m)
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    return tf.reverse(x, list(axes))


def flipud(m: TensorLike) -> tf.Tensor:
    """The order along the first axis turned round.

    Args:
      m: an array with at least one axis.

    Returns:
      A tensor of the shape and dtype of `m`.

    Raises:
      ShapeError: if `m` is a scalar.

    >>> tf.experimental.numpy.flipud([[1, 2], [3, 4]]).numpy()
    array([[3, 4],
           [1, 2]])
    """
    return flip(m, 0)


def fliplr(m: TensorLike) -> tf.Tensor:
    """The order along the second axis turned round.

    Args:
      m: an array with at least two axes.

    Returns:
      A tensor of the shape and dtype of `m`.

    Raises:
      ShapeError: if `m` has fewer than two axes.

    >>> tf.experimental.numpy.fliplr([[1, 2], [3, 4]]).numpy()
    array([[2, 1],
           [4, 3]])
    """
    return flip(m, 1)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> tf.Tensor:
    """The array turned by a quarter k times, from the first of two axes towards the second.

    Args:
      m: an array with at least two axes.
      k: how many times; negative ones turn the other way.
      axes: the two axes of the plane in which it is turned.

    Returns:
      A tensor of the dtype of `m`; if `k` is odd, the two axes have changed their sizes.

    Raises:
      ValueError: if `axes` are not two different ones that `m` has.
      TypeError: if `k` is no integer, or `axes` no sequence of them.

    >>> tf.experimental.numpy.rot90([[1, 2], [3, 4]]).numpy()
    array([[2, 4],
           [1, 3]])
    """
    m = asarray(m)
    if not isinstance(axes, Sequence):
        raise TypeError(f"rot90: axes must be a sequence of two, got {axes!r}.")
    numbers = [axis_of("rot90", axis, m) for axis in axes]
    if len(set(numbers)) != 2 or len(numbers) != 2:
        raise ValueError(f"rot90: axes must be two different ones, got {axes!r}.")
    first, second = numbers
    turns = whole("rot90", "k", k, -LARGEST, LARGEST) % 4
    if turns == 0:
        return m
    if turns == 2:
        return flip(flip(m, first), second)
    return swapaxes(flip(m, second if turns == 1 else first), first, second)


def roll(a: TensorLike, shift: TensorLike, axis: AxisLike | None = None) -> tf.Tensor:
    """The elements shifted along axes; those that leave come back at the other end.

    Args:
      a: an array, number or (nested) list.
      shift: by how many places, a number or one for each axis; negative ones go to the front.
      axis: an axis or a list of them; None takes the array as flat, and gives it its shape again.

    Returns:
      A tensor of the shape and dtype of `a`.

    Raises:
      ShapeError: if there is no such axis.

    >>> tf.experimental.numpy.roll([1, 2, 3], 1).numpy()
    array([3, 1, 2])
    """
    x = asarray(a)
    if axis is None:
        return tf.reshape(tf.roll(tf.reshape(x, [-1]), shift, 0), tf.shape(x))
    return tf.roll(x, shift, axis)
