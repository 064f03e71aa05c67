"""Special functions of float32 as arithmetic that vectorises: Bessel's, error and integral ones.

All is computed in double, from polynomials that were fitted to float32 (`fits.py`), so that results
are right but for the last rounding. Which piece of the axis a number lies in is decided last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from weft._src.execution.native.loops.elementary import exponentials, fits, float64
from weft._src.execution.native.loops.elementary.polynomials import (
    absolute,
    if_nan,
    polynomial,
    with_sign_of,
)
from weft._src.execution.native.machine.builder import Builder, Scalar

_Form = Callable[[Builder, Scalar], Scalar]


def _in_double(form: _Form) -> _Form:
    """The form of a float32 from that of a double."""

    def function(b: Builder, x: Scalar) -> Scalar:
        wide = b.convert("fpext", x, "double")
        return if_nan(b, x, b.convert("fptrunc", form(b, wide), x.type))

    return function


def _fit(b: Builder, u: Scalar, low: float, high: float, coefficients: Sequence[float]) -> Scalar:
    """A fitted polynomial, in what takes u from low to high to -1 to 1."""
    middle, scale = (low + high) / 2, 2 / (high - low)
    t = b.fma(u, b.like(u, scale), b.like(u, -middle * scale))
    return polynomial(b, t, coefficients)


def _sqrt(b: Builder, x: Scalar) -> Scalar:
    return b.intrinsic("sqrt", x)


def _where(b: Builder, x: Scalar, kind: str, limit: float, yes: Scalar, no: Scalar) -> Scalar:
    return b.select(b.compare(kind, x, b.like(x, limit)), yes, no)


def _at_most(b: Builder, x: Scalar, limit: float) -> Scalar:
    """x, or the limit: polynomials are not asked beyond their pieces."""
    return _where(b, x, "olt", limit, x, b.like(x, limit))


def _at_least(b: Builder, x: Scalar, limit: float) -> Scalar:
    return _where(b, x, "ogt", limit, x, b.like(x, limit))


# --- Bessel functions ----------------------------------------------------------------------------


def _i0e(b: Builder, x: Scalar) -> Scalar:
    size = absolute(b, x)
    near = _fit(b, _at_most(b, size, 8.0), 0.0, 8.0, fits.I0_NEAR)
    inverse = b.div(b.like(x, 1.0), _at_least(b, size, 8.0))
    far = b.mul(_fit(b, inverse, 0.0, 1 / 8, fits.I0_FAR), _sqrt(b, inverse))
    return _where(b, size, "ole", 8.0, near, far)


def _i1e(b: Builder, x: Scalar) -> Scalar:
    size = absolute(b, x)
    near = b.mul(size, _fit(b, _at_most(b, size, 8.0), 0.0, 8.0, fits.I1_NEAR))
    inverse = b.div(b.like(x, 1.0), _at_least(b, size, 8.0))
    far = b.mul(_fit(b, inverse, 0.0, 1 / 8, fits.I1_FAR), _sqrt(b, inverse))
    return with_sign_of(b, _where(b, size, "ole", 8.0, near, far), x)


def _unscaled(form: _Form) -> _Form:
    """The function whose scaled form has lost a factor exp(|x|)."""

    def function(b: Builder, x: Scalar) -> Scalar:
        size = absolute(b, x)
        scaled = form(b, x)
        grown = b.mul(scaled, exponentials.exp(b, size))
        beyond = b.mul(scaled, b.like(x, math.inf))  # no number at infinity, as everywhere
        return _where(b, size, "olt", 700.0, grown, beyond)

    return function


def _k_scaled(order: int) -> _Form:
    """K0 or K1 times exp(x), of positive numbers."""

    def function(b: Builder, x: Scalar) -> Scalar:
        small = _at_most(b, x, 2.0)
        square = b.mul(small, small)
        log_half = float64.log(b, b.mul(small, b.like(x, 0.5)))
        if order == 0:
            grown = _fit(b, square, 0.0, 4.0, fits.I0_SMALL)
            rest = _fit(b, square, 0.0, 4.0, fits.K0_SMALL)
            near = b.sub(rest, b.mul(log_half, grown))
        else:
            grown = b.mul(small, _fit(b, square, 0.0, 4.0, fits.I1_SMALL))
            rest = b.div(_fit(b, square, 0.0, 4.0, fits.K1_SMALL), small)
            near = b.fma(log_half, grown, rest)
        near = b.mul(near, exponentials.exp(b, small))
        inverse = b.div(b.like(x, 1.0), _at_least(b, x, 2.0))
        table = fits.K0_FAR if order == 0 else fits.K1_FAR
        far = b.mul(_fit(b, inverse, 0.0, 0.5, table), _sqrt(b, inverse))
        out = _where(b, x, "ole", 2.0, near, far)
        out = _where(b, x, "oeq", 0.0, b.like(x, math.inf), out)
        return _where(b, x, "olt", 0.0, b.like(x, math.nan), out)

    return function


def _k_unscaled(order: int) -> _Form:
    def function(b: Builder, x: Scalar) -> Scalar:
        shrunk = exponentials.exp(b, b.neg(_at_most(b, x, 740.0)))
        return b.mul(_k_scaled(order)(b, x), _where(b, x, "olt", 740.0, shrunk, b.like(x, 0.0)))

    return function


bessel_i0e, bessel_i1e = _in_double(_i0e), _in_double(_i1e)
bessel_i0, bessel_i1 = _in_double(_unscaled(_i0e)), _in_double(_unscaled(_i1e))
bessel_k0e, bessel_k1e = _in_double(_k_scaled(0)), _in_double(_k_scaled(1))
bessel_k0, bessel_k1 = _in_double(_k_unscaled(0)), _in_double(_k_unscaled(1))


# --- error functions -----------------------------------------------------------------------------

_ERFC_FAR = 11.0  # beyond, erfc is 0 in float32


def _erfc(b: Builder, x: Scalar) -> Scalar:
    size = _at_most(b, absolute(b, x), _ERFC_FAR)
    turned = b.div(b.like(x, 2.0), b.add(size, b.like(x, 2.0)))
    fitted = _fit(b, turned, 2 / (2 + _ERFC_FAR), 1.0, fits.ERFC)
    tail = b.mul(fitted, exponentials.exp(b, b.neg(b.mul(size, size))))
    return _where(b, x, "olt", 0.0, b.sub(b.like(x, 2.0), tail), tail)


def _inverse(b: Builder, x: Scalar, product: Scalar) -> Scalar:
    """The inverse of erf at x, where `product` is 1 - x * x."""
    w = b.neg(float64.log(b, product))
    root = _sqrt(b, _at_least(b, w, 5.0))
    near = _fit(b, _at_most(b, w, 5.0), 0.0, 5.0, fits.INV_NEAR)
    far = _fit(b, _at_most(b, root, 4.2), math.sqrt(5.0), 4.2, fits.INV_FAR)
    tail = _fit(b, _at_least(b, root, 4.2), 4.2, 10.4, fits.INV_TAIL)
    beyond = _where(b, root, "ole", 4.2, far, tail)
    return b.mul(x, _where(b, w, "ole", 5.0, near, beyond))


def _at_the_ends(b: Builder, x: Scalar, product: Scalar, out: Scalar) -> Scalar:
    """Infinite where `product` is 0, and no number where it is negative."""
    infinity = with_sign_of(b, b.like(x, math.inf), x)
    out = _where(b, product, "oeq", 0.0, infinity, out)
    return _where(b, product, "olt", 0.0, b.like(x, math.nan), out)


def _erfinv(b: Builder, x: Scalar) -> Scalar:
    one = b.like(x, 1.0)
    product = b.mul(b.sub(one, x), b.add(one, x))
    return _at_the_ends(b, x, product, _inverse(b, x, product))


def _ndtri(b: Builder, p: Scalar) -> Scalar:
    """sqrt(2) erfinv(2 p - 1), where 1 - x * x is 4 p (1 - p), exact also for the smallest p."""
    one = b.like(p, 1.0)
    x = b.sub(b.add(p, p), one)
    product = b.mul(b.mul(b.like(p, 4.0), p), b.sub(one, p))
    out = b.mul(b.like(p, math.sqrt(2.0)), _inverse(b, x, product))
    return _at_the_ends(b, x, product, out)


erfc, erfinv, ndtri = _in_double(_erfc), _in_double(_erfinv), _in_double(_ndtri)


# --- the exponential integral --------------------------------------------------------------------

_EULER = 0.5772156649015329


def _expint(b: Builder, x: Scalar) -> Scalar:
    one, size = b.like(x, 1.0), absolute(b, x)
    # Both near 0 are log |x| and Euler's constant plus x times something smooth.
    base = b.add(float64.log(b, size), b.like(x, _EULER))
    small = _fit(b, _at_most(b, size, 6.0), 0.0, 6.0, fits.EI_NEAR)
    small_below = _fit(b, _at_most(b, size, 2.0), 0.0, 2.0, fits.E1_NEAR)
    inverse = b.div(one, _at_least(b, size, 2.0))
    at_most_6 = _at_most(b, inverse, 1 / 6)
    middle = _fit(b, _at_least(b, at_most_6, 1 / 24), 1 / 24, 1 / 6, fits.EI_MIDDLE)
    far = _fit(b, _at_most(b, inverse, 1 / 24), 0.0, 1 / 24, fits.EI_FAR)
    far_below = _fit(b, inverse, 0.0, 0.5, fits.E1_FAR)
    growing = b.mul(exponentials.exp(b, x), inverse)
    above = b.mul(growing, _where(b, size, "ole", 24.0, middle, far))
    above = _where(b, size, "ole", 6.0, b.fma(size, small, base), above)
    near_below = b.sub(base, b.mul(size, small_below))
    below = _where(b, size, "ole", 2.0, near_below, b.neg(b.mul(growing, far_below)))
    out = _where(b, x, "ogt", 0.0, above, below)
    out = _where(b, x, "oeq", 0.0, b.like(x, -math.inf), out)
    out = _where(b, x, "oeq", math.inf, b.like(x, math.inf), out)
    return _where(b, x, "oeq", -math.inf, b.like(x, -0.0), out)


expint = _in_double(_expint)


# --- the integrals of Fresnel and Dawson ---------------------------------------------------------

_SWINGS = 1.6  # from where on they swing around 1/2
_LAST_SWING = 1e12  # beyond, by nothing that float32 shows
_MOST_SQUARE = (math.pi * _SWINGS**2) ** -2
_SIN = tuple((-1) ** k * (math.pi / 2) ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(7))
_COS = tuple((-1) ** k * (math.pi / 2) ** (2 * k) / math.factorial(2 * k) for k in range(8))


def _turned(b: Builder, quarters: Scalar) -> tuple[Scalar, Scalar]:
    """Sine and cosine of so many quarters of a turn."""
    whole = b.intrinsic("rint", quarters)
    rest = b.sub(quarters, whole)
    square = b.mul(rest, rest)
    sine, cosine = b.mul(rest, polynomial(b, square, _SIN)), polynomial(b, square, _COS)
    four = b.intrinsic("floor", b.mul(whole, b.like(whole, 0.25)))
    quadrant = b.fma(four, b.like(four, -4.0), whole)  # 0 to 3
    from_two = b.sub(quadrant, b.like(quadrant, 2.0))
    is_odd = b.compare("oeq", absolute(b, from_two), b.like(quadrant, 1.0))
    from_middle = absolute(b, b.sub(quadrant, b.like(quadrant, 1.5)))
    first, second = b.select(is_odd, cosine, sine), b.select(is_odd, sine, cosine)
    return (
        b.select(b.compare("olt", from_two, b.like(quadrant, 0.0)), first, b.neg(first)),
        b.select(b.compare("ogt", from_middle, b.like(quadrant, 1.0)), second, b.neg(second)),
    )


def _fresnel(of_cosine: bool) -> _Form:
    def function(b: Builder, x: Scalar) -> Scalar:
        size, half = absolute(b, x), b.like(x, 0.5)
        small = _at_most(b, size, _SWINGS)
        square = b.mul(small, small)
        table = fits.FRESNEL_C if of_cosine else fits.FRESNEL_S
        near = b.mul(small, _fit(b, b.mul(square, square), 0.0, _SWINGS**4, table))
        near = near if of_cosine else b.mul(near, square)
        large = _at_most(b, _at_least(b, size, _SWINGS), _LAST_SWING)
        inverse = b.div(b.like(x, 1 / math.pi), large)
        u = b.div(inverse, large)
        places = b.mul(u, u)
        f = b.mul(inverse, _fit(b, places, 0.0, _MOST_SQUARE, fits.FRESNEL_F))
        g = b.mul(b.mul(inverse, u), _fit(b, places, 0.0, _MOST_SQUARE, fits.FRESNEL_G))
        sine, cosine = _turned(b, b.mul(large, large))  # the square of a float32 is exact
        if of_cosine:
            far = b.add(half, b.sub(b.mul(f, sine), b.mul(g, cosine)))
        else:
            far = b.sub(half, b.add(b.mul(f, cosine), b.mul(g, sine)))
        return with_sign_of(b, _where(b, size, "ole", _SWINGS, near, far), x)

    return function


def _dawsn(b: Builder, x: Scalar) -> Scalar:
    size = absolute(b, x)
    small = _at_most(b, size, 2.0)
    near = b.mul(small, _fit(b, b.mul(small, small), 0.0, 4.0, fits.DAWSN_NEAR))
    inverse = b.div(b.like(x, 1.0), _at_least(b, size, 2.0))
    square = b.mul(inverse, inverse)
    middle = _fit(b, _at_least(b, square, 1 / 25), 1 / 25, 1 / 4, fits.DAWSN_MIDDLE)
    far = _fit(b, _at_most(b, square, 1 / 25), 0.0, 1 / 25, fits.DAWSN_FAR)
    beyond = _where(b, size, "ole", 5.0, middle, far)
    large = b.mul(b.mul(inverse, b.like(x, 0.5)), beyond)
    return with_sign_of(b, _where(b, size, "ole", 2.0, near, large), x)


fresnel_sin, fresnel_cos = _in_double(_fresnel(False)), _in_double(_fresnel(True))
dawsn = _in_double(_dawsn)
