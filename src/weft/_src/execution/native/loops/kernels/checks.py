"""A condition that must hold for the rest of a program to make sense."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft._src.execution.native.loops.blocks import base_of
from weft._src.execution.native.loops.values import Kernel, Value

if TYPE_CHECKING:
    from weft._src.execution.native.loops.program import Program


class Check(Kernel):
    """Leaves the program with a number if a condition, one bool in memory, is false."""

    name = "check"
    may_fail = True

    def __init__(self, condition: Value, number: int) -> None:
        super().__init__([condition])
        self.number = number

    def emit(self, program: Program) -> None:
        from_memory, holds = f"%{program.label('b')}", f"%{program.label('ok')}"
        fails, goes_on = program.label("fails"), program.label("holds")
        program.line(f"{from_memory} = load i8, ptr {program.pointer(base_of(self.operands[0]))}")
        program.line(f"{holds} = icmp ne i8 {from_memory}, 0")
        program.line(f"br i1 {holds}, label %{goes_on}, label %{fails}")
        program.line(f"{fails}:")
        program.line(f"ret i32 {self.number}")
        program.line(f"{goes_on}:")
