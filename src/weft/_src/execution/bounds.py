"""What no tier makes faster: large products of matrices."""

from __future__ import annotations

from weft._src.core import blas
from weft._src.core.processors import threads_per_op, vector_bytes
from weft._src.graph.ir import Graph

# Multiplications from which machine code calls BLAS, too, rather than its own loops.
LARGE_PRODUCT = 1 << 27
_SHORT_VECTOR = 32  # bytes
_BY_TILES = 2  # times as fast, with vectors that are longer
_MULTIPLICATIONS_PER_BYTE = 1e9  # of a vector: two of float32 in each of two billion cycles


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


def _multiplications_per_second() -> float:
    """How fast OpenBLAS should multiply float32 matrices.

    Not measured: that took as long as a call, and what came out depended on the moment.
    """
    vector = _SHORT_VECTOR if blas.has_short_vectors() else vector_bytes()
    return threads_per_op() * _MULTIPLICATIONS_PER_BYTE * vector
