"""Strings made of strings by machine code, one after the other: it reads and makes bytes objects.

For arrays for which `packed.pays` says so. Functions give None where there is no machine code, or
where it met what is for Python: an object that is no bytes, or an error, which Python tells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from weft._src.core.tensor import Array
from weft._src.ops.strings.packed import Words, counted, done, made, packers_for, sizes


def _each(name: str, strings: Array, **words: Array | int) -> Array | None:
    """A string for each string."""
    packers = packers_for(strings.size, "making")
    if packers is None:
        return None
    flat = np.ascontiguousarray(strings.reshape(-1))
    found = made(packers, name, flat.size, {"objects": flat, **words})
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
    packers = packers_for(count, "making")
    if packers is None:
        return None
    places = np.empty((len(columns), 2), np.int64)
    for i, column in enumerate(columns):
        assert column.dtype == object
        assert column.shape in ((1,), (count,))
        step = column.strides[0] // column.itemsize if len(column) == count else 0
        places[i] = column.__array_interface__["data"][0], step
    job: Words = {"columns": places, "column_count": len(places)}
    found = made(packers, "join", count, {**job, **_between(separator)})
    return None if found is None else found[0]


def joined_runs(strings: Array, starts: Array, counts: Array, separator: bytes) -> Array | None:
    """Strings that stand next to each other in a vector, joined: so many from each start on."""
    packers = packers_for(strings.size, "making")
    if packers is None:
        return None
    flat = np.ascontiguousarray(strings)
    begin, size = [np.ascontiguousarray(x, np.int64) for x in (starts, counts)]
    assert begin.shape == size.shape
    job: Words = {"objects": flat, "target_room": flat.size, "starts": begin, "sizes": size}
    found = made(packers, "join_runs", begin.size, {**job, **_between(separator)})
    return None if found is None else found[0]


def joined_segments(strings: Array, ids: Array, count: int, separator: bytes) -> Array | None:
    """The strings of each segment in a vector, joined; empty ones at its front are left out."""
    packers = packers_for(strings.size, "making")
    if packers is None:
        return None
    flat = np.ascontiguousarray(strings)
    numbers = np.ascontiguousarray(ids, np.int64)
    assert numbers.shape == flat.shape
    job: Words = {"objects": flat, "targets": numbers, "target_room": count, **_between(separator)}
    sizes, ends = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    if not done(packers, "measure_segments", flat.size, {**job, "sizes": sizes}):
        return None
    found = made(packers, "make_segments", count, {"sizes": sizes})
    if found is None:
        return None
    out = found[0]
    is_filled = done(packers, "fill_segments", flat.size, {**job, "target": out, "starts": ends})
    # Where another thread has put other strings in the array meanwhile, that is for Python.
    return out if is_filled and (sizes == ends).all() else None


def _between(separator: bytes) -> Words:
    # Of an empty one nothing is read, but it has to lie somewhere.
    return {"data": np.frombuffer(separator or b"\0", np.uint8), "room": len(separator)}


def character_counts(strings: Array) -> Array | None:
    """How many characters each string in UTF-8 has: bytes that begin one."""
    found = counted("count_characters", np.ascontiguousarray(strings.reshape(-1)))
    return None if found is None else found.reshape(strings.shape)


def words(strings: Array) -> tuple[Array, Array, int] | None:
    """What stands between white space in each string of a vector.

    Returns:
      For each piece the number of its string and its own number in it, the pieces, and how many
      the string with most of them has.
    """
    flat = np.ascontiguousarray(strings)
    counts = counted("count_words", flat)
    return None if counts is None else _pieces("split_words", flat, counts)


def parts(strings: Array, separator: bytes, limit: int) -> tuple[Array, Array, int] | None:
    """What stands between separators, of which the first so many count, all if below 0."""
    assert separator
    flat = np.ascontiguousarray(strings)
    job: Words = {
        "data": np.frombuffer(separator, np.uint8),
        "target_room": len(separator),
        "limit": 2**62 if limit < 0 else limit,
    }
    counts = counted("count_cuts", flat, **job)
    return None if counts is None else _pieces("split_cuts", flat, counts, **job)


def single_bytes(strings: Array) -> tuple[Array, Array, int] | None:
    """The bytes of each string of a vector; what is given is the same."""
    flat = np.ascontiguousarray(strings)
    return _pieces("split_bytes", flat, sizes(flat))


def _pieces(
    name: str, strings: Array, counts: Array, **words: Array | int
) -> tuple[Array, Array, int] | None:
    packers = packers_for(strings.size, "making")
    if packers is None:
        return None
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    indices = np.empty((total, 2), np.int64)
    job: Words = {"objects": strings, "starts": ends - counts, "targets": indices, "room": total}
    found = made(packers, name, strings.size, {**job, **words}, pieces=total)
    return None if found is None else (indices, found[0], int(counts.max(initial=0)))


_FORM = re.compile(r"%([ +0-]?)(\d*)(?:\.(\d+))?([dfeg])")
_MOST_DIGITS = 15  # see `kernels/number_writing.py`


def written(values: Array, form: str) -> tuple[Array, Array] | None:
    """Numbers as a format of C's writes them, and the places of those that are left to Python.

    Args:
      values: a contiguous vector of float64, or of int64 or uint64 for "%d".
      form: "%", a flag, the width, the precision and the kind.
    """
    found, packers = _FORM.fullmatch(form), packers_for(values.size, "writing")
    if found is None or packers is None:
        return None
    flag, width, precision, kind = found.groups()
    assert values.dtype in ((np.int64, np.uint64) if kind == "d" else (np.float64,))
    digits = 6 if precision is None else int(precision)
    if kind in "eg":
        digits = digits + 1 if kind == "e" else max(digits, 1)
    if digits > _MOST_DIGITS or len(width) > 9:
        return None
    places = np.empty(values.size, np.int64)
    job: Words = {
        "data": values,
        "step": digits,
        "signed": int(values.dtype == np.int64),
        "general": int(kind == "g"),
        "plus": ord(flag) if flag in ("+", " ") else 0,
        "fill": ord(flag) if flag in ("0", "-") else 0,
        "width": int(width or 0),
        "long_places": places,
    }
    name = {"d": "write_int", "f": "write_fixed"}.get(kind, "write_exponent")
    made_ones = made(packers, name, values.size, job)
    return None if made_ones is None else (made_ones[0], places[: made_ones[1]])
