"""A line on the terminal for those who wait: how far something is, and how long it may take.

    Saving model.ckpt: 45% |#########           | 9/20 [00:03<00:04]

Nothing is written within the first seconds, nor where nobody looks: to files, in notebooks, from
threads in the background.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

_T = TypeVar("_T")
_PATIENCE = 2.0  # seconds after which something is said
_PULSE = 0.25  # seconds between two lines
_BAR = 20  # characters


def is_seen() -> bool:
    """Whether somebody may be waiting in front of a terminal."""
    stream = sys.stderr
    main = threading.current_thread() is threading.main_thread()
    return main and stream is not None and stream.isatty()


def each(items: Iterable[_T], what: str, total: int | None = None) -> Iterable[_T]:
    """The items of something that may take long, one after the other; told on a terminal.

    Args:
      items: what is gone through.
      what: is being done, as a beginning: "Saving model.ckpt".
      total: how many items there are; None if that is not known.
    """
    return _told(items, what, total) if is_seen() else items


def _told(items: Iterable[_T], what: str, total: int | None) -> Iterator[_T]:
    line = _Line(what, total)
    try:
        for done, item in enumerate(items):
            line.show(done)
            yield item
    finally:
        line.clear()


@contextlib.contextmanager
def waiting(what: str) -> Iterator[None]:
    """Something is done inside that does not tell how far it is: the line counts seconds."""
    if not is_seen():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_count, args=(what, done), name="weft-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _count(what: str, done: threading.Event) -> None:
    line = _Line(what, None)
    try:
        while not done.wait(min(_PULSE, _PATIENCE) or 0.001):
            line.show(None)
    finally:
        line.clear()


class _Line:
    """One line, written over and over."""

    def __init__(self, what: str, total: int | None) -> None:
        self._what, self._total = what, total
        self._began = time.perf_counter()
        self._next = self._began + _PATIENCE
        self._length = 0

    def show(self, done: int | None) -> None:
        """Writes how far it is, if it is time."""
        now = time.perf_counter()
        if now < self._next:
            return
        self._next = now + _PULSE
        self._write(self._text(done, now - self._began))

    def _text(self, done: int | None, passed: float) -> str:
        if done is None:
            return f"{self._what}: {_clock(passed)}"
        if not self._total:
            return f"{self._what}: {done} [{_clock(passed)}]"
        share = min(done / self._total, 1.0)
        bar = ("#" * round(share * _BAR)).ljust(_BAR)
        left = _clock(passed / done * (self._total - done)) if done else "?"
        place = f"{done}/{self._total} [{_clock(passed)}<{left}]"
        return f"{self._what}: {share:.0%} |{bar}| {place}"

    def clear(self) -> None:
        """Takes the line away, if there is one."""
        if self._length:
            self._write("")

    def _write(self, text: str) -> None:
        padding = " " * max(self._length - len(text), 0)
        sys.stderr.write(f"\r{text}{padding}" + ("\r" if not text else ""))
        sys.stderr.flush()
        self._length = len(text)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"
