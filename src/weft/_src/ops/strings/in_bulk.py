"""String ops on all strings of an array at once, as NumPy arithmetic on one run of bytes.

For arrays for which `packed.pays` says so; elsewhere Python is as fast. Functions that give None
leave what they were asked to Python, string by string: it may be an error, which Python tells.
"""

from __future__ import annotations

import numpy as np

from weft._src.core.tensor import Array
from weft._src.ops.strings.packed import Packed, move, pack, unpack

_SPACE = np.zeros(256, np.bool_)
_SPACE[list(b" \t\n\v\f\r")] = True


def character_counts(strings: Array) -> Array:
    """How many characters each string in UTF-8 has: bytes that begin one."""
    packed = pack(strings)
    return _counts(packed, (packed.data & 0xC0) != 0x80).reshape(strings.shape)


def _counts(packed: Packed, marks: Array) -> Array:
    """How many bytes of each piece are marked."""
    before = np.zeros(len(marks) + 1, np.int64)
    np.cumsum(marks, out=before[1:])
    return before[packed.starts + packed.sizes] - before[packed.starts]


def translated(strings: Array, table: bytes) -> Array:
    """The strings with every byte looked up in a table."""
    packed = pack(strings)
    data = np.frombuffer(table, np.uint8)[packed.data]
    return unpack(packed._replace(data=data), strings.shape)


def stripped(strings: Array) -> Array:
    """The strings without white space at both ends."""
    packed = pack(strings)
    data, starts, sizes = packed
    solid = np.flatnonzero(~_SPACE[data])
    ends = starts + sizes
    # The first and the last solid byte of each string, if there are any.
    first, behind = np.searchsorted(solid, starts), np.searchsorted(solid, ends)
    some = first < behind
    begin, end = starts.copy(), starts.copy()
    begin[some], end[some] = solid[first[some]], solid[behind[some] - 1] + 1
    return unpack(Packed(data, begin, end - begin), strings.shape)


def cut(strings: Array, pos: Array, length: Array) -> Array | None:
    """Parts of strings, from byte `pos` on; None if one lies outside of its string."""
    packed = pack(strings)
    data, starts, sizes = packed
    pos, length = [x.reshape(-1).astype(np.int64) for x in (pos, length)]
    if ((pos < -sizes) | (pos > sizes)).any():
        return None
    begin = np.where(pos < 0, pos + sizes, pos)
    left = sizes - begin
    size = np.where(length < 0, left, np.minimum(length, left))
    return unpack(Packed(data, starts + begin, size), strings.shape)


def joined(columns: list[Array | bytes], count: int) -> Array:
    """Strings from several: those of arrays, and between them the same for all."""
    parts = [c if isinstance(c, bytes) else pack(c) for c in columns]
    total = np.zeros(count, np.int64)
    for part in parts:
        total += len(part) if isinstance(part, bytes) else part.sizes
    starts = np.cumsum(total) - total
    out = np.empty(int(total.sum()), np.uint8)
    at = starts.copy()
    for part in parts:
        if isinstance(part, bytes):
            part = Packed(
                np.frombuffer(part, np.uint8),
                np.zeros(count, np.int64),
                np.full(count, len(part), np.int64),
            )
        move(part, at, out)
        at += part.sizes
    return unpack(Packed(out, starts, total), (count,))


# --- numbers -------------------------------------------------------------------------------------

_MOST_BYTES = 24  # of a number that is read here
_EXACT_DIGITS = 15  # of which float64 holds every number, as it does the powers of ten below
_POWERS = 10.0 ** np.arange(_MOST_BYTES)


def decimal_numbers(packed: Packed, is_integer: bool) -> tuple[Array, Array]:
    """The numbers that pieces spell in plain decimals, and which of them do.

    Others (with exponents, spaces, of very many digits, or no numbers) are not read here. What is
    read is int64, or the nearest float64.
    """
    data, starts, sizes = packed
    padded = np.concatenate([data, np.zeros(1, np.uint8)])
    first = padded[np.minimum(starts, len(data))]
    has_sign = ((first == ord("-")) | (first == ord("+"))) & (sizes > 0)
    at, left = starts + has_sign, sizes - has_sign
    value, digits, decimals = [np.zeros(len(sizes), np.int64) for _ in range(3)]
    fine, behind_point = left > 0, np.zeros(len(sizes), np.bool_)
    for k in range(min(int(left.max(initial=0)), _MOST_BYTES)):
        inside = left > k
        byte = padded[np.where(inside, at + k, len(data))]
        digit = (byte - ord("0")).astype(np.int64)
        is_digit = inside & (byte >= ord("0")) & (byte <= ord("9"))
        is_point = inside & (byte == ord(".")) & ~behind_point
        fine &= ~inside | is_digit | is_point
        # Beyond 18 digits the value is not looked at: it may overflow.
        value = np.where(is_digit, value * 10 + digit, value)
        digits += is_digit
        decimals += is_digit & behind_point
        behind_point |= is_point
    most = 18 if is_integer else _EXACT_DIGITS
    fine &= (digits > 0) & (digits <= most) & (left <= _MOST_BYTES)
    sign = np.where(has_sign & (first == ord("-")), -1, 1)
    if is_integer:
        return sign * value, fine & ~behind_point
    return sign * (value / _POWERS[np.where(fine, decimals, 0)]), fine
