"""Convolutions in one group by NumPy: windows of some images at a time, copied and multiplied.

What is copied at a time stays in the cache of a processor, and threads share the pieces: to copy
and to multiply both let go of the interpreter's lock. Where pieces lie depends on sizes alone, and
sums over pieces are added in their order, so results do not depend on threads. Windows of size 1
need no copy; the gradient for an image is a convolution of its own unless windows are strides
apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.tensor import Array
from weft._src.ops.nn import window_machine
from weft._src.ops.nn.windows import Geometry

_PIECE = 1 << 18  # numbers in windows that are copied at a time
_FEW = 8  # numbers beside each other in a window, below which it is copied tap by tap
_SHARED_FROM = 1 << 21  # multiplications

Piece = tuple[slice, slice]  # of the batch, and of the first axis of the outputs


def pieces(where: Geometry, batch: int, depth: int) -> Iterator[Piece]:
    """The outputs in parts: some images, or some rows of one."""
    places = _PIECE // max(depth, 1)
    rows, per_row = where.outputs[0], max(math.prod(where.outputs[1:]), 1)
    images = places // max(per_row * rows, 1)
    if images:
        for start in range(0, batch, images):
            yield slice(start, start + images), slice(None)
        return
    step = max(places // per_row, 1)
    for image in range(batch):
        for start in range(0, rows, step):
            yield slice(image, image + 1), slice(start, start + step)


def _do(xp: ArrayNamespace, work: Callable[[int], None], count: int, size: int) -> None:
    """Does all pieces, on several threads if these have enough to do."""
    if count > 1 and size >= _SHARED_FROM:
        xp.shared(work, count)
        return
    for number in range(count):
        work(number)


def _is_plain(where: Geometry) -> bool:
    """Whether windows are single places, so that nothing has to be copied together."""
    return math.prod(where.window) == 1 and not any(map(any, where.paddings))


def _met(where: Geometry) -> tuple[slice, ...]:
    """The places of the image that windows of size 1 meet."""
    ends = [(n - 1) * s + 1 if n else 0 for n, s in zip(where.outputs, where.strides, strict=True)]
    spatial = [slice(0, end, s) for end, s in zip(ends, where.strides, strict=True)]
    return (slice(None), *spatial)


def _rows(xp: ArrayNamespace, columns: Array, n: int) -> Array:
    """(batch, *outputs, *window, channels) as (places, window * channels)."""
    places, depth = math.prod(columns.shape[: n + 1]), math.prod(columns.shape[n + 1 :])
    if columns.shape[-1] * columns.shape[-2] >= _FEW or not places:
        return xp.reshape(columns, (places, depth))
    turned = xp.empty((depth, places), columns.dtype)
    of_tap = xp.reshape(turned, (*columns.shape[n + 1 :], *columns.shape[: n + 1]))
    for at in xp.ndindex(*columns.shape[n + 1 :]):
        of_tap[at] = columns[(..., *at)]
    return turned.T


def convolved(xp: ArrayNamespace, x: Array, filters: Array, where: Geometry) -> Array:
    """The convolution of images with channels last, which have no border yet."""
    return window_machine.attempted(
        x.shape[0] * math.prod(where.outputs) * filters.size,
        x.dtype,
        lambda kernels: kernels.convolved(x, filters, where),
        lambda: _convolved(xp, x, filters, where),
    )


def _convolved(xp: ArrayNamespace, x: Array, filters: Array, where: Geometry) -> Array:
    n, outputs = len(where.window), filters.shape[-1]
    shape = (x.shape[0], *where.outputs, outputs)
    depth = math.prod(filters.shape[:-1])
    matrix = xp.reshape(filters, (depth, outputs))
    places = math.prod(shape[:-1])
    if _is_plain(where):
        return xp.reshape(xp.matmul(xp.reshape(x[_met(where)], (places, depth)), matrix), shape)
    columns = where.columns(xp, where.pad(xp, x))
    if places * depth <= _PIECE:  # one piece
        return xp.reshape(xp.matmul(_rows(xp, columns, n), matrix), shape)
    out = xp.empty(shape, x.dtype)
    parts = list(pieces(where, x.shape[0], depth))

    def work(number: int) -> None:
        rows, target = _rows(xp, columns[parts[number]], n), out[parts[number]]
        xp.matmul_into(rows, matrix, xp.reshape(target, (rows.shape[0], outputs)))

    _do(xp, work, len(parts), places * depth * outputs)
    return out


def filter_gradient(
    xp: ArrayNamespace, x: Array, shape: tuple[int, ...], g: Array, where: Geometry
) -> Array:
    """What filters of a shape met in the windows of images, weighted by g."""
    return window_machine.attempted(
        math.prod(g.shape[:-1]) * math.prod(shape),
        g.dtype,
        lambda kernels: kernels.filter_gradient(x, shape, g, where),
        lambda: _filter_gradient(xp, x, shape, g, where),
    )


def _filter_gradient(
    xp: ArrayNamespace, x: Array, shape: tuple[int, ...], g: Array, where: Geometry
) -> Array:
    n, outputs = len(where.window), shape[-1]
    depth, places = math.prod(shape[:-1]), math.prod(g.shape[:-1])
    if _is_plain(where):
        rows = xp.reshape(x[_met(where)], (places, depth))
        return xp.reshape(xp.matmul(rows.T, xp.reshape(g, (places, outputs))), shape)
    columns = where.columns(xp, where.pad(xp, x))
    parts = list(pieces(where, x.shape[0], depth))
    found: list[Array] = [columns] * len(parts)

    def work(number: int) -> None:
        rows, part = _rows(xp, columns[parts[number]], n), g[parts[number]]
        found[number] = xp.matmul(rows.T, xp.reshape(part, (rows.shape[0], outputs)))

    _do(xp, work, len(parts), places * depth * outputs)
    total = xp.zeros((depth, outputs), g.dtype)
    for part in found:
        total += part
    return xp.reshape(total, shape)


def input_gradient(
    xp: ArrayNamespace, shape: tuple[int, ...], filters: Array, g: Array, where: Geometry
) -> Array:
    """The gradient for images of a shape, channels last."""
    return window_machine.attempted(
        math.prod(g.shape[:-1]) * filters.size,
        g.dtype,
        lambda kernels: kernels.input_gradient(shape, filters, g, where),
        lambda: _input_gradient(xp, shape, filters, g, where),
    )


def _input_gradient(
    xp: ArrayNamespace, shape: tuple[int, ...], filters: Array, g: Array, where: Geometry
) -> Array:
    *window, inputs, outputs = filters.shape
    n = len(window)
    if _is_plain(where):
        places = math.prod(g.shape[:-1])
        matrix = xp.reshape(filters, (inputs, outputs)).T
        flat = xp.matmul(xp.reshape(g, (places, outputs)), matrix)
        if all(s == 1 for s in where.strides):
            return xp.reshape(flat, shape)
        out = xp.zeros(shape, g.dtype)
        out[_met(where)] = xp.reshape(flat, (*g.shape[:-1], inputs))
        return out
    back = where.back()
    if back is not None:
        turned = xp.moveaxis(xp.flip(filters, tuple(range(n))), -1, -2)
        return _convolved(xp, g, xp.ascontiguousarray(turned), back)
    return _added_up(xp, shape, filters, g, where)


def _added_up(
    xp: ArrayNamespace, shape: tuple[int, ...], filters: Array, g: Array, where: Geometry
) -> Array:
    """Every element of every window added to its place in the image."""
    *window, inputs, outputs = filters.shape
    n, depth = len(window), math.prod(filters.shape[:-1])
    matrix = xp.reshape(filters, (depth, outputs)).T
    out = xp.zeros(where.padded_shape(shape), g.dtype)
    parts = list(pieces(where, shape[0], depth))

    def work(number: int) -> None:
        images, rows = parts[number]
        part = g[images, rows]
        flat = xp.matmul(xp.reshape(part, (math.prod(part.shape[:-1]), outputs)), matrix)
        columns = xp.reshape(flat, (*part.shape[:-1], *window, inputs))
        for place, at in where.positions(rows):
            out[(images, *at)] += columns[(slice(None), *(slice(None),) * n, *place)]

    # Rows of one image meet the same pixels, so only whole images are shared.
    alone = not parts or parts[0][1] != slice(None)
    _do(xp, work, len(parts), 0 if alone else math.prod(g.shape) * depth)
    return out[where.inside()]
