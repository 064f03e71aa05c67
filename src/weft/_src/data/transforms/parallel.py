"""`map` with several calls at once, in threads, where that pays.

NumPy, native code and input/output let go of the interpreter's lock, so calls that spend their time
there overlap. Calls that are too short for a thread run at once where they are needed.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from weft._src.core.processors import processors
from weft._src.data.core.stage import Cursor, Run
from weft._src.data.core.structure import Values
from weft._src.data.core.traced import Call
from weft._src.data.core.workers import Pool, Slot, Stopwatch


def parallel_calls(wanted: int, run: Run) -> int:
    """How many calls may run at once; -1 leaves it to us."""
    number = processors() if wanted < 0 else wanted
    return number if run.max_threads is None else max(1, min(number, run.max_threads))


class _Timed:
    """A call that notes how long it takes. Threads hold this, not the cursor."""

    def __init__(self, call: Call) -> None:
        self._call = call
        # A callback may sleep or wait for another one, so those start in threads.
        self.watch = Stopwatch(long=not call.traced.is_pure)

    def __call__(self, values: Values) -> Values:
        return self.watch(self._call, values)


class ParallelMapCursor(Cursor):
    """Calls of a function for the next elements run in threads, while the consumer works."""

    own = ("_undone",)
    inputs = ("_source",)

    def __init__(self, source: Cursor, call: Call, threads: int, in_order: bool, run: Run) -> None:
        self._source, self._call, self._run = source, _Timed(call), run
        self._threads, self._in_order = threads, in_order
        self._pool: Pool | None = None
        self._slots: deque[Slot] = deque()
        self._elements: dict[Slot, Values] = {}
        self._undone: list[Values] = []  # of a restored position: elements to be mapped first
        self._error: BaseException | None = None  # of the source, after the calls under way
        self._ended = False

    def __next__(self) -> Values:
        waits = self._ended or self._error is not None
        if not self._slots and not self._threads_pay() and not waits:
            return self._call(self._take())
        self._submit()
        if not self._slots:
            if self._ended:
                raise StopIteration
            assert self._error is not None
            error, self._error = self._error, None
            raise error
        assert self._pool is not None
        slot = self._pool.wait(self._slots, self._in_order)
        del self._elements[slot]
        self._submit()
        return slot.get()

    def rows(self, n: int) -> Values:
        """Several elements at once: they are handed in together, and waited for together."""
        if self._threads_pay() and self._in_order:
            self._submit(n)
            if len(self._slots) >= n:
                assert self._pool is not None
                self._pool.wait_for(self._slots[n - 1])
        return super().rows(n)

    def _submit(self, more: int = 0) -> None:
        """Keeps as many calls under way as there are threads, and as many waiting."""
        if self._pool is None:
            self._pool = Pool(self._threads)
        wanted = 2 * self._threads + more if self._threads_pay() else 0
        while len(self._slots) < wanted and not self._ended and self._error is None:
            try:
                values = self._take()
            except StopIteration:
                self._ended = True
                return
            except BaseException as error:  # noqa: BLE001 - raised when the calls before are done
                self._error = error
                return
            slot = self._pool.submit(self._call, values)
            self._elements[slot] = values
            self._slots.append(slot)

    def _threads_pay(self) -> bool:
        return self._call.watch.long and not self._run.uses_variables

    def _take(self) -> Values:
        return self._undone.pop(0) if self._undone else next(self._source)

    def save(self) -> dict[str, Any]:
        """Calls under way are made again: their elements are saved, not their results."""
        state = super().save()
        state["_undone"] = [*[self._elements[slot] for slot in self._slots], *self._undone]
        return state

    def restore(self, state: dict[str, Any]) -> None:
        self._slots.clear()
        self._elements.clear()
        self._error, self._ended = None, False
        super().restore(state)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
        super().close()
