"""What no tier makes faster: large products of matrices."""

from __future__ import annotations

from weft._src.core import blas
from weft._src.core.processors import threads_per_op, vector_bytes
from weft._src.graph.ir import Graph

# Multiplications from which machine code calls BLAS, too, rather than its own loops.
LARGE_PRODUCT = 1 << 27
_SHORT_VECTOR = 32  # bytes
_BY_TILES = 2  # times as fast, with vectors that are longer
_BESIDE_ARRANGING = 0.6  # of the time of tiles for arrays, at most
_MULTIPLICATIONS_PER_BYTE = 1e9  # of a vector: two of float32 in each of two billion cycles


def part_in_products(multiplications: float, best: float) -> float:
    """The part of a call of `best` seconds that NumPy spends with them.

    Args:
      multiplications: of large products.
      best: what the fastest call took.
    """
    if not multiplications:
        return 0.0
    return min(multiplications / _multiplications_per_second() / best, 1.0)


def bound_part(multiplications: float, best: float) -> float:
    """The part of such a call that machine code will need as well.

    Where OpenBLAS has short vectors, machine code does products without it; and once NumPy does so,
    too, machine code has what it need not arrange anew in each call.
    """
    part = part_in_products(multiplications, best)
    if not part or not blas.has_short_vectors():
        return part
    return part / _BY_TILES if blas.offer.kernels is None else min(part, _BESIDE_ARRANGING)


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
    """How fast NumPy should multiply float32 matrices: with OpenBLAS, or with tiles if they came.

    Not measured: that took as long as a call, and what came out depended on the moment.
    """
    is_slow = blas.has_short_vectors() and blas.offer.kernels is None
    vector = _SHORT_VECTOR if is_slow else vector_bytes()
    return threads_per_op() * _MULTIPLICATIONS_PER_BYTE * vector
