"""Machine code that reads serialized Examples: it walks over the bytes objects themselves.

Python's lock is held all the time, so objects stay what they are.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.execution.native.job_words import with_job
from weft._src.execution.native.loops.kernels import reading, wire_lists
from weft._src.execution.native.machine import llvm, support

Array = np.ndarray[Any, Any]

# The words of a job, which is all that machine code is given.
JOB = (
    "objects", "at", "stop", "bytes type", "names", "kinds", "wanted", "table", "outputs",
    "output ends", "new bytes", "decref",
)  # fmt: skip

_log = logging.getLogger("weft")
_NOTHING: Array = np.empty(0, np.int64)
_SMALL, _LARGE = 1 << 10, 1 << 20  # words of a table that is kept
_BLOCK = 1 << 23  # bytes
_AT_ONCE = 1 << 12  # examples, then Python looks for signals and other threads


class ExampleReader:
    """Functions of machine code: one finds lists, one copies their values."""

    def __init__(self, code: llvm.MachineCode) -> None:
        self._code = code  # lives as long as its functions
        prototype: Any = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
        self.scan = prototype(code.address("weft_scan"))
        self.fill = prototype(code.address("weft_fill"))

    def columns(
        self, names: Sequence[bytes], kinds: Sequence[int], dtypes: Sequence[Any]
    ) -> ColumnReader:
        """Reads the features of these names, at least one.

        Args:
            names: Of the features.
            kinds: The field of a Feature that holds the list: 1 is bytes, 2 float32, 3 int64.
            dtypes: Of the arrays.
        """
        return ColumnReader(self, names, kinds, dtypes)


class ColumnReader:
    """Reads some features of examples."""

    def __init__(
        self,
        reader: ExampleReader,
        names: Sequence[bytes],
        kinds: Sequence[int],
        dtypes: Sequence[Any],
    ) -> None:
        self._reader, self._dtypes = reader, dtypes
        # With a byte more, so that even an empty name lies somewhere.
        texts = [np.frombuffer(name + b"\0", np.uint8) for name in names]
        places = np.array([(t.ctypes.data, len(t) - 1) for t in texts], np.int64)
        numbers = np.array(kinds, np.int64)
        self._kept = (texts, places, numbers)
        self._sizes = np.array([np.dtype(dtype).itemsize for dtype in dtypes], np.int64)
        self._spare = _NOTHING  # the table of the call before: fresh pages cost more than the scan
        self._job = np.zeros(len(JOB), np.int64)
        self._set(self._job, "bytes type", id(bytes))
        self._set(self._job, "names", places.ctypes.data)
        self._set(self._job, "kinds", numbers.ctypes.data)
        self._set(self._job, "wanted", len(names))
        api = ctypes.pythonapi
        for word, function in (
            ("new bytes", api.PyBytes_FromStringAndSize),
            ("decref", api.Py_DecRef),  # of what stands in a new array, which may be null
        ):
            self._set(self._job, word, ctypes.cast(function, ctypes.c_void_p).value or 0)

    @staticmethod
    def _set(job: Array, word: str, value: int) -> None:
        job[JOB.index(word)] = value

    def read(self, strings: Array) -> tuple[Array, list[Array]] | None:
        """How many values each example has of each feature (-1: it is not there), and all values.

        Args:
            strings: A contiguous vector of objects.

        Returns:
            Counts, a row for each feature, and values. None if anything is unusual: malformed, of
            another kind, or only rare.
        """
        size = len(strings) * len(self._dtypes) * 3
        table, self._spare = self._spare, _NOTHING  # so that nobody else has it
        if not size <= len(table) <= 4 * size + _SMALL:
            table = np.empty(size, np.int64)
        found = self._read(strings, table[:size].reshape(len(strings), len(self._dtypes), 3))
        if len(table) <= _LARGE:
            self._spare = table
        return found

    def _read(self, strings: Array, table: Array) -> tuple[Array, list[Array]] | None:
        job = self._job.copy()
        self._set(job, "objects", strings.ctypes.data)
        self._set(job, "table", table.ctypes.data)
        if not self._run(self._reader.scan, job, len(strings)):
            return None
        counts = np.ascontiguousarray(table[:, :, 2].T)
        totals = np.maximum(counts, 0).sum(axis=1)
        values = [np.empty(n, d) for n, d in zip(totals.tolist(), self._dtypes, strict=True)]
        outputs = np.array([array.ctypes.data for array in values], np.int64)
        ends = outputs + totals * self._sizes
        self._set(job, "outputs", outputs.ctypes.data)
        self._set(job, "output ends", ends.ctypes.data)
        return (counts, values) if self._run(self._reader.fill, job, len(strings)) else None

    def _run(self, function: Any, job: Array, count: int) -> bool:
        for at in range(0, count, _AT_ONCE):
            self._set(job, "at", at)
            self._set(job, "stop", min(at + _AT_ONCE, count))
            if not function(job.ctypes.data):
                return False
        return True


def load() -> ExampleReader | None:
    """The functions, from disk or compiled now; None if machine code cannot run here."""
    if support.reason_off() is not None:
        return None
    text = wire_lists.WALK + wire_lists.COUNT + wire_lists.COPY + reading.NAMED
    text += reading.FEATURE + reading.EXAMPLE + reading.SCAN + reading.FILL
    # glibc keeps freed memory only up to twice the largest block it has seen; the fresh pages of
    # each call would cost as much as filling them. Nobody touches this one, so it costs nothing.
    np.empty(_BLOCK, np.uint8)
    try:
        return ExampleReader(llvm.compile_text(with_job(text, JOB)))
    except (OSError, RuntimeError) as error:  # of LLVM: Python is slower, and right
        _log.warning("Examples are parsed without machine code: %s", error)
        return None
