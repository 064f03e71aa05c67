"""Random numbers that take as many words as they happen to need, and permutations."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from weft._src.core.random_numbers.distributions import TRUNCATION
from weft._src.execution.native.loops import philox
from weft._src.execution.native.loops.blocks import base_of
from weft._src.execution.native.loops.nests import pointer_lines
from weft._src.execution.native.loops.values import Kernel, Stored, Value
from weft._src.execution.native.machine.builder import (
    Builder,
    Scalar,
    alignment,
    loop_lines,
    memory_type,
)

if TYPE_CHECKING:
    from weft._src.execution.native.loops.program import Program


class _Drawing(Kernel):
    """Code that draws from a state (counter low, counter high, key)."""

    def __init__(self, state: Value, result: Stored) -> None:
        super().__init__([state])
        self.results = (result,)

    @property
    def work(self) -> int:
        return 20 * self.results[0].size

    def _head(self, program: Program, name: str) -> list[str]:
        lines = [f"define internal i1 @{name}(ptr %t) #0 {{", "entry:"]
        lines += pointer_lines("%state", program.memory[id(base_of(self.operands[0]))])
        lines += pointer_lines("%to", program.memory[id(self.results[0])])
        for i in range(3):
            lines.append(f"%state.p{i} = getelementptr i64, ptr %state, i64 {i}")
            lines.append(f"%state.{i} = load i64, ptr %state.p{i}")
        return lines

    def _words(self, b: Builder, offset: str) -> list[Scalar]:
        state = [Scalar(f"%state.{i}", "i64", 0) for i in range(3)]
        return philox.block_at(b, state, Scalar(offset, "i64", 0))

    def emit(self, program: Program) -> None:
        name = program.module.new_name("random")
        lines = [*self._head(program, name), *self._body(program), "ret i1 false", "}"]
        program.module.functions.append("\n".join(lines))
        program.line(f"call i1 @{name}(ptr %t)")

    @abstractmethod
    def _body(self, program: Program) -> list[str]:
        """Instructions that fill the result, from the block `entry` on."""


class Truncated(_Drawing):
    """Normal numbers within two deviations, in groups; each draws blocks until it is complete."""

    name = "truncated"

    def __init__(self, state: Value, result: Stored, apart: int) -> None:
        super().__init__(state, result)
        self.apart = apart  # how far the counters of neighbouring groups stand apart

    def _body(self, program: Program) -> list[str]:
        groups, each = self.results[0].shape
        kind = memory_type(self.results[0].dtype)
        # Not exact: angles are small, so that no sine can be in doubt.
        b = Builder(program.module, exact=False)
        numbers = philox.normals(b, self._words(b, "%offset"), double=kind == "double")
        lines = b.before[0]
        for i, x in enumerate(numbers):
            inside = b.compare("olt", b.intrinsic("fabs", x), b.like(x, TRUNCATION))
            # What does not count is overwritten by the next; a spare place takes the rest.
            lines += [
                f"%there.{i} = getelementptr {kind}, ptr %group, i64 %filled.{i}",
                f"%full.{i} = icmp uge i64 %filled.{i}, {each}",
                f"%spot.{i} = select i1 %full.{i}, ptr %spare, ptr %there.{i}",
                f"store {kind} {x.text}, ptr %spot.{i}, align {alignment(kind)}",
                f"%more.{i} = zext i1 {inside.text} to i64",
                f"%filled.{i + 1} = add nuw nsw i64 %filled.{i}, %more.{i}",
            ]
        last = f"%filled.{len(numbers)}"
        one_group = [
            f"%at = mul nuw nsw i64 %g, {each}",
            f"%group = getelementptr {kind}, ptr %to, i64 %at",
            f"%first = mul nuw nsw i64 %g, {self.apart}",
            "br label %draw",
            "draw:",
            "%offset = phi i64 [%first, %g.head], [%offset.next, %draw]",
            f"%filled.0 = phi i64 [0, %g.head], [{last}, %draw]",
            *lines,
            "%offset.next = add nuw nsw i64 %offset, 1",
            f"%complete = icmp uge i64 {last}, {each}",
            "br i1 %complete, label %drawn, label %draw",
            "drawn:",
        ]
        return [f"%spare = alloca {kind}", *loop_lines("g", groups, "entry", one_group)]


class Permutation(_Drawing):
    """The numbers below a size in random order: every place swaps with one of those behind it."""

    name = "permutation"

    def _body(self, program: Program) -> list[str]:
        n = self.results[0].size
        b = Builder(program.module)
        words = self._words(b, "%number")
        word = words[-1]
        for k, other in enumerate(words[:-1]):
            word = b.select(b.compare("eq", Scalar("%rest", "i64", 0), b.index(k)), other, word)
        fill = [
            "%fill.p = getelementptr i64, ptr %to, i64 %f",
            "store i64 %f, ptr %fill.p",
        ]
        swap = [
            "%number = lshr i64 %i, 2",
            "%rest = and i64 %i, 3",
            *b.before[0],
            f"%left = sub nuw nsw i64 {n}, %i",
            f"%shift = urem i64 {word.text}, %left",
            "%j = add nuw nsw i64 %i, %shift",
            "%i.p = getelementptr i64, ptr %to, i64 %i",
            "%j.p = getelementptr i64, ptr %to, i64 %j",
            "%x = load i64, ptr %i.p",
            "%y = load i64, ptr %j.p",
            "store i64 %y, ptr %i.p",
            "store i64 %x, ptr %j.p",
        ]
        return [*loop_lines("f", n, "entry", fill), *loop_lines("i", n, "f.end", swap)]
