"""Where in the user's code something happened."""

from __future__ import annotations

import linecache
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, NamedTuple

from weft._src.core import frames

_hidden = frames.hidden


class Location(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int
    function: str
    calls: Calls | None = None  # how the program got there, where that is kept

    def __str__(self) -> str:
        return f"{self.file}:{self.line}, in {self.function}"

    @property
    def short(self) -> str:
        """File name without its folder, and line."""
        return f"{os.path.basename(self.file)}:{self.line}"

    @property
    def text(self) -> str:
        """The source text of the line, empty if it cannot be had."""
        return linecache.getline(self.file, self.line).strip()


class Calls:
    """The stack of calls that led to a line. Lines are looked up when somebody asks.

    Made for every node of a graph: an entry is the code and the place in it, so nothing that the
    program uses is kept alive. Consecutive frames of Weft are one entry.
    """

    __slots__ = ("_entries", "_found", "_outer", "forward")

    def __init__(
        self,
        entries: list[tuple[CodeType, int]],
        outer: Calls | None,
        forward: Location | None,
    ) -> None:
        self._entries = entries
        self._outer = outer
        self.forward = forward  # what this is the gradient of
        self._found: tuple[Location, ...] | None = None

    @property
    def locations(self) -> tuple[Location, ...]:
        """The user's lines, the outermost call first."""
        if self._found is None:
            calls = [(code, _line(code, place)) for code, place in self._all_entries()]
            mine = [calls[i] for i in frames.users(calls)]
            mine = mine[frames.without_runners([code.co_filename for code, _ in mine]) :]
            self._found = tuple(
                [Location(code.co_filename, line, code.co_name) for code, line in mine]
            )
        return self._found

    def _all_entries(self) -> list[tuple[CodeType, int]]:
        outer = [] if self._outer is None else self._outer._all_entries()
        return [*outer, *reversed(self._entries)]

    def __reduce__(self) -> tuple[Any, ...]:
        return _found_calls, (self.locations, self.forward)


def _found_calls(locations: tuple[Location, ...], forward: Location | None) -> Calls:
    calls = Calls([], None, forward)
    calls._found = locations
    return calls


def _line(code: CodeType, place: int) -> int:
    """The line of an instruction."""
    found = code.co_firstlineno
    for start, end, line in code.co_lines():
        if start <= place < end and line is not None:
            found = line
    return found


class _Tracing(threading.local):
    """Where the trace that is being made began, so that its nodes need not walk further out."""

    frame: FrameType | None = None
    calls: Calls | None = None
    outside: Location | None = None  # the line of the user's code around it, once it was asked for
    forward: Location | None = None


_tracing = _Tracing()


@contextmanager
def beginning_of_trace() -> Iterator[None]:
    """A function is traced inside: stacks of calls have what is outside of it in common."""
    frame = sys._getframe(2)  # that of the `with` statement
    outer = _tracing.frame, _tracing.calls, _tracing.outside
    calls = _calls(frame)[1]
    _tracing.frame, _tracing.calls, _tracing.outside = frame, calls, None
    try:
        yield
    finally:
        _tracing.frame, _tracing.calls, _tracing.outside = outer


def set_forward(location: Location | None) -> Location | None:
    """From now on ops are traced for the gradient of what was traced there; what was set before."""
    before, _tracing.forward = _tracing.forward, location
    return before


def traced_location() -> Location:
    """The innermost line outside of Weft, and the calls that led to it."""
    first, calls = _calls(sys._getframe(1))
    if first is None:
        return _outside()._replace(calls=calls)
    return Location(first.f_code.co_filename, first.f_lineno, first.f_code.co_name, calls)


def _outside() -> Location:
    """Where the user's code is that led to a trace of Weft's own code."""
    if _tracing.calls is None:
        return UNKNOWN
    if _tracing.outside is None:
        _tracing.outside = user_location()
    return _tracing.outside


def _calls(frame: FrameType | None) -> tuple[FrameType | None, Calls]:
    """The innermost frame of the user, and all calls; out to the beginning of the trace."""
    entries: list[tuple[CodeType, int]] = []
    base, first, own = _tracing.frame, None, False
    while frame is not None and frame is not base:
        code = frame.f_code
        file = code.co_filename
        if not file.startswith(_hidden.files):
            if first is None and not file.startswith("<frozen"):
                first = frame
            entries.append((code, frame.f_lasti))
            own = False
        elif not own:
            entries.append((code, 0))
            own = True
        frame = frame.f_back
    outer = _tracing.calls if frame is not None else None
    return first, Calls(entries, outer, _tracing.forward)


UNKNOWN = Location("<unknown>", 0, "<unknown>")


def user_location(*, beyond_libraries: bool = False) -> Location:
    """The innermost line outside of Weft that led to the current call.

    Args:
      beyond_libraries: whether it must not be one of NumPy's or Python's own, which may have asked
        a tensor for its value.
    """
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        file = code.co_filename
        is_hidden = file.startswith((*_hidden.files, "<frozen"))
        if not is_hidden and not (beyond_libraries and frames.is_support(file)):
            return Location(file, frame.f_lineno, code.co_name)
        frame = frame.f_back  # type: ignore[assignment]
    return UNKNOWN


def called_function() -> str:
    """The name of the function of Weft that the user's code called, for errors."""
    frame, name = sys._getframe(1), "This function"
    while frame is not None and frame.f_code.co_filename.startswith(_hidden.files):
        name = frame.f_code.co_name
        frame = frame.f_back  # type: ignore[assignment]
    return name


def called_arguments() -> dict[str, Any]:
    """The arguments of the function of Weft that the user's code called, for errors.

    Of operators there are none: `x * y` has no names that a user would know.
    """
    frame, found = sys._getframe(1), None
    while frame is not None and frame.f_code.co_filename.startswith(_hidden.files):
        found, frame = frame, frame.f_back  # type: ignore[assignment]
    if found is None:
        return {}
    code = found.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {} if "self" in names else {name: found.f_locals.get(name) for name in names}
