"""Machine code that searches strings: it reads bytes objects and follows the tables of automata.

One module serves all patterns; `ops/strings/pattern_search.py` says what a job holds. Python's lock
is held all the time, so objects stay what they are.
"""

from __future__ import annotations

import ctypes
import logging
import re
from typing import Any

from weft._src.execution.native.job_words import with_job
from weft._src.execution.native.loops.kernels import matching, replacing
from weft._src.execution.native.machine import llvm, support
from weft._src.ops.strings import pattern_search
from weft._src.ops.strings.pattern_search import JOB, Searchers

_log = logging.getLogger("weft")
_PAUSE = 1 << 25  # bytes after which Python gets a chance to look for signals
_loaded: list[llvm.MachineCode] = []  # code lives as long as this


def load() -> Searchers | None:
    """The functions, from disk or compiled now; None if machine code cannot run here."""
    if support.reason_off() is not None:
        return None
    try:
        code = llvm.compile_text(_text())
    except (OSError, RuntimeError) as error:  # of LLVM: the other engines are slower, and right
        _log.warning("Regular expressions run without machine code: %s", error)
        return None
    _loaded.append(code)
    prototype: Any = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
    return Searchers(
        full_match=prototype(code.address("weft_full_match")),
        replace=prototype(code.address("weft_replace")),
    )


def _text() -> str:
    text = matching.LOOK + matching.FULL_MATCH + matching.FIND_END + matching.FIND_START
    text += matching.FIND_GROUPS + replacing.CHARACTER + replacing.REPLACE
    text = re.sub(r"<stop (\w+), ([%\w.]+)>", _stop, with_job(text, JOB))
    return text.replace("<slots>", str(pattern_search.SLOTS)).replace("<pause>", str(_PAUSE))


def _stop(found: re.Match[str]) -> str:
    status = getattr(pattern_search, found[1])
    at = f"i64 {JOB.index('status')}", f"i64 {JOB.index('place')}"
    return (
        f"%stop.status.{status} = getelementptr i64, ptr %job, {at[0]}\n"
        f"store i64 {status}, ptr %stop.status.{status}\n"
        f"%stop.place.{status} = getelementptr i64, ptr %job, {at[1]}\n"
        f"store i64 {found[2]}, ptr %stop.place.{status}"
    )
