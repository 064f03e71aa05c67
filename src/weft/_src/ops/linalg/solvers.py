"""Solving linear equations: inverses, determinants, triangular systems, Cholesky factors."""

from __future__ import annotations

import contextlib
import math
from typing import Any, NamedTuple

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.blas import one_thread
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INEXACT
from weft._src.core.operator_inputs import takes_operators
from weft._src.core.shapes import Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.errors import InvalidArgumentError
from weft._src.ops import batching, rules
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import arithmetic, complex_parts, unary
from weft._src.ops.elementwise.operands import conj, operands, sum_to
from weft._src.ops.linalg import diagonals, products
from weft._src.ops.reduce import sums
from weft._src.ops.registry import NO_NATIVE, Op, args, define_op


def square_dims(op: str, x: TensorSpec, name: str = "input") -> Dims | None:
    """The dims of a batch of square matrices; ShapeError if it is none."""
    rules.check_rank_at_least(op, x, 2, name=name)
    if x.dims is None:
        return None
    size = rules.unify(op, x.dims[-2], x.dims[-1], f"rows and columns of {name}")
    return (*x.dims[:-2], size, size)


def lapack(xp: ArrayNamespace, function: str, problem: str, *arrays: Array) -> Any:
    """A function of NumPy's linalg, narrow floats in float32; InvalidArgumentError if it fails."""
    try:
        with one_thread(arrays[0].shape[-1]):
            return getattr(xp.linalg, function)(*[xp.widen(x) for x in arrays])
    except xp.linalg.LinAlgError:
        raise InvalidArgumentError(None, None, problem) from None


# --- inverse -----------------------------------------------------------------------------------


def _inverse_kernel(xp: ArrayNamespace, x: Array) -> Array:
    out = lapack(xp, "inv", "inv: a matrix in input is singular, so it has no inverse.", x)
    return out.astype(x.dtype, copy=False)


def _inverse_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    y = ctx.outputs[0]
    return (-products.matmul(products.matmul(y, g, adjoint_a=True), y, adjoint_b=True),)


inverse_op = define_op(
    "MatrixInverse",
    args("input", INEXACT),
    infer=lambda x: x.with_dims(square_dims("inv", x)),
    kernel=_inverse_kernel,
    native=NO_NATIVE,
    xla=Lowered("inverse"),
    vjp=_inverse_vjp,
    fresh=True,
    batch=batching.inexact(batching.leading),
)


@takes_operators
def inv(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverse of square matrices (of their adjoints, with `adjoint`).

    Args:
      input: floating or complex matrices [..., n, n].
      adjoint: whether the conjugate transpose is inverted.

    Returns:
      A tensor of the shape and dtype of `input`.

    Raises:
      InvalidArgumentError: if a matrix is singular.
      ShapeError: if the matrices are not square.

    >>> tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy()
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    x = convert_to_tensor(input)
    return inverse_op(products.adjoint(x) if adjoint else x, name=name)


# --- determinants ------------------------------------------------------------------------------


def _determinant_infer(x: TensorSpec) -> TensorSpec:
    dims = square_dims("det", x)
    return x.with_dims(None if dims is None else dims[:-2])


def _refuse_others(x: Array) -> None:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError("the type rule says what is wrong")


def _determinant_kernel(xp: ArrayNamespace, x: Array) -> Any:
    _refuse_others(x)
    with one_thread(x.shape[-1]):
        found = xp.linalg.det(xp.widen(x)).astype(x.dtype, copy=False)
    return _nan_of_nan(xp, x, found)


def _nan_of_nan(xp: ArrayNamespace, x: Array, found: Any) -> Any:
    """What was found, but NaN for matrices with a NaN, which pivoting may pass over."""
    if isinstance(x, np.ndarray) and not xp.isnan(x).any():  # XLA does not know yet
        return xp.asarray(found)
    return xp.where(xp.isnan(x).any(axis=(-2, -1)), x.dtype.type(xp.nan), found)


def _as_matrix(g: Tensor) -> Tensor:
    return shapes.expand_dims_op(shapes.expand_dims_op(g, axis=-1), axis=-1)


def _determinant_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    inverse = inv(ctx.inputs[0], adjoint=True)
    return (_as_matrix(g * conj(ctx.outputs[0])) * inverse,)


determinant_op = define_op(
    "MatrixDeterminant",
    args("input", INEXACT),
    infer=_determinant_infer,
    kernel=_determinant_kernel,
    native=NO_NATIVE,
    xla=KERNEL,
    vjp=_determinant_vjp,
    trusts_kernel=True,
    fresh=True,
    batch=batching.inexact(batching.leading),
)


@takes_operators
def det(input: TensorLike, name: str | None = None) -> Tensor:
    """The determinant of square matrices.

    Args:
      input: floating or complex matrices [..., n, n].

    Returns:
      A tensor of the same dtype without the last two axes.

    Raises:
      ShapeError: if the matrices are not square.

    >>> tf.linalg.det([[2.0, 0.0], [0.0, 4.0]]).numpy()
    np.float32(8.0)
    """
    return determinant_op(convert_to_tensor(input), name=name)


class LogMatrixDeterminant(NamedTuple):
    """A determinant as its sign (phase, if complex) and the logarithm of its absolute value."""

    sign: Tensor
    log_abs_determinant: Tensor


def _slogdet_infer(x: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    dims = square_dims("slogdet", x)
    out = x.with_dims(None if dims is None else dims[:-2])
    return out, out


def _slogdet_kernel(xp: ArrayNamespace, x: Array) -> tuple[Array, ...]:
    with one_thread(x.shape[-1]):
        sign, logarithm = xp.linalg.slogdet(xp.widen(x))
    return _nan_of_nan(xp, x, sign.astype(x.dtype)), _nan_of_nan(xp, x, logarithm.astype(x.dtype))


def _slogdet_vjp(
    ctx: VjpContext, sign: Tensor | None, logarithm: Tensor | None
) -> tuple[Tensor | None]:
    if logarithm is None:
        return (None,)
    return (_as_matrix(logarithm) * inv(ctx.inputs[0], adjoint=True),)


slogdet_op = define_op(
    "LogMatrixDeterminant",
    args("input", INEXACT),
    infer=_slogdet_infer,
    kernel=_slogdet_kernel,
    native=NO_NATIVE,
    xla=KERNEL,
    vjp=_slogdet_vjp,
    outputs=2,
    fresh=True,
    batch=batching.inexact(batching.leading),
)


def slogdet(input: TensorLike, name: str | None = None) -> LogMatrixDeterminant:
    """The sign and the logarithm of the absolute value of determinants.

    Args:
      input: floating or complex matrices [..., n, n].

    Returns:
      A named tuple (sign, log_abs_determinant) of tensors of the dtype of `input`, without the last
      two axes. The sign of complex ones is a number on the unit circle.

    Raises:
      ShapeError: if the matrices are not square.

    >>> sign, logarithm = tf.linalg.slogdet([[1.0, 0.0], [0.0, -1.0]])
    >>> sign.numpy(), logarithm.numpy()
    (np.float32(-1.0), np.float32(0.0))
    """
    return LogMatrixDeterminant(*slogdet_op(convert_to_tensor(input), name=name))


# --- solving -----------------------------------------------------------------------------------


def _solve_infer(matrix: TensorSpec, rhs: TensorSpec) -> TensorSpec:
    dims = square_dims("solve", matrix, "matrix")
    rules.check_rank_at_least("solve", rhs, 2, name="rhs")
    if dims is None or rhs.dims is None:
        return rhs
    rows = rules.merge_dims("solve", dims[:-1], rhs.dims[:-1], "batches and rows of matrix and rhs")
    return rhs.with_dims((*rows, rhs.dims[-1]))  # type: ignore[misc]


def _solve_kernel(xp: ArrayNamespace, matrix: Array, rhs: Array) -> Array:
    problem = "solve: a matrix is singular, so the equations have no unique solution."
    return lapack(xp, "solve", problem, matrix, rhs).astype(rhs.dtype, copy=False)


def _solve_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, Tensor]:
    matrix = ctx.inputs[0]
    g_rhs = solve_op(products.adjoint(matrix), g)
    return -products.matmul(g_rhs, ctx.outputs[0], adjoint_b=True) if ctx.wants(0) else None, g_rhs


solve_op: Op = define_op(
    "MatrixSolve",
    args("matrix rhs", INEXACT),
    infer=_solve_infer,
    kernel=_solve_kernel,
    native=NO_NATIVE,
    xla=Lowered("solve"),
    vjp=_solve_vjp,
    fresh=True,
    batch=batching.inexact(batching.systems),
)


@takes_operators
def solve(
    matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """x with matrix @ x = rhs.

    Args:
      matrix: floating or complex matrices [..., n, n].
      rhs: the right sides [..., n, k], of the same dtype, with the same batches.
      adjoint: whether the conjugate transpose of `matrix` is meant.

    Returns:
      A tensor of the shape and dtype of `rhs`.

    Raises:
      InvalidArgumentError: if a matrix is singular.
      ShapeError: if the matrices are not square, or `rhs` does not fit.

    >>> tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy()
    array([[1. ],
           [0.5]], dtype=float32)
    """
    matrix, rhs = operands(matrix, rhs)
    return solve_op(products.adjoint(matrix) if adjoint else matrix, rhs, name=name)


def _triangular_infer(matrix: TensorSpec, rhs: TensorSpec, *, lower: bool) -> TensorSpec:
    dims = square_dims("triangular_solve", matrix, "matrix")
    rules.check_rank_at_least("triangular_solve", rhs, 2, name="rhs")
    if dims is None or rhs.dims is None:
        return rhs.with_dims(None)
    rows = rules.unify("triangular_solve", dims[-1], rhs.dims[-2], "the rows of matrix and rhs")
    batch = rules.broadcast_dims("triangular_solve", dims[:-2], rhs.dims[:-2])
    return rhs.with_dims((*batch, rows, rhs.dims[-1]))  # type: ignore[misc]


_SMALL = 16  # rows that are solved one by one
_ROWS_PER_CALL = 2  # what a call of BLAS costs, in rows that are solved for a whole batch


def _triangular_kernel(xp: ArrayNamespace, matrix: Array, rhs: Array, *, lower: bool) -> Array:
    wide, out = xp.widen(matrix), xp.widen(rhs)
    batch = xp.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    out = xp.array(xp.broadcast_to(out, (*batch, *rhs.shape[-2:])))
    if math.prod(batch) <= _ROWS_PER_CALL * rhs.shape[-2] and out.size:
        _by_blas(xp, xp.broadcast_to(wide, (*batch, *matrix.shape[-2:])), out, lower)
    elif not lower:  # upside down and back to front it is lower
        _forward(xp, wide[..., ::-1, ::-1], out[..., ::-1, :])
    else:
        _forward(xp, wide, out)
    return out.astype(rhs.dtype, copy=False)


def _by_blas(xp: ArrayNamespace, matrix: Array, x: Array, lower: bool) -> None:
    """Solves one system after the other in place."""
    (solve,) = xp.scipy_linalg.get_blas_funcs(("trsm",), (matrix, x))
    with one_thread(x.shape[-2]):
        for at in xp.ndindex(x.shape[:-2]):
            # Transposed, so that the columns that BLAS wants are rows.
            x[at] = solve(1.0, matrix[at].T, x[at].T, side=1, lower=not lower).T


def _forward(xp: ArrayNamespace, matrix: Array, x: Array) -> None:
    """Solves a lower triangular system in place, by halves, so that BLAS does most of it."""
    n = x.shape[-2]
    if n > _SMALL:
        half = n // 2
        _forward(xp, matrix[..., :half, :half], x[..., :half, :])
        x[..., half:, :] -= xp.matmul(matrix[..., half:, :half], x[..., :half, :])
        _forward(xp, matrix[..., half:, half:], x[..., half:, :])
        return
    for i in range(n):
        row = slice(i, i + 1)
        if i:
            x[..., row, :] -= xp.matmul(matrix[..., row, :i], x[..., :i, :])
        x[..., row, :] /= matrix[..., row, row]


def _triangular_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    matrix, rhs = ctx.inputs
    lower = ctx.attrs["lower"]
    g_rhs = triangular_solve_op(products.adjoint(matrix), g, lower=not lower)
    g_matrix = None
    if ctx.wants(0):
        full = -products.matmul(g_rhs, ctx.outputs[0], adjoint_b=True)
        part = diagonals.band_part(full, -1, 0) if lower else diagonals.band_part(full, 0, -1)
        g_matrix = sum_to(part, matrix)
    return g_matrix, sum_to(g_rhs, rhs)


triangular_solve_op: Op = define_op(
    "MatrixTriangularSolve",
    args("matrix rhs", INEXACT),
    infer=_triangular_infer,
    kernel=_triangular_kernel,
    native=NO_NATIVE,
    xla=Lowered("triangular_solve"),
    vjp=_triangular_vjp,
    fresh=True,
    batch=batching.inexact(batching.systems),
)


def triangular_solve(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """x with matrix @ x = rhs, where only one triangle of the matrix counts.

    Args:
      matrix: floating or complex matrices [..., n, n].
      rhs: the right sides [..., n, k], of the same dtype; the batches are broadcast together.
      lower: whether the lower triangle counts; if not, the upper one.
      adjoint: whether the conjugate transpose of that triangle is meant.

    Returns:
      A tensor of shape [..., n, k] and this dtype. Where a diagonal holds 0 it is not finite.

    Raises:
      ShapeError: if the matrices are not square, or `rhs` does not fit.

    >>> tf.linalg.triangular_solve([[2.0, 9.0], [2.0, 4.0]], [[2.0], [4.0]]).numpy()
    array([[1. ],
           [0.5]], dtype=float32)
    """
    matrix, rhs = operands(matrix, rhs)
    if adjoint:
        matrix, lower = products.adjoint(matrix), not lower
    return triangular_solve_op(matrix, rhs, lower=bool(lower), name=name)


# --- Cholesky ----------------------------------------------------------------------------------


def _cholesky_kernel(xp: ArrayNamespace, x: Array) -> Array:
    """NaN in the lower triangle of the factors that do not exist, as in TensorFlow."""
    _refuse_others(x)
    wide = xp.widen(x)
    with one_thread(x.shape[-1]):
        try:
            out = xp.linalg.cholesky(wide)
        except xp.linalg.LinAlgError:
            out = xp.full(wide.shape, xp.nan, wide.dtype)
            for at in xp.ndindex(x.shape[:-2]):  # NumPy does not say which one it was
                with contextlib.suppress(xp.linalg.LinAlgError):
                    out[at] = xp.linalg.cholesky(wide[at])
    # LAPACK overlooks some, of complex numbers that are not finite.
    diagonals = xp.linalg.diagonal(out)
    if xp.isnan(xp.add.reduce(diagonals, axis=None)):
        missing = xp.isnan(diagonals).any(-1)
        out[missing] = xp.tril(xp.full(x.shape[-2:], xp.nan, wide.dtype))
    return out.astype(x.dtype, copy=False)


def _cholesky_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    factor = ctx.outputs[0]
    inner = products.matmul(factor, diagonals.band_part(g, -1, 0), adjoint_a=True)
    inner = diagonals.set_diag(inner, diagonals.diag_part(inner) / 2)
    inner = diagonals.band_part(inner, -1, 0)
    left = triangular_solve(factor, inner, adjoint=True)
    right = products.adjoint(triangular_solve(factor, products.adjoint(left), adjoint=True))
    return ((right + products.adjoint(right)) / 2,)


cholesky_op = define_op(
    "Cholesky",
    args("input", INEXACT),
    infer=lambda x: x.with_dims(square_dims("cholesky", x)),
    kernel=_cholesky_kernel,
    native=NO_NATIVE,
    xla=Lowered("cholesky"),
    vjp=_cholesky_vjp,
    trusts_kernel=True,
    fresh=True,
    batch=batching.inexact(batching.leading),
)


@takes_operators
def cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    """The lower triangular L with L @ adjoint(L) = input, of which the lower triangle counts.

    A matrix that is not positive definite has no such factor: its L is NaN below and on the
    diagonal. Other matrices of the batch are not affected.

    Args:
      input: symmetric or Hermitian positive definite matrices [..., n, n], floating or complex.

    Returns:
      A tensor of the shape and dtype of `input`, with zeros above the diagonals.

    Raises:
      ShapeError: if the matrices are not square.

    >>> tf.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).numpy()
    array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    return cholesky_op(convert_to_tensor(input), name=name)


def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """x with chol @ adjoint(chol) @ x = rhs, for a Cholesky factor.

    Args:
      chol: lower triangular factors [..., n, n], as `tf.linalg.cholesky` gives them.
      rhs: the right sides [..., n, k], of the same dtype; the batches are broadcast together.

    Returns:
      A tensor of shape [..., n, k] and this dtype.

    Raises:
      ShapeError: if the factors are not square, or `rhs` does not fit.

    >>> tf.linalg.cholesky_solve([[2.0, 0.0], [1.0, 2.0]], [[8.0], [8.0]]).numpy()
    array([[1.5],
           [1. ]], dtype=float32)
    """
    chol, rhs = operands(chol, rhs)
    return triangular_solve(chol, triangular_solve(chol, rhs), adjoint=True, name=name)


@takes_operators
def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of positive definite matrices, of others NaN.

    Args:
      matrix: symmetric or Hermitian matrices [..., n, n], floating or complex.

    Returns:
      A tensor of real numbers without the last two axes.

    Raises:
      ShapeError: if the matrices are not square.

    >>> tf.linalg.logdet([[4.0, 0.0], [0.0, 0.25]]).numpy()
    np.float32(0.0)
    """
    factor = cholesky_op(convert_to_tensor(matrix))
    pivots = complex_parts.real(diagonals.diag_part(factor))
    return sums.sum_op(arithmetic.log_op(unary.square_op(pivots)), axis=(-1,), keepdims=False)
