"""The shape of arrays, and the order of their axes and elements."""

from __future__ import annotations

import operator
from typing import Any

import weft as tf
from weft._src.core.aliases import AxisLike, ShapeLike, TensorLike
from weft._src.experimental.numpy.promotion import LARGEST, asarray, whole


def sizes_of(shape: ShapeLike) -> Any:
    """A shape as TensorFlow's functions take it."""
    return shape if isinstance(shape, (list, tuple, tf.Tensor)) else [shape]


def ndim(a: TensorLike) -> int:
    """The number of axes.

    >>> tf.experimental.numpy.ndim([[1]])
    2
    """
    return asarray(a).ndim


def shape(a: TensorLike) -> tuple[int | None, ...]:
    """The sizes of the axes.

    >>> tf.experimental.numpy.shape([[1, 2]])
    (1, 2)
    """
    return tuple(asarray(a).shape.as_list())


def size(a: TensorLike, axis: int | None = None) -> Any:
    """The number of elements, or the size of an axis.

    >>> tf.experimental.numpy.size([[1, 2]])
    2
    """
    x = asarray(a)
    return x.shape.num_elements() if axis is None else x.shape[axis_of("size", axis, x)]


def reshape(a: TensorLike, newshape: ShapeLike, order: str = "C") -> tf.Tensor:
    """The elements in another shape.

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

    >>> tf.experimental.numpy.ravel([[1, 2], [3, 4]]).numpy()
    array([1, 2, 3, 4])
    """
    return tf.reshape(asarray(a), [-1])


def flatten(a: TensorLike, order: str = "C") -> tf.Tensor:
    """All elements along one axis.

    >>> tf.experimental.numpy.flatten([[1, 2], [3, 4]]).numpy()
    array([1, 2, 3, 4])
    """
    return reshape(a, -1, order)


def transpose(a: Any, axes: Any = None) -> tf.Tensor:
    """The axes in another order, by default reversed.

    >>> tf.experimental.numpy.transpose([[1, 2]]).shape
    TensorShape([2, 1])
    """
    return tf.transpose(asarray(a), axes)


def swapaxes(a: TensorLike, axis1: int, axis2: int) -> tf.Tensor:
    """Two axes exchanged.

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

    >>> tf.experimental.numpy.expand_dims([1, 2], 0).shape
    TensorShape([1, 2])
    """
    return tf.expand_dims(asarray(a), axis)


def squeeze(a: TensorLike, axis: AxisLike | None = None) -> tf.Tensor:
    """The array without axes of size one.

    >>> tf.experimental.numpy.squeeze([[1, 2]]).shape
    TensorShape([2])
    """
    return tf.squeeze(asarray(a), axis)


def broadcast_to(array: TensorLike, shape: ShapeLike) -> tf.Tensor:
    """The array repeated to a shape.

    >>> tf.experimental.numpy.broadcast_to([1, 2], (2, 2)).numpy()
    array([[1, 2],
           [1, 2]])
    """
    return tf.broadcast_to(asarray(array), sizes_of(shape))


def flip(m: Any, axis: Any = None) -> tf.Tensor:
    """The elements along axes in reversed order.

    >>> tf.experimental.numpy.flip([1, 2, 3]).numpy()
    array([3, 2, 1])
    """
    x = asarray(m)
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    return tf.reverse(x, list(axes))


def flipud(m: TensorLike) -> tf.Tensor:
    """The order along the first axis turned round.

    >>> tf.experimental.numpy.flipud([[1, 2], [3, 4]]).numpy()
    array([[3, 4],
           [1, 2]])
    """
    return flip(m, 0)


def fliplr(m: TensorLike) -> tf.Tensor:
    """The order along the second axis turned round.

    >>> tf.experimental.numpy.fliplr([[1, 2], [3, 4]]).numpy()
    array([[2, 1],
           [4, 3]])
    """
    return flip(m, 1)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> tf.Tensor:
    """The array turned by a quarter k times, from the first of two axes towards the second.

    >>> tf.experimental.numpy.rot90([[1, 2], [3, 4]]).numpy()
    array([[2, 4],
           [1, 3]])
    """
    first, second = axes
    turns = whole("rot90", "k", k, -LARGEST, LARGEST) % 4
    if turns == 0:
        return asarray(m)
    if turns == 2:
        return flip(flip(m, first), second)
    return swapaxes(flip(m, second if turns == 1 else first), first, second)


def roll(a: TensorLike, shift: TensorLike, axis: AxisLike | None = None) -> tf.Tensor:
    """The elements shifted along axes; those that leave come back at the other end.

    >>> tf.experimental.numpy.roll([1, 2, 3], 1).numpy()
    array([3, 1, 2])
    """
    x = asarray(a)
    if axis is None:
        return tf.reshape(tf.roll(tf.reshape(x, [-1]), shift, 0), tf.shape(x))
    return tf.roll(x, shift, axis)
