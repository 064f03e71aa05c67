"""`tf.train.Coordinator`: threads that stop together."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

from weft._src.errors import OutOfRangeError


class Coordinator:
    """Lets threads stop together, and hands the first error of one of them to who joins them.

    >>> import threading
    >>> coordinator = tf.train.Coordinator()
    >>> def work():
    ...     while not coordinator.should_stop():
    ...         coordinator.request_stop()
    >>> thread = threading.Thread(target=work)
    >>> thread.start()
    >>> coordinator.join([thread])
    >>> coordinator.joined
    True
    """

    def __init__(
        self, clean_stop_exception_types: tuple[type[Exception], ...] | None = None
    ) -> None:
        given = clean_stop_exception_types
        self._clean = (OutOfRangeError,) if given is None else tuple(given)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._joined = False
        self._threads: set[threading.Thread] = set()

    @property
    def joined(self) -> bool:
        """Whether `join` has returned."""
        return self._joined

    def request_stop(self, ex: Any = None) -> None:
        """Asks all threads to stop.

        Args:
          ex: an exception, or what `sys.exc_info()` gives, that `join` is to raise; the first one
            counts, and not those that are a clean end.
        """
        if isinstance(ex, tuple):
            ex = ex[1]
        with self._lock:
            is_error = isinstance(ex, BaseException) and not isinstance(ex, self._clean)
            if is_error and self._error is None and not self._joined:
                self._error = ex
            self._stop.set()

    def clear_stop(self) -> None:
        """Forgets that somebody asked to stop, and the error."""
        with self._lock:
            self._joined = False
            self._error = None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Whether somebody asked to stop.

        Returns:
          A bool.
        """
        return self._stop.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A context manager: an exception inside asks all threads to stop, and goes no further.

        Returns:
          The context manager.
        """
        try:
            yield
        except Exception:  # noqa: BLE001 - join raises it
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until somebody asks to stop.

        Args:
          timeout: how many seconds at most; None means for ever.

        Returns:
          Whether somebody did.
        """
        return self._stop.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Adds a thread that `join` waits for.

        Args:
          thread: the thread.
        """
        with self._lock:
            self._threads.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits until all threads have ended, and raises the first error of one of them.

        Args:
          threads: threads to wait for, besides those that were registered.
          stop_grace_period_secs: how long a thread may take after somebody asked to stop.
          ignore_live_threads: whether threads that take longer are left alone; else they are an
            error.

        Raises:
          RuntimeError: if a thread does not end in time.
        """
        with self._lock:
            waiting = [*self._threads, *(threads or ())]
        while any(thread.is_alive() for thread in waiting) and not self.wait_for_stop(0.05):
            pass
        end = time.monotonic() + stop_grace_period_secs
        for thread in waiting:
            thread.join(max(0.0, end - time.monotonic()))
        late = [thread.name for thread in waiting if thread.is_alive()]
        with self._lock:
            self._joined = True
            self._threads.clear()
            error = self._error
        if error is not None:
            raise error
        if late and not ignore_live_threads:
            raise RuntimeError(
                f"Coordinator.join: {', '.join(late)} did not stop within "
                f"{stop_grace_period_secs} seconds."
            )

    def raise_requested_exception(self) -> None:
        """Raises the error that somebody asked to stop with, if there was one."""
        with self._lock:
            error = self._error
        if error is not None:
            raise error
