"""String ops on all strings of an array at once, as NumPy arithmetic on one run of bytes.

For arrays for which `packed.pays` says so; elsewhere Python is as fast. Functions that give None
leave what they were asked to Python, string by string: it may be an error, which Python tells.
"""

from __future__ import annotations

import numpy as np

from weft._src.core.tensor import Array
from weft._src.ops.strings.packed import Packed, move, pack, parse, unpack

_SPACE = np.zeros(256, np.bool_)
_SPACE[list(b" \t\n\v\f\r")] = True
_MOST_ROUNDS = 6  # in which one byte at an end goes; then all are looked at


def character_counts(strings: Array) -> Array:
    """How many characters each string in UTF-8 has: bytes that begin one."""
    packed = pack(strings)
    count = before((packed.data & 0xC0) != 0x80)
    found = count[packed.starts + packed.sizes] - count[packed.starts]
    return found.reshape(strings.shape)


def before(marks: Array) -> Array:
    """How many marks there are before each place, and before the end."""
    out = np.zeros(len(marks) + 1, np.int64)
    np.cumsum(marks, out=out[1:])
    return out


def translated(strings: Array, table: bytes) -> Array:
    """The strings with every byte looked up in a table."""
    packed = pack(strings)
    before_it = packed.data.tobytes()
    text = before_it.translate(table)
    if text == before_it:
        return strings.copy()  # of the same bytes objects
    return unpack(packed._replace(data=np.frombuffer(text, np.uint8)), strings.shape)


def stripped(strings: Array) -> Array:
    """The strings without white space at both ends."""
    data, starts, sizes = pack(strings)
    begin, end = starts.copy(), starts + sizes
    if len(data):
        for _ in range(_MOST_ROUNDS):
            some = end > begin
            at_front = some & _SPACE[data[np.where(some, begin, 0)]]
            at_back = some & ~at_front & _SPACE[data[np.where(some, end - 1, 0)]]
            if not (at_front | at_back).any():
                return _shortened(strings, Packed(data, begin, end - begin), sizes)
            begin += at_front
            end -= at_back
    is_solid = ~_SPACE[data]
    solid, count = np.flatnonzero(is_solid), before(is_solid)
    # The first and the last solid byte of each string, if there are any.
    first, behind = count[begin], count[end]
    some = first < behind
    begin[some], end[some] = solid[first[some]], solid[behind[some] - 1] + 1
    size = np.where(some, end - begin, 0)
    return _shortened(strings, Packed(data, begin, size), sizes)


def _shortened(strings: Array, pieces: Packed, sizes: Array) -> Array:
    """Pieces of strings, which had these sizes; those that are whole are the same objects."""
    changed = np.flatnonzero(pieces.sizes != sizes)
    if 2 * len(changed) > len(sizes):
        return unpack(pieces, strings.shape)
    out = strings.copy()
    some = Packed(pieces.data, pieces.starts[changed], pieces.sizes[changed])
    out.reshape(-1)[changed] = unpack(some, changed.shape)
    return out


def words(strings: Packed) -> tuple[Packed, Array]:
    """What stands between white space, and how many such pieces each string has."""
    data, starts, sizes = strings
    is_solid = ~_SPACE[data]
    begins, ends = is_solid.copy(), is_solid.copy()
    begins[1:] &= ~is_solid[:-1]
    ends[:-1] &= ~is_solid[1:]
    some = sizes > 0  # a word does not go on in the next string
    begins[starts[some]] = is_solid[starts[some]]
    last = (starts + sizes - 1)[some]
    ends[last] = is_solid[last]
    count = before(begins)
    begin = np.flatnonzero(begins)
    pieces = Packed(data, begin, np.flatnonzero(ends) + 1 - begin)
    return pieces, count[starts + sizes] - count[starts]


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


def neighbours(strings: Array, splits: Array, width: int, separator: bytes) -> tuple[Array, Array]:
    """So many strings next to each other within a row, joined; and the splits of these.

    `splits` are known to be valid. All strings stand in one run of bytes with separators between
    them, so what is wanted are pieces of it.
    """
    packed = pack(strings)
    room = packed.sizes + len(separator)
    places = np.cumsum(room) - room
    run = np.empty(int(room.sum()), np.uint8)
    move(packed, places, run)
    behind = places + packed.sizes
    for i, letter in enumerate(separator):
        run[behind + i] = letter
    counts = np.maximum(np.diff(splits) - (width - 1), 0)
    ends = np.zeros(len(splits), splits.dtype)
    np.cumsum(counts, out=ends[1:])
    first = np.repeat(splits[:-1] - ends[:-1], counts) + np.arange(int(ends[-1]))
    begin = places[first]
    return unpack(Packed(run, begin, behind[first + (width - 1)] - begin), first.shape), ends


# --- numbers -------------------------------------------------------------------------------------

_EXACT = 2**53  # float64 holds every whole number up to that, and these powers of ten
_POWERS = 10.0 ** np.arange(20)


def decimal_numbers(pieces: Packed, is_integer: bool) -> tuple[Array, Array]:
    """The numbers that pieces spell in plain decimals, and which of them do.

    Others (with exponents, spaces, of very many digits, or no numbers) are not read here. What is
    read is int64, or the nearest float64.
    """
    values, decimals = parse(pieces)
    if is_integer:
        return values, decimals == 0
    exact = (decimals >= 0) & (np.abs(values) <= _EXACT)
    found = values / _POWERS[np.where(exact, np.maximum(decimals - 1, 0), 0)]
    zero = exact & (values == 0)
    if zero.any():  # which may be a negative one
        found[zero] = np.where(pieces.data[pieces.starts[zero]] == ord("-"), -0.0, 0.0)
    return found, exact


def in_decimals(integers: Array) -> Array:
    """The strings that spell integers: digits from the last to the first, of all at once."""
    is_negative = integers < 0
    left = integers.astype(np.uint64)  # what negative ones become modulo 2**64
    left[is_negative] = 0 - left[is_negative]
    largest = int(np.max(left, initial=0))
    width = len(str(largest))
    sizes = np.ones(len(left), np.int64)
    for digits in range(1, width):
        sizes += left >= 10**digits
    if largest < 2**32:
        left = left.astype(np.uint32)
    text = np.empty((len(left), width + 1), np.uint8)
    for column in range(width, 0, -1):
        rest = left // 10
        text[:, column] = left - rest * 10 + ord("0")
        left = rest
    begin = np.arange(len(left)) * (width + 1) + (width + 1) - sizes
    flat = text.reshape(-1)
    flat[begin[is_negative] - 1] = ord("-")
    return unpack(Packed(flat, begin - is_negative, sizes + is_negative), integers.shape)
