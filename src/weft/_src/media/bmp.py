"""BMP files as arrays: those of 8, 24 and 32 bits that are not compressed."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from weft._src.media.damage import invalid

Array = np.ndarray[Any, Any]

_NEEDED = 32  # bytes of a header, up to the bits of a pixel
_MASKS = struct.pack("<3I", 0xFF0000, 0xFF00, 0xFF)  # of red, green and blue
_PLAIN, _MASKED = 0, 3


def decode(op: str, data: bytes, channels: int) -> Array:
    """The pixels of a BMP file, [height, width, channels] of uint8.

    Args:
      op: the name of the function, for errors.
      data: the file.
      channels: 3 is RGB, 4 RGB and opacity; 0 is what the file has, which may also be 1.
    """
    if channels == 1:
        raise invalid(op, "channels must be 0, 3 or 4 for a BMP file, got 1.")
    if len(data) < _NEEDED:
        raise invalid(op, f"the BMP file is cut short: it ends after {len(data)} bytes.")
    (start,) = struct.unpack_from("<i", data, 10)
    width, signed_height = struct.unpack_from("<ii", data, 18)
    (bits,) = struct.unpack_from("<H", data, 28)
    height = abs(signed_height)
    own = bits // 8
    if width <= 0 or height <= 0 or start < 0:
        raise invalid(
            op, f"the BMP file claims to have {height} rows of {width} pixels from byte {start} on."
        )
    if own not in (1, 3, 4):
        raise invalid(
            op, f"the BMP file has {bits} bits in a pixel: only those with 8, 24 or 32 are read."
        )
    _check_plain(op, data, start)
    row = (width * own + 3) // 4 * 4
    if start + row * height != len(data):
        raise invalid(
            op,
            f"the BMP file is damaged: {height} rows of {row} bytes from byte {start} on make "
            f"{start + row * height} bytes, {len(data)} are there.",
        )
    rows = np.frombuffer(data, np.uint8, row * height, start).reshape(height, row)
    if signed_height > 0:
        rows = rows[::-1]
    pixels = rows[:, : width * own].reshape(height, width, own)
    return _with_channels(pixels, channels or own)


def _check_plain(op: str, data: bytes, start: int) -> None:
    """Refuses compressed rows, and colours in another order."""
    if start < 54 or len(data) < 54:
        return  # an old form, which has neither
    (method,) = struct.unpack_from("<I", data, 30)
    masks = data[54 : 54 + len(_MASKS)] if start >= 54 + len(_MASKS) else _MASKS
    if method not in (_PLAIN, _MASKED) or (method == _MASKED and masks != _MASKS):
        raise invalid(
            op,
            f"the BMP file is compressed by method {method}, or has its colours in another order "
            "than blue, green, red: only plain ones are read.",
        )


def _with_channels(pixels: Array, channels: int) -> Array:
    """From blue, green, red, maybe opacity, or grey."""
    out = np.empty((*pixels.shape[:2], channels), np.uint8)
    if pixels.shape[2] == 1:
        out[:, :, : min(channels, 3)] = pixels
    else:
        out[:, :, :3] = pixels[:, :, 2::-1]
    if channels == 4:
        out[:, :, 3] = pixels[:, :, 3] if pixels.shape[2] == 4 else 255
    return out
