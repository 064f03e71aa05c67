"""Who computes together: the replicas of a process, and the processes of a job.

A member of a group that takes part in a collective waits for all others. One that fails aborts the
group, so that nobody waits for it for ever.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from weft._src.errors import DeadlineExceededError

Array = np.ndarray[Any, Any]


class Group(Protocol):
    """What takes part in collectives."""

    size: int

    def all_reduce(self, number: int, arrays: Sequence[Array], how: str) -> list[Array]:
        """The sums ("SUM"), means ("MEAN") or those of member 0 ("FIRST")."""
        ...

    def all_gather(self, number: int, arrays: Sequence[Array]) -> list[list[Array]]:
        """The arrays of all members, in the order of their numbers."""
        ...


class Membership(threading.local):
    """The group of the code that runs in a thread, and its number there; None if it is alone."""

    def __init__(self) -> None:
        self.group: Group | None = None
        self.number = 0


membership = Membership()
# What all threads of this process belong to that are in no other group: the job.
job: list[tuple[Group, int]] = []


def current() -> tuple[Group | None, int]:
    """The group that a collective is about now, and the number of who asks."""
    if membership.group is not None:
        return membership.group, membership.number
    return job[-1] if job else (None, 0)


class AbortedError(Exception):
    """Another member has failed; what it raised is what counts."""


class ThreadGroup:
    """Replicas in threads of this process."""

    def __init__(self, size: int, seconds: float = 600.0) -> None:
        self.size = size
        self._seconds = seconds
        self._barrier = threading.Barrier(size)
        self._slots: list[Any] = [None] * size
        self._totals: list[Any] = []

    def member_number(self, local: int) -> int:
        """The number that a replica of this process goes by."""
        return local

    def _meet(self) -> int:
        try:
            return self._barrier.wait(self._seconds)
        except threading.BrokenBarrierError:
            raise AbortedError from None

    def all_gather(self, number: int, arrays: Sequence[Array]) -> list[list[Array]]:
        """The arrays of all members, in the order of their numbers."""
        self._slots[number] = arrays
        self._meet()
        found = [list(part) for part in self._slots]
        self._meet()  # before anybody goes on to the next one
        return found

    def all_reduce(self, number: int, arrays: Sequence[Array], how: str) -> list[Array]:
        """Every member adds up its share of the elements, for all."""
        self._slots[number] = [np.asarray(x, order="C") for x in arrays]
        if self._meet() == 0:
            check_alike(self._slots)
            self._totals = [np.empty_like(x) for x in self._slots[0]]
        self._meet()
        for i, total in enumerate(self._totals):
            share = slice(total.size * number // self.size, total.size * (number + 1) // self.size)
            parts = [part[i].reshape(-1)[share] for part in self._slots]
            total.reshape(-1)[share] = combined(parts, how)
        out = self._totals
        self._meet()
        return out

    def run(self, work: Callable[[int], Any]) -> list[Any]:
        """`work(number)` of every member, each in a thread; the first error that is its own."""
        results: list[Any] = [None] * self.size
        errors: list[BaseException | None] = [None] * self.size

        def member(number: int) -> None:
            outer = membership.group, membership.number
            membership.group, membership.number = self, self.member_number(number)
            try:
                results[number] = work(number)
            except BaseException as error:  # noqa: BLE001 - raised below, in the caller's thread
                errors[number] = error
                self._barrier.abort()
            finally:
                membership.group, membership.number = outer

        threads = [
            threading.Thread(target=member, args=(i,), name=f"weft replica {i}", daemon=True)
            for i in range(1, self.size)
        ]
        for thread in threads:
            thread.start()
        member(0)
        for thread in threads:
            thread.join()
        own = [error for error in errors if error is not None]
        for error in own:
            if not isinstance(error, AbortedError):
                raise error
        if own:
            raise DeadlineExceededError(
                None,
                None,
                "A replica waited in vain for the others in a collective: they must all take part "
                "in the same ones, in the same order.",
            )
        return results


class JobGroup(ThreadGroup):
    """Replicas in threads of this process, together with those of other processes of the job.

    Numbers count all replicas of the job: those of a process follow those of the one before.
    """

    def __init__(self, local: int, job: Group, process: int) -> None:
        super().__init__(local)
        self._local, self._job, self._process = local, job, process
        self._first = process * local
        self._everywhere: Any = None

    def member_number(self, local: int) -> int:
        """The number of a replica of this process among those of the job."""
        return self._first + local

    def all_reduce(self, number: int, arrays: Sequence[Array], how: str) -> list[Array]:
        """First among the replicas of this process, and then one of them with other processes."""
        own = number - self._first
        here = super().all_reduce(own, arrays, "FIRST" if how == "FIRST" else "SUM")

        def exchange() -> list[Array]:
            total = self._job.all_reduce(self._process, here, "FIRST" if how == "FIRST" else "SUM")
            if how != "MEAN":
                return total
            return [mean_of(x, self._local * self._job.size) for x in total]

        found: list[Array] = self._by_one(own, exchange)
        return found

    def all_gather(self, number: int, arrays: Sequence[Array]) -> list[list[Array]]:
        """The arrays of all replicas of the job, in the order of their numbers."""
        own = number - self._first
        here = super().all_gather(own, arrays)

        def exchange() -> list[list[Array]]:
            flat = [x for part in here for x in part]
            count = len(arrays)
            return [
                part[i * count : (i + 1) * count]
                for part in self._job.all_gather(self._process, flat)
                for i in range(self._local)
            ]

        found: list[list[Array]] = self._by_one(own, exchange)
        return found

    def _by_one(self, own: int, exchange: Callable[[], Any]) -> Any:
        """What one replica of this process finds out for all of them."""
        if own == 0:
            self._everywhere = exchange()
        self._meet()
        found = self._everywhere
        self._meet()  # before anybody goes on to the next one
        return found


def combined(parts: Sequence[Array], how: str) -> Array:
    """The arrays of all members as one; always added in the same order."""
    if how == "FIRST":
        return parts[0]
    narrow = parts[0].dtype.itemsize == 2 and parts[0].dtype.kind not in "iu"
    total = parts[0].astype(np.float32) if narrow else parts[0].copy()
    for part in parts[1:]:
        total += part
    if how == "MEAN":
        total = mean_of(total, len(parts))
    return total.astype(parts[0].dtype, copy=False)


def mean_of(total: Array, count: int) -> Array:
    """A sum divided by the number of what was added, in its dtype."""
    if total.dtype.kind in "iu":
        return total // count
    return (total / total.dtype.type(count)).astype(total.dtype, copy=False)


def check_alike(slots: Sequence[Sequence[Array]]) -> None:
    """ValueError unless all members bring arrays of the same types."""
    kinds = [[(x.dtype, x.shape) for x in part] for part in slots]
    for i, kind in enumerate(kinds):
        if kind != kinds[0]:
            raise ValueError(
                f"all_reduce: replica {i} brings {kind}, and replica 0 {kinds[0]}; values that are "
                "combined must have one shape."
            )
