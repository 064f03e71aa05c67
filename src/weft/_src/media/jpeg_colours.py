"""Colours of JPEG files that are stored for every second pixel: blended, and made RGB.

This is what libjpeg calls fancy upsampling. Pillow can blend after the accurate transform only, and
TensorFlow blends after the fast one by default. So luminance and colours are taken from Pillow as
they are stored, and blended here, in whole numbers and with the rounding of libjpeg.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from weft._src.media.jpeg_header import BLOCK, Component, Header
from weft._src.media.machine_code import loops

Array = np.ndarray[Any, Any]

_ONE = 1 << 16
_HALF = _ONE // 2
_RED, _BLUE, _GREEN_RED, _GREEN_BLUE = [
    int(factor * _ONE + 0.5) for factor in (1.402, 1.772, 0.71414, 0.34414)
]
_NUMPY_TAKES = 2e-8  # seconds for a byte of the result

# For machine code: whether rows are blended, how much of the nearer and of the other row, what is
# added for the left and the right pixel of a sample, bits that are shifted out.
_RULES = {(2, 1): (0, 1, 0, 1, 2, 2), (2, 2): (1, 3, 1, 8, 7, 4)}


class Spread(NamedTuple):
    """How many columns and rows a sample of a component stands for, and whether they blend."""

    across: int
    down: int
    blends: bool


def spreads(
    header: Header, ratio: int, window: tuple[int, int] | None = None
) -> tuple[Spread, ...]:
    """What becomes of the components of a file that is reduced by a ratio.

    A reduced file has fewer luminances for each block, and as many colours as there are.

    Args:
      header: the file.
      ratio: 1, 2, 4 or 8.
      window: the first column and the number of columns that are wanted; None is all.
    """
    return _spreads(header.components, header.width, ratio, window)


@functools.lru_cache(256)
def _spreads(
    components: tuple[Component, ...], columns: int, ratio: int, window: tuple[int, int] | None
) -> tuple[Spread, ...]:
    most_across, most_down = [max(sizes) for sizes in zip(*components, strict=True)]
    least = BLOCK // ratio
    out: list[Spread] = []
    widths: list[int] = []
    for component in components:
        size = least
        while (
            size < BLOCK
            and most_across * least % (component.across * size * 2) == 0
            and most_down * least % (component.down * size * 2) == 0
        ):
            size *= 2
        across = most_across * least // (component.across * size)
        down = most_down * least // (component.down * size)
        width = -(-columns * component.across * size // (most_across * BLOCK))
        if window is not None:
            widths.append(-(-window[1] // across))
        wide_enough = width > 2 or (across, down) == (1, 2)
        out.append(Spread(across, down, (across, down) in _BLENDS and least > 1 and wide_enough))
    if any(width < 2 for width in widths):  # then libjpeg decides anew
        pairs = zip(out, widths, strict=True)
        out = [s._replace(blends=s.blends and (width > 2 or s.across == 1)) for s, width in pairs]
    return tuple(out)


def rule_of(kinds: Sequence[Spread]) -> tuple[int, ...] | None:
    """How machine code blends the colours of these components; None if it cannot."""
    luminance, blue, red = kinds
    is_known = blue == red and blue.blends and not luminance.blends
    return _RULES.get(blue[:2]) if is_known else None


def blended(given: Array, kinds: Sequence[Spread], window: tuple[int, int]) -> Array:
    """Luminance and colours as RGB, [height, width, 3]; outside of the window anything.

    Args:
      given: [height, width, 3 or 4], where every sample stands for all of its pixels, and the
        fourth one means nothing.
      kinds: of the three components.
      window: the first column, that of a sample, and the number of columns that are wanted.
    """
    out = np.empty((*given.shape[:2], 3), np.uint8)
    rule = rule_of(kinds)
    if rule is not None:
        code = loops.after(out.size * _NUMPY_TAKES)
        if code is not None:
            code.convert_rows(np.ascontiguousarray(given), out, window, rule)
            return out
    first, count = window
    columns = slice(first, first + count)
    planes = [_plane(given[:, columns, i], kind) for i, kind in enumerate(kinds)]
    _as_rgb(planes, out[:, columns])
    return out


def _plane(given: Array, kind: Spread) -> Array:
    if not kind.blends:
        return given.astype(np.int32)
    samples = given[:: kind.down, :: kind.across].astype(np.int32)
    return _BLENDS[kind[:2]](samples)[: given.shape[0], : given.shape[1]]


def _neighbours(x: Array, axis: int) -> tuple[Array, Array]:
    """The samples before and after, those at the ends twice."""
    first, last = np.take(x, [0], axis), np.take(x, [-1], axis)
    rest = [np.delete(x, end, axis) for end in (-1, 0)]
    return np.concatenate([first, rest[0]], axis), np.concatenate([rest[1], last], axis)


def _in_turns(one: Array, other: Array, axis: int) -> Array:
    shape = list(one.shape)
    shape[axis] *= 2
    return np.stack([one, other], axis + 1).reshape(shape)


def _across(x: Array) -> Array:
    before, after = _neighbours(x, 1)
    return _in_turns((3 * x + before + 1) >> 2, (3 * x + after + 2) >> 2, 1)


def _down(x: Array) -> Array:
    before, after = _neighbours(x, 0)
    return _in_turns((3 * x + before + 1) >> 2, (3 * x + after + 2) >> 2, 0)


def _both(x: Array) -> Array:
    before, after = _neighbours(x, 0)
    rows = _in_turns(3 * x + before, 3 * x + after, 0)
    before, after = _neighbours(rows, 1)
    return _in_turns((3 * rows + before + 8) >> 4, (3 * rows + after + 7) >> 4, 1)


_BLENDS = {(2, 1): _across, (1, 2): _down, (2, 2): _both}


def _as_rgb(planes: Sequence[Array], out: Array) -> None:
    luminance, blue, red = planes
    blue, red = blue - 128, red - 128
    green = (-_GREEN_BLUE * blue + _HALF - _GREEN_RED * red) >> 16
    parts = ((_RED * red + _HALF) >> 16, green, (_BLUE * blue + _HALF) >> 16)
    for i, part in enumerate(parts):
        out[:, :, i] = np.clip(luminance + part, 0, 255)
