"""Attention and its gradient, block by block of scores (`attention_blocks.py`).

The weights of a block are what the softmax would be if no larger score came; when one comes, what
is there of the result is made smaller. So all that is kept of the scores is the largest of each
query, and the sum of the weights. The gradient computes the blocks again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from weft._src.execution.native.loops.blocks import base_of
from weft._src.execution.native.loops.kernels.attention_blocks import (
    Attention,
    Cut,
    Factor,
    Products,
    Writer,
    packed,
    unpacked,
)
from weft._src.execution.native.loops.kernels.attention_limits import ROUNDING, Limits, masks
from weft._src.execution.native.loops.kernels.attention_rows import Change, Other, Rows
from weft._src.execution.native.loops.kernels.turning import declare_turning
from weft._src.execution.native.loops.nests import pointer_loads
from weft._src.execution.native.loops.values import Kernel, Shape, Stored, Value
from weft._src.execution.native.machine import pool
from weft._src.execution.native.machine.builder import Module, float_text, memory_type
from weft._src.execution.native.machine.functions import RANGE, StepFunction
from weft._src.ops.nn.attention import STEPS

if TYPE_CHECKING:
    from weft._src.execution.native.loops.program import Program

_PACE = 24  # multiplications in a nanosecond
_Q, _K, _V, _OUT = range(4)  # of what has axes


class _Blockwise(Kernel):
    """What both ways have in common."""

    matrices = 1  # of scores that are there at the same time
    products = 2  # of matrices for each of them
    splits_queries = True

    def __init__(
        self, of: Attention, tensors: Sequence[Value], others: Sequence[Value],
        results: Sequence[Stored], steps: Sequence[str],
    ) -> None:  # fmt: skip
        super().__init__([*tensors, *others])
        self.of = of
        self._others = others
        self._changes: list[Change] = []
        first = 0
        for step in steps:
            last = first + STEPS[step]
            self._changes.append(Change(step, tuple(range(first, last))))
            first = last
        masked = masks(self._changes, self._forms())
        self.cut = Cut(of, self.matrices, splits_queries=self.splits_queries, masked=masked)
        self._reserve()
        memory = Stored(of.dtype, (self.cut.pieces, self.cut.scratch_size), "blocks of scores")
        self.results = (*results, memory)

    @property
    def work(self) -> int:
        sizes = self.of.sizes
        scores = self.cut.heads * sizes["m"] * sizes["n"]
        return scores * (self.products * (sizes["d"] + sizes["e"]) // 2 // _PACE + 1)

    def _reserve(self) -> None:
        """Says what the memory of a piece holds."""
        cut, of = self.cut, self.of
        cut.reserve("scores", cut.rows * cut.pitch)
        cut.reserve("key stripes", cut.stripe_size * of.sizes["d"])

    # --- code --------------------------------------------------------------------------------

    def emit(self, program: Program) -> None:
        module, cut = program.module, self.cut
        module.declare("llvm.smin.i64", "i64", "i64, i64")
        values = [*self.operands, *self.results]
        registers = [f"%p{i}" for i in range(len(values))]
        buffers = [program.memory[id(base_of(v))] for v in values]
        w = Writer()
        count = w.let("sub nsw i64 %end, %begin")
        with w.loop(count) as number:
            piece = w.let(f"add nuw nsw i64 %begin, {number}")
            memory = {
                name: w.place(self.of.kind, registers[-1], (piece, cut.scratch_size), ("1", at))
                for name, at in cut.scratch.items()
            }
            first, items, _ = w.part(piece, cut.piece_items, cut.items)
            with w.loop(items) as i:
                item = w.let(f"add nuw nsw i64 {first}, {i}")
                self._item(module, w, item, registers[:-1], memory)
        w.line("ret void")
        name = module.new_name("attention")
        body = "\n".join(w.lines)
        module.functions.append(
            StepFunction(
                name,
                "void",
                "#0",
                pointer_loads(zip(registers, buffers, strict=True)),
                body,
                RANGE,
            )
        )
        if self.work >= pool.SHARED_FROM and cut.pieces > 1:
            program.call_shared(name, cut.pieces, 1)
        else:
            program.line(f"call void @{name}(ptr %t, i64 0, i64 {cut.pieces})")

    def _item(
        self, module: Module, w: Writer, item: str, pointers: list[str], memory: dict[str, str]
    ) -> None:
        """Some queries of one place in the batch."""
        raise NotImplementedError

    def _batch_index(self, w: Writer, item: str) -> tuple[list[str], str]:
        """The place in the batch of a piece, and which of its queries."""
        chunk = w.let(f"urem i64 {item}, {self.cut.chunks}")
        left = w.let(f"udiv i64 {item}, {self.cut.chunks}")
        index: list[str] = []
        for size in reversed(self.of.batch):
            index.insert(0, w.let(f"urem i64 {left}, {size}"))
            left = w.let(f"udiv i64 {left}, {size}")
        return index, chunk

    def _tensor(self, w: Writer, pointer: str, i: int, index: list[str]) -> str:
        """Where the matrix of a place in the batch begins, of q, k, v or the result."""
        strides = self.of.strides(i)
        terms = [(at, strides[str(axis)]) for axis, at in enumerate(index)]
        return w.place(self.of.kind, pointer, *terms)

    def _rows_place(self, w: Writer, pointer: str, index: list[str]) -> str:
        """The same of what has one number for each query."""
        step, terms = self.of.sizes["m"], []
        for at, size in zip(reversed(index), reversed(self.of.batch), strict=True):
            terms.append((at, step))
            step *= size
        return w.place(self.of.kind, pointer, *terms)

    def _strides_of(self, other: Value) -> tuple[int, ...]:
        """How far apart the elements of what changes scores lie, along the axes of scores."""
        rank = len(self.of.batch) + 2
        shape: Shape = (1,) * (rank - len(other.shape)) + other.shape
        return tuple([0 if n == 1 else math.prod(shape[i + 1 :]) for i, n in enumerate(shape)])

    def _other_places(
        self, w: Writer, pointers: list[str], index: list[str]
    ) -> list[tuple[str, str, int, int]]:
        """Pointers to what changes the scores of a place in the batch, their types and strides."""
        found = []
        for other, pointer in zip(self._others, pointers, strict=True):
            *batch, row, column = self._strides_of(other)
            kind = memory_type(other.dtype)
            place = w.place(kind, pointer, *zip(index, batch, strict=True))
            found.append((place, kind, row, column))
        return found

    def _forms(self) -> list[Other]:
        """What changes scores, as the functions of rows see it."""
        strides = [self._strides_of(other)[-2:] for other in self._others]
        return [Other(x.dtype, *own) for x, own in zip(self._others, strides, strict=True)]

    def _rows(self, module: Module) -> tuple[Rows, Limits]:
        """The functions of rows, and those that tell which blocks matter."""
        given = (module, self.of.kind, self.cut.pitch, self._changes, self._forms())
        return Rows(*given), Limits(*given)

    def _others_at(
        self, w: Writer, places: list[tuple[str, str, int, int]], row: str, column: str
    ) -> str:
        """What changes a block of scores, as arguments."""
        found = [w.place(kind, p, (row, a), (column, b)) for p, kind, a, b in places]
        return "".join(f", ptr {pointer}" for pointer in found)

    def _turned(self, module: Module, w: Writer, tensor: int, pointer: str, to: str) -> None:
        """Writes the stripes of k or v."""
        cut, of = self.cut, self.of
        symbol = declare_turning(module, of.kind, of.lanes)
        stripes = -(-of.sizes["n"] // cut.width)
        depth = of.sizes[of.axes[tensor][-1]]
        row, size = of.strides(tensor)["n"], depth * cut.width
        numbers = (0, stripes, stripes, of.sizes["n"], depth, cut.width, row, 0, 0, size, 0)
        given = ", ".join(f"i64 {number}" for number in numbers)
        w.line(f"call void @{symbol}(ptr {pointer}, ptr {to}, {given})")

    def _squares(
        self, w: Writer, limits: Limits, tensor: int, pointer: str, count: str | int
    ) -> str:
        """The largest sum of squares of a row of q, k, v or the result."""
        of = self.of
        letter = of.axes[tensor][-1]
        row = of.strides(tensor)["m" if "m" in of.axes[tensor] else "n"]
        name = limits.squares(of.sizes[letter], row)
        return w.let(f"call {of.kind} @{name}(ptr {pointer}, i64 {count})")

    def _largest_score(self, module: Module, w: Writer, q: str, k: str) -> str:
        """What no product of a query and a key exceeds, by the largest sums of their squares."""
        kind = self.of.kind
        root = f"llvm.sqrt.{'f32' if kind == 'float' else 'f64'}"
        module.declare(root, kind, kind)
        square = w.let(f"fmul {kind} {q}, {k}")
        size = w.let(f"call {kind} @{root}({kind} {square})")
        return w.let(f"fmul {kind} {size}, {float_text(1.001, kind)}")

    def _is_nothing(
        self, w: Writer, limit: str, sizes: tuple[str, str], size: str, enough: str,
        finite: Sequence[str], given: str,
    ) -> str:  # fmt: skip
        """Whether all weights of a block are 0, and all that they are multiplied with is finite."""
        kind, (m, n) = self.of.kind, sizes
        numbers = f"i64 {m}, i64 {n}, {kind} {size}, {kind} {enough}"
        most = w.let(f"call {kind} @{limit}({numbers}{given})")
        for number in finite:
            zero = w.let(f"fmul {kind} {number}, 0.0")
            most = w.let(f"fadd {kind} {most}, {zero}")
        rounding = w.let(f"fmul {kind} {most}, {float_text(ROUNDING[kind], kind)}")
        suffix = "f32" if kind == "float" else "f64"
        rounding = w.let(f"call {kind} @llvm.fabs.{suffix}({kind} {rounding})")
        most = w.let(f"fadd {kind} {most}, {rounding}")
        return w.let(f"fcmp olt {kind} {most}, {enough}")


class AttentionForward(_Blockwise):
    """The result, the largest score of each query, and the sum of its weights."""

    name = "attention"

    def _reserve(self) -> None:
        super()._reserve()
        self.cut.reserve("values", self.of.sizes["n"] * self.of.padded(self.of.sizes["e"]))

    def _item(
        self, module: Module, w: Writer, item: str, pointers: list[str], memory: dict[str, str]
    ) -> None:
        of, cut, sizes = self.of, self.cut, self.of.sizes
        q0, k0, v0, *others0, out0, top0, total0 = pointers
        index, chunk = self._batch_index(w, item)
        q, k, v, out = [self._tensor(w, p, i, index) for i, p in enumerate((q0, k0, v0, out0))]
        top, total = [self._rows_place(w, p, index) for p in (top0, total0)]
        others = self._other_places(w, others0, index)
        values, value_row = packed(module, w, cut, _V, "values", v, sizes["n"], memory)
        self._turned(module, w, _K, k, memory["key stripes"])
        q_row, out_row = of.strides(_Q)["m"], of.strides(_OUT)["m"]
        products = Products(module, cut)
        rows, limits = self._rows(module)
        weights = rows.weights(cut.rows, sizes["e"], out_row)
        division = rows.division(sizes["e"], out_row)
        limit = limits.limit()
        if limit is not None:
            key_squares = self._squares(w, limits, _K, k, sizes["n"])
            value_squares = self._squares(w, limits, _V, v, sizes["n"])
        first, queries, _ = w.part(chunk, cut.chunk_rows, sizes["m"])
        blocks = w.let(f"add nuw nsw i64 {queries}, {cut.rows - 1}")
        with w.loop(w.let(f"udiv i64 {blocks}, {cut.rows}")) as b:
            before = w.let(f"udiv i64 {first}, {cut.rows}")
            row, m, rest_m = w.part(w.let(f"add i64 {before}, {b}"), cut.rows, sizes["m"])
            q_at, out_at = w.place(of.kind, q, (row, q_row)), w.place(of.kind, out, (row, out_row))
            tops, totals = [w.place(of.kind, p, (row, 1)) for p in (top, total)]
            if limit is not None:
                query_squares = self._squares(w, limits, _Q, q_at, m)
                size = self._largest_score(module, w, query_squares, key_squares)
            with w.loop(cut.column_blocks) as j, ExitStack() as only:
                column, n, rest_n = w.part(j, cut.columns, sizes["n"])
                given = self._others_at(w, others, row, column)
                is_first = w.let(f"icmp eq i64 {j}, 0")
                is_later = w.let(f"icmp ne i64 {j}, 0")
                adds = w.let(f"zext i1 {is_later} to i64")
                if limit is not None:
                    enough = w.let(f"call {of.kind} @{limits.enough()}(ptr {tops}, i64 {m})")
                    finite = [value_squares]
                    nothing = self._is_nothing(w, limit, (m, n), size, enough, finite, given)
                    only.enter_context(w.unless(w.let(f"and i1 {is_later}, {nothing}")))
                scores, rests = memory["scores"], (rest_m, rest_n)
                stripes = w.place(of.kind, memory["key stripes"], (column, sizes["d"]))
                products.call(
                    w, (q_at, stripes, scores), ("m", "n", sizes["d"]), Factor(q_row, 1),
                    cut.width, sizes["d"] * cut.width, cut.pitch, rests,
                )  # fmt: skip
                w.line(
                    f"call void @{weights}(ptr {scores}, i64 {m}, i64 {n}, i1 {is_first}, "
                    f"ptr {tops}, ptr {totals}, ptr {out_at}{given})"
                )
                values_at = w.place(of.kind, values, (column, value_row))
                products.call(
                    w, (scores, values_at, out_at), ("m", sizes["e"], "n"), Factor(cut.pitch, 1),
                    value_row, None, out_row, rests, adds,
                )  # fmt: skip
            w.line(f"call void @{division}(i64 {m}, ptr {tops}, ptr {totals}, ptr {out_at})")


class AttentionGradient(_Blockwise):
    """The gradients of q, k and v, from that of the result."""

    name = "attention gradient"
    matrices, products = 2, 5
    splits_queries = False  # all queries add to the gradients of keys and values

    def _reserve(self) -> None:
        super()._reserve()
        cut, of = self.cut, self.of
        cut.reserve("gradients", cut.rows * cut.pitch)
        cut.reserve("queries", cut.rows * of.padded(of.sizes["d"]))
        cut.reserve("results", cut.rows * of.padded(of.sizes["e"]))
        cut.reserve("keys", of.sizes["n"] * of.padded(of.sizes["d"]))
        cut.reserve("key gradients", of.sizes["n"] * of.padded(of.sizes["d"]))
        cut.reserve("value gradients", of.sizes["n"] * of.padded(of.sizes["e"]))
        cut.reserve("value stripes", cut.stripe_size * of.sizes["e"])
        cut.reserve("sums", cut.rows)

    def _item(
        self, module: Module, w: Writer, item: str, pointers: list[str], memory: dict[str, str]
    ) -> None:
        of, cut, sizes = self.of, self.cut, self.of.sizes
        q0, k0, v0, out0, top0, total0, g0, *others0, gq0, gk0, gv0 = pointers
        index, _ = self._batch_index(w, item)
        q, k, v, out = [self._tensor(w, p, i, index) for i, p in enumerate((q0, k0, v0, out0))]
        gq, gk, gv, g = [self._tensor(w, p, i, index) for i, p in enumerate((gq0, gk0, gv0, g0))]
        top, total = [self._rows_place(w, p, index) for p in (top0, total0)]
        others = self._other_places(w, others0, index)
        keys, key_row = packed(module, w, cut, _K, "keys", k, sizes["n"], memory)
        self._turned(module, w, _K, k, memory["key stripes"])
        self._turned(module, w, _V, v, memory["value stripes"])
        q_row, k_row, v_row, out_row = [of.strides(i)[s] for i, s in enumerate("mnnm")]
        # Sums that go on for all queries: not where rows lie far apart, perhaps by powers of two.
        apart = [(i, p) for i, p in ((_K, gk), (_V, gv)) if not of.lies_ready(i)]
        if not of.lies_ready(_K):
            gk, k_row = memory["key gradients"], of.padded(sizes["d"])
        if not of.lies_ready(_V):
            gv, v_row = memory["value gradients"], of.padded(sizes["e"])
        products = Products(module, cut)
        rows, limits = self._rows(module)
        row_products = rows.products(sizes["e"], out_row, out_row)
        gradients = rows.gradients()
        scores, slopes, sums = memory["scores"], memory["gradients"], memory["sums"]
        limit = limits.limit()
        if limit is not None:
            key_squares = self._squares(w, limits, _K, k, sizes["n"])
            value_squares = self._squares(w, limits, _V, v, sizes["n"])
            with w.loop(cut.column_blocks) as j:
                column, _, rest_n = w.part(j, cut.columns, sizes["n"])
                for p, row_size, columns in ((gv, v_row, sizes["e"]), (gk, k_row, sizes["d"])):
                    at = w.place(of.kind, p, (column, row_size))
                    products.clear(w, at, ("n", columns), row_size, ("0", rest_n))
        with w.loop(-(-sizes["m"] // cut.rows)) as b:
            row, m, rest_m = w.part(b, cut.rows, sizes["m"])
            q_at, gq_at = [w.place(of.kind, p, (row, q_row)) for p in (q, gq)]
            g_at, out_at = [w.place(of.kind, p, (row, out_row)) for p in (g, out)]
            tops, totals = [w.place(of.kind, p, (row, 1)) for p in (top, total)]
            queries, query_row = packed(module, w, cut, _Q, "queries", q_at, m, memory)
            results, result_row = packed(module, w, cut, _OUT, "results", g_at, m, memory)
            w.line(f"call void @{row_products}(i64 {m}, ptr {g_at}, ptr {out_at}, ptr {sums})")
            adds_rows = w.let(f"zext i1 {w.let(f'icmp ne i64 {b}, 0')} to i64")
            if limit is not None:
                adds_rows = "1"
                products.clear(w, gq_at, ("m", sizes["d"]), q_row, (rest_m, "0"))
                finite = [
                    self._squares(w, limits, _Q, q_at, m),
                    key_squares,
                    value_squares,
                    self._squares(w, limits, _OUT, g_at, m),
                    w.let(f"call {of.kind} @{limits.squares(1, 1)}(ptr {sums}, i64 {m})"),
                ]
                size = self._largest_score(module, w, finite[0], key_squares)
                enough = w.let(f"call {of.kind} @{limits.enough()}(ptr {tops}, i64 {m})")
            with w.loop(cut.column_blocks) as j, ExitStack() as only:
                column, n, rest_n = w.part(j, cut.columns, sizes["n"])
                given = self._others_at(w, others, row, column)
                adds = w.let(f"zext i1 {w.let(f'icmp ne i64 {j}, 0')} to i64")
                rests = (rest_m, rest_n)
                if limit is not None:
                    adds = "1"
                    nothing = self._is_nothing(w, limit, (m, n), size, enough, finite, given)
                    only.enter_context(w.unless(nothing))
                key_stripes = w.place(of.kind, memory["key stripes"], (column, sizes["d"]))
                value_stripes = w.place(of.kind, memory["value stripes"], (column, sizes["e"]))
                products.call(
                    w, (q_at, key_stripes, scores), ("m", "n", sizes["d"]), Factor(q_row, 1),
                    cut.width, sizes["d"] * cut.width, cut.pitch, rests,
                )  # fmt: skip
                products.call(
                    w, (g_at, value_stripes, slopes), ("m", "n", sizes["e"]), Factor(out_row, 1),
                    cut.width, sizes["e"] * cut.width, cut.pitch, rests,
                )  # fmt: skip
                w.line(
                    f"call void @{gradients}(ptr {scores}, ptr {slopes}, i64 {m}, i64 {n}, "
                    f"ptr {tops}, ptr {totals}, ptr {sums}{given})"
                )
                gv_at, gk_at = [
                    w.place(of.kind, p, (column, step)) for p, step in ((gv, v_row), (gk, k_row))
                ]
                products.call(
                    w, (scores, results, gv_at), ("n", sizes["e"], "m"), Factor(1, cut.pitch),
                    result_row, None, v_row, rests, adds_rows,
                )  # fmt: skip
                keys_at = w.place(of.kind, keys, (column, key_row))
                products.call(
                    w, (slopes, keys_at, gq_at), ("m", sizes["d"], "n"), Factor(cut.pitch, 1),
                    key_row, None, q_row, rests, adds,
                )  # fmt: skip
                products.call(
                    w, (slopes, queries, gk_at), ("n", sizes["d"], "m"), Factor(1, cut.pitch),
                    query_row, None, k_row, rests, adds_rows,
                )  # fmt: skip
        for tensor, pointer in apart:
            memory_of, row_size = (gk, k_row) if tensor == _K else (gv, v_row)
            unpacked(module, w, cut, tensor, pointer, memory_of, row_size)
