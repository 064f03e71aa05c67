"""Matrices as products: QR and LU."""

from __future__ import annotations

from typing import NamedTuple

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, DTypeLike, TensorLike
from weft._src.core.blas import one_thread
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INDEX, INEXACT, DType, int32
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.errors import DTypeError, InvalidArgumentError, ShapeError, UnsupportedError
from weft._src.ops import batching, rules
from weft._src.ops.arrays import fill, joining, ranges, shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting, comparison, complex_parts
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering
from weft._src.ops.linalg import diagonals, products, solvers
from weft._src.ops.reduce import order
from weft._src.ops.registry import NO_NATIVE, args, define_op

Gradients = tuple[Tensor | None]

# --- QR ----------------------------------------------------------------------------------------


class Qr(NamedTuple):
    """A matrix with orthonormal columns, and an upper triangular one."""

    q: Tensor
    r: Tensor


def _qr_infer(x: TensorSpec, *, full_matrices: bool) -> tuple[TensorSpec, TensorSpec]:
    rules.check_rank_at_least("qr", x, 2, name="input")
    if x.dims is None:
        return x, x
    *lead, m, n = x.dims
    k = min(m, n) if isinstance(m, int) and isinstance(n, int) else Dim()
    k = m if full_matrices else k
    return x.with_dims((*lead, m, k)), x.with_dims((*lead, k, n))


def _qr_kernel(xp: ArrayNamespace, x: Array, *, full_matrices: bool) -> tuple[Array, Array]:
    with one_thread(x.shape[-1]):
        q, r = xp.linalg.qr(xp.widen(x), "complete" if full_matrices else "reduced")
    return q.astype(x.dtype, copy=False), r.astype(x.dtype, copy=False)


def _tall_gradient(q: Tensor, r: Tensor, gq: Tensor, gr: Tensor) -> Tensor:
    """The gradient where r is square: not more columns than rows."""
    inner = products.matmul(r, gr, adjoint_b=True) - products.matmul(gq, q, adjoint_a=True)
    lower = diagonals.band_part(inner, -1, 0)
    both = lower + products.adjoint(lower)
    diagonal = complex_parts.real(diagonals.diag_part(inner))
    both = diagonals.set_diag(both, casting.cast(diagonal, inner.dtype))
    total = gq + products.matmul(q, both)
    # total @ inverse(adjoint(r))
    solved = solvers.triangular_solve(r, products.adjoint(total), lower=False)
    return products.adjoint(solved)


def _qr_vjp(ctx: VjpContext, gq: Tensor | None, gr: Tensor | None) -> Gradients:
    x, (q, r) = ctx.inputs[0], ctx.outputs
    gq = fill.zeros_like(q) if gq is None else gq
    gr = fill.zeros_like(r) if gr is None else gr
    m, n = (Dim(), Dim()) if x.spec.dims is None else x.spec.dims[-2:]
    known = isinstance(m, int) and isinstance(n, int)
    if ctx.attrs["full_matrices"] and not (known and m <= n):  # type: ignore[operator]
        raise UnsupportedError(
            "qr: with full_matrices=True there is a gradient only for matrices that are known to "
            "have no more rows than columns; use full_matrices=False."
        )
    if known and m >= n:  # type: ignore[operator]
        return (_tall_gradient(q, r, gq, gr),)
    # The columns behind the square part only follow q.
    size = shapes.shape_op(q, out_type=int32)[-1]
    g_rest = gr[..., size:]
    gq = gq + products.matmul(x[..., size:], g_rest, adjoint_b=True)
    square = _tall_gradient(q, r[..., :size], gq, gr[..., :size])
    return (joining.concat([square, products.matmul(q, g_rest)], -1),)


qr_op = define_op(
    "Qr",
    args("input", INEXACT),
    infer=_qr_infer,
    kernel=_qr_kernel,
    native=NO_NATIVE,
    xla=KERNEL,
    vjp=_qr_vjp,
    outputs=2,
    fresh=True,
    batch=batching.inexact(batching.leading),
)


def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> Qr:
    """q with orthonormal columns and an upper triangular r, with input = q @ r.

    Args:
      input: floating or complex matrices [..., m, n].
      full_matrices: whether q is [..., m, m] and r [..., m, n]; if not, k = min(m, n) stands for
        the m that both share.

    Returns:
      A named tuple (q, r) of tensors of the dtype of `input`: [..., m, k] and [..., k, n].

    Raises:
      ShapeError: if the rank is below 2.
      DTypeError: if `input` has another dtype.

    >>> q, r = tf.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> np.round(r.numpy(), 4)
    array([[-5. , -2.2],
           [ 0. ,  0.4]], dtype=float32)
    """
    x = convert_to_tensor(input)
    return Qr(*qr_op(x, full_matrices=bool(full_matrices), name=name))


# --- LU ----------------------------------------------------------------------------------------


class Lu(NamedTuple):
    """Both triangles in one matrix, and which row of the input each row of their product is."""

    lu: Tensor
    p: Tensor


def _lu_infer(x: TensorSpec, *, output_idx_type: DType) -> tuple[TensorSpec, TensorSpec]:
    dims = solvers.square_dims("lu", x)
    rows = TensorSpec.of(output_idx_type, None if dims is None else dims[:-1])
    return x.with_dims(dims), rows


def _lu_kernel(xp: ArrayNamespace, x: Array, *, output_idx_type: DType) -> tuple[Array, Array]:
    wide = xp.array(xp.widen(x), order="C")
    rows = xp.empty(x.shape[:-1], output_idx_type.numpy_dtype)
    (factor,) = xp.scipy_linalg.get_lapack_funcs(("getrf",), (wide,))
    with one_thread(x.shape[-1]):
        for at in xp.ndindex(x.shape[:-2]) if x.size else ():
            wide[at], swaps, info = factor(wide[at])
            if info or xp.isnan(wide[at].diagonal()).any():
                raise InvalidArgumentError(None, None, "lu: a matrix in input is not invertible.")
            order_of = list(range(len(swaps)))
            for i, j in enumerate(swaps.tolist()):
                order_of[i], order_of[j] = order_of[j], order_of[i]
            rows[at] = order_of
    return wide.astype(x.dtype, copy=False), rows


def _lu_vjp(ctx: VjpContext, g: Tensor | None, _: Tensor | None) -> Gradients:
    if g is None:
        return (None,)
    packed, rows = ctx.outputs
    lower, upper = triangles(packed)
    g_lower = diagonals.band_part(g, -1, 0)
    g_lower = diagonals.set_diag(g_lower, fill.zeros_like(diagonals.diag_part(g)))
    g_upper = diagonals.band_part(g, 0, -1)
    left = diagonals.band_part(products.matmul(lower, g_lower, adjoint_a=True), -1, 0)
    left = diagonals.set_diag(left, fill.zeros_like(diagonals.diag_part(left)))
    right = diagonals.band_part(products.matmul(g_upper, upper, adjoint_b=True), 0, -1)
    solved = solvers.triangular_solve(lower, left + right, adjoint=True)
    # ... @ inverse(adjoint(upper))
    turned = solvers.triangular_solve(upper, products.adjoint(solved), lower=False)
    return (_rows_back(products.adjoint(turned), rows),)


def triangles(packed: Tensor) -> tuple[Tensor, Tensor]:
    """The lower (with ones in the diagonal) and the upper triangular factor."""
    ones = fill.ones_like(diagonals.diag_part(packed))
    lower = diagonals.set_diag(diagonals.band_part(packed, -1, 0), ones)
    return lower, diagonals.band_part(packed, 0, -1)


def _rows_back(x: Tensor, rows: Tensor) -> Tensor:
    """Rows put where they were before the permutation."""
    rank = rows.spec.rank
    if rank is None:
        raise UnsupportedError("lu: the gradient needs a known rank.")
    return gathering.gather(x, order.argsort(rows), batch_dims=rank - 1)


lu_op = define_op(
    "Lu",
    args("input", INEXACT),
    infer=_lu_infer,
    kernel=_lu_kernel,
    native=NO_NATIVE,
    xla=Lowered("lu"),
    vjp=_lu_vjp,
    outputs=2,
    fresh=True,
    batch=batching.inexact(batching.leading),
)


def lu(input: TensorLike, output_idx_type: DTypeLike = int32, name: str | None = None) -> Lu:
    """Triangular factors (both in one matrix) of square matrices whose rows are permuted.

    Args:
      input: floating or complex square matrices [..., n, n].
      output_idx_type: the dtype of p, int32 or int64.

    Returns:
      A named tuple (lu, p). The upper triangle of lu, [..., n, n], is one factor; the lower one,
      without the diagonal, which is 1, the other. Row i of their product is row p[i] of the input.

    Raises:
      InvalidArgumentError: if a matrix is not invertible.
      ShapeError: if the matrices are not square.
      DTypeError: if `input` or `output_idx_type` is of another dtype.

    >>> packed, p = tf.linalg.lu([[1.0, 2.0], [4.0, 4.0]])
    >>> packed.numpy(), p.numpy()
    (array([[4.  , 4.  ],
           [0.25, 1.  ]], dtype=float32), array([1, 0], dtype=int32))
    """
    dtype = dtypes.as_dtype(output_idx_type)
    if dtype not in INDEX:
        raise DTypeError(f"lu: output_idx_type must be int32 or int64, got {dtype.name}.")
    return Lu(*lu_op(convert_to_tensor(input), output_idx_type=dtype, name=name))


def _taken_apart(op: str, lower_upper: TensorLike, perm: TensorLike) -> tuple[Tensor, Tensor]:
    """What `lu` gave: matrices, and vectors of rows."""
    packed, rows = convert_to_tensor(lower_upper), convert_to_tensor(perm, dtype_hint=int32)
    solvers.square_dims(op, packed.spec)
    ranks = packed.spec.rank, rows.spec.rank
    if None not in ranks and ranks[0] != ranks[1] + 1:  # type: ignore[operator]
        raise ShapeError(
            f"{op}: lower_upper must have one axis more than perm, got shapes {packed.shape} and "
            f"{rows.shape}."
        )
    return packed, rows


def lu_reconstruct(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The matrices that `tf.linalg.lu` took apart.

    Args:
      lower_upper: both factors in one matrix, as `tf.linalg.lu` gives them.
      perm: the rows, as `tf.linalg.lu` gives them.
      validate_args: accepted for compatibility; it is always checked that `perm` is a permutation.

    Returns:
      A tensor of the shape and dtype of `lower_upper`.

    Raises:
      InvalidArgumentError: if `perm` is no permutation.
      ShapeError: if `lower_upper` does not have one axis more than `perm`.

    >>> tf.linalg.lu_reconstruct(*tf.linalg.lu([[1.0, 2.0], [4.0, 4.0]])).numpy()
    array([[1., 2.],
           [4., 4.]], dtype=float32)
    """
    packed, rows = _taken_apart("lu_reconstruct", lower_upper, perm)
    numbers = ranges.range(shapes.shape(rows)[-1], dtype=rows.dtype)
    text = "lu_reconstruct: perm must name each row once"
    both, names = [rows, numbers], ["perm", "rows"]
    require(lambda p, n: comparison.equal(order.sort(p), n), both, text, names)
    return _rows_back(products.matmul(*triangles(packed)), rows)


def lu_solve(
    lower_upper: TensorLike,
    perm: TensorLike,
    rhs: TensorLike,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """x with matrix @ x = rhs, for a matrix that `tf.linalg.lu` took apart.

    Args:
      lower_upper: both factors in one matrix, [..., n, n], as `tf.linalg.lu` gives them.
      perm: the rows, [..., n], as `tf.linalg.lu` gives them.
      rhs: the right sides, [..., n, k], of the dtype of `lower_upper`.
      validate_args: accepted for compatibility, ignored.

    Returns:
      A tensor of shape [..., n, k] and this dtype.

    Raises:
      ShapeError: if `rhs` has a rank below 2, or shapes do not fit.

    >>> tf.linalg.lu_solve(*tf.linalg.lu([[1.0, 2.0], [4.0, 4.0]]), [[3.0], [8.0]]).numpy()
    array([[1.],
           [1.]], dtype=float32)
    """
    packed, rows = _taken_apart("lu_solve", lower_upper, perm)
    right = convert_to_tensor(rhs, dtype=packed.dtype)
    rules.check_rank_at_least("lu_solve", right.spec, 2, name="rhs")
    lower, upper = triangles(packed)
    if rows.spec.rank is None:
        raise UnsupportedError("lu_solve: perm must have a known rank.")
    permuted = gathering.gather(right, rows, batch_dims=rows.spec.rank - 1)
    half = solvers.triangular_solve(lower, permuted)
    return solvers.triangular_solve(upper, half, lower=False, name=name)


def lu_matrix_inverse(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The inverse of matrices that `tf.linalg.lu` took apart.

    Args:
      lower_upper: both factors in one matrix, as `tf.linalg.lu` gives them.
      perm: the rows, as `tf.linalg.lu` gives them.
      validate_args: accepted for compatibility, ignored.

    Returns:
      A tensor of the shape and dtype of `lower_upper`.

    >>> tf.linalg.lu_matrix_inverse(*tf.linalg.lu([[2.0, 0.0], [0.0, 4.0]])).numpy()
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    packed, _ = _taken_apart("lu_matrix_inverse", lower_upper, perm)
    ones = fill.ones_like(diagonals.diag_part(packed))
    return lu_solve(packed, perm, diagonals.diag(ones), validate_args, name)
