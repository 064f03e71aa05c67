"""Convolutions as regions of their result, in each of which all elements have the same taps.

Along an axis an image is cut where another number of taps falls outside of it: so no copy with a
border is needed. Carried back to an image, a stride makes as many kinds of pixels, which meet
different taps.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from weft._src.execution.native.loops.kernels.blocking import (
    Level,
    Places,
    RightSide,
    row_lines,
)
from weft._src.ops.nn.windows import Geometry


@dataclass(frozen=True)
class Segment:
    """Pixels of a result along an axis that meet the same taps."""

    count: int
    first: int  # in the result
    step: int
    from_first: int  # in the image that is read, for the first tap
    from_step: int  # from one pixel of the result to the next
    tap: int  # the first
    taps: int
    tap_step: int
    from_tap: int  # from one tap to the next


@functools.lru_cache(maxsize=512)
def forward_segments(where: Geometry, axis: int, *, bordered: bool) -> list[Segment]:
    """What a convolution reads along an axis; `bordered` images bring their border along."""
    size, outputs, taps = where.sizes[axis], where.outputs[axis], where.window[axis]
    stride, dilation = where.strides[axis], where.dilations[axis]
    before = 0 if bordered else where.paddings[axis][0]

    def of(pixel: int) -> tuple[int, int]:
        """The first tap inside of the image, and how many there are."""
        if bordered:
            return 0, taps
        begin = pixel * stride - before
        first = max(0, -(begin // dilation))
        last = min(taps - 1, (size - 1 - begin) // dilation)
        return (first, last - first + 1) if last >= first else (0, 0)

    found = []
    for begin, end, (tap, count) in _runs([of(pixel) for pixel in range(outputs)]):
        start = begin * stride - before + tap * dilation
        found.append(Segment(end - begin, begin, 1, start, stride, tap, count, 1, dilation))
    return found


@functools.lru_cache(maxsize=512)
def backward_segments(where: Geometry, axis: int, *, turned: bool) -> list[Segment] | None:
    """What the gradient for the image reads of that of the result; None if there is no such form.

    The pixel q of the image with its border has got what pixel (q - k * dilation) / stride of the
    result met with tap k. Taps come in the order in which these pixels lie, so the last comes
    first; if filters are `turned`, that is where they begin.
    """
    size, outputs, taps = where.sizes[axis], where.outputs[axis], where.window[axis]
    stride, dilation = where.strides[axis], where.dilations[axis]
    before = where.paddings[axis][0]
    if stride > 1 and dilation > 1:
        return None
    found = []
    for phase in range(min(stride, size)):
        pixels = range(phase, size, stride)
        kind = (phase + before) % stride  # of the first tap
        have = len(range(kind, taps, stride))

        def of(pixel: int, kind: int = kind, have: int = have) -> tuple[int, int]:
            place = (pixel + before - kind) // stride  # in the result, of the first tap
            first = max(0, -((outputs - 1 - place) // dilation))
            last = min(have - 1, place // dilation)
            return (first, last - first + 1) if last >= first else (0, 0)

        for begin, end, (tap, count) in _runs([of(pixel) for pixel in pixels]):
            last = tap + count - 1
            start = (pixels[begin] + before - kind) // stride - last * dilation
            taken, tap_step = kind + last * stride, -stride
            if turned:
                taken, tap_step = taps - 1 - taken, stride
            found.append(
                Segment(
                    end - begin, pixels[begin], stride, start, 1, taken, count, tap_step, dilation
                )
            )
    return found


def _runs(kinds: list[tuple[int, int]]) -> list[tuple[int, int, tuple[int, int]]]:
    """Equal neighbours as (begin, end, kind)."""
    runs: list[tuple[int, int, tuple[int, int]]] = []
    for i, kind in enumerate(kinds):
        if runs and runs[-1][2] == kind:
            runs[-1] = (runs[-1][0], i + 1, kind)
        else:
            runs.append((i, i + 1, kind))
    return runs


@dataclass(frozen=True)
class Images:
    """The sizes of what is read and of what is written: height, width, channels."""

    batch: int
    source: tuple[int, ...]
    result: tuple[int, ...]
    window: int  # its width
    filters: RightSide
    channels: bool = False  # each is treated apart


def regions(images: Images, segments: Sequence[list[Segment]]) -> list[Places]:
    """All segments of one axis with all of the other."""
    found = [_region(images, down, right) for down in segments[0] for right in segments[1]]
    return [part for places in found for part in _in_long_lines(places)]


def _in_long_lines(places: Places) -> list[Places]:
    """The same rows, in longer lines if lines follow each other as rows do."""
    levels, rows = list(places.levels), places.rows
    while levels:
        level = levels[-1]
        if level.count > 1 and (level.a, level.c) != (rows * places.a_row, rows * places.c_row):
            break
        rows *= level.count
        levels.pop()
    if rows == places.rows:
        return [places]
    return [
        replace(
            places,
            levels=(*levels, Level(count, of_line * places.a_row, 0, of_line * places.c_row)),
            rows=of_line,
            line_elements=places.line_elements * of_line // places.rows,
            a_first=places.a_first + first * places.a_row,
            c_first=places.c_first + first * places.c_row,
        )
        for first, count, of_line in equal_lines(rows)
    ]


def equal_lines(rows: int) -> list[tuple[int, int, int]]:
    """Rows in lines: (the first row, how many lines, the rows of each), rather in equal ones."""
    fitting = [n for n in _LINES if rows % n == 0]
    best = min(fitting, key=lambda n: abs(n - 60), default=None)
    return row_lines(rows) if best is None else [(0, rows // best, best)]


def _region(images: Images, down: Segment, right: Segment) -> Places:
    """All pixels of a segment of each axis."""
    height, width, channels = images.source
    out_height, out_width, outputs = images.result
    line, out_line = width * channels, out_width * outputs
    # A tap of the filters is one row of b for every channel, or for all of them.
    tap = images.filters.row * (1 if images.channels else channels)
    depth: tuple[tuple[int, int, int], ...] = (
        (down.taps, down.from_tap * line, down.tap_step * images.window * tap),
        (right.taps, right.from_tap * channels, right.tap_step * tap),
    )
    if not images.channels:
        depth = (*depth, (channels, 1, images.filters.row))
    batch = Level(images.batch, height * line, 0, out_height * out_line)
    lines = Level(down.count, down.from_step * line, 0, down.step * out_line)
    rows = Level(right.count, right.from_step * channels, 0, right.step * outputs)
    if right.count < down.count and right.count < _FEW:  # a narrow strip: its lines go down
        lines, rows = rows, lines
    return Places(
        levels=(batch, lines),
        rows=rows.count,
        columns=outputs,
        vectors=images.filters.vectors,
        depth=depth,
        a_row=rows.a,
        b_panel=images.filters.panel,
        c_row=rows.c,
        line_elements=max(1, min(down.from_step, down.taps or 1)) * line,
        a_first=down.from_first * line + right.from_first * channels,
        b_first=(down.tap * images.window + right.tap) * tap,
        c_first=down.first * out_line + right.first * outputs,
        channels=images.channels,
    )


_FEW = 6  # pixels
_LINES = range(112, 27, -1)  # rows of a line
