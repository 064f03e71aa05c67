"""What code for the growing stack is made of: five words in memory, and steps around them.

The words are data, length, capacity, endless and shared.

Memory for elements is given back when the call ends, not before: a stack that was handed on may
still look at it. It is kept for the next call, unless it is very much. An endless stack has zeros
below its elements: the gradient of a stack nobody asked for. Elements that are shared are copied
before they change.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from weft._src.core.dtypes import DType
from weft._src.execution.native.loops.blocks import base_of
from weft._src.execution.native.loops.values import Kernel, NotCompilableError, Shape, Stored, Value
from weft._src.execution.native.machine.builder import memory_type

if TYPE_CHECKING:
    from weft._src.execution.native.loops.program import Program

WORDS = 5
ENDLESS, SHARED = 3, 4
_LEAST_ROOM, _MOST_ROOM = 8, 1 << 28  # elements, and bytes, that are made room for at once
_MOST_ELEMENTS = 1 << 40  # far beyond any memory, and no sum or product of it overflows


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


# Makes room for `count` elements, new ones zeros; answers whether there is memory. The smallest
# block of the call before that is large enough serves as well as a new one.
_GROW = """
define internal i1 @weft_grow(ptr %t, ptr %stack, i64 %count, i64 %bytes, i64 %room) noinline {
entry:
%cap.p = getelementptr i64, ptr %stack, i64 2
%cap = load i64, ptr %cap.p
%enough = icmp ule i64 %count, %cap
br i1 %enough, label %fine, label %grow
grow:
%double = mul i64 %cap, 2
%least = icmp ugt i64 %double, %room
%wish = select i1 %least, i64 %double, i64 %room
%more = icmp ugt i64 %count, %wish
%new = select i1 %more, i64 %count, i64 %wish
%product = call {i64, i1} @llvm.umul.with.overflow.i64(i64 %new, i64 %bytes)
%size = extractvalue {i64, i1} %product, 0
%overflows = extractvalue {i64, i1} %product, 1
%is.large = icmp ugt i64 %size, <most_stack>
%is.too.much = or i1 %overflows, %is.large
br i1 %is.too.much, label %failed, label %measured
measured:
%all = add i64 %size, 64
%spare.p = getelementptr ptr, ptr %t, i64 <spare>
br label %look
look:
%at = phi ptr [%spare.p, %measured], [%this, %next]
%best.at = phi ptr [null, %measured], [%better.at, %next]
%best.size = phi i64 [-1, %measured], [%better.size, %next]
%this = load ptr, ptr %at
%is.there = icmp ne ptr %this, null
br i1 %is.there, label %next, label %looked
next:
%this.size.p = getelementptr i64, ptr %this, i64 1
%this.size = load i64, ptr %this.size.p
%fits = icmp uge i64 %this.size, %all
%is.smaller = icmp ult i64 %this.size, %best.size
%is.better = and i1 %fits, %is.smaller
%better.at = select i1 %is.better, ptr %at, ptr %best.at
%better.size = select i1 %is.better, i64 %this.size, i64 %best.size
br label %look
looked:
%found = icmp ne ptr %best.at, null
br i1 %found, label %take, label %allocate
take:
%taken = load ptr, ptr %best.at
%behind = load ptr, ptr %taken
store ptr %behind, ptr %best.at
br label %link
allocate:
%context.p = getelementptr ptr, ptr %t, i64 <slots>
%context = load ptr, ptr %context.p
%allocate.p = getelementptr ptr, ptr %context, i64 <at allocate>
%allocator = load ptr, ptr %allocate.p
%fresh = call ptr %allocator(i64 64, i64 %all)
%got = icmp ne ptr %fresh, null
br i1 %got, label %describe, label %failed
describe:
%fresh.size.p = getelementptr i64, ptr %fresh, i64 1
store i64 %all, ptr %fresh.size.p
br label %link
link:
%block = phi ptr [%taken, %take], [%fresh, %describe]
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
%beyond = mul i64 %cap, %bytes
%first = getelementptr i8, ptr %data, i64 %beyond
%added = sub i64 %count, %cap
%cleared = mul i64 %added, %bytes
call void @llvm.memset.p0.i64(ptr %first, i8 0, i64 %cleared, i1 false)
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
    room = 0  # for so many elements, when the stack grows: as often as the loop around runs

    def __init__(self, stack: Stored, operands: list[Value], elements: Elements) -> None:
        super().__init__([stack, *operands])
        self.stack, self.elements = stack, elements

    @property
    def bytes(self) -> int:
        """The size of an element."""
        return self.elements.bytes

    def _stack(self, program: Program) -> str:
        program.uses_stacks = True
        program.module.declare("llvm.umul.with.overflow.i64", "{i64, i1}", "i64, i64")
        program.module.declare("llvm.memcpy.p0.p0.i64", "void", "ptr, ptr, i64, i1")
        program.module.declare("llvm.memset.p0.i64", "void", "ptr, i8, i64, i1")
        program.module.define_once("weft_grow", _GROW)
        return program.pointer(base_of(self.stack))

    def _new(self, program: Program, text: str) -> str:
        name = f"%{program.label('s')}"
        program.line(f"{name} = {text}")
        return name

    def _demand(self, program: Program, condition: str) -> None:
        fails, goes_on = program.label("fails"), program.label("holds")
        program.line(f"br i1 {condition}, label %{goes_on}, label %{fails}")
        program.line(f"{fails}:")
        program.line(f"ret i32 {self.number}")
        program.line(f"{goes_on}:")

    def _demand_place(self, program: Program, index: str) -> None:
        """An index that may lengthen the stack: not negative, and not absurd."""
        self._demand(program, self._new(program, f"icmp ult i64 {index}, {_MOST_ELEMENTS}"))

    def _length(self, program: Program, stack: str) -> tuple[str, str]:
        place = self._new(program, f"getelementptr i64, ptr {stack}, i64 1")
        return place, self._new(program, f"load i64, ptr {place}")

    def _grow(self, program: Program, stack: str, count: str) -> None:
        room = self.room if self.room * self.bytes <= _MOST_ROOM else _LEAST_ROOM
        numbers = f"i64 {count}, i64 {self.bytes}, i64 {max(room, _LEAST_ROOM)}"
        there = self._new(program, f"call i1 @weft_grow(ptr %t, ptr {stack}, {numbers})")
        self._demand(program, there)

    def _element(self, program: Program, stack: str, index: str) -> str:
        data = self._new(program, f"load ptr, ptr {stack}")
        shift = self._new(program, f"mul i64 {index}, {self.bytes}")
        return self._new(program, f"getelementptr i8, ptr {data}, i64 {shift}")

    def _copy(self, program: Program, target: str, source: str, bytes_: int | str) -> None:
        program.line(
            f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {bytes_}, i1 false)"
        )

    def _clear(self, program: Program, target: str, bytes_: int | str) -> None:
        program.line(f"call void @llvm.memset.p0.i64(ptr {target}, i8 0, i64 {bytes_}, i1 false)")

    def _index(self, program: Program, index: Value, number: str = "0") -> str:
        """One of the indices, as i64."""
        kind = f"i{8 * index.dtype.size}"
        place = self._new(
            program, f"getelementptr {kind}, ptr {program.pointer(base_of(index))}, i64 {number}"
        )
        raw = self._new(program, f"load {kind}, ptr {place}")
        return raw if kind == "i64" else self._new(program, f"sext {kind} {raw} to i64")

    def _word(self, program: Program, stack: str, number: int) -> str:
        """The place of one of its words."""
        return self._new(program, f"getelementptr i64, ptr {stack}, i64 {number}")

    def _flag(self, program: Program, stack: str, number: int) -> str:
        """Whether one of its words is set."""
        word = self._new(program, f"load i64, ptr {self._word(program, stack, number)}")
        return self._new(program, f"icmp ne i64 {word}, 0")

    def _set_flag(self, program: Program, stack: str, number: int) -> None:
        program.line(f"store i64 1, ptr {self._word(program, stack, number)}")

    def _unshare(self, program: Program, stack: str) -> None:
        """Before elements change: memory of its own for them."""
        shared = self._flag(program, stack, SHARED)

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

    def _empty(self, program: Program, stack: str) -> None:
        """No memory for elements any more, of whatever length it is."""
        program.line(f"store ptr null, ptr {stack}")
        for number in (2, SHARED):
            program.line(f"store i64 0, ptr {self._word(program, stack, number)}")

    def _lengthen(self, program: Program, stack: str, wanted: str) -> str:
        """Makes a stack at least that long, with zeros for what is new; its length."""
        self._demand_place(program, wanted)
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

    def _choose(self, program: Program, condition: str, then: Any, otherwise: Any) -> None:
        """Code for one of two cases."""
        yes, no, end = [program.label(stem) for stem in ("yes", "no", "both")]
        program.line(f"br i1 {condition}, label %{yes}, label %{no}")
        for label, emit in ((yes, then), (no, otherwise)):
            program.line(f"{label}:")
            emit()
            program.line(f"br label %{end}")
        program.line(f"{end}:")

    def _repeat(self, program: Program, count: str, body: Callable[..., Any]) -> None:
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

    def _add_numbers(
        self, program: Program, target: str, source: str, count: str, dtype: DType
    ) -> None:
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
