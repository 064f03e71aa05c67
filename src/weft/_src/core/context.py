"""What the current thread is doing: which graph is being built, which tapes are recording.

On the hot path of every eager op. `state.mode` folds both questions into one integer that is 0
when neither is the case (one attribute read, about 65 ns, instead of two).
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

GRAPH = 1
TAPE = 2
CHECK = 4  # tf.debugging.enable_check_numerics
DEVICE = 8  # tf.device of another device than the host

# The full name of the device that everything is on of which nothing else is said.
HOST = "/job:localhost/replica:0/task:0/device:CPU:0"


class GraphBuilder(Protocol):
    """What lower layers need of a graph under construction (see weft.graph)."""

    name: str
    is_function: bool  # and not a branch or the body of a loop
    overrides: Any  # other gradients of ops that are added, by their types

    def overridden(self, op: Any) -> Any:
        """The op that is added, with the gradient that is wanted of it."""

    def add_op(self, op: Any, inputs: tuple[Any, ...], attrs: dict[str, Any], name: str) -> Any:
        """Adds a node and returns its output tensors."""

    def capture(self, tensor: Any) -> Any:
        """The tensor that stands in this graph for one from outside."""


class Tape(Protocol):
    """What lower layers need of a gradient tape (see weft.autodiff)."""

    repeatedly: bool  # whether it differentiates gradients even if nothing else records

    def record(self, op: Any, inputs: Any, attrs: dict[str, Any], outputs: Any) -> None:
        """Notes one executed op."""

    def record_pair(self, op: Any, x: Any, y: Any, out: Any) -> None:
        """The same for an operator on two eager tensors."""

    def left(self, tensor: Any) -> None:
        """Notes that a tensor's value was taken out, as a NumPy array or a Python number."""


class State(threading.local):
    """One per thread. Changed only through the context managers below."""

    def __init__(self) -> None:
        self.mode: int = 0
        self.graph: Any = None
        self.tapes: tuple[Any, ...] = ()
        # Called with each op and its outputs, if something wants to see all of them.
        self.checker: Callable[[Any, Any], None] | None = None
        self.name_scope: str = ""
        # The name of the device that was asked for, None where nothing was said; and whether
        # that is another one than the host.
        self.device: str | None = None
        self.is_elsewhere = False
        # What a variable created now has to ask; None means that creating it is an ordinary thing.
        self.variable_creation: Any = None
        # What steps in when a variable is created, the innermost last (tf.variable_creator_scope).
        self.variable_creators: tuple[Callable[..., Any], ...] = ()


state = State()


def _set(graph: Any, tapes: tuple[Any, ...]) -> None:
    state.graph = graph
    state.tapes = tapes
    state.mode = (GRAPH if graph is not None else 0) | (TAPE if tapes else 0)
    if state.checker is not None:
        state.mode |= CHECK
    if state.is_elsewhere:
        state.mode |= DEVICE


def set_checker(checker: Callable[[Any, Any], None] | None) -> None:
    """From now on the checker sees the outputs of every op of this thread; None stops it."""
    state.checker = checker
    _set(state.graph, state.tapes)


@contextlib.contextmanager
def building(graph: Any) -> Iterator[None]:
    """Ops called inside are added to `graph`; None switches back to eager execution.

    Tapes that were recording outside do not see what happens inside. A function leaves open where
    it runs: that is decided where it is called.
    """
    outer, tapes, scope = state.graph, state.tapes, state.name_scope
    device = state.device, state.is_elsewhere
    if graph is not None and graph.is_function:
        state.device, state.is_elsewhere = None, False
    _set(graph, ())
    state.name_scope = ""
    try:
        yield
    finally:
        state.name_scope = scope
        state.device, state.is_elsewhere = device
        _set(outer, tapes)


def set_device(device: str | None, is_elsewhere: bool) -> None:
    """From now on ops of this thread are meant for a device, which may be another than the host."""
    state.device, state.is_elsewhere = device, is_elsewhere
    _set(state.graph, state.tapes)


@contextlib.contextmanager
def recording(tapes: tuple[Any, ...]) -> Iterator[None]:
    """Exactly these tapes are told of the ops called inside."""
    outer = state.tapes
    _set(state.graph, tapes)
    try:
        yield
    finally:
        _set(state.graph, outer)


@contextlib.contextmanager
def creating_variables(policy: Any) -> Iterator[None]:
    """Variables created inside are reported to `policy`."""
    outer = state.variable_creation
    state.variable_creation = policy
    try:
        yield
    finally:
        state.variable_creation = outer


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Ops called inside run at once, outside of every graph and tape.

    Returns:
      A context manager. Variables created inside are not those of a function that is being traced.

    >>> with tf.init_scope():
    ...     print(tf.executing_eagerly())
    True
    """
    with building(None), recording(()), creating_variables(None):
        yield


def inside_function() -> bool:
    """Whether a function is being traced, or a graph built by hand.

    Returns:
      A bool, the opposite of `tf.executing_eagerly()`.

    >>> tf.inside_function()
    False
    """
    return state.graph is not None


def push_tape(tape: Any) -> None:
    """Starts telling `tape` of ops."""
    _set(state.graph, (*state.tapes, tape))


def pop_tape(tape: Any) -> None:
    """Stops telling `tape` of ops."""
    _set(state.graph, tuple([t for t in state.tapes if t is not tape]))


def recording_repeatedly() -> bool:
    """Whether gradients of gradients may be wanted of what runs now, while tapes record."""
    return len(state.tapes) > 1 or state.tapes[0].repeatedly


def executing_eagerly() -> bool:
    """Whether ops run at once, instead of being added to a graph.

    Returns:
      A bool; False while a function is traced and in `with tf.Graph().as_default():`.

    >>> tf.executing_eagerly()
    True
    """
    return state.graph is None


# NumPy keeps its floating-point error state in a context variable. Kernels run in a copy of a
# context in which it is "ignore": entering it costs 0.25 us where np.errstate costs 2.3 us, and
# the user's own setting is left alone. A copy, because one context cannot be entered twice.
_quiet = contextvars.copy_context()
_quiet.run(np.seterr, all="ignore")
quiet_context: Callable[[], contextvars.Context] = _quiet.copy
