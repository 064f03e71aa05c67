"""The growing stack in native code: `{data, length, capacity}`, three words in memory.

Memory for elements comes from the C library and is freed when the call ends, not before: a stack
that was handed on may still look at it.
"""

from __future__ import annotations

from typing import Any

from weft.execution.native.schedule import base_of
from weft.execution.native.values import Kernel, Stored, Value

WORDS = 3

# Makes room for `count` elements, zeros at first; answers whether there is memory.
_GROW = """
define internal i1 @weft_grow(ptr %t, ptr %stack, i64 %count, i64 %bytes) noinline {
entry:
%cap.p = getelementptr i64, ptr %stack, i64 2
%cap = load i64, ptr %cap.p
%enough = icmp ule i64 %count, %cap
br i1 %enough, label %fine, label %grow
grow:
%double = mul i64 %cap, 2
%least = icmp ugt i64 %double, 8
%wish = select i1 %least, i64 %double, i64 8
%more = icmp ugt i64 %count, %wish
%new = select i1 %more, i64 %count, i64 %wish
%size = mul i64 %new, %bytes
%all = add i64 %size, 64
%block = call ptr @calloc(i64 1, i64 %all)
%got = icmp ne ptr %block, null
br i1 %got, label %link, label %failed
link:
%chain.p = getelementptr ptr, ptr %t, i64 <arena>
%chain = load ptr, ptr %chain.p
store ptr %chain, ptr %block
store ptr %block, ptr %chain.p
%data = getelementptr i8, ptr %block, i64 64
%old = load ptr, ptr %stack
%any = icmp ne ptr %old, null
br i1 %any, label %copy, label %set
copy:
%used = mul i64 %cap, %bytes
call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %old, i64 %used, i1 false)
br label %set
set:
store ptr %data, ptr %stack
store i64 %new, ptr %cap.p
br label %fine
fine:
ret i1 true
failed:
ret i1 false
}
"""


class StackKernel(Kernel):
    """A step that works on a stack; fails with the number of its check."""

    may_fail = True

    def __init__(self, stack: Stored, operands: list[Value], number: int, bytes_: int) -> None:
        super().__init__([stack, *operands])
        self.stack, self.number, self.bytes = stack, number, bytes_

    def _stack(self, program: Any) -> str:
        program.module.declare("calloc", "ptr", "i64, i64")
        program.module.declare("llvm.memcpy.p0.p0.i64", "void", "ptr, ptr, i64, i1")
        program.module.define_once("weft_grow", _GROW)
        return program.pointer(base_of(self.stack))

    def _new(self, program: Any, text: str) -> str:
        name = f"%{program.label('s')}"
        program.line(f"{name} = {text}")
        return name

    def _demand(self, program: Any, condition: str) -> None:
        fails, goes_on = program.label("fails"), program.label("holds")
        program.line(f"br i1 {condition}, label %{goes_on}, label %{fails}")
        program.line(f"{fails}:")
        program.line(f"ret i32 {self.number}")
        program.line(f"{goes_on}:")

    def _length(self, program: Any, stack: str) -> tuple[str, str]:
        place = self._new(program, f"getelementptr i64, ptr {stack}, i64 1")
        return place, self._new(program, f"load i64, ptr {place}")

    def _grow(self, program: Any, stack: str, count: str) -> None:
        room = self._new(
            program, f"call i1 @weft_grow(ptr %t, ptr {stack}, i64 {count}, i64 {self.bytes})"
        )
        self._demand(program, room)

    def _element(self, program: Any, stack: str, index: str) -> str:
        data = self._new(program, f"load ptr, ptr {stack}")
        shift = self._new(program, f"mul i64 {index}, {self.bytes}")
        return self._new(program, f"getelementptr i8, ptr {data}, i64 {shift}")

    def _copy(self, program: Any, target: str, source: str, bytes_: int | str) -> None:
        program.line(
            f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {bytes_}, i1 false)"
        )

    def _index(self, program: Any, index: Value) -> str:
        kind = f"i{8 * index.dtype.size}"
        raw = self._new(program, f"load {kind}, ptr {program.pointer(base_of(index))}")
        return raw if kind == "i64" else self._new(program, f"sext {kind} {raw} to i64")


class Push(StackKernel):
    """One more element at the end."""

    name = "push"

    def emit(self, program: Any) -> None:
        stack = self._stack(program)
        place, length = self._length(program, stack)
        more = self._new(program, f"add i64 {length}, 1")
        self._grow(program, stack, more)
        target = self._element(program, stack, length)
        self._copy(program, target, program.pointer(base_of(self.operands[1])), self.bytes)
        program.line(f"store i64 {more}, ptr {place}")


class Pop(StackKernel):
    """Takes the last element off."""

    name = "pop"

    def emit(self, program: Any) -> None:
        stack = self._stack(program)
        place, length = self._length(program, stack)
        self._demand(program, self._new(program, f"icmp sgt i64 {length}, 0"))
        less = self._new(program, f"sub i64 {length}, 1")
        self._grow(program, stack, length)
        source = self._element(program, stack, less)
        self._copy(program, program.pointer(self.results[0]), source, self.bytes)
        program.line(f"store i64 {less}, ptr {place}")


class Put(StackKernel):
    """Replaces an element; `grow` lets an index beyond the end lengthen the stack."""

    name = "put"
    grow = False

    def emit(self, program: Any) -> None:
        stack = self._stack(program)
        place, length = self._length(program, stack)
        index = self._index(program, self.operands[1])
        self._demand(program, self._new(program, f"icmp sge i64 {index}, 0"))
        inside = self._new(program, f"icmp slt i64 {index}, {length}")
        if self.grow:
            more = self._new(program, f"add i64 {index}, 1")
            length = self._new(program, f"select i1 {inside}, i64 {length}, i64 {more}")
            program.line(f"store i64 {length}, ptr {place}")
        else:
            self._demand(program, inside)
        self._grow(program, stack, length)
        target = self._element(program, stack, index)
        self._copy(program, target, program.pointer(base_of(self.operands[2])), self.bytes)


class Pick(StackKernel):
    """Reads an element; one that was never written is zeros."""

    name = "pick"

    def emit(self, program: Any) -> None:
        stack = self._stack(program)
        _, length = self._length(program, stack)
        index = self._index(program, self.operands[1])
        self._demand(program, self._new(program, f"icmp ult i64 {index}, {length}"))
        self._grow(program, stack, length)
        source = self._element(program, stack, index)
        self._copy(program, program.pointer(self.results[0]), source, self.bytes)


class Unload(StackKernel):
    """All elements as one array, whose number of rows is the length the stack has to have."""

    name = "unload"
    rows = 0

    def emit(self, program: Any) -> None:
        stack = self._stack(program)
        _, length = self._length(program, stack)
        self._demand(program, self._new(program, f"icmp eq i64 {length}, {self.rows}"))
        if self.rows and self.bytes:
            self._grow(program, stack, length)
            source = self._new(program, f"load ptr, ptr {stack}")
            target = program.pointer(self.results[0])
            self._copy(program, target, source, self.rows * self.bytes)


class Load(StackKernel):
    """A stack of the rows of an array."""

    name = "load"
    rows = 0

    def emit(self, program: Any) -> None:
        stack = self._stack(program)
        place, _ = self._length(program, stack)
        program.line(f"store i64 {self.rows}, ptr {place}")
        if self.rows and self.bytes:
            self._grow(program, stack, str(self.rows))
            target = self._new(program, f"load ptr, ptr {stack}")
            source = program.pointer(base_of(self.operands[1]))
            self._copy(program, target, source, self.rows * self.bytes)


class Length(StackKernel):
    """The number of elements."""

    name = "length"

    def emit(self, program: Any) -> None:
        _, length = self._length(program, self._stack(program))
        narrow = self._new(program, f"trunc i64 {length} to i32")
        program.line(f"store i32 {narrow}, ptr {program.pointer(self.results[0])}")
