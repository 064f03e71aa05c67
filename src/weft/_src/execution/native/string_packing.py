"""Machine code that reads and makes bytes objects; `ops/strings/packed.py` calls it."""

from __future__ import annotations

import ctypes
import logging
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.execution.native.job_words import with_job
from weft._src.execution.native.loops.kernels import (
    base64_letters,
    number_reading,
    number_writing,
    packing,
    string_making,
    string_objects,
    string_splitting,
)
from weft._src.execution.native.machine import llvm, support
from weft._src.execution.native.written_loops import with_loops
from weft._src.ops.strings.packed import JOB, Group, Packers

Array = np.ndarray[Any, Any]

_log = logging.getLogger("weft")
_loaded: list[llvm.MachineCode] = []  # code lives as long as this
_GROUPS: dict[Group, tuple[Any, ...]] = {
    "packing": (packing, number_reading),
    "making": (string_making, string_splitting, base64_letters),
    "writing": (number_writing,),
}


def text(group: Group) -> str:
    """The module of a group, as LLVM takes it."""
    parts = [string_objects.LOOK, string_objects.COPY, string_objects.MAKE]
    parts += [string_objects.functions(kernels)[1] for kernels in _GROUPS[group]]
    return with_job(with_loops("\n".join(parts)), JOB)


def load(group: Group) -> Packers | None:
    """The functions of a group, from disk or compiled now; None if machine code cannot run here."""
    if support.reason_off() is not None:
        return None
    try:
        code = llvm.compile_text(text(group))
    except (OSError, RuntimeError) as error:  # of LLVM: Python is slower, and right
        _log.warning("Strings are packed without machine code: %s", error)
        return None
    _loaded.append(code)
    prototype: Any = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
    names = [name for kernels in _GROUPS[group] for name in string_objects.functions(kernels)[0]]
    functions = {name: prototype(code.address(f"weft_{name}")) for name in names}
    return Packers(_maker_of_arrays(), _allocator(), functions)


def _maker_of_arrays() -> Callable[[int], Array]:
    """A function that makes arrays of objects with nothing in them, not even None.

    NumPy counts the references to None for each element, and so would whoever puts others there:
    a quarter of the time that making the others takes.
    """
    pointer = ctypes.c_void_p
    prototype: Any = ctypes.PYFUNCTYPE(
        ctypes.py_object, pointer, pointer, ctypes.c_int, ctypes.POINTER(ctypes.c_ssize_t),
        pointer, pointer, ctypes.c_int, pointer,
    )  # fmt: skip
    new = prototype(support.array_functions()[94])  # PyArray_NewFromDescr
    dtype = np.dtype(object)

    def empty(count: int) -> Array:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))  # which the array takes over
        size = ctypes.c_ssize_t(count)
        made: Array = new(id(np.ndarray), id(dtype), 1, ctypes.byref(size), None, None, 0, None)
        return made

    return empty


def _allocator() -> int:
    """Where Python's allocator of objects is; 0 if a new bytes object is not what is expected.

    That is a reference, the type, the size, and a hash that is not known yet. A Python that counts
    all references would miss those of objects that it has not made.
    """
    if hasattr(sys, "gettotalrefcount"):
        return 0
    api: Any = ctypes.PyDLL(None)  # functions of their own, as types of arguments are set
    api.PyBytes_FromStringAndSize.restype = ctypes.c_void_p
    api.PyBytes_FromStringAndSize.argtypes = [ctypes.c_char_p, ctypes.c_ssize_t]
    api.Py_DecRef.argtypes = [ctypes.c_void_p]
    text = b"a new object"
    object_ = api.PyBytes_FromStringAndSize(text, len(text))
    head = tuple((ctypes.c_int64 * 4).from_address(object_))
    api.Py_DecRef(object_)
    if head != (1, id(bytes), len(text), -1):
        return 0
    return ctypes.cast(api.PyObject_Malloc, ctypes.c_void_p).value or 0
