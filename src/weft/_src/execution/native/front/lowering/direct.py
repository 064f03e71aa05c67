"""Convolutions of images without a matrix of their windows: tiles that walk over the image.

What is written here serves graphs that are compiled and arrays that are there: a `Maker` knows how
stripes of filters, borders and products of them come about (`making.py` for the former,
`execution/native/window_kernels.py` for the latter).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Protocol

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.execution.native.front.lowering.regions import (
    Images,
    Segment,
    backward_segments,
    equal_lines,
    forward_segments,
    regions,
)
from weft._src.execution.native.loops.kernels.blocking import (
    Level,
    Places,
    RightSide,
    lanes_of,
    vectors_for,
    whole_and_rest,
)
from weft._src.ops.nn.windows import Geometry

_LEAST = 20_000  # multiplications
# Pixels from which stripes of filters pay: in one long line, and in lines of an image.
_COPY_FROM, _COPY_LINES_FROM = 16, 64
_MOST_REGIONS, _LEAST_WIDTH = 9, 20  # of images without a border
_MOST_REGIONS_OF_CHANNELS = 49
# Gradients of outputs are copied for windows of several pixels, which read them as often, and where
# there are more outputs than this, and as many inputs at least.
_UNCOPIED, _INPUTS = 256, 160
_STRIPES_FROM = 64  # channels from which gradients of filters read a copy of the image in stripes
_MOST_PARTS, _PARTIAL = 16, 1 << 18  # of a batch; elements of all their results


class Maker(Protocol):
    """Makes values of a kind: arrays, or what is to be compiled."""

    dtype: DType

    def stripes(
        self, x: Any, shape: tuple[int, ...], *, copy: bool, rows: int, apart: int = 0
    ) -> RightSide:
        """The right side of a product, from x as [..., depth, columns].

        For lines of so many rows that lie so many bytes apart. `copy=False` where a matrix is read
        once only, so that stripes do not pay.
        """

    def turned_stripes(
        self, filters: Any, shape: tuple[int, int, int], rows: int, apart: int
    ) -> RightSide:
        """The same of filters [taps, inputs, outputs] that lead back; the last tap comes first."""

    def channel_stripes(self, image: Any, width: int) -> Any:
        """An image as [stripes, batch, height, width, some channels]."""

    def bordered(self, x: Any, where: Geometry) -> Any:
        """An image with its border."""

    def product(self, a: Any, b: Any, shape: tuple[int, ...], regions: Sequence[Places]) -> Any:
        """What tiles make of a and the right side b."""

    def sum_of_parts(self, x: Any) -> Any:
        """The sum along the first axis."""


def suits(where: Geometry, dtype: DType, batch: int, channels: int, outputs: int) -> bool:
    """Whether this is how to convolve: images, in one group, with enough to do."""
    if len(where.window) != 2 or dtype not in (dtypes.float32, dtypes.float64):
        return False
    work = batch * math.prod(where.outputs) * math.prod(where.window) * channels * outputs
    return outputs > lanes_of(dtype) // 4 and work > _LEAST


def convolved(maker: Maker, x: Any, filters: Any, where: Geometry) -> Any:
    """The convolution of an image (batch, height, width, channels)."""
    kh, kw, channels, outputs = filters.shape
    pixels = x.shape[0] * math.prod(where.outputs)
    rows = _rows_of_lines(where, pixels)
    copy = pixels >= (_COPY_FROM if rows == pixels else _COPY_LINES_FROM)
    apart = where.strides[1] * channels * maker.dtype.size
    shape = (kh * kw * channels, outputs)
    right_side = maker.stripes(filters, shape, copy=copy, rows=rows, apart=apart)
    return _convolved(maker, x, right_side, outputs, where)


def _rows_of_lines(where: Geometry, pixels: int) -> int:
    """How long the lines of most tiles are."""
    plain = math.prod(where.window) == 1 and math.prod(where.strides) == 1
    return pixels if plain else where.outputs[1]


def _convolved(maker: Maker, x: Any, right_side: RightSide, outputs: int, where: Geometry) -> Any:
    bordered = _wants_border(where)
    image = maker.bordered(x, where) if bordered else x
    down, right = [forward_segments(where, axis, bordered=bordered) for axis in (0, 1)]
    sizes, window = (*where.outputs, outputs), where.window[1]
    return _by_regions(maker, image, right_side, sizes, window, (down, right))


def _wants_border(where: Geometry) -> bool:
    """Whether a copy with a border is cheap beside narrow regions, which are slow."""
    if not any(map(any, where.paddings)):
        return False
    cuts = [len(forward_segments(where, axis, bordered=False)) for axis in (0, 1)]
    return math.prod(cuts) > _MOST_REGIONS or min(where.outputs) < _LEAST_WIDTH


def input_gradient(maker: Maker, g: Any, filters: Any, where: Geometry) -> Any | None:
    """The gradient for an image, if it is a convolution of g."""
    kh, kw, inputs, outputs = filters.shape
    back = where.back()
    down, right = [backward_segments(where, axis, turned=True) for axis in (0, 1)]
    if back is None and (down is None or right is None):
        return None
    pixels = g.shape[0] * math.prod(where.sizes)
    rows = _rows_of_lines(where, pixels) if back is None else _rows_of_lines(back, pixels)
    apart = outputs * maker.dtype.size
    right_side = maker.turned_stripes(filters, (kh * kw, inputs, outputs), rows, apart)
    if back is not None:
        return _convolved(maker, g, right_side, inputs, back)
    assert down is not None
    assert right is not None
    sizes = (*where.sizes, inputs)
    return _by_regions(maker, g, right_side, sizes, kw, (down, right))


def _by_regions(
    maker: Maker, image: Any, right_side: RightSide, sizes: tuple[int, ...], window: int,
    segments: tuple[list[Segment], list[Segment]],
) -> Any:  # fmt: skip
    batch, *source = image.shape
    images = Images(batch, tuple(source), sizes, window, right_side)
    return maker.product(image, right_side.value, (batch, *sizes), regions(images, segments))


def convolved_channels(maker: Maker, x: Any, filters: Any, where: Geometry) -> Any:
    """The convolution of an image, each channel with a filter of its own (height, width, channels).

    Narrow regions do no harm here: reading the image takes longer than computing.
    """
    bordered = _has_many_regions(where)
    image = maker.bordered(x, where) if bordered else x
    down, right = [forward_segments(where, axis, bordered=bordered) for axis in (0, 1)]
    return _by_regions_of_channels(maker, image, filters, where.outputs, (down, right))


def channels_input_gradient(maker: Maker, g: Any, filters: Any, where: Geometry) -> Any | None:
    """The gradient for an image whose channels were convolved apart, if it has this form."""
    down, right = [backward_segments(where, axis, turned=False) for axis in (0, 1)]
    if down is None or right is None or len(down) * len(right) > _MOST_REGIONS_OF_CHANNELS:
        return None
    return _by_regions_of_channels(maker, g, filters, where.sizes, (down, right))


def _by_regions_of_channels(
    maker: Maker, image: Any, filters: Any, sizes: Sequence[int],
    segments: tuple[list[Segment], list[Segment]],
) -> Any:  # fmt: skip
    batch, height, width, channels = image.shape
    vectors = vectors_for(channels, maker.dtype)
    taps = RightSide(filters, channels, lanes_of(maker.dtype) * vectors, vectors)
    of_result = (sizes[0], sizes[1], channels)
    images = Images(
        batch, (height, width, channels), of_result, filters.shape[1], taps, channels=True
    )
    return maker.product(image, filters, (batch, *of_result), regions(images, segments))


def channels_filter_gradient(maker: Maker, x: Any, g: Any, where: Geometry) -> Any:
    """What the filter of each channel met in the windows of an image, weighted by g.

    Windows that reach over the border in the same way are a part of the sum of their own, in which
    taps outside of the image are 0; the others are summed in some parts, which threads share.
    """
    bordered = _has_many_regions(where)
    image = maker.bordered(x, where) if bordered else x
    down, right = [forward_segments(where, axis, bordered=bordered) for axis in (0, 1)]
    kinds = [(d, r) for d in down for r in right]
    kinds.sort(key=lambda kind: -kind[0].count * kind[1].count)
    batch, channels = image.shape[0], image.shape[-1]
    cuts = max(n for n in range(1, _MOST_PARTS + 1) if batch % n == 0)
    size = math.prod(where.window) * channels
    regions_of_taps: list[Places] = []
    first = 0
    for number, (d, r) in enumerate(kinds):
        parts = cuts if number == 0 else 1
        made = _taps_of(maker, image.shape, where, d, r, parts)
        regions_of_taps += [
            dataclasses.replace(places, c_first=places.c_first + first * size) for places in made
        ]
        first += parts
    shape = (first, *where.window, channels)
    return maker.sum_of_parts(maker.product(image, g, shape, regions_of_taps))


def _taps_of(
    maker: Maker, shape: tuple[int, ...], where: Geometry, down: Segment, right: Segment, parts: int
) -> list[Places]:
    """The sums over the windows of some segments: of taps inside the image, and zeros."""
    batch, height, width, channels = shape
    (kh, kw), (out_down, out_right) = where.window, where.outputs
    line, of_g, each = width * channels, out_down * out_right * channels, batch // parts
    vectors = vectors_for(channels, maker.dtype, right.taps or 1)
    whole = Places(
        levels=(
            Level(parts, each * height * line, each * of_g, kh * kw * channels),
            Level(down.taps, down.from_tap * line, 0, kw * channels),
        ),
        rows=right.taps,
        columns=channels,
        vectors=vectors,
        depth=(
            (each, height * line, of_g),
            (down.count, down.from_step * line, out_right * channels),
            (right.count, right.from_step * channels, channels),
        ),
        a_row=right.from_tap * channels,
        b_panel=lanes_of(maker.dtype) * vectors,
        c_row=channels,
        line_elements=each * height * line,
        a_first=down.from_first * line + right.from_first * channels,
        b_first=(down.first * out_right + right.first) * channels,
        c_first=(down.tap * kw + right.tap) * channels,
        channels=True,
    )

    def zeros(above: int, rows: int, left: int, taps: int) -> Places:
        lines = Level(rows, 0, 0, kw * channels)
        start = (above * kw + left) * channels
        return dataclasses.replace(
            whole, levels=(whole.levels[0], lines), rows=taps, depth=((0, 0, 0),), c_first=start
        )

    below, beyond = down.tap + down.taps, right.tap + right.taps
    empty = [
        zeros(0, down.tap, 0, kw),
        zeros(below, kh - below, 0, kw),
        zeros(down.tap, down.taps, 0, right.tap),
        zeros(down.tap, down.taps, beyond, kw - beyond),
    ]
    return [places for places in (whole, *empty) if places.lines and places.rows]


def _has_many_regions(where: Geometry) -> bool:
    """Whether windows reach over the border in so many ways that a border is better."""
    cuts = [len(forward_segments(where, axis, bordered=False)) for axis in (0, 1)]
    return math.prod(cuts) > _MOST_REGIONS_OF_CHANNELS


def suits_filters(where: Geometry, dtype: DType, batch: int, channels: int, outputs: int) -> bool:
    """Whether the gradient of filters is computed like this."""
    return where.dilations[-1:] == (1,) and suits(where, dtype, batch, channels, outputs)


def filter_gradient(maker: Maker, image: Any, g: Any, where: Geometry) -> Any:
    """What each filter met in the windows of a padded image, weighted by g.

    A batch is summed up in some parts first: that is what threads share, and it is more exact than
    one sum over all windows.
    """
    batch, channels, outputs = image.shape[0], image.shape[-1], g.shape[-1]
    size = math.prod(where.window) * channels * outputs
    parts = max(
        n for n in range(1, _MOST_PARTS + 1) if batch % n == 0 and (n == 1 or n * size <= _PARTIAL)
    )
    shape = (parts, *where.window, channels, outputs)
    lanes = lanes_of(maker.dtype)
    if channels >= max(_STRIPES_FROM, lanes) and math.prod(where.window) > 1:
        right = _steps_of(maker, g, where, parts, rows=lanes, copy=True)
        whole = _all_rows(image.shape, outputs, where, parts, right, lanes)
        found = _rows_in_stripes(whole, image.shape, where, lanes)
        stripes = maker.channel_stripes(image, lanes)
        return maker.sum_of_parts(maker.product(stripes, right.value, shape, found))
    lines = equal_lines(where.window[1] * channels)
    copy = size > channels * outputs or (outputs > _UNCOPIED and channels >= _INPUTS)
    right = _steps_of(maker, g, where, parts, rows=lines[0][2], copy=copy)
    whole = _all_rows(image.shape, outputs, where, parts, right, channels)
    found = _rows_of_windows(whole, image.shape, where, lines)
    return maker.sum_of_parts(maker.product(image, right.value, shape, found))


def _steps_of(
    maker: Maker, g: Any, where: Geometry, parts: int, *, rows: int, copy: bool
) -> RightSide:
    """The gradients of all pixels of a part, one below the other."""
    steps = g.shape[0] // parts * math.prod(where.outputs)
    return maker.stripes(g, (parts, steps, g.shape[-1]), copy=copy, rows=rows)


def _rows_of_windows(
    whole: Places, image: tuple[int, ...], where: Geometry, lines: list[tuple[int, int, int]]
) -> list[Places]:
    """Rows are the numbers that one line of a window holds, as they lie in the image."""
    (kh, kw), channels, outputs = where.window, image[-1], whole.columns
    line, of_line_of_window = image[2] * channels, kw * channels * outputs
    return [
        dataclasses.replace(
            whole,
            levels=(
                *whole.levels,
                Level(kh, where.dilations[0] * line, 0, of_line_of_window),
                Level(count, rows, 0, rows * outputs),
            ),
            rows=rows,
            line_elements=rows * whole.steps,
            a_first=first,
            c_first=first * outputs,
        )
        for first, count, rows in lines
    ]


def _rows_in_stripes(
    whole: Places, image: tuple[int, ...], where: Geometry, lanes: int
) -> list[Places]:
    """Rows are some channels of a tap, of an image in stripes of as many channels.

    So the steps of a row lie beside each other. In the image they lie some hundred bytes apart,
    and a cache holds a few of them only.
    """
    batch, height, width, channels = image
    (kh, kw), outputs = where.window, whole.columns
    line, of_tap = width * lanes, channels * outputs
    stripe = batch * height * line
    return [
        dataclasses.replace(
            whole,
            levels=(
                *whole.levels,
                Level(kw, where.dilations[1] * lanes, 0, of_tap),
                Level(count, stripe, 0, rows * outputs),
            ),
            rows=rows,
            line_elements=rows * whole.steps,
            a_first=down * where.dilations[0] * line + first // lanes * stripe,
            c_first=down * kw * of_tap + first * outputs,
        )
        for down in range(kh)
        for first, count, rows in whole_and_rest(channels, lanes)
    ]


def _all_rows(
    image: tuple[int, ...], outputs: int, where: Geometry, parts: int, right: RightSide, pixel: int
) -> Places:
    """What all rows have in common, where pixels lie so far apart: parts of a batch, and steps."""
    batch, height, width, channels = image
    (out_down, out_right), each, line = where.outputs, batch // parts, width * pixel
    of_filters = math.prod(where.window) * channels * outputs
    return Places(
        levels=(Level(parts, each * height * line, int(right.value.size) // parts, of_filters),),
        rows=1,
        columns=outputs,
        vectors=right.vectors,
        depth=(
            (each, height * line, out_down * out_right * right.row),
            (out_down, where.strides[0] * line, out_right * right.row),
            (out_right, where.strides[1] * pixel, right.row),
        ),
        a_row=1,
        b_panel=right.panel,
        c_row=outputs,
        line_elements=1,
    )
