"""Matrix products."""

from __future__ import annotations

from typing import Any

from weft.core.dtypes import INEXACT, INTEGER
from weft.core.native_rules import Contraction
from weft.core.shapes import Dim
from weft.core.specs import TensorSpec
from weft.core.tensor import Array, Tensor
from weft.errors import ShapeError
from weft.ops import rules
from weft.ops.math.operands import conj, operands, sum_to
from weft.ops.registry import args, define_op


def _matmul_infer(
    a: TensorSpec, b: TensorSpec, *, transpose_a: bool, transpose_b: bool
) -> TensorSpec:
    rules.check_rank_at_least("matmul", a, 2, name="a")
    rules.check_rank_at_least("matmul", b, 2, name="b")
    if a.dims is None or b.dims is None:
        return a.with_dims(None)
    m, k = a.dims[-2:][::-1] if transpose_a else a.dims[-2:]
    k2, n = b.dims[-2:][::-1] if transpose_b else b.dims[-2:]
    if not isinstance(k, Dim) and not isinstance(k2, Dim) and k != k2:
        flags = f" (transpose_a={transpose_a}, transpose_b={transpose_b})"
        raise ShapeError(
            f"matmul: a has shape {a.shape} and b has shape {b.shape}"
            f"{flags if transpose_a or transpose_b else ''}: the inner sizes {k} and {k2} differ."
        )
    batch = rules.broadcast_dims("matmul", a.dims[:-2], b.dims[:-2])
    return a.with_dims((*batch, m, n))  # type: ignore[misc]


def _matmul_kernel(xp: Any, a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Array:
    if a.ndim < 2 or b.ndim < 2:
        raise ShapeError(f"matmul: both tensors need rank 2 or more, got {a.shape} and {b.shape}.")
    if transpose_a:
        a = xp.swapaxes(a, -1, -2)
    if transpose_b:
        b = xp.swapaxes(b, -1, -2)
    return xp.matmul(a, b)


def _matmul_vjp(ctx: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    a, b = ctx.inputs
    ta, tb = ctx.attrs["transpose_a"], ctx.attrs["transpose_b"]
    ga = gb = None
    if ctx.wants(0):
        cb = conj(b)
        ga = (
            matmul_op(cb, g, transpose_a=tb, transpose_b=True)
            if ta
            else matmul_op(g, cb, transpose_a=False, transpose_b=not tb)
        )
        ga = sum_to(ga, a)
    if ctx.wants(1):
        ca = conj(a)
        gb = (
            matmul_op(g, ca, transpose_a=True, transpose_b=ta)
            if tb
            else matmul_op(ca, g, transpose_a=not ta, transpose_b=False)
        )
        gb = sum_to(gb, b)
    return ga, gb


matmul_op = define_op(
    "MatMul",
    args("a b", INEXACT | INTEGER),
    infer=_matmul_infer,
    kernel=_matmul_kernel,
    native=Contraction(),
    vjp=_matmul_vjp,
    trusts_kernel=True,
    fresh=True,
)


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The matrix product; leading axes are batches and broadcast.

    >>> tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]).numpy()
    array([[11.]], dtype=float32)
    """
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        raise ValueError("matmul: transpose and adjoint of the same tensor exclude each other.")
    a, b = operands(a, b)
    if adjoint_a:
        a = conj(a)
    if adjoint_b:
        b = conj(b)
    return matmul_op(
        a, b, transpose_a=transpose_a or adjoint_a, transpose_b=transpose_b or adjoint_b, name=name
    )
