"""PNG files as arrays, without any library but zlib."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft._src.media.damage import check_room
from weft._src.media.png_chunks import read_chunks
from weft._src.media.png_colours import convert, is_as_wanted, own_channels, samples_of
from weft._src.media.png_rows import read_rows

Array = np.ndarray[Any, Any]


def decode(op: str, data: bytes, channels: int, dtype: np.dtype[Any]) -> Array:
    """The pixels of a PNG file, [height, width, channels].

    Args:
      op: the name of the function, for errors.
      data: the file.
      channels: 1 is grey, 2 grey and opacity, 3 RGB, 4 RGB and opacity; 0 what the file has.
      dtype: uint8 or uint16.
    """
    file = read_chunks(op, data)
    header = file.header
    channels = channels or own_channels(file)
    shape = (header.height, header.width, channels)
    out: Array | None = None
    for part, rows in read_rows(op, file):
        if not header.is_interlaced and is_as_wanted(file, channels, dtype):
            return samples_of(rows, file, part.width)
        if out is None:
            check_room(op, shape, math.prod(shape) * dtype.itemsize)
            out = np.empty(shape, dtype)
        convert(rows, file, out[part.place])
    assert out is not None, "an image without pixels"
    return out
