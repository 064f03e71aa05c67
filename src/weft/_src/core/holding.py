"""The locks of resources: held for whole calls, and waited for with open eyes.

Hot path: `lock.acquire(False)` for a lock that is free, which takes as long as a `with` statement.
Everything else happens only when another thread holds the lock. Nothing is noted down for that: who
holds what is read from the stacks of the threads (`core/waiting.py`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core.waiting import Stacks, Wait
from weft._src.errors import AbortedError

_log = logging.getLogger("weft")

_FIRST_LOOK, _LONGEST_PAUSE = 0.02, 0.5  # seconds between looks at what others do
_WARN_AFTER = 5.0


class ResourceLock(type(threading.RLock())):  # type: ignore[misc]
    """A reentrant lock that knows what it is the lock of, such as "the variable 'v'"."""

    __slots__ = ("what",)

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what


def wait_for(lock: ResourceLock) -> None:
    """Takes a lock that another thread holds.

    Raises AbortedError if that thread waits, with the lock, for this one to end; any other wait
    that takes long is logged.
    """
    started, pause = time.monotonic(), _FIRST_LOOK
    suspected = warned = False
    while not lock.acquire(timeout=pause):
        stacks = Stacks()
        wait = stacks.wait_for(lock, wait_for.__code__, run_holding.__code__)
        # Threads go on while their stacks are read: only what is seen twice is so.
        if wait.is_circular and suspected:
            raise _never_ends(lock, wait)
        suspected = wait.is_circular
        if not warned and time.monotonic() - started > _WARN_AFTER:
            warned = True
            _log.warning("%s", _long_wait(lock, wait, stacks))
        pause = min(2 * pause, _LONGEST_PAUSE)


def run_holding(
    locks: Sequence[ResourceLock], call: Callable[..., Any], values: Sequence[Any], who: str
) -> Any:
    """Calls something with locks held, so that it is atomic. `who` is what others are told of it.

    All who take several locks take them in one order. Not with an ExitStack: 0.5 us a lock.
    """
    held = 0
    try:
        for lock in locks:
            if not lock.acquire(False):
                wait_for(lock)
            held += 1
        return call(*values)
    finally:
        for lock in locks[:held]:
            lock.release()


def _never_ends(lock: ResourceLock, wait: Wait) -> AbortedError:
    mine, theirs = threading.current_thread().name, wait.holder_name
    return AbortedError(
        None,
        None,
        f"The thread {mine!r} needs {lock.what}, which {wait.who} in the thread {theirs!r} holds "
        f"until it ends; and that waits for the thread {mine!r} ({wait.place}). Neither would ever "
        "go on. Use the variable outside of the thread: let the thread return a value, and assign "
        "that in the function or after the call.",
    )


def _long_wait(lock: ResourceLock, wait: Wait, stacks: Stacks) -> str:
    me = threading.current_thread()
    text = (
        f"The thread {me.name!r} has waited for {_WARN_AFTER:.0f} seconds for {lock.what}, which "
        f"{wait.who} in the thread {wait.holder_name!r} holds.\n"
        f"The thread {me.name!r}:\n{stacks.text(me.ident)}"
    )
    if wait.holder is not None:
        text += f"The thread {wait.holder_name!r}:\n{stacks.text(wait.holder)}"
    return text
