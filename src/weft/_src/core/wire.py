"""The wire format of protocol buffers: what the few messages that Weft reads and writes need."""

from __future__ import annotations

import struct
from typing import Any

from weft._src.errors import ParseError

# How a field is stored. Groups are only ever skipped: no message that is read here has any.
VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = range(6)
_FIXED = {FIXED64: 8, FIXED32: 4}

_LOW64 = 0xFFFFFFFFFFFFFFFF
_LONGEST_NUMBER = 10  # bytes: more hold no number of 64 bits
_LONGEST_KEY = 5  # of 32 bits, as lengths are
_DEEPEST = 100


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


def read_varint(data: bytes, at: int, longest: int = _LONGEST_NUMBER) -> tuple[int, int]:
    """The number at a place, and the place behind it; IndexError if there is none."""
    byte = data[at]
    if byte < 128:
        return byte, at + 1
    n = 0
    for i in range(longest):
        byte = data[at + i]
        n |= (byte & 127) << 7 * i
        if byte < 128:
            return n & _LOW64, at + i + 1
    raise IndexError


def signed(n: int) -> int:
    """64 bits as a number that may be negative."""
    return n - 2**64 if n >= 2**63 else n


def bytes_field(number: int, content: bytes) -> bytes:
    """A field that holds bytes: a string or another message."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint_field(number: int, value: int) -> bytes:
    """A field that holds an integer, a truth value or an enum."""
    return varint(number << 3) + varint(value)


def fields(data: bytes, what: str) -> list[tuple[int, int, Any]]:
    """The fields of a message: number, how it is stored, and content (an int, or else bytes).

    Args:
        data: The serialized message.
        what: The name of the message, for errors.

    Raises:
        ParseError: If the bytes are no message.

    >>> fields(bytes_field(1, b"ab") + varint_field(2, 7), "Pair")
    [(1, 2, b'ab'), (2, 0, 7)]
    """
    try:
        out, at = _fields_from(data, 0, 0)
    except IndexError:
        raise not_serialized(what) from None
    if at < len(data):  # the end of a group that did not begin
        raise not_serialized(what)
    return out


def not_serialized(what: str) -> ParseError:
    """The error for bytes that are no such message."""
    return ParseError(f"These bytes are no serialized {what}.")


def _fields_from(data: bytes, at: int, depth: int) -> tuple[list[tuple[int, int, Any]], int]:
    """The fields from a place up to the end, or up to the end of the group around them."""
    out: list[tuple[int, int, Any]] = []
    end = len(data)
    while at < end:
        start = at
        key, at = read_varint(data, at, _LONGEST_KEY)
        number, kind = key >> 3, key & 7
        if not number or key >= 2**32:
            raise IndexError
        value: Any
        if kind == VARINT:
            value, at = read_varint(data, at)
        elif kind == BYTES:
            size, at = read_varint(data, at, _LONGEST_KEY)
            value, at = data[at : at + size], at + size
        elif kind in _FIXED:
            value, at = data[at : at + _FIXED[kind]], at + _FIXED[kind]
        elif kind == GROUP:
            at = _behind_group(data, at, number, depth + 1)
            continue
        elif kind == END_GROUP:
            return out, start
        else:
            raise IndexError
        if at > end:
            raise IndexError
        out.append((number, kind, value))
    return out, at


def _behind_group(data: bytes, at: int, number: int, depth: int) -> int:
    """The place behind a group; IndexError if it does not end, or ends as another one."""
    if depth >= _DEEPEST:
        raise IndexError
    _, at = _fields_from(data, at, depth)
    key, at = read_varint(data, at, _LONGEST_KEY)
    if key != number << 3 | END_GROUP:
        raise IndexError
    return at


def contents(data: bytes, number: int, what: str) -> list[bytes]:
    """What the fields of one number hold: strings or serialized messages.

    >>> contents(bytes_field(1, b"ab") + varint_field(1, 7), 1, "Pair")
    [b'ab']
    """
    return [value for n, kind, value in fields(data, what) if n == number and kind == BYTES]


def packed_integers(content: bytes, what: str) -> list[int]:
    """Integers of 64 bits, one behind the other."""
    if content.isascii():  # every byte below 128 is a number
        return list(content)
    out, at, end = [], 0, len(content)
    try:
        while at < end:
            n, at = read_varint(content, at)
            out.append(signed(n))
    except IndexError:
        raise not_serialized(what) from None
    return out


def packed_floats(content: bytes, letter: str, what: str) -> tuple[float, ...]:
    """Floats one behind the other: of 32 bits (the letter "f") or of 64 ("d")."""
    count, rest = divmod(len(content), struct.calcsize(letter))
    if rest:
        raise not_serialized(what)
    return struct.unpack(f"<{count}{letter}", content)
