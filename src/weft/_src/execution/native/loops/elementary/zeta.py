"""The zeta function of Hurwitz and the derivatives of digamma, of float32, as arithmetic.

A few terms of the sum, and Euler and Maclaurin's formula for the rest, in double. What is unusual
(numbers that are not positive, orders beyond any use) is in doubt, and computed one by one: by the
steps of SciPy, since at poles and beyond them there is more than one opinion.
"""

from __future__ import annotations

import math
from fractions import Fraction

from weft._src.execution.native.loops.elementary import exponentials, float64, gamma
from weft._src.execution.native.machine import library, outside
from weft._src.execution.native.machine.builder import Builder, Scalar, filled
from weft._src.execution.native.written_loops import with_loops

_EXACT = "weft_exact_zeta"
_TERMS = 6  # of the sum, and of the formula
_MOST, _LARGE = 1000.0, 1e8  # larger x or q are left to SciPy's steps
_MOST_ORDER = 150.0


def _bernoulli(count: int) -> list[Fraction]:
    """The numbers of Bernoulli with even places, from the second on."""
    found = [Fraction(1)]
    for n in range(1, 2 * count + 1):
        found.append(-sum(math.comb(n + 1, k) * found[k] for k in range(n)) / Fraction(n + 1))
    return found[2::2]


_EXACT_TERMS = 12
_FACTORS = [
    float(number / math.factorial(2 * j)) for j, number in enumerate(_bernoulli(_EXACT_TERMS), 1)
]


def _power(b: Builder, base: Scalar, exponent: Scalar) -> Scalar:
    """The power of a positive number, with a negative exponent that is given without its sign."""
    return exponentials.exp(b, b.neg(b.mul(exponent, float64.log(b, base))))


def _usual(b: Builder, x: Scalar, q: Scalar) -> Scalar:
    """zeta for x from 1 to `_MOST` and q from 0 to `_LARGE`."""
    one = b.like(x, 1.0)
    total = _power(b, q, x)
    for k in range(1, _TERMS):
        total = b.add(total, _power(b, b.add(q, b.like(q, float(k))), x))
    w = b.add(q, b.like(q, float(_TERMS)))
    last = _power(b, w, x)
    inverse = b.div(one, w)
    square = b.mul(inverse, inverse)
    rest = b.like(x, _FACTORS[_TERMS - 1])
    for j in range(_TERMS - 1, 0, -1):
        rising = b.mul(
            b.add(x, b.like(x, 2.0 * j - 1.0)), b.mul(b.add(x, b.like(x, 2.0 * j)), square)
        )
        rest = b.fma(rising, rest, b.like(x, _FACTORS[j - 1]))
    formula = b.add(b.div(w, b.sub(x, one)), b.like(x, 0.5))
    formula = b.fma(b.mul(x, inverse), rest, formula)
    return b.fma(last, formula, total)


def _between(b: Builder, x: Scalar, low: float, high: float) -> Scalar:
    is_above = b.compare("ogt", x, b.like(x, low))
    return b.binary("and", is_above, b.compare("olt", x, b.like(x, high)))


def _doubt(b: Builder, is_usual: Scalar) -> None:
    b.doubts.append(b.binary("xor", is_usual, b.like(is_usual, 1)))


def zeta(b: Builder, x: Scalar, q: Scalar) -> Scalar:
    """The sum of (q + n) ** -x."""
    wide_x, wide_q = [b.convert("fpext", v, "double") for v in (x, q)]
    if b.exact:
        return b.convert("fptrunc", b.call(_EXACT, "double", wide_x, wide_q), x.type)
    is_usual = b.binary("and", _between(b, wide_x, 1.0, _MOST), _between(b, wide_q, 0.0, _LARGE))
    _doubt(b, is_usual)
    return b.convert("fptrunc", _usual(b, wide_x, wide_q), x.type)


def polygamma(b: Builder, a: Scalar, x: Scalar) -> Scalar:
    """The derivative of order a of digamma: a! zeta(a + 1, x), negative for even a."""
    order, wide = [b.convert("fpext", v, "double") for v in (a, x)]
    above = b.add(order, b.like(order, 1.0))
    pairs = b.intrinsic("floor", b.mul(order, b.like(order, 0.5)))
    left = b.fma(pairs, b.like(order, -2.0), order)  # no number, if the order is infinite
    is_even = b.compare("oeq", left, b.like(order, 0.0))
    if b.exact:
        found = b.mul(b.call("tgamma", "double", above), b.call(_EXACT, "double", above, wide))
        found = b.select(is_even, b.neg(found), found)
        first = b.call(outside.symbol_of("digamma"), "double", wide, b.number("i32", 0))
        found = b.select(b.compare("oeq", order, b.like(order, 0.0)), first, found)
        is_whole = b.compare("oeq", order, b.intrinsic("floor", order))
        is_order = b.binary("and", is_whole, b.compare("oge", order, b.like(order, 0.0)))
        found = b.select(is_order, found, b.like(order, math.nan))
        return b.convert("fptrunc", found, a.type)
    is_usual = b.compare("oeq", order, b.intrinsic("floor", order))
    for number, low, high in ((order, 0.5, _MOST_ORDER), (wide, 0.0, _LARGE)):
        is_usual = b.binary("and", is_usual, _between(b, number, low, high))
    _doubt(b, is_usual)
    factorial = exponentials.exp(b, gamma.of_double(b, above))
    found = b.mul(factorial, _usual(b, above, wide))
    return b.convert("fptrunc", b.select(is_even, b.neg(found), found), a.type)


# --- one by one ----------------------------------------------------------------------------------

_ONE_BY_ONE = """
@factors = private constant [<count> x double] [<factors>]
declare double @pow(double, double)
declare double @llvm.fabs.f64(double)
declare double @llvm.floor.f64(double)
define double @weft_exact_zeta(double %x, double %q) {
entry:
var double %sum = 0.0
var double %w = %q
var double %term = 0.0
var double %rising = 1.0
%minus.x = fneg double %x
%is.pole = fcmp oeq double %x, 1.0
br i1 %is.pole, label %infinite, label %above
above:
%is.below = fcmp olt double %x, 1.0
br i1 %is.below, label %nothing, label %sign
sign:
%is.negative = fcmp ole double %q, 0.0
br i1 %is.negative, label %negative, label %size
negative:
%q.floor = call double @llvm.floor.f64(double %q)
%q.is.whole = fcmp oeq double %q, %q.floor
br i1 %q.is.whole, label %infinite, label %power
power:
%x.floor = call double @llvm.floor.f64(double %x)
%x.is.whole = fcmp oeq double %x, %x.floor
br i1 %x.is.whole, label %size, label %nothing
size:
%is.large = fcmp ogt double %q, 1.0e8
br i1 %is.large, label %large, label %usual
large:
%less = fsub double %x, 1.0
%l.1 = fdiv double 1.0, %less
%l.2 = fmul double %q, 2.0
%l.3 = fdiv double 1.0, %l.2
%l.4 = fadd double %l.1, %l.3
%l.5 = fsub double 1.0, %x
%l.6 = call double @pow(double %q, double %l.5)
%l.7 = fmul double %l.4, %l.6
ret double %l.7
usual:
%first = call double @pow(double %q, double %minus.x)
store double %first, ptr %sum
var i64 %i = 0
br label %next
next:
%i.0 = load i64, ptr %i
%w.0 = load double, ptr %w
%is.few = icmp slt i64 %i.0, 9
%is.small = fcmp ole double %w.0, 9.0
%goes.on = or i1 %is.few, %is.small
br i1 %goes.on, label %one.more, label %formula
one.more:
%i.1 = add i64 %i.0, 1
store i64 %i.1, ptr %i
%w.1 = fadd double %w.0, 1.0
store double %w.1, ptr %w
%power.1 = call double @pow(double %w.1, double %minus.x)
store double %power.1, ptr %term
%sum.0 = load double, ptr %sum
%sum.1 = fadd double %sum.0, %power.1
store double %sum.1, ptr %sum
%share = fdiv double %power.1, %sum.1
%share.size = call double @llvm.fabs.f64(double %share)
%is.nothing = fcmp olt double %share.size, <epsilon>
br i1 %is.nothing, label %done, label %next
formula:
%w.2 = load double, ptr %w
%term.2 = load double, ptr %term
%f.1 = fmul double %term.2, %w.2
%f.2 = fsub double %x, 1.0
%f.3 = fdiv double %f.1, %f.2
%sum.2 = load double, ptr %sum
%sum.3 = fadd double %sum.2, %f.3
%f.4 = fmul double %term.2, 0.5
%sum.4 = fsub double %sum.3, %f.4
store double %sum.4, ptr %sum
for %j < <count>
%j.2 = mul i64 %j, 2
%k = sitofp i64 %j.2 to double
%r.0 = load double, ptr %rising
%r.k = fadd double %x, %k
%r.1 = fmul double %r.0, %r.k
%t.0 = load double, ptr %term
%t.1 = fdiv double %t.0, %w.2
%factor.p = getelementptr double, ptr @factors, i64 %j
%factor = load double, ptr %factor.p
%both = fmul double %r.1, %t.1
%more = fmul double %both, %factor
%sum.5 = load double, ptr %sum
%sum.6 = fadd double %sum.5, %more
store double %sum.6, ptr %sum
%part = fdiv double %more, %sum.6
%part.size = call double @llvm.fabs.f64(double %part)
%is.enough = fcmp olt double %part.size, <epsilon>
br i1 %is.enough, label %done, label %j.more.terms
j.more.terms:
%k.1 = fadd double %k, 1.0
%r.k.1 = fadd double %x, %k.1
%r.2 = fmul double %r.1, %r.k.1
store double %r.2, ptr %rising
%t.2 = fdiv double %t.1, %w.2
store double %t.2, ptr %term
end
br label %done
done:
%out = load double, ptr %sum
ret double %out
infinite:
ret double 0x7FF0000000000000
nothing:
ret double 0x7FF8000000000000
}
"""


def _one_by_one(symbol: str) -> str:
    """The same sum and formula with as many terms as matter, and what is said at poles."""
    factors = ", ".join([f"double {factor:.17e}" for factor in _FACTORS])
    words = {"count": _EXACT_TERMS, "factors": factors, "epsilon": f"{2.0**-53:.17e}"}
    return with_loops(filled(_ONE_BY_ONE, words))


library.offer(_EXACT, _one_by_one)
