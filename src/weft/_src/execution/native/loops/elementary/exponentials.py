"""exp and expm1: one range reduction for float32 and float64, which differ in numbers only."""

from __future__ import annotations

import math
from dataclasses import dataclass

from weft._src.execution.native.loops.elementary.polynomials import clamped, if_nan, polynomial
from weft._src.execution.native.machine.builder import Builder, Scalar


@dataclass(frozen=True)
class _Format:
    """What the forms need to know of a type of floats."""

    kind: str
    integer: str
    mantissa: int  # its bits
    bias: int  # of the exponent
    log2: tuple[float, float]  # in two parts, of which the first has few bits
    series: tuple[float, ...]  # (exp(r) - 1 - r) / r**2 on the reduced range
    least: float  # below which exp is 0
    most: float  # from which on it is infinity
    least_minus_one: float  # below which expm1 is -1
    large: int  # n from which on the 1 of expm1 does not matter

    @property
    def magic(self) -> float:
        """Adding it rounds to an integer, and leaves that in the low bits: quicker than rint."""
        return 1.5 * 2.0**self.mantissa

    @property
    def magic_bits(self) -> int:
        """Its bits, as an integer."""
        return ((self.bias + self.mantissa) << self.mantissa) + (1 << (self.mantissa - 1))


_FLOAT32 = _Format(
    "float", "i32", 23, 127, (0.693359375, -2.12194440e-4),
    (0.49999993451472624, 0.16666520687563122, 0.04166838740854251, 0.00836871003530406,
     0.0013814611001225004),
    -104.0, 89.0, -30.0, 60,
)  # fmt: skip
_FLOAT64 = _Format(
    "double", "i64", 52, 1023, (0.6931471803691238, 1.9082149292705877e-10),
    tuple(1 / math.factorial(k + 2) for k in range(12)),
    -746.0, 710.0, -60.0, 100,
)  # fmt: skip


def _format_of(x: Scalar) -> _Format:
    return _FLOAT64 if x.type in (_FLOAT64.kind, _FLOAT64.integer) else _FLOAT32


def power_of_two(b: Builder, n: Scalar) -> Scalar:
    """2**n for an integer n for which that is a normal number; i32 stands for float32."""
    form = _format_of(n)
    bits = b.binary("shl", b.add(n, b.like(n, form.bias)), b.like(n, form.mantissa))
    return b.convert("bitcast", bits, form.kind)


def reduced(b: Builder, x: Scalar, times: float = 1.0) -> tuple[Scalar, Scalar]:
    """exp(r) - 1 and the integer n with `times` x = r + n log 2, for x not too far out of range.

    `times` is a power of two, and costs nothing: the multiple is needed only behind n.
    """
    form = _format_of(x)
    high, low = form.log2
    magic = b.like(x, form.magic)
    shifted = b.fma(x, b.like(x, times * math.log2(math.e)), magic)
    n = b.sub(shifted, magic)
    r = b.fma(n, b.like(x, -high), x if times == 1.0 else b.mul(x, b.like(x, times)))
    r = b.fma(n, b.like(x, -low), r)
    bits = b.convert("bitcast", shifted, form.integer)
    grown = b.fma(b.mul(r, r), polynomial(b, r, form.series), r)
    return grown, b.sub(bits, b.like(bits, form.magic_bits))


def exp(b: Builder, x: Scalar) -> Scalar:
    """e**x."""
    form = _format_of(x)
    grown, n = reduced(b, clamped(b, x, form.least, form.most))
    # In two steps: the largest and the smallest power of two are no normal numbers.
    half = b.binary("ashr", n, b.like(n, 1))
    out = b.mul(b.add(grown, b.like(x, 1.0)), power_of_two(b, half))
    return if_nan(b, x, b.mul(out, power_of_two(b, b.sub(n, half))))


def exp_of_negative(b: Builder, x: Scalar) -> Scalar:
    """e**x for x up to 0, in half the steps: 0 where that is no normal number any more.

    Good for weights that are added up with one of 1.
    """
    form = _format_of(x)
    # With the bias of the exponent in it, shifting leaves the power of two.
    magic = b.like(x, form.magic + form.bias)
    shifted = b.fma(x, b.like(x, math.log2(math.e)), magic)
    n = b.sub(shifted, magic)
    r = b.fma(n, b.like(x, -form.log2[0]), x)
    r = b.fma(n, b.like(x, -form.log2[1]), r)
    bits = b.convert("bitcast", shifted, form.integer)
    power = b.convert("bitcast", b.binary("shl", bits, b.like(bits, form.mantissa)), form.kind)
    grown = b.fma(b.mul(r, r), polynomial(b, r, form.series), r)
    out = b.mul(b.add(grown, b.like(x, 1.0)), power)
    least = b.like(x, -vanishing(form.kind))
    return b.select(b.compare("olt", x, least), b.like(x, 0.0), out)


def vanishing(kind: str) -> float:
    """How far below 0 numbers are for which `exp_of_negative` is 0."""
    form = _FLOAT64 if kind == _FLOAT64.kind else _FLOAT32
    return (form.bias - 1) * math.log(2) - 1e-3


def expm1(b: Builder, x: Scalar) -> Scalar:
    """e**x - 1, nothing lost for small x."""
    form, one = _format_of(x), b.like(x, 1.0)
    grown, n = reduced(b, clamped(b, x, form.least_minus_one, form.most))
    half = b.binary("ashr", n, b.like(n, 1))
    first, second = power_of_two(b, half), power_of_two(b, b.sub(n, half))
    # 2**n (grown + 1) - 1, with 2**n in two factors where that is no number.
    whole = b.mul(first, second)
    small = b.fma(grown, whole, b.sub(whole, one))
    large = b.mul(b.mul(b.add(grown, one), first), second)
    out = b.select(b.compare("sgt", n, b.like(n, form.large)), large, small)
    out = b.select(b.compare("oeq", x, b.like(x, 0.0)), x, out)  # zero keeps its sign
    return if_nan(b, x, out)
