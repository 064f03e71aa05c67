"""Convolutions of images without a matrix of their windows: tiles that walk over the image."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.execution.native.front.lowering.products import (
    panels,
    tap_panels,
)
from weft._src.execution.native.front.lowering.regions import (
    Images,
    Segment,
    backward_segments,
    equal_lines,
    forward_segments,
    padded,
    regions,
)
from weft._src.execution.native.front.lowering.rules import reduced, reshaped
from weft._src.execution.native.loops.kernels.blocking import (
    Level,
    Places,
    RightSide,
    lanes_of,
    vectors_for,
)
from weft._src.execution.native.loops.kernels.tiles import Tiles
from weft._src.execution.native.loops.values import Stored, Value
from weft._src.ops.nn.windows import Geometry

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering

_LEAST = 20_000  # multiplications
_COPY_FROM = 16  # pixels from which stripes of filters pay: else each number is read once
_MOST_REGIONS, _LEAST_WIDTH = 9, 20  # of images without a border
_MOST_REGIONS_OF_CHANNELS = 49
_UNCOPIED = 256  # outputs whose gradients are read where they are
_MOST_PARTS, _PARTIAL = 16, 1 << 18  # of a batch; elements of all their results


def suits(where: Geometry, dtype: DType, batch: int, channels: int, outputs: int) -> bool:
    """Whether this is how to convolve: images, in one group, with enough to do."""
    if len(where.window) != 2 or dtype not in (dtypes.float32, dtypes.float64):
        return False
    work = batch * math.prod(where.outputs) * math.prod(where.window) * channels * outputs
    return outputs > lanes_of(dtype) // 4 and work > _LEAST


def convolved(lowering: Lowering, label: str, x: Value, filters: Value, where: Geometry) -> Value:
    """The convolution of an image (batch, height, width, channels)."""
    kh, kw, channels, outputs = filters.shape
    columns = reshaped(filters, (kh * kw * channels, outputs))
    pixels = x.shape[0] * math.prod(where.outputs)
    right_side = panels(
        lowering, columns, tb=False, copy=pixels >= _COPY_FROM, rows=_rows_of_lines(where, pixels)
    )
    if right_side.value is columns:  # the same memory, which need not be copied to lose its axes
        right_side = dataclasses.replace(right_side, value=filters)
    return _convolved(lowering, label, x, right_side, outputs, where)


def _rows_of_lines(where: Geometry, pixels: int) -> int:
    """How long the lines of most tiles are."""
    plain = math.prod(where.window) == 1 and math.prod(where.strides) == 1
    return pixels if plain else where.outputs[1]


def _convolved(
    lowering: Lowering, label: str, x: Value, right_side: RightSide, outputs: int, where: Geometry
) -> Value:
    bordered = _wants_border(where)
    image = padded(x, where, 0) if bordered else x
    down, right = [forward_segments(where, axis, bordered=bordered) for axis in (0, 1)]
    sizes, window = (*where.outputs, outputs), where.window[1]
    return _by_regions(lowering, label, image, right_side, sizes, window, (down, right))


def _wants_border(where: Geometry) -> bool:
    """Whether a copy with a border is cheap beside narrow regions, which are slow."""
    if not any(map(any, where.paddings)):
        return False
    cuts = [len(forward_segments(where, axis, bordered=False)) for axis in (0, 1)]
    return math.prod(cuts) > _MOST_REGIONS or min(where.outputs) < _LEAST_WIDTH


def input_gradient(
    lowering: Lowering, label: str, g: Value, filters: Value, where: Geometry
) -> Value | None:
    """The gradient for an image, if it is a convolution of g."""
    kh, kw, inputs, outputs = filters.shape
    back = where.back()
    down, right = [backward_segments(where, axis, turned=True) for axis in (0, 1)]
    if back is None and (down is None or right is None):
        return None
    pixels = g.shape[0] * math.prod(where.sizes)
    rows = _rows_of_lines(where, pixels) if back is None else _rows_of_lines(back, pixels)
    right_side = tap_panels(lowering, reshaped(filters, (kh * kw, inputs, outputs)), rows)
    if back is not None:
        return _convolved(lowering, label, g, right_side, inputs, back)
    assert down is not None
    assert right is not None
    sizes = (*where.sizes, inputs)
    return _by_regions(lowering, label, g, right_side, sizes, kw, (down, right))


def _by_regions(
    lowering: Lowering, label: str, image: Value, right_side: RightSide,
    sizes: tuple[int, ...], window: int, segments: tuple[list[Segment], list[Segment]],
) -> Value:  # fmt: skip
    batch, *source = image.shape
    images = Images(batch, tuple(source), sizes, window, right_side)
    result = Stored(image.dtype, (batch, *sizes), label)
    lowering.add(Tiles(image, right_side.value, result, regions(images, segments)))
    return result


def convolved_channels(
    lowering: Lowering, label: str, x: Value, filters: Value, where: Geometry
) -> Value:
    """The convolution of an image, each channel with a filter of its own (height, width, channels).

    Narrow regions do no harm here: reading the image takes longer than computing.
    """
    cuts = [len(forward_segments(where, axis, bordered=False)) for axis in (0, 1)]
    bordered = math.prod(cuts) > _MOST_REGIONS_OF_CHANNELS
    image = padded(x, where, 0) if bordered else x
    down, right = [forward_segments(where, axis, bordered=bordered) for axis in (0, 1)]
    return _by_regions_of_channels(lowering, label, image, filters, where.outputs, (down, right))


def channels_input_gradient(
    lowering: Lowering, label: str, g: Value, filters: Value, where: Geometry
) -> Value | None:
    """The gradient for an image whose channels were convolved apart, if it has this form."""
    down, right = [backward_segments(where, axis, turned=False) for axis in (0, 1)]
    if down is None or right is None or len(down) * len(right) > _MOST_REGIONS_OF_CHANNELS:
        return None
    return _by_regions_of_channels(lowering, label, g, filters, where.sizes, (down, right))


def _by_regions_of_channels(
    lowering: Lowering, label: str, image: Value, filters: Value, sizes: Sequence[int],
    segments: tuple[list[Segment], list[Segment]],
) -> Value:  # fmt: skip
    batch, height, width, channels = image.shape
    vectors = vectors_for(channels, image.dtype)
    taps = RightSide(filters, channels, lanes_of(image.dtype) * vectors, vectors)
    of_result = (sizes[0], sizes[1], channels)
    images = Images(
        batch, (height, width, channels), of_result, filters.shape[1], taps, channels=True
    )
    result = Stored(image.dtype, (batch, *of_result), label)
    lowering.add(Tiles(image, filters, result, regions(images, segments)))
    return result


def channels_filter_gradient(
    lowering: Lowering, label: str, image: Value, g: Value, where: Geometry
) -> Value:
    """What the filter of each channel met in the windows of a padded image, weighted by g."""
    batch, height, width, channels = image.shape
    (kh, kw), (out_down, out_right) = where.window, where.outputs
    parts = max(n for n in range(1, _MOST_PARTS + 1) if batch % n == 0)
    line, windows, each = width * channels, out_down * out_right, batch // parts
    vectors = vectors_for(channels, image.dtype, kw)
    places = Places(
        levels=(
            Level(parts, each * height * line, each * windows * channels, kh * kw * channels),
            Level(kh, where.dilations[0] * line, 0, kw * channels),
        ),
        rows=kw,
        columns=channels,
        vectors=vectors,
        depth=(
            (each, height * line, windows * channels),
            (out_down, where.strides[0] * line, out_right * channels),
            (out_right, where.strides[1] * channels, channels),
        ),
        a_row=where.dilations[1] * channels,
        b_panel=lanes_of(image.dtype) * vectors,
        c_row=channels,
        line_elements=each * height * line,
        channels=True,
    )
    partial = Stored(image.dtype, (parts, kh, kw, channels), label)
    lowering.add(Tiles(image, g, partial, [places]))
    return reduced(partial, (0,), "add", label)


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
    lines_of_rows = equal_lines(kw * channels)
    right = panels(lowering, rows, tb=False, copy=outputs > _UNCOPIED, rows=lines_of_rows[0][2])
    b, b_row = right.value, right.row
    regions_of_rows = [
        Places(
            levels=(
                Level(parts, batch // parts * height * line, b.size // parts, size),
                Level(kh, where.dilations[0] * line, 0, kw * channels * outputs),
                Level(lines, of_line, 0, of_line * outputs),
            ),
            rows=of_line,
            columns=outputs,
            vectors=right.vectors,
            depth=(
                (batch // parts, height * line, windows * b_row),
                (out_down, where.strides[0] * line, out_right * b_row),
                (out_right, where.strides[1] * channels, b_row),
            ),
            a_row=1,
            b_panel=right.panel,
            c_row=outputs,
            line_elements=of_line * (batch // parts) * windows,
            a_first=first,
            c_first=first * outputs,
        )
        for first, lines, of_line in lines_of_rows
    ]
    partial = Stored(image.dtype, (parts, kh, kw, channels, outputs), label)
    lowering.add(Tiles(image, b, partial, regions_of_rows))
    return reduced(partial, (0,), "add", label)
