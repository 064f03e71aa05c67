"""How products by tiles are cut into blocks that stay in caches and are shared by threads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from weft._src.core.dtypes import DType
from weft._src.core.processors import second_cache_bytes
from weft._src.execution.native.machine import llvm, pool

# Rows of a tile by the number of its vectors, for 32 and for 16 vector registers.
_ROWS = {32: {1: 14, 2: 14, 3: 9}, 16: {1: 8, 2: 6, 3: 4}}
_FEW_ROWS = 96  # for which all of b is read again if the cache holds it: c is written in order
_PIECES = 16  # that threads take turns with, at most
_PIECE = 30_000  # nanoseconds of work that one of them has at least


@dataclass(frozen=True)
class Level:
    """Lines one after the other, and how far apart they are in a, b and c, in elements."""

    count: int
    a: int
    b: int
    c: int


@dataclass(frozen=True)
class Places:
    """Where the numbers of some products lie, counted in elements.

    A line is some rows of the result that lie equally far apart in a and c.
    """

    levels: tuple[Level, ...]  # of lines, the innermost last
    rows: int  # of each line
    columns: int
    depth: tuple[tuple[int, int], ...]  # steps and their distance in a, the innermost last
    a_row: int  # from row to row
    # b is read in whole vectors, so its rows have to be padded to full ones.
    b_row: int
    b_panel: int  # from one tile's columns to the next one's
    c_row: int
    line_elements: int  # how many numbers of a each further line reads
    a_first: int = 0
    c_first: int = 0

    @property
    def lines(self) -> int:
        """All of them."""
        return math.prod([level.count for level in self.levels])

    @property
    def steps(self) -> int:
        """Down the depth."""
        return math.prod([n for n, _ in self.depth])

    @property
    def work(self) -> int:
        """About how many nanoseconds it takes."""
        return self.lines * self.rows * self.columns * self.steps // 32


@dataclass(frozen=True)
class Blocks:
    """How many lines and panels a block has, and steps of the outermost loop over the depth."""

    lines: int
    panels: int
    steps: int
    line_blocks: int
    count: int
    chunks: int  # of the depth
    shared: bool  # by threads


def lanes_of(dtype: DType) -> int:
    """How many elements a vector register of this processor holds."""
    return llvm.vector_bytes() // int(dtype.size)


def vectors_for(columns: int, dtype: DType) -> int:
    """How many vectors wide tiles are: those that leave the fewest lanes empty, rather two."""
    needed = -(-columns // lanes_of(dtype))
    return min((2, 3, 1), key=lambda v: -(-needed // v) * v)


def most_rows(vectors: int) -> int:
    """The rows of a tile: as many as registers hold."""
    return _ROWS[32 if llvm.vector_bytes() == 64 else 16][vectors]


def even_rows(rows: int, vectors: int) -> list[tuple[int, int]]:
    """Tiles below each other that are about equally high: their number, and the rows of each.

    A low one at the end would take nearly as long as a high one.
    """
    tiles = -(-rows // most_rows(vectors))
    low, higher = divmod(rows, tiles)
    found = [(higher, low + 1), (tiles - higher, low)]
    return [(count, height) for count, height in found if count]


def row_count(vectors: int, rows: int) -> int:
    """The rows of all tiles but perhaps the last: rather a number that leaves no rest."""
    most = most_rows(vectors)
    fitting = [n for n in range(most, most - 5, -1) if n > 0 and rows % n == 0]
    return min(rows, fitting[0] if fitting else most)


def fewest_loops(depth: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same steps down the depth, in as few loops as they fit into.

    >>> fewest_loops([(3, 28), (3, 2), (2, 1), (1, 1)])
    [(3, 28), (6, 1)]
    """
    loops: list[tuple[int, int]] = []
    for n, stride in depth:
        if n == 1:
            continue
        if loops and loops[-1][1] == n * stride:
            loops[-1] = (loops[-1][0] * n, stride)
        else:
            loops.append((n, stride))
    return loops or [(1, 0)]


def blocks_of(places: Places, dtype: DType) -> Blocks:
    """The blocks of a product.

    A panel of b and the lines of a block fit into the second-level cache together. Among the ways
    to cut the result into enough blocks for threads that one is taken which reads the least: every
    block reads its lines and its panels.
    """
    cache = second_cache_bytes()
    width = lanes_of(dtype) * vectors_for(places.columns, dtype)
    panels = -(-places.columns // width)
    outer, inner = fewest_loops(places.depth)[0][0], 1
    inner = places.steps // outer
    # The depth: so much that a panel takes up two fifths of the cache.
    steps = max(1, min(outer, cache * 2 // 5 // (inner * width * dtype.size)))
    chunks = -(-outer // steps)
    steps = -(-outer // chunks)
    of_a, of_c = places.line_elements * steps // outer, places.rows * places.columns
    most_lines = max(1, min(places.lines, cache * 2 // 5 // ((of_a + of_c) * dtype.size)))
    if panels * places.steps * width * dtype.size <= cache * 2 // 5:
        most_lines = min(most_lines, -(-_FEW_ROWS // places.rows))
    shared = places.work >= pool.SHARED_FROM
    wanted = min(_PIECES, places.work // _PIECE) if shared else 1

    def reads(panel_blocks: int) -> tuple[int, int]:
        line_blocks = max(-(-places.lines // most_lines), -(-wanted // panel_blocks))
        line_blocks = min(line_blocks, places.lines)
        missing = wanted > line_blocks * panel_blocks
        from_a = places.lines * places.line_elements * panel_blocks
        from_b = panels * places.steps * width * line_blocks
        return missing, from_a + from_b

    panel_blocks = min(range(1, min(panels, max(wanted, 1)) + 1), key=reads)
    line_blocks = max(-(-places.lines // most_lines), -(-wanted // panel_blocks))
    lines = -(-places.lines // min(line_blocks, places.lines))
    of_panels = -(-panels // panel_blocks)
    line_blocks, panel_blocks = -(-places.lines // lines), -(-panels // of_panels)
    return Blocks(lines, of_panels, steps, line_blocks, line_blocks * panel_blocks, chunks, shared)
