"""The incomplete beta function of float32, in double, as arithmetic that vectorises.

The continued fraction, of which so many steps are enough for parameters that are neither tiny nor
large; the others are in doubt, and SciPy's function is called for them.
"""

from __future__ import annotations

import math

from weft._src.execution.native.loops.elementary import exponentials, float64, gamma
from weft._src.execution.native.machine import outside
from weft._src.execution.native.machine.builder import Builder, Scalar

_STEPS = 20  # of which each is two: the relative error is 6e-9 at most
_LEAST, _MOST = 0.05, 100.0  # parameters


def at_edges(b: Builder, found: Scalar, p: Scalar, q: Scalar, x: Scalar) -> Scalar:
    """The limits where a parameter is 0 or infinite: all weight is at one end."""
    zero, one, infinite = [b.like(x, n) for n in (0.0, 1.0, math.inf)]
    at_zero = b.binary("or", b.compare("oeq", p, zero), b.compare("oeq", q, infinite))
    at_one = b.binary("or", b.compare("oeq", q, zero), b.compare("oeq", p, infinite))
    is_limit = b.binary("xor", at_zero, at_one)
    for low, high in ((zero, p), (zero, q), (zero, x), (x, one)):
        is_limit = b.binary("and", is_limit, b.compare("ole", low, high))
    from_zero = b.select(b.compare("ogt", x, zero), one, zero)
    from_one = b.select(b.compare("oge", x, one), one, zero)
    return b.select(is_limit, b.select(at_zero, from_zero, from_one), found)


def of_doubles(b: Builder, p: Scalar, q: Scalar, x: Scalar) -> Scalar:
    """SciPy's function; the last argument belongs to Cython, which made it."""
    found = b.call(outside.symbol_of("betainc"), "double", p, q, x, b.number("i32", 0))
    return at_edges(b, found, p, q, x)


def betainc(b: Builder, p: Scalar, q: Scalar, x: Scalar) -> Scalar:
    """The part of a beta function up to x."""
    wide = [b.convert("fpext", v, "double") for v in (p, q, x)]
    if b.exact:
        return b.convert("fptrunc", of_doubles(b, *wide), p.type)
    is_usual = b.like(b.compare("oeq", wide[0], wide[0]), 1)
    for number, low, high in zip(wide, (_LEAST, _LEAST, 0.0), (_MOST, _MOST, 1.0), strict=True):
        is_above = b.compare("ogt", number, b.like(number, low))
        is_below = b.compare("olt", number, b.like(number, high))
        is_usual = b.binary("and", is_usual, b.binary("and", is_above, is_below))
    b.doubts.append(b.binary("xor", is_usual, b.like(is_usual, 1)))
    return b.convert("fptrunc", _usual(b, *wide), p.type)


def _usual(b: Builder, p: Scalar, q: Scalar, x: Scalar) -> Scalar:
    """From the end that is nearer: the fraction converges up to the middle of the weight."""
    one = b.like(x, 1.0)
    middle = b.add(b.add(p, q), b.like(x, 2.0))
    is_far = b.compare("ogt", b.mul(x, middle), b.add(p, one))
    rest = b.sub(one, x)
    near, other = b.select(is_far, q, p), b.select(is_far, p, q)
    at, beyond = b.select(is_far, rest, x), b.select(is_far, x, rest)
    total = b.add(p, q)
    log_size = b.fma(near, float64.log(b, at), b.mul(other, float64.log(b, beyond)))
    log_beta = b.sub(b.add(gamma.of_double(b, p), gamma.of_double(b, q)),
                     gamma.of_double(b, total))  # fmt: skip
    size = b.div(exponentials.exp(b, b.sub(log_size, log_beta)), near)
    found = b.mul(size, _fraction(b, near, other, total, at))
    return b.select(is_far, b.sub(one, found), found)


def _fraction(b: Builder, p: Scalar, q: Scalar, total: Scalar, x: Scalar) -> Scalar:
    """1 / (1 + d1 / (1 + d2 / ...)), as numerators and denominators from the front on."""
    one = b.like(x, 1.0)
    first = b.neg(b.div(b.mul(total, x), b.add(p, one)))
    above, above_before = one, one
    below, below_before = b.add(one, first), one
    for m in range(1, _STEPS + 1):
        last, here, after = [b.add(p, b.like(p, 2.0 * m + k)) for k in (-1.0, 0.0, 1.0)]
        by = b.div(x, b.mul(b.mul(last, here), after))
        number = b.like(p, float(m))
        even = b.mul(b.mul(b.mul(number, b.sub(q, number)), after), by)
        odd = b.mul(b.mul(b.mul(b.add(p, number), b.add(total, number)), last), b.neg(by))
        for factor in (even, odd):
            above, above_before = b.fma(factor, above_before, above), above
            below, below_before = b.fma(factor, below_before, below), below
    return b.div(above, below)
