"""What compiling a graph will cost, before it is done and while it goes on.

At first only the graph is known: what costs time are nodes of different kinds, since equal ones
share their code. Once the code is written its length tells more. Measured on fourteen programs, the
first estimate is within a factor of three, the second of two; what compiling took in this process
so far corrects both.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

from weft._src.graph.ir import Graph

_LOADING = 0.15  # seconds until LLVM and the compiler are there
_COMPILER = "weft._src.execution.native.driver"
_PER_GRAPH, _PER_KIND, _PER_NODE = 0.03, 0.007, 0.00013
_PER_CHARACTER, _CHARACTERS_OF_ANY = 5e-6, 6_000  # LLVM's seconds, for what is beyond the usual
_PER_FUNCTION = 0.015  # of the library, that nobody has called before
_OVERDUE = 0.25
_STARTING = 0.01  # seconds after which a stage can be judged
_ADVANCING = 0.7  # of the time that passes is spent by the compiler: it need not be waited for


class _Experience:
    """How long compiling takes on this machine, with what else runs on it, against the estimate."""

    def __init__(self) -> None:
        self.factor = 1.0

    def note(self, estimated: float, took: float) -> None:
        """Something was compiled; a single outlier does not change the estimate for good."""
        if estimated > 0.0:
            self.factor = 0.5 * self.factor + 0.5 * min(max(took / estimated, 0.2), 5.0)


experience = _Experience()


def seconds_for(graph: Graph) -> float:
    """What compiling a graph takes, if all goes as usual."""
    kinds: set[Any] = set()
    nodes = _collect(graph, kinds)
    return _PER_GRAPH + _PER_KIND * len(kinds) + _PER_NODE * nodes


def _collect(graph: Graph, kinds: set[Any]) -> int:
    """Adds the kinds of nodes that have code of their own; the number of nodes, nested included."""
    count = 0
    for node in graph.body:
        count += 1
        kinds.add((node.op, *[(x.dtype, x.spec.dims) for x in node.inputs]))
        count += sum([_collect(inner, kinds) for _, inner in node.nested])
    return count


class Compilation:
    """One compilation: what it is expected to take, and how far it is."""

    def __init__(self, seconds: float) -> None:
        self._estimated = seconds
        self._loading = 0.0 if _COMPILER in sys.modules else _LOADING
        self.expected = seconds * experience.factor + self._loading
        self._clock: int | None = None  # that of the thread that compiles
        self._cpu_before = self.began = 0.0
        self._pace_since = (
            0.0,
            0.0,
        )  # when the stage began that goes on, and what was done by then
        self._process = os.getpid()

    def begin(self) -> None:
        """Called by the thread that compiles."""
        self.began, self._cpu_before = time.perf_counter(), time.thread_time()
        self._pace_since = (self.began, 0.0)
        if hasattr(time, "pthread_getcpuclockid"):
            self._clock = time.pthread_getcpuclockid(threading.get_ident())

    def code_is_written(self, characters: int, functions: int = 0) -> None:
        """The length of the code, and what it calls, say what LLVM will take."""
        length = max(0, characters - _CHARACTERS_OF_ANY)
        seconds = _PER_CHARACTER * length + _PER_FUNCTION * functions
        done = self.done
        self.expected = done + seconds * experience.factor
        # To write it took the interpreter, in turns with the caller; LLVM does without.
        self._pace_since = (time.perf_counter(), done)

    def end(self) -> None:
        """It has been done: later estimates are better."""
        experience.note(self._estimated, max(self.done - self._loading, 0.0))
        self._clock = None

    @property
    def is_lost(self) -> bool:
        """Whether this is a forked process, in which nobody goes on with it."""
        return self._process != os.getpid()

    @property
    def done(self) -> float:
        """Seconds of work so far."""
        clock = self._clock  # looked at once: the thread that compiles may end it meanwhile
        return 0.0 if clock is None else time.clock_gettime(clock) - self._cpu_before

    @property
    def left(self) -> float:
        """Seconds of work that are still to be done.

        What takes longer than was thought goes on for a while: a part of what it took so far.
        """
        done = self.done
        return max(self.expected - done, _OVERDUE * done)

    @property
    def advances(self) -> bool:
        """Whether the compiler gets to work although nobody waits for it."""
        since, done_before = self._pace_since
        passed = time.perf_counter() - since - _STARTING
        return self._clock is not None and self.done - done_before >= _ADVANCING * passed
