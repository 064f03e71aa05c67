"""log, tanh, erf, sin, cos and pow for float32: range reduction and a polynomial.

The coefficients are minimax fits on the reduced ranges.
"""

from __future__ import annotations

import math

from weft._src.execution.native.loops.elementary import exponentials
from weft._src.execution.native.loops.elementary.polynomials import (
    absolute,
    clamped,
    log_edges,
    polynomial,
    with_sign_of,
)
from weft._src.execution.native.machine.builder import Builder, Scalar

_LOG = (
    0.33333312602802806, -0.25000009603653567, 0.2000211873220393, -0.1666799566712413,
    0.14219550908253675, -0.12405591416743003, 0.11888174597719527, -0.11675641304920642,
    0.06746601330766652,
)  # fmt: skip
_TANH = (
    -0.3333328392359068, 0.13331491248513697, -0.05374349526131653, 0.020650579003530702,
    -0.005717036561115603,
)  # fmt: skip
# Of angles up to 0.8; of the cosine what comes behind 1 - x**2 / 2.
_SIN = (-0.16666653192579178, 0.008332070900028027, -0.00019503070527468903)
_COS = (0.041666643182390516, -0.0013887194210644687, 2.441919492924291e-05)
_ERF_SMALL = (
    1.1283791667028904, -0.37612634295617237, 0.11283703314882793, -0.02685979860016526,
    0.005201960234498629, -0.0008152628004860825, 8.409920801223983e-05,
)  # fmt: skip
_LOG_ERFC = (
    0.0001533822038801702, -1.1293970632468548, -0.6336273162475135, -0.10790570192588887,
    0.024812792145050167, -0.004013394968564216, 0.00038478500816468064, -1.232989278138911e-05,
    -6.628201985187461e-07,
)  # fmt: skip
_LOG2 = (
    2.8853900817776643, 0.9617966945687298, 0.5770777619439247, 0.41223536729389154,
    0.31819914719340386, 0.33426524583677886, -0.5795631108412873,
)  # fmt: skip
_EXP2 = (
    0.9999999999616833, 0.6931471807284569, 0.24022651198154304, 0.0555041035341403,
    0.009618027253914635, 0.0013333922588910827, 0.00015469291093961397, 1.520191624495844e-05,
)  # fmt: skip

# --- logarithm ------------------------------------------------------------------------------


def log(b: Builder, x: Scalar) -> Scalar:
    """The natural logarithm."""
    subnormal = b.compare("olt", x, b.like(x, 2.0**-126))
    scaled = b.select(subnormal, b.mul(x, b.like(x, 2.0**23)), x)
    bits = b.convert("bitcast", scaled, "i32")
    # The mantissa in [sqrt(1/2), sqrt(2)): an offset moves the cut from 1 to sqrt(1/2).
    offset = b.like(bits, 0x3F3504F3)
    moved = b.sub(bits, offset)
    exponent = b.binary("ashr", moved, b.like(bits, 23))
    mantissa = b.add(b.binary("and", moved, b.like(bits, 0x007FFFFF)), offset)
    f = b.sub(b.convert("bitcast", mantissa, "float"), b.like(x, 1.0))
    e = b.convert("sitofp", exponent, "float")
    e = b.sub(e, b.select(subnormal, b.like(x, 23.0), b.like(x, 0.0)))
    square = b.mul(f, f)
    tail = b.mul(b.mul(square, f), polynomial(b, f, _LOG))
    tail = b.fma(e, b.like(x, -2.12194440e-4), tail)
    tail = b.fma(square, b.like(x, -0.5), tail)
    out = b.fma(e, b.like(x, 0.693359375), b.add(f, tail))
    return log_edges(b, x, x, out)


# --- hyperbolic and logistic ----------------------------------------------------------------


def tanh(b: Builder, x: Scalar) -> Scalar:
    """The hyperbolic tangent."""
    size = absolute(b, x)
    square = b.mul(x, x)
    small = b.fma(b.mul(square, polynomial(b, square, _TANH)), x, x)
    # exp(2 |x|) + 1, where one power of two is enough.
    ten = b.like(x, 10.0)
    bounded = b.select(b.compare("olt", size, ten), size, ten)
    grown, n = exponentials.reduced(b, bounded, times=2.0)
    one, scale = b.like(x, 1.0), exponentials.power_of_two(b, n)
    total = b.fma(grown, scale, b.add(scale, one))
    large = b.sub(one, b.div(b.like(x, 2.0), total))
    # NaN is not large: it stays what it is.
    out = b.select(b.compare("oge", size, b.like(x, 0.625)), large, small)
    return with_sign_of(b, out, x)


# --- error function -------------------------------------------------------------------------


def erf(b: Builder, x: Scalar) -> Scalar:
    """The error function."""
    size = absolute(b, x)
    square = b.mul(x, x)
    small = b.mul(x, polynomial(b, square, _ERF_SMALL))
    # What is missing to 1, from 4 on too little to be seen; one power of two is enough.
    four = b.like(x, 4.0)
    bounded = b.select(b.compare("olt", size, four), size, four)
    grown, n = exponentials.reduced(b, polynomial(b, bounded, _LOG_ERFC))
    scale = exponentials.power_of_two(b, n)
    large = with_sign_of(b, b.sub(b.like(x, 1.0), b.fma(grown, scale, scale)), x)
    # NaN is not large: it stays what it is.
    return b.select(b.compare("oge", size, b.like(x, 0.92)), large, small)


# --- trigonometric --------------------------------------------------------------------------

_FIRST_LARGE = 2.0**18  # the number of turns is right up to there
_QUARTER = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)  # pi / 2


def _sine_of(b: Builder, x: Scalar, shift: int) -> Scalar:
    """sin(x + shift * pi / 2); large angles are left to the C library."""
    if b.exact:
        exact = b.call("cos" if shift else "sin", "double", b.convert("fpext", x, "double"))
        return b.convert("fptrunc", exact, "float")
    size = absolute(b, x)
    is_large = b.compare("oge", size, b.like(x, _FIRST_LARGE))
    is_finite = b.compare("olt", size, b.like(x, math.inf))  # of others it is NaN here, too
    b.doubts.append(b.binary("and", is_large, is_finite))
    magic = b.like(x, 1.5 * 2.0**23)  # adding it rounds, and leaves the integer in the low bits
    shifted = b.intrinsic("fma", x, b.like(x, 2 / math.pi), magic)
    n, r = b.sub(shifted, magic), x
    for part in _QUARTER:  # the first product is taken off exactly, and so nothing is lost near 0
        r = b.intrinsic("fma", n, b.like(x, -part), r)
    square = b.mul(r, r)
    sine = b.fma(b.mul(square, r), polynomial(b, square, _SIN), r)
    halved = b.fma(square, polynomial(b, square, _COS), b.like(r, -0.5))
    cosine = b.fma(square, halved, b.like(r, 1.0))
    bits = b.convert("bitcast", shifted, "i32")
    turns = b.add(bits, b.like(bits, shift))
    odd = b.compare("ne", b.binary("and", turns, b.like(turns, 1)), b.like(turns, 0))
    bits = b.convert("bitcast", b.select(odd, cosine, sine), "i32")
    sign = b.binary("shl", b.binary("and", turns, b.like(turns, 2)), b.like(turns, 30))
    out = b.convert("bitcast", b.binary("xor", bits, sign), "float")
    if shift:
        return out
    return b.select(b.compare("oeq", x, b.like(x, 0.0)), x, out)  # keeps the sign of zero


def sin(b: Builder, x: Scalar) -> Scalar:
    """The sine."""
    return _sine_of(b, x, 0)


def cos(b: Builder, x: Scalar) -> Scalar:
    """The cosine."""
    return _sine_of(b, x, 1)


# --- power ----------------------------------------------------------------------------------


def _log2_in_double(b: Builder, x: Scalar) -> Scalar:
    """log2 of a positive normal double, to about 40 bits."""
    bits = b.convert("bitcast", x, "i64")
    offset = b.like(bits, 0x3FE6A09E667F3BCD)
    moved = b.sub(bits, offset)
    exponent = b.binary("ashr", moved, b.like(bits, 52))
    mantissa = b.add(b.binary("and", moved, b.like(bits, (1 << 52) - 1)), offset)
    m = b.convert("bitcast", mantissa, "double")
    one = b.like(m, 1.0)
    s = b.div(b.sub(m, one), b.add(m, one))
    # Through i32, which vectorises: exponents of widened float32 fit.
    e = b.convert("sitofp", b.convert("trunc", exponent, "i32"), "double")
    return b.fma(s, polynomial(b, b.mul(s, s), _LOG2), e)


def _exp2_in_double(b: Builder, x: Scalar) -> Scalar:
    x = clamped(b, x, -200.0, 200.0)
    n = b.intrinsic("rint", x)
    scale = b.convert("zext", b.add(b.convert("fptosi", n, "i32"), b.number("i32", 1023)), "i64")
    power = b.convert("bitcast", b.binary("shl", scale, b.like(scale, 52)), "double")
    return b.mul(polynomial(b, b.sub(x, n), _EXP2), power)


def power(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """x ** y, through the logarithm in double."""
    zero, one, infinity = b.like(x, 0.0), b.like(x, 1.0), b.like(x, math.inf)
    size = absolute(b, x)
    finite = b.compare("olt", size, infinity)
    usable = b.select(b.compare("ogt", size, zero), b.select(finite, size, one), one)
    logarithm = _log2_in_double(b, b.convert("fpext", usable, "double"))
    exponent = b.mul(logarithm, b.convert("fpext", y, "double"))
    out = b.convert("fptrunc", _exp2_in_double(b, exponent), "float")
    # Sizes 0, 1 and infinity, for which the logarithm says nothing.
    up, down = b.compare("ogt", y, zero), b.compare("olt", y, zero)
    of_zero = b.select(up, zero, infinity)
    of_infinity = b.select(down, zero, infinity)
    out = b.select(b.compare("oeq", size, zero), of_zero, out)
    out = b.select(b.compare("oeq", size, infinity), of_infinity, out)
    out = b.select(b.compare("oeq", size, one), one, out)
    # Negative bases: a sign for odd integers, NaN for what is no integer.
    integral = b.compare("oeq", b.intrinsic("floor", y), y)
    halved = b.mul(y, b.like(y, 0.5))
    even = b.compare("oeq", b.intrinsic("floor", halved), halved)
    signed = b.select(even, out, with_sign_of(b, out, x))
    signed = b.select(integral, signed, out)
    fraction = b.binary(
        "and", b.compare("olt", x, zero), b.binary("xor", integral, b.number("i1", 1))
    )
    proper = b.binary("and", fraction, finite)
    out = b.select(proper, b.like(x, math.nan), signed)
    out = b.select(b.compare("uno", x, y), b.like(x, math.nan), out)
    trivial = b.binary("or", b.compare("oeq", y, zero), b.compare("oeq", x, one))
    return b.select(trivial, one, out)
