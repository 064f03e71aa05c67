"""What compiling a graph will cost, before it is done and while it goes on.

At first only the graph is known: what costs time are nodes of different kinds, since equal ones
share their code, and products most of all. Once the code is written its length tells more. Measured
on fourteen programs, the first estimate is within a factor of two, and so is the second. How fast
the processor is tells the time that loading the compiler took; what compiling took in this process
so far corrects both.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from weft._src.graph.ir import Graph, Node
from weft._src.ops.worth import is_special

# Seconds on a machine where loading LLVM and the compiler takes so many.
_USUAL_LOADING = _LOADING = 0.055
_COMPILER = "weft._src.execution.native.driver"
_PER_GRAPH, _PER_KIND, _PER_PRODUCT, _PER_NODE = 0.008, 0.0015, 0.009, 0.00004
_PER_SPECIAL = 0.005  # functions like exp
_FIRST_PRODUCT = 0.02  # for what all products share
_PRODUCT = 20_000  # multiplications from which one is no simple loop
_PER_TEXT, _PER_CHARACTER = 0.008, 1.9e-6  # of LLVM, beside a caller
_PER_FUNCTION = 0.003  # of the library, that nobody has called before
_SLOWEST, _FASTEST = 5.0, 0.5  # machines, beside that one
_OVERDUE = 0.25
_STARTING = 0.01  # seconds after which a stage can be judged
_ADVANCING = 0.7  # of the time that passes is spent by the compiler: it need not be waited for


class _Experience:
    """How long compiling takes on this machine, with what else runs on it, against the estimate."""

    def __init__(self) -> None:
        self.factor = 1.0

    def note_loading(self, took: float) -> None:
        """The compiler was loaded, by so much work: before, nothing is known of the machine."""
        self.factor = min(max(took / _USUAL_LOADING, _FASTEST), _SLOWEST)

    def note(self, estimated: float, took: float) -> None:
        """Something was compiled; a single outlier does not change the estimate for good."""
        if estimated > 0.0:
            self.factor = 0.5 * self.factor + 0.5 * min(max(took / estimated, 0.2), 5.0)


experience = _Experience()


def seconds_for(graph: Graph) -> float:
    """What compiling a graph takes, if all goes as usual."""
    kinds: set[Any] = set()
    nodes, products = _collect(graph, kinds)
    special = sum([op.elementwise and is_special(op) for op in {op for op, *_ in kinds}])
    of_nodes = _PER_KIND * len(kinds) + _PER_NODE * nodes + _PER_SPECIAL * special
    of_products = _FIRST_PRODUCT * (products > 0) + _PER_PRODUCT * products
    return _PER_GRAPH + of_nodes + of_products


def _collect(graph: Graph, kinds: set[Any]) -> tuple[int, int]:
    """Adds the kinds of nodes that have code of their own; how many nodes and products there are.

    Those of nested graphs are among them.
    """
    count = products = 0
    for node in graph.body:
        count += 1
        products += _is_product(node)
        kinds.add((node.op, *[(x.dtype, x.spec.dims) for x in node.inputs]))
        for _, inner in node.nested:
            more, more_products = _collect(inner, kinds)
            count, products = count + more, products + more_products
    return count, products


def _is_product(node: Node) -> bool:
    """Whether it is a product that is no simple loop."""
    multiplies = node.op.multiplies
    if multiplies is None:
        return False
    specs = [x.spec for x in node.inputs]
    return int(multiplies(specs, node.outputs[0].spec, **node.attrs)) > _PRODUCT


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
        self.when_code_is_written: Callable[[], None] = lambda: None
        self.code_is_there = threading.Event()  # or nothing more will come

    def begin(self) -> None:
        """Called by the thread that compiles."""
        self.began, self._cpu_before = time.perf_counter(), time.thread_time()
        self._pace_since = (self.began, 0.0)
        if hasattr(time, "pthread_getcpuclockid"):
            self._clock = time.pthread_getcpuclockid(threading.get_ident())

    def code_is_written(self, characters: int, functions: int = 0) -> None:
        """The length of the code, and what it calls, say what LLVM will take."""
        seconds = _PER_TEXT + _PER_CHARACTER * characters + _PER_FUNCTION * functions
        done = self.done
        self.expected = done + seconds * experience.factor
        self.when_code_is_written()
        self.code_is_there.set()
        # To write it took the interpreter, in turns with the caller; LLVM does without.
        self._pace_since = (time.perf_counter(), done)

    def end(self) -> None:
        """It has been done: later estimates are better."""
        experience.note(self._estimated, max(self.done - self._loading, 0.0))
        self._clock = None
        self.code_is_there.set()

    @property
    def is_writing(self) -> bool:
        """Whether it needs the interpreter: the code is being written, and LLVM comes later."""
        return bool(self.began) and not self.code_is_there.is_set()

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
