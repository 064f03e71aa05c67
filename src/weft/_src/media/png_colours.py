"""Samples of PNG files as pixels with the channels and bits that are wanted, as libpng makes them.

From colour to grey, libpng mixes light, not numbers, where the file says how bright numbers are
(its gamma): through tables, whose rounding is part of the result.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft._src.media.png_chunks import CHANNELS, GREY, GREY_ALPHA, PALETTE, PngFile

Array = np.ndarray[Any, Any]

_BLOCK = 1 << 16  # pixels that are converted at once: they stay in the cache
_ONE = 100_000  # of gammas
_RED, _GREEN = 29_900 * 32_768 // _ONE, 58_700 * 32_768 // _ONE
_BLUE = 32_768 - _RED - _GREEN
_KEPT_FOR_BYTES = 11  # bits of a sample that matter for a result of 8 bits


def own_channels(file: PngFile) -> int:
    """How many channels there are if none are asked for."""
    if file.header.colour == PALETTE:
        return 3 if file.transparency is None else 4
    return CHANNELS[file.header.colour]


def is_as_wanted(file: PngFile, channels: int, dtype: np.dtype[Any]) -> bool:
    """Whether samples are pixels already."""
    header = file.header
    return (
        header.colour != PALETTE
        and header.depth == 8 * dtype.itemsize
        and channels == CHANNELS[header.colour]
    )


def samples_of(rows: Array, file: PngFile, width: int) -> Array:
    """Rows of bytes as numbers, [rows, width, channels of the file]."""
    depth, count = file.header.depth, CHANNELS[file.header.colour]
    if depth == 16:
        return rows.view(">u2").astype(np.uint16).reshape(len(rows), width, count)
    if depth == 8:
        return rows.reshape(len(rows), width, count)
    if depth == 1:
        return np.unpackbits(rows, axis=1, count=width)[:, :, None]
    shifts = np.arange(8 - depth, -1, -depth, dtype=np.uint8)
    parts = (rows[:, :, None] >> shifts) & np.uint8((1 << depth) - 1)
    return parts.reshape(len(rows), -1)[:, :width, None]


def convert(rows: Array, file: PngFile, out: Array) -> None:
    """Fills `out`, [height, width, channels], from rows of bytes."""
    converter = _OfPalette if file.header.colour == PALETTE else _OfSamples
    convert_some = converter(file, out.shape[-1], out.dtype)
    step = max(1, _BLOCK // max(1, out.shape[1]))
    for start in range(0, len(out), step):
        some = slice(start, start + step)
        convert_some(samples_of(rows[some], file, out.shape[1]), out[some])


class _OfPalette:
    """Each number of the palette becomes a pixel; numbers beyond its end are black."""

    def __init__(self, file: PngFile, channels: int, dtype: np.dtype[Any]) -> None:
        colours: Array = np.zeros((256, 1, 3), np.uint8)
        given = np.frombuffer(file.palette or b"", np.uint8).reshape(-1, 1, 3)
        colours[: len(given)] = given
        opacity: Array | None = None
        if file.transparency is not None:
            opacity = np.full((256, 1), 255, np.uint8)
            some = np.frombuffer(file.transparency, np.uint8)
            opacity[: len(some), 0] = some
        self._table: Array = np.empty((256, 1, channels), dtype)
        _OfSamples(file, channels, dtype).finish(colours, opacity, self._table)
        self._table = self._table[:, 0]

    def __call__(self, samples: Array, out: Array) -> None:
        np.take(self._table, samples[:, :, 0], axis=0, out=out)


class _OfSamples:
    """Samples become channels: fewer or more of them, of fewer or more bits."""

    def __init__(self, file: PngFile, channels: int, dtype: np.dtype[Any]) -> None:
        self._file, self._channels, self._dtype = file, channels, dtype
        self._grey: _Grey | None = None
        is_coloured = file.header.colour not in (GREY, GREY_ALPHA)
        if channels < 3 and is_coloured:
            self._grey = _Grey(file, dtype)

    def __call__(self, samples: Array, out: Array) -> None:
        header = self._file.header
        has_opacity = CHANNELS[header.colour] in (2, 4)
        opacity: Array | None = None
        colours = samples
        if has_opacity:
            colours, opacity = samples[:, :, :-1], samples[:, :, -1]
        elif self._channels % 2 == 0 and self._file.transparency is not None:
            opacity = self._of_colour(samples)
        if header.depth < 8:
            colours = colours * np.uint8(255 // ((1 << header.depth) - 1))
        self.finish(colours, opacity, out)

    def _of_colour(self, samples: Array) -> Array:
        """Opaque but for one colour, of which as many bits count as samples have."""
        assert self._file.transparency is not None
        mask = (1 << self._file.header.depth) - 1
        clear = np.frombuffer(self._file.transparency, ">u2") & mask
        most = 65535 if samples.dtype == np.uint16 else 255
        is_clear = (samples == clear.astype(samples.dtype)).all(axis=-1)
        return np.where(is_clear, 0, most).astype(samples.dtype)

    def finish(self, colours: Array, opacity: Array | None, out: Array) -> None:
        """Colours, grey or not, and opacity if there is some."""
        if self._grey is not None:
            colours = self._grey(colours)
        count = self._channels - (self._channels % 2 == 0)
        out[:, :, :count] = self._of_size(colours)
        if count == self._channels:
            return
        if opacity is not None:
            out[:, :, -1] = self._of_size(opacity)
        else:  # as many ones as samples have bits, whatever they become later
            full = np.array((1 << self._file.header.depth) - 1, colours.dtype)
            out[:, :, -1] = self._of_size(full)

    def _of_size(self, x: Array) -> Array:
        if x.dtype == self._dtype:
            return x
        if self._dtype == np.uint8:
            return x >> np.uint16(8)
        return x.astype(np.uint16) * np.uint16(257)


class _Grey:
    """Colours as grey, [rows, columns, 3] as [rows, columns, 1]."""

    def __init__(self, file: PngFile, dtype: np.dtype[Any]) -> None:
        self._is_wide = file.header.depth == 16
        gamma = file.gamma
        self._tables: tuple[Array, Array, Array] | None = None
        self._shift = 0
        if gamma is None or not (_matters(gamma) or _matters(_inverse(gamma))):
            return
        light, number = _inverse(gamma), _inverse(_inverse(gamma))
        if not self._is_wide:
            self._tables = (_byte_table(light), _byte_table(number), np.arange(256))
            return
        bits = file.significant_bits
        shift = 16 - bits if 0 < bits < 16 else 0
        if dtype == np.uint8:
            shift = max(shift, 16 - _KEPT_FOR_BYTES)
        self._shift = min(shift, 8)
        same = _rounding_table(self._shift) if dtype == np.uint8 else _table(_ONE, self._shift)
        self._tables = (_table(light, self._shift), _table(number, self._shift), same)

    def __call__(self, colours: Array) -> Array:
        red, green, blue = [colours[:, :, i].astype(np.int32) for i in range(3)]
        is_grey = (red == green) & (red == blue)
        if self._tables is None:
            mixed = self._mixed(red, green, blue, 16384 if self._is_wide else 0)
            grey = np.where(is_grey, red, mixed)
        else:
            light, number, same = self._tables
            red, green, blue = [x >> self._shift for x in (red, green, blue)]
            mixed = self._mixed(light[red], light[green], light[blue], 16384)
            grey = np.where(is_grey, same[red], number[mixed >> self._shift])
        return grey.astype(colours.dtype)[:, :, None]

    @staticmethod
    def _mixed(red: Array, green: Array, blue: Array, half: int) -> Array:
        factors = [np.int64(factor) for factor in (_RED, _GREEN, _BLUE)]
        mixed: Array = red * factors[0] + green * factors[1] + blue * factors[2]
        return (mixed + half) >> 15


def _matters(gamma: int) -> bool:
    return abs(gamma - _ONE) > _ONE // 20


def _inverse(gamma: int) -> int:
    return math.floor(_ONE * _ONE / gamma + 0.5)


def _byte_table(gamma: int) -> Array:
    """Numbers of 8 bits to a power."""
    if not _matters(gamma):
        return np.arange(256)
    power = gamma / _ONE
    return np.array([math.floor(255 * (i / 255) ** power + 0.5) for i in range(256)])


def _table(gamma: int, shift: int) -> Array:
    """Numbers of 16 bits, less those that are shifted out, to a power, in 16 bits."""
    most = (1 << (16 - shift)) - 1
    numbers = np.arange(most + 1)
    if not _matters(gamma):
        return (numbers * 65535 + (1 << (15 - shift))) // most if shift else numbers
    power, part = gamma * 0.00001, 1.0 / most
    return np.array([math.floor(65535.0 * (i * part) ** power + 0.5) for i in numbers.tolist()])


def _rounding_table(shift: int) -> Array:
    """Numbers of 16 bits, less those that are shifted out, as the nearest that 8 bits can be."""
    most = (1 << (16 - shift)) - 1
    ends = [((257 * i + 128) * most + 32768) // 65535 + 1 for i in range(255)]
    return 257 * np.searchsorted(ends, np.arange(most + 1), side="right")
