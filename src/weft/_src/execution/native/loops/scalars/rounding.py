"""Division that rounds; integers are checked for zeros before."""

from __future__ import annotations

from typing import Any

from weft._src.core.dtypes import REAL, DType
from weft._src.execution.native.loops.scalars.registry import SLOW, rule
from weft._src.execution.native.machine.builder import Builder, Scalar, is_unsigned


@rule("floor_divide", REAL, cost=SLOW)
def _floor_divide(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    if x.is_float:
        return b.intrinsic("floor", b.rounded(b.div(x, y), t))
    if is_unsigned(t):
        return b.binary("udiv", x, _no_zero(b, y))
    quotient, rest = _divided(b, x, y)
    return b.add(quotient, b.convert("sext", _is_too_high(b, rest, y), x.type))


@rule("floor_mod", REAL, cost=SLOW)
def _floor_mod(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    if x.is_float:
        return _float_floor_mod(b, x, y)
    if is_unsigned(t):
        return b.binary("urem", x, _no_zero(b, y))
    _, rest = _divided(b, x, y)
    return b.add(rest, b.select(_is_too_high(b, rest, y), y, b.like(y, 0)))


def _float_floor_mod(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    rest = b.binary("frem", x, y)
    zero = b.like(x, 0.0)
    other_sign = b.binary("xor", b.compare("olt", y, zero), b.compare("olt", rest, zero))
    moved = b.select(other_sign, b.add(rest, y), rest)
    # A rest of zero takes the sign of the divisor.
    signed_zero = b.intrinsic("copysign", zero, y)
    exact = b.compare("oeq", rest, zero)
    out = b.select(exact, signed_zero, moved)
    return b.select(b.compare("uno", rest, rest), rest, out)


@rule("truncate_div", REAL)
def _truncate_div(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    if x.is_float:
        return b.intrinsic("trunc", b.rounded(b.div(x, y), t))
    if is_unsigned(t):
        return b.binary("udiv", x, _no_zero(b, y))
    return _divided(b, x, y)[0]


@rule("truncate_mod", REAL, cost=SLOW)
def _truncate_mod(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    if x.is_float:
        return b.binary("frem", x, y)
    if is_unsigned(t):
        return b.binary("urem", x, _no_zero(b, y))
    return _divided(b, x, y)[1]


def _no_zero(b: Builder, y: Scalar) -> Scalar:
    """The divisor; the processor must not see a zero even where the result is thrown away."""
    return b.select(b.compare("eq", y, b.like(y, 0)), b.like(y, 1), y)


def _divided(b: Builder, x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    """Quotient towards zero and rest; the smallest integer by -1 wraps instead of trapping."""
    minus_one = b.compare("eq", y, b.like(y, -1))
    safe = b.select(minus_one, b.like(y, 1), _no_zero(b, y))
    quotient = b.binary("sdiv", x, safe)
    rest = b.binary("srem", x, safe)
    return b.select(minus_one, b.neg(x), quotient), rest


def _is_too_high(b: Builder, rest: Scalar, y: Scalar) -> Scalar:
    """Whether a quotient towards zero lies above the floor."""
    zero = b.like(y, 0)
    other_sign = b.compare("slt", b.binary("xor", rest, y), zero)
    return b.binary("and", b.compare("ne", rest, zero), other_sign)
