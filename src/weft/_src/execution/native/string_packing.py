"""Machine code that reads and makes bytes objects; `ops/strings/packed.py` calls it."""

from __future__ import annotations

import ctypes
import logging
from typing import Any

from weft._src.execution.native.job_words import with_job
from weft._src.execution.native.loops.kernels import packing
from weft._src.execution.native.machine import llvm, support
from weft._src.ops.strings.packed import JOB, Packers

_log = logging.getLogger("weft")
_loaded: list[llvm.MachineCode] = []  # code lives as long as this


def load() -> Packers | None:
    """The functions, from disk or compiled now; None if machine code cannot run here."""
    if support.reason_off() is not None:
        return None
    try:
        code = llvm.compile_text(with_job(packing.TEXT, JOB))
    except (OSError, RuntimeError) as error:  # of LLVM: Python is slower, and right
        _log.warning("Strings are packed without machine code: %s", error)
        return None
    _loaded.append(code)
    prototype: Any = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
    return Packers(*[prototype(code.address(f"weft_{name}")) for name in Packers._fields])
