"""Keeps background compilation from being felt: pauses between small pieces of work."""

from __future__ import annotations

import threading
import time

from weft._src.execution import forking
from weft._src.execution.background import worker

_SLICE = 0.002  # seconds of work between pauses
_LONGEST_REST = 0.004  # what took longer than that was LLVM, which holds nobody up

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
