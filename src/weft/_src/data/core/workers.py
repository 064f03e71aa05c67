"""Threads that belong to a cursor: bounded, and gone when the cursor is.

A thread refers to what it works on, never to the cursor that waits for it. So a cursor that nobody
holds any more is collected, and then its threads are told to stop.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

_IDLE_SECONDS = 0.5  # a thread that waits looks this often whether its cursor is still there


class Slot:
    """The place of one result: filled by a thread, waited for by the consumer."""

    __slots__ = ("done", "error", "value")

    def __init__(self) -> None:
        self.done = False
        self.error: BaseException | None = None
        self.value: Any = None

    def get(self) -> Any:
        """The result, or the error that came instead of it."""
        if self.error is not None:
            raise self.error
        return self.value


_ANY = Slot()  # stands for all of them


class Shared:
    """What threads and their consumer share: one lock, what they wait for, and whether to stop."""

    __slots__ = ("awaited", "changed", "handed_in", "stopped", "threads")

    def __init__(self) -> None:
        lock = threading.Lock()
        self.changed = threading.Condition(lock)
        self.handed_in = threading.Condition(lock)  # threads of a pool wait for work here
        self.awaited: Slot | None = None  # by the consumer of a pool: others do not wake him
        self.stopped = False
        self.threads: list[threading.Thread] = []

    def start(self, target: Callable[..., None], *args: Any) -> None:
        """Starts one thread that serves this."""
        thread = threading.Thread(target=target, args=args, name="weft.data", daemon=True)
        self.threads.append(thread)
        thread.start()

    def stop(self) -> None:
        """Tells the threads to end; does not wait for a call that is under way."""
        with self.changed:
            self.stopped = True
            self.changed.notify_all()
            self.handed_in.notify_all()


def stop_with(owner: Any, shared: Shared) -> None:
    """Stops the threads when their owner is collected."""
    weakref.finalize(owner, shared.stop)


class Pool:
    """A number of threads that run calls; made when the first call is handed in."""

    def __init__(self, size: int) -> None:
        self._shared = Shared()
        self._tasks: deque[tuple[Slot, Callable[[Any], Any], Any]] = deque()
        self._size = size
        stop_with(self, self._shared)

    def submit(self, function: Callable[[Any], Any], argument: Any) -> Slot:
        """Hands in one call."""
        slot = Slot()
        shared = self._shared
        with shared.changed:
            self._tasks.append((slot, function, argument))
            shared.handed_in.notify()
        if len(shared.threads) < self._size:
            shared.start(_work, shared, self._tasks)
        return slot

    def wait(self, slots: deque[Slot], in_order: bool) -> Slot:
        """The first slot, or the first that is done; it is taken out."""
        with self._shared.changed:
            while True:
                for i, slot in enumerate(slots):
                    if slot.done:
                        del slots[i]
                        return slot
                    if in_order:
                        break
                self._sleep(slots[0] if in_order else _ANY)

    def wait_for(self, slot: Slot) -> None:
        """Until that one is done, whatever becomes of the others meanwhile."""
        with self._shared.changed:
            while not slot.done:
                self._sleep(slot)

    def _sleep(self, awaited: Slot) -> None:
        shared = self._shared
        shared.awaited = awaited
        shared.changed.wait(_IDLE_SECONDS)
        shared.awaited = None

    def close(self) -> None:
        """Ends the threads."""
        self._shared.stop()


def _work(shared: Shared, tasks: deque[Any]) -> None:
    slot: Slot | None = None
    while True:
        with shared.changed:
            if slot is not None:
                slot.done = True
                if shared.awaited is slot or shared.awaited is _ANY:
                    shared.changed.notify_all()
            slot = None
            while not tasks and not shared.stopped:
                shared.handed_in.wait(_IDLE_SECONDS)
            if shared.stopped:
                return
            slot, function, argument = tasks.popleft()
        try:
            slot.value = function(argument)
        except BaseException as error:  # noqa: BLE001 - belongs to the consumer
            slot.error = error
        del function, argument


class Stopwatch:
    """Whether calls take long enough to be handed to a thread; looked at again and again.

    Handing over takes about 30 us, and up to 5 ms if the consumer does not let go of the
    interpreter. What takes less than `WORTH_A_THREAD` is done at once where it is needed.
    """

    __slots__ = ("_count", "_seconds", "long")

    WORTH_A_THREAD = 200e-6
    _SURELY_LONG = 5e-3
    _ROUND = 16

    def __init__(self, long: bool) -> None:
        self.long = long  # what is thought of the next calls
        self._count = 0
        self._seconds = 0.0

    def __call__(self, function: Callable[..., Any], *args: Any) -> Any:
        """Calls, and notes how long it took."""
        start = time.perf_counter()
        try:
            return function(*args)
        finally:
            self._note(time.perf_counter() - start)

    def _note(self, seconds: float) -> None:
        self._count += 1
        self._seconds += seconds
        if seconds > self._SURELY_LONG:
            self.long = True
        if self._count == self._ROUND:
            self.long = self._seconds > self.WORTH_A_THREAD * self._ROUND
            self._count, self._seconds = 0, 0.0
