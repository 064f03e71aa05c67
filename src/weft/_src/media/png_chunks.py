"""PNG files as chunks: the header, what is said about colours, and the compressed rows.

What is refused and what is overlooked is as in libpng, which TensorFlow uses: a damaged chunk that
matters is an error, a damaged one that does not is left out.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from weft._src.media.damage import invalid

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, RGB, PALETTE, GREY_ALPHA, RGB_ALPHA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGB_ALPHA: 4}
_DEPTHS = {GREY: (1, 2, 4, 8, 16), RGB: (8, 16), PALETTE: (1, 2, 4, 8), GREY_ALPHA: (8, 16),
           RGB_ALPHA: (8, 16)}  # fmt: skip
_KNOWN = (b"IHDR", b"PLTE", b"IDAT", b"IEND")  # of those that matter
_MOST = 2**31 - 1  # of a width, a height, and the length of a chunk
_LENGTH, _HEADER = struct.Struct(">I"), struct.Struct(">IIBBBBB")
_SRGB_GAMMA = 45455
_GAMMAS = range(16, 625_000_001)


class Header(NamedTuple):
    """What the pixels are."""

    width: int
    height: int
    depth: int
    colour: int
    is_interlaced: bool


@dataclass
class PngFile:
    """The parts of a file that decoding needs. A gamma is a hundred thousand times its value."""

    header: Header
    palette: bytes | None = None
    transparency: bytes | None = None
    gamma: int | None = None
    significant_bits: int = 0
    rows: bytes = b""  # compressed


def read_chunks(op: str, data: bytes) -> PngFile:
    """The parts of a PNG file; InvalidArgumentError if it is damaged."""
    file: PngFile | None = None
    parts: list[bytes] = []
    ended = False  # the compressed rows
    for kind, content in _chunks(op, data):
        if file is None:
            file = PngFile(_header(op, kind, content))
        elif kind == b"IHDR":
            raise invalid(op, "the PNG file has two headers.")
        elif kind == b"IDAT":
            if file.header.colour == PALETTE and file.palette is None:
                raise invalid(op, "the PNG file has colours of a palette, but no palette.")
            if not ended:
                parts.append(content)
        elif parts:
            ended = True
        else:
            _take(op, file, kind, content)
    if file is None or not parts:
        raise invalid(op, "the PNG file holds no pixels.")
    file.rows = parts[0] if len(parts) == 1 else b"".join(parts)
    return file


def _chunks(op: str, data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kinds and contents up to the end; those that do not matter are left out if damaged."""
    at = len(SIGNATURE)
    while True:
        if len(data) - at < 12:
            raise invalid(op, f"the PNG file is cut short: it ends after {len(data)} bytes.")
        (length,) = _LENGTH.unpack_from(data, at)
        kind = data[at + 4 : at + 8]
        end = at + 8 + length
        if length > _MOST or not kind.isalpha():
            raise invalid(op, f"the PNG file is damaged: there is no chunk at byte {at}.")
        if end + 4 > len(data):
            raise invalid(
                op,
                f"the PNG file is cut short: its chunk {kind.decode()} has {length} bytes, "
                f"{max(0, len(data) - at - 12)} are there.",
            )
        content = data[at + 8 : end]
        is_sound = zlib.crc32(content, zlib.crc32(kind)) == _LENGTH.unpack_from(data, end)[0]
        matters = kind[:1].isupper()
        if matters and not is_sound:
            raise invalid(
                op, f"the PNG file is damaged: the checksum of its chunk {kind.decode()} is wrong."
            )
        if matters and kind not in _KNOWN:
            raise invalid(op, f"the PNG file has a chunk {kind.decode()}, which is not known.")
        if kind == b"IEND":
            return
        if is_sound:
            yield kind, content
        at = end + 4


def _header(op: str, kind: bytes, content: bytes) -> Header:
    if kind != b"IHDR" or len(content) != _HEADER.size:
        raise invalid(op, "the PNG file does not begin with a header of 13 bytes.")
    width, height, depth, colour, compression, filtering, interlacing = _HEADER.unpack(content)
    if not 0 < width <= _MOST or not 0 < height <= _MOST:
        raise invalid(op, f"the PNG file claims to have {height} rows of {width} pixels.")
    if depth not in _DEPTHS.get(colour, ()):
        raise invalid(
            op, f"the PNG file claims to have colours of type {colour} with {depth} bits."
        )
    if compression or filtering or interlacing > 1:
        raise invalid(
            op,
            f"the PNG file has the unknown compression {compression}, filter method {filtering} or "
            f"interlacing {interlacing}.",
        )
    return Header(width, height, depth, colour, bool(interlacing))


def _take(op: str, file: PngFile, kind: bytes, content: bytes) -> None:
    """What a chunk before the pixels says."""
    header = file.header
    if kind == b"PLTE":
        if file.palette is not None:
            raise invalid(op, "the PNG file has two palettes.")
        entries, rest = divmod(len(content), 3)
        if header.colour == PALETTE and (rest or not 0 < entries <= 256):
            raise invalid(op, f"the palette of the PNG file has {len(content)} bytes.")
        file.palette = content[: 3 << header.depth] if header.colour == PALETTE else content
    elif kind == b"tRNS":
        if file.transparency is None and _is_transparency(file, content):
            file.transparency = content
    elif file.palette is None and kind == b"gAMA":
        if file.gamma is None and len(content) == 4:
            (gamma,) = _LENGTH.unpack(content)
            file.gamma = gamma if gamma in _GAMMAS else None
    elif file.palette is None and kind == b"sRGB":
        if len(content) == 1 and content[0] < 4:  # a way to render
            file.gamma = _SRGB_GAMMA
    elif file.palette is None and kind == b"sBIT":
        count = 3 if header.colour == PALETTE else CHANNELS[header.colour]
        if len(content) == count and all(0 < bits <= header.depth for bits in content):
            file.significant_bits = max(content[: 3 if count > 2 else 1])


def _is_transparency(file: PngFile, content: bytes) -> bool:
    """Whether a chunk says which colours are transparent, and may."""
    colour = file.header.colour
    if colour == PALETTE:
        return file.palette is not None and 0 < len(content) <= len(file.palette) // 3
    return len(content) == {GREY: 2, RGB: 6}.get(colour)
