"""Inverse trigonometric and hyperbolic functions of float32 as arithmetic that vectorises.

Near zero each is x + x**3 P(x**2), with a polynomial that was fitted to what it is there; further
out it comes from what it is near zero, or from a logarithm. At most a few units in the last place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from weft._src.execution.native.loops.elementary import exponentials, float32
from weft._src.execution.native.loops.elementary.polynomials import (
    absolute,
    if_nan,
    polynomial,
    with_sign_of,
)
from weft._src.execution.native.machine.builder import Builder, Scalar

_ATAN = (
    -0.3333329908641536, 0.1999854820132995, -0.14264240789909066, 0.10952181098210759,
    -0.08403436647859408, 0.05795735948875293, -0.031177612964378314, 0.010914480981840176,
    -0.001793593883951318,
)  # fmt: skip
_ASIN = (
    0.16666752482145583, 0.07495297651436421, 0.04547037406396853, 0.024179526351902125,
    0.04216628631488417,
)  # fmt: skip
_ATANH = (
    0.3333330007154925, 0.2000251826783988, 0.14222762447046183, 0.11823726864865258,
    0.051358365753383595, 0.17669100503135482,
)  # fmt: skip
_ASINH = (
    -0.16666629297257093, 0.07498703790704209, -0.044487006556298066, 0.029453139057706544,
    -0.01917580081157203, 0.010423848465497036, -0.0038343341104494083, 0.0006729990532461476,
)  # fmt: skip

_LARGE = 2.0**30  # beyond, 1 does not matter beside the square
_LARGEST_EXP = 88.0  # below, exp is a number


def _near_zero(b: Builder, x: Scalar, square: Scalar, coefficients: Sequence[float]) -> Scalar:
    return b.fma(b.mul(x, square), polynomial(b, square, coefficients), x)


def _from_multiple_of_pi(b: Builder, x: Scalar, times: float) -> Scalar:
    """times pi - x; what float32 cuts off of pi comes after the difference."""
    high = float(np.float32(times * math.pi))
    return b.add(b.sub(b.like(x, high), x), b.like(x, times * math.pi - high))


# --- trigonometric ----------------------------------------------------------------------------


def atan(b: Builder, x: Scalar) -> Scalar:
    """The inverse tangent; that of numbers above 1 is what their inverse's lacks to pi / 2."""
    size, one = absolute(b, x), b.like(x, 1.0)
    is_large = b.compare("ogt", size, one)
    t = b.select(is_large, b.div(one, size), size)
    near = _near_zero(b, t, b.mul(t, t), _ATAN)
    out = b.select(is_large, _from_multiple_of_pi(b, near, 0.5), near)
    return with_sign_of(b, out, x)


def atan2(b: Builder, y: Scalar, x: Scalar) -> Scalar:
    """The angle of a point, from that of the smaller coordinate to the larger one."""
    tall, wide, zero = absolute(b, y), absolute(b, x), b.like(x, 0.0)
    is_steep = b.compare("ogt", tall, wide)
    small, large = b.select(is_steep, wide, tall), b.select(is_steep, tall, wide)
    t = b.div(small, large)
    # Two zeros, and two infinities: any ratio would do, these are the usual ones.
    t = b.select(b.compare("oeq", large, zero), zero, t)
    t = b.select(b.compare("oeq", small, b.like(x, math.inf)), b.like(x, 1.0), t)
    out = _near_zero(b, t, b.mul(t, t), _ATAN)
    out = b.select(is_steep, _from_multiple_of_pi(b, out, 0.5), out)
    is_left = b.compare("olt", with_sign_of(b, b.like(x, 1.0), x), zero)
    out = b.select(is_left, _from_multiple_of_pi(b, out, 1.0), out)
    return b.select(b.compare("uno", x, y), b.add(x, y), with_sign_of(b, out, y))


def _halves(b: Builder, x: Scalar) -> tuple[Scalar, Scalar]:
    """asin of |x| up to 1/2; and half of what it lacks to pi / 2 above, where 1 - |x| is exact."""
    size = absolute(b, x)
    is_small = b.compare("ole", size, b.like(x, 0.5))
    rest = b.mul(b.sub(b.like(x, 1.0), size), b.like(x, 0.5))
    square = b.select(is_small, b.mul(x, x), rest)
    root = b.select(is_small, size, b.intrinsic("sqrt", rest))
    return is_small, _near_zero(b, root, square, _ASIN)


def asin(b: Builder, x: Scalar) -> Scalar:
    """The inverse sine; no number beyond 1."""
    is_small, near = _halves(b, x)
    far = _from_multiple_of_pi(b, b.mul(near, b.like(x, 2.0)), 0.5)
    return if_nan(b, x, with_sign_of(b, b.select(is_small, near, far), x))


def acos(b: Builder, x: Scalar) -> Scalar:
    """The inverse cosine; no number beyond 1."""
    is_small, near = _halves(b, x)
    is_negative = b.compare("olt", x, b.like(x, 0.0))
    double = b.mul(near, b.like(x, 2.0))
    far = b.select(is_negative, _from_multiple_of_pi(b, double, 1.0), double)
    middle = _from_multiple_of_pi(b, with_sign_of(b, near, x), 0.5)
    return if_nan(b, x, b.select(is_small, middle, far))


# --- hyperbolic -------------------------------------------------------------------------------


def atanh(b: Builder, x: Scalar) -> Scalar:
    """The inverse hyperbolic tangent; no number beyond 1."""
    size, one, half = absolute(b, x), b.like(x, 1.0), b.like(x, 0.5)
    near = _near_zero(b, size, b.mul(x, x), _ATANH)
    far = b.mul(half, float32.log(b, b.div(b.add(one, size), b.sub(one, size))))
    out = b.select(b.compare("ole", size, half), near, far)
    return if_nan(b, x, with_sign_of(b, out, x))


def _log_of_double(b: Builder, x: Scalar, root_of: float) -> Scalar:
    """log(x + sqrt(x**2 + root_of)) for x of at least 1, however large."""
    is_large = b.compare("ogt", x, b.like(x, _LARGE))
    bounded = b.select(is_large, b.like(x, 1.0), x)
    root = b.intrinsic("sqrt", b.fma(bounded, bounded, b.like(x, root_of)))
    logarithm = float32.log(b, b.select(is_large, x, b.add(bounded, root)))
    return b.add(logarithm, b.select(is_large, b.like(x, math.log(2)), b.like(x, 0.0)))


def asinh(b: Builder, x: Scalar) -> Scalar:
    """The inverse hyperbolic sine."""
    size = absolute(b, x)
    near = _near_zero(b, size, b.mul(x, x), _ASINH)
    is_small = b.compare("ole", size, b.like(x, 1.0))
    out = b.select(is_small, near, _log_of_double(b, size, 1.0))
    return if_nan(b, x, with_sign_of(b, out, x))


def sinh(b: Builder, x: Scalar) -> Scalar:
    """The hyperbolic sine, from exp(|x|) - 1."""
    size, one, half = absolute(b, x), b.like(x, 1.0), b.like(x, 0.5)
    grown = exponentials.expm1(b, size)
    usual = b.mul(half, b.add(grown, b.div(grown, b.add(grown, one))))
    out = b.select(_is_usual(b, size), usual, _half_of_exp(b, size))
    return if_nan(b, x, with_sign_of(b, out, x))


def cosh(b: Builder, x: Scalar) -> Scalar:
    """The hyperbolic cosine."""
    size, half = absolute(b, x), b.like(x, 0.5)
    grown = exponentials.exp(b, size)
    usual = b.mul(half, b.add(grown, b.div(b.like(x, 1.0), grown)))
    return if_nan(b, x, b.select(_is_usual(b, size), usual, _half_of_exp(b, size)))


def _is_usual(b: Builder, size: Scalar) -> Scalar:
    return b.compare("olt", size, b.like(size, _LARGEST_EXP))


def _half_of_exp(b: Builder, size: Scalar) -> Scalar:
    """exp(size) / 2, which may be a number where exp(size) is not."""
    root = exponentials.exp(b, b.mul(size, b.like(size, 0.5)))
    return b.mul(b.mul(root, b.like(size, 0.5)), root)
