"""Products of many rows by vector code: matrix products, and convolutions without their columns.

A tile is a few rows of the result times a few vectors of its columns, computed by a function that
all products share (`tile_library.py`). What is written here goes from tile to tile. Where the
numbers of a lie is a matter of strides alone, so the windows of an image need no copy.

The result is cut into blocks, some lines times some panels of columns, which threads share. In a
block each panel of b meets all lines, so that the lines of a block stay in the second-level cache
as long as all panels pass by, and a panel as long as all lines do (`blocking.py`). Where a panel is
too long for that, the depth is cut as well, and sums go on where they ended. No sum is ever split,
so bits depend neither on blocks nor on threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.execution.native.loops.blocks import base_of
from weft._src.execution.native.loops.kernels import tile_library
from weft._src.execution.native.loops.kernels.blocking import (
    Blocks,
    Places,
    blocks_of,
    even_rows,
    fewest_loops,
    lanes_of,
    vectors_for,
)
from weft._src.execution.native.loops.nests import pointer_loads
from weft._src.execution.native.loops.values import Kernel, Stored, Value
from weft._src.execution.native.machine.builder import FINISHED_LOOP, Module, loop_lines
from weft._src.execution.native.machine.functions import RANGE, StepFunction

if TYPE_CHECKING:
    from weft._src.execution.native.loops.program import Program


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
        dtype = self.results[0].dtype
        for places in self.parts:
            name = program.module.new_name("tiles")
            buffers = [program.memory[id(base_of(v))] for v in (*self.operands, *self.results)]
            pointers = pointer_loads(zip(["%a0", "%b0", "%c0"], buffers, strict=True))
            blocks = blocks_of(places, dtype)
            body = _Writer(program.module, places, blocks, dtype).body()
            program.module.functions.append(StepFunction(name, "void", "#0", pointers, body, RANGE))
            if blocks.count == 1 or not blocks.shared:
                program.line(f"call void @{name}(ptr %t, i64 0, i64 {blocks.count})")
            else:
                program.call_shared(name, blocks.count, 1)


class _Writer:
    """The code of one part."""

    def __init__(self, module: Module, places: Places, blocks: Blocks, dtype: DType) -> None:
        self.module = module
        self.places = places
        self.blocks = blocks
        self.depth = fewest_loops(places.depth)
        self.kind = "float" if dtype is dtypes.float32 else "double"
        self.lanes = lanes_of(dtype)
        self.vectors = vectors_for(places.columns, dtype)

    def body(self) -> str:
        """Of `void name(table, begin, end)`, which computes the blocks from begin to end."""
        p, blocks = self.places, self.blocks
        width = self.lanes * self.vectors
        whole, rest = divmod(p.columns, width)
        self.module.declare("llvm.smin.i64", "i64", "i64, i64")
        lines = [
            "br label %u.head",
            "u.head:",
            "%u = phi i64 [%begin, %entry], [%u.next, %u.latch]",
            f"%of.panels = udiv i64 %u, {blocks.line_blocks}",
            f"%of.lines = urem i64 %u, {blocks.line_blocks}",
            *_range("panel", "%of.panels", blocks.panels, whole + (rest > 0)),
            *_range("line", "%of.lines", blocks.lines, p.lines),
        ]
        inner = [
            *_range("step", "%k", blocks.steps, self.depth[0][0]),
            "%adds.bit = icmp ne i64 %k, 0",
            "%adds = zext i1 %adds.bit to i64",
        ]
        if whole:
            inner += [
                f"%panel.end = call i64 @llvm.smin.i64(i64 %panel.stop, i64 {whole})",
                "%panel.whole = sub nsw i64 %panel.end, %panel.first",
                "%panels.any = icmp sgt i64 %panel.whole, 0",
                "br i1 %panels.any, label %panels, label %n.after",
                "panels:",
                *loop_lines(
                    "n", "%panel.whole", "panels", self._panel("w", width, "n.head"), FINISHED_LOOP
                ),
                "br label %n.after",
                "n.after:",
            ]
        if rest:
            inner += [
                f"%has.rest = icmp eq i64 %panel.stop, {whole + 1}",
                "br i1 %has.rest, label %rest, label %r.after",
                "rest:",
                *self._panel("r", rest, "rest"),
                "br label %r.after",
                "r.after:",
            ]
        lines += loop_lines("k", blocks.chunks, "u.head", inner, FINISHED_LOOP)
        return "\n".join([
            *lines,
            "br label %u.latch",
            "u.latch:",
            "%u.next = add nuw nsw i64 %u, 1",
            "%u.more = icmp ult i64 %u.next, %end",
            f"br i1 %u.more, label %u.head, label %u.end, {FINISHED_LOOP}",
            "u.end:",
            "ret void",
        ])  # fmt: skip

    def _panel(self, tag: str, columns: int, above: str) -> list[str]:
        """All lines of a block times some columns."""
        panel = "%panel.w" if tag == "w" else str(self.places.columns // self._width)
        begin = ["%panel.w = add nuw nsw i64 %panel.first, %n"] if tag == "w" else []
        o = f"o{tag}"
        line = [
            f"%line.{tag} = add nuw nsw i64 %line.first, %{o}",
            *self._places(tag, panel),
            *self._line(tag, columns),
        ]
        return [*begin, *loop_lines(o, "%line.count", above, line, FINISHED_LOOP)]

    @property
    def _width(self) -> int:
        return self.lanes * self.vectors

    def _places(self, tag: str, panel: str) -> list[str]:
        """Where a line, and a panel, begin in a, b and c."""
        p = self.places
        lines: list[str] = []
        indices: list[str] = []
        left = f"%line.{tag}"
        for number, level in reversed(list(enumerate(p.levels))):
            if number == 0:
                indices.append(left)
                continue
            index, above = f"%index.{tag}.{number}", f"%above.{tag}.{number}"
            lines += [
                f"{index} = urem i64 {left}, {level.count}",
                f"{above} = udiv i64 {left}, {level.count}",
            ]
            indices.append(index)
            left = above
        indices.reverse()
        step = self._inner_steps
        a = [(i, level.a) for i, level in zip(indices, p.levels, strict=True)]
        b = [(i, level.b) for i, level in zip(indices, p.levels, strict=True)]
        c = [(i, level.c) for i, level in zip(indices, p.levels, strict=True)]
        a.append(("%step.first", self.depth[0][1]))
        b += [("%step.first", step * p.b_row), (panel, p.b_panel)]
        c.append((panel, self._width))
        lines += self._pointer("a", tag, p.a_first, a)
        lines += self._pointer("b", tag, 0, b)
        return [*lines, *self._pointer("c", tag, p.c_first, c)]

    @property
    def _inner_steps(self) -> int:
        count = 1
        for n, _ in self.depth[1:]:
            count *= n
        return count

    def _pointer(
        self, letter: str, tag: str, first: int, steps: Iterable[tuple[str, int]]
    ) -> list[str]:
        """%letter.tag from %letter0, some steps further on."""
        lines, total = [], str(first)
        for number, (index, stride) in enumerate(steps):
            if stride == 0:
                continue
            name = f"{letter}.{tag}.{number}"
            lines.append(f"%shift.{name} = mul nsw i64 {index}, {stride}")
            lines.append(f"%place.{name} = add nsw i64 %shift.{name}, {total}")
            total = f"%place.{name}"
        at = f"getelementptr {self.kind}, ptr %{letter}0, i64 {total}"
        return [*lines, f"%{letter}.{tag} = {at}"]

    def _line(self, tag: str, columns: int) -> list[str]:
        """The tiles of a line, below each other."""
        p, kind = self.places, self.kind
        vectors = -(-columns // self.lanes)
        last = columns - (vectors - 1) * self.lanes
        lines: list[str] = []
        first = 0
        for number, (tiles, rows) in enumerate(even_rows(p.rows, self.vectors)):
            tile = tile_library.Tile(kind, self.lanes, rows, vectors, len(self.depth))
            numbers: list[object] = [tiles, p.a_row, p.b_row, p.c_row, last, "%adds"]
            for at, (n, distance) in enumerate(self.depth):
                numbers += ["%step.count" if at == 0 else n, distance]
            self.module.declare(tile.symbol, "void", tile.parameter_types)
            given = ", ".join([f"i64 {each}" for each in numbers])
            here = f"{tag}.{number}"
            pointers = f"ptr %a.at.{here}, ptr %b.{tag}, ptr %c.at.{here}"
            lines += [
                f"%a.at.{here} = getelementptr {kind}, ptr %a.{tag}, i64 {first * p.a_row}",
                f"%c.at.{here} = getelementptr {kind}, ptr %c.{tag}, i64 {first * p.c_row}",
                f"call void @{tile.symbol}({pointers}, {given})",
            ]
            first += tiles * rows
        return lines


def _range(stem: str, number: str, size: int, total: int) -> list[str]:
    """The numbers from %stem.first to %stem.stop, %stem.count of them: one of some equal parts."""
    return [
        f"%{stem}.first = mul nuw nsw i64 {number}, {size}",
        f"%{stem}.full = add nuw nsw i64 %{stem}.first, {size}",
        f"%{stem}.stop = call i64 @llvm.smin.i64(i64 %{stem}.full, i64 {total})",
        f"%{stem}.count = sub nsw i64 %{stem}.stop, %{stem}.first",
    ]
