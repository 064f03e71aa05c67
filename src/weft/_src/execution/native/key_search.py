"""Machine code that finds keys in tables: of integers, and of bytes objects, which it reads itself.

`lookup/key_index.py` calls it.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from weft._src.execution.native.loops.kernels import (
    int_keys,
    key_tables,
    string_keys,
)
from weft._src.execution.native.machine import llvm, pool, support
from weft._src.execution.native.machine.support import LAYOUT

_log = logging.getLogger("weft")
_loaded: list[llvm.MachineCode] = []  # code lives as long as this

Function = Callable[[int], None]


class KeySearch(NamedTuple):
    """Machine code for keys of one kind; each is given the address of a job."""

    enter: Function
    find: Function


class KeySearches(NamedTuple):
    """Machine code for both kinds of keys."""

    ints: KeySearch
    strings: KeySearch


def load() -> KeySearches | None:
    """The functions, from disk or compiled now; None if machine code cannot run here."""
    if support.reason_off() is not None:
        return None
    text = key_tables.COMMON + int_keys.INTS + string_keys.STRINGS
    for field in ("type", "bytes size", "bytes data"):
        text = text.replace(f"<offset {field}>", str(LAYOUT[field]))
    try:
        pool.start()
        code = llvm.compile_text(text)
    except (OSError, RuntimeError) as error:  # of LLVM: dictionaries are slower, and right
        _log.warning("Tables are searched without machine code: %s", error)
        return None
    _loaded.append(code)
    return KeySearches(_search(code, "ints"), _search(code, "strings"))


def _search(code: llvm.MachineCode, kind: str) -> KeySearch:
    return KeySearch(*[_function(code, f"weft_{what}_{kind}") for what in KeySearch._fields])


def _function(code: llvm.MachineCode, name: str) -> Function:
    # Python's lock is held, so that objects stay what they are while all threads of the pool read.
    prototype: Any = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
    function: Function = prototype(code.address(name))
    return function
