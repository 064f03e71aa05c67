"""The keys of parts of tensors in an index: bytes that sort as names and places do.

A key is 0, the name, the number of axes, and for each axis where the part begins and how long it
is. Numbers are written so that their bytes sort as they do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_MARKS = re.compile(rb"[\x00\xff]")
ALL = -1  # the length of a part that is as long as the axis


def slice_key(name: bytes, extents: Iterable[tuple[int, int]]) -> bytes:
    r"""The key of a part of a tensor.

    >>> from weft._src.saving.slice_keys import slice_key
    >>> slice_key(b"w", [(0, 2), (75, 75)])
    b'\x00w\x00\x01\x01\x02\x80\x82\xc0K\xc0K'
    """
    places = list(extents)
    out = _natural(0) + _text(name) + _natural(len(places))
    return out + b"".join([_integer(start) + _integer(length) for start, length in places])


def _natural(n: int) -> bytes:
    """How many bytes it has, and these."""
    size = -(-n.bit_length() // 8)
    return bytes([size]) + n.to_bytes(size, "big")


def _text(text: bytes) -> bytes:
    """The end is marked by 0 1, and bytes that begin a mark are followed by their opposite."""
    return _MARKS.sub(lambda found: found[0] + bytes([255 - found[0][0]]), text) + b"\x00\x01"


def _integer(n: int) -> bytes:
    """As many bits ahead as it has bytes, flipped for negative numbers; then its lowest bits."""
    size = (n if n >= 0 else ~n).bit_length() // 7 + 1
    header = ((1 << size) - 1) << (7 * size)
    return ((n & ((1 << 8 * size) - 1)) ^ header).to_bytes(size, "big")
