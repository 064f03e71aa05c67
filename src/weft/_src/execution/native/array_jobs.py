"""Loads the machine code of `core/machine_jobs.py`: functions for arrays of any size.

Python's lock is not held while one runs: it reads and writes arrays that nobody else changes.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.flags import flags
from weft._src.core.machine_jobs import MachineJob
from weft._src.execution.native.job_words import with_job
from weft._src.execution.native.loops.kernels import (
    bands,
    complex_numbers,
    partitions,
    philox_words,
)
from weft._src.execution.native.machine import guarded, llvm, pool, support
from weft._src.execution.native.written_loops import with_loops

Array = np.ndarray[Any, Any]

_log = logging.getLogger("weft")
_ALONE: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_SHARED: Any = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
)

# By the name of a job: makes the text that defines `weft_<name>`, a function of the job and of the
# first part of the work and the one after the last.
TEXTS: dict[str, Callable[[], str]] = {
    name: text
    for module in (bands, complex_numbers, partitions, philox_words)
    for name, text in module.TEXTS.items()
}


class JobFunction:
    """A function of machine code; arrays are given as objects, of which it knows the fields."""

    def __init__(self, code: llvm.MachineCode, name: str, count: int) -> None:
        self._code = code  # lives as long as its function
        self._address = code.address(f"weft_{name}")
        self._function = _ALONE(self._address)
        self._job: Any = ctypes.c_int64 * count

    def __call__(self, words: tuple[Any, ...], count: int, piece: int) -> None:
        """Does `count` parts of the work; threads share it, at least a `piece` for each."""
        if flags.guard_pages:
            self._run_guarded(words, count, piece)
        else:
            self._run(words, count, piece)

    def _run(self, words: tuple[Any, ...], count: int, piece: int) -> None:
        job = self._job(*[word if type(word) is int else _object(word) for word in words])
        place = ctypes.addressof(job)
        if count <= piece:
            self._function(place, 0, count)
        else:
            pool.start()
            _SHARED(pool.address())(self._address, place, count, piece)

    def _run_guarded(self, words: tuple[Any, ...], count: int, piece: int) -> None:
        """With copies of all arrays between pages that nobody may touch."""
        copies = tuple([guarded.guarded(word) for word in words])
        self._run(copies, count, piece)
        for word, copy in zip(words, copies, strict=True):
            if isinstance(word, np.ndarray) and word.flags.writeable:
                word[...] = copy


def _object(array: Array) -> int:
    assert array.flags.c_contiguous, "an array that is not contiguous"
    return id(array)


def load(job: MachineJob) -> None:
    """Hands a job its function, from disk or compiled now; none where machine code cannot run."""
    if support.reason_off() is not None:
        return
    try:
        code = llvm.compile_text(with_job(with_loops(TEXTS[job.name]()), job.words))
    except (OSError, RuntimeError) as error:  # of LLVM: NumPy is slower, and right
        _log.warning("Arrays are worked on without machine code (%s): %s", job.name, error)
        return
    job.take(JobFunction(code, job.name, len(job.words)))
