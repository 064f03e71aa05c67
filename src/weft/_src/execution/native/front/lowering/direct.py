"""Convolutions of images without a matrix of their windows: tiles that walk over the image."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.execution.native.front.lowering.products import panels
from weft._src.execution.native.front.lowering.rules import reduced, reshaped
from weft._src.execution.native.loops.kernels.blocking import Level, Places, lanes_of
from weft._src.execution.native.loops.kernels.tiles import Tiles
from weft._src.execution.native.loops.values import ElementSource, Index, Indexed, Stored, Value
from weft._src.ops.nn.windows import Geometry

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering

_LEAST, _DEPTH = 20_000, 1 << 14  # multiplications; bytes of a column of the filters
_MOST_PARTS, _PARTIAL = 16, 1 << 20  # of a batch; elements of all their results


def suits(where: Geometry, dtype: DType, batch: int, channels: int, outputs: int) -> bool:
    """Whether this is how to convolve: images, in one group, with enough to do."""
    if len(where.window) != 2 or dtype not in (dtypes.float32, dtypes.float64):
        return False
    depth = math.prod(where.window) * channels
    work = batch * math.prod(where.outputs) * depth * outputs
    return outputs > lanes_of(dtype) // 4 and depth * dtype.size <= _DEPTH and work > _LEAST


def convolved(
    lowering: Lowering, label: str, image: Value, filters: Value, where: Geometry
) -> Value:
    """The convolution of a padded image (batch, height, width, channels)."""
    batch, height, width, channels = image.shape
    (kh, kw), (down, right) = where.window, where.dilations
    outputs = filters.shape[-1]
    depth = kh * kw * channels
    b, (b_row, b_panel) = panels(lowering, reshaped(filters, (depth, outputs)), tb=False, copy=True)
    line = width * channels
    across = ((kw * channels, 1),) if right == 1 else ((kw, right * channels), (channels, 1))
    out_down, out_right = where.outputs
    levels = (
        Level(batch, height * line, 0, out_down * out_right * outputs),
        Level(out_down, where.strides[0] * line, 0, out_right * outputs),
    )
    places = Places(
        levels=levels,
        rows=out_right,
        columns=outputs,
        depth=((kh, down * line), *across),
        a_row=where.strides[1] * channels,
        b_row=b_row,
        b_panel=b_panel,
        c_row=outputs,
        line_elements=min(where.strides[0], kh) * line,
    )
    result = Stored(image.dtype, (batch, *where.outputs, outputs), label)
    lowering.add(Tiles(image, b, result, [places]))
    return result


def back_geometry(where: Geometry) -> Geometry | None:
    """Where windows are when gradients are carried back to the image, if that is a convolution."""
    if any(s != 1 for s in where.strides):
        return None
    reach = [d * (k - 1) for d, k in zip(where.dilations, where.window, strict=True)]
    before = [r - b for r, (b, _) in zip(reach, where.paddings, strict=True)]
    after = [
        n + r - b - out
        for n, r, b, out in zip(where.sizes, reach, before, where.outputs, strict=True)
    ]
    if min(*before, *after) < 0:
        return None
    paddings = tuple(zip(before, after, strict=True))
    return dataclasses.replace(where, sizes=where.outputs, outputs=where.sizes, paddings=paddings)


def turned(filters: Value) -> Value:
    """The filters that carry gradients back: upside down, inputs and outputs exchanged."""
    kh, kw, inputs, outputs = filters.shape

    def formula(source: ElementSource, index: Index) -> Any:
        b = source.b
        down, right, output, to = index
        there = (b.sub(b.index(kh - 1), down), b.sub(b.index(kw - 1), right), to, output)
        return source.at(filters, there)

    return Indexed(
        filters.dtype, (kh, kw, outputs, inputs), "turned", "reverse", (filters,), formula
    )


def suits_filters(where: Geometry, x: Value, outputs: int) -> bool:
    """Whether the gradient of filters is computed like this."""
    plain = where.dilations[-1:] == (1,)
    return plain and suits(where, x.dtype, x.shape[0], x.shape[-1], outputs)


def filter_gradient(
    lowering: Lowering, label: str, image: Value, g: Value, where: Geometry
) -> Value:
    """What each filter met in the windows of a padded image, weighted by g.

    A batch is summed up in some parts first: that is what threads share, and it is more exact than
    one sum over all windows.
    """
    batch, height, width, channels = image.shape
    (kh, kw), (out_down, out_right) = where.window, where.outputs
    outputs, size = g.shape[-1], kh * kw * channels * g.shape[-1]
    parts = max(
        n for n in range(1, _MOST_PARTS + 1) if batch % n == 0 and (n == 1 or n * size <= _PARTIAL)
    )
    line, windows = width * channels, out_down * out_right
    rows = reshaped(g, (parts, batch // parts * windows, outputs))
    b, (b_row, b_panel) = panels(lowering, rows, tb=False, copy=True)
    places = Places(
        levels=(
            Level(parts, batch // parts * height * line, b.size // parts, size),
            Level(kh, where.dilations[0] * line, 0, kw * channels * outputs),
        ),
        rows=kw * channels,
        columns=outputs,
        depth=(
            (batch // parts, height * line),
            (out_down, where.strides[0] * line),
            (out_right, where.strides[1] * channels),
        ),
        a_row=1,
        b_row=b_row,
        b_panel=b_panel,
        c_row=outputs,
        line_elements=kw * channels * batch // parts * windows,
    )
    partial = Stored(image.dtype, (parts, kh, kw, channels, outputs), label)
    lowering.add(Tiles(image, b, partial, [places]))
    return reduced(partial, (0,), "add", label)
