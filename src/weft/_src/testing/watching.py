"""What tests watch while they run: their threads, and what is written to streams."""

from __future__ import annotations

import threading
import unittest
from collections.abc import Callable
from typing import Any


class CheckedThread:
    """A thread of a test: `join` fails the test if the thread ended with an exception."""

    def __init__(
        self, case: unittest.TestCase, target: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> None:
        self._case = case
        self._exception: Exception | None = None

        def run() -> None:
            try:
                target(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 - handed over to the thread that joins
                self._exception = error

        self._thread = threading.Thread(target=run)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def join(self) -> None:
        """Waits for the end of the thread."""
        self._thread.join()
        if self._exception is not None:
            self._case.fail(f"The thread ended with {self._exception!r}.")

    def join_if_started(self) -> None:
        """Waits for the end of the thread, whatever came of it."""
        if self._thread.ident is not None:
            self._thread.join()

    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()


class CapturedWrites:
    """What was written to a stream while `captureWritesToStream` was open."""

    def __init__(self, contents: Callable[[], str]) -> None:
        self._contents = contents

    def contents(self) -> str:
        """The text that was written."""
        return self._contents()

    def freeze(self) -> None:
        """Keeps the text, as the file is about to go."""
        text = self._contents()
        self._contents = lambda: text
