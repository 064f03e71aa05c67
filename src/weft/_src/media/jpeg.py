"""JPEG files as arrays, with Pillow, and with the values of TensorFlow.

Both use libjpeg-turbo. What Pillow cannot be told is which transform goes with which way to spread
colours: it has the accurate one with blending, and the fast one without.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft._src.media import jpeg_colours, jpeg_scans, machine_code
from weft._src.media.damage import check_enough, check_room, invalid
from weft._src.media.jpeg_header import CMYK, END, GREY, YCBCR, YCCK, Header, read_header
from weft._src.media.pillow import image_module, stored_pixels

Array = np.ndarray[Any, Any]
_MANY_ENDS = END * (1 << 15)  # also if a segment is cut short, which then takes some of them
_BANDS = {"L": 1, "RGB": 3, "YCbCr": 3, "CMYK": 4}
_MOST_PIXELS = 1 << 29  # as in TensorFlow
Window = tuple[int, int, int, int]  # the first row and column, numbers of rows and columns


@dataclass(frozen=True)
class Choices:
    """How a file is to be decoded."""

    channels: int = 0
    ratio: int = 1
    blends: bool = True  # colours that are stored for every second pixel
    is_fast: bool = True  # the transform
    completes: bool = False  # a file that is cut short
    accepted: float = 1.0  # the part of the rows that must be there

    @property
    def is_usual(self) -> bool:
        """Whether it is what nearly everybody asks for."""
        return self.blends and self.is_fast and not self.completes and (
            self.ratio == self.accepted == 1
        )  # fmt: skip


def decode(op: str, data: bytes, choices: Choices, window: Window | None = None) -> Array:
    """The pixels of a JPEG file, [height, width, channels] of uint8.

    Args:
      op: the name of the function, for errors.
      data: the file.
      choices: how.
      window: the part that is wanted; None is all.
    """
    if choices.channels == 4:
        raise invalid(op, "channels must be 0, 1 or 3 for a JPEG file, got 4.")
    header = read_header(op, data)
    channels = choices.channels or (1 if header.space == GREY else 3)
    if channels == 1 and header.space in (CMYK, YCCK):
        raise invalid(op, f"channels must be 0 or 3 for a JPEG file in {header.space}, got 1.")
    height, width = [-(-n // choices.ratio) for n in (header.height, header.width)]
    if height * width >= _MOST_PIXELS:
        raise invalid(op, f"the JPEG file is too large: {height} rows of {width} pixels.")
    if window is not None:
        _check_window(op, window, height, width)
    if choices.accepted >= 1 and not choices.completes:
        _check_length(op, header, data)
    # Pillow's four bytes for each pixel, what is read from there, and the result. Progressive files
    # need all of their blocks at once.
    coefficients = 128 * header.blocks if header.is_progressive else 0
    check_room(op, (height, width, channels), coefficients + 10 * height * width)
    if window is None and channels == 3 and choices.is_usual:
        decoded = _by_machine_code(op, data, header)
        if decoded is not None:
            return decoded
    reader = _Reader(op, data, header, choices, (width, height), window)
    pixels, rows = reader.read(channels)
    if rows < height:
        _accept(op, choices.accepted, rows, height)
        pixels = np.concatenate([pixels[:rows], np.zeros_like(pixels[rows:])])
    if window is not None:
        top, left, rows, columns = window
        pixels = pixels[top : top + rows, left : left + columns]
    is_own = pixels.flags.c_contiguous and pixels.flags.writeable  # not a part, nor Pillow's
    return pixels if is_own else pixels.copy()


def _by_machine_code(op: str, data: bytes, header: Header) -> Array | None:
    """The pixels of a usual file, which are those that libjpeg gives; None leaves them to it."""
    image_module(op, "JPEG")  # or nothing is decoded at all
    code = machine_code.loops.after(0.0)
    layout = None if code is None else jpeg_scans.layout_of(data, header)
    if code is None or layout is None:
        return None
    rule = jpeg_colours.rule_of(jpeg_colours.spreads(header, 1))
    if rule is None:
        return None
    out = np.empty((header.height, header.width, 3), np.uint8)
    return out if code.decode_scan(data, header.start, layout, out, rule) else None


def shape_of(op: str, data: bytes) -> tuple[int, int, int]:
    """The height, width and number of components that a JPEG file has."""
    header = read_header(op, data)
    return header.height, header.width, len(header.components)


def _check_window(op: str, window: Window, height: int, width: int) -> None:
    top, left, rows, columns = window
    if top < 0 or left < 0 or rows < 1 or columns < 1 or top + rows > height or (
        left + columns > width
    ):  # fmt: skip
        raise invalid(
            op,
            f"the window must lie within the {height} rows and {width} columns of the image, got "
            f"[{top}, {left}, {rows}, {columns}].",
        )


def _check_length(op: str, header: Header, data: bytes) -> None:
    claim = f"{header.height} rows of {header.width} pixels"
    least = header.blocks * header.bits_per_block // 8
    check_enough(op, "JPEG", claim, least, len(data) - header.start)
    if data.rfind(END, header.start) < 0:
        raise _cut_short(op)


def _cut_short(op: str) -> Exception:
    return invalid(
        op,
        "the JPEG file is cut short: it does not end. With try_recover_truncated=True the rest is "
        "filled up.",
    )


def _accept(op: str, accepted: float, rows: int, height: int) -> None:
    if rows < min(1.0, accepted) * height:
        raise invalid(
            op,
            f"the JPEG file is cut short: {rows} of {height} rows are there, and "
            f"acceptable_fraction is {accepted:g}.",
        )


class _Reader:
    """Chooses what Pillow is asked for, and does the rest."""

    def __init__(
        self, op: str, data: bytes, header: Header, choices: Choices, size: tuple[int, int],
        window: Window | None,
    ) -> None:  # fmt: skip
        self._op, self._header, self._choices, self._size = op, header, choices, size
        self._pillow = image_module(op, "JPEG")
        is_whole = data.rfind(END, header.start) >= 0
        self._data = data if is_whole or not choices.completes else data + _MANY_ENDS
        self._columns = (0, size[0]) if window is None else self._unit(window)
        columns = None if window is None else self._columns
        self._spreads = jpeg_colours.spreads(header, choices.ratio, columns)

    def _unit(self, window: Window) -> tuple[int, int]:
        """The columns that libjpeg decodes for a window: from the beginning of a unit on."""
        unit = 8 // self._choices.ratio
        unit *= self._header.across if len(self._header.components) > 1 else 1
        first = window[1] // unit * unit
        return first, window[1] + window[3] - first

    def read(self, channels: int) -> tuple[Array, int]:
        """Pixels, and how many rows of them could be decoded."""
        space = self._header.space
        if space == GREY or (space == YCBCR and channels == 1):
            grey, rows = self._decoded("L", "L", self._choices.is_fast)
            return (grey[:, :, None] if channels == 1 else np.dstack([grey] * 3)), rows
        if space in (CMYK, YCCK):
            inks, rows = self._decoded("CMYK", "CMYK", self._is_fast())
            return _without_inks(inks, self._header.has_adobe_marker), rows
        if channels == 1:
            grey, rows = self._decoded("L", "L", self._is_fast())
            return grey[:, :, None], rows
        kinds = self._spreads
        is_blended = any(kind.blends for kind in kinds)
        if space != YCBCR or not (self._choices.blends and self._choices.is_fast and is_blended):
            return self._decoded("RGB", "RGB", self._is_fast())
        given, rows = self._decoded("YCbCr", "YCbCr", is_fast=True, pixels=stored_pixels)
        if rows < len(given) and any(kind.blends and kind.down > 1 for kind in kinds):
            rows = max(0, rows - self._header.down)  # libjpeg waits for the next row of colours
        return jpeg_colours.blended(given, kinds, self._columns), rows

    def _is_fast(self) -> bool:
        """Which transform can be had: where colours blend, only the accurate one."""
        if any(kind.blends for kind in self._spreads):
            return not self._choices.blends
        return self._choices.is_fast

    def _decoded(
        self, mode: str, kind: str, is_fast: bool, pixels: Callable[[Any], Array] = np.asarray
    ) -> tuple[Array, int]:
        """What Pillow gives, and how many rows it is; `pixels` takes them out of an image."""
        height = self._size[1]
        try:
            return pixels(self._filled(mode, kind, is_fast, None)), height
        except _CutShortError:
            if self._choices.accepted >= 1 or self._header.is_progressive:
                raise _cut_short(self._op) from None
        # What differs on two grounds is what was there before.
        some, other = [
            np.asarray(self._cut_short(mode, kind, is_fast, colour)) for colour in (0, 255)
        ]
        differs = (some != other).reshape(height, -1).any(axis=1)
        return some, int(np.argmax(differs)) if differs.any() else height

    def _cut_short(self, mode: str, kind: str, is_fast: bool, colour: int) -> Any:
        try:
            self._filled(mode, kind, is_fast, colour)
        except _CutShortError as error:
            return error.image
        raise AssertionError("a file that is cut short was decoded")

    def _filled(self, mode: str, kind: str, is_fast: bool, colour: int | None) -> Any:
        """An image of that colour, or of any, with the pixels of the file decoded into it."""
        ground = None if colour is None else (colour,) * _BANDS[mode]
        image = self._pillow.new(mode, self._size, ground)
        try:
            image.frombytes(self._data, "jpeg", kind, "", self._choices.ratio, int(is_fast))
        except ValueError as error:
            if "not enough" in str(error):
                raise _CutShortError(image) from None
            raise invalid(
                self._op, "the JPEG file is damaged: its compressed pixels make no sense."
            ) from None
        return image


class _CutShortError(Exception):
    """There are fewer rows than there should be."""

    def __init__(self, image: Any) -> None:
        super().__init__()
        self.image = image


def _without_inks(inks: Array, is_inverted: bool) -> Array:
    """Cyan, magenta, yellow and black as RGB; programs of Adobe store what is left of the light."""
    light = inks if is_inverted else 255 - inks
    wide = light.astype(np.uint16)
    return (wide[:, :, :3] * wide[:, :, 3:] // 255).astype(np.uint8)
