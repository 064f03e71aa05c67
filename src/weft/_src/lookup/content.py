"""What a table holds: a dictionary from keys to rows, and an array with a row for each value."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np

from weft._src.core.dtypes import DType, string
from weft._src.core.tensor import Array
from weft._src.core.xp import as_strings
from weft._src.lookup.key_index import WORTH_USING, KeyIndex, worth_making

Shape = tuple[int, ...]
_NOWHERE = np.empty(0, np.int64)


class Content:
    """Keys and values; each method is one atomic step for all threads.

    A fixed content does not change after its first keys were inserted, so nobody has to wait.

    Keys come as an array `[n, *key_shape]`, values as `[n, *value_shape]`. A key that is a vector
    is one object in the dictionary: a tuple of strings, or the bytes of numbers.
    """

    __slots__ = (
        "_asked", "_default", "_fixed", "_free", "_guard", "_index", "_is_plain", "_key_dtype",
        "_key_shape", "_nothing", "_rows", "_value_shape", "_values",
    )  # fmt: skip

    def __init__(
        self,
        key_dtype: DType,
        value_dtype: DType,
        key_shape: Shape = (),
        value_shape: Shape = (),
        fixed: bool = False,
    ) -> None:
        self._fixed = fixed
        self._key_dtype, self._key_shape = key_dtype, key_shape
        self._value_shape = value_shape
        self._is_plain = not value_shape and value_dtype is not string  # what machine code copies
        # Held for one step. Never while code of users runs, nor while a thread waits for another.
        self._guard = threading.Lock()
        self._rows: dict[Any, int] = {}
        # The last row is no value: it holds the default, where -1 finds it.
        self._nothing: Any = b"" if value_dtype is string else 0
        self._values = np.full((1, *value_shape), self._nothing, value_dtype.numpy_dtype)
        self._default: Array | None = None
        self._free: list[int] = []  # rows of values that were removed
        self._index: KeyIndex | None = None
        self._asked = 0  # keys that the dictionary was asked for

    def __len__(self) -> int:
        return len(self._rows)

    # --- reading -----------------------------------------------------------------------------

    def find(self, keys: Array, default: Array, tell: bool = False) -> tuple[Array, Array]:
        """The values of keys, and, if somebody wants to be told, where the default was taken.

        The default has the shape of a value, or is one value for each key.
        """
        if self._default is None and default.shape == self._value_shape:
            with self._guard:
                if self._default is None:
                    self._values[-1] = default[()]
                    self._default = default.copy()  # plans compute into arrays they had before
        if self._fixed:
            return self._find(keys, default, tell)
        with self._guard:
            return self._find(keys, default, tell)

    def _find(self, keys: Array, default: Array, tell: bool) -> tuple[Array, Array]:
        index, values, is_last = self._index_for(keys), self._values, self._is_last_row(default)
        if index is not None and is_last and not tell and self._is_plain:
            out = index.take(keys, values)
            if out is not None:
                return out, _NOWHERE
        rows = None if index is None else index.find(keys)
        if rows is None:
            self._asked += len(keys)
            found = map(self._rows.get, self._listed(keys), itertools.repeat(-1))
            rows = np.fromiter(found, np.int64, len(keys))
        out = values.take(rows, axis=0)
        missing = np.flatnonzero(rows < 0)
        if not is_last:
            one = default.shape == self._value_shape
            out[missing] = default[()] if one else default[missing]
        return out, missing

    def export(self) -> tuple[Array, Array]:
        """All keys and their values, in the order in which keys were first inserted."""
        with self._guard:
            rows = np.fromiter(self._rows.values(), np.int64, len(self._rows))
            return self._array(list(self._rows)), self._values.take(rows, axis=0)

    def _is_last_row(self, default: Array) -> bool:
        """Whether a default is the one in the last row; of strings, the same object."""
        known = self._default
        return (
            known is not None
            and default.shape == known.shape
            and default.tobytes() == known.tobytes()
        )

    def _index_for(self, keys: Array) -> KeyIndex | None:
        if len(keys) < WORTH_USING or self._key_shape:
            return None
        if self._index is None and worth_making(len(keys), self._asked, len(self._rows)):
            self._index = self._new_index()
        return self._index

    def _new_index(self) -> KeyIndex | None:
        rows = np.fromiter(self._rows.values(), np.int64, len(self._rows))
        index = KeyIndex(self._key_dtype, len(rows))
        return index if index.enter(self._array(list(self._rows)), rows) else None

    # --- writing -----------------------------------------------------------------------------

    def insert(self, keys: Array, values: Array) -> None:
        """Sets the values of keys; of equal keys the last one counts."""
        with self._guard:
            self._insert_all(keys, values)

    def replace(self, keys: Array, values: Array) -> None:
        """Forgets all that is there, and inserts these."""
        with self._guard:
            self._drop_index()
            self._rows, self._free = {}, []
            self._insert_all(keys, values)

    def remove(self, keys: Array) -> None:
        """Forgets keys; those that are not there do not matter."""
        with self._guard:
            there = [key for key in dict.fromkeys(self._listed(keys)) if key in self._rows]
            if there:
                self._drop_index()
                gone = [self._rows.pop(key) for key in there]
                self._free += gone
                self._values[gone] = self._nothing

    def _drop_index(self) -> None:
        """Before keys go: the index points to them."""
        self._index, self._asked = None, 0

    def _insert_all(self, keys: Array, values: Array) -> None:
        try:
            self._insert(keys, values)
        except BaseException:  # an interrupt: the index may lack keys that the dictionary has
            self._drop_index()
            raise

    def _insert(self, keys: Array, values: Array) -> None:
        listed, rows = self._listed(keys), self._rows
        if not rows:  # a new table, mostly with keys that all differ
            self._insert_first(listed, values)
            return
        places = np.fromiter(map(rows.get, listed, itertools.repeat(-1)), np.int64, len(listed))
        is_new = places < 0
        if is_new.any():
            new = list(dict.fromkeys(itertools.compress(listed, is_new)))
            taken = self._take_rows(len(new))
            rows.update(zip(new, taken.tolist(), strict=True))
            if len(new) == len(listed):
                places = taken
            else:  # keys that were there, or that come twice
                places = np.fromiter(map(rows.__getitem__, listed), np.int64, len(listed))
            self._extend_index(new, taken)
        self._values[places] = values

    def _insert_first(self, keys: list[Any], values: Array) -> None:
        rows = dict(zip(keys, range(len(keys)), strict=True))
        if len(rows) < len(keys):
            values = values[np.fromiter(rows.values(), np.int64, len(rows))]
            rows = dict(zip(rows, range(len(rows)), strict=True))
        self._drop_index()
        self._free = []
        self._make_room(len(rows))
        self._values[: len(rows)] = values
        self._rows = rows

    def _take_rows(self, count: int) -> Array:
        """Rows that are free: those of values that were removed, and then new ones."""
        again = self._free[:count]
        del self._free[:count]
        first = len(self._rows) + len(self._free) + len(again)
        stop = first + count - len(again)
        self._make_room(stop)
        return np.concatenate([np.array(again, np.int64), np.arange(first, stop, dtype=np.int64)])

    def _make_room(self, count: int) -> None:
        old = self._values
        if count < len(old):
            return
        shape = (max(count, 2 * len(old)) + 1, *self._value_shape)
        self._values = np.full(shape, self._nothing, old.dtype)
        self._values[: len(old) - 1] = old[:-1]
        self._values[-1] = old[-1]

    def _extend_index(self, keys: list[Any], rows: Array) -> None:
        if self._index is not None and not self._index.enter(self._array(keys), rows):
            self._drop_index()

    # --- keys --------------------------------------------------------------------------------

    def _listed(self, keys: Array) -> list[Any]:
        """Keys as objects of a dictionary."""
        if not self._key_shape:
            listed: list[Any] = keys.tolist()
            return listed
        if self._key_dtype is string:
            return [tuple(row.reshape(-1).tolist()) for row in keys]
        return [row.tobytes() for row in keys]

    def _array(self, keys: list[Any]) -> Array:
        """Keys as an array again."""
        shape = (len(keys), *self._key_shape)
        if self._key_dtype is string:
            flat = list(itertools.chain.from_iterable(keys)) if self._key_shape else keys
            return as_strings(flat, shape)
        if self._key_shape:
            joined = np.frombuffer(b"".join(keys), self._key_dtype.numpy_dtype)
            return joined.reshape(shape).copy()
        return np.array(keys, self._key_dtype.numpy_dtype).reshape(shape)
