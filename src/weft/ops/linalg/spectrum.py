"""Singular values."""

from __future__ import annotations

from typing import Any

from weft.core.dtypes import INEXACT
from weft.core.shapes import Dim
from weft.core.specs import TensorSpec
from weft.core.tensor import Array, Tensor
from weft.errors import UnsupportedError
from weft.ops import rules
from weft.ops.array import shape as shapes
from weft.ops.linalg import products
from weft.ops.math import casting
from weft.ops.reduce import extrema
from weft.ops.registry import NO_NATIVE, args, define_op


def _svd_infer(x: TensorSpec) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    rules.check_rank_at_least("svd", x, 2, name="tensor")
    real = x.with_dtype(x.dtype.real_dtype)
    if x.dims is None:
        return real, x, x
    *lead, m, n = x.dims
    k = min(m, n) if isinstance(m, int) and isinstance(n, int) else Dim()
    return real.with_dims((*lead, k)), x.with_dims((*lead, m, k)), x.with_dims((*lead, n, k))


def _svd_kernel(xp: Any, x: Array) -> tuple[Array, Array, Array]:
    u, s, vh = xp.linalg.svd(xp.widen(x), full_matrices=False)
    v = xp.conjugate(xp.swapaxes(vh, -1, -2))
    return s.astype(xp.real(x).dtype), u.astype(x.dtype), v.astype(x.dtype)


def _svd_vjp(ctx: Any, gs: Tensor | None, gu: Tensor | None, gv: Tensor | None) -> tuple[Tensor]:
    if gs is None or gu is not None or gv is not None:
        raise UnsupportedError(
            "svd: only the singular values are differentiable, not the singular vectors."
        )
    _, u, v = ctx.outputs
    scaled = u * shapes.expand_dims_op(casting.cast(gs, u.dtype), axis=-2)
    return (products.matmul(scaled, v, adjoint_b=True),)


svd_op = define_op(
    "Svd",
    args("input", INEXACT),
    infer=_svd_infer,
    kernel=_svd_kernel,
    native=NO_NATIVE,
    vjp=_svd_vjp,
    outputs=3,
    fresh=True,
)


def spectral_norm(x: Tensor, axes: Any, keepdims: bool) -> Tensor:
    """The largest singular value of the matrices along two axes."""
    rank = x.spec.rank
    if rank is None:
        raise UnsupportedError("norm: ord=2 of matrices needs a tensor of known rank.")
    rows, columns = rules.normalize_axes("norm", axes, rank)
    rest = [i for i in range(rank) if i not in (rows, columns)]
    values = svd_op(shapes.transpose_op(x, perm=(*rest, rows, columns)))[0]
    out = extrema.reduce_max(values, axis=-1)
    if keepdims:
        for axis in sorted((rows, columns)):
            out = shapes.expand_dims_op(out, axis=axis)
    return out
