"""Decompositions and equations. XLA answers NaN where LAPACK says that there is no answer."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from weft._src.execution.xla import namespace as xp
from weft._src.execution.xla.lowering import Lowering, Value
from weft._src.execution.xla.rules import lowers
from weft._src.graph.ir import Node


def _wide(x: Value) -> Any:
    return xp.widen(jnp.asarray(x))


def _check_finite(lowering: Lowering, *arrays: Value) -> None:
    """What is not finite may be an error; NumPy decides."""
    for x in arrays:
        if x.size:
            lowering.check(~jnp.all(jnp.isfinite(x)))


@lowers("inverse")
def _inverse(lowering: Lowering, node: Node, x: Value) -> Any:
    out = jnp.linalg.inv(_wide(x))
    _check_finite(lowering, out)
    return out.astype(x.dtype)


@lowers("solve")
def _solve(lowering: Lowering, node: Node, matrix: Value, rhs: Value) -> Any:
    out = jnp.linalg.solve(_wide(matrix), _wide(rhs))
    _check_finite(lowering, out)
    return out.astype(rhs.dtype)


@lowers("triangular_solve")
def _triangular_solve(lowering: Lowering, node: Node, matrix: Value, rhs: Value) -> Any:
    matrix, right = _wide(matrix), _wide(rhs)
    lead = np.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    return jax.lax.linalg.triangular_solve(
        jnp.broadcast_to(matrix, (*lead, *matrix.shape[-2:])),
        jnp.broadcast_to(right, (*lead, *right.shape[-2:])),
        left_side=True,
        lower=node.attrs["lower"],
    ).astype(rhs.dtype)


@lowers("cholesky")
def _cholesky(lowering: Lowering, node: Node, x: Value) -> Any:
    # Of the lower triangle alone, as LAPACK does it.
    out = jnp.tril(jax.lax.linalg.cholesky(_wide(x), symmetrize_input=False))
    diagonal = jnp.diagonal(out, 0, -2, -1)
    missing = jnp.any(jnp.isnan(diagonal), -1)[..., None, None]
    nothing = np.tril(np.full(x.shape[-2:], np.nan))
    return jnp.where(missing, jnp.asarray(nothing, out.dtype), out).astype(x.dtype)


@lowers("eigh")
def _eigh(lowering: Lowering, node: Node, x: Value) -> tuple[Any, Any]:
    wide = _wide(x)
    _check_finite(lowering, wide)
    if not node.attrs["compute_v"]:
        values = jnp.linalg.eigvalsh(wide, symmetrize_input=False)
        return values.astype(x.dtype), jnp.zeros((0,), x.dtype)
    values, vectors = jnp.linalg.eigh(wide, symmetrize_input=False)
    return values.astype(x.dtype), vectors.astype(x.dtype)


@lowers("svd")
def _svd(lowering: Lowering, node: Node, x: Value) -> tuple[Any, Any, Any]:
    wide = _wide(x)
    _check_finite(lowering, wide)
    real = jnp.real(jnp.asarray(x)).dtype
    if not node.attrs["compute_uv"]:
        values = jnp.linalg.svd(wide, compute_uv=False)
        none = jnp.zeros((0,), x.dtype)
        return values.astype(real), none, none
    u, s, vh = jnp.linalg.svd(wide, full_matrices=node.attrs["full_matrices"])
    v = jnp.conjugate(jnp.swapaxes(vh, -1, -2))
    return s.astype(real), u.astype(x.dtype), v.astype(x.dtype)


@lowers("lu")
def _lu(lowering: Lowering, node: Node, x: Value) -> tuple[Any, Any]:
    factors, _, order = jax.lax.linalg.lu(_wide(x))
    diagonal = jnp.diagonal(factors, 0, -2, -1)
    if diagonal.size:
        lowering.check(jnp.any(diagonal == 0) | ~jnp.all(jnp.isfinite(diagonal)))
    index = node.attrs["output_idx_type"].numpy_dtype
    return factors.astype(x.dtype), order.astype(index)


@lowers("expm")
def _expm(lowering: Lowering, node: Node, x: Value) -> Any:
    return jax.scipy.linalg.expm(_wide(x)).astype(x.dtype)


@lowers("tridiagonal_solve")
def _tridiagonal_solve(lowering: Lowering, node: Node, bands: Value, rhs: Value) -> Any:
    """As a whole matrix: what XLA has for three diagonals does not exchange rows."""
    bands, right = _wide(bands), _wide(rhs)
    lead = np.broadcast_shapes(bands.shape[:-2], right.shape[:-2])
    above, main, below = [bands[..., i, :] for i in range(3)]
    n = main.shape[-1]
    i = np.arange(n)
    matrix = jnp.zeros((*bands.shape[:-2], n, n), bands.dtype).at[..., i, i].set(main)
    matrix = matrix.at[..., i[:-1], i[1:]].set(above[..., :-1])
    matrix = matrix.at[..., i[1:], i[:-1]].set(below[..., 1:])
    out = jnp.linalg.solve(
        jnp.broadcast_to(matrix, (*lead, n, n)), jnp.broadcast_to(right, (*lead, *right.shape[-2:]))
    )
    _check_finite(lowering, out)
    return out.astype(rhs.dtype)
