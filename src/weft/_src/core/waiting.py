"""What the threads of the process wait for, read from their stacks."""

from __future__ import annotations

import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, thread as executors
from types import CodeType, FrameType
from typing import Any, NamedTuple

# Where a thread waits: the code, and what it waits for out of the local variables there.
_JOIN = threading.Thread.join.__code__
_RESULTS = (
    Future.result.__code__,
    Future.exception.__code__,
)
_GET = queue.Queue.get.__code__
_RUN_FUTURE = executors._WorkItem.run.__code__
_LIBRARY = frozenset(code.co_filename for code in (_JOIN, *_RESULTS, _GET, _RUN_FUTURE))


class Wait(NamedTuple):
    """How a thread waits for a lock: who holds it, and whether that waits for the thread itself."""

    holder: int | None
    holder_name: str
    who: str
    place: str
    is_circular: bool


class Stacks:
    """The stacks of all threads, as they are now."""

    def __init__(self) -> None:
        self._frames = sys._current_frames()
        self._threads = {t.ident: t for t in threading.enumerate()}

    def text(self, ident: int | None) -> str:
        """The stack of a thread, as a traceback shows it."""
        frame = self._frames.get(ident or 0)
        return "" if frame is None else "".join(traceback.format_stack(frame))

    def wait_for(self, lock: Any, waiting: CodeType, holding: CodeType) -> Wait:
        """How the current thread waits for a lock.

        A thread that runs the code `waiting` waits for the local `lock` there; one that runs
        `holding` holds the first `held` of the local `locks`, and calls itself `who`.
        """
        me = threading.get_ident()
        holder, who = self._holder_of(lock, waiting, holding)
        name = self._name(holder)
        frame = self._frames.get(holder or 0)
        place = "" if frame is None else _place(frame)
        seen = {holder}
        awaited = self._awaited_by(holder, waiting, holding)
        while awaited is not None and awaited != me and awaited not in seen:
            seen.add(awaited)
            awaited = self._awaited_by(awaited, waiting, holding)
        return Wait(holder, name, who, place, awaited == me)

    def _name(self, ident: int | None) -> str:
        thread = self._threads.get(ident)
        return "unknown" if thread is None else thread.name

    def _holder_of(self, lock: Any, waiting: CodeType, holding: CodeType) -> tuple[int | None, str]:
        for ident, innermost in self._frames.items():
            for frame in _stack(innermost):
                if frame.f_code is waiting and frame.f_locals.get("lock") is lock:
                    break  # it waits for this lock, too
                if frame.f_code is holding:
                    held = frame.f_locals["locks"][: frame.f_locals.get("held", 0)]
                    if any(one is lock for one in held):
                        return ident, frame.f_locals["who"]
        return None, "an operation"

    def _awaited_by(self, ident: int | None, waiting: CodeType, holding: CodeType) -> int | None:
        """The thread that another one waits for without an end, as far as that can be seen."""
        innermost = self._frames.get(ident or 0)
        if innermost is None:
            return None
        for frame in _stack(innermost):
            code, names = frame.f_code, frame.f_locals
            if code is waiting:
                return self._holder_of(names["lock"], waiting, holding)[0]
            if code in _ENDLESS and names.get("timeout") is None:
                return _ENDLESS[code](self, names["self"], ident)
            if code.co_filename not in _LIBRARY:
                return None
        return None

    def _joined(self, thread: threading.Thread, _ident: int | None) -> int | None:
        return thread.ident

    def _runner_of(self, future: Any, _ident: int | None) -> int | None:
        for ident, innermost in self._frames.items():
            for frame in _stack(innermost):
                if frame.f_code is _RUN_FUTURE and frame.f_locals["self"].future is future:
                    return ident
        return None

    def _feeder_of(self, waited: Any, ident: int | None) -> int | None:
        """The only other thread that knows a queue; None if there are several."""
        knowing = [
            other
            for other, innermost in self._frames.items()
            if other != ident and any(_knows(frame, waited) for frame in _stack(innermost))
        ]
        return knowing[0] if len(knowing) == 1 else None


_ENDLESS: dict[CodeType, Callable[[Stacks, Any, int | None], int | None]] = {
    _JOIN: Stacks._joined,
    _GET: Stacks._feeder_of,
    **dict.fromkeys(_RESULTS, Stacks._runner_of),
}


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of a thread, the innermost first."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def _knows(frame: FrameType, value: Any) -> bool:
    return any(one is value for one in frame.f_locals.values())


def _place(innermost: FrameType) -> str:
    """The line of the user's code in which a thread waits."""
    for frame in _stack(innermost):
        if frame.f_code.co_filename not in _LIBRARY:
            return f"{frame.f_code.co_filename}:{frame.f_lineno}, in {frame.f_code.co_name}"
    return "unknown"
