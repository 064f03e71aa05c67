"""log, tanh, erf, sin and cos for float64, as arithmetic that vectorises.

The same range reductions as for float32 (`float32`); on the reduced ranges the series are short
enough to be taken as they are; those of the error function are fits. At most a few units in the
last place everywhere.
"""

from __future__ import annotations

import math

from weft._src.execution.native.loops.elementary import exponentials
from weft._src.execution.native.loops.elementary.polynomials import (
    absolute,
    clamped,
    if_nan,
    log_edges,
    polynomial,
    with_sign_of,
)
from weft._src.execution.native.machine.builder import Builder, Scalar

_ARTANH = tuple(2 / (2 * k + 1) for k in range(1, 12))
_SIN = tuple((-1) ** (k + 1) / math.factorial(2 * k + 3) for k in range(8))
_COS = tuple((-1) ** (k + 1) / math.factorial(2 * k + 2) for k in range(9))
_ERF_SMALL = (
    1.1283791670955126, -0.37612638903183543, 0.11283791670945006, -0.02686617064323777,
    0.0052239776071164225, -0.0008548325975389692, 0.00012055294904839707, -1.492473690741966e-05,
    1.6447424703317362e-06, -1.6208483801871705e-07, 1.3720064546777686e-08,
    -7.795898827002142e-10,
)  # fmt: skip
# exp(x**2) erfc(x) for x from 1 to 6, in (x - 4) / (x + 4).
_ERFC_LARGE = (
    0.13699945762506138, -0.2590680487601718, 0.21871967891826713, -0.16425781669724077,
    0.10896317739865745, -0.0631078156473828, 0.03129905651583277, -0.012843945687071453,
    0.004060264660151152, -0.0007991322076390439, -2.179568166418796e-05, 7.895694927713207e-05,
    -2.2294712208280907e-05, -9.380004337296444e-07, 4.460009108363892e-06, 7.423164251116965e-07,
)  # fmt: skip

# log 2 in two parts, of which the first has so few bits that multiples of it are exact.
_LOG2_HIGH, _LOG2_LOW = 0.6931471803691238, 1.9082149292705877e-10
# pi / 2 in three doubles.
_QUARTER = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
_FIRST_LARGE = 2.0**20  # angles from which three doubles are not enough


def tanh(b: Builder, x: Scalar) -> Scalar:
    """The hyperbolic tangent, t / (t + 2) with t = exp(2 |x|) - 1."""
    size = clamped(b, absolute(b, x), 0.0, 22.0)
    grown, n = exponentials.reduced(b, size, times=2.0)
    scale = exponentials.power_of_two(b, n)
    t = b.fma(grown, scale, b.sub(scale, b.like(x, 1.0)))
    out = b.div(t, b.add(t, b.like(x, 2.0)))
    return if_nan(b, x, with_sign_of(b, out, x))


def log(b: Builder, x: Scalar) -> Scalar:
    """The natural logarithm."""
    subnormal = b.compare("olt", x, b.like(x, 2.0**-1022))
    scaled = b.select(subnormal, b.mul(x, b.like(x, 2.0**54)), x)
    bits = b.convert("bitcast", scaled, "i64")
    offset = b.like(bits, 0x3FE6A09E667F3BCD)  # the mantissa in [sqrt(1/2), sqrt(2))
    moved = b.sub(bits, offset)
    exponent = b.binary("ashr", moved, b.like(bits, 52))
    mantissa = b.add(b.binary("and", moved, b.like(bits, (1 << 52) - 1)), offset)
    f = b.sub(b.convert("bitcast", mantissa, "double"), b.like(x, 1.0))
    # Through i32, which vectorises everywhere.
    e = b.convert("sitofp", b.convert("trunc", exponent, "i32"), "double")
    e = b.sub(e, b.select(subnormal, b.like(x, 54.0), b.like(x, 0.0)))
    s = b.div(f, b.add(f, b.like(x, 2.0)))
    z = b.mul(s, s)
    rest = b.mul(z, polynomial(b, z, _ARTANH))
    half = b.mul(b.mul(f, b.like(x, 0.5)), f)
    # f - f**2 / 2 is the bulk of log(1 + f); the rest is added to its small part.
    small = b.fma(s, b.add(half, rest), b.mul(e, b.like(x, _LOG2_LOW)))
    out = b.fma(e, b.like(x, _LOG2_HIGH), b.sub(f, b.sub(half, small)))
    return log_edges(b, x, x, out)


def erf(b: Builder, x: Scalar) -> Scalar:
    """The error function: a polynomial up to 1, and above what is missing to 1."""
    size, one, four = absolute(b, x), b.like(x, 1.0), b.like(x, 4.0)
    small = b.mul(x, polynomial(b, b.mul(x, x), _ERF_SMALL))
    bounded = clamped(b, size, 1.0, 6.0)
    t = b.div(b.sub(bounded, four), b.add(bounded, four))
    missing = b.mul(
        exponentials.exp(b, b.neg(b.mul(bounded, bounded))), polynomial(b, t, _ERFC_LARGE)
    )
    large = with_sign_of(b, b.sub(one, missing), x)
    return if_nan(b, x, b.select(b.compare("olt", size, one), small, large))


def _sine_of(b: Builder, x: Scalar, shift: int) -> Scalar:
    """sin(x + shift * pi / 2); large angles are left to the C library."""
    if b.exact:
        return b.call("cos" if shift else "sin", "double", x)
    b.doubts.append(b.compare("uge", absolute(b, x), b.like(x, _FIRST_LARGE)))
    n = b.intrinsic("rint", b.mul(x, b.like(x, 2 / math.pi)))
    r = x
    for part in _QUARTER:
        r = b.intrinsic("fma", n, b.like(x, -part), r)
    turns = b.add(b.convert("fptosi", b.select(_is_small(b, n), n, b.like(n, 0.0)), "i32"),
                  b.number("i32", shift))  # fmt: skip
    square = b.mul(r, r)
    sine = b.fma(b.mul(square, r), polynomial(b, square, _SIN), r)
    cosine = b.fma(square, polynomial(b, square, _COS), b.like(r, 1.0))
    odd = b.compare("ne", b.binary("and", turns, b.like(turns, 1)), b.like(turns, 0))
    out = b.select(odd, cosine, sine)
    down = b.compare("ne", b.binary("and", turns, b.like(turns, 2)), b.like(turns, 0))
    out = b.select(down, b.neg(out), out)
    if shift:
        return out
    return b.select(b.compare("oeq", x, b.like(x, 0.0)), x, out)  # keeps the sign of zero


def _is_small(b: Builder, n: Scalar) -> Scalar:
    """Converting others to i32 would not be defined; they are in doubt anyway."""
    return b.compare("olt", absolute(b, n), b.like(n, 2.0**30))


def sin(b: Builder, x: Scalar) -> Scalar:
    """The sine."""
    return _sine_of(b, x, 0)


def cos(b: Builder, x: Scalar) -> Scalar:
    """The cosine."""
    return _sine_of(b, x, 1)
