"""Triangular matrices of a few diagonals, and eigenvalues of symmetric ones with three."""

from __future__ import annotations

from typing import Any

from weft._src import nest
from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import (
    INEXACT,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
)
from weft._src.core.shapes import Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import DTypeError, InvalidArgumentError, ShapeError, UnsupportedError
from weft._src.ops import batching, composed_graph_forms, rules, static
from weft._src.ops.arrays import fill, joining, ranges, shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting, comparison, complex_parts, guarded
from weft._src.ops.elementwise.operands import conj, operands, sum_to
from weft._src.ops.indexing import masks
from weft._src.ops.linalg import diagonals, products, tridiagonal
from weft._src.ops.reduce import sums
from weft._src.ops.registry import NO_NATIVE, NO_XLA, Op, args, define_op

# --- banded triangular matrices ------------------------------------------------------------------


def _solve_infer(bands: TensorSpec, rhs: TensorSpec, *, lower: bool, adjoint: bool) -> TensorSpec:
    op = "banded_triangular_solve"
    rules.check_rank_at_least(op, bands, 2, name="bands")
    rules.check_rank_at_least(op, rhs, 2, name="rhs")
    if bands.dims is None or rhs.dims is None:
        return rhs.with_dims(None)
    if bands.dims[-2] == 0:
        raise ShapeError(f"{op}: bands must have at least one diagonal, got shape {bands.shape}.")
    size = rules.unify(op, bands.dims[-1], rhs.dims[-2], "the columns of bands and the rows of rhs")
    count = bands.dims[-2]
    if isinstance(count, int) and isinstance(size, int) and count > size:
        raise ShapeError(
            f"{op}: bands must not have more diagonals ({count}) than the matrix has rows ({size})."
        )
    lead = rules.broadcast_dims(op, bands.dims[:-2], rhs.dims[:-2])
    out: Dims = (*lead, size, rhs.dims[-1])  # type: ignore[misc]
    return rhs.with_dims(out)


def _solve_kernel(
    xp: ArrayNamespace, bands: Array, rhs: Array, *, lower: bool, adjoint: bool
) -> Array:
    wide, right = xp.widen(bands), xp.widen(rhs)
    lead = xp.broadcast_shapes(wide.shape[:-2], right.shape[:-2])
    wide = xp.broadcast_to(wide, (*lead, *wide.shape[-2:]))
    out = xp.array(xp.broadcast_to(right, (*lead, *right.shape[-2:])), order="C")
    main = wide[..., 0 if lower else -1, :]
    if out.size and (main == 0).any():
        raise InvalidArgumentError(
            None, None, "banded_triangular_solve: a matrix is singular, so there is no solution."
        )
    (solve,) = xp.scipy_linalg.get_lapack_funcs(("tbtrs",), (wide, right))
    stored = xp.zeros(wide.shape, wide.dtype)
    if lower:  # LAPACK has an element in the column it stands in, here it is in that of its row
        for k in range(wide.shape[-2]):
            stored[..., k, : wide.shape[-1] - k] = wide[..., k, k:]
    else:
        last = wide.shape[-2] - 1
        for k in range(last + 1):
            above = last - k
            stored[..., k, above:] = wide[..., k, : wide.shape[-1] - above]
    for at in xp.ndindex(lead) if out.size else ():
        out[at], _ = solve(
            stored[at], out[at], uplo="L" if lower else "U", trans="C" if adjoint else "N"
        )
    return out.astype(rhs.dtype, copy=False)


def _diagonal(left: Tensor, right: Tensor, offset: int) -> Tensor:
    """A diagonal of left @ right^H, each element at the place of its row; zeros fill it up."""
    if offset < 0:
        right = tridiagonal.shift(right[..., :offset, :], -offset, 0, -2)
        left = tridiagonal.shift(left[..., -offset:, :], -offset, 0, -2)
    elif offset > 0:
        right = tridiagonal.shift(right[..., offset:, :], 0, offset, -2)
        left = tridiagonal.shift(left[..., :-offset, :], 0, offset, -2)
    return sums.reduce_sum(left * conj(right), axis=-1)


def _solve_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, Tensor]:
    bands, rhs = ctx.inputs
    lower, adjoint = ctx.attrs["lower"], ctx.attrs["adjoint"]
    g_rhs = banded_op(bands, g, lower=lower, adjoint=not adjoint)
    g_bands = None
    if ctx.wants(0):
        count = None if bands.shape.rank is None else bands.shape[-2]
        if count is None:
            raise UnsupportedError(
                "banded_triangular_solve: its gradient needs to know while tracing how many "
                "diagonals bands has."
            )
        x = ctx.outputs[0]
        # The gradient of the matrix is -g_rhs x^H, or -x g_rhs^H for the adjoint.
        left, right = (x, g_rhs) if adjoint else (g_rhs, x)
        offsets = [-k if lower else count - 1 - k for k in range(count)]
        rows = [_diagonal(left, right, offset) for offset in offsets]
        g_bands = sum_to(-joining.stack(rows, -2), bands)
    return g_bands, sum_to(g_rhs, rhs)


banded_op: Op = define_op(
    "BandedTriangularSolve",
    args("matrix rhs", INEXACT),
    infer=_solve_infer,
    kernel=_solve_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=_solve_vjp,
    fresh=True,
    batch=batching.inexact(batching.systems),
)


def banded_triangular_solve(
    bands: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """x with matrix @ x = rhs, for a triangular matrix of which only a few diagonals are not 0.

    Args:
      bands: the diagonals, [..., k, n], from the upper right to the lower left; each element is
        at the place of its row, and what does not fit into the matrix does not count.
      rhs: the right sides, [..., n, m], of the same dtype.
      lower: whether the diagonals are the main one and those below it; else those above and it.
      adjoint: whether the conjugate transpose of the matrix is meant.

    Returns:
      A tensor [..., n, m] of this dtype.

    Raises:
      InvalidArgumentError: if a matrix is singular.
      ShapeError: if the shapes do not fit.

    >>> bands = [[2.0, 2.0, 2.0], [0.0, 1.0, 1.0]]
    >>> tf.linalg.banded_triangular_solve(bands, [[2.0], [3.0], [3.0]]).numpy().ravel()
    array([1., 1., 1.], dtype=float32)
    """
    matrix, right = operands(bands, rhs)
    return banded_op(matrix, right, lower=bool(lower), adjoint=bool(adjoint), name=name)


# --- symmetric matrices of three diagonals -------------------------------------------------------

_REAL = {float32: float32, float64: float64, complex64: float32, complex128: float64}


def _eigh_infer(
    alpha: TensorSpec, beta: TensorSpec, *, compute_v: bool
) -> tuple[TensorSpec, TensorSpec]:
    op = "eigh_tridiagonal"
    rules.check_rank_at_least(op, alpha, 1, name="alpha")
    rules.check_rank_at_least(op, beta, 1, name="beta")
    real = _REAL[alpha.dtype]
    if alpha.dims is None:
        return TensorSpec.of(real, None), alpha.with_dims(None if compute_v else (0,))
    size = alpha.dims[-1]
    if beta.dims is not None:
        below = beta.dims[-1]
        if isinstance(size, int) and isinstance(below, int) and below != max(size - 1, 0):
            raise ShapeError(
                f"{op}: beta must have one element less than alpha, got shapes {beta.shape} and "
                f"{alpha.shape}."
            )
        rules.merge_dims(op, alpha.dims[:-1], beta.dims[:-1], "the batches of alpha and beta")
    vectors: Any = (*alpha.dims, size) if compute_v else (0,)
    return TensorSpec.of(real, alpha.dims), alpha.with_dims(vectors)


def _eigh_kernel(
    xp: ArrayNamespace, alpha: Array, beta: Array, *, compute_v: bool
) -> tuple[Array, Array]:
    op = "eigh_tridiagonal"
    if not (xp.isfinite(alpha).all() and xp.isfinite(beta).all()):
        raise InvalidArgumentError(
            None, None, f"{op}: alpha or beta holds NaN or infinity, so there are no eigenvalues."
        )
    real = alpha.real.dtype
    values = xp.empty(alpha.shape, real)
    size = alpha.shape[-1]
    vectors = xp.empty((*alpha.shape, size) if compute_v else (0,), alpha.dtype)
    for at in xp.ndindex(alpha.shape[:-1]):
        main, below = alpha[at].real, xp.abs(beta[at])
        if size < 2:
            values[at] = main
            if compute_v:
                vectors[at] = 1
            continue
        if not compute_v:
            values[at] = xp.scipy_linalg.eigvalsh_tridiagonal(main, below)
            continue
        # A matrix of complex numbers is a real one between two diagonal ones with its phases.
        signs = xp.where(below == 0, 1, beta[at] / xp.where(below == 0, 1, below))
        phases = xp.cumprod(xp.concatenate([xp.ones(1, signs.dtype), signs]))
        values[at], found = xp.scipy_linalg.eigh_tridiagonal(main, below)
        vectors[at] = phases[:, None] * found
    return values, vectors


def _eigh_vjp(ctx: VjpContext, ge: Tensor | None, gv: Tensor | None) -> tuple[Tensor | None, ...]:
    alpha, beta = ctx.inputs
    values, vectors = ctx.outputs
    if not ctx.attrs["compute_v"]:
        if ge is None:
            return None, None
        values, vectors = eigh_op(alpha, beta, compute_v=True)
    middle = None
    if ge is not None:
        middle = diagonals.diag(casting.cast(ge, alpha.dtype))
    if gv is not None and ctx.attrs["compute_v"]:
        gaps = values[..., None, :] - values[..., :, None]
        inverse = guarded.divide_no_nan(fill.ones_like(gaps), gaps)
        part = casting.cast(inverse, alpha.dtype) * products.matmul(vectors, gv, adjoint_a=True)
        middle = part if middle is None else middle + part
    assert middle is not None  # a rule is asked if some gradient is there
    left = products.matmul(vectors, middle)
    other = conj(vectors)
    g_alpha = sums.reduce_sum(left * other, axis=-1)
    if alpha.dtype.is_complex:
        g_alpha = casting.cast(complex_parts.real(g_alpha), alpha.dtype)
    below = sums.reduce_sum(left[..., 1:, :] * other[..., :-1, :], axis=-1)
    above = sums.reduce_sum(left[..., :-1, :] * other[..., 1:, :], axis=-1)
    return g_alpha, below + conj(above)


eigh_op: Op = define_op(
    "EighTridiagonal",
    args("alpha beta", frozenset(_REAL)),
    infer=_eigh_infer,
    kernel=_eigh_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=_eigh_vjp,
    outputs=2,
    fresh=True,
    graphdef=composed_graph_forms.tridiagonal_eigen,
    batch=batching.eigenvalues,
)


def eigh_tridiagonal(
    alpha: TensorLike,
    beta: TensorLike,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Any = None,
    tol: TensorLike | None = None,
    name: str | None = None,
) -> Any:
    """Eigenvalues, and eigenvectors if asked for, of a Hermitian tridiagonal matrix.

    Args:
      alpha: the main diagonal, [n], of float32, float64, complex64 or complex128; of complex
        numbers only the real parts count. With select="a" there may be leading axes.
      beta: the diagonal below it, [n - 1], of the same dtype.
      eigvals_only: whether only eigenvalues are wanted.
      select: "a" for all of them, "i" for those with certain numbers, "v" for those in an interval.
      select_range: for "i" the first and the last number, both included; for "v" an interval, of
        which the upper end is included.
      tol: accepted for compatibility: results are as precise as the dtype.

    Returns:
      The eigenvalues, rising; or a pair of them and the eigenvectors, as columns.

    Raises:
      ShapeError: if the shapes do not fit.
      DTypeError: if dtypes differ, or are others than these.
      ValueError: if there is no such selection.
      InvalidArgumentError: if a number is not finite.

    >>> tf.linalg.eigh_tridiagonal([2.0, 2.0], [1.0]).numpy().round(4)
    array([1., 3.], dtype=float32)
    """
    op = "eigh_tridiagonal"
    main = convert_to_tensor(alpha)
    below = adopt(beta, main.dtype)
    if main.dtype in (float16, bfloat16) and below.dtype is main.dtype:
        wide, other = casting.cast(main, float32), casting.cast(below, float32)
        found = eigh_tridiagonal(wide, other, eigvals_only, select, select_range, tol, name)
        return nest.map_structure(lambda part: casting.cast(part, main.dtype), found)
    if main.dtype not in _REAL or below.dtype is not main.dtype:
        raise DTypeError(
            f"{op}: alpha and beta must have one floating or complex dtype, got {main.dtype.name} "
            f"and {below.dtype.name}."
        )
    if not isinstance(select, str) or select not in ("a", "i", "v"):
        raise ValueError(f"{op}: select must be 'a', 'i' or 'v', got {select!r}.")
    values, vectors = eigh_op(main, below, compute_v=not eigvals_only, name=name)
    if select != "a":
        rules.check_rank(op, main.spec, 1, name="alpha")
        if not isinstance(select_range, (list, tuple)) or len(select_range) != 2:
            raise ValueError(
                f"{op}: select_range must be a pair for select={select!r}, got {select_range!r}."
            )
        kept = _selected(op, select, select_range, values)
        values = masks.boolean_mask(values, kept)
        if not eigvals_only:
            vectors = masks.boolean_mask(vectors, kept, axis=1)
    return values if eigvals_only else (values, vectors)


def _selected(op: str, select: str, select_range: Any, values: Tensor) -> Tensor:
    if select == "v":
        low, high = (adopt(end, values.dtype) for end in select_range)
        return comparison.logical_and(values > low, values <= high)
    first, last = (static.static_int(op, end, "select_range") for end in select_range)
    if first < 0 or last < first:
        raise ValueError(f"{op}: select_range must be two numbers that rise, got {select_range!r}.")
    number = ranges.range(shapes.size(values))
    return comparison.logical_and(number >= first, number <= last)
