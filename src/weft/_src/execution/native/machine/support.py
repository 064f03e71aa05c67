"""Whether machine code can run in this process: what it takes for granted, checked at first use.

Machine code reads Python's and NumPy's objects in memory. Where these lie differently, it must not
run at all; the versions that are known are named here, and the objects are looked at as well.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import logging
import os
import struct
import sys
import sysconfig
from typing import Any

import numpy as np

_log = logging.getLogger("weft")

KNOWN_PYTHONS = ((3, 11), (3, 12), (3, 13))
_OLDEST_LLVM = 20  # that of llvmlite 0.45; before, pointers had types
_KNOWN_NUMPY = 2  # the first number of its binary interface

# Where fields lie in objects, in bytes.
LAYOUT = {
    "type": 8,
    "array data": 16,
    "array rank": 24,
    "array sizes": 32,
    "array dtype": 56,
    "array flags": 64,
    "tuple items": 24,
    "bytes size": 16,
    "bytes hash": 24,
    "bytes data": 32,
}
_WORD = struct.calcsize("P")


@functools.cache
def reason_off() -> str | None:
    """Why there is no machine code in this process, None if there is. Logged once."""
    reason = _system() or _python() or _llvm() or _numpy() or _objects()
    if reason is not None:
        _log.warning("The native tier is off, all functions run on NumPy: %s", reason)
    return reason


def array_functions() -> Any:
    """The table of NumPy's C functions."""
    capsule = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return (ctypes.c_void_p * 305).from_address(pointer_of(capsule, None))


def _system() -> str | None:
    if os.name != "posix":
        return f"it is written for POSIX systems, and this one is {os.name!r}"
    if not hasattr(os, "register_at_fork"):
        return "this Python has no os.register_at_fork, and LLVM must not be at work during a fork"
    if _WORD != 8:
        return f"it needs a process of 64 bits, and this one has {8 * _WORD}"
    if not hasattr(ctypes.CDLL(None), "aligned_alloc"):
        return "the C library of this system has no aligned_alloc"
    return None


def _python() -> str | None:
    """The layout of objects is not part of Python's stable interface: it depends on the version."""
    known = ", ".join([f"{major}.{minor}" for major, minor in KNOWN_PYTHONS])
    name, version = sys.implementation.name, sys.version_info[:2]
    if name != "cpython" or version not in KNOWN_PYTHONS:
        return (
            f"the objects of {name} {version[0]}.{version[1]} are not known to it, "
            f"those of CPython {known} are"
        )
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "the objects of a Python without a global lock are not known to it"
    return None


def _llvm() -> str | None:
    try:
        llvm = importlib.import_module("llvmlite.binding")
    except (ImportError, OSError) as error:
        return f"llvmlite cannot be imported: {type(error).__name__}: {error}"
    version = llvm.llvm_version_info
    if version[0] < _OLDEST_LLVM:
        return f"LLVM {version[0]} does not know its code; llvmlite 0.45 or later is needed"
    return None


def _numpy() -> str | None:
    table = array_functions()
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(table[0])() >> 24  # PyArray_GetNDArrayCVersion
    if version != _KNOWN_NUMPY:
        return (
            f"the binary interface of NumPy {np.__version__} has the version {version}, "
            f"and {_KNOWN_NUMPY} is known to it"
        )
    return None if table[2] == id(np.ndarray) else "NumPy's table of C functions is another one"


def _objects() -> str | None:
    """Looks at objects whose contents are known; follows a pointer only if all else is right."""
    array = np.zeros((2, 3), np.float32)
    items, data = (object(), object()), b"more than eight bytes"
    wanted: list[tuple[str, Any, int]] = [
        ("type", array, id(np.ndarray)),
        ("array data", array, array.ctypes.data),
        ("array rank", array, array.ndim),
        ("array dtype", array, id(array.dtype)),
        ("array flags", array, array.flags.num),
        ("tuple items", items, id(items[0])),
        ("bytes size", data, len(data)),
        ("bytes hash", data, hash(data) % 2**64),
        ("bytes data", data, int.from_bytes(data[:_WORD], sys.byteorder)),
    ]
    for field, value, contents in wanted:
        if not _holds(field, value, contents):
            kind = type(value).__name__
            return f"a {kind} has something else where it expects its {field.split()[-1]}"
    sizes = ctypes.c_void_p.from_address(id(array) + LAYOUT["array sizes"]).value
    if sizes is None or tuple((ctypes.c_ssize_t * 2).from_address(sizes)) != array.shape:
        return "an ndarray has something else where it expects its sizes"
    return None


def _holds(field: str, value: Any, contents: int) -> bool:
    """Whether a field of an object begins with this number; rank and flags have four bytes."""
    size = 4 if field in ("array rank", "array flags") else _WORD
    offset = LAYOUT[field]
    if offset + size > value.__sizeof__():
        return False
    found = ctypes.string_at(id(value) + offset, size)
    return int.from_bytes(found, sys.byteorder) == contents
