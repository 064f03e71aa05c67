"""What machine code needs to know of a JPEG file to decode it: tables, and where blocks go.

It knows what is usual: one scan of luminance and colours of half the width (and height), codes of
Huffman, no restarts. libjpeg reads the rest, and whatever turns out to be damaged.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft._src.media.jpeg_header import BLOCK, YCBCR, Header, read_header, segments

Array = np.ndarray[Any, Any]

_TABLES = 4  # two for each kind of codes
_LENGTHS = 17
_USUAL_FRAMES = (0xC0, 0xC1)
_CODES, _STEPS, _RESTARTS, _SCAN = 0xC4, 0xDB, 0xDD, 0xDA
_USUAL_SIZES = {((2, 2), (1, 1), (1, 1)), ((2, 1), (1, 1), (1, 1))}

# The fast transform leaves out factors, which are part of the steps: products of these.
_FACTORS = np.array([1.0, 1.387039845, 1.306562965, 1.175875602, 1.0, 0.785694958, 0.541196100,
                     0.275899379])  # fmt: skip
_SCALES = np.rint(np.outer(_FACTORS, _FACTORS) * (1 << 14)).astype(np.int64).ravel()
_SCALE_BITS = 12  # that are dropped of them


@dataclass(frozen=True, eq=False)
class Layout:
    """How the compressed pixels of a file are read, and where their samples go."""

    height: int
    width: int
    across: int  # units
    down: int
    tables: tuple[Array, ...]  # of codes: lookup, most, offset, symbols; steps
    blocks: Array  # of a unit
    size: int  # bytes of all planes, in whole words
    blue: int  # where the colours begin
    red: int
    line: int  # bytes of a row of luminance
    wide: int  # bytes of a row of colours: one more at either end

    @functools.cached_property
    def addresses(self) -> tuple[int, ...]:
        """Where the tables and the blocks lie."""
        arrays = (*self.tables, self.blocks)
        assert all(array.flags.c_contiguous for array in arrays), "a table with gaps"
        return tuple([array.__array_interface__["data"][0] for array in arrays])


def _kernel() -> Any:
    """The text of the machine code, which is there before anybody asks for a layout."""
    from weft._src.execution.native.loops.kernels import jpeg_scans

    return jpeg_scans


class _UnusualError(Exception):
    """This is libjpeg's to read."""


def layout_of(data: bytes, header: Header) -> Layout | None:
    """The layout of a file, None if it is an unusual one."""
    return _layout(data[: header.start])


@functools.lru_cache(64)
def _layout(front: bytes) -> Layout | None:
    """By all that stands before the pixels: files of one size from one source have that alike."""
    try:
        return _read(front, read_header("decode_jpeg", front))
    except _UnusualError:
        return None


def _read(front: bytes, header: Header) -> Layout:
    if header.space != YCBCR or tuple(map(tuple, header.components)) not in _USUAL_SIZES:
        raise _UnusualError
    codes: dict[int, tuple[bytes, bytes]] = {}
    steps: dict[int, Array] = {}
    frame = scan = b""
    for marker, _, content in segments("decode_jpeg", front):
        if marker in _USUAL_FRAMES:
            frame = content
        elif marker == _CODES:
            _read_codes(content, codes)
        elif marker == _STEPS:
            _read_steps(content, steps)
        elif marker == _RESTARTS and content != b"\0\0":
            raise _UnusualError
        elif marker == _SCAN:
            scan = content
            break
    names = frame[6::3]
    if len(names) != 3 or len(set(names)) != 3 or len(scan) != 10 or scan[0] != 3:
        raise _UnusualError
    if scan[1:7:2] != names or scan[7:] != b"\0\x3f\0":
        raise _UnusualError
    chosen = [(byte >> 4, 16 | byte & 15) for byte in scan[2:7:2]]
    numbers = sorted({number for pair in chosen for number in pair})
    if len(numbers) > _TABLES or any(number not in codes for number in numbers):
        raise _UnusualError
    if any(table not in steps for table in frame[8::3]):
        raise _UnusualError
    if any(max(codes[dc][1], default=0) > 15 for dc, _ in chosen):
        raise _UnusualError
    made = [_code_table(*codes[number]) for number in numbers]
    of_codes = tuple([np.stack(parts) for parts in zip(*made, strict=True)])
    all_steps = np.stack([steps[table] for table in frame[8::3]])
    places = [(numbers.index(dc), numbers.index(ac)) for dc, ac in chosen]
    return _placed(header, (*of_codes, all_steps), places)


def _placed(header: Header, tables: tuple[Array, ...], places: list[tuple[int, int]]) -> Layout:
    """Planes one behind the other, and the blocks of a unit in the order of the file."""
    unit_across, unit_down = BLOCK * header.across, BLOCK * header.down
    across, down = -(-header.width // unit_across), -(-header.height // unit_down)
    line, wide = across * unit_across, across * BLOCK + 2
    blue = line * down * unit_down
    red = blue + wide * down * BLOCK
    blocks = []
    for number, (first, row, component) in enumerate(
        zip((0, blue + 1, red + 1), (line, wide, wide), header.components, strict=True)
    ):
        blocks += [
            (
                first + BLOCK * (y * row + x), BLOCK * component.across,
                BLOCK * component.down * row, row, *places[number], number,
            )
            for y in range(component.down)
            for x in range(component.across)
        ]  # fmt: skip
    return Layout(
        header.height, header.width, across, down, tables, np.array(blocks, np.int64),
        -(-(red + wide * down * BLOCK) // 8) * 8, blue, red, line, wide,
    )  # fmt: skip


def _read_codes(content: bytes, codes: dict[int, tuple[bytes, bytes]]) -> None:
    """Tables by their number, with 16 for those of all but the first coefficient."""
    at = 0
    while at < len(content):
        counts = content[at + 1 : at + 17]
        symbols = content[at + 17 : at + 17 + sum(counts)]
        if len(counts) < 16 or len(symbols) < sum(counts) or len(symbols) > 256:
            raise _UnusualError
        codes[content[at]] = counts, symbols
        at += 17 + len(symbols)


def _read_steps(content: bytes, steps: dict[int, Array]) -> None:
    """Steps of 8 bits by the number of their table, as the fast transform takes them."""
    if len(content) % 65:
        raise _UnusualError
    for at in range(0, len(content), 65):
        if content[at] > 3:
            raise _UnusualError
        given = np.frombuffer(content, np.uint8, 64, at + 1).astype(np.int64)
        plain = np.empty(64, np.int64)
        plain[_kernel().ORDER] = given
        scaled = (plain * _SCALES + (1 << _SCALE_BITS - 1)) >> _SCALE_BITS
        steps[content[at]] = scaled.astype(np.int16)


def _code_table(counts: bytes, symbols: bytes) -> tuple[Array, Array, Array, Array]:
    """The codes of each length are numbers that follow each other; see `JOB` of the kernel."""
    bits = _kernel().LOOKUP_BITS
    lookup = np.zeros(1 << bits, np.uint16)
    most, offset = np.full(_LENGTHS, -1, np.int32), np.zeros(_LENGTHS, np.int32)
    all_symbols = np.zeros(256, np.uint8)
    all_symbols[: len(symbols)] = np.frombuffer(symbols, np.uint8)
    code = number = 0
    for length in range(1, _LENGTHS):
        count = counts[length - 1]
        if count and code + count >= 1 << length:  # a code is never made of ones only
            raise _UnusualError
        offset[length] = number - code
        for _ in range(count):
            if length <= bits:
                room = bits - length
                lookup[code << room : (code + 1) << room] = length << 8 | symbols[number]
            code, number = code + 1, number + 1
        if count:
            most[length] = code - 1
        code <<= 1
    return lookup, most, offset, all_symbols
