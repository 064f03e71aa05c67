"""exp, log, sin and their kin as arithmetic that vectorises, for float32 and float64.

LLVM would call the C library once per element. These forms are accurate to a few units in the last
place everywhere, infinities, NaN and subnormal numbers included.
"""

from __future__ import annotations

from collections.abc import Callable

from weft._src.execution.native.loops.elementary import (
    arcs,
    beta,
    exponentials,
    float32,
    float64,
    gamma,
    special,
    zeta as zetas,
)
from weft._src.execution.native.loops.elementary.library import offered
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


exp = offered("exp", exponentials.exp)
exp_of_negative = exponentials.exp_of_negative  # written out wherever it is used
expm1 = offered("expm1", exponentials.expm1)
log = offered("log", _by_type(float32.log, float64.log))
tanh = offered("tanh", _by_type(float32.tanh, float64.tanh))
sin = offered("sin", _by_type(float32.sin, float64.sin), doubts=True)
cos = offered("cos", _by_type(float32.cos, float64.cos), doubts=True)
erf = offered("erf", _by_type(float32.erf, float64.erf))
erfc = _by_type(offered("erfc", special.erfc), by_c_library("erfc"))
lgamma = _by_type(offered("lgamma", gamma.lgamma), by_c_library("lgamma"))
asin, acos, atan, asinh, atanh, sinh, cosh = [
    _by_type(offered(name, getattr(arcs, name)), by_c_library(name))
    for name in ("asin", "acos", "atan", "asinh", "atanh", "sinh", "cosh")
]
_atan2 = offered("atan2", arcs.atan2, operands=2)


def atan2(b: Builder, y: Scalar, x: Scalar) -> Scalar:
    """The angle of a point."""
    if x.type == "double":
        return b.call("atan2", "double", y, x)
    return _atan2(b, y, x)


# Of float32 (and less); SciPy has them for float64.
SPECIAL: dict[str, Unary] = {
    name: offered(name, getattr(special, name))
    for name in (
        "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_k0", "bessel_k0e",
        "bessel_k1", "bessel_k1e", "erfinv", "ndtri", "expint", "dawsn",
    )
}  # fmt: skip
fresnel_sin = offered("fresnel_sin", special.fresnel_sin)
fresnel_cos = offered("fresnel_cos", special.fresnel_cos)
betainc = offered("betainc", beta.betainc, operands=3, doubts=True)
zeta = offered("zeta", zetas.zeta, operands=2, doubts=True)
polygamma = offered("polygamma", zetas.polygamma, operands=2, doubts=True)
_power = offered("power", float32.power, operands=2)


def power(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """x ** y of floats."""
    if x.type == "double":
        return b.call("pow", "double", x, y)
    return _power(b, x, y)


def _log1p(b: Builder, x: Scalar) -> Scalar:
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


log1p = offered("log1p", _log1p)


def _sigmoid(b: Builder, x: Scalar) -> Scalar:
    """1 / (1 + exp(-x)), without overflow and without losing small results."""
    shrunk = exp(b, b.neg(absolute(b, x)))
    one = b.like(x, 1.0)
    top = b.select(b.compare("olt", x, b.like(x, 0.0)), shrunk, one)
    return b.div(top, b.add(one, shrunk))


sigmoid = offered("sigmoid", _sigmoid)


def _softplus(b: Builder, x: Scalar) -> Scalar:
    """log(1 + exp(x))."""
    positive = b.select(b.compare("ogt", x, b.like(x, 0.0)), x, b.like(x, 0.0))
    out = b.add(positive, log1p(b, exp(b, b.neg(absolute(b, x)))))
    return if_nan(b, x, out)


softplus = offered("softplus", _softplus)
