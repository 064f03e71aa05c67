"""Products of many rows by vector code: matrix products, and convolutions without their columns.

A tile is a few rows of the result times a few vectors of its columns, computed by a function that
all products share (`tile_library.py`). What is written here goes from tile to tile. Where the
numbers of a lie is a matter of strides alone, so the windows of an image need no copy.
Lines of the result are shared out to threads; no sum is ever split, so bits do not depend on them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.execution.native.loops.blocks import base_of
from weft._src.execution.native.loops.kernels import tile_library
from weft._src.execution.native.loops.nests import pointer_loads
from weft._src.execution.native.loops.values import Kernel, Stored, Value
from weft._src.execution.native.machine import llvm, pool
from weft._src.execution.native.machine.builder import FINISHED_LOOP, Module, loop_lines
from weft._src.execution.native.machine.functions import RANGE, StepFunction

if TYPE_CHECKING:
    from weft._src.execution.native.loops.program import Program

_PIECES = 16  # that threads take turns with
# Rows of a tile by the number of its vectors, for 32 and for 16 vector registers.
_ROWS = {32: {1: 12, 2: 12, 3: 8}, 16: {1: 8, 2: 6, 3: 4}}


@dataclass(frozen=True)
class Places:
    """Where the numbers of some products lie, counted in elements."""

    groups: int  # products of a batch
    lines: int  # of each product, each `rows` rows of the result
    rows: int
    columns: int
    depth: tuple[tuple[int, int], ...]  # steps and their distance in a, the innermost last
    a_strides: tuple[int, int, int]  # from group to group, line to line, row to row
    # b is read in whole vectors, so its rows have to be padded to full ones.
    b_group: int
    b_row: int
    b_panel: int  # from one tile's columns to the next one's
    c_strides: tuple[int, int]  # from group to group, line to line
    a_first: int = 0
    c_first: int = 0

    @property
    def work(self) -> int:
        """About how many nanoseconds it takes."""
        steps = math.prod([n for n, _ in self.depth])
        return self.groups * self.lines * self.rows * self.columns * steps // 32


def lanes_of(dtype: DType) -> int:
    """How many elements a vector register of this processor holds."""
    return llvm.vector_bytes() // int(dtype.size)


def vectors_for(columns: int, dtype: DType) -> int:
    """How many vectors wide tiles are: those that leave the fewest lanes empty, rather two."""
    needed = -(-columns // lanes_of(dtype))
    return min((2, 3, 1), key=lambda v: -(-needed // v) * v)


class Tiles(Kernel):
    """c = a b, row by row of c; in several parts if not all lines are alike."""

    name = "tiles"

    def __init__(self, a: Value, b: Value, result: Stored, parts: Sequence[Places]) -> None:
        super().__init__([a, b])
        self.results = (result,)
        self.parts = parts

    @property
    def work(self) -> int:
        return sum(places.work for places in self.parts)

    def emit(self, program: Program) -> None:
        for places in self.parts:
            name = program.module.new_name("tiles")
            buffers = [program.memory[id(base_of(v))] for v in (*self.operands, *self.results)]
            pointers = pointer_loads(zip(["%a0", "%b0", "%c0"], buffers, strict=True))
            body = _Writer(program.module, places, self.results[0].dtype).body()
            program.module.functions.append(StepFunction(name, "void", "#0", pointers, body, RANGE))
            total = places.groups * places.lines
            if places.work < pool.SHARED_FROM or total == 1:
                program.line(f"call void @{name}(ptr %t, i64 0, i64 {total})")
            else:
                program.call_shared(name, total, max(1, total // _PIECES))


class _Writer:
    """The code of one part."""

    def __init__(self, module: Module, places: Places, dtype: DType) -> None:
        self.module = module
        self.places = places
        self.depth = _fewest_loops(places.depth)
        self.kind = "float" if dtype is dtypes.float32 else "double"
        self.lanes = lanes_of(dtype)
        self.vectors = vectors_for(places.columns, dtype)
        self.most_rows = row_count(self.vectors, places.rows)

    def body(self) -> str:
        """Of `void name(table, begin, end)`, which computes the lines from begin to end."""
        p = self.places
        lines = [
            "br label %o.head",
            "o.head:",
            "%o = phi i64 [%begin, %entry], [%o.next, %o.latch]",
            f"%group = udiv i64 %o, {p.lines}",
            f"%line = urem i64 %o, {p.lines}",
        ]
        lines += self._pointer("a", p.a_first, zip(["%group", "%line"], p.a_strides))
        lines += self._pointer("b", 0, [("%group", p.b_group)])
        lines += self._pointer("c", p.c_first, zip(["%group", "%line"], p.c_strides))
        width = self.lanes * self.vectors
        whole, rest = divmod(p.columns, width)
        if whole:
            lines += loop_lines("n", whole, "o.head", self._panel("w", "%n", width), FINISHED_LOOP)
        if rest:
            lines += self._panel("r", str(whole), rest)
        return "\n".join([
            *lines,
            "br label %o.latch",
            "o.latch:",
            "%o.next = add nuw nsw i64 %o, 1",
            "%o.more = icmp ult i64 %o.next, %end",
            f"br i1 %o.more, label %o.head, label %o.end, {FINISHED_LOOP}",
            "o.end:",
            "ret void",
        ])  # fmt: skip

    def _pointer(self, letter: str, first: int, steps: Iterable[tuple[str, int]]) -> list[str]:
        """%letter from %letter0, some steps further on."""
        lines, total = [], str(first)
        for number, (index, stride) in enumerate(steps):
            shift, further = f"%{letter}.shift.{number}", f"%{letter}.place.{number}"
            lines.append(f"{shift} = mul nsw i64 {index}, {stride}")
            lines.append(f"{further} = add nsw i64 {shift}, {total}")
            total = further
        return [*lines, f"%{letter} = getelementptr {self.kind}, ptr %{letter}0, i64 {total}"]

    def _panel(self, tag: str, panel: str, columns: int) -> list[str]:
        """All rows of a line times some columns."""
        kind, width = self.kind, self.lanes * self.vectors
        lines = [
            f"%b.shift.{tag} = mul nsw i64 {panel}, {self.places.b_panel}",
            f"%b.{tag} = getelementptr {kind}, ptr %b, i64 %b.shift.{tag}",
            f"%c.shift.{tag} = mul nsw i64 {panel}, {width}",
            f"%c.{tag} = getelementptr {kind}, ptr %c, i64 %c.shift.{tag}",
        ]
        whole, rest = divmod(self.places.rows, self.most_rows)
        if whole:
            lines += self._tiles(f"{tag}w", tag, 0, whole, self.most_rows, columns)
        if rest:
            lines += self._tiles(f"{tag}r", tag, whole * self.most_rows, 1, rest, columns)
        return lines

    def _tiles(
        self, tag: str, panel: str, first: int, tiles: int, rows: int, columns: int
    ) -> list[str]:
        """Tiles below each other, from the row `first` on."""
        p, kind = self.places, self.kind
        vectors = -(-columns // self.lanes)
        tile = tile_library.Tile(kind, self.lanes, rows, vectors, len(self.depth))
        last = columns - (vectors - 1) * self.lanes
        numbers = [tiles, p.a_strides[2], p.b_row, p.columns, last]
        numbers += [number for step in self.depth for number in step]
        pointers = f"ptr %a.{tag}, ptr %b.{panel}, ptr %c.{tag}"
        self.module.declare(tile.symbol, "void", tile.parameter_types)
        given = ", ".join([f"i64 {number}" for number in numbers])
        return [
            f"%a.{tag} = getelementptr {kind}, ptr %a, i64 {first * p.a_strides[2]}",
            f"%c.{tag} = getelementptr {kind}, ptr %c.{panel}, i64 {first * p.columns}",
            f"call void @{tile.symbol}({pointers}, {given})",
        ]


def _fewest_loops(depth: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same steps down the depth, in as few loops as they fit into.

    >>> _fewest_loops([(3, 28), (3, 2), (2, 1), (1, 1)])
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


def row_count(vectors: int, rows: int) -> int:
    """The rows of a tile: as many as registers hold, rather a number that leaves no rest."""
    registers = 32 if llvm.vector_bytes() == 64 else 16
    most = _ROWS[registers][vectors]
    fitting = [n for n in range(most, most - 3, -1) if rows % n == 0]
    return min(rows, fitting[0] if fitting else most)
