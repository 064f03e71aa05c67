"""Many keys in a table at once, by machine code; few are left to the dictionary of the table.

An index is an array of slots beside the dictionary. It is made when a table has been asked for as
many keys as it holds, gets the keys that are inserted later, and is given up when keys are removed.

Machine code is given a job, the words that `JOB` in `execution/native/loops/kernels/key_tables.py`
names; the last one tells whether a key is no bytes object.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from weft._src.core.cells import aligned_empty
from weft._src.core.dtypes import DType, string
from weft._src.core.flags import flags
from weft._src.core.tensor import Array
from weft._src.execution import forking

if TYPE_CHECKING:
    from weft._src.execution.native.key_search import Function, KeySearches

WORTH_LOADING = 100_000  # keys that all tables were asked for; loading takes up to 0.3 s
WORTH_USING = 200  # keys in one call, which takes 5 us more than a dictionary
_PIECE = 1 << 20  # keys, then Python looks for signals and other threads
_MOST_ROWS = 1 << 30

_asked = 0  # keys, by lookups of tables without an index


def worth_making(count: int, asked: int, size: int) -> bool:
    """Whether an index pays, for `count` more keys of a table of that size that met `asked`."""
    global _asked  # noqa: PLW0603 - a count of the process; a race between threads does no harm
    _asked += count
    return (
        asked + count >= size
        and _asked >= WORTH_LOADING
        and flags.execution != "numpy"
        and searches() is not None
    )


@functools.cache
def searches() -> KeySearches | None:
    """The machine code, loaded when it is needed first; None where it cannot run."""
    with forking.lock:
        from weft._src.execution.native import key_search
    return key_search.load()


def _filled(shape: tuple[int, int], number: int) -> Array:
    out = aligned_empty(shape, np.dtype(np.int64))
    out.fill(number)
    return out


class KeyIndex:
    """Slots with keys and their rows. Bytes objects are kept by somebody else."""

    __slots__ = ("_code", "_dtype", "_room", "_shift", "_slots", "_used")

    def __init__(self, dtype: DType, count: int) -> None:
        code = searches()
        assert code is not None, "worth_making was not asked"
        self._code = code.strings if dtype is string else code.ints
        self._dtype = object if dtype is string else np.int64
        if dtype is string:
            bits = max(3 * count, 1024).bit_length()
            self._slots = _filled((1 << bits, 4), -1)
            self._room = 1 << bits >> 1  # keys; half of the slots stay empty
        else:  # buckets of four slots
            bits = max(2 * count, 1024).bit_length() - 2
            self._slots = _filled((1 << bits, 8), 0)
            self._room = 2 << bits
        self._shift = 64 - bits
        self._used = 0

    def enter(self, keys: Array, rows: Array) -> bool:
        """Enters keys that are not there, each once; False if that cannot be done."""
        self._used += len(keys)
        if self._used > self._room or self._used > _MOST_ROWS:
            return False
        return self._run(self._code.enter, np.ascontiguousarray(keys, self._dtype), rows, None)

    def find(self, keys: Array) -> Array | None:
        """The row of each key of a vector, -1 where it is not there; None if one is no key."""
        rows = np.empty(len(keys), np.int64)
        return rows if self._in_pieces(keys, rows, None) else None

    def take(self, keys: Array, values: Array) -> Array | None:
        """The value of each key of a vector, the last one where it is not there; or None."""
        out = np.empty(len(keys), values.dtype)
        return out if self._in_pieces(keys, out, values) else None

    def _in_pieces(self, keys: Array, out: Array, values: Array | None) -> bool:
        keys = np.ascontiguousarray(keys, self._dtype)
        return all(
            self._run(self._code.find, keys[i : i + _PIECE], out[i : i + _PIECE], values)
            for i in range(0, len(keys), _PIECE)
        )

    def _run(self, function: Function, keys: Array, out: Array, values: Array | None) -> bool:
        value, last, size = 0, -1, 0
        if values is not None:
            value, last, size = values.ctypes.data, len(values) - 1, values.itemsize
        job = np.array(
            [keys.ctypes.data, len(keys), self._slots.ctypes.data, self._shift, id(bytes),
             out.ctypes.data, value, last, size, 0]
        )  # fmt: skip
        function(job.ctypes.data)
        return not job[-1]
