"""WebP files as arrays, with Pillow."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np

from weft._src.media.damage import check_room, invalid
from weft._src.media.pillow import image_module

Array = np.ndarray[Any, Any]

_HEADER = 30  # bytes, of the longest form
_MOVES = 0x02  # a flag of a file in the long form


def decode(op: str, data: bytes, channels: int, only_first: bool = False) -> Array:
    """The frames of a WebP file, [frames, height, width, channels] of uint8.

    Args:
      op: the name of the function, for errors.
      data: the file.
      channels: 3 is RGB, 4 RGB and opacity, which must be what the file has; 0 is that.
      only_first: whether to decode the first frame only.
    """
    if channels == 1:
        raise invalid(op, "channels must be 0, 3 or 4 for a WebP file, got 1.")
    height, width = _size(op, data)
    # A file of few bytes can hold a large image of one colour. Decoding takes three times its size.
    check_room(op, (1, height, width, 4), 12 * height * width)
    image = _opened(op, data)
    own = 4 if _is_animation(data) or image.mode == "RGBA" else 3
    if channels not in (0, own):
        raise invalid(op, f"the WebP file has {own} channels, {channels} were asked for.")
    count = 1 if only_first else image.n_frames
    shape = (count, height, width, own)
    check_room(op, shape, (count * own + 12) * height * width)
    out = np.empty(shape, np.uint8)
    try:
        for number in range(count):
            image.seek(number)
            frame = image if image.mode == "RGBA" or own == 3 else image.convert("RGBA")
            out[number] = np.asarray(frame)
    except (OSError, EOFError, ValueError) as error:
        raise invalid(op, f"the WebP file is damaged: {error}.") from error
    return out


def _size(op: str, data: bytes) -> tuple[int, int]:
    """The height and width that the header claims, in whichever of three forms it has."""
    form = data[12:16]
    if len(data) < _HEADER or form not in (b"VP8 ", b"VP8L", b"VP8X"):
        raise invalid(op, f"the WebP file of {len(data)} bytes has no header.")
    if form == b"VP8X":
        width, height = [int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27)]
    elif form == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        width, height = [n & 0x3FFF for n in struct.unpack_from("<HH", data, 26)]
    if not width or not height:
        raise invalid(op, f"the WebP file claims to have {height} rows of {width} pixels.")
    return height, width


def _is_animation(data: bytes) -> bool:
    return data[12:16] == b"VP8X" and bool(data[20] & _MOVES)


def _opened(op: str, data: bytes) -> Any:
    pillow = image_module(op, "WebP")
    from PIL import WebPImagePlugin

    if not WebPImagePlugin.SUPPORTED:
        raise ModuleNotFoundError(
            f"{op}: WebP files need a Pillow that was built with WebP. Install one with: "
            "pip install --force-reinstall 'weft[image]'",
            name="PIL._webp",
        )
    try:
        return WebPImagePlugin.WebPImageFile(io.BytesIO(data))
    except pillow.DecompressionBombError as error:
        raise invalid(op, f"the WebP file is larger than Pillow reads: {error}") from error
    except (OSError, SyntaxError, ValueError) as error:
        raise invalid(op, f"the WebP file is damaged: {error}.") from error
