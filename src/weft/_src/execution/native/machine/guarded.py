"""Memory with a page behind it that nobody may touch: machine code that reads or writes beyond an
array ends the process there and then, where otherwise it would meet whatever lies behind.

For tests and for looking into a suspicion: `WEFT_GUARD_PAGES=end`, or `start` for a page right
before each array. Every input, constant, variable, result, temporary and stack of machine code
compiled while it is set lies in such memory; calls are slow.

    array of 12 bytes:   | unused ... the array |  no access  |
                         a page                 a page
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._src.core.cells import VariableCell
from weft._src.core.flags import flags
from weft._src.execution.native.loops.memory import PAGE
from weft._src.execution.native.loops.values import Value

_NO_ACCESS = 0
_MOST_BYTES = 1 << 30
_libc = ctypes.CDLL(None, use_errno=True)
_api = ctypes.pythonapi


class _Pages(mmap.mmap):
    """Some pages between two that nobody may touch."""

    @classmethod
    def of(cls, nbytes: int) -> _Pages:
        """Pages for so many bytes."""
        inner = -(-max(nbytes, 1) // PAGE) * PAGE
        pages = cls(-1, inner + 2 * PAGE)
        pages.protect(0)
        pages.protect(inner + PAGE)
        return pages

    @property
    def address(self) -> int:
        """Where they begin."""
        return ctypes.addressof(ctypes.c_char.from_buffer(self))

    def place(self, nbytes: int) -> int:
        """The offset of an array that touches the forbidden page behind it, or before it."""
        return PAGE if flags.guard_pages == "start" else len(self) - PAGE - nbytes

    def protect(self, offset: int) -> None:
        """Forbids a page."""
        if _libc.mprotect(ctypes.c_void_p(self.address + offset), PAGE, _NO_ACCESS):
            raise OSError(ctypes.get_errno(), "mprotect")


def can_hold(values: Sequence[Value]) -> bool:
    """Whether results are of a size that is surely there: the others are for NumPy to refuse."""
    return sum(value.size * value.dtype.size for value in values) <= _MOST_BYTES


def empty(shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array in guarded memory; its bytes are those of fresh pages."""
    nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    pages = _Pages.of(nbytes)
    return np.ndarray(tuple(shape), dtype, buffer=pages, offset=pages.place(nbytes))


def guarded(array: Any) -> Any:
    """The array in guarded memory; what is no plain array, or lies there already, stays."""
    if type(array) is not np.ndarray or isinstance(array.base, _Pages):
        return array
    if not array.flags.c_contiguous or array.dtype.hasobject:
        return array
    out = empty(array.shape, array.dtype)
    out[...] = array
    return out


def calls(call: Callable[..., Any]) -> Callable[..., Any]:
    """Machine code that is given all arrays and variables in guarded memory."""

    def guarded_call(*values: Any) -> Any:
        for value in values:
            if isinstance(value, VariableCell) and not value.shared:
                value.data = guarded(value.data)
        return call(*[guarded(v) for v in values])

    return guarded_call


class Allocator:
    """What machine code asks for memory: addresses of `aligned_alloc`, `free` and `array_new`."""

    def __init__(self, scratch_bytes: int, guards: Sequence[int]) -> None:
        """`guards` are the offsets of pages between the buffers of the scratch memory."""
        self._scratch_bytes, self._guards = scratch_bytes, guards
        self._taken: dict[int, _Pages] = {}
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        self._allocate = ctypes.CFUNCTYPE(pointer, size, size)(self._take)
        self._free = ctypes.CFUNCTYPE(None, pointer)(self._give_back)
        self._array_new = ctypes.CFUNCTYPE(
            ctypes.py_object, pointer, pointer, ctypes.c_int, ctypes.POINTER(ctypes.c_ssize_t),
            pointer, pointer, ctypes.c_int, pointer,
        )(_new_array)  # fmt: skip

    def addresses(self) -> dict[str, int]:
        """By the names they have in the context."""
        functions = {"allocate": self._allocate, "free": self._free, "array_new": self._array_new}
        return {
            name: ctypes.cast(function, ctypes.c_void_p).value or 0
            for name, function in functions.items()
        }

    def _take(self, alignment: int, nbytes: int) -> int:
        try:
            pages = _Pages.of(nbytes)
        except OSError:  # machine code has a place where it looks for that, C callbacks have none
            return 0
        is_scratch = nbytes == self._scratch_bytes and bool(self._guards)
        offset = PAGE if is_scratch else pages.place(-(-nbytes // alignment) * alignment)
        for guard in self._guards if is_scratch else ():
            pages.protect(PAGE + guard)
        self._taken[pages.address + offset] = pages
        return pages.address + offset

    def _give_back(self, address: int | None) -> None:
        if address is not None:
            del self._taken[address]


def _new_array(
    kind: int, descr: int, rank: int, dims: Any, strides: int, data: int, flags: int, owner: int
) -> Any:
    """`PyArray_NewFromDescr` for new arrays, which takes over the reference to the dtype."""
    dtype = ctypes.cast(descr, ctypes.py_object).value
    out = empty([dims[i] for i in range(rank)], dtype)
    _api.Py_DecRef(ctypes.py_object(dtype))
    return out
