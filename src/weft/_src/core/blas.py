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

import numpy as np

_MOST_ROWS = 512  # from there on threads are worth their risk
# Products of fewer pairs of numbers OpenBLAS does on one thread by itself; those of more gain from
# threads, and are long enough that waiting for one does not matter much.
_LEAST_PRODUCTS, _MOST_PRODUCTS = 1 << 18, 6 << 20


class _OneThread:
    """While somebody is inside, OpenBLAS has one thread; the last one to leave restores them."""

    def __init__(self, *, of_numpy: bool = False) -> None:
        self._of_numpy = of_numpy  # the copy that NumPy uses, and no other
        self._lock = threading.Lock()
        self._inside = 0
        self._before: list[tuple[Callable[[int], Any], int]] = []

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                loaded = "numpy" if self._of_numpy else "scipy.linalg" in sys.modules
                for read, write in _controls(loaded):
                    self._before.append((write, read()))
                    write(1)

    def __exit__(self, *exc: object) -> None:
        with self._lock:
            self._inside -= 1
            while not self._inside and self._before:
                write, threads = self._before.pop()
                write(threads)


_one_thread, _as_it_is = _OneThread(), nullcontext()
_one_thread_of_numpy = _OneThread(of_numpy=True)


def dot(x: Any, y: Any) -> Any:
    """`np.dot`; of matrices of some hundred rows on one thread.

    50 products of 32 x 256 by 256 x 512 take 7 ms, and 2 s with threads that spin for a core which
    something else runs on.
    """
    if _LEAST_PRODUCTS < x.size * y.shape[-1] <= _MOST_PRODUCTS:
        with _one_thread_of_numpy:
            return np.dot(x, y)
    return np.dot(x, y)


def one_thread(rows: int) -> AbstractContextManager[None]:
    """For work on matrices with so many rows."""
    return _one_thread if rows <= _MOST_ROWS else _as_it_is


@functools.cache
def _controls(loaded: bool | str) -> list[tuple[Callable[[], int], Callable[[int], Any]]]:
    """To read and to set the number of threads, of every OpenBLAS that is loaded by now.

    Those of SciPy come later: `loaded` says whether they are there, or that NumPy's are meant.
    """
    found = []
    for path in [p for p in _paths() if loaded != "numpy" or "numpy" in p]:
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
