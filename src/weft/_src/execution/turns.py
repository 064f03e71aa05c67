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

_lock = threading.Lock()
_users = 0
_before = 0.0


@contextmanager
def short_turns() -> Iterator[None]:
    """Inside of it all threads have short turns; an interval that is set meanwhile stays."""
    global _users, _before  # noqa: PLW0603 - there is one interval in a process
    with _lock:
        if not _users:
            _before = sys.getswitchinterval()
            sys.setswitchinterval(min(_SHORT, _before))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users and sys.getswitchinterval() == min(_SHORT, _before):
                sys.setswitchinterval(_before)


def _after_fork() -> None:
    """The child has no thread in the background that would end its short turns."""
    global _lock, _users  # noqa: PLW0603
    _lock = threading.Lock()
    if _users:
        _users = 0
        sys.setswitchinterval(_before)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
