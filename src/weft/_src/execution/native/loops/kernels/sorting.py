"""Sorting lines of integers, and finding the few smallest of many.

Short lines are sorted by merging runs, long ones digit by digit; both keep the order of equal ones.

Other numbers are turned into integers of the same order before (`lowering/sorting.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft._src.execution.native.loops.blocks import base_of
from weft._src.execution.native.loops.memory import Buffer
from weft._src.execution.native.loops.nests import pointer_lines
from weft._src.execution.native.loops.values import Kernel, Stored, Value
from weft._src.execution.native.machine.builder import (
    Module,
    alignment,
    filled,
    loop_lines,
    memory_type,
)

if TYPE_CHECKING:
    from weft._src.execution.native.loops.program import Program

_RUN = 16  # so many elements are sorted by insertion
_LONG = 200  # from so many elements on, digits are faster

_MERGES = """
define internal void @<name>(ptr %a, ptr %s, ptr %pa, ptr %ps, i64 %n) #0 {
entry:
  br label %run
run:
  %start = phi i64 [0, %entry], [%run.next, %run.end]
  %run.next = add nuw nsw i64 %start, <run>
  %end = call i64 @llvm.umin.i64(i64 %n, i64 %run.next)
  %second = add nuw nsw i64 %start, 1
  br label %each
each:
  %i = phi i64 [%second, %run], [%i.next, %placed]
  %i.in = icmp ult i64 %i, %end
  br i1 %i.in, label %take, label %run.end
take:
  %x.p = getelementptr <kind>, ptr %a, i64 %i
  %x = load <kind>, ptr %x.p
  <places> %w.p = getelementptr i64, ptr %pa, i64 %i
  <places> %w = load i64, ptr %w.p
  br label %shift
shift:
  %j = phi i64 [%i, %take], [%j.less, %move]
  %at.start = icmp eq i64 %j, %start
  br i1 %at.start, label %placed, label %look
look:
  %j.less = sub nuw nsw i64 %j, 1
  %y.p = getelementptr <kind>, ptr %a, i64 %j.less
  %y = load <kind>, ptr %y.p
  %is.greater = icmp sgt <kind> %y, %x
  br i1 %is.greater, label %move, label %placed
move:
  %z.p = getelementptr <kind>, ptr %a, i64 %j
  store <kind> %y, ptr %z.p
  <places> %v.p = getelementptr i64, ptr %pa, i64 %j.less
  <places> %v = load i64, ptr %v.p
  <places> %u.p = getelementptr i64, ptr %pa, i64 %j
  <places> store i64 %v, ptr %u.p
  br label %shift
placed:
  %o.p = getelementptr <kind>, ptr %a, i64 %j
  store <kind> %x, ptr %o.p
  <places> %q.p = getelementptr i64, ptr %pa, i64 %j
  <places> store i64 %w, ptr %q.p
  %i.next = add nuw nsw i64 %i, 1
  br label %each
run.end:
  %run.more = icmp ult i64 %run.next, %n
  br i1 %run.more, label %run, label %pass

pass:
  %width = phi i64 [<run>, %run.end], [%width.next, %pass.end]
  %from = phi ptr [%a, %run.end], [%to, %pass.end]
  %to = phi ptr [%s, %run.end], [%from, %pass.end]
  %p.from = phi ptr [%pa, %run.end], [%p.to, %pass.end]
  %p.to = phi ptr [%ps, %run.end], [%p.from, %pass.end]
  %go = icmp ult i64 %width, %n
  br i1 %go, label %pair, label %finish
pair:
  %low = phi i64 [0, %pass], [%next, %merged]
  %half = add nuw nsw i64 %low, %width
  %next = add nuw nsw i64 %half, %width
  %mid = call i64 @llvm.umin.i64(i64 %n, i64 %half)
  %high = call i64 @llvm.umin.i64(i64 %n, i64 %next)
  br label %merge
merge:
  %k = phi i64 [%low, %pair], [%k.next, %merge]
  %l = phi i64 [%low, %pair], [%l.next, %merge]
  %r = phi i64 [%mid, %pair], [%r.next, %merge]
  %l.in = icmp ult i64 %l, %mid
  %r.out = icmp uge i64 %r, %high
  %l.at = select i1 %l.in, i64 %l, i64 %low
  %r.at = select i1 %r.out, i64 %low, i64 %r
  %l.p = getelementptr <kind>, ptr %from, i64 %l.at
  %r.p = getelementptr <kind>, ptr %from, i64 %r.at
  %l.x = load <kind>, ptr %l.p
  %r.x = load <kind>, ptr %r.p
  %in.order = icmp sle <kind> %l.x, %r.x
  %l.fits = or i1 %in.order, %r.out
  %is.left = and i1 %l.in, %l.fits
  %best = select i1 %is.left, <kind> %l.x, <kind> %r.x
  %k.p = getelementptr <kind>, ptr %to, i64 %k
  store <kind> %best, ptr %k.p
  <places> %best.at = select i1 %is.left, i64 %l.at, i64 %r.at
  <places> %b.p = getelementptr i64, ptr %p.from, i64 %best.at
  <places> %b = load i64, ptr %b.p
  <places> %c.p = getelementptr i64, ptr %p.to, i64 %k
  <places> store i64 %b, ptr %c.p
  %l.step = zext i1 %is.left to i64
  %r.step = xor i64 %l.step, 1
  %l.next = add nuw nsw i64 %l, %l.step
  %r.next = add nuw nsw i64 %r, %r.step
  %k.next = add nuw nsw i64 %k, 1
  %k.more = icmp ult i64 %k.next, %high
  br i1 %k.more, label %merge, label %merged
merged:
  %pair.more = icmp ult i64 %next, %n
  br i1 %pair.more, label %pair, label %pass.end
pass.end:
  %width.next = shl nuw nsw i64 %width, 1
  br label %pass

<finish>
"""

# Digits of 8 bits, the lowest first; a digit that is the same everywhere changes nothing.
_DIGITS = """
define internal void @<name>(ptr %a, ptr %s, ptr %pa, ptr %ps, i64 %n) #0 {
entry:
  %counts = alloca [256 x i64]
  br label %pass
pass:
  %bit = phi <kind> [<first>, %entry], [%bit.next, %pass.end]
  %from = phi ptr [%a, %entry], [%from.next, %pass.end]
  %to = phi ptr [%s, %entry], [%to.next, %pass.end]
  %p.from = phi ptr [%pa, %entry], [%p.from.next, %pass.end]
  %p.to = phi ptr [%ps, %entry], [%p.to.next, %pass.end]
  %go = icmp ult <kind> %bit, <width>
  br i1 %go, label %clear, label %finish
clear:
  call void @llvm.memset.p0.i64(ptr %counts, i8 0, i64 2048, i1 false)
  %bit.next = add nuw nsw <kind> %bit, 8
  %is.top = icmp eq <kind> %bit.next, <width>
  %flip = select i1 %is.top, <kind> 128, <kind> 0
  br label %count
count:
  %i = phi i64 [0, %clear], [%i.next, %count]
  %x.p = getelementptr <kind>, ptr %from, i64 %i
  %x = load <kind>, ptr %x.p
  %x.low = lshr <kind> %x, %bit
  %x.digit = and <kind> %x.low, 255
  %x.signed = xor <kind> %x.digit, %flip
  %c.p = getelementptr i64, ptr %counts, <kind> %x.signed
  %c = load i64, ptr %c.p
  %c.next = add nuw nsw i64 %c, 1
  store i64 %c.next, ptr %c.p
  %i.next = add nuw nsw i64 %i, 1
  %i.more = icmp ult i64 %i.next, %n
  br i1 %i.more, label %count, label %counted
counted:
  %is.constant = icmp eq i64 %c.next, %n
  br i1 %is.constant, label %pass.end, label %sum
sum:
  %d = phi i64 [0, %counted], [%d.next, %sum]
  %total = phi i64 [0, %counted], [%total.next, %sum]
  %d.p = getelementptr i64, ptr %counts, i64 %d
  %d.count = load i64, ptr %d.p
  store i64 %total, ptr %d.p
  %total.next = add nuw nsw i64 %total, %d.count
  %d.next = add nuw nsw i64 %d, 1
  %d.more = icmp ult i64 %d.next, 256
  br i1 %d.more, label %sum, label %move
move:
  %j = phi i64 [0, %sum], [%j.next, %move]
  %y.p = getelementptr <kind>, ptr %from, i64 %j
  %y = load <kind>, ptr %y.p
  %y.low = lshr <kind> %y, %bit
  %y.digit = and <kind> %y.low, 255
  %y.signed = xor <kind> %y.digit, %flip
  %at.p = getelementptr i64, ptr %counts, <kind> %y.signed
  %at = load i64, ptr %at.p
  %at.next = add nuw nsw i64 %at, 1
  store i64 %at.next, ptr %at.p
  %z.p = getelementptr <kind>, ptr %to, i64 %at
  store <kind> %y, ptr %z.p
  <places> %b.p = getelementptr i64, ptr %p.from, i64 %j
  <places> %b = load i64, ptr %b.p
  <places> %e.p = getelementptr i64, ptr %p.to, i64 %at
  <places> store i64 %b, ptr %e.p
  %j.next = add nuw nsw i64 %j, 1
  %j.more = icmp ult i64 %j.next, %n
  br i1 %j.more, label %move, label %pass.end
pass.end:
  %stays = phi i1 [true, %counted], [false, %move]
  %from.next = select i1 %stays, ptr %from, ptr %to
  %to.next = select i1 %stays, ptr %to, ptr %from
  %p.from.next = select i1 %stays, ptr %p.from, ptr %p.to
  %p.to.next = select i1 %stays, ptr %p.to, ptr %p.from
  br label %pass

<finish>
"""

_FINISH = """
finish:
  %is.there = icmp eq ptr %from, %a
  br i1 %is.there, label %done, label %copy
copy:
  %bytes = mul nuw nsw i64 %n, <bytes>
  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %s, i64 %bytes, i1 false)
  <places> %p.bytes = mul nuw nsw i64 %n, 8
  <places> call void @llvm.memcpy.p0.p0.i64(ptr %pa, ptr %ps, i64 %p.bytes, i1 false)
  br label %done
done:
  ret void
}"""

_LEAST = """
define internal void @<name>(ptr %a, ptr %to, i64 %n, i64 %count) #0 {
entry:
  %count.less = sub nuw nsw i64 %count, 1
  %worst.p = getelementptr <kind>, ptr %to, i64 %count.less
  br label %each
each:
  %i = phi i64 [0, %entry], [%i.next, %each.end]
  %x.p = getelementptr <kind>, ptr %a, i64 %i
  %x = load <kind>, ptr %x.p
  %has.room = icmp ult i64 %i, %count
  br i1 %has.room, label %insert, label %compare
compare:
  %worst = load <kind>, ptr %worst.p
  %is.better = icmp slt <kind> %x, %worst
  br i1 %is.better, label %insert, label %each.end
insert:
  %free = phi i64 [%i, %each], [%count.less, %compare]
  br label %shift
shift:
  %j = phi i64 [%free, %insert], [%j.less, %move]
  %at.start = icmp eq i64 %j, 0
  br i1 %at.start, label %placed, label %look
look:
  %j.less = sub nuw nsw i64 %j, 1
  %y.p = getelementptr <kind>, ptr %to, i64 %j.less
  %y = load <kind>, ptr %y.p
  %is.greater = icmp sgt <kind> %y, %x
  br i1 %is.greater, label %move, label %placed
move:
  %z.p = getelementptr <kind>, ptr %to, i64 %j
  store <kind> %y, ptr %z.p
  br label %shift
placed:
  %o.p = getelementptr <kind>, ptr %to, i64 %j
  store <kind> %x, ptr %o.p
  br label %each.end
each.end:
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %each, label %done
done:
  ret void
}
"""


def _filled(template: str, *, places: bool, **words: Any) -> str:
    """The text of a function; lines marked <places> are only there if places are moved, too."""
    lines = template.strip().replace("<finish>", _FINISH.strip()).splitlines()
    kept = [line.replace("<places> ", "") for line in lines if places or "<places>" not in line]
    return filled("\n".join(kept), words)


def _declare(module: Module) -> None:
    module.declare("llvm.umin.i64", "i64", "i64, i64")
    module.declare("llvm.memcpy.p0.p0.i64", "void", "ptr, ptr, i64, i1")
    module.declare("llvm.memset.p0.i64", "void", "ptr, i8, i64, i1")


class _Lines(Kernel):
    """For each line of keys along the last axis: the same in order, or the first of that."""

    def __init__(self, keys: Value, *results: Stored) -> None:
        super().__init__([keys])
        self.results = results
        self.kind = memory_type(keys.dtype)

    @property
    def work(self) -> int:
        keys = self.operands[0]
        return keys.size * keys.shape[-1].bit_length() * 3

    def _emit_lines(self, program: Program, line: list[str]) -> None:
        """`line`: what to do with the keys at %x and the result at %y (and places at %z)."""
        keys = self.operands[0]
        name = program.module.new_name("sort")
        lines = [f"define internal i1 @{name}(ptr %t) #0 {{", "entry:"]
        strides = [("x", self.kind, keys.shape[-1], program.memory[id(base_of(keys))])]
        for letter, result in zip("yz", self.results, strict=False):
            kind = memory_type(result.dtype)
            strides.append((letter, kind, result.shape[-1], program.memory[id(result)]))
        shifts: list[str] = []
        for letter, kind, n, buffer in strides:
            lines += pointer_lines(f"%{letter}0", buffer)
            shifts.append(f"%{letter}.shift = mul nuw nsw i64 %i, {n}")
            shifts.append(f"%{letter} = getelementptr {kind}, ptr %{letter}0, i64 %{letter}.shift")
        for buffer in self.scratch_buffers():
            lines += pointer_lines("%scratch", buffer)
        count = keys.size // keys.shape[-1]
        lines += [*loop_lines("i", count, "entry", [*shifts, *line]), "ret i1 false", "}"]
        program.module.functions.append("\n".join(lines))
        program.line(f"call i1 @{name}(ptr %t)")


class Sort(_Lines):
    """Lines in ascending order; with a second result, where their elements come from."""

    name = "sort"

    def __init__(self, keys: Value, *results: Stored, first_bit: int = 0) -> None:
        super().__init__(keys, *results)
        self._first_bit = first_bit  # below, bits only tell the order that keys are in already
        self._places_from = -(-keys.shape[-1] * keys.dtype.size // 64) * 64
        places = 8 * keys.shape[-1] if len(results) > 1 else 0
        self._scratch = Buffer(self._places_from + places)

    def scratch_bytes(self) -> int:
        return self._scratch.nbytes

    def scratch_buffers(self) -> list[Buffer]:
        return [self._scratch]

    def emit(self, program: Program) -> None:
        n = self.operands[0].shape[-1]
        has_places = len(self.results) > 1
        template, way = (_MERGES, "merge") if n < _LONG else (_DIGITS, f"from_{self._first_bit}")
        function = f"weft_sort_{self.kind}_{way}{'_places' if has_places else ''}"
        bytes_ = alignment(self.kind)
        words = {"name": function, "kind": self.kind, "run": _RUN, "bytes": bytes_}
        words |= {"first": self._first_bit, "width": 8 * bytes_}
        _declare(program.module)
        program.module.define_once(function, _filled(template, places=has_places, **words))
        size = n * alignment(self.kind)
        line = [f"call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr %x, i64 {size}, i1 false)"]
        if has_places:
            number = ["%place.p = getelementptr i64, ptr %z, i64 %p", "store i64 %p, ptr %place.p"]
            line += loop_lines("p", n, "i.head", number)
            line.append(f"%spare = getelementptr i8, ptr %scratch, i64 {self._places_from}")
        places = "ptr %z, ptr %spare" if has_places else "ptr %y, ptr %scratch"
        line.append(f"call void @{function}(ptr %y, ptr %scratch, {places}, i64 {n})")
        self._emit_lines(program, line)


class Least(_Lines):
    """The few smallest elements of each line, in ascending order."""

    name = "least"

    def emit(self, program: Program) -> None:
        n, count = self.operands[0].shape[-1], self.results[0].shape[-1]
        function = f"weft_least_{self.kind}"
        text = _filled(_LEAST, places=False, name=function, kind=self.kind)
        program.module.define_once(function, text)
        line = [f"call void @{function}(ptr %x, ptr %y, i64 {n}, i64 {count})"]
        self._emit_lines(program, line)
