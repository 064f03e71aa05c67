"""Writes checkpoints beside the program: one at a time, and failures are told at the next turn."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Callable

_log = logging.getLogger("weft")
_HEAD_START = 0.001  # seconds


class Writer:
    """Runs one piece of work at a time, on a thread of its own if nobody wants to wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def run(self, work: Callable[[], None], *, wait: bool) -> None:
        """Does the work after what was begun before it; raises what failed there."""
        with self._lock:
            self._join()
            if wait:
                work()
                return
            self._thread = threading.Thread(target=self._do, args=(work,), name="weft-saving")
            self._thread.start()

    def _do(self, work: Callable[[], None]) -> None:
        # The caller goes on first: a thread that runs keeps the interpreter for 5 ms.
        time.sleep(_HEAD_START)
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised where the next one waits for it
            self._error = error

    def finish(self) -> None:
        """Returns when everything is done; raises what failed."""
        with self._lock:
            self._join()

    def _join(self) -> None:
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def at_exit(self) -> None:
        """The process ends: what was begun is finished, and a failure is told."""
        try:
            self.finish()
        except Exception as error:  # noqa: BLE001 - nobody is left to catch it
            _log.error("A checkpoint could not be written: %s", error)


writer = Writer()
atexit.register(writer.at_exit)
