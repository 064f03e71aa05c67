"""Arrays as PNG files, byte by byte those of libpng as TensorFlow uses it, given the same zlib."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from weft._src.media.png_chunks import GREY, GREY_ALPHA, RGB, RGB_ALPHA, SIGNATURE
from weft._src.media.png_rows import AVERAGE, NONE, PAETH, SUB, UP

Array = np.ndarray[Any, Any]

_COLOURS = {1: GREY, 2: GREY_ALPHA, 3: RGB, 4: RGB_ALPHA}
_PART = 8192  # bytes of compressed rows in a chunk
_BLOCK = 1 << 20  # bytes of rows that are filtered at once
_SMALL = 16384  # bytes of rows, for which the compressor looks back less far


def encode(pixels: Array, level: int = -1) -> bytes:
    """A PNG file of an image, [height, width, 1 to 4 channels] of uint8 or uint16."""
    height, width, channels = pixels.shape
    header = struct.pack(
        ">IIBBBBB", width, height, 8 * pixels.itemsize, _COLOURS[channels], 0, 0, 0
    )
    rows = _compressed(_filtered(pixels), level)
    parts = [rows[at : at + _PART] for at in range(0, len(rows), _PART)]
    chunks = [(b"IHDR", header), *[(b"IDAT", part) for part in parts], (b"IEND", b"")]
    return SIGNATURE + b"".join([_chunk(kind, content) for kind, content in chunks])


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(content, zlib.crc32(kind)))
    return struct.pack(">I", len(content)) + kind + content + checksum


def _compressed(rows: Array, level: int) -> bytes:
    size = rows.size
    bits = 15
    while size <= _SMALL and size + 262 <= 1 << (bits - 1):
        bits -= 1
    stream = zlib.compressobj(level, zlib.DEFLATED, max(bits, 9), 9, zlib.Z_FILTERED)
    out = stream.compress(rows.data) + stream.flush()
    # How far back it looks is said in the first byte, and can be less than the compressor can do.
    said = out[0] >> 4
    while size <= _SMALL and said > 0 and size <= 1 << (said + 7):
        said -= 1
    first, second = (said << 4) | 8, out[1] & 0xE0
    return bytes([first, second + 31 - ((first << 8) + second) % 31]) + out[2:]


def _filtered(pixels: Array) -> Array:
    """Rows as differences to their neighbours, the number of the filter in front of each.

    Each row takes the filter whose differences are smallest in sum.
    """
    height, width, channels = pixels.shape
    step = channels * pixels.itemsize
    samples = pixels.astype(">u2") if pixels.itemsize == 2 else np.ascontiguousarray(pixels)
    rows = samples.view(np.uint8).reshape(height, width * step)
    kinds = [NONE, *([SUB] if width > 1 else []), *([UP] if height > 1 else [])]
    if width > 1 and height > 1:
        kinds += [AVERAGE, PAETH]
    out = np.empty((height, 1 + rows.shape[1]), np.uint8)
    count = max(1, _BLOCK // rows.shape[1])
    for start in range(0, height, count):
        stop = min(start + count, height)
        _filter_some(rows, start, stop, step, kinds, out)
    return out


def _filter_some(
    rows: Array, start: int, stop: int, step: int, kinds: list[int], out: Array
) -> None:
    given = rows[start:stop]
    b = np.zeros(given.shape, np.int16)  # the bytes above, to the left, and to the left of those
    b[int(start == 0) :] = rows[max(0, start - 1) : stop - 1]
    a = np.zeros_like(b)
    a[:, step:] = given[:, :-step]
    c = np.zeros_like(b)
    c[:, step:] = b[:, :-step]
    best = np.full(len(given), np.iinfo(np.int64).max)
    for kind in kinds:
        differences = (given - _guess(kind, a, b, c)).astype(np.uint8)
        sizes = np.minimum(differences, 0 - differences).sum(axis=1, dtype=np.int64)
        is_better = sizes < best
        best[is_better] = sizes[is_better]
        out[start:stop][is_better, 0] = kind
        out[start:stop][is_better, 1:] = differences[is_better]


def _guess(kind: int, a: Array, b: Array, c: Array) -> Array | int:
    if kind == SUB:
        return a
    if kind == UP:
        return b
    if kind == AVERAGE:
        return (a + b) >> 1
    if kind == PAETH:
        above, left = b - c, a - c
        p, q, r = np.abs(above), np.abs(left), np.abs(above + left)
        nearest: Array = np.where((p <= q) & (p <= r), a, np.where(q <= r, b, c))
        return nearest
    return 0
