"""How the elements of a resized axis come out of those it had: their weights, from sizes alone.

Each new element is a weighted sum of a few neighbours. What they are is a matrix with few columns
in each row, held as a band: the first column of every row, and the weights from there on. All is
computed in float32, since a place that falls between two elements must fall on the same side as it
does in TensorFlow.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from weft._src.core import memory

Array = np.ndarray[Any, Any]
F = np.float32

_CUBIC_STEPS = 1024  # distances of plain cubic resizing are rounded to this part of a pixel
_BYTES_PER_ROW = 128  # that making a band and its transposed one takes at the least
_LEAST_SUM = F(1000) * np.finfo(F).tiny  # below this, weights are not made to add up to one


class Band(NamedTuple):
    """A matrix: row i has `weights[i]` from column `starts[i]` on, and zeros elsewhere."""

    starts: Array
    weights: Array


# A band, and that of the transposed matrix.
Bands = tuple[Array, Array, Array, Array]


def band(columns: Array, weights: Array, size: int) -> Band:
    """The band of a matrix with `size` columns; a column that is named twice has the sum."""
    used = weights != 0
    first = np.where(used, columns, size).min(1, initial=size)
    last = np.where(used, columns, -1).max(1, initial=-1)
    width = max(1, int((last - first).max(initial=0)) + 1)
    starts = np.clip(first, 0, size - width)
    rows, places = np.nonzero(used)
    out = np.zeros((len(columns), width), F)
    np.add.at(out, (rows, columns[rows, places] - starts[rows]), weights[rows, places])
    return Band(starts.astype(np.int32), out)


def transposed(starts: Array, weights: Array, size: int) -> Band:
    """The band of the transposed matrix of one that has `size` columns."""
    rows, places = np.nonzero(weights)
    columns = starts[rows] + places
    order = np.argsort(columns, kind="stable")
    rows, columns, values = rows[order], columns[order], weights[rows, places][order]
    counts = np.bincount(columns, minlength=size)
    # The k-th row that uses a column, side by side.
    nth = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    most = max(1, int(np.max(counts, initial=0)))
    of_column, of_weight = np.zeros((size, most), np.int64), np.zeros((size, most), F)
    of_column[columns, nth], of_weight[columns, nth] = rows, values
    return band(of_column, of_weight, len(starts))


# --- functions of the distance -------------------------------------------------------------------


def _lanczos(radius: int) -> Callable[[Array], Array]:
    def weight(x: Array) -> Array:
        near = np.maximum(x, F(1e-3)) * F(np.pi)
        value = F(radius) * np.sin(near) * np.sin(near / F(radius)) / (near * near)
        return np.where(x <= F(1e-3), F(1), np.where(x > radius, F(0), value))

    return weight


def _gaussian(x: Array) -> Array:
    return np.where(x >= F(1.5), F(0), np.exp(-x * x * F(2)))


def _triangle(x: Array) -> Array:
    return np.maximum(F(1) - x, F(0))


def _box(x: Array) -> Array:
    return np.where(x < F(0.5), F(1), np.where(x == F(0.5), F(0.5), F(0)))


def _cubic(near: tuple[float, ...], far: tuple[float, ...]) -> Callable[[Array], Array]:
    """A polynomial up to 1, another up to 2."""

    def weight(x: Array) -> Array:
        inner, outer = np.polyval(np.array(near, F), x), np.polyval(np.array(far, F), x)
        return np.where(x >= 2, F(0), np.where(x >= 1, outer, inner))

    return weight


# By name: how far a kernel reaches, and its weight at a distance.
KERNELS: dict[str, tuple[float, Callable[[Array], Array]]] = {
    "lanczos1": (1.0, _lanczos(1)),
    "lanczos3": (3.0, _lanczos(3)),
    "lanczos5": (5.0, _lanczos(5)),
    "gaussian": (1.5, _gaussian),
    "box": (1.0, _box),
    "triangle": (1.0, _triangle),
    "keyscubic": (2.0, _cubic((1.5, -2.5, 0.0, 1.0), (-0.5, 2.5, -4.0, 2.0))),
    "mitchellcubic": (
        2.0,
        _cubic((7 / 6, -2.0, 0.0, 8 / 9), (-7 / 18, 2.0, -10 / 3, 16 / 9)),
    ),
}


def _sampled(
    kind: str, size: int, wanted: int, scale: Any, translation: Any, antialias: bool
) -> Band:
    """Weights by the distance from the place that a new element comes from; they sum to one."""
    radius, weight = KERNELS[kind]
    inverse = F(1) / F(scale)
    wide = max(inverse, F(1)) if antialias else F(1)
    reach = F(radius) * wide
    places = (np.arange(wanted, dtype=F) + F(0.5)) * inverse - inverse * F(translation)
    outside = (places < 0) | (places > size)
    first = np.clip(np.ceil(places - reach - F(0.5)), 0, size - 1).astype(np.int64)
    last = np.clip(np.floor(places + reach - F(0.5)), 0, size - 1).astype(np.int64)
    columns = first[:, None] + np.arange(max(1, int((last - first).max(initial=0)) + 1))
    distances = np.abs(columns.astype(F) + F(0.5) - places[:, None]) / wide
    weights = weight(distances).astype(F)
    weights[(columns > last[:, None]) | outside[:, None]] = 0
    total = weights.sum(1, keepdims=True, dtype=F)
    np.divide(weights, total, out=weights, where=np.abs(total) >= _LEAST_SUM)
    return band(columns, weights, size)


# --- the plain forms -----------------------------------------------------------------------------


def _step(size: int, wanted: int, align_corners: bool) -> Any:
    if align_corners and wanted > 1:
        return F(size - 1) / F(wanted - 1)
    return F(size) / F(wanted)


def _places(size: int, wanted: int, align_corners: bool, half_pixel_centers: bool) -> Array:
    """Where new elements come from; the centre of the first old one is 0."""
    step, at = _step(size, wanted, align_corners), np.arange(wanted, dtype=F)
    return (at + F(0.5)) * step - F(0.5) if half_pixel_centers else at * step


def _nearest(size: int, wanted: int, align_corners: bool, half_pixel_centers: bool) -> Band:
    at = np.arange(wanted, dtype=F) + F(0.5 * half_pixel_centers)
    places = at * _step(size, wanted, align_corners)
    # Halves go up, which np.round does not do.
    whole = np.floor(places + F(0.5)) if align_corners else np.floor(places)
    starts = np.clip(whole, 0, size - 1).astype(np.int32)
    return Band(starts, np.ones((wanted, 1), F))


def _linear(size: int, wanted: int, align_corners: bool, half_pixel_centers: bool) -> Band:
    places = _places(size, wanted, align_corners, half_pixel_centers)
    below = np.floor(places)
    share = places - below
    columns = np.stack([np.maximum(below, 0), np.minimum(np.ceil(places), size - 1)], 1)
    return band(columns.astype(np.int64), np.stack([1 - share, share], 1), size)


def _smooth(size: int, wanted: int, align_corners: bool, half_pixel_centers: bool) -> Band:
    places = _places(size, wanted, align_corners, half_pixel_centers)
    below = np.floor(places)
    share = np.rint((places - below) * F(_CUBIC_STEPS)) / F(_CUBIC_STEPS)
    a = -0.5 if half_pixel_centers else -0.75
    weight = _cubic((a + 2, -a - 3, 0.0, 1.0), (a, -5 * a, 8 * a, -4 * a))
    distances = [1 + share, share, 1 - share, 2 - share]
    weights = np.stack([weight(x.astype(F)) for x in distances], 1).astype(F)
    columns = below.astype(np.int64)[:, None] + np.arange(-1, 3)
    inside = np.clip(columns, 0, size - 1)
    if half_pixel_centers:  # what lies outside does not count; without it the border is repeated
        weights[inside != columns] = 0
        total = weights.sum(1, keepdims=True, dtype=F)
        np.divide(weights, total, out=weights, where=np.abs(total) >= _LEAST_SUM)
    return band(inside, weights, size)


def _area(size: int, wanted: int, align_corners: bool, half_pixel_centers: bool) -> Band:
    step = _step(size, wanted, align_corners and size > 1)
    begin = np.arange(wanted, dtype=F) * step
    end = np.arange(1, wanted + 1, dtype=F) * step
    first, last = np.floor(begin).astype(np.int64), np.ceil(end).astype(np.int64)
    columns = first[:, None] + np.arange(max(1, int((last - first).max(initial=0))))
    covered = np.minimum(columns + F(1), end[:, None]) - np.maximum(columns, begin[:, None])
    inner = (columns < begin[:, None]) & (columns + 1 > end[:, None])
    # As long as a step; the difference of its ends is that only roughly.
    weights = np.where(inner, F(1), covered / step)
    weights[columns >= last[:, None]] = 0
    return band(np.minimum(columns, size - 1), weights.astype(F), size)


_PLAIN = {"nearest": _nearest, "linear": _linear, "cubic": _smooth, "area": _area}


def _check_memory(size: int, wanted: int) -> None:
    what = f"that says how {size:,} elements become {wanted:,}"
    memory.check_bytes("resize", _BYTES_PER_ROW * (size + wanted), what)


def _both(forward: Band, size: int) -> Bands:
    return (*forward, *transposed(*forward, size))


@functools.lru_cache(maxsize=256)
def resizing(
    kind: str,
    size: int,
    wanted: int,
    antialias: bool = False,
    align_corners: bool = False,
    half_pixel_centers: bool = True,
) -> Bands:
    """The band that makes `wanted` elements of `size`, and the way back. Not to be written into."""
    _check_memory(size, wanted)
    if kind in _PLAIN:
        forward = _PLAIN[kind](size, wanted, align_corners, half_pixel_centers)
    else:
        forward = _sampled(kind, size, wanted, F(wanted) / F(size), F(0), antialias)
    return _both(forward, size)


def placing(
    kind: str, size: int, wanted: int, scale: Any, translation: Any, antialias: bool
) -> Bands:
    """The same for an axis that is stretched by `scale`, then moved by `translation`."""
    _check_memory(size, wanted)
    return _both(_sampled(kind, size, wanted, scale, translation, antialias), size)
