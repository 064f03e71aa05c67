"""Matrix products: vector code for small ones, BLAS for large ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from weft._src.core import dtypes
from weft._src.execution.native.loops.blocks import base_of
from weft._src.execution.native.loops.nests import pointer_loads
from weft._src.execution.native.loops.values import Kernel, Stored, Value
from weft._src.execution.native.machine import outside
from weft._src.execution.native.machine.builder import alignment, loop_lines
from weft._src.execution.native.machine.functions import RANGE, StepFunction

if TYPE_CHECKING:
    from weft._src.execution.native.loops.program import Program

_BLAS_FROM = 20_000  # multiplications from which calling BLAS pays
_SHARED_FROM = 16 << 20  # multiplications that threads share
# Pieces at most, and rows or columns of each, which arranges the other matrix anew.
_PIECES, _LEAST_SHARE = 16, 512
_LANES = {"float": 8, "double": 4}
_TILE = 4  # vectors of one row of the result that are kept in registers


class Product(Kernel):
    """result[batch] = a[batch] @ b[batch], where either may be transposed."""

    name = "product"

    def __init__(
        self, a: Value, b: Value, result: Stored, sizes: tuple[int, int, int, int],
        transposed: tuple[bool, bool], batch_strides: tuple[int, int],
    ) -> None:  # fmt: skip
        super().__init__([a, b])
        self.results = (result,)
        self.sizes = sizes  # batch, rows, columns, depth
        self.transposed = transposed
        self.batch_strides = batch_strides  # in elements; 0 where one operand is shared

    @property
    def work(self) -> int:
        batch, m, n, k = self.sizes
        return batch * m * n * k // 16

    def emit(self, program: Program) -> None:
        name = program.module.new_name("product")
        _, m, n, k = self.sizes
        by_blas = m * n * k >= _BLAS_FROM and self._is_for_blas
        pieces = _pieces(self.sizes) if by_blas else 1
        if pieces > 1:
            lines = self._shared_by_blas(program, -(-max(m, n) // pieces))
        else:
            lines = self._by_blas(program) if by_blas else self._by_loops()
        buffers = [program.memory[id(base_of(v))] for v in (*self.operands, *self.results)]
        pointers = pointer_loads(zip(["%a0", "%b0", "%c0"], buffers, strict=True))
        body = "\n".join(lines)
        result, parameters = ("void", RANGE) if pieces > 1 else ("i1", ())
        function = StepFunction(name, result, "#0", pointers, body, parameters)
        program.module.functions.append(function)
        with _one_blas_thread(program) if by_blas else nullcontext():
            if pieces > 1:
                program.call_shared(name, pieces, 1)
            else:
                program.line(f"call i1 @{name}(ptr %t)")

    @property
    def _is_for_blas(self) -> bool:
        return self.results[0].dtype in (dtypes.float32, dtypes.float64)

    def _batch_loop(self, inner: list[str], kind: str) -> list[str]:
        """The code of one product, for every product of the batch."""
        batch, m, n, _ = self.sizes
        strides = (*self.batch_strides, m * n)
        lines = ["br label %batch", "batch:", "%q = phi i64 [0, %entry], [%q.next, %batch.end]"]
        for letter, stride in zip("abc", strides, strict=True):
            lines.append(f"%{letter}.shift = mul i64 %q, {stride}")
            lines.append(f"%{letter} = getelementptr {kind}, ptr %{letter}0, i64 %{letter}.shift")
        return [
            *lines,
            *inner,
            "br label %batch.end",
            "batch.end:",
            "%q.next = add nuw nsw i64 %q, 1",
            f"%q.more = icmp ult i64 %q.next, {batch}",
            "br i1 %q.more, label %batch, label %done",
            "done:",
            "ret i1 false",
        ]

    # --- BLAS --------------------------------------------------------------------------------

    def _by_blas(self, program: Program) -> list[str]:
        _, m, n, _ = self.sizes
        lines, call = self._blas_call(program, str(m), str(n))
        return [*lines, *self._batch_loop([call], self._kind)]

    def _shared_by_blas(self, program: Program, size: int) -> list[str]:
        """The pieces from %begin to %end of one large product: some rows or columns of c each."""
        _, m, n, k = self.sizes
        ta, tb = self.transposed
        by_rows = m >= n
        a_step, b_step, c_step = (1 if ta else k, 0, n) if by_rows else (0, k if tb else 1, 1)
        lines, call = self._blas_call(
            program, "%size" if by_rows else str(m), str(n) if by_rows else "%size"
        )
        inner = [
            f"%first = mul nuw nsw i64 %q, {size}",
            f"%left = sub nsw i64 {max(m, n)}, %first",
            f"%size = call i64 @llvm.smin.i64(i64 %left, i64 {size})",
        ]
        program.module.declare("llvm.smin.i64", "i64", "i64, i64")
        for letter, step in zip("abc", (a_step, b_step, c_step), strict=True):
            inner += [
                f"%{letter}.shift = mul nsw i64 %first, {step}",
                f"%{letter} = getelementptr {self._kind}, ptr %{letter}0, i64 %{letter}.shift",
            ]
        return [
            *[line for line in lines if "%size" not in line],
            "br label %piece",
            "piece:",
            "%q = phi i64 [%begin, %entry], [%q.next, %piece]",
            *inner,
            *[line for line in lines if "%size" in line],
            call,
            "%q.next = add nuw nsw i64 %q, 1",
            "%q.more = icmp ult i64 %q.next, %end",
            "br i1 %q.more, label %piece, label %done",
            "done:",
            "ret void",
        ]

    @property
    def _kind(self) -> str:
        return "float" if self.results[0].dtype is dtypes.float32 else "double"

    def _blas_call(self, program: Program, rows: str, columns: str) -> tuple[list[str], str]:
        """The arguments, and the call, for so many rows and columns of c.

        Row-major c = a b is column-major c' = b' a'.
        """
        _, m, n, k = self.sizes
        kind = self._kind
        routine = "weft_sgemm" if kind == "float" else "weft_dgemm"
        program.module.declare(routine, "void", ", ".join(["ptr"] * 13))
        ta, tb = self.transposed
        lda, ldb = (m if ta else k), (k if tb else n)
        numbers = {"m": columns, "n": rows, "k": k, "lda": ldb, "ldb": lda, "ldc": n}
        integer = outside.blas().integer
        lines = [f"%{key}.p = alloca {integer}" for key in numbers]
        lines += [f"store {integer} {number}, ptr %{key}.p" for key, number in numbers.items()]
        for key, flag in (("ta", tb), ("tb", ta)):
            lines += [
                f"%{key}.p = alloca i8",
                f"store i8 {ord('T' if flag else 'N')}, ptr %{key}.p",
            ]
        for key, factor in (("alpha", "1.0"), ("beta", "0.0")):
            lines += [f"%{key}.p = alloca {kind}", f"store {kind} {factor}, ptr %{key}.p"]
        arguments = (
            "ptr %ta.p, ptr %tb.p, ptr %m.p, ptr %n.p, ptr %k.p, ptr %alpha.p, ptr %b, "
            "ptr %lda.p, ptr %a, ptr %ldb.p, ptr %beta.p, ptr %c, ptr %ldc.p"
        )
        return lines, f"call void @{routine}({arguments})"

    # --- loops -------------------------------------------------------------------------------

    def _by_loops(self) -> list[str]:
        _, m, n, k = self.sizes
        dtype = self.results[0].dtype
        kind = "float" if dtype is dtypes.float32 else "double" if dtype is dtypes.float64 else (
            f"i{8 * dtype.size}"
        )  # fmt: skip
        ta, tb = self.transposed
        rows = _Rows(kind, (m, n, k), ta, tb)
        inner = rows.dots() if tb or n == 1 else rows.tiles()
        return self._batch_loop(inner, kind)


def _pieces(sizes: tuple[int, int, int, int]) -> int:
    """How many pieces of a product threads take turns with; 1 if it is not shared."""
    batch, m, n, k = sizes
    if batch > 1 or m * n * k < _SHARED_FROM or not outside.blas().has_threads:
        return 1
    return min(_PIECES, max(2, max(m, n) // _LEAST_SHARE))


# Who finds one thread came while another call had set it: that one restores what was before.
_RESTORE = """define internal void @weft_restore_blas_threads(i32 %before) nounwind {
%is.mine = icmp sgt i32 %before, 1
br i1 %is.mine, label %restore, label %done
restore:
call void @<write>(i32 %before)
br label %done
done:
ret void
}"""


@contextmanager
def _one_blas_thread(program: Program) -> Iterator[None]:
    """BLAS works on one thread in what is emitted meanwhile: its own ones spin while they wait."""
    if not outside.blas().has_threads:
        yield
        return
    read, write = outside.BLAS_THREADS
    program.module.declare(read, "i32", "")
    program.module.declare(write, "void", "i32")
    before = f"%{program.label('threads')}"
    program.line(f"{before} = call i32 @{read}()")
    program.line(f"call void @{write}(i32 1)")
    yield
    program.module.define_once("weft_restore_blas_threads", _RESTORE.replace("<write>", write))
    program.line(f"call void @weft_restore_blas_threads(i32 {before})")


class _Rows:
    """Code for one small product; sizes are literals, so LLVM unrolls what is short."""

    def __init__(self, kind: str, sizes: tuple[int, int, int], ta: bool, tb: bool) -> None:
        self.kind = kind
        self.m, self.n, self.k = sizes
        self.ta, self.tb = ta, tb
        is_float = kind in ("float", "double")
        self.add = "fadd reassoc contract" if is_float else "add"
        self.mul = "fmul reassoc contract" if is_float else "mul"
        self.zero = "0.0" if is_float else "0"
        self._count = 0

    def _name(self, stem: str) -> str:
        self._count += 1
        return f"%{stem}.{self._count}"

    def _a_offset(self, i: str, p: str) -> Iterator[str]:
        """The place of a[i, p], as the register %ao."""
        row, column = (p, i) if self.ta else (i, p)
        width = self.m if self.ta else self.k
        name = self._name("ar")
        yield f"{name} = mul nuw nsw i64 {row}, {width}"
        self.a_at = self._name("ao")
        yield f"{self.a_at} = add nuw nsw i64 {name}, {column}"

    def dots(self) -> list[str]:
        """Each element is a dot product: b is transposed, or has one column."""
        kind = self.kind
        body = [
            *self._a_offset("%i", "%p"),
            f"%ap = getelementptr {kind}, ptr %a, i64 {self.a_at}",
            f"%av = load {kind}, ptr %ap",
            f"%br = mul nuw nsw i64 %j, {self.k}",
            "%bo = add nuw nsw i64 %br, %p",
            f"%bp = getelementptr {kind}, ptr %b, i64 %bo",
            f"%bv = load {kind}, ptr %bp",
            f"%product = {self.mul} {kind} %av, %bv",
            f"%sum.next = {self.add} {kind} %sum, %product",
        ]
        inner = loop_lines("p", self.k, "j.head", body)
        inner.insert(3, f"%sum = phi {kind} [{self.zero}, %j.head], [%sum.next, %p.latch]")
        column = [
            *inner,
            f"%cr = mul nuw nsw i64 %i, {self.n}",
            "%co = add nuw nsw i64 %cr, %j",
            f"%cp = getelementptr {kind}, ptr %c, i64 %co",
            f"store {kind} %sum.next, ptr %cp",
        ]
        row = loop_lines("j", self.n, "i.head", column)
        return loop_lines("i", self.m, "batch", row)

    def tiles(self) -> list[str]:
        """Rows of the result in vector registers: a[i, p] times a piece of the row b[p]."""
        lanes = _LANES.get(self.kind, 4)
        pieces: list[tuple[int, int]] = []  # (start, width)
        at = 0
        for width in (lanes, lanes // 2, lanes // 4, 1):
            while width and self.n - at >= width:
                pieces.append((at, width))
                at += width
        groups = [pieces[g : g + _TILE] for g in range(0, len(pieces), _TILE)]
        out: list[str] = []
        above = "i.head"
        for number, group in enumerate(groups):
            lines, above = self._tile(number, group, above)
            out += lines
        return loop_lines("i", self.m, "batch", out)

    def _tile(self, number: int, group: list[tuple[int, int]], above: str) -> tuple[list[str], str]:
        kind, p = self.kind, f"p{number}"
        aligned = alignment(kind)  # not more: LLVM may read as far as that
        body = [
            *self._a_offset("%i", f"%{p}"),
            f"%ap.{number} = getelementptr {kind}, ptr %a, i64 {self.a_at}",
            f"%av.{number} = load {kind}, ptr %ap.{number}",
        ]
        phis, stores = [], []
        for start, width in group:
            tag = f"{number}.{start}"
            vector, zeros = f"<{width} x {kind}>", f"<{width} x i32> zeroinitializer"
            body += [
                f"%s1.{tag} = insertelement {vector} poison, {kind} %av.{number}, i32 0",
                f"%s.{tag} = shufflevector {vector} %s1.{tag}, {vector} poison, {zeros}",
                f"%br.{tag} = mul nuw nsw i64 %{p}, {self.n}",
                f"%bo.{tag} = add nuw nsw i64 %br.{tag}, {start}",
                f"%bp.{tag} = getelementptr {kind}, ptr %b, i64 %bo.{tag}",
                f"%bv.{tag} = load {vector}, ptr %bp.{tag}, align {aligned}",
                f"%m.{tag} = {self.mul} {vector} %s.{tag}, %bv.{tag}",
                f"%n.{tag} = {self.add} {vector} %x.{tag}, %m.{tag}",
            ]
            phis.append(
                f"%x.{tag} = phi {vector} [zeroinitializer, %{above}], [%n.{tag}, %{p}.latch]"
            )
            stores += [
                f"%cr.{tag} = mul nuw nsw i64 %i, {self.n}",
                f"%co.{tag} = add nuw nsw i64 %cr.{tag}, {start}",
                f"%cp.{tag} = getelementptr {kind}, ptr %c, i64 %co.{tag}",
                f"store {vector} %n.{tag}, ptr %cp.{tag}, align {aligned}",
            ]
        loop = loop_lines(p, self.k, above, body)
        loop[3:3] = phis
        return [*loop, *stores], f"{p}.end"
