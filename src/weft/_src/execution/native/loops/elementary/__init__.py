"""exp, log, sin and their kin as arithmetic that vectorises, for float32 and float64.

LLVM would call the C library once per element. These forms are accurate to a few units in the last
place everywhere, infinities, NaN and subnormal numbers included.
"""

from __future__ import annotations

from collections.abc import Callable

from weft._src.execution.native.loops.elementary import float32, float64, gamma
from weft._src.execution.native.loops.elementary.exponentials import exp as exp, expm1 as expm1
from weft._src.execution.native.loops.elementary.polynomials import absolute, if_nan
from weft._src.execution.native.machine.builder import Builder, Scalar

Unary = Callable[[Builder, Scalar], Scalar]


def _by_type(short: Unary, long: Unary) -> Unary:
    """A form for each of the two types."""

    def function(b: Builder, x: Scalar) -> Scalar:
        return (long if x.type == "double" else short)(b, x)

    return function


def by_c_library(name: str) -> Unary:
    """A function of the C library, in double for both float types."""

    def function(b: Builder, x: Scalar) -> Scalar:
        wide = b.convert("fpext", x, "double")
        return b.convert("fptrunc", b.call(name, "double", wide), x.type)

    return function


log = _by_type(float32.log, float64.log)
tanh = _by_type(float32.tanh, float64.tanh)
sin = _by_type(float32.sin, float64.sin)
cos = _by_type(float32.cos, float64.cos)
erf = _by_type(float32.erf, float64.erf)
lgamma = _by_type(gamma.lgamma, by_c_library("lgamma"))


def power(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """x ** y of floats."""
    if x.type == "double":
        return b.call("pow", "double", x, y)
    return float32.power(b, x, y)


def log1p(b: Builder, x: Scalar) -> Scalar:
    """log(1 + x), nothing lost for small x."""
    one = b.like(x, 1.0)
    u = b.add(x, one)
    # What rounding 1 + x lost, to first order.
    lost = b.div(b.sub(x, b.sub(u, one)), u)
    # ... which is no number where u is not finite and positive; there log(u) is all.
    usable = b.compare("olt", absolute(b, lost), one)
    out = b.add(log(b, u), b.select(usable, lost, b.like(x, 0.0)))
    tiny = b.compare("olt", absolute(b, x), b.like(x, 2.0 ** (-53 if x.type == "double" else -24)))
    return if_nan(b, x, b.select(tiny, x, out))


def sigmoid(b: Builder, x: Scalar) -> Scalar:
    """1 / (1 + exp(-x)), without overflow and without losing small results."""
    shrunk = exp(b, b.neg(absolute(b, x)))
    one = b.like(x, 1.0)
    top = b.select(b.compare("olt", x, b.like(x, 0.0)), shrunk, one)
    return b.div(top, b.add(one, shrunk))


def softplus(b: Builder, x: Scalar) -> Scalar:
    """log(1 + exp(x))."""
    positive = b.select(b.compare("ogt", x, b.like(x, 0.0)), x, b.like(x, 0.0))
    out = b.add(positive, log1p(b, exp(b, b.neg(absolute(b, x)))))
    return if_nan(b, x, out)
