"""A few threads that share the work of NumPy's calls which let go of the interpreter's lock.

They sleep while there is nothing to do, so on a machine with other work they cost nothing; and who
asks for help takes part, so a helper that does not get to run holds nothing up for long.
"""

from __future__ import annotations

import contextvars
import itertools
import os
import queue
import threading
from collections.abc import Callable

from weft._src.core.processors import threads_per_op


class _Task:
    """Something to be done for every number of a range, by whoever takes the number first."""

    def __init__(self, work: Callable[[int], None], pieces: int) -> None:
        self._work, self._pieces = work, pieces
        self._numbers = itertools.count()  # `next` is atomic
        self._left = pieces
        self._lock = threading.Lock()
        self.done = threading.Event()
        self.error: BaseException | None = None

    def take_part(self) -> None:
        """Does pieces as long as there are some."""
        while (number := next(self._numbers)) < self._pieces:
            try:
                if self.error is None:
                    self._work(number)
            except BaseException as error:  # noqa: BLE001 - raised where the work was asked for
                self.error = error
            with self._lock:
                self._left -= 1
                if not self._left:
                    self.done.set()


class _Crew:
    """The threads; started when they are first needed."""

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[tuple[contextvars.Context, _Task]] = queue.SimpleQueue()
        self._threads = 0
        self._start = threading.Lock()
        self.shared = 0  # so many pieces of work, by these threads or by those of machine code

    def share(self, work: Callable[[int], None], pieces: int) -> None:
        """Calls `work` with the numbers up to `pieces`; returns when all is done."""
        self.shared += 1
        task = _Task(work, pieces)
        helpers = min(threads_per_op(), pieces) - 1
        with self._start:
            while self._threads < helpers:
                self._threads += 1
                threading.Thread(target=self._help, name="weft-crew", daemon=True).start()
        for _ in range(helpers):
            self._tasks.put((contextvars.copy_context(), task))
        task.take_part()
        task.done.wait()
        if task.error is not None:
            raise task.error

    def _help(self) -> None:
        while True:
            context, task = self._tasks.get()
            context.run(task.take_part)
            del context, task  # what a task works on lives no longer than it


crew = _Crew()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=crew.__init__)  # type: ignore[misc]
