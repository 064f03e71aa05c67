"""`quantize_and_dequantize`: floats rounded to multiples of a step, as few bits would hold them."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import FLOATING, int32
from weft._src.core.native_rules import Pointwise
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import InvalidArgumentError
from weft._src.ops import rules
from weft._src.ops.arrays import fill, joining, selection, shape as shapes, source
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import comparison
from weft._src.ops.elementwise.operands import zero, zeros_like
from weft._src.ops.quantization import levels
from weft._src.ops.reduce import extrema, products
from weft._src.ops.registry import NO_XLA, Op, args, define_op
from weft._src.ops.static import static_int

Gradients = tuple[Tensor | None, ...]
ROUND_MODES = ("HALF_TO_EVEN", "HALF_UP")


def _kernel(
    xp: ArrayNamespace,
    x: Array,
    low: Array,
    high: Array,
    *,
    signed_input: bool,
    num_bits: int,
    range_given: bool,
    round_mode: str,
    narrow_range: bool,
) -> Array:
    if range_given and xp.any(low > high):
        raise InvalidArgumentError(
            None,
            None,
            "quantize_and_dequantize: input_min must not be larger than input_max, got "
            f"{low} and {high}.",
        )
    dtype = x.dtype
    x, low, high = xp.widen(x), xp.widen(low), xp.widen(high)
    limits = levels.limits(signed_input, num_bits, narrow_range)
    scale, step, low, high = levels.scaled(xp, low, high, *limits)
    if range_given:
        x = levels.clipped(xp, x, low, high)
    x = x * scale
    whole = xp.rint(x) if round_mode == "HALF_TO_EVEN" else xp.floor(x + x.dtype.type(0.5))
    return (whole * step).astype(dtype, copy=False)


def _masked(g: Tensor, x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    inside = comparison.logical_and(x >= low, x <= high)
    return selection.where(inside, g, zero(g))


def _masked_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    """Only what lies in the range has a gradient; that of the range is 0."""
    x, low, high = ctx.inputs
    return (
        _masked(g, x, low, high) if ctx.wants(0) else None,
        zeros_like(low) if ctx.wants(1) else None,
        zeros_like(high) if ctx.wants(2) else None,
    )


def _define(name: str, vjp: Any) -> Op:
    return define_op(
        name,
        args("input input_min input_max", FLOATING),
        infer=levels.like_numbers("quantize_and_dequantize"),
        kernel=_kernel,
        native=Pointwise("quantize_and_dequantize", checks_range=True),
        xla=NO_XLA,
        vjp=vjp,
        fresh=True,
        slow_kernel=True,
        batch=levels.numbers_with_rows,
    )


# They differ in their gradients only.
straight_through_op = _define("QuantizeAndDequantizeV2", lambda ctx, g: (g, None, None))
masked_op = _define("QuantizeAndDequantizeV4", _masked_vjp)


# --- ranges ------------------------------------------------------------------------------------


def _placed(ranges: Tensor, x: Tensor, axis: int) -> Tensor:
    """A number for each slice along an axis, with axes of size one behind it."""
    behind: Any = -1 - axis
    if axis >= 0:
        rank = x.shape.rank
        behind = shapes.rank(x) - (1 + axis) if rank is None else rank - 1 - axis
    if isinstance(behind, int):
        return shapes.reshape(ranges, [-1, *[1] * behind])
    ones = fill.fill(shapes.expand_dims(behind, 0), convert_to_tensor(1, int32))
    return shapes.reshape(ranges, joining.concat([[-1], ones], 0))


def _found_range(x: Tensor, axis: int | None) -> tuple[Tensor, Tensor]:
    """The smallest and the largest number, of all or of each slice along an axis."""
    axes: Any = None
    if axis is not None:
        rank = x.shape.rank
        if rank is None:
            sizes = shapes.shape(x)
            after = sizes[axis + 1 :] if axis != -1 else sizes[:0]
            outer, inner = products.reduce_prod(sizes[:axis]), products.reduce_prod(after)
            x, axes = shapes.reshape(x, source.pack_op(outer, sizes[axis], inner, axis=0)), [0, 2]
        else:
            axes = [i for i in range(rank) if i != axis % rank]
    x = source.stop_gradient(x)
    return extrema.reduce_min(x, axes), extrema.reduce_max(x, axes)


def _given_range(op: str, x: Tensor, ranges: Any, axis: int | None) -> tuple[Tensor, Tensor]:
    low, high = [adopt(value, x.dtype) for value in ranges]
    for name, value in (("input_min", low), ("input_max", high)):
        rules.check_rank(op, value.spec, 0 if axis is None else 1, name=name)
        dims, own = x.spec.dims, value.spec.dims
        if axis is not None and dims is not None and own is not None:
            what = f"the size of {name} and that of axis {axis} of input"
            rules.unify(op, own[0], dims[axis], what)
    return low, high


def _checked_bits(op: str, num_bits: Any, signed: bool, narrow: bool) -> int:
    bits = static_int(op, num_bits, "num_bits")
    least, most = 1 + (signed and narrow), 62 - signed
    if not least <= bits <= most:
        raise InvalidArgumentError(
            None,
            None,
            f"{op}: num_bits must be from {least} to {most} with signed_input={signed} and "
            f"narrow_range={narrow}, got {bits}.",
        )
    return bits


def _call(
    function: str,
    op: Op,
    input: TensorLike,
    ranges: Any,
    signed_input: Any,
    num_bits: Any,
    range_given: Any,
    round_mode: str,
    narrow_range: Any,
    axis: Any,
    name: str | None,
) -> Tensor:
    x = levels.floats(function, input, "input")
    if round_mode not in ROUND_MODES:
        allowed = " or ".join(ROUND_MODES)
        raise ValueError(f"{function}: round_mode must be {allowed}, got {round_mode!r}.")
    signed, narrow, given = bool(signed_input), bool(narrow_range), bool(range_given)
    at = None if axis is None else static_int(function, axis, "axis")
    if at is not None and x.shape.rank is not None:
        at = rules.normalize_axis(function, at, x.shape.rank)
    low, high = _given_range(function, x, ranges, at) if given else _found_range(x, at)
    if at is not None:
        low, high = _placed(low, x, at), _placed(high, x, at)
    return op(
        x,
        low,
        high,
        signed_input=signed,
        num_bits=_checked_bits(function, num_bits, signed, narrow),
        range_given=given,
        round_mode=round_mode,
        narrow_range=narrow,
        name=name,
    )


def masked_gradient(
    gradients: TensorLike, x: Tensor, low: TensorLike, high: TensorLike, axis: int | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradient of `quantize_and_dequantize_v2` with a range that is given, as a function."""
    op = "quantize_and_dequantize_v2"
    g = adopt(gradients, x.dtype)
    rules.merge_dims(op, g.spec.dims, x.spec.dims, "gradients and input")
    low, high = _given_range(op, x, (low, high), axis)
    wide = (low, high) if axis is None else (_placed(low, x, axis), _placed(high, x, axis))
    return _masked(g, x, *wide), zeros_like(low), zeros_like(high)


# --- public ------------------------------------------------------------------------------------


def quantize_and_dequantize(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: AxisLike | None = None,
) -> Tensor:
    """`quantize_and_dequantize_v2`, with a gradient that passes everywhere.

    Args:
      input: a tensor of floats.
      input_min: the smallest number that must be represented, if `range_given`: a scalar, or a
        vector with one for each slice along `axis`.
      input_max: the largest one.
      signed_input: whether the whole numbers have a sign.
      num_bits: how many bits they have.
      range_given: whether the range is given, and numbers outside of it are cut off; otherwise it
        is that of the numbers.
      round_mode: "HALF_TO_EVEN" or "HALF_UP".
      narrow_range: whether the smallest whole number is as far from zero as the largest.
      axis: the axis along which each slice has a range of its own; None: one range for all.

    Returns:
      A tensor of the shape and dtype of `input`.

    Raises:
      InvalidArgumentError: if `input_min` is larger than `input_max`, or there are other numbers of
        bits.
      ShapeError: if the limits have another shape, or there is no such axis.
      ValueError: if there is no such round mode.
      DTypeError: if `input` holds no floats.

    >>> x = tf.constant([-1.0, 0.3, 2.0])
    >>> tf.quantization.quantize_and_dequantize(x, 0, 0, num_bits=3).numpy()
    array([-1.3333334,  0.       ,  2.       ], dtype=float32)
    """
    return _call(
        "quantize_and_dequantize", straight_through_op, input, (input_min, input_max), signed_input,
        num_bits, range_given, round_mode, narrow_range, axis, name,
    )  # fmt: skip


def quantize_and_dequantize_v2(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: AxisLike | None = None,
) -> Tensor:
    """Numbers rounded to multiples of a step, as whole numbers of so many bits would hold them.

    The step is as small as the range allows, and zero stays zero. Gradients pass where a number
    lies in the range, and are zero elsewhere; a range that is not given holds all numbers.

    Args:
      input: a tensor of floats.
      input_min: the smallest number that must be represented, if `range_given`: a scalar, or a
        vector with one for each slice along `axis`.
      input_max: the largest one.
      signed_input: whether the whole numbers have a sign.
      num_bits: how many bits they have.
      range_given: whether the range is given, and numbers outside of it are cut off; otherwise it
        is that of the numbers.
      round_mode: "HALF_TO_EVEN" or "HALF_UP".
      narrow_range: whether the smallest whole number is as far from zero as the largest.
      axis: the axis along which each slice has a range of its own; None: one range for all.

    Returns:
      A tensor of the shape and dtype of `input`.

    Raises:
      InvalidArgumentError: if `input_min` is larger than `input_max`, or there are other numbers of
        bits.
      ShapeError: if the limits have another shape, or there is no such axis.
      ValueError: if there is no such round mode.
      DTypeError: if `input` holds no floats.

    >>> x = tf.constant([-9.0, 0.3, 2.0])
    >>> tf.quantization.quantize_and_dequantize_v2(x, -3.0, 3.0, num_bits=3, range_given=True)
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([-4.,  0.,  2.], dtype=float32)>
    """
    return _call(
        "quantize_and_dequantize_v2", masked_op, input, (input_min, input_max), signed_input,
        num_bits, range_given, round_mode, narrow_range, axis, name,
    )  # fmt: skip
