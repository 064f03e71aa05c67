"""Elementwise ops whose kernels look at numbers: to check them, or to save time."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from weft._src.execution.xla import namespace as xp
from weft._src.execution.xla.lowering import Lowering, Value
from weft._src.execution.xla.rules import lowers
from weft._src.graph.ir import Node


def _is_integer(x: Value) -> bool:
    return np.dtype(x.dtype).kind in "iu"


def _divisor(lowering: Lowering, x: Value, y: Value) -> Any:
    """A divisor without zeros, which are an error for integers."""
    if not _is_integer(y):
        return y
    if x.size:
        any_of = np.any if isinstance(y, np.ndarray) else jnp.any
        lowering.check(any_of(y == 0))
    return jnp.where(y == 0, jnp.ones((), y.dtype), y)


@lowers("floor_divide")
def _floor_divide(lowering: Lowering, node: Node, x: Value, y: Value) -> Any:
    y = _divisor(lowering, x, y)
    return jnp.floor_divide(x, y) if _is_integer(y) else jnp.floor(jnp.divide(x, y))


@lowers("floor_mod")
def _floor_mod(lowering: Lowering, node: Node, x: Value, y: Value) -> Any:
    return jnp.mod(x, _divisor(lowering, x, y))


@lowers("truncate_div")
def _truncate_div(lowering: Lowering, node: Node, x: Value, y: Value) -> Any:
    y = _divisor(lowering, x, y)
    if not _is_integer(y):
        return jnp.trunc(jnp.divide(x, y))
    return jax.lax.div(*jnp.broadcast_arrays(x, y))


@lowers("truncate_mod")
def _truncate_mod(lowering: Lowering, node: Node, x: Value, y: Value) -> Any:
    return jax.lax.rem(*jnp.broadcast_arrays(x, _divisor(lowering, x, y)))


@lowers("pow")
def _pow(lowering: Lowering, node: Node, x: Value, y: Value) -> Any:
    if not _is_integer(x):
        return jnp.power(x, y)
    if np.dtype(y.dtype).kind == "i":
        any_of = np.any if isinstance(y, np.ndarray) else jnp.any
        lowering.check(any_of(y < 0))
    return jnp.power(x, jnp.maximum(y, 0))


@lowers("sigmoid")
def _sigmoid(lowering: Lowering, node: Node, x: Value) -> Any:
    if np.dtype(x.dtype).kind == "c":
        return 1 / (jnp.exp(-x) + 1)
    return (1 / (jnp.exp(-xp.widen(x)) + 1)).astype(x.dtype)


@lowers("complex")
def _complex(lowering: Lowering, node: Node, real: Value, imag: Value) -> Any:
    return jax.lax.complex(*jnp.broadcast_arrays(real, imag))


@lowers("add_n")
def _add_n(lowering: Lowering, node: Node, *inputs: Value) -> Any:
    total = xp.widen(jnp.asarray(inputs[0]))
    for x in inputs[1:]:
        total = total + xp.widen(jnp.asarray(x))
    return total.astype(inputs[0].dtype)


@lowers("lgamma")
def _lgamma(lowering: Lowering, node: Node, x: Value) -> Any:
    return jax.scipy.special.gammaln(xp.widen(jnp.asarray(x))).astype(x.dtype)


@lowers("digamma")
def _digamma(lowering: Lowering, node: Node, x: Value) -> Any:
    wide = xp.widen(jnp.asarray(x))
    poles = -jnp.copysign(jnp.inf, wide)
    return jnp.where(wide == 0, poles, jax.scipy.special.digamma(wide)).astype(x.dtype)


@lowers("expint")
def _expint(lowering: Lowering, node: Node, x: Value) -> Any:
    wide = xp.widen(jnp.asarray(x))
    out = jnp.where(wide == 0, -jnp.inf, jax.scipy.special.expi(wide))
    out = jnp.where(jnp.isposinf(wide), jnp.inf, jnp.where(jnp.isneginf(wide), -0.0, out))
    return out.astype(x.dtype)
