"""The state of a random stream as a resource: ops advance it, graphs capture it by reference."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft._src.core.flags import flags
from weft._src.core.random_numbers import seeds
from weft._src.core.random_numbers.seeds import State
from weft._src.core.resources import Resource

# A replica draws where the high word of the counter is so many bits larger per number: far beyond
# the seeds of ops, which are in the lower half of it.
REPLICA_BITS = 40


class RngCell(Resource):
    """Where a stream's state lives: three int64 words (counter low, counter high, key).

    >>> from weft._src.core.random_numbers.stream_state import RngCell
    >>> cell = RngCell(np.array([0, 0, 9]))
    >>> cell.advance(512).tolist(), cell.read().tolist()
    ([0, 0, 9], [512, 0, 9])
    """

    __slots__ = ("_first", "_lock", "_state")

    def __init__(self, state: State) -> None:
        self._lock = threading.Lock()
        self._first = np.array(state, np.int64)
        self._state = self._first

    def read(self) -> State:
        """The state now."""
        return self._state.copy()

    def write(self, state: State) -> None:
        """Replaces the state."""
        with self._lock:
            self._state = np.array(state, np.int64)

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """Inside, nobody else draws: for a program that takes the state and gives back a new one.

        That one is put into its place by `give_back`.
        """
        with self._lock:
            yield

    def give_back(self, state: State) -> None:
        """Sets the state of a stream that is lent."""
        self._state = np.array(state, np.int64)

    def advance(self, blocks: int) -> State:
        """Moves the counter on, in one atomic step; the state before."""
        with self._lock:
            before = self._state
            self._state = seeds.advance_state(before, blocks)
        return before.copy()

    def restarted(self) -> RngCell:
        """Another cell, with the state that this one was made with."""
        return RngCell(self._first)

    def restart(self) -> None:
        """Goes back to the state the cell was made with."""
        with self._lock:
            self._state = self._first

    def __reduce__(self) -> tuple[Any, ...]:
        return RngCell, (self._state,)

    def __repr__(self) -> str:
        return f"<RngCell {self._state.tolist()}>"


def check_unseeded() -> None:
    """An error if all numbers are to be the same every time."""
    if flags.deterministic:
        raise RuntimeError(
            "Random numbers need a seed after tf.config.experimental.enable_op_determinism(). Call "
            "tf.random.set_seed first, or pass seed=."
        )


def random_state() -> State:
    """A state that nobody can foresee."""
    check_unseeded()
    return np.frombuffer(os.urandom(24), np.int64)


class CellRegistry:
    """Knows cells as long as they live, to restart them all."""

    def __init__(self) -> None:
        self._cells: weakref.WeakSet[RngCell] = weakref.WeakSet()
        self._lock = threading.Lock()

    def add(self, cell: RngCell) -> None:
        """Takes a cell in."""
        with self._lock:
            self._cells.add(cell)

    def __contains__(self, cell: object) -> bool:
        with self._lock:
            return cell in self._cells

    def restart(self) -> None:
        """Restarts the cells that are still in use."""
        with self._lock:
            for cell in list(self._cells):
                cell.restart()
