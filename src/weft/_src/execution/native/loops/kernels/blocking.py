"""How products by tiles are cut into blocks that stay in caches and are shared by threads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft._src.core.dtypes import DType
from weft._src.core.processors import second_cache_bytes
from weft._src.execution.native.loops.kernels.tile_library import LEVELS
from weft._src.execution.native.machine import llvm

# Rows of a tile by the number of its vectors, for 32 and for 16 vector registers.
_ROWS = {32: {1: 14, 2: 14, 3: 9, 4: 6}, 16: {1: 8, 2: 6, 3: 4, 4: 2}}
_WIDTHS = (4, 3, 2, 1)  # of tiles, in vectors
# Numbers so many bytes apart fall into the same lines of a first-level cache, which has so many.
PAGE, _LINES = 4096, 8
PAD = 16  # numbers behind a row
COPY_FROM = 64  # rows from which stripes of the right side pay
LINE_ROWS = 56  # of most lines
_ADDRESSES = 8  # that registers hold
_FEW_ROWS = 96  # for which all of b is read again if the cache holds it: c is written in order
_STREAMED_STEPS = 32  # rows of a matrix that is read once
_FEWEST_STEPS = 64  # before sums are put aside
_FEW_ACROSS = 32  # rows that are read across
_PANEL_BYTES = 16 << 10  # of b that all rows read again: a part of any first-level cache
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
    """Where the numbers of a region of a product lie, counted in elements.

    A line is some rows of the result that lie equally far apart in a and c.
    """

    levels: tuple[Level, ...]  # of lines, the innermost last; three at most
    rows: int  # of each line
    columns: int
    vectors: int  # of a panel
    # Steps and their distances in a and b, the innermost last; three at most.
    depth: tuple[tuple[int, int, int], ...]
    a_row: int  # from row to row
    # b is read in whole vectors, so its rows have to be padded to full ones.
    b_panel: int  # from one tile's columns to the next one's
    c_row: int
    line_elements: int  # how many numbers of a each further line reads
    a_first: int = 0
    b_first: int = 0
    c_first: int = 0
    channels: bool = False  # each column has its own numbers of a, beside each other
    goes_on: bool = False  # whether the product is added to what c holds

    @property
    def lines(self) -> int:
        """All of them."""
        return math.prod([level.count for level in self.levels])

    @property
    def reads_across(self) -> bool:
        """Whether what one step reads of a for all rows lies together, and not the steps of a row.

        Then few steps for many rows come at once: many steps for a few rows would be numbers that
        lie a power of two apart, of which caches hold a few only.
        """
        return self.a_row == 1 and not self.channels

    @property
    def rows_across(self) -> int:
        """How many rows a step reads, if they are read across."""
        return self.rows * self.levels[-1].count

    @property
    def reads_once(self) -> bool:
        """Whether b is a matrix as it is, of which panels are parts of long rows.

        Then a few rows of it come at once, for all panels: it is read from the beginning to the
        end, as memory is read fastest.
        """
        return not self.channels and self.b_panel < self.columns

    @property
    def steps(self) -> int:
        """Down the depth."""
        return math.prod([n for n, _, _ in self.depth])

    @property
    def work(self) -> int:
        """About how many nanoseconds it takes."""
        pace = 8 if self.channels else 32
        return self.lines * self.rows * self.columns * (self.steps + 1) // pace


Loops = list[tuple[int, int, int]]


@dataclass(frozen=True)
class Blocks:
    """How a region is cut."""

    lines: int  # of a block
    panels: int  # of a block
    line_blocks: int
    count: int
    depth: Loops  # three loops
    steps: int  # of the outermost that come at once
    chunks: int  # of the depth


def lanes_of(dtype: DType) -> int:
    """How many elements a vector register of this processor holds."""
    return llvm.vector_bytes() // int(dtype.size)


def vectors_for(columns: int, dtype: DType, rows: int = LINE_ROWS, apart: int = 0) -> int:
    """How many vectors wide tiles are, for lines of so many rows: what takes the least time.

    Where rows of a lie whole pages apart, a tile has no more of them than a cache has lines there.
    """
    needed = -(-columns // lanes_of(dtype))
    widths: Sequence[int] = _WIDTHS
    if apart and apart % PAGE == 0:
        low = [width for width in widths if most_rows(width) <= _LINES and width <= needed]
        widths = low or widths

    def time(vectors: int) -> float:
        """In cycles, of one step down the depth over all columns."""
        one_line = sum(n * _step_time(height, vectors) for n, height in even_rows(rows, vectors))
        return -(-needed // vectors) * one_line

    return min(widths, key=time)


def _step_time(rows: int, vectors: int) -> float:
    """Two multiplications and two loads begin in a cycle; a sum waits four for the one before.

    High tiles take longer: there are no registers for the addresses of all rows.
    """
    sums = rows * vectors
    in_turns = max(sums / 2, (rows + vectors) / 2, 4.0, (sums + rows + vectors + 10) / 4.5)
    return in_turns + max(0, rows - _ADDRESSES) / 4


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


def row_lines(m: int) -> list[tuple[int, int, int]]:
    """Rows in lines that threads share: (the first row, how many lines, the rows of each)."""
    if m <= 2 * LINE_ROWS:
        return [(0, 1, m)]
    return whole_and_rest(m, LINE_ROWS)


ONE = Level(1, 0, 0, 0)


def product_places(
    sizes: tuple[int, int, int],
    right: RightSide,
    lines: Sequence[tuple[int, int, int]],
    *,
    row: int,
    step: int,
    whole_row: int,
    batch: Level = ONE,
) -> list[Places]:
    """The regions of a product of matrices.

    Args:
      sizes: m, n and k.
      right: the right side.
      lines: as `row_lines` gives them.
      row: how far the next row of a is away, in elements.
      step: the same of the next step down the depth.
      whole_row: the same of a line for each of its rows.
      batch: products like this one.
    """
    _, n, k = sizes
    return [
        Places(
            levels=(batch, Level(number, rows * whole_row, 0, rows * n)),
            rows=rows,
            columns=n,
            vectors=right.vectors,
            depth=((k, step, right.row),),
            a_row=row,
            b_panel=right.panel,
            c_row=n,
            line_elements=rows * k,
            a_first=first * whole_row,
            c_first=first * n,
        )
        for first, number, rows in lines
    ]


def are_pages_apart(m: int, n: int, row_bytes: int) -> bool:
    """Whether rows of a are to be copied with something behind each (`PAD`)."""
    return min(4 * m, n) >= COPY_FROM and row_bytes % PAGE == 0


def whole_and_rest(m: int, rows: int) -> list[tuple[int, int, int]]:
    """Lines of so many rows, and one of what is left.

    >>> whole_and_rest(70, 32), whole_and_rest(10, 16)
    ([(0, 2, 32), (64, 1, 6)], [(0, 1, 10)])
    """
    lines, rest = divmod(m, rows)
    found = [(0, lines, rows), (m - rest, 1, rest)]
    return [line for line in found if line[1] and line[2]]


def fewest_loops(depth: Sequence[tuple[int, int, int]]) -> Loops:
    """The same steps down the depth in three loops, with as much as can be in the innermost.

    >>> fewest_loops([(3, 28, 60), (3, 2, 20), (2, 1, 10), (1, 1, 1)])
    [(1, 0, 0), (3, 28, 60), (6, 1, 10)]
    """
    loops: Loops = []
    for n, in_a, in_b in depth:
        if n == 1:
            continue
        if loops and loops[-1][1:] == (n * in_a, n * in_b):
            loops[-1] = (loops[-1][0] * n, in_a, in_b)
        else:
            loops.append((n, in_a, in_b))
    return [(1, 0, 0)] * (LEVELS - len(loops)) + loops


def _cut_depth(places: Places, width: int, most: int, size: int) -> tuple[Loops, int]:
    """The depth in three loops, and how many steps of the outermost come at once.

    So many that a panel and what a line reads are `most` numbers of `size` bytes at most.
    """
    loops = fewest_loops(places.depth)
    if 0 in [n for n, _, _ in loops]:
        return loops, 1
    of_line = width if places.channels else places.line_elements // places.steps
    steps = max(1, most // (width + of_line))
    if places.reads_once:
        steps = min(steps, _STREAMED_STEPS)
    if places.reads_across:
        if places.reads_once and places.rows_across <= _FEW_ACROSS:
            steps = _STREAMED_STEPS // 2  # sums are so few that they can be put aside sooner
        else:
            steps = min(most * 2 // places.rows_across, _PANEL_BYTES // size // width)
            steps = max(_FEWEST_STEPS, steps)
    if steps >= places.steps:
        return loops, loops[0][0]
    real = [loop for loop in loops if loop[0] > 1]
    (n, in_a, in_b), *others = real
    inner = math.prod([count for count, _, _ in others])
    if len(real) < LEVELS and inner * 2 <= steps:  # one long loop becomes two
        m = next(m for m in range(steps // inner, 0, -1) if n % m == 0)
        real, at_once = [(n // m, in_a * m, in_b * m), (m, in_a, in_b), *others], 1
    else:
        at_once = max(1, steps // inner)
    # The outermost is the one that is cut.
    return [real[0], *[(1, 0, 0)] * (LEVELS - len(real)), *real[1:]], at_once


def blocks_of(places: Places, dtype: DType, *, shared: bool) -> Blocks:
    """The blocks of a region, which threads share or not.

    A panel of b and the lines of a block fit into the second-level cache together. Among the ways
    to cut the result into enough blocks for threads that one is taken which reads the least: every
    block reads its lines and its panels.
    """
    cache = second_cache_bytes() // dtype.size
    width = lanes_of(dtype) * places.vectors
    panels = -(-places.columns // width)
    depth, steps = _cut_depth(places, width, cache // 8, int(dtype.size))
    outer = max(1, depth[0][0])
    chunks = -(-outer // steps)
    steps = -(-outer // chunks)
    of_a, of_c = places.line_elements * steps // outer, places.rows * places.columns
    most_lines = max(1, min(places.lines, cache * 2 // 5 // (of_a + of_c)))
    if panels * places.steps * width <= cache * 2 // 5 and not places.reads_across:
        rows = 1 if places.channels else _FEW_ROWS
        most_lines = min(most_lines, -(-rows // places.rows))
    wanted = max(1, min(_PIECES, places.work // _PIECE)) if shared else 1

    def line_blocks_for(panel_blocks: int) -> int:
        needed = max(-(-places.lines // most_lines), -(-wanted // panel_blocks))
        return min(needed, places.lines)

    def reads(panel_blocks: int) -> tuple[bool, int]:
        line_blocks = line_blocks_for(panel_blocks)
        from_a = places.lines * places.line_elements * (1 if places.channels else panel_blocks)
        from_b = panels * places.steps * width * line_blocks
        return wanted > line_blocks * panel_blocks, from_a + from_b

    panel_blocks = min(range(1, min(panels, wanted) + 1), key=reads)
    lines = -(-places.lines // line_blocks_for(panel_blocks))
    of_panels = -(-panels // panel_blocks)
    line_blocks, panel_blocks = -(-places.lines // lines), -(-panels // of_panels)
    return Blocks(lines, of_panels, line_blocks, line_blocks * panel_blocks, depth, steps, chunks)


def ahead_of(places: Places, blocks: Blocks, dtype: DType) -> int:
    """How far ahead in b lies what tiles fetch meanwhile, in elements; 0 if caches hold all of b.

    That is the next panel, or what comes behind all panels of some rows. Each tile fetches a part,
    so the tiles of a line have to be as many as a panel has vectors.
    """
    tiles = sum(count for count, _ in even_rows(places.rows, places.vectors))
    numbers = places.columns * places.steps
    if places.channels or tiles < places.vectors:
        return 0
    if numbers <= second_cache_bytes() // dtype.size // 2:
        return 0
    return blocks.steps * blocks.depth[0][2] if places.reads_once else places.b_panel


def ahead_in_a(places: Places, blocks: Blocks, dtype: DType) -> int:
    """How far ahead in a lies what tiles fetch meanwhile: the same rows, some steps further.

    Steps of what is read across lie so far from each other that processors do not see them coming,
    but for few rows, which follow each other line by line of a cache.
    """
    numbers = places.lines * places.line_elements
    if not places.reads_across or places.rows_across <= _FEW_ACROSS:
        return 0
    if numbers <= second_cache_bytes() // dtype.size // 2:
        return 0
    return blocks.steps * blocks.depth[0][1]


@dataclass(frozen=True)
class RightSide:
    """The right side of products by tiles: stripes, or a matrix as it is."""

    value: Any
    row: int  # from row to row, in elements
    panel: int  # from one tile's columns to the next one's
    vectors: int  # of a panel
