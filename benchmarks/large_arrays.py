"""Large arrays before there is machine code for a graph, and what tiles take LLVM.

"Products" are those of arrays by tiles, beside OpenBLAS with as many threads: where OpenBLAS has
vectors as long as the processor, NumPy keeps them, and there is no row. "In pieces" is the NumPy
tier with long elementwise work, beside NumPy going through memory for each op. A tile is compiled
from what is written for the assembler, and from what is written for LLVM.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

import weft as tf
from benchmarks.harness import Peers, Row, best_time, in_turns, microseconds, timer_of
from weft._src.core import blas
from weft._src.core.machine_jobs import by_numpy
from weft._src.execution.background import worker
from weft._src.execution.native.loops.kernels import tile_assembly, tile_library
from weft._src.execution.native.loops.kernels.blocking import lanes_of, most_rows
from weft._src.execution.native.loops.kernels.tile_library import Tile
from weft._src.execution.native.machine import llvm
from weft._src.execution.native.product_kernels import ProductKernels
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.passes.pieces import cut_into_pieces

_SIZES = [
    (1024, 1024, 1024), (2048, 2048, 2048), (4096, 256, 256), (128, 1024, 4096), (64, 784, 256)
]  # fmt: skip
_NUMBERS = (1_000_000, 4_000_000)
_ROUNDS, _SECONDS = 9, 0.05

rng = np.random.default_rng(0)


def run(peers: Peers) -> list[Row]:
    """All rows."""
    rows = [_product(*sizes) for sizes in _SIZES] if blas.has_short_vectors() else []
    rows += [_in_pieces(name, function, n) for name, function in _FUNCTIONS for n in _NUMBERS]
    return [*rows, *_tiles()]


def _product(m: int, k: int, n: int) -> Row:
    a, b = [rng.normal(size=shape).astype(np.float32) for shape in ((m, k), (k, n))]
    kernels = ProductKernels()
    while kernels.product(a, b) is None:
        worker.wait()

    def by_blas() -> Any:
        with by_numpy():
            return blas.dot(a, b)

    functions = {"tiles": lambda: kernels.product(a, b), "OpenBLAS": by_blas}
    return _row(f"OpenBLAS / product of arrays: {m}x{k} by {k}x{n}", functions)


def _gelu(x: Any) -> Any:
    return 0.5 * x * (1.0 + tf.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def _gradient(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = _gelu(x)
    return tape.gradient(y, x)


_FUNCTIONS = [("gelu", _gelu), ("gradient of gelu", _gradient)]


def _in_pieces(name: str, function: Callable[[Any], Any], numbers: int) -> Row:
    x = rng.normal(size=numbers).astype(np.float32)
    graph = tf.function(function).get_concrete_function(tf.constant(x)).graph
    plans = {"in pieces": NumpyPlan(cut_into_pieces(graph)), "whole": NumpyPlan(graph)}
    functions = {how: lambda plan=plan: plan(x) for how, plan in plans.items()}
    return _row(f"whole arrays / in pieces: {name}, {numbers:,} numbers", functions)


def _row(title: str, functions: dict[str, Callable[[], Any]]) -> Row:
    times = in_turns({who: timer_of(f, _SECONDS) for who, f in functions.items()}, _ROUNDS)
    mine, other = times.values()
    shown = ", ".join(f"{who} {microseconds(seconds)}" for who, seconds in times.items())
    return Row(title, other / mine, ">= 1", shown)


def _tiles() -> list[Row]:
    """How long LLVM takes for all float32 tiles, written in one way and the other."""
    ratios, mine = [], []
    for vectors in (1, 2, 3, 4):
        for rows in range(1, most_rows(vectors) + 1):
            tile = Tile("float", lanes_of(tf.float32), rows, vectors)
            written = tile_assembly.assembly(tile, 32)
            if written is None:
                return []
            for_llvm = tile_library.tile_for_llvm(tile)
            texts = {"assembler": written, "LLVM": for_llvm}
            times = {
                who: best_time(lambda text=text: llvm.finished_code(text), seconds=0.05, repeat=3)
                for who, text in texts.items()
            }
            ratios.append(times["LLVM"] / times["assembler"])
            mine.append(times["assembler"])
    shown = f"{len(ratios)} tiles, {microseconds(statistics.median(mine))} each"
    return [Row("compiling a tile: LLVM's text / assembler", min(ratios), ">= 2", shown)]
