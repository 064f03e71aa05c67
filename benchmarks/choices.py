"""Default mode beside the two choices it has: NumPy for ever, and compiling at the first call.

However often a function is called, all calls together should take at most twice as long as with the
better choice. Fresh processes with empty caches in turns; the median of some rounds. The row shows
the worst number of calls of a program.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.curves.measuring import timed
from benchmarks.harness import Peers, Row, microseconds
from benchmarks.programs import PROGRAMS, Program

_MARKS = (1, 3, 10, 30, 100, 300, 1_000, 10_000)
_MODES = ("auto", "numpy", "native")
_ROUNDS, _LIMIT = 3, 4.0  # processes of each mode, and seconds of calls in each


def run(peers: Peers) -> list[Row]:
    """A row for each program."""
    return [_row(program) for program in PROGRAMS]


def _row(program: Program) -> Row:
    seconds: dict[str, list[list[float]]] = {mode: [] for mode in _MODES}
    for _ in range(_ROUNDS):
        for mode in _MODES:
            with _execution(mode):
                told = timed(program, "weft", sys.executable, _MARKS, _LIMIT)
            seconds[mode].append([told.cell(mark, with_import=False).seconds for mark in _MARKS])
    medians = {
        mode: [statistics.median(column) for column in zip(*rounds, strict=True)]
        for mode, rounds in seconds.items()
    }
    best = [min(pair) for pair in zip(medians["numpy"], medians["native"], strict=True)]
    ratios = [mine / choice for mine, choice in zip(medians["auto"], best, strict=True)]
    worst = max(range(len(_MARKS)), key=lambda i: ratios[i])
    shown = ", ".join(f"{mode} {microseconds(medians[mode][worst])}" for mode in _MODES)
    name = f"default mode / the better choice: {program.title}"
    return Row(name, ratios[worst], "<= 2", f"worst at {_MARKS[worst]:,} calls: {shown}")


@contextmanager
def _execution(mode: str) -> Iterator[None]:
    """Processes started meanwhile run functions in this way."""
    before = os.environ.get("WEFT_EXECUTION")
    os.environ["WEFT_EXECUTION"] = mode
    try:
        yield
    finally:
        if before is None:
            del os.environ["WEFT_EXECUTION"]
        else:
            os.environ["WEFT_EXECUTION"] = before
