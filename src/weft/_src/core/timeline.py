"""What happened when: traces, compilations and calls, for those who watch.

Nothing is noted while nobody does: a look at one attribute for each trace and compilation.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

from weft._src.core.location import Location

_MOST_EVENTS = 100_000


class Event(NamedTuple):
    """Something that took time: a "trace", a "compile" or a "call"."""

    kind: str
    name: str
    start: float  # seconds since the watch began
    seconds: float
    where: str  # the line of the user's program, as file:line
    detail: str
    thread: str


class Timeline:
    """The events of one watch, the oldest first; those beyond a limit are only counted."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.events: list[Event] = []
        self.left_out = 0

    def note(
        self, kind: str, name: str, started: float, location: Location | None, detail: str = ""
    ) -> None:
        """Something has just ended; `started` is what `time.perf_counter` said at its start."""
        if len(self.events) >= _MOST_EVENTS:
            self.left_out += 1
            return
        took = time.perf_counter() - started
        where = "" if location is None else f"{location.file}:{location.line}"
        thread = threading.current_thread().name
        self.events.append(Event(kind, name, started - self.began, took, where, detail, thread))


class _Watching:
    timeline: Timeline | None = None


_watching = _Watching()


@contextlib.contextmanager
def watching() -> Iterator[Timeline]:
    """What happens inside is noted, on all threads."""
    outer, _watching.timeline = _watching.timeline, Timeline()
    try:
        yield _watching.timeline
    finally:
        _watching.timeline = outer


def note(kind: str, name: str, started: float, location: Location | None, detail: str = "") -> None:
    """Notes an event, if somebody watches."""
    timeline = _watching.timeline
    if timeline is not None:
        timeline.note(kind, name, started, location, detail)
