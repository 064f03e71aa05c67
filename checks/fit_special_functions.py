"""Fits the polynomials of `native/loops/elementary/fits.py`; prints them and their errors.

Needs mpmath, which nothing else does: `pip install mpmath` in any environment with NumPy.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np

_POINTS = 64
_TAIL = 2.0  # erfc is exp(-x * x) times something smooth in _TAIL / (_TAIL + x)

Function = Callable[[Any], Any]


def fit(function: Function, low: float, high: float, degree: int) -> tuple[list[float], float]:
    """Coefficients in t from -1 to 1, the constant first, and the largest relative error."""
    angles = np.pi * (np.arange(_POINTS) + 0.5) / _POINTS
    values = _values(function, low, high, np.cos(angles))
    waves = np.array([np.sum(values * np.cos(j * angles)) for j in range(degree + 1)])
    waves *= 2 / _POINTS
    waves[0] /= 2
    found = np.polynomial.chebyshev.cheb2poly(waves)
    between = np.linspace(-1, 1, 61)
    right = _values(function, low, high, between)
    error = np.abs(np.polynomial.polynomial.polyval(between, found) / right - 1).max()
    return [float(f"{c:.15g}") for c in found], float(error)


def _values(function: Function, low: float, high: float, t: Any) -> Any:
    return np.array([float(function(mp.mpf((low + high) / 2 + (high - low) / 2 * x))) for x in t])


def unless_zero(function: Function, at_zero: Any) -> Function:
    """The function, and its limit at 0."""
    return lambda x: function(x) if x > 0 else at_zero


def scaled_i(order: int) -> Function:
    """I of an order times exp(-x), for odd orders divided by x."""
    return unless_zero(lambda x: mp.besseli(order, x) * mp.exp(-x) / x**order, mp.mpf(1) / 2**order)


def far(function: Function, limit: Any) -> Function:
    """Of w = 1 / x, without the root that it falls with."""
    return unless_zero(lambda w: function(1 / w) / mp.sqrt(w), limit)


def rest_of_k0(square: Any) -> Any:
    """What is left of K0 without its logarithm, by x * x."""
    x = mp.sqrt(square)
    return mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x)


def rest_of_k1(square: Any) -> Any:
    """What is left of x K1 without its logarithm."""
    x = mp.sqrt(square)
    return x * (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x))


def inverse_near(w: Any) -> Any:
    """erfinv(x) / x by w = -log(1 - x * x)."""
    x = mp.sqrt(-mp.expm1(-w))
    return mp.erfinv(x) / x


def inverse_far(root: Any) -> Any:
    """The same by the root of w, for x so close to 1 that only 1 - x is known."""
    w = root * root
    x = mp.sqrt(-mp.expm1(-w))
    tail = mp.log(mp.exp(-w) / (1 + x))
    return mp.findroot(lambda y: mp.log(mp.erfc(y)) - tail, root * 0.9 + 0.01) / x


def fresnel(part: int) -> Function:
    """The Fresnel integrals of sine and cosine by the fourth power of x, without their own."""

    def function(fourth: Any) -> Any:
        x = mp.sqrt(mp.sqrt(fourth))
        return mp.fresnels(x) / x**3 if part == 0 else mp.fresnelc(x) / x

    return unless_zero(function, mp.pi / 6 if part == 0 else mp.mpf(1))


def fresnel_far(part: int) -> Function:
    """What they swing by around 1/2, by the square of u = 1 / (pi x ** 2), times pi x (and / u)."""

    def function(square: Any) -> Any:
        u = mp.sqrt(square)
        x = 1 / mp.sqrt(mp.pi * u)
        angle = mp.pi / 2 * x * x
        s, c = mp.mpf(1) / 2 - mp.fresnels(x), mp.mpf(1) / 2 - mp.fresnelc(x)
        if part == 0:
            return (s * mp.cos(angle) - c * mp.sin(angle)) * mp.pi * x
        return (c * mp.cos(angle) + s * mp.sin(angle)) * mp.pi * x / u

    return unless_zero(function, mp.mpf(1))


def dawson(x: Any) -> Any:
    """Dawson's integral."""
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def fits() -> dict[str, tuple[Function, float, float, int]]:
    """What is fitted, where, and by polynomials of which degree."""
    i_limit, k_limit = 1 / mp.sqrt(2 * mp.pi), mp.sqrt(mp.pi / 2)
    near_0 = unless_zero(lambda x: (mp.ei(x) - mp.euler - mp.log(x)) / x, mp.mpf(1))
    below_0 = unless_zero(lambda x: (mp.e1(x) + mp.euler + mp.log(x)) / x, mp.mpf(1))

    def ei(w: Any) -> Any:
        return mp.ei(1 / w) / w * mp.exp(-1 / w)

    return {
        "I0_NEAR": (scaled_i(0), 0, 8, 18),
        "I0_FAR": (far(scaled_i(0), i_limit), 0, 1 / 8, 6),
        "I1_NEAR": (scaled_i(1), 0, 8, 18),
        "I1_FAR": (far(lambda x: x * scaled_i(1)(x), i_limit), 0, 1 / 8, 6),
        "I0_SMALL": (lambda s: mp.besseli(0, mp.sqrt(s)), 0, 4, 6),
        "I1_SMALL": (
            unless_zero(lambda s: mp.besseli(1, mp.sqrt(s)) / mp.sqrt(s), mp.mpf(1) / 2),
            0,
            4,
            6,
        ),
        "K0_SMALL": (unless_zero(rest_of_k0, -mp.euler), 0, 4, 6),
        "K1_SMALL": (unless_zero(rest_of_k1, mp.mpf(1)), 0, 4, 7),
        "K0_FAR": (far(lambda x: mp.besselk(0, x) * mp.exp(x), k_limit), 0, 0.5, 9),
        "K1_FAR": (far(lambda x: mp.besselk(1, x) * mp.exp(x), k_limit), 0, 0.5, 9),
        "ERFC": (
            lambda q: mp.erfc(_TAIL / q - _TAIL) * mp.exp((_TAIL / q - _TAIL) ** 2),
            _TAIL / (_TAIL + 11),
            1,
            13,
        ),
        "INV_NEAR": (unless_zero(inverse_near, mp.sqrt(mp.pi) / 2), 0, 5, 11),
        "INV_FAR": (inverse_far, 5**0.5, 4.2, 11),
        "INV_TAIL": (inverse_far, 4.2, 10.4, 10),
        "EI_NEAR": (near_0, 0, 6, 18),
        "EI_MIDDLE": (ei, 1 / 24, 1 / 6, 13),
        "EI_FAR": (unless_zero(ei, mp.mpf(1)), 0, 1 / 24, 7),
        "FRESNEL_S": (fresnel(0), 0, 1.6**4, 7),
        "FRESNEL_C": (fresnel(1), 0, 1.6**4, 7),
        "FRESNEL_F": (fresnel_far(0), 0, (mp.pi * 1.6**2) ** -2, 11),
        "FRESNEL_G": (fresnel_far(1), 0, (mp.pi * 1.6**2) ** -2, 11),
        "DAWSN_NEAR": (
            unless_zero(lambda s: dawson(mp.sqrt(s)) / mp.sqrt(s), mp.mpf(1)),
            0,
            4,
            12,
        ),
        "DAWSN_MIDDLE": (lambda u: 2 * dawson(1 / mp.sqrt(u)) / mp.sqrt(u), 1 / 25, 1 / 4, 15),
        "DAWSN_FAR": (
            unless_zero(lambda u: 2 * dawson(1 / mp.sqrt(u)) / mp.sqrt(u), mp.mpf(1)),
            0,
            1 / 25,
            7,
        ),
        "E1_NEAR": (below_0, 0, 2, 9),
        "E1_FAR": (
            unless_zero(lambda w: mp.e1(1 / w) / w * mp.exp(1 / w), mp.mpf(1)),
            0,
            0.5,
            13,
        ),
    }


def main() -> None:
    """Prints the tables as they stand in the file."""
    mp.mp.dps = 30
    for name, (function, low, high, degree) in fits().items():
        found, error = fit(function, low, high, degree)
        items = textwrap.wrap(", ".join(map(repr, found)) + ",", 95)
        print(f"{name} = (  # {error:.1e}")
        print("\n".join(f"    {line}" for line in items))
        print(")  # fmt: skip")


if __name__ == "__main__":
    main()
