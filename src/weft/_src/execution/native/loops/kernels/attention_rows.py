"""What is done to the scores of a block, row by row, as LLVM functions.

Functions are named by what they consist of, so that equal ones of a program are there once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from weft._src.core.dtypes import DType
from weft._src.execution.native.loops import elementary
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


class RowFunctions:
    """Functions for scores of one kind that are changed in one way."""

    def __init__(
        self, module: Module, kind: str, pitch: int, changes: Sequence[Change],
        others: Sequence[Other],
    ) -> None:  # fmt: skip
        self.module, self.kind = module, kind
        self.changes, self.others = changes, others
        self.words = {
            "kind": kind, "pitch": pitch, "bytes": alignment(kind), "parallel": PARALLEL,
            "loop": PARALLEL_LOOP, "interleaved": INTERLEAVED_LOOP,
            "least": float_text(float("-inf"), kind),
            "suffix": "f32" if kind == "float" else "f64", "group": _WIDE,
            "other parameters": "".join(f", ptr %other.{i}" for i in range(len(others))),
            "other rows": self._other_rows("%r", ""),
            "other rows again": self._other_rows("%q", "again."),
        }  # fmt: skip
        module.declare(f"llvm.maximum.{self.words['suffix']}", kind, f"{kind}, {kind}")

    def _other_rows(self, r: str, begins: str) -> str:
        """Lines that find the row of everything that changes scores."""
        lines = []
        for i, other in enumerate(self.others):
            kind, name = memory_type(other.dtype), f"%{begins}row.other.{i}"
            lines += [
                f"{name}.shift = mul nsw i64 {r}, {other.row}",
                f"{name} = getelementptr {kind}, ptr %other.{i}, i64 {name}.shift",
            ]
        return "\n".join(lines)

    def define(self, stem: str, template: str, **words: object) -> str:
        """The name of the function that a template becomes."""
        text = filled(template.strip(), {**words, **self.words})
        name = f"{stem}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        self.module.define_once(name, text.replace("<name>", name))
        return name


class Rows(RowFunctions):
    """Weights, and their gradients."""

    # --- elements ----------------------------------------------------------------------------

    def _builder(self) -> tuple[Builder, Scalar]:
        """A builder for columns inside of rows, and the number of the column."""
        return Builder(self.module, 2), Scalar("%c", "i64", 2)

    def _at(self, b: Builder, row: str, c: Scalar) -> Scalar:
        """The element of a row of scores in the column."""
        place = b.address(row, self.kind, c)
        text = f"load {self.kind}, ptr {place.text}, align {alignment(self.kind)}, {PARALLEL}"
        return b.pure(text, self.kind, place)

    def _put(self, b: Builder, row: str, c: Scalar, x: Scalar) -> None:
        place = b.address(row, self.kind, c)
        aligned = alignment(self.kind)
        b.before[2].append(
            f"store {self.kind} {x.text}, ptr {place.text}, align {aligned}, {PARALLEL}"
        )

    def _other(self, b: Builder, i: int, c: Scalar, rows: str = "") -> Scalar:
        other = self.others[i]
        at = Scalar("0", "i64", 1)
        if other.column:
            at = c if other.column == 1 else b.mul(c, b.index(other.column))
        return b.load(f"%{rows}row.other.{i}", other.dtype, at)

    def _changed(self, b: Builder, s: Scalar, c: Scalar, rows: str = "") -> Scalar:
        """A score after all steps; `rows` is how the names of the rows of others begin."""
        for change in self.changes:
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
        for change in reversed(self.changes):
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
        is_kept = any(other.column for other in self.others)
        if is_kept:
            self._put(b, "%row.s", c, s)
        before_changing, changing = _taken(b)
        factor = elementary.exp(b, Scalar("%less", self.kind, 2))
        _, shrinking = _taken(b)
        again = Scalar("%d", "i64", 2)
        found = self._at(b, "%row.q", again)
        found = found if is_kept else self._changed(b, found, again, "again.")
        weight = elementary.exp_of_negative(b, b.sub(found, Scalar("%usable", self.kind, 1)))
        self._put(b, "%row.q", again, weight)
        before_weighing, weighing = _taken(b)
        return self.define(
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

    def division(self, columns: int, out_row: int) -> str:
        """Divides the result by the sum of the weights: `void (rows, top, total, out)`."""
        return self.define("division", _DIVISION, columns=columns, **{"out row": out_row})

    def products(self, columns: int, g_row: int, out_row: int) -> str:
        """Sums of g * out of each query: `void (rows, g, out, sums)`."""
        words = {"columns": columns, "g row": g_row, "out row": out_row}
        return self.define("row_products", _ROW_PRODUCTS, **words)

    def gradients(self) -> str:
        """From scores and the gradient of weights to weights and the gradient of scores.

        `void (scores, gradients, rows, keys, top, total, sums, others...)`
        """
        b, c = self._builder()
        s = self._changed(b, self._at(b, "%row.s", c), c)
        power = elementary.exp_of_negative(b, b.sub(s, Scalar("%top", self.kind, 1)))
        weight = b.mul(power, Scalar("%inverse", self.kind, 1))
        self._put(b, "%row.s", c, weight)
        g = self._at(b, "%row.g", c)
        g = b.mul(weight, b.sub(g, Scalar("%sum", self.kind, 1)))
        self._put(b, "%row.g", c, self._back(b, g, c))
        before, body = _taken(b)
        return self.define("gradients", _GRADIENTS, before=before, body=body)


def _taken(b: Builder) -> tuple[str, str]:
    """What was written so far: outside of the columns, and for each of them."""
    before, body = [*b.before[0], *b.before[1]], [*b.before[2]]
    for lines in b.before:
        lines.clear()
    return "\n".join(before), "\n".join(body)


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
