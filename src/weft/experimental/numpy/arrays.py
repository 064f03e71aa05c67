"""Making arrays; their shape; picking elements."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

import weft as tf
from weft.experimental.numpy.promotion import (
    as_dtype,
    asarray,
    floating,
    promoted,
    result_type,
    whole,
)

_LARGEST = 2**31 - 1  # of sizes and counts

# --- making ------------------------------------------------------------------------------------


def array(val: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> tf.Tensor:
    """A tensor of numbers, lists or arrays, with NumPy's default dtypes.

    >>> tf.experimental.numpy.array([1.5, 2]).dtype
    tf.float64
    """
    x, ndmin = asarray(val, dtype), whole("array", "ndmin", ndmin, 0, 64)
    return tf.reshape(x, [1] * (ndmin - x.ndim) + list(x.shape)) if x.ndim < ndmin else x


def _sizes(shape: Any) -> Any:
    return shape if isinstance(shape, (list, tuple, tf.Tensor)) else [shape]


def zeros(shape: Any, dtype: Any = float) -> tf.Tensor:
    """An array of zeros.

    >>> tf.experimental.numpy.zeros(2).numpy()
    array([0., 0.])
    """
    return tf.zeros(_sizes(shape), as_dtype(dtype))


def ones(shape: Any, dtype: Any = float) -> tf.Tensor:
    """An array of ones.

    >>> tf.experimental.numpy.ones(2).numpy()
    array([1., 1.])
    """
    return tf.ones(_sizes(shape), as_dtype(dtype))


def empty(shape: Any, dtype: Any = float) -> tf.Tensor:
    """An array whose elements do not matter: zeros.

    >>> tf.experimental.numpy.empty([2, 3]).shape
    TensorShape([2, 3])
    """
    return zeros(shape, dtype)


def empty_like(a: Any, dtype: Any = None) -> tf.Tensor:
    """An array in the shape of another whose elements do not matter: zeros.

    >>> tf.experimental.numpy.empty_like([1, 2]).dtype
    tf.int64
    """
    return zeros_like(a, dtype)


def copy(a: Any) -> tf.Tensor:
    """The array; tensors never change, so nothing is copied.

    >>> tf.experimental.numpy.copy([1, 2]).numpy()
    array([1, 2])
    """
    return tf.identity(asarray(a))


def zeros_like(a: Any, dtype: Any = None) -> tf.Tensor:
    """An array of zeros in the shape of another.

    >>> tf.experimental.numpy.zeros_like([1, 2]).numpy()
    array([0, 0])
    """
    return tf.zeros_like(asarray(a, dtype))


def ones_like(a: Any, dtype: Any = None) -> tf.Tensor:
    """An array of ones in the shape of another.

    >>> tf.experimental.numpy.ones_like([1, 2]).numpy()
    array([1, 1])
    """
    return tf.ones_like(asarray(a, dtype))


def full(shape: Any, fill_value: Any, dtype: Any = None) -> tf.Tensor:
    """An array of one value.

    >>> tf.experimental.numpy.full((2,), 7).numpy()
    array([7, 7])
    """
    return tf.broadcast_to(asarray(fill_value, dtype), _sizes(shape))


def full_like(a: Any, fill_value: Any, dtype: Any = None) -> tf.Tensor:
    """An array of one value in the shape and dtype of another.

    >>> tf.experimental.numpy.full_like([1, 2], 7).numpy()
    array([7, 7])
    """
    x = asarray(a)
    return tf.broadcast_to(asarray(fill_value, x.dtype if dtype is None else dtype), tf.shape(x))


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> tf.Tensor:
    """Numbers from start (included) to stop (not included), step apart.

    >>> tf.experimental.numpy.arange(1, 7, 2).numpy()
    array([1, 3, 5])
    """
    if stop is None:
        start, stop = 0, start
    kind = result_type(*[asarray(v) for v in (start, stop, step)])
    first, last, delta = [asarray(v, kind) for v in (start, stop, step)]
    out = tf.range(first, last, delta)
    return out if dtype is None else tf.cast(out, as_dtype(dtype))


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = float,
    axis: int = 0,
) -> Any:
    """Numbers that are evenly spaced between two bounds.

    >>> tf.experimental.numpy.linspace(0, 1, 3).numpy()
    array([0. , 0.5, 1. ])
    """
    first, last = [asarray(v, float) for v in (start, stop)]
    num = whole("linspace", "num", num, 0, _LARGEST)
    parts = num - 1 if endpoint else num
    step = (last - first) / np.maximum(parts, 1)
    shape = [num] + [1] * max(first.ndim, last.ndim)
    out = first + tf.reshape(tf.range(num, dtype=tf.float64), shape) * step
    out = tf.cast(moveaxis(out, 0, axis) if axis else out, as_dtype(dtype))
    return (out, step) if retstep else out


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> tf.Tensor:
    """Powers of a base with exponents that are evenly spaced.

    >>> tf.experimental.numpy.logspace(0, 2, 3).numpy()
    array([  1.,  10., 100.])
    """
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    return tf.cast(tf.pow(tf.constant(base, tf.float64), exponents), as_dtype(dtype or float))


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> tf.Tensor:
    """Numbers of which each is the same multiple of the one before it.

    >>> tf.experimental.numpy.geomspace(1, 1000, 4).numpy()
    array([   1.,   10.,  100., 1000.])
    """
    first, last = promoted(start, stop)
    first, last = floating(first), floating(last)
    at = axis_of("geomspace", axis, tf.expand_dims(first, 0))
    # The logarithms of the sizes are spaced evenly; the sign is that of the first.
    powers = linspace(tf.math.log(tf.abs(first)), tf.math.log(tf.abs(last)), num, endpoint, axis=at)
    out = tf.exp(powers) * tf.expand_dims(tf.sign(first), at)
    return out if dtype is None else tf.cast(out, as_dtype(dtype))


def meshgrid(*xi: Any, indexing: str = "xy") -> list[tf.Tensor]:
    """Coordinates of the points of a grid.

    >>> [m.shape for m in tf.experimental.numpy.meshgrid([1, 2, 3], [4, 5])]
    [TensorShape([2, 3]), TensorShape([2, 3])]
    """
    return list(tf.meshgrid(*[asarray(x) for x in xi], indexing=indexing))


# --- shape -------------------------------------------------------------------------------------


def ndim(a: Any) -> int:
    """The number of axes.

    >>> tf.experimental.numpy.ndim([[1]])
    2
    """
    return asarray(a).ndim


def shape(a: Any) -> tuple[int | None, ...]:
    """The sizes of the axes.

    >>> tf.experimental.numpy.shape([[1, 2]])
    (1, 2)
    """
    return tuple(asarray(a).shape.as_list())


def size(a: Any, axis: int | None = None) -> Any:
    """The number of elements, or the size of an axis.

    >>> tf.experimental.numpy.size([[1, 2]])
    2
    """
    x = asarray(a)
    return x.shape.num_elements() if axis is None else x.shape[axis_of("size", axis, x)]


def reshape(a: Any, newshape: Any, order: str = "C") -> tf.Tensor:
    """The elements in another shape.

    >>> tf.experimental.numpy.reshape([1, 2, 3, 4], (2, -1)).shape
    TensorShape([2, 2])
    """
    if order != "C":
        raise ValueError(f"reshape: order must be 'C', got {order!r}.")
    return tf.reshape(asarray(a), _sizes(newshape))


def ravel(a: Any) -> tf.Tensor:
    """The elements in one axis.

    >>> tf.experimental.numpy.ravel([[1, 2], [3, 4]]).numpy()
    array([1, 2, 3, 4])
    """
    return tf.reshape(asarray(a), [-1])


def flatten(a: Any, order: str = "C") -> tf.Tensor:
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


def swapaxes(a: Any, axis1: int, axis2: int) -> tf.Tensor:
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


def moveaxis(a: Any, source: Any, destination: Any) -> tf.Tensor:
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


def expand_dims(a: Any, axis: int) -> tf.Tensor:
    """A new axis of size one.

    >>> tf.experimental.numpy.expand_dims([1, 2], 0).shape
    TensorShape([1, 2])
    """
    return tf.expand_dims(asarray(a), axis)


def squeeze(a: Any, axis: Any = None) -> tf.Tensor:
    """The array without axes of size one.

    >>> tf.experimental.numpy.squeeze([[1, 2]]).shape
    TensorShape([2])
    """
    return tf.squeeze(asarray(a), axis)


def broadcast_to(array: Any, shape: Any) -> tf.Tensor:
    """The array repeated to a shape.

    >>> tf.experimental.numpy.broadcast_to([1, 2], (2, 2)).numpy()
    array([[1, 2],
           [1, 2]])
    """
    return tf.broadcast_to(asarray(array), _sizes(shape))


def flip(m: Any, axis: Any = None) -> tf.Tensor:
    """The elements along axes in reversed order.

    >>> tf.experimental.numpy.flip([1, 2, 3]).numpy()
    array([3, 2, 1])
    """
    x = asarray(m)
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    return tf.reverse(x, list(axes))


def flipud(m: Any) -> tf.Tensor:
    """The order along the first axis turned round.

    >>> tf.experimental.numpy.flipud([[1, 2], [3, 4]]).numpy()
    array([[3, 4],
           [1, 2]])
    """
    return flip(m, 0)


def fliplr(m: Any) -> tf.Tensor:
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
    turns = whole("rot90", "k", k, -_LARGEST, _LARGEST) % 4
    if turns == 0:
        return asarray(m)
    if turns == 2:
        return flip(flip(m, first), second)
    return swapaxes(flip(m, second if turns == 1 else first), first, second)


def roll(a: Any, shift: Any, axis: Any = None) -> tf.Tensor:
    """The elements shifted along axes; those that leave come back at the other end.

    >>> tf.experimental.numpy.roll([1, 2, 3], 1).numpy()
    array([3, 1, 2])
    """
    x = asarray(a)
    if axis is None:
        return tf.reshape(tf.roll(tf.reshape(x, [-1]), shift, 0), tf.shape(x))
    return tf.roll(x, shift, axis)


# --- joining, splitting, picking ---------------------------------------------------------------


def take(
    a: Any, indices: Any, axis: int | None = None, out: None = None, mode: str = "clip"
) -> tf.Tensor:
    """Elements (or slices along an axis) by number; numbers too large are cut, or wrapped.

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


def take_along_axis(arr: Any, indices: Any, axis: int | None) -> tf.Tensor:
    """Elements by number along an axis, row by row.

    >>> tf.experimental.numpy.take_along_axis([[3, 1], [2, 4]], [[1], [0]], 1).numpy()
    array([[1],
           [2]])
    """
    x, places = asarray(arr), tf.cast(asarray(indices), tf.int64)
    if axis is None:
        return tf.gather(tf.reshape(x, [-1]), tf.reshape(places, [-1]))
    at, last = axis_of("take_along_axis", axis, x), x.ndim - 1
    if places.ndim != x.ndim:
        raise ValueError(
            f"take_along_axis: arr and indices must have one rank, got {x.ndim} and {places.ndim}."
        )
    x, places = swapaxes(x, at, last), swapaxes(places, at, last)
    return swapaxes(tf.gather(x, places, batch_dims=last), at, last)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """x where the condition holds, else y; the places where it holds if both are left out.

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


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> tf.Tensor:
    """From the first choice whose condition holds, the default where none does.

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


def compress(condition: Any, a: Any, axis: int | None = None) -> tf.Tensor:
    """The slices for which a condition holds; those behind its end are left out.

    >>> tf.experimental.numpy.compress([True, False, True], [1, 2, 3, 4]).numpy()
    array([1, 3])
    """
    wanted, x = tf.cast(asarray(condition), tf.bool), asarray(a)
    if wanted.ndim != 1:
        raise ValueError(f"compress: condition must be a vector, got shape {wanted.shape}.")
    if axis is None:
        x, axis = tf.reshape(x, [-1]), 0
    return tf.gather(x, tf.where(wanted)[:, 0], axis=axis)


def ix_(*args: Any) -> list[tf.Tensor]:
    """Vectors along one axis each, so that together they index a block.

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


def nonzero(a: Any) -> list[tf.Tensor]:
    """The indices of elements that are not zero, one vector for each axis.

    >>> [i.numpy().tolist() for i in tf.experimental.numpy.nonzero([[0, 1], [2, 0]])]
    [[0, 1], [1, 0]]
    """
    x = asarray(a)
    return tf.unstack(tf.where(tf.cast(x, tf.bool)), x.ndim, axis=1)


def pad(array: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> tf.Tensor:
    """The array with a border of constant values, or of its own reflected.

    >>> tf.experimental.numpy.pad([1, 2], 1).numpy()
    array([0, 1, 2, 0])
    """
    x = asarray(array)
    widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)).tolist()
    fill = kwargs.pop("constant_values", 0)
    if kwargs or mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(
            f"pad: mode must be 'constant', 'reflect' or 'symmetric', got {mode!r} with {kwargs}."
        )
    if mode != "constant":
        return tf.pad(x, widths, mode.upper())
    return tf.pad(x, widths, constant_values=tf.cast(asarray(fill), x.dtype))


def diff(a: Any, n: int = 1, axis: int = -1) -> tf.Tensor:
    """Differences between neighbours along an axis, taken n times.

    >>> tf.experimental.numpy.diff([1, 4, 9]).numpy()
    array([3, 5])
    """
    x = asarray(a)
    times, at = whole("diff", "n", n, 0, _LARGEST), axis_of("diff", axis, x)
    size = x.shape[at]
    # Once nothing is left, it stays so.
    for _ in range(times if size is None else min(times, size)):
        x = swapaxes(x, at, x.ndim - 1)
        x = swapaxes(x[..., 1:] - x[..., :-1], at, x.ndim - 1)
    return x


def array_equal(a1: Any, a2: Any) -> tf.Tensor:
    """Whether two arrays have the same shape and elements.

    >>> bool(tf.experimental.numpy.array_equal([1, 2], [1, 2.0]))
    True
    """
    x, y = promoted(a1, a2)
    if not x.shape.is_compatible_with(y.shape):
        return tf.constant(False)
    return tf.reduce_all(tf.equal(x, y))
