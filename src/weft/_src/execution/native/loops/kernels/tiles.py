"""Products of many rows by vector code: matrix products, and convolutions without their columns.

A tile is a few rows of the result times a few vectors of its columns, all in registers. Each step
down the depth loads the vectors of one row of b, and one number of a for every row of the tile.
Where the numbers of a lie is a matter of strides alone, so the windows of an image need no copy.
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
from weft._src.execution.native.loops.nests import pointer_loads
from weft._src.execution.native.loops.values import Kernel, Stored, Value
from weft._src.execution.native.machine import llvm, pool
from weft._src.execution.native.machine.builder import FINISHED_LOOP, loop_lines
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
            body = _Writer(places, self.results[0].dtype).body()
            program.module.functions.append(StepFunction(name, "void", "#0", pointers, body, RANGE))
            total = places.groups * places.lines
            if places.work < pool.SHARED_FROM or total == 1:
                program.line(f"call void @{name}(ptr %t, i64 0, i64 {total})")
            else:
                program.call_shared(name, total, max(1, total // _PIECES))


class _Writer:
    """The code of one part."""

    def __init__(self, places: Places, dtype: DType) -> None:
        self.places = places
        self.kind = "float" if dtype is dtypes.float32 else "double"
        self.lanes = lanes_of(dtype)
        self.vectors = vectors_for(places.columns, dtype)
        self.most_rows = row_count(self.vectors, places.rows)

    def body(self) -> str:
        """Of `void name(table, begin, end)`, which computes the lines from begin to end."""
        p = self.places
        vector = f"<{self.lanes} x {self.kind}>"
        lines = [
            f"%sum.{r}.{v} = alloca {vector}"
            for r in range(self.most_rows)
            for v in range(self.vectors)
        ]
        lines += [
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
        above = "o.head"
        if whole:
            body, _ = self._panel("w", "%n", width, "n.head")
            lines += loop_lines("n", whole, above, body, FINISHED_LOOP)
            above = "n.end"
        if rest:
            body, above = self._panel("r", str(whole), rest, above)
            lines += body
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

    def _panel(self, tag: str, panel: str, columns: int, above: str) -> tuple[list[str], str]:
        """All rows of a line times some columns, and the block it ends in."""
        kind, width = self.kind, self.lanes * self.vectors
        lines = [
            f"%b.shift.{tag} = mul nsw i64 {panel}, {self.places.b_panel}",
            f"%b.{tag} = getelementptr {kind}, ptr %b, i64 %b.shift.{tag}",
            f"%c.shift.{tag} = mul nsw i64 {panel}, {width}",
            f"%c.{tag} = getelementptr {kind}, ptr %c, i64 %c.shift.{tag}",
        ]
        whole, rest = divmod(self.places.rows, self.most_rows)
        if whole:
            stem = f"m.{tag}"
            first = f"%first.{tag}"
            body = [f"{first} = mul nuw nsw i64 %{stem}, {self.most_rows}"]
            body += self._tile(f"{tag}w", tag, first, self.most_rows, columns, f"{stem}.head")
            lines += loop_lines(stem, whole, above, body, FINISHED_LOOP)
            above = f"{stem}.end"
        if rest:
            lines += self._tile(f"{tag}r", tag, str(whole * self.most_rows), rest, columns, above)
            above = f"d0.{tag}r.end"
        return lines, above

    def _tile(
        self, tag: str, panel: str, first: str, rows: int, columns: int, above: str
    ) -> list[str]:
        kind, row_stride = self.kind, self.places.a_strides[2]
        vector = f"<{self.lanes} x {kind}>"
        vectors = -(-columns // self.lanes)
        sums = [(r, v) for r in range(rows) for v in range(vectors)]
        lines = [
            f"%a.shift.{tag} = mul nsw i64 {first}, {row_stride}",
            f"%a.{tag} = getelementptr {kind}, ptr %a, i64 %a.shift.{tag}",
            *[f"store {vector} zeroinitializer, ptr %sum.{r}.{v}" for r, v in sums],
        ]
        lines += self._down(tag, above, self._step(tag, panel, rows, vectors))
        lines += [
            f"%c.first.{tag} = mul nsw i64 {first}, {self.places.columns}",
            f"%c.{tag} = getelementptr {kind}, ptr %c.{panel}, i64 %c.first.{tag}",
        ]
        for r, v in sums:
            name = f"{r}.{v}.{tag}"
            shift = r * self.places.columns + v * self.lanes
            lines += [
                f"%all.{name} = load {vector}, ptr %sum.{r}.{v}",
                f"%to.{name} = getelementptr {kind}, ptr %c.{tag}, i64 {shift}",
                *self._store(
                    f"%all.{name}", f"%to.{name}", min(self.lanes, columns - v * self.lanes)
                ),
            ]
        return lines

    def _down(self, tag: str, above: str, body: list[str]) -> list[str]:
        """The loops over the depth: %place.tag is the place in a, %row.tag the row of b."""
        heads = [above, *[f"d{i}.{tag}.head" for i in range(len(self.places.depth))]]
        row, place = "0", "0"
        begins: list[list[str]] = []
        for i, (n, stride) in enumerate(self.places.depth):
            at = f"{i}.{tag}"
            begins.append([
                f"%row.up.{at} = mul nuw nsw i64 {row}, {n}",
                f"%row.{at} = add nuw nsw i64 %row.up.{at}, %d{at}",
                f"%step.{at} = mul nsw i64 %d{at}, {stride}",
                f"%place.{at} = add nsw i64 {place}, %step.{at}",
            ])  # fmt: skip
            row, place = f"%row.{at}", f"%place.{at}"
        lines = [f"%row.{tag} = add i64 {row}, 0", f"%place.{tag} = add i64 {place}, 0", *body]
        for i, (n, _) in reversed(list(enumerate(self.places.depth))):
            lines = loop_lines(f"d{i}.{tag}", n, heads[i], [*begins[i], *lines], FINISHED_LOOP)
        return lines

    def _step(self, tag: str, panel: str, rows: int, vectors: int) -> list[str]:
        """One step down the depth, for all rows and vectors of a tile."""
        kind, lanes = self.kind, self.lanes
        vector, zeros = f"<{lanes} x {kind}>", f"<{lanes} x i32> zeroinitializer"
        lines = [
            f"%b.row.{tag} = mul nsw i64 %row.{tag}, {self.places.b_row}",
            f"%b.at.{tag} = getelementptr {kind}, ptr %b.{panel}, i64 %b.row.{tag}",
            f"%a.at.{tag} = getelementptr {kind}, ptr %a.{tag}, i64 %place.{tag}",
        ]
        for v in range(vectors):
            lines += [
                f"%b.p.{v}.{tag} = getelementptr {kind}, ptr %b.at.{tag}, i64 {v * lanes}",
                f"%b.v.{v}.{tag} = load {vector}, ptr %b.p.{v}.{tag}, align 4",
            ]
        for r in range(rows):
            name = f"{r}.{tag}"
            shift = r * self.places.a_strides[2]
            lines += [
                f"%a.p.{name} = getelementptr {kind}, ptr %a.at.{tag}, i64 {shift}",
                f"%a.x.{name} = load {kind}, ptr %a.p.{name}",
                f"%a.1.{name} = insertelement {vector} poison, {kind} %a.x.{name}, i32 0",
                f"%a.v.{name} = shufflevector {vector} %a.1.{name}, {vector} poison, {zeros}",
            ]
            for v in range(vectors):
                at = f"{r}.{v}.{tag}"
                lines += [
                    f"%old.{at} = load {vector}, ptr %sum.{r}.{v}",
                    f"%times.{at} = fmul contract {vector} %a.v.{name}, %b.v.{v}.{tag}",
                    f"%new.{at} = fadd contract {vector} %old.{at}, %times.{at}",
                    f"store {vector} %new.{at}, ptr %sum.{r}.{v}",
                ]
        return lines

    def _store(self, register: str, place: str, lanes: int) -> list[str]:
        """The first lanes of a vector, in pieces whose sizes are powers of two."""
        vector, kind = f"<{self.lanes} x {self.kind}>", self.kind
        if lanes == self.lanes:
            return [f"store {vector} {register}, ptr {place}, align 4"]
        lines, at = [], 0
        for bit in reversed(range(lanes.bit_length())):
            width = 1 << bit
            if not lanes & width:
                continue
            piece, there = f"{register}.{width}", f"{place}.{width}"
            picked = ", ".join(f"i32 {i}" for i in range(at, at + width))
            mask = f"<{width} x i32> <{picked}>"
            lines += [
                f"{piece} = shufflevector {vector} {register}, {vector} poison, {mask}",
                f"{there} = getelementptr {kind}, ptr {place}, i64 {at}",
                f"store <{width} x {kind}> {piece}, ptr {there}, align 4",
            ]
            at += width
        return lines


def row_count(vectors: int, rows: int) -> int:
    """The rows of a tile: as many as registers hold, rather a number that leaves no rest."""
    registers = 32 if llvm.vector_bytes() == 64 else 16
    most = _ROWS[registers][vectors]
    fitting = [n for n in range(most, most - 3, -1) if rows % n == 0]
    return min(rows, fitting[0] if fitting else most)
