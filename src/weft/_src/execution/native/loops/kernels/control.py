"""Branches and loops: blocks inside a program, with their results in memory of the outer block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft._src.core.dtypes import bool_
from weft._src.execution.native.loops.blocks import Block, base_of
from weft._src.execution.native.loops.memory import Buffer, padded_bytes
from weft._src.execution.native.loops.schedule import Schedule
from weft._src.execution.native.loops.values import Kernel, Stored, Value

if TYPE_CHECKING:
    from weft._src.execution.native.loops.program import Program

# What blocks are given from outside: the stand-in inside, the value outside.
Given = dict[Stored, Value]


class Nested(Kernel):
    """A step that holds blocks."""

    may_fail = True  # a block may hold checks

    def __init__(self, program: Program, given: Given, results: Sequence[Stored]) -> None:
        super().__init__(list(given.values()))
        self.program = program
        self.results = tuple(results)
        self._given = given
        self._blocks: list[Block] = []
        self._schedules: list[Schedule] = []

    def prepare(self, memory: dict[int, Buffer]) -> None:
        for inside, outside in self._given.items():
            memory[id(inside)] = memory[id(base_of(outside))]
        self._schedules = [self.program.schedule(block) for block in self._blocks]

    def _own_buffers(self) -> list[Buffer]:
        return []

    def scratch_bytes(self) -> int:
        total = 0
        for schedule in self._schedules:
            size = schedule.plan_scratch()
            for buffer in schedule.scratch_buffers():
                buffer.offset += total
            total += size
        for buffer in self._own_buffers():
            buffer.offset = total
            total += padded_bytes(buffer.nbytes)
        return total

    def scratch_buffers(self) -> list[Buffer]:
        inner = [b for s in self._schedules for b in s.scratch_buffers()]
        return [*inner, *self._own_buffers()]


class Branch(Nested):
    """One of several blocks, chosen by a number; the last one for numbers out of range."""

    name = "branch"

    def __init__(
        self,
        program: Program,
        choice: Value,
        given: Given,
        results: Sequence[Stored],
        blocks: Sequence[Block],
    ) -> None:
        super().__init__(program, given, results)
        self.operands = (choice, *self.operands)
        self.choice = choice
        self._blocks = list(blocks)

    def emit(self, program: Program) -> None:
        number = f"%{program.label('choice')}"
        choice = program.pointer(base_of(self.choice))
        kind = "i8" if self.choice.dtype is bool_ else f"i{8 * self.choice.dtype.size}"
        program.line(f"{number} = load {kind}, ptr {choice}")
        labels = [program.label("branch") for _ in self._schedules]
        end = program.label("end")
        cases = list(enumerate(labels))
        if self.choice.dtype is bool_:  # true is the first branch
            cases = [(1, labels[0]), (0, labels[1])]
        listed = " ".join(f"{kind} {n}, label %{label}" for n, label in cases[:-1])
        program.line(f"switch {kind} {number}, label %{labels[-1]} [{listed}]")
        for label, schedule in zip(labels, self._schedules, strict=True):
            program.line(f"{label}:")
            program.emit(schedule)
            program.line(f"br label %{end}")
        program.line(f"{end}:")


class Loop(Nested):
    """A body that runs as long as a condition holds; loop variables are its results."""

    name = "loop"

    def __init__(
        self,
        program: Program,
        given: Given,
        variables: Sequence[Stored],
        limit: int | None,
    ) -> None:
        super().__init__(program, given, variables)
        self._limit = limit
        self.test = Stored(bool_, (), "test")
        self._test_buffer = program.scratch(self.test)

    def set_blocks(self, condition: Block, body: Block) -> None:
        """What is run; both refer to the loop variables."""
        self._blocks = [condition, body]

    def _own_buffers(self) -> list[Buffer]:
        return [self._test_buffer]

    def emit(self, program: Program) -> None:
        condition, body = self._schedules
        program.has_loops = True
        head, inside, end = [program.label(stem) for stem in ("while", "body", "end")]
        start = program.label("start")
        count, more = f"%{program.label('count')}", f"%{program.label('next')}"
        tail = program.label("tail")
        program.line(f"br label %{start}")
        program.line(f"{start}:")
        program.line(f"br label %{head}")
        program.line(f"{head}:")
        program.line(f"{count} = phi i64 [0, %{start}], [{more}, %{tail}]")
        if self._limit is not None:
            allowed, go_on = f"%{program.label('allowed')}", program.label("go_on")
            program.line(f"{allowed} = icmp slt i64 {count}, {self._limit}")
            program.line(f"br i1 {allowed}, label %{go_on}, label %{end}")
            program.line(f"{go_on}:")
        before = program.work
        program.emit(condition)
        raw, holds = f"%{program.label('raw')}", f"%{program.label('holds')}"
        program.line(f"{raw} = load i8, ptr {program.pointer(self.test)}")
        program.line(f"{holds} = icmp ne i8 {raw}, 0")
        program.line(f"br i1 {holds}, label %{inside}, label %{end}")
        program.line(f"{inside}:")
        program.emit(body)
        self._look_for_signals(program, count, program.work - before)
        program.line(f"br label %{tail}")
        program.line(f"{tail}:")
        program.line(f"{more} = add nuw nsw i64 {count}, 1")
        program.line(f"br label %{head}")
        program.line(f"{end}:")
        program.work += 100 * (program.work - before)  # a guess of the number of iterations

    def _look_for_signals(self, program: Program, count: str, work: int) -> None:
        """Now and then, about every millisecond: Ctrl-C must end a long loop."""
        every = 1
        while every * (work + 20) < 1_000_000:
            every *= 2
        masked, due = f"%{program.label('masked')}", f"%{program.label('due')}"
        ask, go_on, stop = [program.label(stem) for stem in ("ask", "go_on", "stop")]
        answer, interrupted = f"%{program.label('answer')}", f"%{program.label('stopped')}"
        program.module.declare("weft_interrupted", "i32", "ptr")
        program.line(f"{masked} = and i64 {count}, {every - 1}")
        program.line(f"{due} = icmp eq i64 {masked}, {every - 1}")
        program.line(f"br i1 {due}, label %{ask}, label %{go_on}")
        program.line(f"{ask}:")
        program.line(f"{answer} = call i32 @weft_interrupted(ptr %t)")
        program.line(f"{interrupted} = icmp ne i32 {answer}, 0")
        program.line(f"br i1 {interrupted}, label %{stop}, label %{go_on}")
        program.line(f"{stop}:")
        program.line("ret i32 -1")
        program.line(f"{go_on}:")
