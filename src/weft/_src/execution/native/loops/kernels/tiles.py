"""Products of many rows by vector code: matrix products, and convolutions without their columns.

A tile is a few rows of the result times a few vectors of its columns, computed by a function that
all products share (`tile_library.py`). Another one goes from tile to tile (`tile_driver.py`), led
by numbers that are written here. Where the numbers of a lie is a matter of strides alone, so the
windows of an image need no copy.

The result is cut into blocks, some lines times some panels of columns, which threads share. In a
block each panel of b meets all lines, so that the lines of a block stay in the second-level cache
as long as all panels pass by, and a panel as long as all lines do (`blocking.py`). Where a panel is
too long for that, the depth is cut as well, and sums go on where they ended. No sum is ever split,
so bits depend neither on blocks nor on threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.execution.native.loops.blocks import base_of
from weft._src.execution.native.loops.kernels import tile_driver
from weft._src.execution.native.loops.kernels.blocking import (
    Blocks,
    Places,
    ahead_in_a,
    ahead_of,
    blocks_of,
    even_rows,
    lanes_of,
)
from weft._src.execution.native.loops.kernels.tile_library import Tile
from weft._src.execution.native.loops.nests import pointer_loads
from weft._src.execution.native.loops.values import Kernel, Stored, Value
from weft._src.execution.native.machine import pool
from weft._src.execution.native.machine.builder import Module
from weft._src.execution.native.machine.functions import RANGE, StepFunction

if TYPE_CHECKING:
    from weft._src.execution.native.loops.program import Program


class Tiles(Kernel):
    """c = a b, row by row of c; in several regions if not all lines are alike.

    Regions have no element of c in common, and cover it together.
    """

    name = "tiles"

    def __init__(self, a: Value, b: Value, result: Stored, regions: Sequence[Places]) -> None:
        super().__init__([a, b])
        self.results = (result,)
        self.regions = regions

    @property
    def work(self) -> int:
        return sum(places.work for places in self.regions)

    def emit(self, program: Program) -> None:
        dtype, work = self.results[0].dtype, self.work
        kind = "float" if dtype is dtypes.float32 else "double"
        shared = work >= pool.SHARED_FROM
        blocks = [blocks_of(places, dtype, shared=shared) for places in self.regions]
        words = [
            word
            for places, cut in zip(self.regions, blocks, strict=True)
            for word in region_words(places, cut, dtype)
        ]
        table = table_of(program.module, words)
        name = program.module.new_name("tiles")
        buffers = [program.memory[id(base_of(v))] for v in (*self.operands, *self.results)]
        pointers = pointer_loads(zip(["%a", "%b", "%c"], buffers, strict=True))
        driver = tile_driver.symbol(kind)
        program.module.declare(driver, "void", tile_driver.PARAMETERS)
        given = f"ptr {table}, ptr %a, ptr %b, ptr %c, i64 %begin, i64 %end"
        body = f"call void @{driver}({given})\nret void"
        program.module.functions.append(StepFunction(name, "void", "#0", pointers, body, RANGE))
        count = sum(cut.count for cut in blocks)
        if shared and count > 1:
            program.call_shared(name, count, 1)
        else:
            program.line(f"call void @{name}(ptr %t, i64 0, i64 {count})")


def table_of(module: Module, words: Sequence[int | Tile]) -> str:
    """The words of regions as constants of a module."""
    return module.words([_item(module, word) for word in words])


def _item(module: Module, word: int | Tile) -> str:
    """A word of the table, with its type."""
    if isinstance(word, int):
        return f"i64 {word}"
    module.declare(word.symbol, "void", word.parameter_types)
    return f"ptr @{word.symbol}"


def region_words(places: Places, blocks: Blocks, dtype: DType) -> list[int | Tile]:
    """What the driver is told of a region: numbers, and which tiles it consists of."""
    lanes, vectors = lanes_of(dtype), places.vectors
    kind = "float" if dtype is dtypes.float32 else "double"
    width = lanes * vectors
    whole, rest = divmod(places.columns, width)
    of_rest = -(-rest // lanes) or vectors
    heights = even_rows(places.rows, vectors)
    (high_tiles, high), (low_tiles, low) = [*heights, (0, heights[0][1])][:2]

    def function(rows: int, vectors: int) -> Tile:
        return Tile(kind, lanes, rows, vectors, places.channels)

    found: dict[str, int | Tile] = {
        "blocks": blocks.count,
        "line_blocks": blocks.line_blocks, "block_lines": blocks.lines, "lines": places.lines,
        "block_panels": blocks.panels, "whole_panels": whole, "panels": whole + (rest > 0),
        "chunk": blocks.steps, "chunks": blocks.chunks, "goes_on": int(places.goes_on),
        "a_panel": width if places.channels else 0,
        "b_panel": places.b_panel, "c_panel": width,
        "ahead": ahead_of(places, blocks, dtype), "ahead_a": ahead_in_a(places, blocks, dtype),
        "a_first": places.a_first, "b_first": places.b_first, "c_first": places.c_first,
        "a_row": places.a_row, "c_row": places.c_row,
        "last": lanes, "last_of_rest": rest - (of_rest - 1) * lanes if rest else lanes,
        "high_tiles": high_tiles, "low_tiles": low_tiles,
        "low_a": high_tiles * high * places.a_row, "low_c": high_tiles * high * places.c_row,
        "high": function(high, vectors), "high_of_rest": function(high, of_rest),
        "low": function(low, vectors), "low_of_rest": function(low, of_rest),
    }  # fmt: skip
    levels = places.levels[::-1]
    for i in reversed(range(tile_driver.LINE_LEVELS)):
        level = levels[tile_driver.LINE_LEVELS - 1 - i] if i > 2 - len(levels) else None
        numbers = (1, 0, 0, 0) if level is None else (level.count, level.a, level.b, level.c)
        names = ("count", "line_a", "line_b", "line_c")
        found.update({f"{what}{i}": n for what, n in zip(names, numbers, strict=True)})
    for i, loop in enumerate(blocks.depth):
        found.update({f"{what}{i}": n for what, n in zip("nst", loop, strict=True)})
    return [found[word] for word in tile_driver.WORDS]
