"""The rows of PNG files: decompressed, and restored from their differences to their neighbours.

Every row begins with the number of its filter, which says what each byte was predicted from: the
same byte of the pixel to the left (`a` below), of the row above (`b`), of the pixel to the left of
that (`c`). An interlaced image is seven images, each with some of the pixels.

Machine code goes over rows byte by byte. Before it is worth loading, and where it cannot run, NumPy
goes over diagonals: all pixels of one depend on the two diagonals before only.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from weft._src.media.damage import check_enough, check_room, invalid
from weft._src.media.machine_code import loops
from weft._src.media.png_chunks import CHANNELS, Header, PngFile

Array = np.ndarray[Any, Any]

NONE, SUB, UP, AVERAGE, PAETH = range(5)
_DENSEST = 1032  # bytes that a byte of compressed data can become
_AT_ONCE = 1 << 26  # bytes, then Python looks for signals
_NUMPY_TAKES = 1e-7  # seconds for a byte

# Of the images an interlaced one consists of: first column and row, steps.
_PASSES = (
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
    (0, 1, 1, 2),
)  # fmt: skip


class Part(NamedTuple):
    """One of the images: where its pixels belong, and its size in pixels and bytes."""

    place: tuple[slice, slice]
    height: int
    width: int
    row_bytes: int


def parts_of(header: Header) -> Iterator[Part]:
    """The images in a file, those without pixels left out."""
    bits = CHANNELS[header.colour] * header.depth
    for x, y, dx, dy in _PASSES if header.is_interlaced else ((0, 0, 1, 1),):
        width, height = len(range(x, header.width, dx)), len(range(y, header.height, dy))
        if width and height:
            place = (slice(y, None, dy), slice(x, None, dx))
            yield Part(place, height, width, (width * bits + 7) // 8)


def read_rows(op: str, file: PngFile) -> Iterator[tuple[Part, Array]]:
    """The images in a file, their rows as bytes without filters."""
    header = file.header
    parts = list(parts_of(header))
    size = sum([part.height * (part.row_bytes + 1) for part in parts])
    shape = (header.height, header.width, CHANNELS[header.colour])
    claim = f"{header.height} rows of {header.width} pixels"
    check_enough(op, "PNG", claim, size // _DENSEST, len(file.rows))
    check_room(op, shape, 2 * size)
    data = _decompressed(op, file.rows, size)
    step = max(1, CHANNELS[header.colour] * header.depth // 8)
    at = 0
    for part in parts:
        end = at + part.height * (part.row_bytes + 1)
        filtered = np.frombuffer(data, np.uint8, end - at, at).reshape(part.height, -1)
        yield part, unfiltered(op, filtered, step)
        at = end


def _decompressed(op: str, data: bytes, size: int) -> bytes:
    """So many bytes; those that may follow are nobody's, and are not made."""
    stream = zlib.decompressobj()
    try:
        out = stream.decompress(data, size)
        while len(out) < size and stream.unconsumed_tail:
            out += stream.decompress(stream.unconsumed_tail, size - len(out))
        if len(out) == size and not stream.eof:
            more = stream.decompress(stream.unconsumed_tail, 1)  # the checksum comes last
        else:
            more = b""
    except zlib.error as error:
        raise invalid(op, f"the pixels of the PNG file are damaged: {error}.") from error
    if len(out) < size:
        raise invalid(
            op,
            f"the pixels of the PNG file are cut short: {size} bytes are expected, {len(out)} are "
            "there.",
        )
    if not stream.eof and not more:
        raise invalid(op, "the pixels of the PNG file are cut short: their checksum is missing.")
    return out


def unfiltered(op: str, filtered: Array, step: int) -> Array:
    """Rows, each with the number of its filter in front, as what they were made from.

    Args:
      op: the name of the function, for errors.
      filtered: bytes, [rows, 1 + bytes of a row].
      step: how many bytes there are from one pixel to the next.
    """
    kinds = filtered[:, 0]
    if kinds.max() > PAETH:
        raise invalid(op, f"the PNG file is damaged: it has rows with filter {kinds.max()}.")
    out = np.empty((filtered.shape[0], filtered.shape[1] - 1), np.uint8)
    if not kinds.any():
        out[:] = filtered[:, 1:]
        return out
    code = loops.after(out.size * _NUMPY_TAKES)
    if code is not None:
        rows = max(1, _AT_ONCE // out.shape[1])
        for start in range(0, len(out), rows):
            code.restore_rows(filtered, out, start, min(start + rows, len(out)), step)
    elif kinds.max() <= UP:
        _along_rows(kinds, filtered[:, 1:], out, step)
    else:
        _along_diagonals(kinds, filtered[:, 1:], out, step)
    return out


def _along_rows(kinds: Array, filtered: Array, out: Array, step: int) -> None:
    """Filters that are sums: of a row, or with the row above."""
    above: Array = np.zeros(out.shape[1], np.uint8)
    for kind, given, row in zip(kinds.tolist(), filtered, out, strict=True):
        if kind == UP:
            np.add(given, above, out=row)
        elif kind == SUB:
            for first in range(min(step, len(row))):
                np.add.accumulate(given[first::step], out=row[first::step])
        else:
            row[:] = given
        above = row


def _along_diagonals(kinds: Array, filtered: Array, out: Array, step: int) -> None:
    """Every filter, a pixel of each row at a time."""
    height = len(out)
    width = -(-out.shape[1] // step)
    # Pixels [column, row, byte]: a diagonal is a slice of the flat array of columns and rows.
    pixels = np.zeros((width, height, step), np.int16)
    padded = np.zeros((height, width * step), np.uint8)
    padded[:, : out.shape[1]] = filtered
    pixels[:] = padded.reshape(height, width, step).transpose(1, 0, 2)
    flat = pixels.reshape(width * height, step)
    is_sub, is_up, is_average, is_paeth = [(kinds == k)[:, None] for k in (SUB, UP, AVERAGE, PAETH)]
    none = np.zeros((height + 1, step), np.int16)
    before, last = none, none  # by row plus one: the diagonals two and one before this
    for number in range(width + height - 1):
        first, end = max(0, number - width + 1), min(number + 1, height)  # rows
        a, b, c = last[first + 1 : end + 1], last[first:end], before[first:end]
        above = b - c
        left = a - c
        p, q, r = np.abs(above), np.abs(left), np.abs(above + left)
        nearest = np.where((p <= q) & (p <= r), a, np.where(q <= r, b, c))
        guess = np.where(is_paeth[first:end], nearest, 0)
        guess += np.where(is_sub[first:end], a, 0)
        guess += np.where(is_up[first:end], b, 0)
        guess += np.where(is_average[first:end], (a + b) >> 1, 0)
        start = (number - first) * height + first
        stop = (number - end + 1) * height + end - 1
        here = (
            slice(start, stop - 1 if stop > 0 else None, 1 - height)
            if height > 1
            else slice(start, start + 1)
        )
        values = (flat[here] + guess) & 255
        flat[here] = values
        now = np.zeros_like(none)
        now[first + 1 : end + 1] = values
        before, last = last, now
    restored = pixels.transpose(1, 0, 2).reshape(height, -1)
    out[:] = restored[:, : out.shape[1]]
