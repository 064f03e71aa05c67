"""The logarithm of the gamma function, as arithmetic that vectorises.

Lanczos' form, in double for float32: with t = z + G - 1/2 it is (z - 1/2) (log t - 1) - G plus the
logarithm of a rational function of z, here for z >= 1/2. The rest of the line is a reflection away.
"""

from __future__ import annotations

import math

from weft._src.execution.native.loops.elementary import float64
from weft._src.execution.native.loops.elementary.polynomials import absolute, if_nan, polynomial
from weft._src.execution.native.machine.builder import Builder, Scalar

_G = 9.6875
# Fitted to the gamma function at Chebyshev points of 1 / z, to 4e-17; the denominator is
# z (z + 1) ... (z + 8).
_NUMERATOR = (
    1194537400.7204525, 1167325100.6562145, 506997032.8718596, 128451692.05330364,
    20921495.427479677, 2271738.573869997, 164451.0683827523, 7653.03115616704,
    207.75476937399014, 2.5066282746310002,
)  # fmt: skip
_DENOMINATOR = (0.0, 40320.0, 109584.0, 118124.0, 67284.0, 22449.0, 4536.0, 546.0, 36.0, 1.0)
_LARGE = 1e15  # from where on the rational function is what it is at infinity
_SIN_PI = tuple((-1) ** k * math.pi ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(11))


def of_double(b: Builder, wide: Scalar) -> Scalar:
    """log |gamma(x)| of a double that was a float32, to about 1e-14 of its size."""
    one, half = b.like(wide, 1.0), b.like(wide, 0.5)
    is_reflected = b.compare("olt", wide, half)
    z = b.select(is_reflected, b.sub(one, wide), wide)
    bounded = b.select(b.compare("olt", z, b.like(z, _LARGE)), z, b.like(z, _LARGE))
    above, below = polynomial(b, bounded, _NUMERATOR), polynomial(b, bounded, _DENOMINATOR)
    # gamma(x) gamma(1 - x) is pi / sin(pi x), and what comes to that from z stands below.
    pi_below = b.mul(b.like(z, math.pi), below)
    factor = b.div(
        b.select(is_reflected, pi_below, above),
        b.select(is_reflected, b.mul(_sine_of_pi_times(b, wide), above), below),
    )
    log_t = float64.log(b, b.add(z, b.like(z, _G - 0.5)))
    bulk = b.fma(b.sub(z, half), b.sub(log_t, one), b.like(z, -_G))
    bulk = b.select(is_reflected, b.neg(bulk), bulk)
    return b.add(bulk, float64.log(b, factor))


def lgamma(b: Builder, x: Scalar) -> Scalar:
    """log |gamma(x)| of a float32, to half a unit in the last place."""
    wide = b.convert("fpext", x, "double")
    one = b.like(wide, 1.0)
    out = b.convert("fptrunc", of_double(b, wide), x.type)
    is_zero = b.binary("or", b.compare("oeq", wide, one), b.compare("oeq", wide, b.like(wide, 2.0)))
    out = b.select(is_zero, b.like(x, 0.0), out)
    infinity = b.like(x, math.inf)
    return if_nan(b, x, b.select(b.compare("oeq", absolute(b, x), infinity), infinity, out))


def _sine_of_pi_times(b: Builder, x: Scalar) -> Scalar:
    """|sin(pi x)|, exactly 0 for integers."""
    r = b.sub(x, b.intrinsic("rint", x))
    return absolute(b, b.mul(r, polynomial(b, b.mul(r, r), _SIN_PI)))
