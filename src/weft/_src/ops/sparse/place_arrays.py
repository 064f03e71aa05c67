"""What `places.py` computes with ops, on arrays: for eager calls.

What is not as it mostly is, elements in order and no two at one place, is `NotImplemented`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.tensor import Array

_LOW64 = 2**64 - 1
_SMALL_PRODUCT = 1 << 14  # numbers, those that are added up too; machine code does more
_SUMMED = {np.dtype(name) for name in ("float32", "float64", "int32", "int64")}
_FIRST = np.zeros(1, np.int64)
_AT_ONCE = 1 << 14  # elements


def places_of(indices: Array, shape: Array) -> Array | None:
    """The place of each row of indices in row-major order; None if they do not fit together."""
    if indices.ndim != 2 or shape.shape != indices.shape[1:]:
        return None
    last = len(shape) - 1
    if last < 0:
        return np.zeros(len(indices), np.int64)
    out, stride = indices[:, last].astype(np.int64), 1
    for axis in range(last - 1, -1, -1):
        stride = stride * int(shape[axis + 1]) & _LOW64  # as products of int64 are
        stride -= stride >> 63 << 64
        out += indices[:, axis] * np.int64(stride)
    return out


def present(x: Array) -> Any:
    """The indices and values of what is not zero in an array, in row-major order."""
    if x.ndim == 0 or x.dtype.kind not in "fiucb":
        return NotImplemented
    flat = x.reshape(-1)
    at = np.flatnonzero(flat if flat.dtype == bool else flat != 0)  # of floats it takes longer
    return indices_at(at, x.shape), flat[at]


def indices_at(places: Array, sizes: tuple[int, ...]) -> Array:
    """The indices of places in row-major order, [places, rank]."""
    out = np.empty((len(sizes), len(places)), np.int64).T  # columns are what is worked with
    for first in range(0, len(places), _AT_ONCE):  # what is between stays in the cache
        some, rest = out[first : first + _AT_ONCE], places[first : first + _AT_ONCE]
        for axis in range(len(sizes) - 1, 0, -1):
            before = rest // sizes[axis]
            np.subtract(rest, before * sizes[axis], out=some[:, axis])
            rest = before
        some[:, 0] = rest
    return out


def in_order(indices: Array, values: Array, shape: Array) -> Any:
    """Places in ascending order, and the elements in that order."""
    places = places_of(indices, shape)
    if places is None or values.shape[:1] != places.shape:
        return NotImplemented
    if (places[1:] >= places[:-1]).all():
        return places, indices, values
    order = np.argsort(places, kind="stable")
    return places[order], indices[order], values[order]


def added(a: Array, of_a: Array, b: Array, of_b: Array, shape: Array) -> Any:
    """The sum of two sparse tensors, by their indices and values: indices and values."""
    at_a, at_b = places_of(a, shape), places_of(b, shape)
    if at_a is None or at_b is None or of_a.dtype != of_b.dtype or of_a.dtype.kind not in "fiuc":
        return NotImplemented
    if at_a.shape != of_a.shape or at_b.shape != of_b.shape:
        return NotImplemented
    if not ((at_a[1:] > at_a[:-1]).all() and (at_b[1:] > at_b[:-1]).all()):
        return NotImplemented
    if np.array_equal(at_a, at_b):
        return a, _without_negative_zeros(of_a + of_b)
    both = np.concatenate([at_a, at_b])
    order = np.argsort(both, kind="stable")  # two runs that are in order, and a before b
    both, values = both[order], np.concatenate([of_a, of_b])[order]
    first = np.flatnonzero(both[1:] == both[:-1])
    if len(first):
        values[first] += values[first + 1]
        stays = np.ones(len(order), bool)
        stays[first + 1] = False
        order, values = order[stays], values[stays]
    return np.concatenate([a, b]).take(order, 0), _without_negative_zeros(values)


def product(indices: Array, values: Array, shape: Array, dense: Array) -> Any:
    """The product of a small sparse matrix with a dense one, the elements in order."""
    if dense.ndim != 2 or values.ndim != 1 or indices.shape != (len(values), 2):
        return NotImplemented
    if values.dtype != dense.dtype or values.dtype not in _SUMMED or shape.shape != (2,):
        return NotImplemented
    count, width = int(shape[0]), dense.shape[1]
    if not 0 < max(len(values), count) * width <= _SMALL_PRODUCT or not len(values):
        return NotImplemented
    rows, columns = indices.T
    is_inside = rows[0] >= 0 and rows[-1] < count  # as they are in order
    if not is_inside or columns.min() < 0 or columns.max() >= len(dense):
        return NotImplemented
    steps = rows[1:] - rows[:-1]
    if steps.min(initial=0) < 0:
        return NotImplemented
    starts = np.concatenate([_FIRST, np.flatnonzero(steps) + 1])
    out = np.zeros((count, width), dense.dtype)
    out[rows[starts]] += np.add.reduceat(values[:, None] * dense.take(columns, 0), starts, 0)
    return out


def _without_negative_zeros(sums: Array) -> Array:
    """Sums of floats begin with 0, those of complex numbers with the first."""
    return sums + sums.dtype.type(0) if sums.dtype.kind == "f" else sums
