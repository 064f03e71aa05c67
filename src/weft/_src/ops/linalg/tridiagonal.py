"""Matrices with three diagonals: products and equations.

The diagonals come "compact" (rows: above, on and below the main one; the last element of the first
and the first of the last do not count), as a "sequence" of three, or as a whole "matrix".
"""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INEXACT
from weft._src.core.shapes import Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import InvalidArgumentError, ShapeError, UnsupportedError
from weft._src.ops import batching, rules
from weft._src.ops.arrays import joining, padding, shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import complex_parts
from weft._src.ops.elementwise.operands import conj, operands, sum_to
from weft._src.ops.linalg import diagonals as parts, products
from weft._src.ops.reduce import sums
from weft._src.ops.registry import NO_NATIVE, Op, args, define_op


def _diagonals(op: str, diagonals: Any, diagonals_format: str) -> tuple[Tensor, Tensor, Tensor]:
    """The diagonals above, on and below the main one, all of the same length."""
    if diagonals_format == "matrix":
        x = convert_to_tensor(diagonals)
        rules.check_rank_at_least(op, x.spec, 2, name="diagonals")
        if x.spec.dims is not None:
            rows, columns = x.spec.dims[-2:]
            rules.unify(op, rows, columns, "rows and columns of diagonals")
        x = parts.diag_part(x, k=(-1, 1), align="LEFT_RIGHT")
    elif diagonals_format == "compact":
        x = convert_to_tensor(diagonals)
        rules.check_rank_at_least(op, x.spec, 2, name="diagonals")
        if x.spec.dims is not None:
            rules.unify(op, x.spec.dims[-2], 3, "the number of diagonals and")
    elif diagonals_format == "sequence":
        return _from_sequence(op, diagonals)
    else:
        raise ValueError(
            f"{op}: diagonals_format must be 'compact', 'sequence' or 'matrix', got "
            f"{diagonals_format!r}."
        )
    above, main, below = joining.unstack(x, 3, axis=-2)
    return above, main, below


def _from_sequence(op: str, diagonals: Any) -> tuple[Tensor, Tensor, Tensor]:
    if not isinstance(diagonals, (list, tuple)) or len(diagonals) != 3:
        raise ValueError(f"{op}: diagonals must be a sequence of three tensors.")
    above, main, below = joining.matching_tensors(diagonals)
    for name, x in (("above", above), ("on", main), ("below", below)):
        rules.check_rank_at_least(op, x.spec, 1, name=f"the diagonal {name} the main one")
    size = main.spec.dims[-1] if main.spec.dims is not None else None

    def is_short(x: Tensor) -> bool:
        return x.spec.dims is not None and isinstance(size, int) and x.spec.dims[-1] == size - 1

    if is_short(above):
        above = shift(above, 0, 1)
    if is_short(below):
        below = shift(below, 1, 0)
    return above, main, below


def shift(x: Tensor, before: int, after: int, axis: int = -1) -> Tensor:
    """The tensor with zeros before and after it along an axis."""
    rank = x.spec.rank
    if rank is None:
        raise UnsupportedError("tridiagonal: tensors must have a known rank.")
    amounts = [[0, 0] for _ in range(rank)]
    amounts[axis] = [before, after]
    return padding.pad(x, amounts)


# --- product -----------------------------------------------------------------------------------


def tridiagonal_matmul(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    name: str | None = None,
) -> Tensor:
    """The product of a tridiagonal matrix and another one.

    Args:
      diagonals: the diagonals above, on and below the main one, as `diagonals_format` says.
      rhs: numbers of shape [..., n, k], of the same dtype.
      diagonals_format: "compact": a tensor [..., 3, n], of which the last element above and the
        first below do not count; "sequence": a list of three tensors [..., n], of which the outer
        ones may be [..., n - 1]; "matrix": a tensor [..., n, n].

    Returns:
      A tensor of shape [..., n, k] and this dtype.

    Raises:
      ShapeError: if the shapes do not fit.
      ValueError: if there is no such format.

    >>> diagonals = [[1.0, 1.0, 0.0], [2.0, 2.0, 2.0], [0.0, 3.0, 3.0]]
    >>> tf.linalg.tridiagonal_matmul(diagonals, [[1.0], [1.0], [1.0]]).numpy().ravel()
    array([3., 6., 5.], dtype=float32)
    """
    op = "tridiagonal_matmul"
    above, main, below = _diagonals(op, diagonals, diagonals_format)
    main, x = operands(main, rhs)
    rules.check_rank_at_least(op, x.spec, 2, name="rhs")
    if main.spec.dims is not None and x.spec.dims is not None:
        what = "the size of the matrix and the rows of rhs"
        rules.unify(op, main.spec.dims[-1], x.spec.dims[-2], what)

    def column(diagonal: Tensor) -> Tensor:
        return shapes.expand_dims_op(diagonal, axis=-1)

    after = shift(x[..., 1:, :], 0, 1, -2)
    before = shift(x[..., :-1, :], 1, 0, -2)
    return column(above) * after + column(main) * x + column(below) * before


# --- equations ---------------------------------------------------------------------------------


def _solve_infer(diagonals: TensorSpec, rhs: TensorSpec) -> TensorSpec:
    op = "tridiagonal_solve"
    rules.check_rank_at_least(op, rhs, 2, name="rhs")
    if diagonals.dims is None or rhs.dims is None:
        return rhs.with_dims(None)
    what = "the size of the matrix and the rows of rhs"
    size = rules.unify(op, diagonals.dims[-1], rhs.dims[-2], what)
    lead = rules.broadcast_dims(op, diagonals.dims[:-2], rhs.dims[:-2])
    out: Dims = (*lead, size, rhs.dims[-1])  # type: ignore[misc]
    return rhs.with_dims(out)


def _solve_kernel(xp: ArrayNamespace, diagonals: Array, rhs: Array) -> Array:
    bands, right = xp.widen(diagonals), xp.widen(rhs)
    lead = xp.broadcast_shapes(bands.shape[:-2], right.shape[:-2])
    bands = xp.broadcast_to(bands, (*lead, *bands.shape[-2:]))
    out = xp.array(xp.broadcast_to(right, (*lead, *right.shape[-2:])), order="C")
    (solve,) = xp.scipy_linalg.get_lapack_funcs(("gtsv",), (bands, right))
    for at in xp.ndindex(lead) if out.size else ():
        above, main, below = bands[at]
        if len(main) == 1:
            out[at] /= main[0]
            info = int(main[0] == 0)
        else:
            *_, out[at], info = solve(below[1:], main, above[:-1], out[at])
        if info:
            raise InvalidArgumentError(
                None, None, "tridiagonal_solve: a matrix is singular, so there is no solution."
            )
    return out.astype(rhs.dtype, copy=False)


def _solve_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, Tensor]:
    diagonals, rhs = ctx.inputs
    above, main, below = joining.unstack(conj(diagonals), 3, axis=-2)
    # The diagonal above the main one of the transpose is the one below it, moved up.
    turned = [shift(below[..., 1:], 0, 1), main, shift(above[..., :-1], 1, 0)]
    g_rhs = solve_op(joining.stack(turned, -2), g)
    g_diagonals = None
    if ctx.wants(0):
        x = conj(ctx.outputs[0])
        g_above = -sums.reduce_sum(g_rhs[..., :-1, :] * x[..., 1:, :], axis=-1)
        g_main = -sums.reduce_sum(g_rhs * x, axis=-1)
        g_below = -sums.reduce_sum(g_rhs[..., 1:, :] * x[..., :-1, :], axis=-1)
        together = [shift(g_above, 0, 1), g_main, shift(g_below, 1, 0)]
        g_diagonals = sum_to(joining.stack(together, -2), diagonals)
    return g_diagonals, sum_to(g_rhs, rhs)


solve_op: Op = define_op(
    "TridiagonalSolve",
    args("diagonals rhs", INEXACT),
    infer=_solve_infer,
    kernel=_solve_kernel,
    native=NO_NATIVE,
    xla=Lowered("tridiagonal_solve"),
    vjp=_solve_vjp,
    fresh=True,
    batch=batching.inexact(batching.systems),
)


def tridiagonal_solve(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """x with matrix @ x = rhs, for a tridiagonal matrix; rhs may be a vector for each matrix.

    Args:
      diagonals: the diagonals above, on and below the main one, as `diagonals_format` says.
      rhs: the right sides, [..., n, k] or [..., n], of the same dtype.
      diagonals_format: "compact", "sequence" or "matrix", as for `tf.linalg.tridiagonal_matmul`.
      transpose_rhs: whether `rhs` is [..., k, n]; it does not matter for vectors.
      conjugate_rhs: whether `rhs` is conjugated before.
      partial_pivoting: accepted for compatibility, ignored: rows are always exchanged.
      perturb_singular: only False.

    Returns:
      A tensor of shape [..., n, k], or [..., n] for vectors, and this dtype.

    Raises:
      InvalidArgumentError: if a matrix is singular.
      ShapeError: if the shapes do not fit.
      ValueError: if there is no such format.
      UnsupportedError: if `perturb_singular` is True, or a rank is unknown while tracing.

    >>> diagonals = [[1.0, 1.0, 0.0], [2.0, 2.0, 2.0], [0.0, 3.0, 3.0]]
    >>> tf.linalg.tridiagonal_solve(diagonals, [3.0, 6.0, 5.0]).numpy().round(4)
    array([1., 1., 1.], dtype=float32)
    """
    op = "tridiagonal_solve"
    if perturb_singular:
        raise UnsupportedError(
            f"{op}: perturb_singular=True is not available; add a small number to the diagonal."
        )
    above, main, below = _diagonals(op, diagonals, diagonals_format)
    main, x = operands(main, rhs)
    bands = joining.stack([above, main, below], -2)
    rank, have = bands.spec.rank, x.spec.rank
    if rank is None or have is None:
        raise UnsupportedError(f"{op}: diagonals and rhs must have a known rank.")
    is_vector = have == rank - 1
    if is_vector:
        x = shapes.expand_dims_op(x, axis=-1)
    elif have < rank:
        raise ShapeError(
            f"{op}: rhs must be a vector or a matrix for each matrix, got shape {x.shape}."
        )
    if transpose_rhs and not is_vector:
        x = products.matrix_transpose(x)
    if conjugate_rhs:
        x = complex_parts.conj(x)
    out = solve_op(bands, x, name=name)
    return shapes.squeeze_op(out, axis=(-1,)) if is_vector else out
