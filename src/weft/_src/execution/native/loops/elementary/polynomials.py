"""What the elementary functions of float32 and float64 have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence

from weft._src.execution.native.machine.builder import Builder, Scalar


def polynomial(b: Builder, x: Scalar, coefficients: Sequence[float]) -> Scalar:
    """The constant term comes first. Pairs are joined side by side: a shorter chain than Horner's.

    In loops that feed on themselves the length of the chain is all that counts.
    """
    terms = [b.like(x, c) for c in coefficients]
    power = x
    while len(terms) > 1:
        joined = [
            b.fma(terms[i + 1], power, terms[i]) if i + 1 < len(terms) else terms[i]
            for i in range(0, len(terms), 2)
        ]
        terms = joined
        if len(terms) > 1:
            power = b.mul(power, power)
    return terms[0]


def absolute(b: Builder, x: Scalar) -> Scalar:
    """The size of a number."""
    return b.intrinsic("fabs", x)


def with_sign_of(b: Builder, x: Scalar, sign: Scalar) -> Scalar:
    """x with the sign of another number."""
    return b.intrinsic("copysign", x, sign)


def if_nan(b: Builder, x: Scalar, result: Scalar) -> Scalar:
    """The result, but x itself where x is NaN."""
    return b.select(b.compare("uno", x, x), x, result)


def clamped(b: Builder, x: Scalar, low: float, high: float) -> Scalar:
    """x in a range, NaN at its low end: converting it to an integer must be defined."""
    x = b.select(b.compare("ogt", x, b.like(x, low)), x, b.like(x, low))
    return b.select(b.compare("olt", x, b.like(x, high)), x, b.like(x, high))


def log_edges(b: Builder, x: Scalar, y: Scalar, out: Scalar) -> Scalar:
    """Of log(y): infinity, zero and negative numbers; x is what NaN comes from."""
    out = b.select(b.compare("oeq", y, b.like(y, math.inf)), y, out)
    out = b.select(b.compare("oeq", y, b.like(y, 0.0)), b.like(y, -math.inf), out)
    out = b.select(b.compare("olt", y, b.like(y, 0.0)), b.like(y, math.nan), out)
    return if_nan(b, x, out)
