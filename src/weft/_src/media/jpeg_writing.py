"""Arrays as JPEG files, with Pillow, byte by byte those of TensorFlow with the same libjpeg."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft._src.media.damage import invalid
from weft._src.media.pillow import image_module

Array = np.ndarray[Any, Any]

_LARGEST = 65500  # rows or columns
_LONGEST = 65504  # bytes of a description, which has to fit a segment
_DENSITY = 13  # where the file says how dense pixels are
UNITS = {"in": 1, "cm": 2}


@dataclass(frozen=True)
class Choices:
    """How a file is to be written."""

    quality: int = 95
    is_progressive: bool = False
    optimizes: bool = False  # the codes
    halves: bool = True  # the resolution of colours
    unit: str = "in"
    density: tuple[int, int] = (300, 300)
    description: bytes = b""  # in XMP


def encode(op: str, pixels: Array, choices: Choices) -> bytes:
    """A JPEG file of an image, [height, width, 1 or 3 channels] of uint8."""
    height, width, channels = pixels.shape
    if channels not in (1, 3):
        raise invalid(op, f"image must have 1 or 3 channels, got shape {pixels.shape}.")
    if not 0 < height <= _LARGEST or not 0 < width <= _LARGEST:
        raise invalid(
            op, f"image must have 1 to {_LARGEST} rows and columns, got shape {pixels.shape}."
        )
    if len(choices.description) > _LONGEST:
        raise invalid(
            op,
            f"xmp_metadata must have at most {_LONGEST} bytes, got {len(choices.description)}.",
        )
    pillow = image_module(op, "JPEG")
    image = pillow.fromarray(pixels[:, :, 0] if channels == 1 else pixels)
    file = io.BytesIO()
    image.save(
        file,
        "JPEG",
        quality=choices.quality,
        subsampling=2 if choices.halves and channels == 3 else 0,
        progressive=choices.is_progressive,
        optimize=choices.optimizes,
        dpi=(1, 1),  # set below
        **({"xmp": choices.description} if choices.description else {}),
    )
    out = file.getvalue()
    density = struct.pack(">BHH", UNITS[choices.unit], *choices.density)
    return out[:_DENSITY] + density + out[_DENSITY + len(density) :]
