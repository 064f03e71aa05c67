"""Levels of quantized numbers: the same steps as in `ops.quantization.levels`, for one number."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.dtypes import DType
from weft._src.execution.native.loops.scalars.arithmetic import maximum, minimum
from weft._src.execution.native.loops.scalars.registry import SLOW, rule
from weft._src.execution.native.machine.builder import Builder, Scalar
from weft._src.ops.quantization import levels


def _clipped(b: Builder, t: DType, x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    return maximum(b, t, {}, minimum(b, t, {}, x, high), low)


# --- levels with a zero between a smallest and a largest number --------------------------------


def _half_away(b: Builder, x: Scalar) -> Scalar:
    whole = b.intrinsic("trunc", x)
    far = b.compare("oge", b.intrinsic("fabs", b.sub(x, whole)), b.like(x, 0.5))
    further = b.select(far, b.like(x, 1.0), b.like(x, 0.0))
    return b.add(whole, b.intrinsic("copysign", further, x))


def _nudged(b: Builder, low: Scalar, high: Scalar, attrs: dict[str, Any]) -> levels.Nudged:
    ends = levels.ends(attrs["num_bits"], attrs["narrow_range"])
    first, last = [b.like(low, end) for end in ends]
    length, count = b.sub(high, low), b.like(low, ends[1] - ends[0])
    step = b.div(length, count)
    zero = b.sub(first, b.div(low, step))
    inside = b.select(b.compare("ogt", zero, last), last, _half_away(b, zero))
    zero = b.select(b.compare("olt", zero, first), first, inside)
    start, end = b.mul(b.sub(first, zero), step), b.mul(b.sub(last, zero), step)
    return levels.Nudged(start, end, step, b.sub(zero, first), b.div(count, length))


def _is_empty(b: Builder, low: Scalar, high: Scalar) -> Scalar:
    """Whether a range begins and ends at zero."""
    zero = b.like(low, 0.0)
    return b.binary("and", b.compare("oeq", low, zero), b.compare("oeq", high, zero))


@rule("fake_quant", cost=SLOW)
def _fake_quant(
    b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, low: Scalar, high: Scalar
) -> Scalar:
    found = _nudged(b, low, high, attrs)
    shifted = b.sub(_clipped(b, t, x, found.start, found.end), found.start)
    level = b.div(shifted, found.step) if attrs["divides"] else b.mul(shifted, found.steps)
    level = b.intrinsic("floor", b.add(b.sub(level, found.zero), b.like(x, 0.5)))
    return b.select(_is_empty(b, low, high), b.like(x, 0.0), b.mul(level, found.step))


@rule("fake_quant_side")
def _fake_quant_side(
    b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, low: Scalar, high: Scalar
) -> Scalar:
    found = _nudged(b, low, high, attrs)
    inside = b.select(b.compare("uno", x, x), x, b.like(x, 0.0))
    side = b.select(b.compare("ogt", x, found.end), b.like(x, 1.0), inside)
    side = b.select(b.compare("olt", x, found.start), b.like(x, -1.0), side)
    return b.select(_is_empty(b, low, high), b.like(x, 0.0), side)


# --- levels that are multiples of a step ---------------------------------------------------------


def _scaled(b: Builder, low: Scalar, high: Scalar, lowest: int, highest: int) -> levels.Scaled:
    wide = np.float32 if low.type == "float" else np.float64
    zero, none = b.like(low, 0.0), b.like(low, np.finfo(wide).max)
    least, most = b.like(low, lowest), b.like(low, highest)
    from_low = b.select(b.compare("ogt", b.mul(least, low), zero), b.div(least, low), none)
    from_high = b.select(b.compare("ogt", b.mul(most, high), zero), b.div(most, high), none)
    by_low = b.compare("olt", from_low, from_high)
    step = b.select(by_low, b.div(low, least) if lowest else low, b.div(high, most))
    return levels.Scaled(
        b.select(by_low, from_low, from_high),
        step,
        b.select(by_low, low, b.mul(least, step)),
        b.select(by_low, b.mul(most, step), high),
    )


@rule("quantize_and_dequantize", cost=SLOW)
def _quantize_and_dequantize(
    b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, low: Scalar, high: Scalar
) -> Scalar:
    limits = levels.limits(attrs["signed_input"], attrs["num_bits"], attrs["narrow_range"])
    scale, step, low, high = _scaled(b, low, high, *limits)
    if attrs["range_given"]:
        x = _clipped(b, t, x, low, high)
    x = b.mul(x, scale)
    if attrs["round_mode"] == "HALF_TO_EVEN":
        return b.mul(b.intrinsic("rint", x), step)
    return b.mul(b.intrinsic("floor", b.add(x, b.like(x, 0.5))), step)
