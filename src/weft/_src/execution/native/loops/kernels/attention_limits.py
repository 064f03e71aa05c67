"""Which blocks of scores matter: a mask may leave all weights of a block 0.

By the largest sums of squares of queries and keys no score of a block is larger than a limit; what
is added to scores, or stands in their place, makes it smaller. Blocks whose limit is far below the
largest score of each of its queries are left out, unless something is not finite: then 0 times it
is NaN, which has to stay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from weft._src.execution.native.loops.elementary import exponentials
from weft._src.execution.native.loops.kernels.attention_rows import Change, Other, RowFunctions
from weft._src.execution.native.machine.builder import (
    INTERLEAVED_LOOP,
    PARALLEL,
    alignment,
    filled,
    float_text,
)

_LINEAR = ("multiply", "divide")
ROUNDING = {"float": 1e-6, "double": 1e-15}  # more than some operations may be wrong


def masks(changes: Sequence[Change], others: Sequence[Other]) -> bool:
    """Whether there is something that may rule out keys."""
    return any(others[c.others[0]].column for c in changes if c.step not in _LINEAR)


class Limits(RowFunctions):
    """What scores of a block may be."""

    def limit(self) -> str | None:
        """The largest that changed scores of a block may be; None if that is not known.

        `number (rows, keys, the largest a score may be before, enough, others...)`. NaN if anything
        is; if it is enough or more, it may be any larger number.
        """
        if not masks(self.changes, self.others):
            return None
        lines: list[str] = []
        size, block, is_symmetric = "%size", "entry", True
        kind, suffix = self.kind, self.words["suffix"]
        last = max(i for i, change in enumerate(self.changes) if change.step not in _LINEAR)
        for i, change in enumerate(self.changes):
            first = change.others[0]
            if change.step in _LINEAR:
                if not is_symmetric or not self._is_single(first):
                    return None
                opcode = "fmul" if change.step == "multiply" else "fdiv"
                lines += [
                    *self._single(f"x.{i}", first),
                    f"%a.{i} = call {kind} @llvm.fabs.{suffix}({kind} %x.{i})",
                    f"%h.{i} = {opcode} {kind} {size}, %a.{i}",
                ]
            elif change.step in ("add", "subtract"):
                is_symmetric = False
                found, block = self._most(i, change.step, first, block)
                enough = f"%enough.{i}" if i == last else float_text(math.inf, kind)
                lines += [
                    f"%enough.{i} = fsub {kind} %enough, {size}",
                    found.replace("<enough>", enough),
                    f"%h.{i} = fadd {kind} {size}, %m.{i}",
                ]
            else:
                if not self._is_single(change.others[1]):
                    return None
                is_symmetric = False
                found, block = self._any(i, change.step, first, block)
                lines += [
                    found,
                    *self._single(f"f.{i}", change.others[1]),
                    f"%w.{i} = call {kind} @llvm.maximum.{suffix}({kind} {size}, {kind} %f.{i})",
                    f"%h.{i} = select i1 %any.{i}, {kind} %w.{i}, {kind} %f.{i}",
                ]
            size = f"%h.{i}"
        self.module.declare(f"llvm.fabs.{suffix}", kind, kind)
        return self.define("limit", _LIMIT, lines="\n".join(lines), size=size)

    def _is_single(self, i: int) -> bool:
        """Whether something is one number for all of a block."""
        return not self.others[i].row and not self.others[i].column

    def _single(self, name: str, i: int) -> list[str]:
        return [f"%{name} = load {self.kind}, ptr %other.{i}, align {alignment(self.kind)}"]

    def _most(self, i: int, step: str, at: int, block: str) -> tuple[str, str]:
        """The largest of what is added to the scores of a block, as %m.i."""
        kind, suffix = self.kind, self.words["suffix"]
        taken = f"fadd {kind} %v.{i}, 0.0" if step == "add" else f"fneg {kind} %v.{i}"
        combined = f"call nsz {kind} @llvm.maximum.{suffix}({kind} %old.{i}, {kind} %x.{i})"
        stop = f"fcmp uge {kind} %m.{i}, <enough>"
        start = str(self.words["least"])
        return self._reduced(i, at, block, kind, start, taken, combined, stop, f"m.{i}")

    def _any(self, i: int, step: str, at: int, block: str) -> tuple[str, str]:
        """Whether a mask lets any score of a block through, as %any.i."""
        taken = f"xor i8 %v.{i}, {0 if step == 'where' else 1}"
        combined, stop = f"or i8 %old.{i}, %x.{i}", f"icmp ne i8 %all.{i}, 0"
        text, block = self._reduced(i, at, block, "i8", "0", taken, combined, stop, f"all.{i}")
        return f"{text}\n%any.{i} = icmp ne i8 %all.{i}, 0", block

    def _reduced(
        self, i: int, at: int, block: str, kind: str, start: str, taken: str, combined: str,
        stop: str, result: str,
    ) -> tuple[str, str]:  # fmt: skip
        """Something over the rows of a block, as far as is needed; and the label behind it."""
        other = self.others[at]
        words = {
            "i": i, "kind": kind, "start": start, "at": at, "row": other.row, "above": block,
            "column": other.column, "taken": taken, "combined": combined, "stop": stop,
            "rows": "%rows" if other.row else 1, "keys": "%keys" if other.column else 1,
            "bytes": alignment(kind), "result": result, "loop": INTERLEAVED_LOOP,
            "parallel": PARALLEL,
        }  # fmt: skip
        return filled(_REDUCED.strip(), words), f"done.{i}"

    def squares(self, columns: int, row: int) -> str:
        """The largest sum of squares of a row: `number (matrix, rows)`."""
        return self.define("squares", _SQUARES, columns=columns, row=row)

    def enough(self) -> str:
        """What scores have to reach for weights other than 0: `number (tops, rows)`."""
        self.module.declare(
            f"llvm.minimum.{self.words['suffix']}", self.kind, f"{self.kind}, {self.kind}"
        )
        words = {
            "most": float_text(float("inf"), self.kind),
            "epsilon": float_text(ROUNDING[self.kind], self.kind),
            "vanishing": float_text(exponentials.vanishing(self.kind) + 1.0, self.kind),
        }
        return self.define("enough", _ENOUGH, **words)


_LIMIT = """
define internal <kind> @<name>(i64 %rows, i64 %keys, <kind> %size,
  <kind> %enough<other parameters>) <group> {
entry:
<lines>
ret <kind> <size>
}
"""

_REDUCED = """
%p.<i> = alloca <kind>
store <kind> <start>, ptr %p.<i>
br label %r.<i>.head
r.<i>.head:
%r.<i> = phi i64 [0, %<above>], [%r.<i>.next, %r.<i>.latch]
%shift.<i> = mul nsw i64 %r.<i>, <row>
%row.<i> = getelementptr <kind>, ptr %other.<at>, i64 %shift.<i>
br label %c.<i>.head
c.<i>.head:
%c.<i> = phi i64 [0, %r.<i>.head], [%c.<i>.next, %c.<i>.head]
%step.<i> = mul nsw i64 %c.<i>, <column>
%v.<i>.p = getelementptr <kind>, ptr %row.<i>, i64 %step.<i>
%v.<i> = load <kind>, ptr %v.<i>.p, align <bytes>, <parallel>
%x.<i> = <taken>
%old.<i> = load <kind>, ptr %p.<i>
%new.<i> = <combined>
store <kind> %new.<i>, ptr %p.<i>
%c.<i>.next = add nuw nsw i64 %c.<i>, 1
%c.<i>.more = icmp ult i64 %c.<i>.next, <keys>
br i1 %c.<i>.more, label %c.<i>.head, label %r.<i>.latch, <loop>
r.<i>.latch:
%<result> = load <kind>, ptr %p.<i>
%stop.<i> = <stop>
%r.<i>.next = add nuw nsw i64 %r.<i>, 1
%r.<i>.more = icmp ult i64 %r.<i>.next, <rows>
%on.<i> = xor i1 %stop.<i>, true
%again.<i> = and i1 %r.<i>.more, %on.<i>
br i1 %again.<i>, label %r.<i>.head, label %done.<i>
done.<i>:
"""

# The largest sum of squares of a row; not finite if anything in the rows is not.
_SQUARES = """
define internal <kind> @<name>(ptr %x, i64 %rows) <group> {
entry:
%most.p = alloca <kind>
%sum.p = alloca <kind>
store <kind> 0.0, ptr %most.p
br label %r.head
r.head:
%r = phi i64 [0, %entry], [%r.next, %r.latch]
%shift = mul nsw i64 %r, <row>
%row.x = getelementptr <kind>, ptr %x, i64 %shift
store <kind> 0.0, ptr %sum.p
br label %c.head
c.head:
%c = phi i64 [0, %r.head], [%c.next, %c.head]
%p = getelementptr <kind>, ptr %row.x, i64 %c
%v = load <kind>, ptr %p, align <bytes>, <parallel>
%square = fmul <kind> %v, %v
%sum.old = load <kind>, ptr %sum.p
%sum.new = fadd reassoc <kind> %sum.old, %square
store <kind> %sum.new, ptr %sum.p
%c.next = add nuw nsw i64 %c, 1
%c.more = icmp ult i64 %c.next, <columns>
br i1 %c.more, label %c.head, label %r.latch, <loop>
r.latch:
%sum = load <kind>, ptr %sum.p
%most.old = load <kind>, ptr %most.p
%most.new = call <kind> @llvm.maximum.<suffix>(<kind> %most.old, <kind> %sum)
store <kind> %most.new, ptr %most.p
%r.next = add nuw nsw i64 %r, 1
%r.more = icmp ult i64 %r.next, %rows
br i1 %r.more, label %r.head, label %done
done:
%most = load <kind>, ptr %most.p
ret <kind> %most
}
"""

# Scores below this have weights of 0, whatever query they belong to.
_ENOUGH = """
define internal <kind> @<name>(ptr %tops, i64 %rows) <group> {
entry:
%least.p = alloca <kind>
store <kind> <most>, ptr %least.p
br label %r.head
r.head:
%r = phi i64 [0, %entry], [%r.next, %r.head]
%top.p = getelementptr <kind>, ptr %tops, i64 %r
%top = load <kind>, ptr %top.p, align <bytes>, <parallel>
%old = load <kind>, ptr %least.p
%new = call nsz <kind> @llvm.minimum.<suffix>(<kind> %old, <kind> %top)
store <kind> %new, ptr %least.p
%r.next = add nuw nsw i64 %r, 1
%r.more = icmp ult i64 %r.next, %rows
br i1 %r.more, label %r.head, label %done, <loop>
done:
%least = load <kind>, ptr %least.p
%size = call <kind> @llvm.fabs.<suffix>(<kind> %least)
%rounding = fmul <kind> %size, <epsilon>
%lower = fsub <kind> %least, %rounding
%enough = fsub <kind> %lower, <vanishing>
ret <kind> %enough
}
"""
