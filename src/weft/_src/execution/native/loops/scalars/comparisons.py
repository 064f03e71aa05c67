"""Comparisons, logic, bits, kinds of numbers, choices."""

from __future__ import annotations

import math
from typing import Any

from weft._src.core import dtypes
from weft._src.core.dtypes import BOOL, INTEGER, REAL, DType
from weft._src.execution.native.loops.scalars.registry import rule
from weft._src.execution.native.machine.builder import Builder, Scalar, is_unsigned


def less(b: Builder, t: DType, x: Scalar, y: Scalar) -> Scalar:
    """x < y."""
    return b.compare("olt" if x.is_float else "ult" if is_unsigned(t) else "slt", x, y)


def _comparison(name: str, float_: str, signed: str, unsigned: str, allowed: Any) -> None:
    def compare(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
        return b.compare(float_ if x.is_float else unsigned if is_unsigned(t) else signed, x, y)

    rule(name, allowed)(compare)


_comparison("less", "olt", "slt", "ult", REAL)
_comparison("less_equal", "ole", "sle", "ule", REAL)
_comparison("greater", "ogt", "sgt", "ugt", REAL)
_comparison("greater_equal", "oge", "sge", "uge", REAL)
_comparison("equal", "oeq", "eq", "eq", REAL | BOOL)
_comparison("not_equal", "une", "ne", "ne", REAL | BOOL)


def _bits(name: str, opcode: str, allowed: frozenset[DType]) -> None:
    rule(name, allowed)(lambda b, t, attrs, x, y: b.binary(opcode, x, y))


_bits("logical_and", "and", BOOL)
_bits("logical_or", "or", BOOL)
_bits("bitwise_and", "and", INTEGER)
_bits("bitwise_or", "or", INTEGER)
_bits("bitwise_xor", "xor", INTEGER)


@rule("logical_not", BOOL)
def _logical_not(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return b.binary("xor", x, b.number("i1", 1))


@rule("invert", INTEGER)
def _invert(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return b.binary("xor", x, b.like(x, -1))


def _shift_amount(b: Builder, t: DType, y: Scalar) -> Scalar:
    """Clamped to what the machine defines."""
    most = b.like(y, 8 * t.size - 1)
    y = b.select(less(b, t, most, y), most, y)
    return y if is_unsigned(t) else b.select(b.compare("slt", y, b.like(y, 0)), b.like(y, 0), y)


@rule("left_shift", INTEGER)
def _left_shift(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    return b.binary("shl", x, _shift_amount(b, t, y))


@rule("right_shift", INTEGER)
def _right_shift(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    return b.binary("lshr" if is_unsigned(t) else "ashr", x, _shift_amount(b, t, y))


@rule("isnan")
def _isnan(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return b.compare("uno", x, x)


@rule("isinf")
def _isinf(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return b.compare("oeq", b.intrinsic("fabs", x), b.like(x, math.inf))


@rule("isfinite")
def _isfinite(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return b.compare("olt", b.intrinsic("fabs", x), b.like(x, math.inf))


@rule("order", frozenset({dtypes.float32, dtypes.float64}))
def _order(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    """An integer that stands where the number stands; both zeros are one."""
    bits, kind = (31, "i32") if t is dtypes.float32 else (63, "i64")
    number = b.convert("bitcast", b.add(x, b.like(x, 0.0)), kind)
    sign = b.binary("ashr", number, b.number(kind, bits))
    return b.binary("xor", number, b.binary("and", sign, b.number(kind, 2**bits - 1)))


@rule("select", REAL | BOOL)
def _select(
    b: Builder, t: DType, attrs: dict[str, Any], condition: Scalar, x: Scalar, y: Scalar
) -> Scalar:
    return b.select(condition, x, y)
