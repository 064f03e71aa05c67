"""What no tier makes faster: large products of matrices, which all of them leave to BLAS."""

from __future__ import annotations

import functools
import time

import numpy as np

from weft._src.core import blas
from weft._src.graph.ir import Graph

# Multiplications from which machine code calls BLAS, too, rather than its own loops.
LARGE_PRODUCT = 1 << 27
_SIDE, _RUNS = 512, 5


def bound_seconds(graph: Graph) -> float:
    """What the large products of a graph take on this machine, as far as their sizes are known."""
    count = 0.0
    for node in graph.body:
        if node.op.multiplies is None:
            continue
        specs = [x.spec for x in node.inputs]
        found = node.op.multiplies(specs, node.outputs[0].spec, **node.attrs)
        if found > LARGE_PRODUCT:
            count += found * specs[0].dtype.size / 4  # numbers twice as long take twice as long
    return count / _multiplications_per_second() if count else 0.0


@functools.cache
def _multiplications_per_second() -> float:
    """How fast float32 matrices are multiplied, measured once.

    On the average and not at best: beside other work a large product is interrupted as well.
    """
    x = np.ones((_SIDE, _SIDE), np.float32)
    blas.dot(x, x)  # wakes the threads
    started = time.perf_counter()
    for _ in range(_RUNS):
        blas.dot(x, x)
    return _RUNS * _SIDE**3 / (time.perf_counter() - started)
