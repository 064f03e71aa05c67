"""What no tier makes faster: large products of matrices."""

from __future__ import annotations

import functools
import time

import numpy as np

from weft._src.core import blas
from weft._src.core.machine_jobs import by_numpy
from weft._src.graph.ir import Graph

# Multiplications from which machine code calls BLAS, too, rather than its own loops.
LARGE_PRODUCT = 1 << 27
_BY_TILES = 2  # times as fast, with vectors that are longer
_SIDE, _RUNS = 384, 2


def bound_part(multiplications: float, best: float) -> float:
    """The part of a call of `best` seconds that machine code will need as well.

    Where OpenBLAS has short vectors, machine code does products without it.

    Args:
      multiplications: of large products.
      best: what the fastest call took.
    """
    if not multiplications:
        return 0.0
    part = multiplications / _multiplications_per_second() / best
    return min(part / _BY_TILES, 1 / _BY_TILES) if blas.has_short_vectors() else min(part, 1.0)


def large_multiplications(graph: Graph) -> float:
    """Those of the large products of a graph, as far as their sizes are known."""
    count = 0.0
    for node in graph.body:
        if node.op.multiplies is None:
            continue
        specs = [x.spec for x in node.inputs]
        found = node.op.multiplies(specs, node.outputs[0].spec, **node.attrs)
        if found > LARGE_PRODUCT:
            count += found * specs[0].dtype.size / 4  # numbers twice as long take twice as long
    return count


@functools.cache
def _multiplications_per_second() -> float:
    """How fast OpenBLAS multiplies float32 matrices, measured once.

    On the average and not at best: beside other work a large product is interrupted as well.
    """
    x = np.ones((_SIDE, _SIDE), np.float32)
    with by_numpy():
        blas.dot(x, x)  # wakes the threads
        started = time.perf_counter()
        for _ in range(_RUNS):
            blas.dot(x, x)
    return _RUNS * _SIDE**3 / (time.perf_counter() - started)
