"""GIF files as arrays, with Pillow for the compressed pixels of a frame.

Frames are laid over each other as TensorFlow does it: on a canvas as large as the largest frame, a
frame covers what is there but where it is transparent, and nothing is ever taken away. A frame that
is damaged ends the animation; the frames before it count.
"""

from __future__ import annotations

import itertools
import logging
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from weft._src.media.damage import check_room, invalid
from weft._src.media.pillow import image_module

Array = np.ndarray[Any, Any]

_IMAGE, _EXTENSION, _END, _CONTROL = 0x2C, 0x21, 0x3B, 0xF9
_SCREEN, _PLACE = struct.Struct("<HHBBB"), struct.Struct("<HHHHB")
_LONGEST = 4096  # pixels that one code can stand for
_log = logging.getLogger("weft")


class _DamagedError(Exception):
    """Why no further frame can be read."""


class _Frame(NamedTuple):
    """A frame as it is stored: its place and size, colours, and compressed pixels in blocks."""

    left: int
    top: int
    width: int
    height: int
    is_interlaced: bool
    colours: bytes
    transparent: int  # a colour, or -1
    bits: int  # of a colour
    blocks: bytes


def decode(op: str, data: bytes, only_first: bool = False) -> Array:
    """The frames of a GIF file, [frames, height, width, 3] of uint8.

    Args:
      op: the name of the function, for errors.
      data: the file.
      only_first: whether to decode the first frame only; it is as large as the largest.
    """
    pillow = image_module(op, "GIF")
    count, height, width, reason = _measured(data)
    if not count:
        raise invalid(op, f"the GIF file is damaged: {reason}.")
    if only_first:
        count = 1
    check_room(op, (count, height, width, 3), (3 * count + 4) * height * width)
    out = np.empty((count, height, width, 3), np.uint8)
    for number, frame in enumerate(itertools.islice(_frames(data), count)):
        try:
            pixels = _decompressed(pillow, frame)
        except _DamagedError as error:
            if not number:
                raise invalid(op, f"the GIF file is damaged: {error}.") from None
            reason, out = str(error), out[:number]
            break
        out[number] = out[number - 1] if number else 0
        _lay_over(op, out[number], frame, pixels)
    if reason:
        _log.warning("%s: the GIF file is damaged after frame %d: %s.", op, len(out), reason)
    return out


def _measured(data: bytes) -> tuple[int, int, int, str]:
    """The number of frames, the largest height and width, and why there are no more, or nothing."""
    count = height = width = 0
    try:
        for frame in _frames(data):
            count += 1
            height, width = max(height, frame.height), max(width, frame.width)
    except _DamagedError as error:
        return count, height, width, str(error)
    return count, height, width, "" if count else "it has no frames"


def _frames(data: bytes) -> Iterator[_Frame]:
    """The frames one by one; a million of them take no memory. _DamagedError at the end maybe."""
    reader = _Reader(data, 6)
    *_, flags, _, _ = _SCREEN.unpack(reader.take(_SCREEN.size, "its header"))
    everywhere = reader.colours(flags)
    transparent: int | None = None
    while (kind := reader.take(1, "its frames")[0]) != _END:
        if kind == _EXTENSION:
            label = reader.take(1, "an extension")[0]
            content = reader.blocks("an extension")
            if label == _CONTROL and transparent is None and content[:1] == b"\4":
                transparent = content[4] if content[1] & 1 else -1
        elif kind == _IMAGE:
            left, top, width, height, flags = _PLACE.unpack(reader.take(_PLACE.size, "a frame"))
            colours = reader.colours(flags) or everywhere
            bits = reader.take(1, "a frame")[0]
            blocks = reader.blocks("a frame")
            clear = -1 if transparent is None else transparent
            is_interlaced = bool(flags & 64)
            frame = _Frame(left, top, width, height, is_interlaced, colours, clear, bits, blocks)
            _check(frame)
            yield frame
            transparent = None
        else:
            raise _DamagedError(f"there is no frame at byte {reader.at - 1}")


def _check(frame: _Frame) -> None:
    """Refuses a frame that its bytes cannot hold, before memory is taken for it."""
    pixels = frame.width * frame.height
    if not pixels or not 1 <= frame.bits <= 8:
        raise _DamagedError(
            f"a frame claims to have {frame.height} rows of {frame.width} pixels with "
            f"{frame.bits} bits"
        )
    codes = 8 * len(frame.blocks) // (frame.bits + 1)
    if pixels > codes * _LONGEST:
        raise _DamagedError(
            f"a frame claims to have {frame.height} rows of {frame.width} pixels in "
            f"{len(frame.blocks)} bytes"
        )


class _Reader:
    """Takes bytes from front to back."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self.at = data, at

    def take(self, count: int, what: str) -> bytes:
        """So many bytes."""
        part = self._data[self.at : self.at + count]
        if len(part) < count:
            raise _DamagedError(f"it is cut short in {what}, after {len(self._data)} bytes")
        self.at += count
        return part

    def colours(self, flags: int) -> bytes:
        """A table of colours, if flags say that there is one."""
        return self.take(3 * (2 << (flags & 7)), "a table of colours") if flags & 128 else b""

    def blocks(self, what: str) -> bytes:
        """Blocks with their lengths in front, up to an empty one."""
        data, start = self._data, self.at
        at = start
        while at < len(data) and data[at]:
            at += data[at] + 1
        if at >= len(data):
            raise _DamagedError(f"it is cut short in {what}, after {len(data)} bytes")
        self.at = at + 1
        return data[start : self.at]


def _decompressed(pillow: Any, frame: _Frame) -> Array:
    """The colours of a frame by number, [height, width]."""
    image = pillow.new("L", (frame.width, frame.height))
    try:
        image.frombytes(frame.blocks, "gif", frame.bits, int(frame.is_interlaced), -1)
    except ValueError:
        raise _DamagedError("the pixels of a frame are damaged or cut short") from None
    return np.asarray(image)


def _lay_over(op: str, canvas: Array, frame: _Frame, pixels: Array) -> None:
    """Puts the part of a frame that is on the canvas there, but for what is transparent."""
    if not frame.colours:
        raise invalid(op, "the GIF file is damaged: a frame has no table of colours.")
    place = canvas[frame.top : frame.top + frame.height, frame.left : frame.left + frame.width]
    numbers = pixels[: place.shape[0], : place.shape[1]]
    table: Array = np.zeros((256, 3), np.uint8)
    given = np.frombuffer(frame.colours, np.uint8).reshape(-1, 3)
    table[: len(given)] = given
    shown = numbers != frame.transparent
    largest = numbers.max(initial=0, where=shown)
    if largest >= len(given):
        raise invalid(
            op,
            f"the GIF file is damaged: a pixel has colour {largest} of a table of {len(given)}.",
        )
    np.copyto(place, table[numbers], where=shown[:, :, None])
