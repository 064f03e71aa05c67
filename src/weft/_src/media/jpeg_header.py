"""What the segments of a JPEG file say before its pixels: sizes, components, colours.

Segments are read as libjpeg reads them, so that both always agree on the size of the image.
"""

from __future__ import annotations

import contextlib
import functools
import struct
from collections.abc import Iterator
from typing import NamedTuple

from weft._src.errors import InvalidArgumentError
from weft._src.media.damage import invalid

MAGIC = b"\xff\xd8\xff"
END = b"\xff\xd9"
GREY, YCBCR, RGB, CMYK, YCCK = "grey", "YCbCr", "RGB", "CMYK", "YCCK"

_START_OF_IMAGE, _END_OF_IMAGE, _START_OF_SCAN = 0xD8, 0xD9, 0xDA
_FRAMES = {0xC0, 0xC1, 0xC2, 0xC9, 0xCA}  # baseline, extended, progressive; with arithmetic coding
_PROGRESSIVE = {0xC2, 0xCA}
_LEAST_BITS = {0xC9: 0, 0xCA: 0, 0xC2: 1}  # of a block; otherwise two: one for each part of it
_UNKNOWN_FRAMES = {0xC3, 0xC5, 0xC6, 0xC7, 0xC8, 0xCB, 0xCD, 0xCE, 0xCF}
_WITH_CONTENT = {0xC4, 0xCC, 0xDB, 0xDC, 0xDD, 0xFE, *range(0xE0, 0xF0)}
_KNOWN = {*_FRAMES, *_WITH_CONTENT, _START_OF_SCAN}
_ALONE = {0x01, *range(0xD0, 0xD8)}
_LARGEST = 65500  # rows or columns
BLOCK = 8


class Component(NamedTuple):
    """A kind of samples: how many blocks of them are in each unit of the image."""

    across: int
    down: int


class Header(NamedTuple):
    """What decoding needs to know. `start` is where the compressed pixels begin."""

    height: int
    width: int
    components: tuple[Component, ...]
    space: str
    has_adobe_marker: bool
    is_progressive: bool
    bits_per_block: int  # at least; 0 if a block can take less than a bit
    start: int

    @property
    def across(self) -> int:
        """Columns of blocks in a unit."""
        return max([c.across for c in self.components])

    @property
    def down(self) -> int:
        """Rows of blocks in a unit."""
        return max([c.down for c in self.components])

    @property
    def blocks(self) -> int:
        """How many blocks the file must hold, at least."""
        across, down = BLOCK * self.across, BLOCK * self.down
        return sum([
            -(-self.width * c.across // across) * -(-self.height * c.down // down)
            for c in self.components
        ])  # fmt: skip


class _Found:
    """What was found on the way."""

    frame: tuple[int, bytes] | None = None  # marker and content
    has_jfif = False
    adobe: int | None = None  # its transform


def read_header(op: str, data: bytes) -> Header:
    """The header of a JPEG file; InvalidArgumentError if there is none."""
    scan = data.find(b"\xff\xda")
    if scan >= 0:
        # All up to the first scan, if that is one: then nothing behind it matters.
        with contextlib.suppress(InvalidArgumentError):
            return _header_of(data[: scan + 2 + int.from_bytes(data[scan + 2 : scan + 4])])
    return _read_header(op, data)


@functools.lru_cache(64)
def _header_of(front: bytes) -> Header:
    """Files of one size from one source have the same one."""
    return _read_header("decode_jpeg", front)


def _read_header(op: str, data: bytes) -> Header:
    found = _Found()
    for marker, start, content in segments(op, data):
        if marker in _FRAMES:
            if found.frame is not None:
                raise invalid(op, "the JPEG file is damaged: it has two frames.")
            found.frame = marker, content
        elif marker == 0xE0 and len(content) >= 14 and content[:5] == b"JFIF\0":
            found.has_jfif = True
        elif marker == 0xEE and len(content) >= 12 and content[:5] == b"Adobe":
            found.adobe = content[11]
        elif marker == _START_OF_SCAN:
            return _header(op, found, start)
    raise AssertionError("segments end with a scan or an error")


def segments(op: str, data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Markers, where their content ends, and the content, up to the first scan."""
    at, size = 2, len(data)
    while True:
        # Between segments anything but a marker is overlooked, and markers are filled up in front.
        at = data.find(b"\xff", at)
        while 0 <= at < size and data[at] == 0xFF:
            at += 1
        if not 0 <= at < size:
            raise invalid(op, f"the JPEG file is cut short: it ends after {len(data)} bytes.")
        marker = data[at]
        at += 1
        if marker in _KNOWN:
            length = data[at] << 8 | data[at + 1] if at + 2 <= size else 0
            if length < 2 or at + length > size:
                raise invalid(
                    op,
                    "the JPEG file is cut short or damaged in its marker "
                    f"0x{marker:X} at byte {at}.",
                )
            yield marker, at + length, data[at + 2 : at + length]
            at += length
            continue
        if marker == 0 or marker in _ALONE:
            continue
        if marker in (_START_OF_IMAGE, _END_OF_IMAGE):
            raise invalid(
                op, "the JPEG file is damaged: it ends, or begins anew, before its pixels."
            )
        if marker in _UNKNOWN_FRAMES:
            raise invalid(op, f"the JPEG file is of a kind that is not read (0x{marker:X}).")
        raise invalid(op, f"the JPEG file is damaged: it has the marker 0x{marker:X}.")


def _header(op: str, found: _Found, start: int) -> Header:
    if found.frame is None:
        raise invalid(op, "the JPEG file is damaged: it does not say how large it is.")
    marker, content = found.frame
    if len(content) < 6 or len(content) != 6 + 3 * content[5]:
        raise invalid(op, "the JPEG file is damaged: its frame has a wrong length.")
    bits, height, width, count = struct.unpack_from(">BHHB", content)
    if not 0 < height <= _LARGEST or not 0 < width <= _LARGEST:
        raise invalid(op, f"the JPEG file claims to have {height} rows of {width} pixels.")
    if bits != 8:
        raise invalid(op, f"the JPEG file has samples of {bits} bits: only those of 8 are read.")
    if count not in (1, 3, 4):
        raise invalid(op, f"the JPEG file has {count} components: only 1, 3 or 4 are read.")
    names = content[6::3]
    components = tuple([Component(byte >> 4, byte & 15) for byte in content[7::3]])
    if any(not 1 <= size <= 4 for component in components for size in component):
        raise invalid(op, "the JPEG file is damaged: its components have impossible sizes.")
    return Header(
        height, width, components, _space(names, found), found.adobe is not None,
        is_progressive=marker in _PROGRESSIVE,
        bits_per_block=_LEAST_BITS.get(marker, 2),
        start=start,
    )  # fmt: skip


def _space(names: bytes, found: _Found) -> str:
    """What the components are."""
    if len(names) == 1:
        return GREY
    if len(names) == 4:
        return CMYK if found.adobe in (None, 0) else YCCK
    if found.has_jfif:
        return YCBCR
    if found.adobe is not None:
        return RGB if found.adobe == 0 else YCBCR
    return RGB if names == b"RGB" else YCBCR
