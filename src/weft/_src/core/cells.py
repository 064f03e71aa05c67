"""The storage of a variable: `{data, shared, version, lock}` at a stable address.

A value that was read stays what it was when the variable changes later. Small reads copy; larger
ones hand out the buffer itself and mark it shared, and the next write then takes a new buffer.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from weft._src.core.holding import ResourceLock, wait_for
from weft._src.core.resources import Resource
from weft._src.errors import FailedPreconditionError

Array = np.ndarray[Any, Any]

SMALL_READ_BYTES = 4096
ALIGNMENT = 64  # bytes; what zero-copy exchange with other array libraries asks for


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An uninitialised array whose data starts at a multiple of 64 bytes."""
    if dtype.hasobject:
        return np.empty(shape, dtype)
    n = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = np.empty(n + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + n].view(dtype).reshape(shape)


class VariableCell(Resource):
    """Where a variable's value lives. All access goes through these methods."""

    __slots__ = ("_owner", "data", "device", "held", "layout", "lock", "name", "shared", "version")

    def __init__(self, data: Array | None, name: str = "Variable") -> None:
        self.name = name
        # Held for a whole call by functions that write. Taken by hand below: a `with` cannot look
        # at what it waits for, and takes no less time.
        self.lock = ResourceLock(f"the variable {name!r}")
        self.version = 0
        self.shared = False
        self._owner: weakref.ref[Any] | None = None
        self.device: str | None = None  # the full name of its device, if that is not the host
        self.layout: Any = None  # which devices have which part, if several have it together
        # What another library holds of the value, as long as nobody writes; see LentCell.
        self.held: Any = None
        self.data: Array | None = None
        if data is not None:
            self.data = aligned_empty(data.shape, data.dtype)
            self.data[...] = data

    @property
    def variable(self) -> Any:
        """The `tf.Variable` this is the storage of, None once it is gone."""
        return None if self._owner is None else self._owner()

    @variable.setter
    def variable(self, owner: Any) -> None:
        self._owner = weakref.ref(owner)  # weakly: a variable and its cell must not form a cycle

    def read(self) -> Array:
        """The value now; later writes do not change it."""
        lock = self.lock
        if not lock.acquire(False):
            wait_for(lock)
        try:
            data = self.data
            if data is None or data.nbytes > SMALL_READ_BYTES:
                return self._snapshot()
            return data.copy()
        finally:
            lock.release()

    def write(self, value: Array) -> None:
        """Replaces the value. The caller may keep using `value`; it is copied."""
        lock = self.lock
        if not lock.acquire(False):
            wait_for(lock)
        try:
            self._store(value)
        finally:
            lock.release()

    def clear(self) -> None:
        """Takes the value away."""
        lock = self.lock
        if not lock.acquire(False):
            wait_for(lock)
        try:
            self.data, self.shared = None, False
            self.version += 1
        finally:
            lock.release()

    # These do not return the new value: a snapshot would make the next write take a new buffer.

    def update(self, ufunc: Callable[..., Any], value: Array) -> None:
        """Sets the value to `ufunc(value, operand)` in one atomic step."""
        lock = self.lock
        if not lock.acquire(False):
            wait_for(lock)
        try:
            data = self._require()
            if self.shared or data.ndim == 0:
                self._store(np.asarray(ufunc(data, value)))
            else:
                ufunc(data, value, out=data)
                self.version += 1
        finally:
            lock.release()

    def modify(self, change: Callable[[Array], None]) -> None:
        """Lets `change` alter the buffer in place, atomically."""
        lock = self.lock
        if not lock.acquire(False):
            wait_for(lock)
        try:
            data = self._require()
            if self.shared:
                fresh = aligned_empty(data.shape, data.dtype)
                fresh[...] = data
                data = fresh
            change(data)
            self.data, self.shared = data, False
            self.version += 1
        finally:
            lock.release()

    def read_part(self, pick: Callable[[Array], Array]) -> Array:
        """What `pick` takes out of the buffer; a small part, or a copy, leaves it unshared."""
        lock = self.lock
        if not lock.acquire(False):
            wait_for(lock)
        try:
            data = self._require()
            part = pick(data)
            if not np.may_share_memory(part, data):
                return part
            if part.nbytes <= SMALL_READ_BYTES:
                return part.copy()
            return pick(self._snapshot())
        finally:
            lock.release()

    def _snapshot(self) -> Array:
        data = self._require()
        if data.nbytes <= SMALL_READ_BYTES:
            return data.copy()
        self.shared = True
        return data

    def _store(self, value: Array) -> None:
        data = self.data
        if data is None or self.shared or data.shape != value.shape or data.dtype != value.dtype:
            data = aligned_empty(value.shape, value.dtype)
        data[...] = value
        self.data, self.shared = data, False
        self.version += 1

    def _require(self) -> Array:
        if self.data is None:
            raise FailedPreconditionError(
                None, None, f"The variable {self.name!r} was read before it was initialised."
            )
        return self.data

    def __repr__(self) -> str:
        described = "uninitialised" if self.data is None else f"{self.data.dtype}{self.data.shape}"
        return f"<VariableCell {self.name!r} {described}>"


_here = VariableCell.__dict__["data"]  # where the array of a cell is


class LentCell(VariableCell):
    """A variable whose newest value another library holds (`held`, an array of jax).

    An array of NumPy is made of it when somebody asks for `data`. As that may be the same memory,
    it is shared: whoever writes takes a new buffer, and `held` is out of date. Machine code looks
    at the place of the array itself, and finds None until somebody has asked.
    """

    __slots__ = ()

    @property
    def data(self) -> Array | None:
        """The value."""
        found = _here.__get__(self)
        if found is None and self.held is not None:
            found = np.asarray(self.held)
            _here.__set__(self, found)
        return found

    @data.setter
    def data(self, value: Array | None) -> None:
        self.held = None
        _here.__set__(self, value)


def lend(cell: VariableCell, held: Any) -> None:
    """What another library holds is the value of a cell from now on; its lock is held."""
    if type(cell) is VariableCell:
        cell.__class__ = LentCell
    _here.__set__(cell, None)
    cell.held, cell.shared = held, True
    cell.version += 1


def lend_all(cells: Iterable[LentCell], values: Iterable[Any]) -> None:
    """`lend` for cells that are lent already, all in one loop: 19 variables take 10 us less."""
    put = _here.__set__
    for cell, held in zip(cells, values, strict=True):
        put(cell, None)
        cell.held, cell.shared = held, True
        cell.version += 1


def note_lent(cell: VariableCell, held: Any) -> None:
    """Another library holds a copy of the value, which serves until somebody writes."""
    if type(cell) is VariableCell:
        cell.__class__ = LentCell
    cell.held, cell.shared = held, True


def lent(cells: Iterable[VariableCell]) -> list[Array]:
    """The values of cells whose locks are held, without copies; the next writes take new buffers.

    One function for all of them: it is what a program waits for while a checkpoint is taken.
    """
    out: list[Array] = []
    for cell in cells:
        data = cell.data
        if data is None:
            cell._require()
        cell.shared = True
        out.append(data)  # type: ignore[arg-type]
    return out
