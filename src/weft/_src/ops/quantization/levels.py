"""Where the levels of quantized numbers lie: scales and rounding, in the order of TensorFlow.

A number that lies between two levels may fall on either side by its last bit. So everything is
computed in the precision and by the steps of TensorFlow's kernels, and machine code
(`execution.native.loops.scalars.quantizing`) takes the same steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING, float32
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import ShapeError
from weft._src.ops import batching, rules
from weft._src.ops.contexts import RowBatch, RowNode


def floats(op: str, value: TensorLike, name: str) -> Tensor:
    """A tensor of floats; Python's numbers become float32, arrays keep their dtype."""
    is_array = isinstance(value, (np.ndarray, np.generic))
    x = convert_to_tensor(value, dtype_hint=None if is_array else float32)
    rules.check_dtype(op, x.dtype, FLOATING, name=name)
    return x


def like_numbers(op: str) -> Callable[..., TensorSpec]:
    """The type rule of numbers with ranges, which may have fewer axes, but no others."""

    def rule(x: TensorSpec, low: TensorSpec, high: TensorSpec, **_: Any) -> TensorSpec:
        dims = rules.broadcast_dims(op, x.dims, low.dims, high.dims)
        if x.dims is not None and dims is not None:
            wider = [b for a, b in zip(x.dims, dims) if isinstance(b, int) and a == 1 != b]
            if len(dims) > len(x.dims) or wider:
                raise ShapeError(
                    f"{op}: the limits must fit into the shape of the numbers, {x.shape}; got "
                    f"{low.shape} and {high.shape}."
                )
        return x

    return rule


def numbers_with_rows(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Element by element; the numbers have rows wherever their ranges have."""
    numbers = inputs[0] if stacked[0] else b.stack(inputs[0])
    return batching.pointwise(b, node, [numbers, *inputs[1:]], [True, *stacked[1:]])


def half_away(xp: ArrayNamespace, x: Any) -> Any:
    """The nearest whole number; of two the one further from zero, not the even one."""
    x = xp.asarray(x)
    half = xp.nextafter(x.dtype.type(0.5), x.dtype.type(0))  # 0.5 would take its neighbour along
    # `copysign` by bits: a quarter of the time.
    bits = xp.uint32 if x.dtype.itemsize == 4 else xp.uint64
    out = xp.bitwise_and(x.view(bits), bits(1 << (8 * x.dtype.itemsize - 1)), out=...)
    out = xp.bitwise_or(out, half.view(bits), out=out).view(x.dtype)
    xp.add(out, x, out=out)
    return xp.trunc(out, out=out)


# --- levels with a zero between a smallest and a largest number --------------------------------


class Nudged(NamedTuple):
    """A range moved a little so that one level is zero: its ends, the step, the number of zero.

    And how many steps a unit has: where TensorFlow multiplies, it is not the inverse of the step.
    """

    start: Any
    end: Any
    step: Any
    zero: Any
    steps: Any


def ends(num_bits: int, narrow_range: bool) -> tuple[int, int]:
    """The numbers of the first and the last level."""
    return int(narrow_range), 2**num_bits - 1


def nudged(xp: ArrayNamespace, low: Any, high: Any, first: int, last: int) -> Nudged:
    """The levels from a number to another one; both are float32 or float64."""
    count = low.dtype.type(last - first)
    step = (high - low) / count
    zero = first - low / step
    rounded = half_away(xp, zero)
    zero = xp.where(zero < first, first, xp.where(zero > last, last, rounded)).astype(low.dtype)
    start, end = (first - zero) * step, (last - zero) * step
    return Nudged(start, end, step, zero - first, count / (high - low))


# --- levels that are multiples of a step ---------------------------------------------------------


def limits(signed: bool, num_bits: int, narrow_range: bool) -> tuple[int, int]:
    """The smallest and the largest of the whole numbers that stand for levels."""
    if not signed:
        return 0, 2**num_bits - 1
    return -(2 ** (num_bits - 1)) + int(narrow_range), 2 ** (num_bits - 1) - 1


class Scaled(NamedTuple):
    """Whole numbers per unit, its inverse, and the range that all whole numbers cover."""

    scale: Any
    step: Any
    low: Any
    high: Any


def scaled(xp: ArrayNamespace, low: Any, high: Any, lowest: int, highest: int) -> Scaled:
    """As many levels per unit as a range allows; the other end of the range gives way.

    Both ends are float32 or float64.
    """
    kind = low.dtype.type
    least, most, none = kind(lowest), kind(highest), xp.finfo(low.dtype).max
    from_low = xp.where(least * low > 0, least / low, none)
    from_high = xp.where(most * high > 0, most / high, none)
    by_low = from_low < from_high
    step = xp.where(by_low, low / least if lowest else low, high / most)
    return Scaled(
        xp.where(by_low, from_low, from_high),
        step,
        xp.where(by_low, low, least * step),
        xp.where(by_low, most * step, high),
    )


def clipped(xp: ArrayNamespace, x: Any, low: Any, high: Any) -> Any:
    """x with what lies outside of a range moved to its end; NaN stays NaN."""
    out = xp.minimum(x, high, out=...)
    return xp.maximum(out, low, out=out)


def placed(xp: ArrayNamespace, ranges: Array, rank: int, axis: int | None) -> Array:
    """One number for each slice along an axis, so that it meets its slice; None: as it is."""
    if axis is None:
        return ranges
    return xp.reshape(ranges, (-1, *[1] * (rank - 1 - axis % rank)))
