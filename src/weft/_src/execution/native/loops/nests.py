"""A loop nest as an LLVM function: every root computed at every index, stores and sums last.

What goes in is a nest of the schedule: an index space and its roots, which are expressions over
values in memory. For `result = exp(x - s)` over [3, 5], where s : [3, 1], what comes out is

    for i1 in 0..3:
        r1 = load s[i1]                     as far outside as its index allows
        for i2 in 0..5:
            r2 = load x[5 * i1 + i2]
            store exp(r2 - r1), result[5 * i1 + i2]

as text. Axes that all values walk through alike are merged into one loop (`x + y` of [3, 5] is one
loop of 15); sums over the innermost axis have several accumulators, so that LLVM may use vectors,
and long ones of float32 are taken in blocks, whose sums are added in double.
Elements are made once per index (`NestWriter.at` remembers them), whoever uses them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from weft._src.core.dtypes import DType
from weft._src.execution.native.front.lowering.rules import identity_of
from weft._src.execution.native.loops.blocks import Nest, base_of
from weft._src.execution.native.loops.memory import Buffer
from weft._src.execution.native.loops.schedule import Schedule
from weft._src.execution.native.loops.values import (
    Elementwise,
    Index,
    Indexed,
    Reduced,
    Shape,
    Stored,
    Uniform,
    Value,
)
from weft._src.execution.native.machine import llvm
from weft._src.execution.native.machine.builder import (
    LOOPS_OF_WIDTH,
    OUTER_LOOP,
    PARALLEL,
    PARALLEL_LOOP,
    SERIAL_LOOP,
    Builder,
    Module,
    Scalar,
    alignment,
    compute_type,
    loop_lines,
    memory_type,
)
from weft._src.execution.native.machine.functions import RANGE, StepFunction

SCRATCH_SLOT = 0  # of the table
_CALLS_FROM = 40  # the cost of a nest that calls elementary functions: about four of them
_LONG_FROM = 1 << 15  # iterations behind which what is left over takes no time worth naming
_NOT_UNROLLED_FROM = 16  # iterations inside of a loop; unrolled, LLVM takes a third longer
_WIDE_FROM, _WIDE_COST = 512, 10  # iterations of the innermost loop, and their cost
# Terms of a sum that are added in float, before they join the rest in double: how many accumulators
# LLVM makes depends on the processor, and with few of them a long sum in float loses places.
_BLOCK = 1 << 12

_OF_BOOLS = {
    "add": "logical_or", "maximum": "logical_or", "multiply": "logical_and",
    "minimum": "logical_and",
}  # fmt: skip


class NestWriter:
    """Emits the elements of values inside the loops of one nest."""

    def __init__(
        self,
        module: Module,
        schedule: Schedule,
        at: int,
        space: Shape,
        groups: list[list[int]],
        *,
        exact: bool,
        nest: Nest | None = None,
        grain: int | None = None,
    ) -> None:
        self._at = at
        self._grain = grain if nest is None else nest.grain
        self._cost = 0 if nest is None else nest.cost
        self._partial = {} if nest is None else nest.partial
        self._doubt_buffer = None if nest is None else nest.doubt
        self._schedule = schedule
        self._groups = groups
        self._merged = len(groups) != len(space)
        sizes = [math.prod([space[i] for i in group]) for group in groups]
        self.loops = [g for g, n in enumerate(sizes) if n != 1]
        self.sizes = sizes
        calls = nest is not None and self._calls_functions(nest)
        is_long = bool(self.loops) and self._length(len(self.loops) - 1) >= _LONG_FROM
        self.b = Builder(module, len(self.loops), exact=exact, calls=calls, is_long=is_long)
        self._entry: list[str] = []
        self._pointers: dict[Buffer, str] = {}
        self._elements: dict[tuple[Any, ...], Scalar] = {}
        self._own: set[int] = set()
        # What is done before and after each block of the innermost loop, if it is that long.
        is_long = bool(self.loops) and self._length(len(self.loops) - 1) > _BLOCK
        self._block: tuple[list[str], list[str]] | None = ([], []) if is_long else None
        self._reduces_oddly = False  # in a way that LLVM may not turn into vectors
        self._last_blocks: dict[int, str] = {}  # of what comes before inner loops, by level
        self._serial = False  # whether iterations may touch the same memory
        self._dims: dict[int, tuple[int, ...]] = {}
        level = {g: i + 1 for i, g in enumerate(self.loops)}
        self.index: Index = tuple(
            [
                Scalar(f"%i{level[g]}", "i64", level[g]) if g in level else self.b.index(0)
                for g in range(len(groups))
            ]
        )

    def _calls_functions(self, nest: Nest) -> bool:
        """Whether there is so much to compute that writing all of it out takes LLVM long."""
        innermost = self.sizes[self.loops[-1]] if self.loops else 1
        is_vector = innermost >= llvm.vector_bytes() // 4
        return nest.cost >= _CALLS_FROM and (is_vector or innermost == 1)

    # --- elements ----------------------------------------------------------------------------

    def at(self, value: Value, index: Sequence[Scalar]) -> Scalar:
        """The element of a value at an index, in a register."""
        if isinstance(value, Uniform):
            return self._literal(value)
        key = (id(value), *[i.text for i in index])
        known = self._elements.get(key)
        if known is None:
            known = self._elements[key] = self._emit(value, tuple(index))
        return known

    def _emit(self, value: Value, index: Index) -> Scalar:
        in_memory = isinstance(value, Stored) or base_of(value) is not value
        if in_memory or (self._schedule.is_read_at(value, self._at) and id(value) not in self._own):
            return self._load(value, index)
        if isinstance(value, Elementwise):
            operands = [self.at(v, self._narrowed(v, index)) for v in value.operands]
            t = value.operands[-1].dtype
            return self.b.rounded(value.rule(self.b, t, value.attrs, *operands), value.dtype)
        assert isinstance(value, Indexed), value
        return value.formula(self, index)

    def _literal(self, value: Uniform) -> Scalar:
        number = value.number
        kind = compute_type(value.dtype)
        return self.b.number(kind, float(number) if kind in ("float", "double") else int(number))

    def _narrowed(self, value: Value, index: Index) -> Index:
        """The index of a broadcast operand: axes of size one stay at 0."""
        dims = self.dims_of(value)
        index = index[len(index) - len(dims) :]
        zero = self.b.index(0)
        return tuple([zero if n == 1 else i for n, i in zip(dims, index, strict=True)])

    def dims_of(self, value: Value) -> tuple[int, ...]:
        """The sizes of a value, along merged axes if the nest has merged some."""
        if not self._merged:
            return value.shape
        dims = self._dims.get(id(value))
        if dims is None:
            rank = sum(len(group) for group in self._groups)
            aligned = (1,) * (rank - len(value.shape)) + value.shape
            dims = tuple([math.prod([aligned[i] for i in group]) for group in self._groups])
            self._dims[id(value)] = dims
        return dims

    def _load(self, value: Value, index: Index) -> Scalar:
        if not value.size:  # a wild index would read what lies behind; a check says that it is
            return self._literal(Uniform(value.dtype, (), "nothing", 0))
        pointer = self.pointer(self._schedule.memory[id(base_of(value))])
        return self.b.load(pointer, value.dtype, self.offset(self.dims_of(value), index))

    def offset(self, dims: Sequence[int], index: Index) -> Scalar:
        """The number of an element in memory, which is there even if the index is wild."""
        total = self.b.index(0)
        stride = 1
        for n, i in zip(reversed(dims), reversed(index), strict=True):
            if i.is_wild:
                i = self.b.inside(i, n)
            if i.text != "0":
                scaled = i if stride == 1 else self._product(i, stride)
                total = scaled if total.text == "0" else self._sum(scaled, total)
            stride *= n
        return total

    def _product(self, i: Scalar, stride: int) -> Scalar:
        if i.text.lstrip("-").isdigit():
            return self.b.index(int(i.text) * stride)
        return self.b.pure(f"mul nsw i64 {i.text}, {stride}", "i64", i)

    def _sum(self, x: Scalar, y: Scalar) -> Scalar:
        if x.text.lstrip("-").isdigit() and y.text.lstrip("-").isdigit():
            return self.b.index(int(x.text) + int(y.text))
        return self.b.pure(f"add nsw i64 {x.text}, {y.text}", "i64", x, y)

    def pointer(self, buffer: Buffer) -> str:
        """The register that points to a buffer."""
        buffer = buffer.final
        name = self._pointers.get(buffer)
        if name is None:
            name = self._pointers[buffer] = f"%p{len(self._pointers)}"
        return name

    # --- roots -------------------------------------------------------------------------------

    def compute(self, roots: Iterable[Value]) -> dict[int, Scalar]:
        """The elements of all roots; roots are not read from memory here, even if they are kept."""
        roots = list(roots)
        self._own = {id(root) for root in roots}
        return {
            id(root): self.at(root.source if isinstance(root, Reduced) else root, self.index)
            for root in roots
        }

    def store(
        self,
        value: Value,
        index: Index,
        element: Scalar,
        dims: Sequence[int],
        *,
        repeats: bool = False,
    ) -> None:
        """Writes an element of a kept value; `repeats` if a place may be written twice."""
        if not value.size:
            return
        self._serial = self._serial or repeats
        pointer = self.pointer(self._schedule.memory[id(value)])
        self.b.store(pointer, value.dtype, self.offset(dims, index), element, len(self.loops))

    # --- reductions --------------------------------------------------------------------------

    def reduce(self, root: Reduced, element: Scalar) -> None:
        """Combines the elements of one root over its axes."""
        reduced = [self._groups[g][0] in root.axes for g in self.loops]
        trailing = 0
        while trailing < len(reduced) and reduced[-1 - trailing]:
            trailing += 1
        depth = len(reduced) - trailing
        scattered = any(reduced[:depth])
        name, t = root.combination, root.dtype
        identity = self._literal(Uniform(t, (), "", identity_of(name, t)))
        kept = [g for g in range(len(self._groups)) if self._groups[g][0] not in root.axes]
        dims = [self.sizes[g] for g in kept]
        offset = self.offset(dims, tuple([self.index[g] for g in kept]))
        pointer = self.pointer(self._schedule.memory[id(root)])
        if id(root) in self._partial:  # every piece leaves its own part of the sum
            pointer = self.pointer(self._partial[id(root)])
            offset = self.b.pure(f"udiv i64 %begin, {self._grain}", "i64")
        if scattered:
            self._fill(pointer, t, kept, identity, reduced.index(True))
        if trailing:
            self._reduces_oddly |= name not in ("add", "multiply")
            element = self._accumulate(element, identity, name, t, depth)
        lines = self.b.after[depth] if trailing else self.b.before[depth]
        # Along an innermost axis that is kept, each iteration has an element of its own. Told so,
        # LLVM writes no code that compares addresses first: a third less to compile.
        mark = "" if trailing else f", {PARALLEL}"
        self._finish(lines, pointer, t, offset, element, name if scattered else None, mark)

    def _accumulate(
        self, element: Scalar, identity: Scalar, name: str, t: DType, depth: int
    ) -> Scalar:
        """A register that grows in the inner loops; its last value is there behind them."""
        kind, place = element.type, self.b.fresh()
        first, last = self.b.before[depth], self.b.after[depth]
        in_blocks = kind == "float" and name == "add" and self._terms(depth) > _BLOCK
        if in_blocks:
            first, last = self._block or (self.b.before[-2], self.b.after[-2])
        self._entry.append(f"{place} = alloca {kind}")
        first.append(f"store {kind} {identity.text}, ptr {place}")
        inner = self.b.before[-1]
        old, new, out = self.b.fresh(), self.b.fresh(), self.b.fresh()
        inner.append(f"{old} = load {kind}, ptr {place}")
        inner.append(f"{new} = {self._combination(name, t, kind, old, element.text)}")
        inner.append(f"store {kind} {new}, ptr {place}")
        last.append(f"{out} = load {kind}, ptr {place}")
        return Scalar(self._sum_of_blocks(out, last, depth) if in_blocks else out, kind, depth)

    def _sum_of_blocks(self, part: str, lines: list[str], depth: int) -> str:
        """Adds the float that each block leaves behind; the lines at its end grow by that."""
        place, wide, old, new = [self.b.fresh() for _ in range(4)]
        self._entry.append(f"{place} = alloca double")
        self.b.before[depth].append(f"store double 0.0, ptr {place}")
        lines += [
            f"{wide} = fpext float {part} to double",
            f"{old} = load double, ptr {place}",
            f"{new} = fadd double {old}, {wide}",
            f"store double {new}, ptr {place}",
        ]
        total, out = self.b.fresh(), self.b.fresh()
        self.b.after[depth] += [
            f"{total} = load double, ptr {place}",
            f"{out} = fptrunc double {total} to float",
        ]
        return out

    def _terms(self, depth: int) -> int:
        """How many elements the loops inside of a depth combine, at most."""
        return math.prod([self._length(level) for level in range(depth, len(self.loops))])

    def _length(self, level: int) -> int:
        """How many iterations a loop has at most; the outermost may be done in pieces."""
        size = self.sizes[self.loops[level]]
        return size if level or self._grain is None else min(size, self._grain)

    def _combination(self, name: str, t: DType, kind: str, x: str, y: str) -> str:
        if t.is_bool:  # of which NumPy's sum is true if one is, and the product if all are
            name = _OF_BOOLS.get(name, name)
        if name in ("maximum", "minimum"):
            flags = ""
            if kind in ("float", "double"):
                function = f"llvm.{name}.{'f32' if kind == 'float' else 'f64'}"
                flags = "nsz "  # which of two zeros it is nobody asks, and finding out takes time
            else:
                sign = "u" if t.numpy_dtype.kind == "u" else "s"
                function = f"llvm.{sign}{name[:3]}.{kind}"
            self.b.module.declare(function, kind, f"{kind}, {kind}")
            return f"call {flags}{kind} @{function}({kind} {x}, {kind} {y})"
        opcodes = {
            "add": "fadd reassoc" if kind in ("float", "double") else "add",
            "multiply": "fmul reassoc" if kind in ("float", "double") else "mul",
            "logical_and": "and",
            "logical_or": "or",
        }
        return f"{opcodes[name]} {kind} {x}, {y}"

    def _finish(
        self,
        lines: list[str],
        pointer: str,
        t: DType,
        offset: Scalar,
        element: Scalar,
        combination: str | None,
        mark: str = "",
    ) -> None:
        """Stores what the inner loops gave, or combines it with what lies in memory.

        `mark` is what LLVM is told of these accesses.
        """
        kind = memory_type(t)
        b = self.b.appending_to(lines)
        element = element._replace(level=0)
        place = b.address(pointer, kind, offset._replace(level=0))
        if combination is not None:
            old = b.pure(f"load {kind}, ptr {place.text}, align {alignment(kind)}{mark}", kind)
            text = self._combination(
                combination, t, element.type, b.widened(old, t).text, element.text
            )
            element = b.pure(text, element.type)
        raw = b.narrowed(element, t)
        lines.append(f"store {kind} {raw.text}, ptr {place.text}, align {alignment(kind)}{mark}")

    def _fill(
        self, pointer: str, t: DType, kept: Sequence[int], number: Scalar, depth: int
    ) -> None:
        """A loop that sets all elements which the loops inside of a depth combine something with.

        So it is of known length, also in a piece of a nest, and LLVM makes a few instructions of
        it; and what it sets is still in a near cache when it is needed.
        """
        outside = self.loops[:depth]
        zero = self.b.index(0)
        index = tuple([self.index[g] if g in outside else zero for g in kept])
        offset = self.offset([self.sizes[g] for g in kept], index)
        kind = memory_type(t)
        first = self.b.address(pointer, kind, offset).text
        raw, label = self.b.narrowed(number, t), self.b.fresh()[1:]
        body = [
            f"%{label}.p = getelementptr {kind}, ptr {first}, i64 %{label}",
            f"store {kind} {raw.text}, ptr %{label}.p, align {alignment(kind)}, {PARALLEL}",
        ]
        n = math.prod([self.sizes[g] for g in kept if g not in outside])
        self.b.before[depth] += [
            f"br label %{label}.start",
            f"{label}.start:",
            *loop_lines(label, n, f"{label}.start", body, PARALLEL_LOOP),
        ]
        self._last_blocks[depth] = f"{label}.end"

    # --- text --------------------------------------------------------------------------------

    def combine(self, value: Value, index: Index, element: Scalar, combination: str) -> None:
        """Joins an element to what lies in its place, one after the other."""
        if not value.size:
            return
        self._serial = True
        pointer = self.pointer(self._schedule.memory[id(value)])
        offset = self.offset(value.shape, index)
        self._finish(self.b.before[-1], pointer, value.dtype, offset, element, combination)

    def function(self, name: str) -> StepFunction:
        """The whole function; it returns whether the result is in doubt."""
        result = self._doubt()
        begin, end = "0", ""
        if self._grain is not None:
            begin, end = "%begin", "%end"
            result = self._marked_doubt(result)
        body, levels = self.b, len(self.loops)
        lines = [*self._entry, *body.before[0], "br label %outside", "outside:"]
        above = "%outside"
        for level in range(1, levels + 1):
            start = begin if level == 1 else "0"
            if level == levels and self._is_in_blocks():
                lines += self._start_of_block(start, above, self._end(level, end))
                start, above = "%block.from", "%block"
            lines += [
                f"br label %loop{level}",
                f"loop{level}:",
                f"%i{level} = phi i64 [{start}, {above}], [%i{level}.next, %latch{level}]",
                *body.before[level],
            ]
            above = f"%{self._last_blocks.get(level, f'loop{level}')}"
        for level in range(levels, 0, -1):
            size = self._end(level, end)
            in_blocks = level == levels and self._is_in_blocks()
            stop = "%block.to" if in_blocks else size
            kind = self._kind_of_loop(level)
            lines += [
                *(body.after[level]),
                f"br label %latch{level}",
                f"latch{level}:",
                f"%i{level}.next = add nuw nsw i64 %i{level}, 1",
                f"%i{level}.more = icmp ult i64 %i{level}.next, {stop}",
                f"br i1 %i{level}.more, label %loop{level}, label %end{level}, {kind}",
                f"end{level}:",
                *(self._end_of_block(size) if in_blocks else ()),
            ]
        lines += [*body.after[0], *result]
        return StepFunction(
            name,
            "void" if end else "i1",
            self._attributes(),
            pointer_loads((register, buffer) for buffer, register in self._pointers.items()),
            "\n".join(lines),
            RANGE if end else (),
        )

    def _end(self, level: int, end: str) -> str:
        """Where a loop ends; the outermost of a piece at the end of the piece."""
        return end if level == 1 and end else str(self.sizes[self.loops[level - 1]])

    def _is_in_blocks(self) -> bool:
        return self._block is not None and bool(self._block[0])

    def _start_of_block(self, start: str, above: str, end: str) -> list[str]:
        """A loop around the innermost one, which gives it a part of its range at a time."""
        assert self._block is not None
        self.b.module.declare("llvm.umin.i64", "i64", "i64, i64")
        return [
            "br label %block",
            "block:",
            f"%block.from = phi i64 [{start}, {above}], [%block.to, %block.end]",
            f"%block.next = add nuw nsw i64 %block.from, {_BLOCK}",
            f"%block.to = call i64 @llvm.umin.i64(i64 %block.next, i64 {end})",
            *self._block[0],
        ]

    def _end_of_block(self, end: str) -> list[str]:
        assert self._block is not None
        return [
            "br label %block.end",
            "block.end:",
            *self._block[1],
            f"%block.more = icmp ult i64 %block.to, {end}",
            f"br i1 %block.more, label %block, label %blocks.end, {OUTER_LOOP}",
            "blocks.end:",
        ]

    def _attributes(self) -> str:
        """Long loops with much to compute are to use the widest vectors; LLVM prefers others."""
        innermost = self.sizes[self.loops[-1]] if self.loops else 1
        is_long = innermost >= _WIDE_FROM and self._cost >= _WIDE_COST
        return "#1" if is_long and llvm.likes_wide_vectors() else "#0"

    def _kind_of_loop(self, level: int) -> str:
        """What LLVM is told of a loop."""
        if level < len(self.loops):
            inside = math.prod([self.sizes[g] for g in self.loops[level:]])
            return OUTER_LOOP if inside >= _NOT_UNROLLED_FROM else SERIAL_LOOP
        if self._serial:
            return SERIAL_LOOP
        return self._calling_loop() if self._is_plain() else PARALLEL_LOOP

    def _is_plain(self) -> bool:
        """Whether a loop with calls vectorises for certain: LLVM prints a warning where it fails
        to do what it is told.
        """
        surprises = self._reduces_oddly or self.b.doubts or self.b.calls_outside
        is_vector = self.sizes[self.loops[-1]] >= self._called_lanes()
        return bool(self.b.called) and is_vector and not surprises

    def _called_lanes(self) -> int:
        """How many numbers a vector holds that functions are called with."""
        return llvm.vector_bytes() // (8 if "double" in self.b.called else 4)

    def _calling_loop(self) -> str:
        """What LLVM is told of a loop with calls: two vectors at once hide how long one takes."""
        innermost, lanes = self.sizes[self.loops[-1]], self._called_lanes()
        # What is left at the end is done one by one: little of it, or little beside the rest.
        is_double = innermost >= 2 * lanes and (
            innermost >= 8 * lanes or innermost % (2 * lanes) < lanes
        )
        return LOOPS_OF_WIDTH[2 * lanes if is_double else lanes]

    def _marked_doubt(self, result: list[str]) -> list[str]:
        """A piece cannot return its doubt: it leaves a mark."""
        *lines, last = result
        if last == "ret i1 false" or self._doubt_buffer is None:
            return ["ret void"]
        pointer = self.pointer(self._doubt_buffer)
        return [
            *lines,
            f"%doubt.mark = zext i1 {last.removeprefix('ret i1 ')} to i8",
            f"atomicrmw or ptr {pointer}, i8 %doubt.mark seq_cst",
            "ret void",
        ]

    def _doubt(self) -> list[str]:
        if not self.b.doubts:
            return ["ret i1 false"]
        doubt = self.b.doubts[0]
        for other in self.b.doubts[1:]:
            doubt = self.b.binary("or", doubt, other)
        if doubt.level == 0:
            return [f"ret i1 {doubt.text}"]
        inner = self.b.before[-1]
        self._entry += ["%doubt = alloca i1", "store i1 false, ptr %doubt"]
        inner += [
            "%doubt.old = load i1, ptr %doubt",
            f"%doubt.new = or i1 %doubt.old, {doubt.text}",
            "store i1 %doubt.new, ptr %doubt",
        ]
        return ["%doubt.end = load i1, ptr %doubt", "ret i1 %doubt.end"]


def pointer_lines(name: str, buffer: Buffer, table: str = "%t") -> list[str]:
    """Instructions that load the address of a buffer from the table."""
    buffer = buffer.final
    slot = SCRATCH_SLOT if buffer.slot is None else buffer.slot
    place = f"{name}.slot"
    lines = [f"{place} = getelementptr ptr, ptr {table}, i64 {slot}"]
    if buffer.slot is not None:
        return [*lines, f"{name} = load ptr, ptr {place}"]
    return [
        *lines,
        f"{name}.base = load ptr, ptr {place}",
        f"{name} = getelementptr i8, ptr {name}.base, i64 {buffer.offset}",
    ]


def pointer_loads(
    buffers: Iterable[tuple[str, Buffer]],
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Registers for buffers, and the instructions that load each of them."""
    return tuple([(name, tuple(pointer_lines(name, buffer))) for name, buffer in buffers])
