"""Casts, as the kernels do them."""

from __future__ import annotations

from typing import Any

from weft._src.core import dtypes
from weft._src.core.dtypes import BOOL, REAL, DType
from weft._src.execution.native.loops.scalars.registry import rule
from weft._src.execution.native.machine.builder import Builder, Scalar, compute_type, is_unsigned


@rule("cast", REAL | BOOL)
def _cast(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar) -> Scalar:
    return cast(b, x, t, attrs["dtype"])


def cast(b: Builder, x: Scalar, source: DType, target: DType) -> Scalar:
    """A number of one dtype as one of another, as the kernel does it."""
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
        if source is dtypes.float64 and target is dtypes.float16:
            return _rounded_to_odd(b, x)
        if x.type != kind:
            x = b.convert("fpext" if kind == "double" else "fptrunc", x, kind)
        return x
    if target.is_floating:
        opcode = "uitofp" if is_unsigned(source) else "sitofp"
        return b.convert(opcode, x, kind)
    if target.size > source.size:
        return b.convert("zext" if is_unsigned(source) else "sext", x, kind)
    return b.convert("trunc", x, kind)


def _rounded_to_odd(b: Builder, x: Scalar) -> Scalar:
    """A double as a float of which float16 can be made: rounding twice to the nearest is wrong.

    What is not exact is cut towards zero, and its last bit set: so it lies on no tie any more.
    """
    near = b.convert("fptrunc", x, "float")
    back = b.convert("fpext", near, "double")
    bits = b.convert("bitcast", near, "i32")
    beyond = b.compare("ogt", b.intrinsic("fabs", back), b.intrinsic("fabs", x))
    cut = b.sub(bits, b.convert("zext", beyond, "i32"))
    inexact = b.convert("zext", b.compare("one", back, x), "i32")
    return b.convert("bitcast", b.binary("or", cut, inexact), "float")


def _float_to_integer(b: Builder, x: Scalar, target: DType) -> Scalar:
    """What does not fit is what `core.truncating` defines; LLVM leaves it undefined."""
    if target is dtypes.uint64:
        half = b.like(x, 2.0**63)
        above = b.compare("oge", x, half)
        high = b.binary("and", above, b.compare("olt", x, b.like(x, 2.0**64)))
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
