"""Pauses of the compiler in the background, between small pieces of work.

They are short. As long as it writes code it needs the interpreter, and has it in turns with the
caller (`turns.py`); when it rested for as long as it had worked, it got a tenth of the time beside
a caller that never lets go, and LLVM, which works beside it, began that much later.
"""

from __future__ import annotations

import threading
import time

from weft._src.execution import forking
from weft._src.execution.background import worker

_SLICE = 0.002  # seconds of work between pauses
_LONGEST_REST = 0.0005  # a moment in which the process may be forked; turns are short anyway

_local = threading.local()


def slow_down_this_thread() -> None:
    """From now on `breathe` makes this thread pause."""
    _local.since = time.perf_counter()


def is_in_background() -> bool:
    """Whether nobody waits for what this thread does."""
    return getattr(_local, "since", None) is not None


def breathe() -> None:
    """Called between pieces of work; other threads get the GIL meanwhile."""
    since = getattr(_local, "since", None)
    if since is None:
        return
    worker.check_wanted()
    worked = time.perf_counter() - since
    if worker.is_awaited:  # somebody has stopped working until this is done
        return
    if worked > _SLICE:
        forking.background.rest(min(worked, _LONGEST_REST))
        _local.since = time.perf_counter()
