"""Matrices turned into stripes: the right side of a product that was given transposed.

Of a matrix [n, k], or of several, column by column: a stripe holds `width` of its rows, as
[k, width], with zeros where n has ended. Loops over single numbers would read or write them far
apart, which took as long as the product itself. Here square blocks are turned in registers: as
often as the length of a vector can be halved, the vectors of two halves are shuffled into each
other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft._src.core import dtypes
from weft._src.execution.native.loops.blocks import base_of
from weft._src.execution.native.loops.kernels.blocking import lanes_of
from weft._src.execution.native.loops.nests import pointer_loads
from weft._src.execution.native.loops.values import Kernel, Stored, Value
from weft._src.execution.native.machine import library, pool
from weft._src.execution.native.machine.builder import FINISHED_LOOP, Module, loop_lines
from weft._src.execution.native.machine.functions import RANGE, StepFunction

if TYPE_CHECKING:
    from weft._src.execution.native.loops.program import Program

_PREFIX = "weft_turn"
_PARAMETERS = ("stripes", "n", "k", "width", "x.row", "from", "to", "stripe", "to.first")


@dataclass(frozen=True)
class Stripes:
    """How many matrices there are, their sizes, and how far apart they lie, in elements."""

    matrices: int
    n: int
    k: int
    width: int  # of a stripe, whole vectors
    source: int  # from one matrix to the next
    result: int
    stripe: int  # from one stripe to the next
    first: int = 0  # where the first matrix begins in the result

    @property
    def count(self) -> int:
        """The stripes of a matrix."""
        return -(-self.n // self.width)


class Turned(Kernel):
    """The stripes of matrices."""

    name = "turned"

    def __init__(self, source: Value, result: Stored, stripes: Stripes) -> None:
        super().__init__([source])
        self.results = (result,)
        self.stripes = stripes

    @property
    def work(self) -> int:
        return self.results[0].size // 2

    def emit(self, program: Program) -> None:
        s, dtype = self.stripes, self.results[0].dtype
        kind = "float" if dtype is dtypes.float32 else "double"
        symbol = declare_turning(program.module, kind, lanes_of(dtype))
        numbers = (s.count, s.n, s.k, s.width, s.k, s.source, s.result, s.stripe, s.first)
        given = ", ".join(f"i64 {number}" for number in ("%begin", "%end", *numbers))
        buffers = [program.memory[id(base_of(v))] for v in (*self.operands, *self.results)]
        pointers = pointer_loads(zip(["%x", "%y"], buffers, strict=True))
        name = program.module.new_name("turned")
        body = f"call void @{symbol}(ptr %x, ptr %y, {given})\nret void"
        program.module.functions.append(StepFunction(name, "void", "#0", pointers, body, RANGE))
        count = s.matrices * s.count
        if count > 1 and self.work >= pool.SHARED_FROM:
            program.call_shared(name, count, 1)
        else:
            program.line(f"call void @{name}(ptr %t, i64 0, i64 {count})")


def declare_turning(module: Module, kind: str, lanes: int) -> str:
    """The name of the function that writes stripes, made known to a module.

    It takes the matrices, the stripes, the numbers of the first stripe and of the one behind the
    last, and the numbers of `Stripes`, with the distance of rows behind the width.
    """
    symbol = f"{_PREFIX}_{kind}x{lanes}"
    types = ", ".join(["ptr", "ptr", *["i64"] * (2 + len(_PARAMETERS))])
    module.declare(symbol, "void", types)
    return symbol


def _text(symbol: str, kind: str, lanes: str) -> str:
    module = Module()
    module.declare("llvm.smin.i64", "i64", "i64, i64")
    module.functions.append(_Writer(symbol, kind, int(lanes)).function())
    return module.text()


class _Writer:
    def __init__(self, symbol: str, kind: str, lanes: int) -> None:
        self.symbol, self.kind, self.lanes = symbol, kind, lanes
        self.vector = f"<{lanes} x {kind}>"

    def function(self) -> str:
        """Stripes from begin to end, counted through all matrices."""
        numbers = ", ".join(f"i64 %{name}" for name in ("begin", "end", *_PARAMETERS))
        head = f"define void @{self.symbol}(ptr noalias %x, ptr noalias %y, {numbers}) nounwind {{"
        lanes = self.lanes
        stripe = [
            "%u = add nuw nsw i64 %begin, %i",
            "%matrix = udiv i64 %u, %stripes",
            "%number = urem i64 %u, %stripes",
            "%first = mul nuw nsw i64 %number, %width",
            *self._place("x.matrix", "%x", [("%matrix", "%from")]),
            *self._place(
                "y.stripe", "%y", [("%matrix", "%to"), ("%number", "%stripe"), ("%to.first", "1")]
            ),
            f"%groups = udiv i64 %width, {lanes}",
            *loop_lines("group", "%groups", "i.head", self._group(), FINISHED_LOOP),
        ]
        lines = [
            "%count = sub nsw i64 %end, %begin",
            *loop_lines("i", "%count", "entry", stripe, FINISHED_LOOP),
            "ret void",
        ]
        return "\n".join([head, "entry:", *lines, "}"])

    def _group(self) -> list[str]:
        """A vector's width of a stripe, from the row %row of the matrix on."""
        lanes = self.lanes
        return [
            f"%lane = mul nuw nsw i64 %group, {lanes}",
            "%row = add nuw nsw i64 %first, %lane",
            "%left = sub nsw i64 %n, %row",
            f"%all.there = icmp sge i64 %left, {lanes}",
            f"%blocks.of.k = udiv i64 %k, {lanes}",
            "%blocks = select i1 %all.there, i64 %blocks.of.k, i64 0",
            "%any = icmp ne i64 %blocks, 0",
            "br i1 %any, label %square, label %singly",
            "square:",
            *loop_lines("q", "%blocks", "square", self._block(), FINISHED_LOOP),
            "br label %singly",
            "singly:",
            f"%done = mul nuw nsw i64 %blocks, {lanes}",
            "%k.left = sub nuw nsw i64 %k, %done",
            "%more = icmp ne i64 %k.left, 0",
            "br i1 %more, label %single, label %group.done",
            "single:",
            *loop_lines("s", "%k.left", "single", self._single(), FINISHED_LOOP),
            "br label %group.done",
            "group.done:",
        ]

    def _block(self) -> list[str]:
        """A square block, turned in registers."""
        lanes, lines = self.lanes, [f"%at = mul nuw nsw i64 %q, {self.lanes}"]
        names = []
        for r in range(lanes):
            lines.append(f"%row.{r} = add nuw nsw i64 %row, {r}")
            lines += self._place(f"x.{r}", "%x.matrix", [(f"%row.{r}", "%x.row"), ("%at", "1")])
            lines.append(f"%v.{r} = load {self.vector}, ptr %x.{r}, align {self._aligned}")
            names.append(f"%v.{r}")
        half = lanes // 2
        low = [i for pair in range(half) for i in (pair, pair + lanes)]
        high = [i + half for i in low]
        for stage in range(lanes.bit_length() - 1):
            turned = []
            for i in range(half):
                for which, mask in (("l", low), ("h", high)):
                    name = f"%t.{stage}.{i}.{which}"
                    lines.append(f"{name} = {self._shuffled(names[i], names[i + half], mask)}")
                    turned.append(name)
            names = turned
        for c, name in enumerate(names):
            lines.append(f"%at.{c} = add nuw nsw i64 %at, {c}")
            lines += self._place(f"y.{c}", "%y.stripe", [(f"%at.{c}", "%width"), ("%lane", "1")])
            lines.append(f"store {self.vector} {name}, ptr %y.{c}, align {self._aligned}")
        return lines

    @property
    def _aligned(self) -> int:
        return 4 if self.kind == "float" else 8

    def _shuffled(self, a: str, b: str, mask: list[int]) -> str:
        indices = ", ".join(f"i32 {i}" for i in mask)
        return (
            f"shufflevector {self.vector} {a}, {self.vector} {b}, <{self.lanes} x i32> <{indices}>"
        )

    def _single(self) -> list[str]:
        """One place of the depth, number by number; 0 where the matrix has no more rows."""
        lane = [
            "%row.e = add nuw nsw i64 %row, %e",
            "%is.there = icmp slt i64 %row.e, %n",
            "br i1 %is.there, label %there, label %stored",
            "there:",
            *self._place("x.e", "%x.matrix", [("%row.e", "%x.row"), ("%at.s", "1")]),
            f"%found = load {self.kind}, ptr %x.e",
            "br label %stored",
            "stored:",
            f"%number.e = phi {self.kind} [0.0, %e.head], [%found, %there]",
            "%to.lane = add nuw nsw i64 %lane, %e",
            *self._place("y.e", "%y.stripe", [("%at.s", "%width"), ("%to.lane", "1")]),
            f"store {self.kind} %number.e, ptr %y.e",
        ]
        return [
            "%at.s = add nuw nsw i64 %done, %s",
            *loop_lines("e", self.lanes, "s.head", lane, FINISHED_LOOP),
        ]

    def _place(self, name: str, base: str, steps: list[tuple[str, str]]) -> list[str]:
        """%name, some steps further on than a pointer."""
        lines, total = [], "0"
        for number, (index, distance) in enumerate(steps):
            lines += [
                f"%{name}.shift.{number} = mul nsw i64 {index}, {distance}",
                f"%{name}.place.{number} = add nsw i64 %{name}.shift.{number}, {total}",
            ]
            total = f"%{name}.place.{number}"
        return [*lines, f"%{name} = getelementptr {self.kind}, ptr {base}, i64 {total}"]


library.offer(_PREFIX + r"_(float|double)x(\d+)", _text, finished=True)
