"""How many threads OpenBLAS uses: one, for matrices so small that more only get in the way.

Its threads wait by spinning. If anything else runs on the same cores, a decomposition of a few
hundred rows takes ten to a hundred times as long with them as without.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

_MOST_ROWS = 512  # from there on threads are worth their risk


class _OneThread:
    """While somebody is inside, OpenBLAS has one thread; the last one to leave restores them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before: list[tuple[Callable[[int], Any], int]] = []

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                for read, write in _controls("scipy.linalg" in sys.modules):
                    self._before.append((write, read()))
                    write(1)

    def __exit__(self, *exc: object) -> None:
        with self._lock:
            self._inside -= 1
            while not self._inside and self._before:
                write, threads = self._before.pop()
                write(threads)


_one_thread, _as_it_is = _OneThread(), nullcontext()


def one_thread(rows: int) -> AbstractContextManager[None]:
    """For work on matrices with so many rows."""
    return _one_thread if rows <= _MOST_ROWS else _as_it_is


@functools.cache
def _controls(with_scipy: bool) -> list[tuple[Callable[[], int], Callable[[int], Any]]]:
    """To read and to set the number of threads, of every OpenBLAS that is loaded by now."""
    found = []
    for path in _paths():
        library = ctypes.CDLL(path)
        pair = [_function(library, f"openblas_{verb}_num_threads") for verb in ("get", "set")]
        if None not in pair:
            found.append((pair[0], pair[1]))
    return found


def _paths() -> list[str]:
    """Where loaded copies of OpenBLAS come from: NumPy has one of its own, and so has SciPy."""
    try:
        with open("/proc/self/maps") as maps:
            return sorted({line.split()[-1] for line in maps if "openblas" in line})
    except OSError:  # another system: its threads are left alone
        return []


def _function(library: ctypes.CDLL, name: str) -> Any:
    for form in (name, f"scipy_{name}64_", f"scipy_{name}", f"{name}64_"):
        function = getattr(library, form, None)
        if function is not None:
            return function
    return None
