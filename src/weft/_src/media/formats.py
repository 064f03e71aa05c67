"""Which format a file has, and the pixels of whichever it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.dtypes import DType, float32, uint8, uint16
from weft._src.media import bmp, gif, jpeg, png, webp
from weft._src.media.damage import invalid
from weft._src.media.jpeg_header import MAGIC as JPEG_MAGIC
from weft._src.media.png_chunks import SIGNATURE as PNG_MAGIC

Array = np.ndarray[Any, Any]

JPEG, PNG, GIF, BMP, WEBP = "JPEG", "PNG", "GIF", "BMP", "WebP"
_READERS = {JPEG: "decode_jpeg", PNG: "decode_png", GIF: "decode_gif", BMP: "decode_bmp",
            WEBP: "decode_webp"}  # fmt: skip


def format_of(op: str, data: bytes) -> str:
    """The format of a file, by its first bytes."""
    if not data:
        raise invalid(op, "contents must be a file, got an empty string.")
    if data.startswith(JPEG_MAGIC):
        return JPEG
    if data.startswith(PNG_MAGIC):
        return PNG
    if data.startswith(b"GIF8"):
        return GIF
    if data.startswith(b"BM"):
        return BMP
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return WEBP
    raise invalid(
        op,
        "contents must be a JPEG, PNG, GIF, BMP or WebP file, got "
        f"{len(data)} bytes that begin with {data[:12]!r}.",
    )


def refuse(op: str, form: str) -> Exception:
    """The error for a format that a function does not read."""
    return invalid(
        op, f"contents are a {form} file. Use tf.io.{_READERS[form]} or tf.io.decode_image."
    )


def still_image(op: str, data: bytes, channels: int, dtype: DType, choices: jpeg.Choices) -> Array:
    """An image, [height, width, channels]: a JPEG, PNG, or a GIF of one frame."""
    form = format_of(op, data)
    if form == PNG:
        return png_image(op, data, channels, dtype)
    if form == JPEG:
        return of_dtype(jpeg.decode(op, data, choices), dtype)
    if form == GIF:
        frames = gif_frames(op, data, channels)
        if len(frames) > 1:
            raise invalid(
                op,
                f"contents are a GIF file of {len(frames)} frames. Use tf.io.decode_gif or "
                "tf.io.decode_image.",
            )
        return of_dtype(frames[0], dtype)
    raise refuse(op, form)


def png_image(op: str, data: bytes, channels: int, dtype: DType) -> Array:
    """The pixels of a PNG file: those for float32 are read with 16 bits."""
    if dtype is float32:
        wide = png.decode(op, data, channels, np.dtype(np.uint16))
        return wide * np.float32(1 / 65535)
    return png.decode(op, data, channels, dtype.numpy_dtype)


def gif_frames(op: str, data: bytes, channels: int, only_first: bool = False) -> Array:
    """The frames of a GIF file."""
    if channels not in (0, 3):
        raise invalid(op, f"channels must be 0 or 3 for a GIF file, got {channels}.")
    return gif.decode(op, data, only_first)


def any_image(op: str, data: bytes, channels: int, dtype: DType, expands: bool) -> Array:
    """An image, or with an axis of frames in front if the format has frames and `expands`."""
    form = format_of(op, data)
    if form == GIF:
        frames = of_dtype(gif_frames(op, data, channels, not expands), dtype)
        return frames if expands else frames[0]
    if form == WEBP:
        if dtype is not uint8:
            raise invalid(op, f"dtype must be uint8 for a WebP file, got {dtype.name}.")
        frames = webp.decode(op, data, channels, not expands)
        return frames if expands else frames[0]
    if form == BMP:
        return of_dtype(bmp.decode(op, data, channels), dtype)
    return still_image(op, data, channels, dtype, jpeg.Choices(channels))


def of_dtype(pixels: Array, dtype: DType) -> Array:
    """Pixels of 8 bits in another dtype: in the upper bits of 16, or from 0 to 1."""
    if dtype is uint16:
        return pixels.astype(np.uint16) << np.uint16(8)
    return pixels if dtype is uint8 else pixels * np.float32(1 / 255)
