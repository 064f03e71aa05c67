"""String ops on all strings of an array at once, as NumPy arithmetic on one run of bytes.

For arrays for which `packed.pays` says so; elsewhere Python is as fast. Functions that give None
leave what they were asked to Python, string by string: it may be an error, which Python tells.
"""

from __future__ import annotations

import numpy as np

from weft._src.core.tensor import Array
from weft._src.ops.strings.packed import (
    NEGATIVE_ZERO,
    Packed,
    move,
    pack,
    parse,
    read,
    unpack,
)


def before(marks: Array) -> Array:
    """How many marks there are before each place, and before the end."""
    out = np.zeros(len(marks) + 1, np.int64)
    np.cumsum(marks, out=out[1:])
    return out


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


def decimal_numbers(strings: Packed | Array, is_integer: bool) -> tuple[Array, Array]:
    """The numbers that strings spell in plain decimals, and which of them do.

    Others (with exponents, spaces, of very many digits, or no numbers) are not read here. What is
    read is int64, or the nearest float64.
    """
    values, decimals = parse(strings) if isinstance(strings, Packed) else read(strings)
    negative = np.flatnonzero(values == NEGATIVE_ZERO)
    values[negative] = 0
    if is_integer:
        return values, decimals == 0
    exact = (decimals >= 0) & (np.abs(values) <= _EXACT)
    found = values / _POWERS[np.where(exact, np.maximum(decimals - 1, 0), 0)]
    found[negative] = -0.0
    return found, exact
