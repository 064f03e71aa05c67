"""How many threads OpenBLAS uses: one, but for decompositions of large matrices.

Its threads wait by spinning. If anything else runs on the same cores, a product or a decomposition
of a few hundred rows takes ten to a hundred times as long with them as without. Large products are
shared by threads that do not spin (`core/crew.py`), each of which asks OpenBLAS for a part.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np

from weft._src.core.crew import crew
from weft._src.core.machine_offers import Offer
from weft._src.core.processors import LONGEST_VECTOR, threads_per_op, vector_bytes

_MOST_ROWS = 512  # from there on threads are worth their risk
_FEW_ROWS = 16  # up to there OpenBLAS has one thread by itself
# Products of fewer pairs of numbers OpenBLAS does on one thread by itself; those of more than the
# second number take so long (0.3 ms) that waking other threads pays.
_LEAST_PRODUCTS, _SHARED_PRODUCTS = 1 << 18, 16 << 20
# From so many on, machine code is worth the making of its tables.
_OFFERED_PRODUCTS, _OFFERED = 4 << 20, frozenset({np.dtype(np.float32), np.dtype(np.float64)})
_PIECES = 4  # for each thread, so that none has to wait long for another
_LEAST_SHARE = 512  # rows or columns of a piece: each arranges the other matrix anew


# Bytes of the vectors that OpenBLAS's products use, by the processor it takes this one for. New
# ones of another maker are often taken for an older one with shorter vectors.
_VECTOR_BYTES = {
    "Nehalem": 16, "Sandybridge": 32, "Haswell": 32, "Zen": 32, "Excavator": 32,
    "SkylakeX": 64, "Cooperlake": 64, "Sapphirerapids": 64,
}  # fmt: skip


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


class Products(Protocol):
    """Products of machine code, with vectors as long as the processor has."""

    def product(self, x: Any, y: Any) -> Any:
        """x @ y of matrices; None where OpenBLAS is to do it."""


offer: Offer[Products] = Offer()


def dot(x: Any, y: Any) -> Any:
    """`np.dot` of matrices.

    50 products of 32 x 256 by 256 x 512 take 7 ms, and 2 s with threads that spin for a core which
    something else runs on.
    """
    pairs = x.size * y.shape[-1]
    if pairs <= _LEAST_PRODUCTS:
        return np.dot(x, y)
    is_offered = pairs > _OFFERED_PRODUCTS and x.dtype == y.dtype and x.dtype in _OFFERED
    if is_offered and has_short_vectors():
        return offer.attempted(lambda products: products.product(x, y), lambda: _dot(x, y, pairs))
    return _dot(x, y, pairs)


def _dot(x: Any, y: Any, pairs: int) -> Any:
    """By OpenBLAS; large ones on several threads."""
    with _one_thread_of_numpy:
        if pairs <= _SHARED_PRODUCTS or x.dtype.kind not in "fc":
            return np.dot(x, y)
        rows, columns = x.shape[0], y.shape[1]
        out = np.empty((rows, columns), x.dtype)
        if rows >= columns:
            _shared(rows, lambda part: np.matmul(x[part], y, out=out[part]))
        else:
            _shared(columns, lambda part: np.matmul(x, y[:, part], out=out[:, part]))
        return out


def matmul(x: Any, y: Any) -> Any:
    """`np.matmul` of stacks of matrices, of which one may be a single matrix."""
    pairs = max(x.size * y.shape[-1], y.size * x.shape[-2])
    if pairs <= _LEAST_PRODUCTS:
        return np.matmul(x, y)
    with _one_thread_of_numpy:
        count = max(x.shape[0] if x.ndim > 2 else 1, y.shape[0] if y.ndim > 2 else 1)
        alike = x.shape[:-2] == y.shape[:-2]
        if pairs <= _SHARED_PRODUCTS or not alike or x.dtype.kind not in "fc":
            return np.matmul(x, y)
        out = np.empty((*x.shape[:-1], y.shape[-1]), x.dtype)
        _shared(count, lambda part: np.matmul(x[part], y[part], out=out[part]), least=1)
        return out


def matmul_into(x: Any, y: Any, out: Any) -> None:
    """`np.matmul` of two matrices on one thread."""
    with _one_thread_of_numpy:
        np.matmul(x, y, out=out)


def shared(work: Callable[[int], None], count: int) -> None:
    """Does numbered pieces of work on several threads, each with one thread of OpenBLAS."""
    with _one_thread_of_numpy:
        crew.share(work, count)


def _shared(size: int, work: Callable[[slice], Any], least: int = _LEAST_SHARE) -> None:
    """Does slices of a range on several threads."""
    threads = threads_per_op()
    pieces = min(size, max(threads, min(size // least, _PIECES * threads)))
    ends = [size * i // pieces for i in range(pieces + 1)]
    crew.share(lambda i: work(slice(ends[i], ends[i + 1])), pieces)


def one_thread(rows: int) -> AbstractContextManager[None]:
    """For work on matrices with so many rows."""
    return _one_thread if _FEW_ROWS < rows <= _MOST_ROWS else _as_it_is


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


def functions_of_numpy(*names: str) -> list[Any]:
    """Functions of the OpenBLAS in NumPy's wheels, whose integers have 64 bits; none if it differs.

    It is loaded anyway; to load SciPy's takes a tenth of a second.
    """
    paths = [path for path in _paths() if "numpy" in path]
    if len(paths) != 1:
        return []
    library = ctypes.CDLL(paths[0])
    found = [getattr(library, f"scipy_{name}64_", None) for name in names]
    return [] if None in found else found


@functools.cache
def has_short_vectors() -> bool:
    """Whether NumPy's products use shorter vectors than this processor has."""
    functions = functions_of_numpy("openblas_get_corename")
    if not functions:
        return False
    functions[0].restype = ctypes.c_char_p
    core = functions[0]().decode()
    return _VECTOR_BYTES.get(core, LONGEST_VECTOR) < vector_bytes()


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
