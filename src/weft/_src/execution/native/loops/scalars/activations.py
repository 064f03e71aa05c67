"""Activations and their gradients."""

from __future__ import annotations

from typing import Any

from weft._src.core.dtypes import REAL, DType
from weft._src.execution.native.loops import elementary
from weft._src.execution.native.loops.scalars.arithmetic import maximum, minimum
from weft._src.execution.native.loops.scalars.comparisons import less
from weft._src.execution.native.loops.scalars.registry import COSTLY, rule
from weft._src.execution.native.machine.builder import Builder, Scalar


def _is_positive(b: Builder, t: DType, x: Scalar) -> Scalar:
    return less(b, t, b.like(x, 0), x)


@rule("relu", REAL)
def _relu(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return maximum(b, t, attrs, x, b.like(x, 0))


@rule("relu_grad", REAL)
def _relu_grad(b: Builder, t: DType, attrs: dict[str, Any], g: Scalar, y: Scalar) -> Scalar:
    return b.mul(g, b.select(_is_positive(b, t, y), b.like(g, 1), b.like(g, 0)))


@rule("relu6", REAL)
def _relu6(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return minimum(b, t, attrs, _relu(b, t, attrs, x), b.like(x, 6))


@rule("relu6_grad", REAL)
def _relu6_grad(b: Builder, t: DType, attrs: dict[str, Any], g: Scalar, y: Scalar) -> Scalar:
    inside = b.binary("and", _is_positive(b, t, y), less(b, t, y, b.like(y, 6)))
    return b.select(inside, g, b.like(g, 0))


@rule("leaky_relu")
def _leaky_relu(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return b.select(_is_positive(b, t, x), x, b.mul(x, _constant(b, t, x, attrs["alpha"])))


@rule("leaky_relu_grad")
def _leaky_relu_grad(b: Builder, t: DType, attrs: dict[str, Any], g: Scalar, x: Scalar) -> Scalar:
    return b.select(_is_positive(b, t, x), g, b.mul(g, _constant(b, t, g, attrs["alpha"])))


def _constant(b: Builder, t: DType, x: Scalar, value: float) -> Scalar:
    """A literal, rounded as a number of the dtype would be."""
    return b.like(x, float(t.numpy_dtype.type(value)))


@rule("elu", cost=COSTLY)
def _elu(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return b.select(b.compare("olt", x, b.like(x, 0.0)), elementary.expm1(b, x), x)


@rule("elu_grad")
def _elu_grad(b: Builder, t: DType, attrs: dict[str, Any], g: Scalar, y: Scalar) -> Scalar:
    sloped = b.mul(g, b.rounded(b.add(y, b.like(y, 1.0)), t))
    return b.select(b.compare("olt", y, b.like(y, 0.0)), sloped, g)


_SELU_SCALE = 1.0507009873554805
_SELU_SCALE_ALPHA = 1.7580993408473768


@rule("selu", cost=COSTLY)
def _selu(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    below = b.mul(_constant(b, t, x, _SELU_SCALE_ALPHA), b.rounded(elementary.expm1(b, x), t))
    above = b.mul(_constant(b, t, x, _SELU_SCALE), x)
    return b.select(b.compare("olt", x, b.like(x, 0.0)), below, above)


@rule("selu_grad")
def _selu_grad(b: Builder, t: DType, attrs: dict[str, Any], g: Scalar, y: Scalar) -> Scalar:
    below = b.mul(g, b.rounded(b.add(y, _constant(b, t, y, _SELU_SCALE_ALPHA)), t))
    above = b.mul(g, _constant(b, t, g, _SELU_SCALE))
    return b.select(b.compare("olt", y, b.like(y, 0.0)), below, above)


@rule("softsign")
def _softsign(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return b.div(x, b.rounded(b.add(b.intrinsic("fabs", x), b.like(x, 1.0)), t))
