"""Where the largest or smallest element of each line is: one pass, with a search in every lane.

LLVM vectorises no search that keeps a place beside the best element, so the vectors are explicit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from weft._src.core.dtypes import DType
from weft._src.execution.native.front.lowering.rules import identity_of
from weft._src.execution.native.loops.blocks import base_of
from weft._src.execution.native.loops.nests import pointer_lines
from weft._src.execution.native.loops.values import Kernel, Stored, Value
from weft._src.execution.native.machine import pool
from weft._src.execution.native.machine.builder import alignment, filled, float_text, memory_type

if TYPE_CHECKING:
    from weft._src.execution.native.loops.program import Program

_VECTOR = 64  # bytes
_PIECE = 32_768  # elements that a thread takes at a time
_NANOSECONDS = 0.25  # for an element

# Only what is better than all before it counts: the first of equal ones stays, and NaN is never
# better. A lane that has found nothing says 0, as does a line in which nothing is better than the
# worst there is.
_LINE = """
define internal i64 @<name>(ptr %x) #1 {
entry:
  br label %lanes
lanes:
  %i = phi i64 [0, %entry], [%i.next, %lanes]
  %best = phi <v> [<worsts>, %entry], [%best.next, %lanes]
  %place = phi <p> [zeroinitializer, %entry], [%place.next, %lanes]
  %here = phi <p> [<numbers>, %entry], [%here.next, %lanes]
  %e.p = getelementptr <kind>, ptr %x, i64 %i
  %e = load <v>, ptr %e.p, align <bytes>
  %is.better = <compare> <v> %e, %best
  %best.next = select <mask> %is.better, <v> %e, <v> %best
  %place.next = select <mask> %is.better, <p> %here, <p> %place
  %here.next = add <p> %here, <steps>
  %i.next = add nuw nsw i64 %i, <lanes>
  %i.more = icmp ult i64 %i.next, <whole>
  br i1 %i.more, label %lanes, label %join
join:
  %top = call <nonan><kind> @<reduce>(<v> %best.next)
  %top.1 = insertelement <v> poison, <kind> %top, i64 0
  %tops = shufflevector <v> %top.1, <v> poison, <<lanes> x i32> zeroinitializer
  %is.top = <equal> <v> %best.next, %tops
  %candidates = select <mask> %is.top, <p> %place.next, <p> <nowhere>
  %first = call i32 @llvm.vector.reduce.umin.v<lanes>i32(<p> %candidates)
  br label %rest
rest:
  %k = phi i64 [<whole>, %join], [%k.next, %look]
  %r.best = phi <kind> [%top, %join], [%r.best.next, %look]
  %r.place = phi i32 [%first, %join], [%r.place.next, %look]
  %k.in = icmp ult i64 %k, <n>
  br i1 %k.in, label %look, label %done
look:
  %f.p = getelementptr <kind>, ptr %x, i64 %k
  %f = load <kind>, ptr %f.p, align <bytes>
  %f.better = <compare> <kind> %f, %r.best
  %r.best.next = select i1 %f.better, <kind> %f, <kind> %r.best
  %k.number = trunc i64 %k to i32
  %r.place.next = select i1 %f.better, i32 %k.number, i32 %r.place
  %k.next = add nuw nsw i64 %k, 1
  br label %rest
done:
  %out = zext i32 %r.place to i64
  ret i64 %out
}
"""


def is_searchable(n: int, dtype: DType) -> bool:
    """Whether lines of so many elements are searched like this: not the very short and long."""
    return 2 * _lanes(memory_type(dtype)) <= n < 2**31


def _lanes(kind: str) -> int:
    return _VECTOR // max(4, alignment(kind))  # places have four bytes


def _constant(numbers: Iterable[Any], kind: str = "i32") -> str:
    return f"<{', '.join([f'{kind} {x}' for x in numbers])}>"


class FirstPlace(Kernel):
    """The place of the best element along the last axis, of equal ones the first."""

    name = "first place"

    def __init__(self, x: Value, result: Stored, combination: str) -> None:
        super().__init__([x])
        self.results = (result,)
        self._combination = combination  # "maximum" or "minimum"

    @property
    def work(self) -> int:
        return int(self.operands[0].size * _NANOSECONDS)

    def _line(self, name: str) -> tuple[str, str]:
        """The function that searches a line, and the intrinsic that it needs."""
        x = self.operands[0]
        kind, n = memory_type(x.dtype), x.shape[-1]
        lanes = _lanes(kind)
        vector = f"<{lanes} x {kind}>"
        worst: Any = identity_of(self._combination, x.dtype)
        if x.dtype.is_floating:
            compare = f"fcmp {'ogt' if self._combination == 'maximum' else 'olt'}"
            form, suffix = f"f{self._combination[:3]}", "f32" if kind == "float" else "f64"
            worst = float_text(worst, kind)
        else:
            sign = "u" if x.dtype.numpy_dtype.kind == "u" else "s"
            compare = f"icmp {sign}{'gt' if self._combination == 'maximum' else 'lt'}"
            form, suffix = f"{sign}{self._combination[:3]}", kind
        reduce = f"llvm.vector.reduce.{form}.v{lanes}{suffix}"
        words = {
            "name": name, "v": vector, "p": f"<{lanes} x i32>", "mask": f"<{lanes} x i1>",
            "kind": kind, "bytes": alignment(kind), "lanes": lanes, "n": n,
            "whole": n - n % lanes, "worsts": _constant([worst] * lanes, kind), "compare": compare,
            "equal": "fcmp oeq" if x.dtype.is_floating else "icmp eq", "reduce": reduce,
            "nonan": "nnan nsz " if x.dtype.is_floating else "",
            "numbers": _constant(range(lanes)), "steps": _constant([lanes] * lanes),
            "nowhere": _constant([-1] * lanes),
        }  # fmt: skip
        return filled(_LINE.strip(), words), reduce

    def emit(self, program: Program) -> None:
        x, (result,) = self.operands[0], self.results
        kind, n = memory_type(x.dtype), x.shape[-1]
        line, name = program.module.new_name("line"), program.module.new_name("search")
        text, reduce = self._line(line)
        lanes = _lanes(kind)
        program.module.declare(reduce, kind, f"<{lanes} x {kind}>")
        program.module.declare(f"llvm.vector.reduce.umin.v{lanes}i32", "i32", f"<{lanes} x i32>")
        lines = [
            f"define internal void @{name}(ptr %t, i64 %begin, i64 %end) #0 {{", "entry:",
            *pointer_lines("%x0", program.memory[id(base_of(x))]),
            *pointer_lines("%y0", program.memory[id(result)]),
            "br label %each",
            "each:",
            "%i = phi i64 [%begin, %entry], [%i.next, %each]",
            f"%shift = mul nuw nsw i64 %i, {n}",
            f"%x = getelementptr {kind}, ptr %x0, i64 %shift",
            f"%place = call i64 @{line}(ptr %x)",
            "%y = getelementptr i64, ptr %y0, i64 %i",
            "store i64 %place, ptr %y, align 8",
            "%i.next = add nuw nsw i64 %i, 1",
            "%more = icmp ult i64 %i.next, %end",
            "br i1 %more, label %each, label %done",
            "done:",
            "ret void",
            "}",
        ]  # fmt: skip
        program.module.functions += [text, "\n".join(lines)]
        count, grain = result.size, max(1, _PIECE // n)
        if self.work < pool.SHARED_FROM or grain >= count:
            program.line(f"call void @{name}(ptr %t, i64 0, i64 {count})")
        else:
            program.call_shared(name, count, grain)
