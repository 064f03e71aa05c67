"""The thread that compiles in the background: one, started when there is something to do."""

from __future__ import annotations

import atexit
import logging
import os
import queue
import threading
import time
from collections.abc import Callable

from weft._src.execution import forking
from weft._src.execution.turns import short_turns

_log = logging.getLogger("weft")

_HAND_OVER = 1e-4  # seconds in which the thread takes the lock: else it waits 5 ms for it
_LOOK_EVERY = 0.1  # seconds between looks at whether there still is somebody at work


class AbandonedError(BaseException):
    """Raised inside a job when the process ends: what it makes is no longer wanted."""


class Job:
    """Something that is done once, by the worker or by somebody who cannot wait for it."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._begun = False
        self.done = threading.Event()

    def claim(self) -> bool:
        """Whether it has not been begun; it is now."""
        with self._lock:
            begun, self._begun = self._begun, True
        return not begun

    def run(self) -> None:
        """Does it; whoever waits goes on, however it ends."""
        try:
            self._work()
        finally:
            self.done.set()


class Worker:
    """Runs jobs one after the other on a thread of its own."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._start = threading.Lock()
        self._ending = False
        self.is_at_work = False
        self.is_awaited = 0  # by so many: what runs should not pause
        self.seconds_awaited = 0.0  # by all callers so far

    def finish(self, job: Job) -> None:
        """Returns when a job is done: what has not been begun is done here, at once."""
        began = time.perf_counter()
        if job.claim():
            job.run()
        else:
            self.wait_for(job.done)
        self.seconds_awaited += time.perf_counter() - began

    def wait_for(self, event: threading.Event) -> None:
        """Returns when what a job does has come so far, which does not pause meanwhile."""
        self.is_awaited += 1
        try:
            while not event.wait(_LOOK_EVERY):
                if self._thread is None or not self._thread.is_alive():
                    return  # a forked process has no worker that could finish it
        finally:
            self.is_awaited -= 1

    @property
    def is_here(self) -> bool:
        """Whether this thread is the one that works in the background."""
        return threading.current_thread() is self._thread

    def submit(self, work: Callable[[], None]) -> Job:
        """Runs a job some time later."""
        job = Job(work)
        self._jobs.put(job)
        with self._start:
            if self._thread is None and not self._ending:
                self._thread = threading.Thread(
                    target=self._work, name="weft-compiler", daemon=True
                )
                self._thread.start()
        time.sleep(_HAND_OVER)
        return job

    def wait(self) -> None:
        """Returns when all jobs submitted so far are done."""
        if self._thread is not None:
            done = threading.Event()
            self.submit(done.set)
            done.wait()

    def check_wanted(self) -> None:
        """Called by jobs now and then: ends them when the process does."""
        if self._ending:
            raise AbandonedError

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None or self._ending:
                return
            if not job.claim():
                continue
            try:
                self.is_at_work = True
                with forking.background, short_turns():
                    job.run()
            except AbandonedError:
                return
            except Exception as error:  # noqa: BLE001 - the function goes on, whatever happened here
                _log.warning(
                    "Compiling in the background failed, the function goes on with NumPy: %s: %s",
                    type(error).__name__,
                    error,
                )
            finally:
                self.is_at_work = False

    def stop(self) -> None:
        """LLVM must not be running while the process takes itself apart."""
        self._ending = True
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()


worker = Worker()
atexit.register(worker.stop)
# A forked process has no thread yet, and no jobs.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=worker.__init__)  # type: ignore[misc]
