"""What a pointwise op does to one element: a rule for each name that op blocks use.

A rule gets the builder, the dtype of the operands, the attributes of the op, and the operands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.core.dtypes import BOOL, FLOATING, INTEGER, REAL, DType
from weft.execution.native import elementary, outside
from weft.execution.native.builder import Builder, Scalar, compute_type, is_unsigned

Rule = Callable[..., Scalar]

_rules: dict[str, tuple[frozenset[DType], Rule]] = {}


def rule_for(name: str, dtype: DType) -> Rule | None:
    """The rule of that name if it knows the dtype."""
    allowed, rule = _rules.get(name, (frozenset(), None))
    return rule if dtype in allowed else None


def _rule(names: str, allowed: frozenset[DType] = FLOATING) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        for name in names.split():
            _rules[name] = (allowed, rule)
        return rule

    return register


def _unary(names: str, function: elementary.Unary) -> None:
    _rule(names)(lambda b, t, attrs, x: function(b, x))


for _name in (
    "exp", "expm1", "log", "log1p", "tanh", "sigmoid", "softplus", "erf", "sin", "cos", "lgamma",
):  # fmt: skip
    _unary(_name, getattr(elementary, _name))
for _name, _in_c in {
    "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctanh": "atanh", "cosh": "cosh", "erfc": "erfc", "sinh": "sinh", "tan": "tan",
}.items():  # fmt: skip
    _unary(_name, elementary.by_c_library(_in_c))
for _name in ("ceil", "floor", "rint"):
    _rule(_name)(lambda b, t, attrs, x, name=_name: b.intrinsic(name, x))


# --- arithmetic -----------------------------------------------------------------------------


@_rule("add bias_add", REAL)
def _add(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    return b.add(x, y)


@_rule("subtract", REAL)
def _subtract(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    return b.sub(x, y)


@_rule("multiply", REAL)
def _multiply(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    return b.mul(x, y)


@_rule("divide")
def _divide(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    if b.exact or y.level >= x.level or y.text.startswith("0x"):
        return b.div(x, y)
    # A divisor that stays the same is inverted once; not if the inverse may leave the range.
    size = b.intrinsic("fabs", y)
    large = b.compare("ogt", size, b.like(y, 2.0**100))
    b.doubts.append(b.binary("or", large, b.compare("ult", size, b.like(y, 2.0**-100))))
    return b.mul(x, b.div(b.like(y, 1.0), y))


@_rule("negative", REAL)
def _negative(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return b.neg(x)


@_rule("square", REAL)
def _square(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return b.mul(x, x)


@_rule("squared_difference", REAL)
def _squared_difference(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    difference = b.rounded(b.sub(x, y), t)
    return b.mul(difference, difference)


@_rule("reciprocal")
def _reciprocal(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return b.div(b.like(x, 1.0), x)


@_rule("sqrt")
def _sqrt(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return b.intrinsic("sqrt", x)


@_rule("rsqrt")
def _rsqrt(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return b.div(b.like(x, 1.0), b.rounded(b.intrinsic("sqrt", x), t))


@_rule("absolute", REAL)
def _absolute(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    if x.is_float:
        return b.intrinsic("fabs", x)
    return x if is_unsigned(t) else b.select(_less(b, t, x, b.like(x, 0)), b.neg(x), x)


@_rule("sign", REAL)
def _sign(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    zero = b.like(x, 0)
    out = b.select(_less(b, t, x, zero), b.like(x, -1), zero)
    out = b.select(_less(b, t, zero, x), b.like(x, 1), out)
    return b.select(b.compare("uno", x, x), x, out) if x.is_float else out


@_rule("conjugate", REAL)
def _conjugate(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return x


@_rule("maximum", REAL)
def _maximum(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    if x.is_float:  # NaN on either side is the result
        wins = b.binary("or", b.compare("ogt", x, y), b.compare("uno", x, x))
        return b.select(b.compare("uno", y, y), y, b.select(wins, x, y))
    return b.select(_less(b, t, x, y), y, x)


@_rule("minimum", REAL)
def _minimum(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    if x.is_float:
        wins = b.binary("or", b.compare("olt", x, y), b.compare("uno", x, x))
        return b.select(b.compare("uno", y, y), y, b.select(wins, x, y))
    return b.select(_less(b, t, x, y), x, y)


@_rule("pow")
def _pow(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    exponents = {b.like(x, n).text: n for n in (2.0, 3.0, 0.5, 1.0, -1.0)}
    known = exponents.get(y.text)
    if known == 2.0:
        return b.mul(x, x)
    if known == 3.0:
        return b.mul(b.mul(x, x), x)
    if known == 1.0:
        return x
    if known == -1.0:
        return b.div(b.like(x, 1.0), x)
    return elementary.power(b, x, y)


@_rule("atan2")
def _atan2(b: Builder, t: DType, attrs: Any, y: Scalar, x: Scalar) -> Scalar:
    wide = [b.convert("fpext", v, "double") for v in (y, x)]
    return b.convert("fptrunc", b.call("atan2", "double", *wide), x.type)


def _special(name: str) -> None:
    """A function of SciPy, in double for all float types."""

    def rule(b: Builder, t: DType, attrs: Any, *operands: Scalar) -> Scalar:
        wide = [b.convert("fpext", x, "double") for x in operands]
        # The last argument belongs to Cython, which made the function.
        out = b.call(outside.symbol_of(name), "double", *wide, b.number("i32", 0))
        return b.convert("fptrunc", out, operands[0].type)

    _rule(name)(rule)


for _name in outside.SPECIAL:
    _special(_name)


# --- division that rounds; integers are checked for zeros before ----------------------------


@_rule("floor_divide", REAL)
def _floor_divide(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    if x.is_float:
        return b.intrinsic("floor", b.rounded(b.div(x, y), t))
    if is_unsigned(t):
        return b.binary("udiv", x, _no_zero(b, y))
    quotient, rest = _divided(b, x, y)
    return b.add(quotient, b.convert("sext", _is_too_high(b, rest, y), x.type))


@_rule("floor_mod", REAL)
def _floor_mod(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
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


@_rule("truncate_div", REAL)
def _truncate_div(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    if x.is_float:
        return b.intrinsic("trunc", b.rounded(b.div(x, y), t))
    if is_unsigned(t):
        return b.binary("udiv", x, _no_zero(b, y))
    return _divided(b, x, y)[0]


@_rule("truncate_mod", REAL)
def _truncate_mod(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
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


# --- zero wins ------------------------------------------------------------------------------


def _zero_where(b: Builder, x: Scalar, out: Scalar) -> Scalar:
    return b.select(b.compare("oeq", x, b.like(x, 0.0)), b.like(out, 0.0), out)


@_rule("div_no_nan")
def _div_no_nan(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    return _zero_where(b, y, b.div(x, y))


@_rule("mul_no_nan")
def _mul_no_nan(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    return _zero_where(b, y, b.mul(x, y))


@_rule("scaled_gradient")
def _scaled_gradient(b: Builder, t: DType, attrs: Any, g: Scalar, factor: Scalar) -> Scalar:
    return _zero_where(b, g, b.mul(g, factor))


@_rule("xdivy")
def _xdivy(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    return _zero_where(b, x, b.div(x, y))


@_rule("xlogy")
def _xlogy(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    return _zero_where(b, x, b.mul(x, b.rounded(elementary.log(b, y), t)))


@_rule("xlog1py")
def _xlog1py(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    return _zero_where(b, x, b.mul(x, b.rounded(elementary.log1p(b, y), t)))


# --- comparisons, logic, bits ---------------------------------------------------------------


def _less(b: Builder, t: DType, x: Scalar, y: Scalar) -> Scalar:
    return b.compare("olt" if x.is_float else "ult" if is_unsigned(t) else "slt", x, y)


def _comparison(name: str, float_: str, signed: str, unsigned: str, allowed: Any) -> None:
    def rule(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
        return b.compare(float_ if x.is_float else unsigned if is_unsigned(t) else signed, x, y)

    _rule(name, allowed)(rule)


_comparison("less", "olt", "slt", "ult", REAL)
_comparison("less_equal", "ole", "sle", "ule", REAL)
_comparison("greater", "ogt", "sgt", "ugt", REAL)
_comparison("greater_equal", "oge", "sge", "uge", REAL)
_comparison("equal", "oeq", "eq", "eq", REAL | BOOL)
_comparison("not_equal", "une", "ne", "ne", REAL | BOOL)


def _bits(name: str, opcode: str, allowed: frozenset[DType]) -> None:
    _rule(name, allowed)(lambda b, t, attrs, x, y: b.binary(opcode, x, y))


_bits("logical_and", "and", BOOL)
_bits("logical_or", "or", BOOL)
_bits("bitwise_and", "and", INTEGER)
_bits("bitwise_or", "or", INTEGER)
_bits("bitwise_xor", "xor", INTEGER)


@_rule("logical_not", BOOL)
def _logical_not(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return b.binary("xor", x, b.number("i1", 1))


@_rule("invert", INTEGER)
def _invert(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return b.binary("xor", x, b.like(x, -1))


def _shift_amount(b: Builder, t: DType, y: Scalar) -> Scalar:
    """Clamped to what the machine defines."""
    most = b.like(y, 8 * t.size - 1)
    y = b.select(_less(b, t, most, y), most, y)
    return y if is_unsigned(t) else b.select(b.compare("slt", y, b.like(y, 0)), b.like(y, 0), y)


@_rule("left_shift", INTEGER)
def _left_shift(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    return b.binary("shl", x, _shift_amount(b, t, y))


@_rule("right_shift", INTEGER)
def _right_shift(b: Builder, t: DType, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    return b.binary("lshr" if is_unsigned(t) else "ashr", x, _shift_amount(b, t, y))


@_rule("isnan")
def _isnan(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return b.compare("uno", x, x)


@_rule("isinf")
def _isinf(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return b.compare("oeq", b.intrinsic("fabs", x), b.like(x, math.inf))


@_rule("isfinite")
def _isfinite(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return b.compare("olt", b.intrinsic("fabs", x), b.like(x, math.inf))


@_rule("order", frozenset({dtypes.float32, dtypes.float64}))
def _order(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    """An integer that stands where the number stands; both zeros are one."""
    bits, kind = (31, "i32") if t is dtypes.float32 else (63, "i64")
    number = b.convert("bitcast", b.add(x, b.like(x, 0.0)), kind)
    sign = b.binary("ashr", number, b.number(kind, bits))
    return b.binary("xor", number, b.binary("and", sign, b.number(kind, 2**bits - 1)))


@_rule("select", REAL | BOOL)
def _select(b: Builder, t: DType, attrs: Any, condition: Scalar, x: Scalar, y: Scalar) -> Scalar:
    return b.select(condition, x, y)


# --- activations ----------------------------------------------------------------------------


def _is_positive(b: Builder, t: DType, x: Scalar) -> Scalar:
    return _less(b, t, b.like(x, 0), x)


@_rule("relu", REAL)
def _relu(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return _maximum(b, t, attrs, x, b.like(x, 0))


@_rule("ReluGrad", REAL)
def _relu_grad(b: Builder, t: DType, attrs: Any, g: Scalar, y: Scalar) -> Scalar:
    return b.mul(g, b.select(_is_positive(b, t, y), b.like(g, 1), b.like(g, 0)))


@_rule("relu6", REAL)
def _relu6(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return _minimum(b, t, attrs, _relu(b, t, attrs, x), b.like(x, 6))


@_rule("Relu6Grad", REAL)
def _relu6_grad(b: Builder, t: DType, attrs: Any, g: Scalar, y: Scalar) -> Scalar:
    inside = b.binary("and", _is_positive(b, t, y), _less(b, t, y, b.like(y, 6)))
    return b.select(inside, g, b.like(g, 0))


@_rule("leaky_relu")
def _leaky_relu(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return b.select(_is_positive(b, t, x), x, b.mul(x, _constant(b, t, x, attrs["alpha"])))


@_rule("LeakyReluGrad")
def _leaky_relu_grad(b: Builder, t: DType, attrs: Any, g: Scalar, x: Scalar) -> Scalar:
    return b.select(_is_positive(b, t, x), g, b.mul(g, _constant(b, t, g, attrs["alpha"])))


def _constant(b: Builder, t: DType, x: Scalar, value: float) -> Scalar:
    """A literal, rounded as a number of the dtype would be."""
    return b.like(x, float(t.numpy_dtype.type(value)))


@_rule("elu")
def _elu(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return b.select(b.compare("olt", x, b.like(x, 0.0)), elementary.expm1(b, x), x)


@_rule("EluGrad")
def _elu_grad(b: Builder, t: DType, attrs: Any, g: Scalar, y: Scalar) -> Scalar:
    sloped = b.mul(g, b.rounded(b.add(y, b.like(y, 1.0)), t))
    return b.select(b.compare("olt", y, b.like(y, 0.0)), sloped, g)


_SELU_SCALE = 1.0507009873554805
_SELU_SCALE_ALPHA = 1.7580993408473768


@_rule("selu")
def _selu(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    below = b.mul(_constant(b, t, x, _SELU_SCALE_ALPHA), b.rounded(elementary.expm1(b, x), t))
    above = b.mul(_constant(b, t, x, _SELU_SCALE), x)
    return b.select(b.compare("olt", x, b.like(x, 0.0)), below, above)


@_rule("SeluGrad")
def _selu_grad(b: Builder, t: DType, attrs: Any, g: Scalar, y: Scalar) -> Scalar:
    below = b.mul(g, b.rounded(b.add(y, _constant(b, t, y, _SELU_SCALE_ALPHA)), t))
    above = b.mul(g, _constant(b, t, g, _SELU_SCALE))
    return b.select(b.compare("olt", y, b.like(y, 0.0)), below, above)


@_rule("softsign")
def _softsign(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return b.div(x, b.rounded(b.add(b.intrinsic("fabs", x), b.like(x, 1.0)), t))


# --- casts ----------------------------------------------------------------------------------


@_rule("cast", REAL | BOOL)
def _cast(b: Builder, t: DType, attrs: Any, x: Scalar) -> Scalar:
    return cast(b, x, t, attrs["dtype"])


def cast(b: Builder, x: Scalar, source: DType, target: DType) -> Scalar:
    """A number of one dtype as one of another, as NumPy does it."""
    if target is source:
        return x
    if target is dtypes.bool_:
        return b.compare("une" if x.is_float else "ne", x, b.like(x, 0))
    kind = compute_type(target)
    if source is dtypes.bool_:
        return b.convert("uitofp" if target.is_floating else "zext", x, kind)
    if x.is_float:
        if not target.is_floating:
            return _float_to_integer(b, x, target)
        if x.type != kind:
            x = b.convert("fpext" if kind == "double" else "fptrunc", x, kind)
        return x
    if target.is_floating:
        opcode = "uitofp" if is_unsigned(source) else "sitofp"
        return b.convert(opcode, x, kind)
    if target.size > source.size:
        return b.convert("zext" if is_unsigned(source) else "sext", x, kind)
    return b.convert("trunc", x, kind)


def _float_to_integer(b: Builder, x: Scalar, target: DType) -> Scalar:
    """What does not fit gives the bits that x86 gives, as NumPy does; LLVM leaves it undefined."""
    if target is dtypes.uint64:
        half = b.like(x, 2.0**63)
        high = b.compare("oge", x, half)
        low = _truncated(b, b.select(high, b.sub(x, half), x), 64)
        flipped = b.binary("xor", low, b.number("i64", -(1 << 63)))
        return b.select(high, flipped, low)
    bits = 32 if target.size < 4 or target is dtypes.int32 else 64
    return b.convert("trunc", _truncated(b, x, bits), compute_type(target))


def _truncated(b: Builder, x: Scalar, bits: int) -> Scalar:
    limit = 2.0 ** (bits - 1)
    low = b.compare("oge", x, b.like(x, -limit))
    fits = b.binary("and", low, b.compare("olt", x, b.like(x, limit)))
    safe = b.select(fits, x, b.like(x, 0.0))
    kind = f"i{bits}"
    return b.select(fits, b.convert("fptosi", safe, kind), b.number(kind, -(1 << (bits - 1))))
