"""Sums, products, quotients, signs and extremes; products and quotients in which zero wins."""

from __future__ import annotations

from typing import Any

from weft._src.core.dtypes import REAL, DType
from weft._src.execution.native.loops import elementary
from weft._src.execution.native.loops.scalars.comparisons import less
from weft._src.execution.native.loops.scalars.registry import COSTLY, SLOW, rule
from weft._src.execution.native.machine.builder import Builder, Scalar, is_unsigned


@rule("add", REAL)
def _add(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    return b.add(x, y)


@rule("subtract", REAL)
def _subtract(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    return b.sub(x, y)


@rule("multiply", REAL)
def _multiply(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    return b.mul(x, y)


@rule("divide", cost=SLOW, doubtful=True)
def _divide(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    if b.exact or y.level >= x.level or y.text.startswith("0x"):
        return b.div(x, y)
    # A divisor that stays the same is inverted once; not if the inverse may leave the range.
    size = b.intrinsic("fabs", y)
    large = b.compare("ogt", size, b.like(y, 2.0**100))
    b.doubts.append(b.binary("or", large, b.compare("ult", size, b.like(y, 2.0**-100))))
    return b.mul(x, b.div(b.like(y, 1.0), y))


@rule("negative", REAL)
def _negative(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return b.neg(x)


@rule("square", REAL)
def _square(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return b.mul(x, x)


@rule("squared_difference", REAL)
def _squared_difference(
    b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar
) -> Scalar:
    difference = b.rounded(b.sub(x, y), t)
    return b.mul(difference, difference)


@rule("reciprocal", cost=SLOW)
def _reciprocal(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return b.div(b.like(x, 1.0), x)


@rule("sqrt", cost=SLOW)
def _sqrt(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return b.intrinsic("sqrt", x)


@rule("rsqrt", cost=SLOW)
def _rsqrt(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return b.div(b.like(x, 1.0), b.rounded(b.intrinsic("sqrt", x), t))


@rule("absolute", REAL)
def _absolute(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    if x.is_float:
        return b.intrinsic("fabs", x)
    return x if is_unsigned(t) else b.select(less(b, t, x, b.like(x, 0)), b.neg(x), x)


@rule("sign", REAL)
def _sign(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    zero = b.like(x, 0)
    out = b.select(less(b, t, x, zero), b.like(x, -1), zero)
    out = b.select(less(b, t, zero, x), b.like(x, 1), out)
    return b.select(b.compare("uno", x, x), x, out) if x.is_float else out


@rule("conjugate", REAL)
def _conjugate(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return x


@rule("maximum", REAL)
def maximum(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    """The larger one."""
    if x.is_float:  # NaN on either side is the result
        larger = b.select(b.compare("ugt", x, y), x, y)  # x, too, if one of them is NaN
        return b.select(b.compare("uno", y, y), y, larger)
    return b.select(less(b, t, x, y), y, x)


@rule("largest", REAL)
def _largest(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    """The larger one as reductions have it: of two zeros either, which takes a step less."""
    if not x.is_float:
        return maximum(b, t, attrs, x, y)
    name = f"llvm.maximum.{'f32' if x.type == 'float' else 'f64'}"
    b.module.declare(name, x.type, f"{x.type}, {x.type}")
    return b.pure(f"call nsz {x.type} @{name}({x.type} {x.text}, {x.type} {y.text})", x.type, x, y)


@rule("minimum", REAL)
def minimum(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    """The smaller one."""
    if x.is_float:
        smaller = b.select(b.compare("ult", x, y), x, y)
        return b.select(b.compare("uno", y, y), y, smaller)
    return b.select(less(b, t, x, y), x, y)


# --- zero wins ------------------------------------------------------------------------------


def _zero_where(b: Builder, x: Scalar, out: Scalar) -> Scalar:
    return b.select(b.compare("oeq", x, b.like(x, 0.0)), b.like(out, 0.0), out)


@rule("div_no_nan")
def _div_no_nan(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    return _zero_where(b, y, b.div(x, y))


@rule("mul_no_nan")
def _mul_no_nan(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    return _zero_where(b, y, b.mul(x, y))


@rule("scaled_gradient")
def _scaled_gradient(
    b: Builder, t: DType, attrs: dict[str, Any], g: Scalar, factor: Scalar
) -> Scalar:
    return _zero_where(b, g, b.mul(g, factor))


@rule("xdivy")
def _xdivy(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    return _zero_where(b, x, b.div(x, y))


@rule("xlogy", cost=COSTLY)
def _xlogy(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    return _zero_where(b, x, b.mul(x, b.rounded(elementary.log(b, y), t)))


@rule("xlog1py", cost=COSTLY)
def _xlog1py(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    return _zero_where(b, x, b.mul(x, b.rounded(elementary.log1p(b, y), t)))
