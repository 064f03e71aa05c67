"""The steps that work on growing stacks: pushing, popping, reading, adding, copying."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft._src.execution.native.loops.blocks import base_of
from weft._src.execution.native.loops.kernels.stack_code import (
    ENDLESS,
    SHARED,
    WORDS as WORDS,
    Elements as Elements,
    StackKernel,
)

if TYPE_CHECKING:
    from weft._src.execution.native.loops.program import Program


class Push(StackKernel):
    """One more element at the end."""

    name = "push"
    of_stack = False  # whether the element is a stack

    def emit(self, program: Program) -> None:
        stack = self._stack(program)
        self._unshare(program, stack)
        place, length = self._length(program, stack)
        more = self._new(program, f"add i64 {length}, 1")
        self._grow(program, stack, more)
        target = self._element(program, stack, length)
        item = program.pointer(base_of(self.operands[1]))
        if self.of_stack:
            self._set_flag(program, item, SHARED)
        self._copy(program, target, item, self.bytes)
        program.line(f"store i64 {more}, ptr {place}")


class Pop(StackKernel):
    """Takes the last element off."""

    name = "pop"
    of_stack = False  # whether the element is a stack

    def emit(self, program: Program) -> None:
        stack = self._stack(program)
        place, length = self._length(program, stack)
        target = program.pointer(self.results[0])
        has_some = self._new(program, f"icmp sgt i64 {length}, 0")

        def take() -> None:
            less = self._new(program, f"sub i64 {length}, 1")
            self._grow(program, stack, length)
            self._copy(program, target, self._element(program, stack, less), self.bytes)
            program.line(f"store i64 {less}, ptr {place}")

        def nothing() -> None:
            self._demand(program, self._flag(program, stack, ENDLESS))
            self._clear(program, target, self.bytes)
            if self.of_stack:
                self._set_flag(program, target, ENDLESS)

        self._choose(program, has_some, take, nothing)


class Put(StackKernel):
    """Replaces an element; `grow` lets an index beyond the end lengthen the stack."""

    name = "put"
    grow = False

    def emit(self, program: Program) -> None:
        stack = self._stack(program)
        self._unshare(program, stack)
        _, length = self._length(program, stack)
        index = self._index(program, self.operands[1])
        self._demand_place(program, index)
        if self.grow:
            self._lengthen(program, stack, self._new(program, f"add i64 {index}, 1"))
        else:
            self._demand(program, self._new(program, f"icmp slt i64 {index}, {length}"))
            self._grow(program, stack, length)
        target = self._element(program, stack, index)
        self._copy(program, target, program.pointer(base_of(self.operands[2])), self.bytes)


class Clear(StackKernel):
    """An element becomes zeros, if it is there."""

    name = "clear"

    def emit(self, program: Program) -> None:
        if not self.bytes:  # nobody has ever written one
            return
        stack = self._stack(program)
        self._unshare(program, stack)
        _, length = self._length(program, stack)
        index = self._index(program, self.operands[1])
        is_there = self._new(program, f"icmp ult i64 {index}, {length}")

        def clear() -> None:
            self._grow(program, stack, length)
            self._clear(program, self._element(program, stack, index), self.bytes)

        self._choose(program, is_there, clear, lambda: None)


class Pick(StackKernel):
    """Reads elements; one that was never written is zeros."""

    name = "pick"

    def emit(self, program: Program) -> None:
        stack = self._stack(program)
        _, length = self._length(program, stack)
        indices, target = self.operands[1], program.pointer(self.results[0])

        def pick(number: str) -> None:
            index = self._index(program, indices, number)
            shift = self._new(program, f"mul i64 {number}, {self.bytes}")
            to = self._new(program, f"getelementptr i8, ptr {target}, i64 {shift}")

            def read() -> None:
                self._grow(program, stack, length)
                self._copy(program, to, self._element(program, stack, index), self.bytes)

            def nothing() -> None:
                self._demand(program, self._new(program, f"icmp sge i64 {index}, 0"))
                self._demand(program, self._flag(program, stack, ENDLESS))
                self._clear(program, to, self.bytes)

            is_there = self._new(program, f"icmp ult i64 {index}, {length}")
            self._choose(program, is_there, read, nothing)

        if indices.size == 1:
            pick("0")
        else:
            self._repeat(program, str(indices.size), pick)


class AddRows(StackKernel):
    """Adds rows to elements; the stack becomes at least as long as the one that was read."""

    name = "add rows"

    def emit(self, program: Program) -> None:
        stack = self._stack(program)
        self._unshare(program, stack)
        _, indices, values, least = self.operands
        self._lengthen(program, stack, self._index(program, least))
        source, dtype = program.pointer(base_of(values)), values.dtype

        def add(number: str) -> None:
            index = self._index(program, indices, number)
            self._demand_place(program, index)
            self._lengthen(program, stack, self._new(program, f"add i64 {index}, 1"))
            target = self._element(program, stack, index)
            shift = self._new(program, f"mul i64 {number}, {self.bytes}")
            row = self._new(program, f"getelementptr i8, ptr {source}, i64 {shift}")
            self._add_numbers(program, target, row, str(self.bytes // dtype.size), dtype)

        self._repeat(program, str(indices.size), add)


class AddStack(StackKernel):
    """Adds the elements of another stack."""

    name = "add stack"

    def emit(self, program: Program) -> None:
        dtype = self.elements.dtype
        if dtype is None:  # nobody has ever written one
            return
        stack = self._stack(program)
        self._unshare(program, stack)
        other = program.pointer(base_of(self.operands[1]))
        _, count = self._length(program, other)
        self._lengthen(program, stack, count)
        # What is reserved but was never written has no memory yet.
        self._grow(program, other, count)
        target, source = [self._new(program, f"load ptr, ptr {s}") for s in (stack, other)]
        numbers = self._new(program, f"mul i64 {count}, {self.bytes // max(dtype.size, 1)}")
        self._add_numbers(program, target, source, numbers, dtype)
        mine, its = [self._word(program, s, ENDLESS) for s in (stack, other)]
        words = [self._new(program, f"load i64, ptr {place}") for place in (mine, its)]
        both = self._new(program, f"or i64 {words[0]}, {words[1]}")
        program.line(f"store i64 {both}, ptr {mine}")


class Unload(StackKernel):
    """All elements as one array, whose number of rows is the length the stack has to have."""

    name = "unload"
    rows = 0

    def emit(self, program: Program) -> None:
        stack = self._stack(program)
        _, length = self._length(program, stack)
        self._demand(program, self._new(program, f"icmp eq i64 {length}, {self.rows}"))
        if self.rows and self.bytes:
            self._grow(program, stack, length)
            source = self._new(program, f"load ptr, ptr {stack}")
            target = program.pointer(self.results[0])
            self._copy(program, target, source, self.rows * self.bytes)


class Fit(StackKernel):
    """The elements as an array of a given shape, with zeros where there are none."""

    name = "fit"
    rows = 0

    def emit(self, program: Program) -> None:
        stack = self._stack(program)
        _, length = self._length(program, stack)
        target = program.pointer(self.results[0])
        is_short = self._new(program, f"icmp slt i64 {length}, {self.rows}")
        count = self._new(program, f"select i1 {is_short}, i64 {length}, i64 {self.rows}")
        self._grow(program, stack, count)
        used = self._new(program, f"mul i64 {count}, {self.bytes}")
        source = self._new(program, f"load ptr, ptr {stack}")
        any_ = self._new(program, f"icmp ne i64 {used}, 0")
        self._choose(program, any_, lambda: self._copy(program, target, source, used), lambda: None)
        rest = self._new(program, f"getelementptr i8, ptr {target}, i64 {used}")
        left = self._new(program, f"sub i64 {self.rows * self.bytes}, {used}")
        self._clear(program, rest, left)


class Load(StackKernel):
    """A stack of the rows of an array."""

    name = "load"
    rows = 0

    def emit(self, program: Program) -> None:
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

    def emit(self, program: Program) -> None:
        _, length = self._length(program, self._stack(program))
        narrow = self._new(program, f"trunc i64 {length} to i32")
        program.line(f"store i32 {narrow}, ptr {program.pointer(self.results[0])}")


class ZerosLike(StackKernel):
    """A stack as long as another one, with nothing in it."""

    name = "zeros like"

    def emit(self, program: Program) -> None:
        stack, target = self._stack(program), program.pointer(self.results[0])
        self._copy(program, target, stack, 8 * WORDS)
        self._empty(program, target)


class Copy(StackKernel):
    """A stack with the same elements, which both share until one of them changes."""

    name = "copy"

    def emit(self, program: Program) -> None:
        stack, target = self._stack(program), program.pointer(self.results[0])
        self._set_flag(program, stack, SHARED)
        self._copy(program, target, stack, 8 * WORDS)
