"""Products and transposes of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from weft._src.core.aliases import ArrayNamespace, DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INEXACT, INTEGER, REAL
from weft._src.core.native_rules import Contraction
from weft._src.core.operator_inputs import OperatorInput, answer, takes_operators
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.errors import ShapeError
from weft._src.ops import batching, graph_forms, rules
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.elementwise import casting
from weft._src.ops.elementwise.operands import conj, operands, sum_to
from weft._src.ops.linalg import einsum
from weft._src.ops.registry import NO_NATIVE, Op, args, define_op


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


def _matmul_kernel(
    xp: ArrayNamespace, a: Array, b: Array, *, transpose_a: bool, transpose_b: bool
) -> Array:
    if a.ndim < 2 or b.ndim < 2:
        raise ValueError("NumPy would take a vector; the type rule says what is wrong.")
    if transpose_a:
        a = a.swapaxes(-1, -2)
    if transpose_b:
        b = b.swapaxes(-1, -2)
    if b.ndim == 2 and a.ndim > 2 and a.size and a.flags.c_contiguous:
        # One matrix for all of a batch: its rows are one long matrix, and BLAS is called once.
        return xp.matmul(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[-1])
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
        if not ta and _is_batch_of_rows(a.spec, b.spec):
            # One product for all rows of the batch, rather than a sum of one for each matrix.
            ca = shapes.reshape(ca, (-1, a.spec.dims[-1]))
            g = shapes.reshape(g, (-1, b.spec.dims[0 if tb else 1]))
        gb = (
            matmul_op(g, ca, transpose_a=True, transpose_b=ta)
            if tb
            else matmul_op(ca, g, transpose_a=not ta, transpose_b=False)
        )
        gb = sum_to(gb, b)
    return ga, gb


def _is_batch_of_rows(a: TensorSpec, b: TensorSpec) -> bool:
    """Whether all matrices of a batch are multiplied by one matrix whose sizes are known."""
    if a.dims is None or b.dims is None or len(b.dims) != 2 or len(a.dims) == 2:
        return False
    return all(isinstance(n, int) and n > 0 for n in (a.dims[-1], *b.dims))


def _multiplications(
    specs: Sequence[TensorSpec], result: TensorSpec, *, transpose_a: bool, transpose_b: bool
) -> int:
    dims = specs[0].dims
    depth = None if dims is None else dims[-2 if transpose_a else -1]
    sizes = (depth, *(result.dims or (None,)))
    return math.prod([size if isinstance(size, int) else 0 for size in sizes])


matmul_op = define_op(
    "MatMul",
    args("a b", INEXACT | INTEGER),
    infer=_matmul_infer,
    kernel=_matmul_kernel,
    native=Contraction("matmul"),
    xla=Lowered("matmul"),
    vjp=_matmul_vjp,
    trusts_kernel=True,
    fresh=True,
    ragged="matmul",
    batch=batching.product,
    graphdef=graph_forms.matmul,
    multiplies=_multiplications,
)


def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike | None = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The matrix product; leading axes are batches and broadcast.

    The hints `a_is_sparse`, `b_is_sparse`, `grad_a` and `grad_b` do not change the result.

    Args:
      a: numbers of shape [..., m, k], of rank 2 or more.
      b: numbers of shape [..., k, n], of the same dtype.
      transpose_a: whether the last two axes of `a` are exchanged before.
      transpose_b: whether those of `b` are.
      adjoint_a: whether `a` is conjugated, too.
      adjoint_b: whether `b` is.
      a_is_sparse: accepted for compatibility, ignored.
      b_is_sparse: accepted for compatibility, ignored.
      output_type: the dtype that both are cast to before; None means that they stay what they are.
      grad_a: accepted for compatibility, ignored.
      grad_b: accepted for compatibility, ignored.

    Returns:
      A tensor of shape [..., m, n] and the dtype of both.

    Raises:
      ShapeError: if a rank is below 2, the inner sizes differ, or the batches do not broadcast.
      DTypeError: if the dtypes differ, or are not numeric.
      ValueError: if one is both to be transposed and to be the adjoint.

    >>> tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]).numpy()
    array([[11.]], dtype=float32)
    """
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        raise ValueError("matmul: transpose and adjoint of the same tensor exclude each other.")
    try:
        a, b = operands(a, b)
    except OperatorInput as found:
        return answer(
            found, "matmul", a, b, transpose_a, transpose_b, adjoint_a, adjoint_b,
            output_type=output_type,
        )  # fmt: skip
    if output_type is not None:
        a, b = casting.cast(a, output_type), casting.cast(b, output_type)
    if adjoint_a:
        a = conj(a)
    if adjoint_b:
        b = conj(b)
    return matmul_op(
        a, b, transpose_a=transpose_a or adjoint_a, transpose_b=transpose_b or adjoint_b, name=name
    )


def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a matrix and a vector; leading axes are batches and broadcast.

    Args:
      a: numbers of shape [..., m, k], of rank 2 or more.
      b: numbers of shape [..., k], of the same dtype.
      transpose_a: whether the last two axes of `a` are exchanged before.
      adjoint_a: whether `a` is conjugated, too.
      a_is_sparse: accepted for compatibility, ignored.
      b_is_sparse: accepted for compatibility, ignored.

    Returns:
      A tensor of shape [..., m] and the dtype of both.

    Raises:
      ShapeError: if the inner sizes differ, or the batches do not broadcast.
      ValueError: if `a` is both to be transposed and to be the adjoint.

    >>> tf.linalg.matvec([[1.0, 2.0], [3.0, 4.0]], [10.0, 1.0]).numpy()
    array([12., 34.], dtype=float32)
    """
    a, b = operands(a, b)
    column = shapes.expand_dims_op(b, axis=-1)
    out = matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a)
    return shapes.squeeze_op(out, axis=(-1,), name=name)


# --- transposes --------------------------------------------------------------------------------


def matrix_transpose(
    a: TensorLike, name: str = "matrix_transpose", conjugate: bool = False
) -> Tensor:
    """The transpose of matrices; leading axes are batches.

    Args:
      a: a tensor of rank 2 or more.
      conjugate: whether complex numbers are conjugated, too.

    Returns:
      A tensor of the same dtype with the last two axes exchanged.

    Raises:
      ShapeError: if the rank is below 2.

    >>> tf.linalg.matrix_transpose([[1, 2, 3]]).numpy()
    array([[1],
           [2],
           [3]], dtype=int32)
    """
    a = convert_to_tensor(a)
    rules.check_rank_at_least("matrix_transpose", a.spec, 2, name="a")
    if a.spec.rank is None:
        out = einsum.einsum_op(a, equation="...ij->...ji", name=name)
    else:
        lead = range(a.spec.rank - 2)
        out = shapes.transpose_op(a, perm=(*lead, len(lead) + 1, len(lead)), name=name)
    return conj(out) if conjugate else out


@takes_operators
def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """The conjugate transpose of matrices; leading axes are batches.

    Args:
      matrix: a tensor of rank 2 or more.

    Returns:
      A tensor of the same dtype with the last two axes exchanged.

    Raises:
      ShapeError: if the rank is below 2.

    >>> tf.linalg.adjoint([[1 + 2j, 3]]).numpy()
    array([[1.-2.j],
           [3.-0.j]])
    """
    return matrix_transpose(matrix, name=name or "adjoint", conjugate=True)


# --- cross product -----------------------------------------------------------------------------


def _cross_infer(a: TensorSpec, b: TensorSpec) -> TensorSpec:
    rules.check_rank_at_least("cross", a, 1, name="a")
    dims = rules.merge_dims("cross", a.dims, b.dims, "a and b")
    if dims is not None:
        rules.unify("cross", dims[-1], 3, "the size of the last axis and 3")
    return a.with_dims(dims)


def _cross_kernel(xp: ArrayNamespace, a: Array, b: Array) -> Array:
    (a0, a1, a2), (b0, b1, b2) = [[x[..., i] for i in range(3)] for x in (a, b)]
    return xp.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1)


cross_op: Op = define_op(
    "Cross",
    args("a b", REAL),
    infer=_cross_infer,
    kernel=_cross_kernel,
    native=NO_NATIVE,
    xla=KERNEL,
    vjp=lambda ctx, g: (cross_op(ctx.inputs[1], g), cross_op(g, ctx.inputs[0])),
    fresh=True,
    batch=batching.same_shapes,
)


def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """The cross product of vectors of three elements, along the last axis.

    Args:
      a: a tensor of real numbers whose last axis has size 3.
      b: another one of the same shape and dtype; they are not broadcast.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      ShapeError: if the shapes differ, or the last size is not 3.
      DTypeError: if the dtypes differ, or are not real.

    >>> tf.linalg.cross([1, 0, 0], [0, 1, 0]).numpy()
    array([0, 0, 1], dtype=int32)
    """
    return cross_op(*operands(a, b), name=name)
