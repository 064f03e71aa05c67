"""What queues hold, and who waits for it: elements are tuples of arrays."""

from __future__ import annotations

import heapq
import itertools
import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.resources import Resource
from weft._src.errors import CancelledError, OutOfRangeError

Array = np.ndarray[Any, Any]
Element = tuple[Array, ...]
_AWAKE = 0.2  # seconds after which a wait looks whether the user has interrupted it


class QueueContent(Resource):
    """Elements, in the order in which they came; several threads may put in and take out."""

    __slots__ = ("_changed", "_is_cancelled", "capacity", "elements", "is_closed", "kind", "name")

    def __init__(self, kind: str, name: str, capacity: int) -> None:
        self.kind, self.name = kind, name
        self.capacity = capacity
        self.elements: list[Any] = []
        self.is_closed = False
        self._is_cancelled = False
        self._changed = threading.Condition()

    # What kinds of queues do differently.

    def _add(self, element: Element) -> None:
        self.elements.append(element)

    def _take(self) -> Element:
        taken: Element = self.elements.pop(0)
        return taken

    def _available(self) -> int:
        return len(self.elements)

    # What all do.

    def __len__(self) -> int:
        return len(self.elements)

    def _wait(self, is_ready: Callable[[], bool]) -> None:
        while not is_ready():
            self._changed.wait(_AWAKE)

    def put(self, elements: list[Element]) -> None:
        """Adds elements, one by one as there is room."""
        for element in elements:
            with self._changed:
                if self.is_closed:
                    raise CancelledError(None, None, f"{self.kind} {self.name!r} is closed.")
                self._wait(lambda: len(self.elements) < self.capacity or self._is_cancelled)
                if self._is_cancelled:
                    raise CancelledError(None, None, f"{self.kind} {self.name!r} was closed.")
                self._add(element)
                self._changed.notify_all()

    def get(self, count: int, may_be_fewer: bool) -> list[Element]:
        """Takes elements out, all at once; fewer only from a queue that is closed."""
        out: list[Element] = []
        with self._changed:
            # More than the capacity come piece by piece, but are given back if they do not come.
            while len(out) < count:
                self._wait(lambda: self._available() > 0 or self.is_closed)
                if not self._available():
                    break
                out.append(self._take())
                self._changed.notify_all()
            if len(out) < count and (not may_be_fewer or not out):
                for element in out:
                    self._add(element)
                raise OutOfRangeError(
                    None,
                    None,
                    f"{self.kind} {self.name!r} is closed and has too few elements: {count} were "
                    f"asked for, it has {len(self.elements)}.",
                )
        return out

    def close(self, cancel: bool) -> None:
        """Lets nothing in any more; with `cancel`, those who wait to put something in, neither."""
        with self._changed:
            self.is_closed = True
            self._is_cancelled = self._is_cancelled or cancel
            self._changed.notify_all()


class ShuffledContent(QueueContent):
    """Gives elements in random order."""

    __slots__ = ("_random", "fewest")

    def __init__(self, name: str, capacity: int, fewest: int, seed: int | None) -> None:
        super().__init__("RandomShuffleQueue", name, capacity)
        self.fewest = fewest
        self._random = random.Random(seed)

    def _take(self) -> Element:
        at = self._random.randrange(len(self.elements))
        self.elements[at], self.elements[-1] = self.elements[-1], self.elements[at]
        taken: Element = self.elements.pop()
        return taken

    def _available(self) -> int:
        """So many stay behind, unless nothing more will come."""
        return len(self.elements) - (0 if self.is_closed else self.fewest)


class PrioritizedContent(QueueContent):
    """Gives the element with the lowest number first; of equal ones, the one that came first."""

    __slots__ = ("_numbers",)

    def __init__(self, name: str, capacity: int) -> None:
        super().__init__("PriorityQueue", name, capacity)
        self._numbers = itertools.count()

    def _add(self, element: Element) -> None:
        heapq.heappush(self.elements, (int(element[0]), next(self._numbers), element))

    def _take(self) -> Element:
        taken: Element = heapq.heappop(self.elements)[2]
        return taken
