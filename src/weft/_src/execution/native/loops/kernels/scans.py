"""Steps that walk along one axis in order: cumulative sums, products, logarithms of sums."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING

from weft._src.execution.native.loops import elementary
from weft._src.execution.native.loops.blocks import base_of
from weft._src.execution.native.loops.nests import pointer_loads
from weft._src.execution.native.loops.values import Kernel, Stored, Value
from weft._src.execution.native.machine.builder import (
    Builder,
    Module,
    Scalar,
    alignment,
    float_text,
    loop_lines,
    memory_type,
)
from weft._src.execution.native.machine.functions import StepFunction

if TYPE_CHECKING:
    from weft._src.execution.native.loops.program import Program


class AlongAxis(Kernel):
    """For every line along an axis: a state that every element changes."""

    module: Module  # that its code goes to, known when that is written

    def __init__(self, x: Value, result: Stored, sizes: tuple[int, int, int]) -> None:
        super().__init__([x])
        self.results = (result,)
        self.sizes = sizes  # outer, along the axis, inner
        self.kind = memory_type(x.dtype)

    @abstractmethod
    def start(self) -> list[str]:
        """Instructions before a line; %line is the offset of its first element."""

    @abstractmethod
    def visit(self) -> list[str]:
        """Instructions for element %x at place %k of the line, with offset %at."""

    def finish(self) -> list[str]:
        """Instructions behind a line, number %o.q of all lines."""
        return []

    @abstractmethod
    def allocas(self) -> list[str]:
        """The state."""

    def position(self) -> list[str]:
        """%k from the number of the step %s."""
        return ["%k = add i64 %s, 0"]

    def emit(self, program: Program) -> None:
        self.module = program.module
        name = program.module.new_name("scan")
        outer, n, inner = self.sizes
        source, target = base_of(self.operands[0]), self.results[0]
        pointers = pointer_loads(
            [("%from", program.memory[id(source)]), ("%to", program.memory[id(target)])]
        )
        element = [
            *self.position(),
            f"%step = mul nuw nsw i64 %k, {inner}",
            "%at = add nuw nsw i64 %line, %step",
            f"%x.p = getelementptr {self.kind}, ptr %from, i64 %at",
            f"%x = load {self.kind}, ptr %x.p, align {alignment(self.kind)}",
            *self.visit(),
        ]
        line = [
            f"%o.shift = mul nuw nsw i64 %o, {n * inner}",
            "%line = add nuw nsw i64 %o.shift, %q",
            f"%o.line = mul nuw nsw i64 %o, {inner}",
            "%o.q = add nuw nsw i64 %o.line, %q",
            *self.start(),
            *loop_lines("s", n, "q.head", element),
            *self.finish(),
        ]
        lines = [
            *self.allocas(),
            *loop_lines("o", outer, "entry", loop_lines("q", inner, "o.head", line)),
            "ret i1 false",
        ]
        function = StepFunction(name, "i1", "#0", pointers, "\n".join(lines))
        program.module.functions.append(function)
        program.line(f"call i1 @{name}(ptr %t)")


class Cumulative(AlongAxis):
    """Every element combined with all before it."""

    name = "cumulative"
    combination = "add"
    exclusive = False
    reverse = False

    def _identity(self) -> str:
        if self.combination == "logaddexp":
            return float_text(-math.inf, self.kind)
        number = "0" if self.combination == "add" else "1"
        return f"{number}.0" if self.kind in ("float", "double") else number

    def _combined(self) -> tuple[list[str], str]:
        """Instructions that join %x to %before, and what they give."""
        if self.combination == "logaddexp":
            b = Builder(self.module)
            out = _log_add_exp(b, *[Scalar(name, self.kind, 0) for name in ("%before", "%x")])
            return b.before[0], out.text
        opcode = "add" if self.combination == "add" else "mul"
        opcode = f"f{opcode}" if self.kind in ("float", "double") else opcode
        return [f"%after = {opcode} {self.kind} %before, %x"], "%after"

    def allocas(self) -> list[str]:
        return [f"%total = alloca {self.kind}"]

    def start(self) -> list[str]:
        return [f"store {self.kind} {self._identity()}, ptr %total"]

    def position(self) -> list[str]:
        if self.reverse:
            return [f"%k = sub nuw nsw i64 {self.sizes[1] - 1}, %s"]
        return super().position()

    def visit(self) -> list[str]:
        lines, after = self._combined()
        shown = "%before" if self.exclusive else after
        return [
            f"%before = load {self.kind}, ptr %total",
            *lines,
            f"store {self.kind} {after}, ptr %total",
            f"%y.p = getelementptr {self.kind}, ptr %to, i64 %at",
            f"store {self.kind} {shown}, ptr %y.p, align {alignment(self.kind)}",
        ]


def _log_add_exp(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """log(exp(x) + exp(y)), of equal infinities too."""
    difference = b.sub(x, y)
    top = b.select(b.compare("ogt", difference, b.like(x, 0.0)), x, y)
    rest = elementary.exp(b, b.neg(b.intrinsic("fabs", difference)))
    out = b.add(top, elementary.log1p(b, rest))
    return b.select(b.compare("oeq", x, y), b.add(x, b.like(x, math.log(2))), out)
