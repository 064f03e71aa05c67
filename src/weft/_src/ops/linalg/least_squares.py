"""Pseudo-inverses, ranks, least squares."""

from __future__ import annotations

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.blas import one_thread
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import FLOATING, INEXACT, float64, int32
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import DTypeError
from weft._src.ops import batching, composed_graph_forms, rules
from weft._src.ops.arrays import fill, joining, ranges, shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import arithmetic, casting, unary
from weft._src.ops.elementwise.operands import operands, sum_to
from weft._src.ops.linalg import products, spectrum
from weft._src.ops.reduce import extrema, sums
from weft._src.ops.registry import NO_NATIVE, NO_XLA, Op, args, define_op


def _epsilon(x: Tensor) -> float:
    narrow = x.dtype.real_dtype is not float64
    return float(np.finfo(np.float32 if narrow else np.float64).eps)


# --- pseudo-inverse ----------------------------------------------------------------------------


def _pinv_infer(x: TensorSpec, rcond: TensorSpec) -> TensorSpec:
    rules.check_rank_at_least("pinv", x, 2, name="a")
    if x.dims is None:
        return x
    *lead, m, n = x.dims
    both = rules.broadcast_dims("pinv", tuple(lead), rcond.dims)
    return x.with_dims(None if both is None else (*both, n, m))


def _pinv_kernel(xp: ArrayNamespace, x: Array, rcond: Array) -> Array:
    wide, finite = spectrum.finite_matrices(xp, xp.widen(x))
    with one_thread(wide.shape[-1]):
        u, s, vh = xp.linalg.svd(wide, full_matrices=False)
    largest = s.max(-1, keepdims=True, initial=0)
    kept = s > xp.asarray(rcond, s.dtype)[..., None] * largest
    inverse = xp.where(kept, 1 / xp.where(kept, s, 1), s.dtype.type(0))
    v = xp.conjugate(xp.swapaxes(vh, -1, -2))
    out = (v * inverse[..., None, :]) @ xp.conjugate(xp.swapaxes(u, -1, -2))
    out[~xp.broadcast_to(finite, out.shape[:-2])] = xp.nan
    return out.astype(x.dtype, copy=False)


def _pinv_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, None]:
    x, y = ctx.inputs[0], ctx.outputs[0]
    adjoint, g_adjoint = products.adjoint(y), products.adjoint(g)
    out = -products.matmul(products.matmul(adjoint, g), adjoint)
    # What the rows and columns that x does not span add.
    right = products.matmul(g_adjoint, products.matmul(y, adjoint))
    out = out + right - products.matmul(x, products.matmul(y, right))
    left = products.matmul(products.matmul(adjoint, y), g_adjoint)
    out = out + left - products.matmul(products.matmul(left, y), x)
    return sum_to(out, x), None  # rcond may have more axes in front


pinv_op: Op = define_op(
    "PseudoInverse",
    args("a", INEXACT) + args("rcond", FLOATING),
    infer=_pinv_infer,
    kernel=_pinv_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=_pinv_vjp,
    fresh=True,
    batch=batching.inexact(batching.leading),
    graphdef=composed_graph_forms.pseudo_inverse,
)


def _larger_side(x: Tensor) -> Tensor:
    shape = shapes.shape(x)
    return arithmetic.maximum(shape[-1], shape[-2])


def pinv(
    a: TensorLike,
    rcond: TensorLike | None = None,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """The Moore-Penrose inverse; singular values up to `rcond` times the largest count as 0.

    Args:
      a: floating or complex matrices [..., m, n].
      rcond: a number, or a tensor with one for each matrix; None means 10 times the larger side
        times the spacing of the numbers at 1.
      validate_args: accepted for compatibility, ignored.

    Returns:
      A tensor of shape [..., n, m] and the dtype of `a`.

    Raises:
      DTypeError: if `a` is neither floating nor complex.
      ShapeError: if the rank is below 2.

    >>> tf.linalg.pinv([[1.0, 1.0], [1.0, 1.0]]).numpy().round(4)
    array([[0.25, 0.25],
           [0.25, 0.25]], dtype=float32)
    """
    x = convert_to_tensor(a)
    if x.dtype not in INEXACT:
        raise DTypeError(f"pinv: a must be floating-point or complex, got dtype {x.dtype.name}.")
    rules.check_rank_at_least("pinv", x.spec, 2, name="a")
    real = x.dtype.real_dtype
    if rcond is None:
        limit = casting.cast(_larger_side(x), real) * (10 * _epsilon(x))
    else:
        limit = adopt(rcond, real)
    return pinv_op(x, limit, name=name)


def matrix_rank(
    a: TensorLike,
    tol: TensorLike | None = None,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """How many singular values are above `tol`.

    Args:
      a: matrices [..., m, n]; integers become float64.
      tol: a number, or a tensor with one for each matrix; None means the largest singular value
        times the larger side times the spacing of the numbers at 1.
      validate_args: accepted for compatibility, ignored.

    Returns:
      An int32 tensor without the last two axes.

    Raises:
      ShapeError: if the rank is below 2.

    >>> tf.linalg.matrix_rank([[1.0, 1.0], [1.0, 1.0]]).numpy()
    np.int32(1)
    """
    x = convert_to_tensor(a)
    rules.check_rank_at_least("matrix_rank", x.spec, 2, name="a")
    if x.dtype.is_integer:
        x = casting.cast(x, float64)
    values = spectrum.svd(x, compute_uv=False)
    if tol is None:
        largest = extrema.reduce_max(values, axis=-1, keepdims=True)
        limit = largest * casting.cast(_larger_side(x), values.dtype) * _epsilon(x)
    else:
        limit = shapes.expand_dims(adopt(tol, values.dtype), -1)
    return sums.reduce_sum(casting.cast(values > limit, int32), axis=-1, name=name)


# --- least squares -----------------------------------------------------------------------------


def lstsq(
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: TensorLike = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """x with the smallest |matrix @ x - rhs| ** 2 + l2_regularizer * |x| ** 2.

    Of several the shortest. Without `fast` the regularizer is ignored, as in TensorFlow; otherwise
    both do the same here.

    Args:
      matrix: floating or complex matrices [..., m, n].
      rhs: the right sides [..., m, k], of the same dtype.
      l2_regularizer: a number that is not negative.
      fast: whether the regularizer counts.

    Returns:
      A tensor of shape [..., n, k] and this dtype.

    Raises:
      ShapeError: if a rank is below 2, or the rows do not fit.
      ValueError: if the regularizer is a negative number.
      DTypeError: if the dtypes differ, or are neither floating nor complex.

    >>> points = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]
    >>> tf.linalg.lstsq(points, [[1.0], [3.0], [5.0]]).numpy().round(4)
    array([[1.],
           [2.]], dtype=float32)
    """
    a, b = operands(matrix, rhs)
    for what, x in (("matrix", a), ("rhs", b)):
        rules.check_rank_at_least("lstsq", x.spec, 2, name=what)
    if a.spec.dims is not None and b.spec.dims is not None:
        rules.unify("lstsq", a.spec.dims[-2], b.spec.dims[-2], "the rows of matrix and rhs")
    if not fast or (isinstance(l2_regularizer, (int, float)) and l2_regularizer == 0):
        return products.matmul(pinv(a), b, name=name)
    if isinstance(l2_regularizer, (int, float)) and l2_regularizer < 0:
        raise ValueError(f"lstsq: l2_regularizer must not be negative, got {l2_regularizer}.")
    # Rows that pull x to 0 do what the regularizer asks for.
    weight = casting.cast(unary.sqrt(adopt(l2_regularizer, a.dtype.real_dtype)), a.dtype)
    columns, wide = shapes.shape(a)[-1], shapes.shape(b)
    pull = ranges.eye(columns, dtype=a.dtype) * weight
    lead = shapes.shape(a)[:-2]
    pull = shapes.broadcast_to(pull, joining.concat([lead, [columns, columns]], 0))
    zeros = fill.zeros(joining.concat([wide[:-2], [columns, wide[-1]]], 0), b.dtype)
    taller = joining.concat([a, pull], -2)
    return products.matmul(pinv(taller), joining.concat([b, zeros], -2), name=name)
