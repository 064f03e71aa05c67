"""The functions of the user that a trace has run, in the order in which they were met."""

from __future__ import annotations

import contextlib
import inspect
import threading
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from weft._src.core.frames import is_own


class Met(NamedTuple):
    """A function, and the instance if it was called as a method.

    What it calls is met too, unless it runs as it is, without being converted.
    """

    function: types.FunctionType
    instance: Any
    as_it_is: bool = False


class Collection:
    """What one trace has met: functions, and the traces of other functions that it calls."""

    def __init__(self) -> None:
        self.functions: list[Met] = []
        self.traces: list[Any] = []


class _Collecting(threading.local):
    now: Collection | None = None


_collecting = _Collecting()


@contextlib.contextmanager
def collecting() -> Iterator[Collection]:
    """A function is traced inside; what is returned fills up meanwhile."""
    outer, _collecting.now = _collecting.now, Collection()
    try:
        yield _collecting.now
    finally:
        _collecting.now = outer


def note(function: types.FunctionType, instance: Any = None) -> None:
    """A function of the user is about to run; nothing is noted where no trace is made."""
    if _collecting.now is not None:
        _collecting.now.functions.append(Met(function, instance))


def note_trace(concrete: Any) -> None:
    """The trace of another function is about to be called."""
    if _collecting.now is not None:
        _collecting.now.traces.append(concrete)


def note_unconverted(function: Any) -> None:
    """A function runs as it is, and nobody is told what it calls."""
    function = inspect.unwrap(function)
    function = function.__func__ if isinstance(function, types.MethodType) else function
    if _collecting.now is None or not isinstance(function, types.FunctionType):
        return
    if not is_own(function.__code__):
        _collecting.now.functions.append(Met(function, None, as_it_is=True))
