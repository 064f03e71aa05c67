"""What a fork must not meet half done: the compiler at work, and libraries that are being loaded.

The child would wait for ever for a thread that it does not have, or crash in what that thread left
behind. So a process is forked when the thread in the background pauses, and nobody uses LLVM.
"""

from __future__ import annotations

import os
import threading
import time

_LONGEST_WAIT = 10.0  # seconds for the background: it may wait for something the forking thread has


class _Background:
    """Held by the thread in the background while it works."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_kept_out = False  # by a thread that forks

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def rest(self, seconds: float) -> None:
        """A pause of the thread that works; a fork need not wait for the end of the work."""
        self._lock.release()
        time.sleep(seconds)
        self._lock.acquire()

    def keep_out(self) -> None:
        """Returns when it does not work, or has not paused for long."""
        self._is_kept_out = self._lock.acquire(timeout=_LONGEST_WAIT)

    def let_in(self) -> None:
        """It may go on."""
        if self._is_kept_out:
            self._lock.release()


background = _Background()
lock = threading.RLock()  # held by whoever uses LLVM, or loads the native tier


def _before() -> None:
    background.keep_out()
    lock.acquire()


def _after_in_parent() -> None:
    lock.release()
    background.let_in()


def _after_in_child() -> None:
    lock.release()
    background.__init__()  # type: ignore[misc] # the child has no such thread yet


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
    )
