"""The growing stack in native code: `{data, length, capacity, endless, shared}`, words in memory.

Memory for elements comes from the C library and is freed when the call ends, not before: a stack
that was handed on may still look at it. An endless stack has zeros below its elements: the gradient
of a stack nobody asked for. Elements that are shared are copied before they change.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from weft.core.dtypes import DType
from weft.execution.native.builder import memory_type
from weft.execution.native.schedule import base_of
from weft.execution.native.values import Kernel, NotCompilableError, Shape, Stored, Value

WORDS = 5
_ENDLESS, _SHARED = 3, 4


class Elements:
    """What is known of the elements of some stacks; more may be learnt until code is emitted."""

    __slots__ = ("_known", "_same_as", "inner")

    def __init__(self) -> None:
        self._known: tuple[DType, Shape] | None = None
        self._same_as: Elements | None = None
        self.inner: Elements | None = None  # those of the elements, where they are stacks

    @property
    def _root(self) -> Elements:
        at = self
        while at._same_as is not None:
            at = at._same_as
        return at

    def are(self, dtype: DType, shape: Shape) -> None:
        """They have this type; all elements have one."""
        root = self._root
        if root._known is not None and root._known != (dtype, shape):
            raise NotCompilableError("the elements of a stack have different types")
        root._known = (dtype, shape)

    def are_those_of(self, other: Elements) -> None:
        """The elements of both are alike."""
        mine, its = self._root, other._root
        if mine is its:
            return
        if its._known is not None:
            mine.are(*its._known)
        if its.inner is not None:
            mine.are_stacks_of(its.inner)
        its._same_as = mine

    def are_stacks_of(self, inner: Elements) -> None:
        """They are stacks themselves."""
        root = self._root
        if root.inner is None:
            root.inner = inner
        else:
            root.inner.are_those_of(inner)

    @property
    def dtype(self) -> DType | None:
        """Their dtype, None as long as there is no element."""
        known = self._root._known
        return None if known is None else known[0]

    @property
    def bytes(self) -> int:
        """The size of an element; 0 as long as there is none."""
        known = self._root._known
        return 0 if known is None else math.prod(known[1]) * known[0].size


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
    number = 0  # of the check

    def __init__(self, stack: Stored, operands: list[Value], elements: Elements) -> None:
        super().__init__([stack, *operands])
        self.stack, self.elements = stack, elements

    @property
    def bytes(self) -> int:
        """The size of an element."""
        return self.elements.bytes

    def _stack(self, program: Any) -> str:
        program.module.declare("calloc", "ptr", "i64, i64")
        program.module.declare("llvm.memcpy.p0.p0.i64", "void", "ptr, ptr, i64, i1")
        program.module.declare("llvm.memset.p0.i64", "void", "ptr, i8, i64, i1")
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

    def _clear(self, program: Any, target: str, bytes_: int | str) -> None:
        program.line(f"call void @llvm.memset.p0.i64(ptr {target}, i8 0, i64 {bytes_}, i1 false)")

    def _index(self, program: Any, index: Value, number: str = "0") -> str:
        """One of the indices, as i64."""
        kind = f"i{8 * index.dtype.size}"
        place = self._new(
            program, f"getelementptr {kind}, ptr {program.pointer(base_of(index))}, i64 {number}"
        )
        raw = self._new(program, f"load {kind}, ptr {place}")
        return raw if kind == "i64" else self._new(program, f"sext {kind} {raw} to i64")

    def _word(self, program: Any, stack: str, number: int) -> str:
        """The place of one of its words."""
        return self._new(program, f"getelementptr i64, ptr {stack}, i64 {number}")

    def _flag(self, program: Any, stack: str, number: int) -> str:
        """Whether one of its words is set."""
        word = self._new(program, f"load i64, ptr {self._word(program, stack, number)}")
        return self._new(program, f"icmp ne i64 {word}, 0")

    def _set_flag(self, program: Any, stack: str, number: int) -> None:
        program.line(f"store i64 1, ptr {self._word(program, stack, number)}")

    def _unshare(self, program: Any, stack: str) -> None:
        """Before elements change: memory of its own for them."""
        shared = self._flag(program, stack, _SHARED)

        def copy() -> None:
            _, length = self._length(program, stack)
            self._grow(program, stack, length)
            source = self._new(program, f"load ptr, ptr {stack}")
            self._empty(program, stack)
            self._grow(program, stack, length)
            some = self._new(program, f"icmp sgt i64 {length}, 0")
            target = self._new(program, f"load ptr, ptr {stack}")
            used = self._new(program, f"mul i64 {length}, {self.bytes}")
            then = partial(self._copy, program, target, source, used)
            self._choose(program, some, then, lambda: None)

        self._choose(program, shared, copy, lambda: None)

    def _empty(self, program: Any, stack: str) -> None:
        """No memory for elements any more, of whatever length it is."""
        program.line(f"store ptr null, ptr {stack}")
        for number in (2, _SHARED):
            program.line(f"store i64 0, ptr {self._word(program, stack, number)}")

    def _lengthen(self, program: Any, stack: str, wanted: str) -> str:
        """Makes a stack at least that long, with zeros for what is new; its length."""
        place, length = self._length(program, stack)
        is_longer = self._new(program, f"icmp sgt i64 {wanted}, {length}")
        longer = self._new(program, f"select i1 {is_longer}, i64 {wanted}, i64 {length}")
        self._grow(program, stack, longer)
        # Elements that were taken off may still lie there.
        first = self._element(program, stack, length)
        count = self._new(program, f"sub i64 {longer}, {length}")
        self._clear(program, first, self._new(program, f"mul i64 {count}, {self.bytes}"))
        program.line(f"store i64 {longer}, ptr {place}")
        return longer

    def _choose(self, program: Any, condition: str, then: Any, otherwise: Any) -> None:
        """Code for one of two cases."""
        yes, no, end = [program.label(stem) for stem in ("yes", "no", "both")]
        program.line(f"br i1 {condition}, label %{yes}, label %{no}")
        for label, emit in ((yes, then), (no, otherwise)):
            program.line(f"{label}:")
            emit()
            program.line(f"br label %{end}")
        program.line(f"{end}:")

    def _repeat(self, program: Any, count: str, body: Any) -> None:
        """Code for every number below a count, which may be 0."""
        above, head, inner, end = [program.label(s) for s in ("above", "head", "inner", "out")]
        number, following = f"%{program.label('n')}", f"%{program.label('n')}"
        latch = program.label("latch")
        program.line(f"br label %{above}")
        program.line(f"{above}:")
        program.line(f"br label %{head}")
        program.line(f"{head}:")
        program.line(f"{number} = phi i64 [0, %{above}], [{following}, %{latch}]")
        more = self._new(program, f"icmp slt i64 {number}, {count}")
        program.line(f"br i1 {more}, label %{inner}, label %{end}")
        program.line(f"{inner}:")
        body(number)
        program.line(f"br label %{latch}")
        program.line(f"{latch}:")
        program.line(f"{following} = add nuw nsw i64 {number}, 1")
        program.line(f"br label %{head}")
        program.line(f"{end}:")

    def _add_numbers(self, program: Any, target: str, source: str, count: str, dtype: Any) -> None:
        """target += source, element by element."""
        kind = memory_type(dtype)
        opcode = "fadd" if dtype.is_floating else "add"

        def step(number: str) -> None:
            to = self._new(program, f"getelementptr {kind}, ptr {target}, i64 {number}")
            of = self._new(program, f"getelementptr {kind}, ptr {source}, i64 {number}")
            x = self._new(program, f"load {kind}, ptr {to}, align 1")
            y = self._new(program, f"load {kind}, ptr {of}, align 1")
            program.line(
                f"store {kind} {self._new(program, f'{opcode} {kind} {x}, {y}')}, ptr {to}, align 1"
            )

        self._repeat(program, count, step)


class Push(StackKernel):
    """One more element at the end."""

    name = "push"
    of_stack = False  # whether the element is a stack

    def emit(self, program: Any) -> None:
        stack = self._stack(program)
        self._unshare(program, stack)
        place, length = self._length(program, stack)
        more = self._new(program, f"add i64 {length}, 1")
        self._grow(program, stack, more)
        target = self._element(program, stack, length)
        item = program.pointer(base_of(self.operands[1]))
        if self.of_stack:
            self._set_flag(program, item, _SHARED)
        self._copy(program, target, item, self.bytes)
        program.line(f"store i64 {more}, ptr {place}")


class Pop(StackKernel):
    """Takes the last element off."""

    name = "pop"
    of_stack = False  # whether the element is a stack

    def emit(self, program: Any) -> None:
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
            self._demand(program, self._flag(program, stack, _ENDLESS))
            self._clear(program, target, self.bytes)
            if self.of_stack:
                self._set_flag(program, target, _ENDLESS)

        self._choose(program, has_some, take, nothing)


class Put(StackKernel):
    """Replaces an element; `grow` lets an index beyond the end lengthen the stack."""

    name = "put"
    grow = False

    def emit(self, program: Any) -> None:
        stack = self._stack(program)
        self._unshare(program, stack)
        _, length = self._length(program, stack)
        index = self._index(program, self.operands[1])
        self._demand(program, self._new(program, f"icmp sge i64 {index}, 0"))
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

    def emit(self, program: Any) -> None:
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

    def emit(self, program: Any) -> None:
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
                self._demand(program, self._flag(program, stack, _ENDLESS))
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

    def emit(self, program: Any) -> None:
        stack = self._stack(program)
        self._unshare(program, stack)
        _, indices, values, least = self.operands
        self._lengthen(program, stack, self._index(program, least))
        source, dtype = program.pointer(base_of(values)), values.dtype

        def add(number: str) -> None:
            index = self._index(program, indices, number)
            self._demand(program, self._new(program, f"icmp sge i64 {index}, 0"))
            self._lengthen(program, stack, self._new(program, f"add i64 {index}, 1"))
            target = self._element(program, stack, index)
            shift = self._new(program, f"mul i64 {number}, {self.bytes}")
            row = self._new(program, f"getelementptr i8, ptr {source}, i64 {shift}")
            self._add_numbers(program, target, row, str(self.bytes // dtype.size), dtype)

        self._repeat(program, str(indices.size), add)


class AddStack(StackKernel):
    """Adds the elements of another stack."""

    name = "add stack"

    def emit(self, program: Any) -> None:
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
        mine, its = [self._word(program, s, _ENDLESS) for s in (stack, other)]
        words = [self._new(program, f"load i64, ptr {place}") for place in (mine, its)]
        both = self._new(program, f"or i64 {words[0]}, {words[1]}")
        program.line(f"store i64 {both}, ptr {mine}")


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


class Fit(StackKernel):
    """The elements as an array of a given shape, with zeros where there are none."""

    name = "fit"
    rows = 0

    def emit(self, program: Any) -> None:
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


class ZerosLike(StackKernel):
    """A stack as long as another one, with nothing in it."""

    name = "zeros like"

    def emit(self, program: Any) -> None:
        stack, target = self._stack(program), program.pointer(self.results[0])
        self._copy(program, target, stack, 8 * WORDS)
        self._empty(program, target)


class Copy(StackKernel):
    """A stack with the same elements, which both share until one of them changes."""

    name = "copy"

    def emit(self, program: Any) -> None:
        stack, target = self._stack(program), program.pointer(self.results[0])
        self._set_flag(program, stack, _SHARED)
        self._copy(program, target, stack, 8 * WORDS)
