"""The wire format of protocol buffers: numbers, keys and lengths as bytes, and back."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.errors import ParseError

# How a field is stored. Groups are only ever skipped: no message that is read here has any.
VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = range(6)
_FIXED = {FIXED64: 8, FIXED32: 4}

_LOW64 = 0xFFFFFFFFFFFFFFFF
_LONGEST_NUMBER = 10  # bytes: more hold no number of 64 bits
_LONGEST_KEY = 5  # of 32 bits, as lengths are
DEEPEST = 100  # messages in messages, groups in groups
_SMALL = [bytes((n,)) for n in range(128)]
_MANY = 128  # numbers, or their bytes, from which on NumPy is faster than a loop
_IS_LITTLE = sys.byteorder == "little"


# --- numbers -------------------------------------------------------------------------------------


def varint(n: int) -> bytes:
    r"""A number in groups of seven bits, the lowest first; negative ones as 64 bits.

    >>> varint(300)
    b'\xac\x02'
    """
    n &= _LOW64
    if n < 128:
        return _SMALL[n]
    if n < 1 << 14:
        return bytes((n & 127 | 128, n >> 7))
    if n < 1 << 21:
        return bytes((n & 127 | 128, n >> 7 & 127 | 128, n >> 14))
    if n < 1 << 28:
        return bytes((n & 127 | 128, n >> 7 & 127 | 128, n >> 14 & 127 | 128, n >> 21))
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


def read_size(data: bytes, at: int) -> tuple[int, int]:
    """The length at a place, and the place behind it; IndexError if so much does not follow."""
    size = data[at]
    if size < 128:
        at += 1
    else:
        size, at = read_varint(data, at, _LONGEST_KEY)
    if at + size > len(data):
        raise IndexError
    return size, at


def packed_varints(numbers: Sequence[int]) -> bytes:
    r"""Numbers one behind the other.

    >>> packed_varints([1, 300])
    b'\x01\xac\x02'
    """
    if len(numbers) < _MANY:
        return b"".join([varint(n) for n in numbers])
    if isinstance(numbers, array):
        wide = np.frombuffer(numbers, numbers.typecode)
    else:
        wide = np.array([n & _LOW64 for n in numbers], np.uint64)
    rest = wide.astype(np.int64 if wide.dtype.kind == "i" else np.uint64).view(np.uint64)
    sizes = np.ones(len(rest), np.int64)
    for k in range(1, _LONGEST_NUMBER):
        longer = rest >= np.uint64(1 << 7 * k)
        if not longer.any():
            break
        sizes += longer
    ends = np.cumsum(sizes)
    out = np.empty(ends[-1], np.uint8)
    places = ends - sizes
    while len(rest):
        more = rest > 127
        out[places] = (rest & np.uint64(127)) | (more * np.uint64(128))
        rest, places = rest[more] >> np.uint64(7), places[more] + 1
    return out.tobytes()


def unpacked_varints(content: bytes) -> np.ndarray[Any, Any]:
    """The numbers, of 64 bits, that stand one behind the other; IndexError if these are none."""
    if len(content) < _MANY:
        out, at = [], 0
        while at < len(content):
            n, at = read_varint(content, at)
            out.append(n)
        return np.array(out, np.uint64)
    return _unpacked_many(np.frombuffer(content, np.uint8))


def _unpacked_many(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    ends = np.flatnonzero(data < 128)
    if len(ends) == len(data):
        return data.astype(np.uint64)
    sizes = np.diff(ends, prepend=-1)
    if data[-1] > 127 or sizes.max() > _LONGEST_NUMBER:
        raise IndexError
    places = ends - sizes + 1
    out = (data[places] & 127).astype(np.uint64)
    which = np.flatnonzero(sizes > 1)
    k = 1
    while len(which):
        out[which] |= (data[places[which] + k] & 127).astype(np.uint64) << np.uint64(7 * k)
        k += 1
        which = which[sizes[which] > k]
    return out


def packed_numbers(numbers: array[Any]) -> bytes:
    """Numbers of a fixed size as bytes, the lowest first."""
    if _IS_LITTLE:
        return numbers.tobytes()
    turned = array(numbers.typecode, numbers)
    turned.byteswap()
    return turned.tobytes()


def unpacked_numbers(content: bytes, letter: str) -> array[Any]:
    """Numbers of a fixed size; IndexError if the bytes are no whole number of them."""
    out = array(letter)
    if len(content) % out.itemsize:
        raise IndexError
    out.frombytes(content)
    if not _IS_LITTLE:
        out.byteswap()
    return out


# --- fields --------------------------------------------------------------------------------------


def not_serialized(what: str) -> ParseError:
    """The error for bytes that are no such message."""
    return ParseError(f"These bytes are no serialized {what}.")


def read_key(data: bytes, at: int) -> tuple[int, int]:
    """The key of a field (its number, and how it is stored), and the place behind it."""
    key = data[at]
    if 8 <= key < 128:
        return key, at + 1
    key, at = read_varint(data, at, _LONGEST_KEY)
    if not 8 <= key < 2**32:  # there is no field 0
        raise IndexError
    return key, at


def behind_field(data: bytes, at: int, key: int, depth: int = 0) -> int:
    """The place behind a field that nobody knows; IndexError if it has no end."""
    stored = key & 7
    if stored == VARINT:
        _, at = read_varint(data, at)
    elif stored == BYTES:
        size, at = read_size(data, at)
        at += size
    elif stored in _FIXED:
        at += _FIXED[stored]
    elif stored == GROUP and depth < DEEPEST - 1:
        inner, at = read_key(data, at)
        while inner & 7 != END_GROUP:
            at = behind_field(data, at, inner, depth + 1)
            inner, at = read_key(data, at)
        if inner >> 3 != key >> 3:
            raise IndexError
    else:  # the end of a group that did not begin, or nothing known
        raise IndexError
    if at > len(data):
        raise IndexError
    return at


def fields(data: bytes, what: str) -> list[tuple[int, int, Any]]:
    r"""The fields of a message: number, how it is stored, and content (an int, or else bytes).

    Args:
        data: The serialized message.
        what: The name of the message, for errors.

    Raises:
        ParseError: If the bytes are no message.

    >>> fields(b"\x0a\x02ab\x10\x07", "Pair")
    [(1, 2, b'ab'), (2, 0, 7)]
    """
    out: list[tuple[int, int, Any]] = []
    at, end = 0, len(data)
    try:
        while at < end:
            key, at = read_key(data, at)
            stored = key & 7
            if stored == BYTES:
                size, at = read_size(data, at)
                out.append((key >> 3, stored, data[at : at + size]))
                at += size
            elif stored == VARINT:
                value, at = read_varint(data, at)
                out.append((key >> 3, stored, value))
            else:
                start, at = at, behind_field(data, at, key)
                if stored in _FIXED:
                    out.append((key >> 3, stored, data[start:at]))
    except IndexError:
        raise not_serialized(what) from None
    return out


def contents(data: bytes, number: int, what: str) -> list[bytes]:
    r"""What the fields of one number hold: strings or serialized messages.

    >>> contents(b"\x0a\x02ab\x08\x07", 1, "Pair")
    [b'ab']
    """
    return [value for n, kind, value in fields(data, what) if n == number and kind == BYTES]
