"""Shorter turns of threads, while one works in the background for another that calls functions.

A thread that wants Python's lock waits 5 ms for it as long as another one computes, and gives it
away whenever it reads a file. So loading sixty modules beside a busy caller takes a second; with
short turns it takes twice its own time, and the caller loses no more than that.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SHORT = 0.0005  # seconds; shorter ones cost the caller more than they gain
_MOMENT = 0.00005  # as long as LLVM works, which needs the lock a few dozen times, for moments

_lock = threading.Lock()
_users = 0
_before = _during = 0.0  # the interval of the program, and that of now


@contextmanager
def short_turns() -> Iterator[None]:
    """Inside of it all threads have short turns; an interval that is set meanwhile stays."""
    global _users, _before, _during  # noqa: PLW0603 - there is one interval in a process
    with _lock:
        if not _users:
            _before = sys.getswitchinterval()
            _during = _set(min(_SHORT, _before))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users and sys.getswitchinterval() == _during:
                sys.setswitchinterval(_before)


def moments_only() -> None:
    """Makes short turns shorter still until they end: who works hardly needs the lock."""
    global _during  # noqa: PLW0603
    with _lock:
        if _users and sys.getswitchinterval() == _during:
            _during = _set(min(_MOMENT, _during))


def _set(seconds: float) -> float:
    """Sets the interval; what it is then, as Python rounds it."""
    sys.setswitchinterval(seconds)
    return sys.getswitchinterval()


def _after_fork() -> None:
    """The child has no thread in the background that would end its short turns."""
    global _lock, _users  # noqa: PLW0603
    _lock = threading.Lock()
    if _users:
        _users = 0
        sys.setswitchinterval(_before)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
