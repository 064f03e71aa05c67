"""What is done to the scores of a block, row by row, as LLVM functions.

Functions are named by what they consist of, so that equal ones of a program are there once.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from weft._src.core.dtypes import DType
from weft._src.execution.native.loops import elementary
from weft._src.execution.native.loops.elementary import exponentials
from weft._src.execution.native.machine.builder import (
    INTERLEAVED_LOOP,
    PARALLEL,
    PARALLEL_LOOP,
    Builder,
    Module,
    Scalar,
    alignment,
    filled,
    float_text,
    memory_type,
)

ROUNDING = {"float": 1e-6, "double": 1e-15}  # more than some operations may be wrong
_WIDE = 'nounwind noinline "prefer-vector-width"="512"'


@dataclass(frozen=True)
class Other:
    """Something that changes scores: its dtype, and how far apart elements lie."""

    dtype: DType
    row: int  # from query to query; 0 if all have the same
    column: int  # from key to key


@dataclass(frozen=True)
class Change:
    """A step that changes scores, and what it takes."""

    step: str
    others: tuple[int, ...]  # positions


def masks(changes: Sequence[Change], others: Sequence[Other]) -> bool:
    """Whether there is something that may rule out keys."""
    return any(others[c.others[0]].column for c in changes if c.step not in _LINEAR)


class Rows:
    """Writes the functions for scores of one kind that are changed in one way."""

    def __init__(
        self, module: Module, kind: str, pitch: int, changes: Sequence[Change],
        others: Sequence[Other],
    ) -> None:  # fmt: skip
        self._module, self._kind, self._pitch = module, kind, pitch
        self._changes, self._others = changes, others
        self._words = {
            "kind": kind, "pitch": pitch, "bytes": alignment(kind), "parallel": PARALLEL,
            "loop": PARALLEL_LOOP, "interleaved": INTERLEAVED_LOOP,
            "least": float_text(float("-inf"), kind),
            "suffix": "f32" if kind == "float" else "f64", "group": _WIDE,
            "other parameters": "".join(f", ptr %other.{i}" for i in range(len(others))),
            "other rows": self._other_rows("%r", ""),
            "other rows again": self._other_rows("%q", "again."),
        }  # fmt: skip
        module.declare(f"llvm.maximum.{self._words['suffix']}", kind, f"{kind}, {kind}")

    def _other_rows(self, r: str, begins: str) -> str:
        """Lines that find the row of everything that changes scores."""
        lines = []
        for i, other in enumerate(self._others):
            kind, name = memory_type(other.dtype), f"%{begins}row.other.{i}"
            lines += [
                f"{name}.shift = mul nsw i64 {r}, {other.row}",
                f"{name} = getelementptr {kind}, ptr %other.{i}, i64 {name}.shift",
            ]
        return "\n".join(lines)

    def _define(self, stem: str, template: str, **words: object) -> str:
        """The name of the function that a template becomes."""
        text = filled(template.strip(), {**words, **self._words})
        name = f"{stem}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        self._module.define_once(name, text.replace("<name>", name))
        return name

    # --- elements ----------------------------------------------------------------------------

    def _builder(self) -> tuple[Builder, Scalar]:
        """A builder for columns inside of rows, and the number of the column."""
        return Builder(self._module, 2), Scalar("%c", "i64", 2)

    def _at(self, b: Builder, row: str, c: Scalar) -> Scalar:
        """The element of a row of scores in the column."""
        place = b.address(row, self._kind, c)
        text = f"load {self._kind}, ptr {place.text}, align {alignment(self._kind)}, {PARALLEL}"
        return b.pure(text, self._kind, place)

    def _put(self, b: Builder, row: str, c: Scalar, x: Scalar) -> None:
        place = b.address(row, self._kind, c)
        aligned = alignment(self._kind)
        b.before[2].append(
            f"store {self._kind} {x.text}, ptr {place.text}, align {aligned}, {PARALLEL}"
        )

    def _other(self, b: Builder, i: int, c: Scalar, rows: str = "") -> Scalar:
        other = self._others[i]
        at = Scalar("0", "i64", 1)
        if other.column:
            at = c if other.column == 1 else b.mul(c, b.index(other.column))
        return b.load(f"%{rows}row.other.{i}", other.dtype, at)

    def _changed(self, b: Builder, s: Scalar, c: Scalar, rows: str = "") -> Scalar:
        """A score after all steps; `rows` is how the names of the rows of others begin."""
        for change in self._changes:
            x, *rest = [self._other(b, i, c, rows) for i in change.others]
            if change.step == "where":
                s = b.select(x, s, rest[0])
            elif change.step == "where_not":
                s = b.select(x, rest[0], s)
            else:
                s = _ARITHMETIC[change.step](b, s, x)
        return s

    def _back(self, b: Builder, g: Scalar, c: Scalar) -> Scalar:
        """The gradient of a score, from that after all steps."""
        zero = b.like(g, 0.0)
        for change in reversed(self._changes):
            if change.step in ("add", "subtract"):
                continue
            x = self._other(b, change.others[0], c)
            if change.step == "where":
                g = b.select(x, g, zero)
            elif change.step == "where_not":
                g = b.select(x, zero, g)
            else:
                g = _ARITHMETIC[change.step](b, g, x)
        return g

    # --- functions ---------------------------------------------------------------------------

    def weights(self, block: int, columns: int, out_row: int) -> str:
        """From scores to weights, and what is there of the result so far made to fit to them.

        `void (scores, rows, keys, is the first block, top, total, out, others...)`, for `block`
        rows at most.
        """
        b, c = self._builder()
        s = self._changed(b, self._at(b, "%row.s", c), c)
        # What is the same for all keys is quicker done again than kept.
        is_kept = any(other.column for other in self._others)
        if is_kept:
            self._put(b, "%row.s", c, s)
        before_changing, changing = _taken(b)
        factor = elementary.exp(b, Scalar("%less", self._kind, 2))
        _, shrinking = _taken(b)
        again = Scalar("%d", "i64", 2)
        found = self._at(b, "%row.q", again)
        found = found if is_kept else self._changed(b, found, again, "again.")
        weight = elementary.exp_of_negative(b, b.sub(found, Scalar("%usable", self._kind, 1)))
        self._put(b, "%row.q", again, weight)
        before_weighing, weighing = _taken(b)
        return self._define(
            "weights",
            _WEIGHTS,
            **{
                "before changing": before_changing,
                "changing": changing,
                "score": s.text,
                "before weighing": before_weighing,
                "weighing": weighing,
                "weight": weight.text,
                "shrinking": shrinking,
                "factor": factor.text,
                "block": block,
                "columns": columns,
                "out row": out_row,
            },
        )

    def limit(self) -> str | None:
        """The largest that changed scores of a block may be; None if that is not known.

        `number (rows, keys, the largest a score may be before, enough, others...)`. NaN if anything
        is; if it is enough or more, it may be any larger number.
        """
        if not masks(self._changes, self._others):
            return None
        lines: list[str] = []
        size, block, is_symmetric = "%size", "entry", True
        kind, suffix = self._kind, self._words["suffix"]
        last = max(i for i, change in enumerate(self._changes) if change.step not in _LINEAR)
        for i, change in enumerate(self._changes):
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
        self._module.declare(f"llvm.fabs.{suffix}", kind, kind)
        return self._define("limit", _LIMIT, lines="\n".join(lines), size=size)

    def _is_single(self, i: int) -> bool:
        """Whether something is one number for all of a block."""
        return not self._others[i].row and not self._others[i].column

    def _single(self, name: str, i: int) -> list[str]:
        return [f"%{name} = load {self._kind}, ptr %other.{i}, align {alignment(self._kind)}"]

    def _most(self, i: int, step: str, at: int, block: str) -> tuple[str, str]:
        """The largest of what is added to the scores of a block, as %m.i."""
        kind, suffix = self._kind, self._words["suffix"]
        taken = f"fadd {kind} %v.{i}, 0.0" if step == "add" else f"fneg {kind} %v.{i}"
        combined = f"call nsz {kind} @llvm.maximum.{suffix}({kind} %old.{i}, {kind} %x.{i})"
        stop = f"fcmp uge {kind} %m.{i}, <enough>"
        start = str(self._words["least"])
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
        other = self._others[at]
        words = {
            "i": i, "kind": kind, "start": start, "at": at, "row": other.row, "above": block,
            "column": other.column, "taken": taken, "combined": combined, "stop": stop,
            "rows": "%rows" if other.row else 1, "keys": "%keys" if other.column else 1,
            "bytes": alignment(kind), "result": result, "loop": INTERLEAVED_LOOP,
            "parallel": PARALLEL,
        }  # fmt: skip
        return filled(_REDUCED.strip(), words), f"done.{i}"

    def division(self, columns: int, out_row: int) -> str:
        """Divides the result by the sum of the weights: `void (rows, top, total, out)`."""
        return self._define("division", _DIVISION, columns=columns, **{"out row": out_row})

    def squares(self, columns: int, row: int) -> str:
        """The largest sum of squares of a row: `number (matrix, rows)`."""
        return self._define("squares", _SQUARES, columns=columns, row=row)

    def enough(self) -> str:
        """What scores have to reach for weights other than 0: `number (tops, rows)`."""
        self._module.declare(
            f"llvm.minimum.{self._words['suffix']}", self._kind, f"{self._kind}, {self._kind}"
        )
        words = {
            "most": float_text(float("inf"), self._kind),
            "epsilon": float_text(ROUNDING[self._kind], self._kind),
            "vanishing": float_text(exponentials.vanishing(self._kind) + 1.0, self._kind),
        }
        return self._define("enough", _ENOUGH, **words)

    def products(self, columns: int, g_row: int, out_row: int) -> str:
        """Sums of g * out of each query: `void (rows, g, out, sums)`."""
        words = {"columns": columns, "g row": g_row, "out row": out_row}
        return self._define("row_products", _ROW_PRODUCTS, **words)

    def gradients(self) -> str:
        """From scores and the gradient of weights to weights and the gradient of scores.

        `void (scores, gradients, rows, keys, top, total, sums, others...)`
        """
        b, c = self._builder()
        s = self._changed(b, self._at(b, "%row.s", c), c)
        power = elementary.exp_of_negative(b, b.sub(s, Scalar("%top", self._kind, 1)))
        weight = b.mul(power, Scalar("%inverse", self._kind, 1))
        self._put(b, "%row.s", c, weight)
        g = self._at(b, "%row.g", c)
        g = b.mul(weight, b.sub(g, Scalar("%sum", self._kind, 1)))
        self._put(b, "%row.g", c, self._back(b, g, c))
        before, body = _taken(b)
        return self._define("gradients", _GRADIENTS, before=before, body=body)


def _taken(b: Builder) -> tuple[str, str]:
    """What was written so far: outside of the columns, and for each of them."""
    before, body = [*b.before[0], *b.before[1]], [*b.before[2]]
    for lines in b.before:
        lines.clear()
    return "\n".join(before), "\n".join(body)


_LINEAR = ("multiply", "divide")
_ARITHMETIC = {
    "multiply": Builder.mul,
    "divide": Builder.div,
    "add": Builder.add,
    "subtract": Builder.sub,
}

# Known of each query are its largest score so far, the sum of its weights, and its part of the
# result. A larger score makes all weights before smaller. Where all are -inf, weights are 0, and so
# is their sum: dividing by it gives NaN. If one is NaN, the largest may be any number (to look for
# NaN takes as long again): the weight of NaN is NaN, and so is the sum of weights.
# What is done once for each query is done for some of them at a time, in loops of their own.
_WEIGHTS = """
define internal void @<name>(ptr %s, i64 %rows, i64 %keys, i1 %is.first,
  ptr %tops, ptr %totals, ptr %out<other parameters>) <group> {
entry:
%most.p = alloca <kind>
%added.p = alloca <kind>
%found = alloca [<block> x <kind>]
%usables = alloca [<block> x <kind>]
%factors = alloca [<block> x <kind>]
br label %r.head
r.head:
%r = phi i64 [0, %entry], [%r.next, %changed]
%s.shift = mul nsw i64 %r, <pitch>
%row.s = getelementptr <kind>, ptr %s, i64 %s.shift
<other rows>
<before changing>
store <kind> <least>, ptr %most.p
br label %change
change:
%c = phi i64 [0, %r.head], [%c.next, %change]
<changing>
%most.old = load <kind>, ptr %most.p
%most.new = call nnan nsz <kind> @llvm.maximum.<suffix>(<kind> %most.old, <kind> <score>)
store <kind> %most.new, ptr %most.p
%c.next = add nuw nsw i64 %c, 1
%c.more = icmp ult i64 %c.next, %keys
br i1 %c.more, label %change, label %changed, <interleaved>
changed:
%most.any = load <kind>, ptr %most.p
%most = freeze <kind> %most.any
%found.p = getelementptr <kind>, ptr %found, i64 %r
store <kind> %most, ptr %found.p
%r.next = add nuw nsw i64 %r, 1
%r.more = icmp ult i64 %r.next, %rows
br i1 %r.more, label %r.head, label %top.head
top.head:
%t = phi i64 [0, %changed], [%t.next, %top.head]
%t.found.p = getelementptr <kind>, ptr %found, i64 %t
%t.found = load <kind>, ptr %t.found.p, align <bytes>, <parallel>
%top.p = getelementptr <kind>, ptr %tops, i64 %t
%top.there = load <kind>, ptr %top.p, align <bytes>, <parallel>
%top.before = select i1 %is.first, <kind> <least>, <kind> %top.there
%top = call nsz <kind> @llvm.maximum.<suffix>(<kind> %top.before, <kind> %t.found)
%is.least = fcmp oeq <kind> %top, <least>
%t.usable = select i1 %is.least, <kind> 0.0, <kind> %top
store <kind> %top, ptr %top.p, align <bytes>, <parallel>
%t.usable.p = getelementptr <kind>, ptr %usables, i64 %t
store <kind> %t.usable, ptr %t.usable.p, align <bytes>, <parallel>
%less = fsub <kind> %top.before, %t.usable
<shrinking>
%t.factor.p = getelementptr <kind>, ptr %factors, i64 %t
store <kind> <factor>, ptr %t.factor.p, align <bytes>, <parallel>
%t.next = add nuw nsw i64 %t, 1
%t.more = icmp ult i64 %t.next, %rows
br i1 %t.more, label %top.head, label %q.head, <loop>
q.head:
%q = phi i64 [0, %top.head], [%q.next, %weighed]
%q.shift = mul nsw i64 %q, <pitch>
%row.q = getelementptr <kind>, ptr %s, i64 %q.shift
%usable.p = getelementptr <kind>, ptr %usables, i64 %q
%usable = load <kind>, ptr %usable.p
<other rows again>
<before weighing>
store <kind> 0.0, ptr %added.p
br label %weigh
weigh:
%d = phi i64 [0, %q.head], [%d.next, %weigh]
<weighing>
%added.old = load <kind>, ptr %added.p
%added.new = fadd reassoc <kind> %added.old, <weight>
store <kind> %added.new, ptr %added.p
%d.next = add nuw nsw i64 %d, 1
%d.more = icmp ult i64 %d.next, %keys
br i1 %d.more, label %weigh, label %weighed, <loop>
weighed:
%added = load <kind>, ptr %added.p
%added.to = getelementptr <kind>, ptr %found, i64 %q
store <kind> %added, ptr %added.to
%q.next = add nuw nsw i64 %q, 1
%q.more = icmp ult i64 %q.next, %rows
br i1 %q.more, label %q.head, label %total.head
total.head:
%u = phi i64 [0, %weighed], [%u.next, %total.head]
%u.added.p = getelementptr <kind>, ptr %found, i64 %u
%u.added = load <kind>, ptr %u.added.p, align <bytes>, <parallel>
%u.factor.p = getelementptr <kind>, ptr %factors, i64 %u
%u.factor = load <kind>, ptr %u.factor.p, align <bytes>, <parallel>
%total.p = getelementptr <kind>, ptr %totals, i64 %u
%total.there = load <kind>, ptr %total.p, align <bytes>, <parallel>
%total.kept = fmul <kind> %total.there, %u.factor
%total.both = fadd <kind> %total.kept, %u.added
%total = select i1 %is.first, <kind> %u.added, <kind> %total.both
store <kind> %total, ptr %total.p, align <bytes>, <parallel>
%u.next = add nuw nsw i64 %u, 1
%u.more = icmp ult i64 %u.next, %rows
br i1 %u.more, label %total.head, label %totalled, <loop>
totalled:
br i1 %is.first, label %done, label %o.head
o.head:
%o = phi i64 [0, %totalled], [%o.next, %o.latch]
%factor.p = getelementptr <kind>, ptr %factors, i64 %o
%factor = load <kind>, ptr %factor.p
%is.same = fcmp oeq <kind> %factor, 1.0
br i1 %is.same, label %o.latch, label %shrink
shrink:
%out.shift = mul nsw i64 %o, <out row>
%row.out = getelementptr <kind>, ptr %out, i64 %out.shift
br label %e.head
e.head:
%e = phi i64 [0, %shrink], [%e.next, %e.head]
%out.p = getelementptr <kind>, ptr %row.out, i64 %e
%out.old = load <kind>, ptr %out.p, align <bytes>, <parallel>
%out.new = fmul <kind> %out.old, %factor
store <kind> %out.new, ptr %out.p, align <bytes>, <parallel>
%e.next = add nuw nsw i64 %e, 1
%e.more = icmp ult i64 %e.next, <columns>
br i1 %e.more, label %e.head, label %o.latch, <loop>
o.latch:
%o.next = add nuw nsw i64 %o, 1
%o.more = icmp ult i64 %o.next, %rows
br i1 %o.more, label %o.head, label %done
done:
ret void
}
"""

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

_DIVISION = """
define internal void @<name>(i64 %rows, ptr %tops, ptr %totals, ptr %out) <group> {
entry:
br label %r.head
r.head:
%r = phi i64 [0, %entry], [%r.next, %r.latch]
%top.p = getelementptr <kind>, ptr %tops, i64 %r
%top = load <kind>, ptr %top.p
%is.least = fcmp oeq <kind> %top, <least>
%usable = select i1 %is.least, <kind> 0.0, <kind> %top
store <kind> %usable, ptr %top.p
%total.p = getelementptr <kind>, ptr %totals, i64 %r
%total = load <kind>, ptr %total.p
%inverse = fdiv <kind> 1.0, %total
%out.shift = mul nsw i64 %r, <out row>
%row.out = getelementptr <kind>, ptr %out, i64 %out.shift
br label %e.head
e.head:
%e = phi i64 [0, %r.head], [%e.next, %e.head]
%out.p = getelementptr <kind>, ptr %row.out, i64 %e
%out.old = load <kind>, ptr %out.p, align <bytes>, <parallel>
%out.new = fmul <kind> %out.old, %inverse
store <kind> %out.new, ptr %out.p, align <bytes>, <parallel>
%e.next = add nuw nsw i64 %e, 1
%e.more = icmp ult i64 %e.next, <columns>
br i1 %e.more, label %e.head, label %r.latch, <loop>
r.latch:
%r.next = add nuw nsw i64 %r, 1
%r.more = icmp ult i64 %r.next, %rows
br i1 %r.more, label %r.head, label %done
done:
ret void
}
"""

_ROW_PRODUCTS = """
define internal void @<name>(i64 %rows, ptr %g, ptr %out, ptr %sums) <group> {
entry:
%sum.p = alloca <kind>
br label %r.head
r.head:
%r = phi i64 [0, %entry], [%r.next, %r.latch]
%g.shift = mul nsw i64 %r, <g row>
%row.g = getelementptr <kind>, ptr %g, i64 %g.shift
%out.shift = mul nsw i64 %r, <out row>
%row.out = getelementptr <kind>, ptr %out, i64 %out.shift
store <kind> 0.0, ptr %sum.p
br label %e.head
e.head:
%e = phi i64 [0, %r.head], [%e.next, %e.head]
%g.p = getelementptr <kind>, ptr %row.g, i64 %e
%g.x = load <kind>, ptr %g.p, align <bytes>, <parallel>
%out.p = getelementptr <kind>, ptr %row.out, i64 %e
%out.x = load <kind>, ptr %out.p, align <bytes>, <parallel>
%product = fmul <kind> %g.x, %out.x
%sum.old = load <kind>, ptr %sum.p
%sum.new = fadd reassoc <kind> %sum.old, %product
store <kind> %sum.new, ptr %sum.p
%e.next = add nuw nsw i64 %e, 1
%e.more = icmp ult i64 %e.next, <columns>
br i1 %e.more, label %e.head, label %r.latch, <loop>
r.latch:
%sum = load <kind>, ptr %sum.p
%to = getelementptr <kind>, ptr %sums, i64 %r
store <kind> %sum, ptr %to
%r.next = add nuw nsw i64 %r, 1
%r.more = icmp ult i64 %r.next, %rows
br i1 %r.more, label %r.head, label %done
done:
ret void
}
"""

_GRADIENTS = """
define internal void @<name>(ptr %s, ptr %g, i64 %rows, i64 %keys,
  ptr %tops, ptr %totals, ptr %sums<other parameters>) <group> {
entry:
br label %r.head
r.head:
%r = phi i64 [0, %entry], [%r.next, %r.latch]
%shift = mul nsw i64 %r, <pitch>
%row.s = getelementptr <kind>, ptr %s, i64 %shift
%row.g = getelementptr <kind>, ptr %g, i64 %shift
%top.p = getelementptr <kind>, ptr %tops, i64 %r
%top = load <kind>, ptr %top.p
%total.p = getelementptr <kind>, ptr %totals, i64 %r
%total = load <kind>, ptr %total.p
%inverse = fdiv <kind> 1.0, %total
%sum.p = getelementptr <kind>, ptr %sums, i64 %r
%sum = load <kind>, ptr %sum.p
<other rows>
<before>
br label %c.head
c.head:
%c = phi i64 [0, %r.head], [%c.next, %c.head]
<body>
%c.next = add nuw nsw i64 %c, 1
%c.more = icmp ult i64 %c.next, %keys
br i1 %c.more, label %c.head, label %r.latch, <loop>
r.latch:
%r.next = add nuw nsw i64 %r, 1
%r.more = icmp ult i64 %r.next, %rows
br i1 %r.more, label %r.head, label %done
done:
ret void
}
"""
