"""Strings made of strings by machine code, one after the other: it reads and makes bytes objects.

For arrays for which `packed.pays` says so. Functions give None where there is no machine code, or
where it met what is for Python: an object that is no bytes, or an error, which Python tells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft._src.core.tensor import Array
from weft._src.ops.strings.packed import made, packers_for, sizes, word_counts

MOST_DIGITS = 15  # behind a point; see `kernels/float_digits.py`


def _each(name: str, strings: Array, **words: Array | int) -> Array | None:
    """A string for each string."""
    packers = packers_for(strings.size, new=False)
    if packers is None:
        return None
    flat = np.ascontiguousarray(strings.reshape(-1))
    found = made(packers, name, flat.size, objects=flat, **words)
    return None if found is None else found[0].reshape(strings.shape)


def cut(strings: Array, pos: Array, length: Array, unit: str) -> Array | None:
    """The part of each string from a place on; both numbers are of its shape, or one for all."""
    places = [np.ascontiguousarray(x.reshape(-1), np.int64) for x in (pos, length)]
    name = "cut" if unit == "BYTE" else "cut_characters"
    step = int(pos.size != 1)
    assert all(x.size == (strings.size if step else 1) for x in places)
    return _each(name, strings, starts=places[0], sizes=places[1], step=step)


def stripped(strings: Array) -> Array | None:
    """The strings without white space at both ends."""
    return _each("strip", strings)


def _table(letters: bytes, size: int) -> Array:
    assert len(letters) == size
    return np.frombuffer(letters, np.uint8)


def translated(strings: Array, table: bytes) -> Array | None:
    """The strings with every byte looked up in a table of 256."""
    return _each("translate", strings, data=_table(table, 256))


def encoded(strings: Array, letters: bytes, pad: bool) -> Array | None:
    """The strings in base64 with these 64 letters, filled up with "=" if asked."""
    return _each("encode", strings, data=_table(letters, 64), step=int(pad))


def decoded(strings: Array, numbers: bytes) -> Array | None:
    """What strings in base64 stand for; `numbers` has one for each byte, 255 for no letter."""
    return _each("decode", strings, data=_table(numbers, 256))


def joined(columns: Sequence[Array], count: int, separator: bytes) -> Array | None:
    """Strings from several: those of vectors, of which each has `count` elements, or one for all.

    Vectors need not be contiguous.
    """
    places = np.empty((len(columns), 2), np.int64)
    for i, column in enumerate(columns):
        assert column.dtype == object
        assert column.shape in ((1,), (count,))
        step = column.strides[0] // column.itemsize if len(column) == count else 0
        places[i] = column.__array_interface__["data"][0], step
    return _joined(places, count, separator)


def joined_rows(rows: Array, separator: bytes) -> Array | None:
    """The strings of each row of a contiguous matrix, joined."""
    count, width = rows.shape
    assert rows.dtype == object
    assert rows.flags.c_contiguous
    places = np.empty((width, 2), np.int64)
    places[:, 0] = rows.__array_interface__["data"][0] + np.arange(width) * rows.itemsize
    places[:, 1] = width
    return _joined(places, count, separator)


def _joined(places: Array, count: int, separator: bytes) -> Array | None:
    packers = packers_for(count * len(places), new=False)
    if packers is None:
        return None
    between = np.frombuffer(separator or b"\0", np.uint8)  # of an empty one nothing is read
    job = {"columns": places, "column_count": len(places), "data": between}
    found = made(packers, "join", count, room=len(separator), **job)
    return None if found is None else found[0]


def words(strings: Array) -> tuple[Array, Array, int] | None:
    """What stands between white space in each string of a vector.

    Returns:
      For each piece the number of its string and its own number in it, the pieces, and how many
      the string with most of them has.
    """
    flat = np.ascontiguousarray(strings)
    counts = word_counts(flat)
    return None if counts is None else _pieces("split_words", flat, counts)


def single_bytes(strings: Array) -> tuple[Array, Array, int] | None:
    """The bytes of each string of a vector; what is given is the same."""
    flat = np.ascontiguousarray(strings)
    return _pieces("split_bytes", flat, sizes(flat))


def _pieces(name: str, strings: Array, counts: Array) -> tuple[Array, Array, int] | None:
    packers = packers_for(strings.size, new=False)
    if packers is None:
        return None
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    indices = np.empty((total, 2), np.int64)
    job = {"objects": strings, "starts": ends - counts, "targets": indices, "room": total}
    found = made(packers, name, strings.size, pieces=total, **job)
    return None if found is None else (indices, found[0], int(counts.max(initial=0)))


def fixed(values: Array, digits: int, others: str) -> Array | None:
    """Floats as "%.6f" writes them, with so many digits; `others` is the format as Python has it.

    Args:
      values: a contiguous vector of float64.
      digits: behind the point, at most 15.
      others: for those that Python has to write.
    """
    assert values.dtype == np.float64
    assert 0 <= digits <= MOST_DIGITS
    packers = packers_for(values.size, new=False)
    if packers is None:
        return None
    places = np.empty(values.size, np.int64)
    job = {"data": values, "step": digits, "room": 10**digits, "long_places": places}
    found = made(packers, "fixed", values.size, **job)
    if found is None:
        return None
    out, count = found
    for place in places[:count].tolist():
        out[place] = others.encode() % float(values[place])
    return out
