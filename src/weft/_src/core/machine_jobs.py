"""Machine code that serves arrays of any size, for kernels that NumPy does in many passes.

A kernel has a `MachineJob` for each function, and asks it whether the function is there. The
execution layer loads functions (`install_loader`): in the background, when NumPy has spent some
time with what they do, so a program that needs one of them once never loads LLVM for it. The
reference interpreter never uses them.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from weft._src.core.flags import flags

_SPENT = 0.02  # seconds of NumPy before machine code is loaded
_WORTH_WAITING = 0.1  # seconds of NumPy in one call: loading takes no longer


class Function(Protocol):
    """Machine code that is given the words of a job: contiguous arrays, and whole numbers."""

    def __call__(self, words: tuple[Any, ...], count: int, piece: int) -> None:
        """Does `count` parts of the work; threads share it, at least a `piece` for each."""


# Loads the function of a job and hands it over: at once, or some time later if the last argument is
# False. Where it cannot run, nothing comes.
Load = Callable[["MachineJob", bool], None]


class _Thread(threading.local):
    plain = False


_here = _Thread()
jobs: dict[str, MachineJob] = {}  # all of them, by name
_loaders: list[Load] = []


def install_loader(load: Load) -> None:
    """The execution layer says where machine code comes from."""
    _loaders[:] = [load]


@contextlib.contextmanager
def by_numpy() -> Iterator[None]:
    """Kernels of this thread are left to NumPy meanwhile."""
    before = _here.plain
    _here.plain = True
    try:
        yield
    finally:
        _here.plain = before


def left_to_numpy() -> bool:
    """Whether this thread is to do without machine code."""
    return _here.plain or flags.execution == "numpy"


class MachineJob:
    """A function of machine code, which is called with the words that its text names."""

    def __init__(self, name: str, words: tuple[str, ...]) -> None:
        """`name` is that of the text, see `execution/native/array_jobs.py`."""
        self.name, self.words = name, words
        self._function: Function | None = None
        self._spent = 0.0  # a race between threads does no harm
        self._is_asked = False
        jobs[name] = self

    def take(self, function: Function) -> None:
        """Gets the function."""
        self._function = function

    def after(self, seconds: float) -> Function | None:
        """The function, if it is there and may be used.

        Args:
          seconds: what NumPy is about to spend otherwise, roughly.
        """
        if left_to_numpy():
            return None
        if self._function is None and not self._is_asked:
            self._spent += seconds
            waits = flags.execution == "native" or seconds > _WORTH_WAITING
            if (waits or self._spent > _SPENT) and _loaders:
                self._is_asked = True
                _loaders[0](self, waits)
        return self._function
