"""Tracebacks that show the user's frames and hide those of Weft.

A frame adds itself to a traceback when an exception leaves it, so frames can be taken out only
further out than they are. This happens in two places:

- Where the user's code calls into what is deep: functions, ops, operators, tapes, datasets, loops.
  They catch what comes out (free unless something does), call `hide_own_frames` and raise it again
  with a bare `raise`, which does not add their own frame either.
- Where a traceback is shown (`core/showing_tracebacks.py`): all other frames of Weft, such as that
  of `tf.reshape` around its op. Wrapping every public function and method instead would cost each
  call 0.17 us, and come between users and their code.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, TypeVar

from weft._src.core import frames

F = TypeVar("F", bound=Callable[..., Any])
_OFF = ("0", "false", "off", "no")


class _Setting(threading.local):
    def __init__(self) -> None:
        wanted = os.environ.get("WEFT_TRACEBACK_FILTERING", "1")
        self.filtering = wanted.strip().lower() not in _OFF


setting = _Setting()


def hide_own_frames(error: BaseException) -> None:
    """Takes Weft's frames out of the traceback of an exception, and of those that led to it."""
    if setting.filtering:
        for each in _with_causes(error):
            each.__traceback__ = users_part(each.__traceback__)


def hide_before_showing(error: BaseException) -> None:
    """The same for an exception that goes no further: one without frames of the user stays."""
    if setting.filtering and users_part(error.__traceback__) is not None:
        hide_own_frames(error)


def hides_own_frames(function: F) -> F:
    """Decorates what calls functions of the user, too rarely for the wrapper to matter."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            hide_own_frames(error)
            raise

    # Errors that name the function which the user called look at the code of frames.
    code = call.__code__  # type: ignore[attr-defined]
    names = {"co_name": function.__name__, "co_qualname": function.__qualname__}
    call.__code__ = code.replace(**names)  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def users_part(trace: TracebackType | None) -> TracebackType | None:
    """The traceback with the user's frames only; the given one does not change."""
    entries = list(_entries(trace))
    kept = frames.users([(entry.tb_frame.f_code, entry.tb_lineno) for entry in entries])
    if len(kept) == len(entries):
        return trace
    rest: TracebackType | None = None
    for i in reversed(kept):
        entry = entries[i]
        rest = TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return rest


def _entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    """The exception, what it was raised from, and the members of groups; each once."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        found = waiting.pop()
        if found is None or id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        waiting += (found.__cause__, found.__context__)
        if isinstance(found, BaseExceptionGroup):
            waiting += found.exceptions
