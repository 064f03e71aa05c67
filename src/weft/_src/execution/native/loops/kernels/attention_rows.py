"""What is done to the scores of a block, row by row, as LLVM functions.

Functions are named by what they consist of, so that equal ones of a program are there once.
"""

from __future__ import annotations

import hashlib
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
            "other rows": "\n".join(
                f"%other.{i}.shift = mul nsw i64 %r, {other.row}\n"
                f"%row.other.{i} = getelementptr {memory_type(other.dtype)}, ptr %other.{i}, "
                f"i64 %other.{i}.shift"
                for i, other in enumerate(others)
            ),
        }  # fmt: skip
        module.declare(f"llvm.maximum.{self._words['suffix']}", kind, f"{kind}, {kind}")

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

    def _other(self, b: Builder, i: int, c: Scalar) -> Scalar:
        other = self._others[i]
        at = Scalar("0", "i64", 1)
        if other.column:
            at = c if other.column == 1 else b.mul(c, b.index(other.column))
        return b.load(f"%row.other.{i}", other.dtype, at)

    def _changed(self, b: Builder, s: Scalar, c: Scalar) -> Scalar:
        """A score after all steps."""
        for change in self._changes:
            x, *rest = [self._other(b, i, c) for i in change.others]
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

    def weights(self, columns: int, out_row: int) -> str:
        """From scores to weights, and what is there of the result so far made to fit to them.

        `void (scores, rows, keys, is the first block, top, total, out, others...)`
        """
        b, c = self._builder()
        s = self._changed(b, self._at(b, "%row.s", c), c)
        # What is the same for all keys is quicker done again than kept.
        is_kept = any(other.column for other in self._others)
        if is_kept:
            self._put(b, "%row.s", c, s)
        before_changing, changing = _taken(b)
        again = Scalar("%d", "i64", 2)
        found = self._at(b, "%row.s", again)
        found = found if is_kept else self._changed(b, found, again)
        weight = elementary.exp_of_negative(b, b.sub(found, Scalar("%usable", self._kind, 1)))
        self._put(b, "%row.s", again, weight)
        before_weighing, weighing = _taken(b)
        factor = elementary.exp(b, Scalar("%less", self._kind, 1))
        shrinking, _ = _taken(b)
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
                "columns": columns,
                "out row": out_row,
            },
        )

    def limit(self) -> str | None:
        """The largest that changed scores of a block may be; None if that is not known.

        `number (rows, keys, the largest a score may be before, others...)`. NaN if anything is.
        """
        if not any(other.column for other in self._others):
            return None
        lines: list[str] = []
        size, block, is_symmetric = "%size", "entry", True
        kind, suffix = self._kind, self._words["suffix"]
        for i, change in enumerate(self._changes):
            first = change.others[0]
            if change.step in ("multiply", "divide"):
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
                found, block = self._most(i, change.step, self._others[first], first, block)
                lines += [*found, f"%h.{i} = fadd {kind} {size}, %m.{i}"]
            else:
                if not self._is_single(change.others[1]):
                    return None
                is_symmetric = False
                found, block = self._any(i, change.step, self._others[first], first, block)
                lines += [
                    *found,
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

    def _most(self, i: int, step: str, other: Other, at: int, block: str) -> tuple[list[str], str]:
        """The largest of what is added to the scores of a block, as %m.i."""
        kind = self._kind
        negated = [f"%x.{i} = fneg {kind} %v.{i}"]
        taken = [f"%x.{i} = fadd {kind} %v.{i}, 0.0"] if step == "add" else negated
        combined = (
            f"call nsz {kind} @llvm.maximum.{self._words['suffix']}({kind} %old.{i}, {kind} %x.{i})"
        )
        start = self._words["least"]
        return self._reduced(i, other, at, block, kind, start, taken, combined, f"m.{i}")

    def _any(self, i: int, step: str, other: Other, at: int, block: str) -> tuple[list[str], str]:
        """Whether a mask lets any score of a block through, as %any.i."""
        taken = [f"%x.{i} = xor i8 %v.{i}, {0 if step == 'where' else 1}"]
        lines, block = self._reduced(
            i, other, at, block, "i8", "0", taken, f"or i8 %old.{i}, %x.{i}", f"all.{i}"
        )
        return [*lines, f"%any.{i} = icmp ne i8 %all.{i}, 0"], block

    def _reduced(
        self, i: int, other: Other, at: int, block: str, kind: str, start: object,
        taken: list[str], combined: str, result: str,
    ) -> tuple[list[str], str]:  # fmt: skip
        """Something over all elements of a block, and the label behind the loops."""
        words = {
            "i": i, "kind": kind, "start": start, "at": at, "row": other.row, "above": block,
            "column": other.column, "taken": "\n".join(taken), "combined": combined,
            "rows": "%rows" if other.row else 1, "keys": "%keys" if other.column else 1,
            "bytes": alignment(kind), "result": result, "loop": INTERLEAVED_LOOP,
            "parallel": PARALLEL,
        }  # fmt: skip
        return [filled(_REDUCED.strip(), words)], f"done.{i}"

    def division(self, columns: int, out_row: int) -> str:
        """Divides the result by the sum of the weights: `void (rows, top, total, out)`."""
        return self._define("division", _DIVISION, columns=columns, **{"out row": out_row})

    def squares(self, columns: int, row: int) -> str:
        """The largest sum of squares of a row: `number (matrix, rows)`."""
        return self._define("squares", _SQUARES, columns=columns, row=row)

    def nothing(self) -> str:
        """Whether all weights of a block are 0: `i1 (tops, rows, limit of the scores)`."""
        self._module.declare(
            f"llvm.minimum.{self._words['suffix']}", self._kind, f"{self._kind}, {self._kind}"
        )
        words = {
            "most": float_text(float("inf"), self._kind),
            "epsilon": float_text(1e-6 if self._kind == "float" else 1e-15, self._kind),
            "vanishing": float_text(exponentials.vanishing(self._kind) + 1.0, self._kind),
        }
        return self._define("nothing", _NOTHING, **words)

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


_ARITHMETIC = {
    "multiply": Builder.mul,
    "divide": Builder.div,
    "add": Builder.add,
    "subtract": Builder.sub,
}

# Rows are what was seen of each query so far: its largest score, the sum of its weights, and its
# part of the result. A larger score makes all weights before smaller. Where all are -inf, weights
# are 0, and so is their sum: dividing by it gives NaN. If one is NaN, the largest may be any number
# (to look for NaN takes as long again): the weight of NaN is NaN, and so is the sum of weights.
_WEIGHTS = """
define internal void @<name>(ptr %s, i64 %rows, i64 %keys, i1 %is.first,
  ptr %tops, ptr %totals, ptr %out<other parameters>) <group> {
entry:
%most.p = alloca <kind>
%added.p = alloca <kind>
br label %r.head
r.head:
%r = phi i64 [0, %entry], [%r.next, %r.latch]
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
%most.found = load <kind>, ptr %most.p
%most = freeze <kind> %most.found
%top.p = getelementptr <kind>, ptr %tops, i64 %r
%total.p = getelementptr <kind>, ptr %totals, i64 %r
%top.there = load <kind>, ptr %top.p
%top.before = select i1 %is.first, <kind> <least>, <kind> %top.there
%top = call nsz <kind> @llvm.maximum.<suffix>(<kind> %top.before, <kind> %most)
%is.least = fcmp oeq <kind> %top, <least>
%usable = select i1 %is.least, <kind> 0.0, <kind> %top
store <kind> %top, ptr %top.p
<before weighing>
store <kind> 0.0, ptr %added.p
br label %weigh
weigh:
%d = phi i64 [0, %changed], [%d.next, %weigh]
<weighing>
%added.old = load <kind>, ptr %added.p
%added.new = fadd reassoc <kind> %added.old, <weight>
store <kind> %added.new, ptr %added.p
%d.next = add nuw nsw i64 %d, 1
%d.more = icmp ult i64 %d.next, %keys
br i1 %d.more, label %weigh, label %weighed, <loop>
weighed:
%added = load <kind>, ptr %added.p
br i1 %is.first, label %first, label %later
first:
store <kind> %added, ptr %total.p
br label %r.latch
later:
%total.before = load <kind>, ptr %total.p
%less = fsub <kind> %top.before, %usable
<shrinking>
%total.kept = fmul <kind> %total.before, <factor>
%total = fadd <kind> %total.kept, %added
store <kind> %total, ptr %total.p
%is.same = fcmp oeq <kind> <factor>, 1.0
br i1 %is.same, label %r.latch, label %shrink
shrink:
%out.shift = mul nsw i64 %r, <out row>
%row.out = getelementptr <kind>, ptr %out, i64 %out.shift
br label %e.head
e.head:
%e = phi i64 [0, %shrink], [%e.next, %e.head]
%out.p = getelementptr <kind>, ptr %row.out, i64 %e
%out.old = load <kind>, ptr %out.p, align <bytes>, <parallel>
%out.new = fmul <kind> %out.old, <factor>
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

_LIMIT = """
define internal <kind> @<name>(i64 %rows, i64 %keys, <kind> %size<other parameters>) <group> {
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
<taken>
%old.<i> = load <kind>, ptr %p.<i>
%new.<i> = <combined>
store <kind> %new.<i>, ptr %p.<i>
%c.<i>.next = add nuw nsw i64 %c.<i>, 1
%c.<i>.more = icmp ult i64 %c.<i>.next, <keys>
br i1 %c.<i>.more, label %c.<i>.head, label %r.<i>.latch, <loop>
r.<i>.latch:
%r.<i>.next = add nuw nsw i64 %r.<i>, 1
%r.<i>.more = icmp ult i64 %r.<i>.next, <rows>
br i1 %r.<i>.more, label %r.<i>.head, label %done.<i>
done.<i>:
%<result> = load <kind>, ptr %p.<i>
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

# Whether all weights of a block are 0: even the largest score that there may be is so far below the
# largest of every query. What is not finite compares as false.
_NOTHING = """
define internal i1 @<name>(ptr %tops, i64 %rows, <kind> %limit) <group> {
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
%gap = fsub <kind> %least, %limit
%a = call <kind> @llvm.fabs.<suffix>(<kind> %least)
%b = call <kind> @llvm.fabs.<suffix>(<kind> %limit)
%sizes = fadd <kind> %a, %b
%rounding = fmul <kind> %sizes, <epsilon>
%sure = fsub <kind> %gap, %rounding
%is.nothing = fcmp ogt <kind> %sure, <vanishing>
ret i1 %is.nothing
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
