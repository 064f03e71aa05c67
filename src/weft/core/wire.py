"""The wire format of protocol buffers: what the few messages that Weft reads and writes need."""

from __future__ import annotations

from typing import Any

_LOW64 = 0xFFFFFFFFFFFFFFFF


def varint(n: int) -> bytes:
    r"""A number in groups of seven bits, the lowest first; negative ones as 64 bits.

    >>> varint(300)
    b'\xac\x02'
    """
    n &= _LOW64
    if n < 128:
        return bytes((n,))
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at a place, and the place behind it; IndexError past the end."""
    n = shift = 0
    while True:
        byte = data[at]
        n |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return n & _LOW64, at


def signed(n: int) -> int:
    """64 bits as a number that may be negative."""
    return n - 2**64 if n >= 2**63 else n


def bytes_field(number: int, content: bytes) -> bytes:
    """A field that holds bytes: a string or another message."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint_field(number: int, value: int) -> bytes:
    """A field that holds an integer, a truth value or an enum."""
    return varint(number << 3) + varint(value)


def fields(data: bytes, what: str) -> list[tuple[int, Any]]:
    """The fields of a message: numbers as ints, all else as bytes. ValueError if it is none."""
    out: list[tuple[int, Any]] = []
    at, end = 0, len(data)
    try:
        while at < end:
            key, at = read_varint(data, at)
            kind = key & 7
            if kind == 0:
                value, at = read_varint(data, at)
                out.append((key >> 3, value))
                continue
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                size, at = read_varint(data, at)
            if kind not in (1, 2, 5) or at + size > end or not key >> 3:
                raise IndexError
            out.append((key >> 3, data[at : at + size]))
            at += size
    except IndexError:
        raise ValueError(f"These bytes are no serialized {what}.") from None
    return out
