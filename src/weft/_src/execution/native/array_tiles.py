"""Tiles of machine code for arrays that are there, without a program made for their sizes.

What tiles and their driver do is told by numbers (`tile_driver.py`), so any product or convolution
can call them as soon as they are loaded: in the background, where LLVM takes 1 to 10 ms for each
the first time, less from disk. Until then NumPy does the work.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.crew import crew
from weft._src.core.dtypes import DType
from weft._src.core.flags import flags
from weft._src.core.processors import is_one_idle
from weft._src.execution.background import worker
from weft._src.execution.native.loops.kernels import tile_driver
from weft._src.execution.native.loops.kernels.blocking import (
    Places,
    RightSide,
    blocks_of,
    lanes_of,
    vectors_for,
)
from weft._src.execution.native.loops.kernels.tile_library import Tile
from weft._src.execution.native.loops.kernels.tiles import region_words
from weft._src.execution.native.loops.stripes import Striping
from weft._src.execution.native.machine import guarded, library, pool
from weft._src.ops.nn.windows import Geometry

Array = np.ndarray[Any, Any]


class _NotLoadedError(Exception):
    """Tiles that have to be compiled first."""


_asked: set[str] = set()


def _ask_for(symbols: Iterable[str]) -> None:
    """Has functions loaded, once: in the background, if a processor is idle.

    Else it would take from NumPy what it needs, and more, as NumPy uses all processors here.
    """
    missing = [symbol for symbol in symbols if symbol not in _asked]
    _asked.update(missing)
    if not missing:
        return
    is_awaited = not worker.is_at_work and not is_one_idle()
    job = worker.submit(lambda: _load(missing))
    if is_awaited:
        worker.finish(job)


def _are_missing(symbols: Iterable[str]) -> bool:
    return any(library.address(symbol) is None for symbol in symbols)


def _load(symbols: Sequence[str]) -> None:
    """Functions, and the pool that shares their work: a call must not have to wait for LLVM."""
    pool.start()
    library.load(symbols)


class _Table:
    """The numbers of a product, and the functions they stand for."""

    def __init__(self, regions: Sequence[Places], dtype: DType) -> None:
        self.shared = sum(places.work for places in regions) >= pool.SHARED_FROM
        blocks = [blocks_of(places, dtype, shared=self.shared) for places in regions]
        self.count = sum(cut.count for cut in blocks)
        self.words: list[int | Tile] = []
        for places, cut in zip(regions, blocks, strict=True):
            self.words += region_words(places, cut, dtype)
        self.kind = "float" if dtype is dtypes.float32 else "double"
        self._ready: Any = None

    def ready(self) -> Any:
        """The numbers in memory; raises as long as functions are missing."""
        if self._ready is None:
            symbols = {word.symbol for word in self.words if isinstance(word, Tile)}
            symbols |= {tile_driver.symbol(self.kind), tile_driver.caller(self.kind)}
            if _are_missing(symbols):
                _ask_for(sorted(symbols))
                if _are_missing(symbols):
                    raise _NotLoadedError
            numbers = [
                (library.address(word.symbol) or 0) if isinstance(word, Tile) else word
                for word in self.words
            ]
            self._ready = (ctypes.c_int64 * len(numbers))(*numbers)
        return self._ready


@functools.lru_cache(maxsize=512)
def _table(regions: tuple[Places, ...], dtype: DType) -> _Table:
    return _Table(regions, dtype)


_WORK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_SHARE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


class ArrayMaker:
    """Makes arrays (`direct.Maker`)."""

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype

    def stripes(
        self, x: Array, shape: tuple[int, ...], *, copy: bool, rows: int, apart: int = 0
    ) -> RightSide:
        """Of an array whose elements are read in this shape."""
        k, n = shape[-2:]
        lanes, vectors = lanes_of(self.dtype), vectors_for(n, self.dtype, rows, apart)
        width = lanes * vectors
        if n % lanes == 0 and (n <= width or not copy):
            return RightSide(x, n, width, vectors)
        return RightSide(Striping(shape, width).of(x), width, k * width, vectors)

    def turned_stripes(
        self, filters: Array, shape: tuple[int, int, int], rows: int, apart: int
    ) -> RightSide:
        """Of filters that lead back."""
        taps, inputs, outputs = shape
        vectors = vectors_for(inputs, self.dtype, rows, apart)
        width = lanes_of(self.dtype) * vectors
        stripes = Striping(shape, width, leads_back=True).of(filters)
        return RightSide(stripes, width, taps * outputs * width, vectors)

    def channel_stripes(self, image: Array, width: int) -> Array:
        """A copy."""
        channels = image.shape[-1]
        return Striping((image.size // channels, channels), width).of(image)

    def bordered(self, x: Array, where: Geometry) -> Array:
        """With zeros around."""
        return where.pad(np, x)

    def product(
        self, a: Array, b: Array, shape: tuple[int, ...], regions: Sequence[Places]
    ) -> Array:
        """By tiles, on all threads if there is enough to do."""
        table = _table(tuple(regions), self.dtype)
        words = table.ready()
        if flags.guard_pages:
            a, b, out = guarded.guarded(a), guarded.guarded(b), guarded.empty(shape, a.dtype)
        else:
            out = np.empty(shape, a.dtype)
        arrays = (a.ctypes.data, b.ctypes.data, out.ctypes.data)
        pointers = (ctypes.c_void_p * 4)(ctypes.addressof(words), *arrays)
        caller = library.address(tile_driver.caller(table.kind))
        assert caller is not None
        if table.shared and table.count > 1:
            pool.start()
            crew.shared += 1
            _SHARE(pool.address())(caller, ctypes.addressof(pointers), table.count, 1)
        else:
            _WORK(caller)(ctypes.addressof(pointers), 0, table.count)
        return out

    def sum_of_parts(self, x: Array) -> Array:
        """In their order."""
        return x[0] if len(x) == 1 else np.sum(x, axis=0)


MAKERS = {
    np.dtype(np.float32): ArrayMaker(dtypes.float32),
    np.dtype(np.float64): ArrayMaker(dtypes.float64),
}


def attempt(make: Callable[[], Array | None]) -> Array | None:
    """What is made by tiles; None as long as some are missing."""
    try:
        return make()
    except _NotLoadedError:
        return None
