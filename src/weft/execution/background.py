"""The thread that compiles in the background: one, started when there is something to do."""

from __future__ import annotations

import atexit
import logging
import os
import queue
import threading
from collections.abc import Callable

_log = logging.getLogger("weft")
_jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
_thread: threading.Thread | None = None
_start = threading.Lock()
_ending = False


def submit(job: Callable[[], None]) -> None:
    """Runs a job some time later."""
    global _thread
    _jobs.put(job)
    with _start:
        if _thread is None and not _ending:
            _thread = threading.Thread(target=_work, name="weft-compiler", daemon=True)
            _thread.start()


def wait() -> None:
    """Returns when all jobs submitted so far are done."""
    if _thread is None:
        return
    done = threading.Event()
    submit(done.set)
    done.wait()


def _work() -> None:
    while True:
        job = _jobs.get()
        if job is None or _ending:
            return
        try:
            job()
        except Exception as error:  # the function goes on with NumPy, whatever happened here
            _log.warning(
                "Compiling in the background failed, NumPy goes on running the function: %s: %s",
                type(error).__name__,
                error,
            )


def _stop() -> None:
    """LLVM must not be running while the process takes itself apart."""
    global _ending
    _ending = True
    if _thread is not None:
        _jobs.put(None)
        _thread.join()


def _reset_in_child() -> None:
    """A forked process has no thread yet, and no jobs."""
    global _jobs, _thread, _start
    _jobs, _thread, _start = queue.SimpleQueue(), None, threading.Lock()


atexit.register(_stop)
os.register_at_fork(after_in_child=_reset_in_child)
