"""Floats as quantized numbers and back: `quantize`, `dequantize`, `quantized_concat`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, AxisLike, DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor, items_of
from weft._src.core.dtypes import QUANTIZED, DType, bfloat16, float32
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import DTypeError, InvalidArgumentError, ShapeError
from weft._src.ops import batching, rules
from weft._src.ops.arrays import joining, source
from weft._src.ops.contexts import RowBatch, RowNode
from weft._src.ops.quantization import levels
from weft._src.ops.registry import NO_NATIVE, NO_XLA, NOT_DIFFERENTIABLE, Op, args, define_op
from weft._src.ops.static import as_float, static_int

MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")
ROUND_MODES = ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN")
_F = np.float32
_PIECE = 1 << 15  # numbers that fit into the cache, with what is made of them
_RANGE = args("min_range max_range", {float32})


class _Grid(NamedTuple):
    """The whole numbers of a quantized dtype."""

    lowest: int
    highest: int
    steps: float

    @property
    def top(self) -> Any:
        """The largest of them that is a float32."""
        return _F(min(self.highest, 2**31 - 128))

    @property
    def half(self) -> Any:
        """Half of their number where they have a sign, else 0."""
        return _F(self.steps / 2 if self.lowest else 0)


def _grid(dtype: DType, narrow_range: bool = False) -> _Grid:
    stored = dtypes.stored_as(dtype)
    return _Grid(stored.min + int(narrow_range), stored.max, 2.0 ** (8 * stored.size))


def _finished(xp: ArrayNamespace, whole: Any, dtype: DType) -> Array:
    """Whole numbers in floats as quantized ones."""
    if dtype.size == 4:
        whole = xp.minimum(whole, _grid(dtype).top)
    numbers = xp.truncated(whole, np.dtype(np.int32))
    return numbers.astype(dtypes.stored_as(dtype).numpy_dtype, copy=False).view(dtype.numpy_dtype)


def _in_pieces(
    xp: ArrayNamespace, function: Callable[[Array], Array], x: Array, dtype: Any, axis: int | None
) -> Array:
    """A function of single numbers, of as many of them at a time as the cache holds."""
    if axis is not None or x.size <= _PIECE:
        return function(x)
    flat, out = x.reshape(-1), xp.empty(x.size, dtype)
    for first in range(0, x.size, _PIECE):
        out[first : first + _PIECE] = function(flat[first : first + _PIECE])
    return out.reshape(x.shape)


# --- one step of all modes ---------------------------------------------------------------------


def _units(xp: ArrayNamespace, low: Any, high: Any, count: float) -> Any:
    """How much all levels of MIN_FIRST cover: one step more than the range."""
    return (high - low).astype(xp.float64) * (count / (count - 1.0))


def _first_at_low(xp: ArrayNamespace, x: Array, low: Any, high: Any, grid: _Grid) -> Array:
    scale = (grid.steps / _units(xp, low, high, grid.steps)).astype(_F)
    offset = levels.half_away(xp, low * scale) - _F(grid.lowest)
    whole = levels.half_away(xp, x * scale)
    whole -= offset
    return xp.clip(whole, _F(grid.lowest), grid.top, out=whole)


def _from_first_at_low(xp: ArrayNamespace, x: Array, low: Any, high: Any, grid: _Grid) -> Array:
    step = (_units(xp, low, high, grid.steps) / grid.steps).astype(_F)
    start = xp.where(low == high, low, levels.half_away(xp, low / step) * step)
    out = xp.multiply(x, step, out=...)
    out += start - _F(grid.lowest) * step
    return out


# --- quantize ----------------------------------------------------------------------------------


def _check_ranges(
    op: str, x: TensorSpec, low: TensorSpec, high: TensorSpec, axis: int | None
) -> TensorSpec:
    """The type of the range that comes out."""
    for name, given in (("min_range", low), ("max_range", high)):
        rules.check_rank(op, given, 0 if axis is None else 1, name=name)
    dims = rules.merge_dims(op, low.dims, high.dims, "min_range and max_range")
    if axis is None:
        return low.with_dims(())
    if x.dims is not None:
        at = rules.normalize_axis(op, axis, len(x.dims))
        what = f"the size of min_range and that of axis {axis} of input"
        dims = (x.dims[at] if dims is None else rules.unify(op, dims[0], x.dims[at], what),)
    return low.with_dims(dims)


def _quantize_infer(
    x: TensorSpec, low: TensorSpec, high: TensorSpec, *, T: DType, axis: int | None, **_: Any
) -> tuple[TensorSpec, ...]:
    ranges = _check_ranges("quantize", x, low, high, axis)
    return x.with_dtype(T), ranges, ranges


def _quantize_kernel(
    xp: ArrayNamespace,
    x: Array,
    low: Array,
    high: Array,
    *,
    T: DType,
    mode: str,
    round_mode: str,
    narrow_range: bool,
    axis: int | None,
    ensure_minimum_range: float,
) -> tuple[Array, Array, Array]:
    if xp.any(low > high):
        raise InvalidArgumentError(
            None, None, f"quantize: max_range must not be below min_range, got {low} and {high}."
        )
    apart = xp.maximum(_F(1), xp.maximum(xp.abs(low), xp.abs(high))) * _F(ensure_minimum_range)
    low = xp.minimum(_F(0), low)
    high = xp.maximum(_F(0), xp.maximum(high, low + apart))
    grid = _grid(T, narrow_range and mode == "SCALED")
    if mode == "SCALED":
        scale = levels.scaled(xp, low, high, grid.lowest, grid.highest).scale
        low, high = _F(grid.lowest) / scale, _F(grid.highest) / scale
    start, end = [levels.placed(xp, value, x.ndim, axis) for value in (low, high)]
    if mode == "SCALED":
        scale = levels.placed(xp, scale, x.ndim, axis)
    elif mode == "MIN_COMBINED":
        scale = ((grid.steps - 1.0) / (end - start).astype(xp.float64)).astype(_F)

    def quantized(x: Array) -> Array:
        if mode == "MIN_FIRST":
            return _finished(xp, _first_at_low(xp, x, start, end, grid), T)
        near = xp.clip(x, start, end, out=...)
        if mode == "SCALED":
            near *= scale
            to_even = round_mode == "HALF_TO_EVEN"
            return _finished(xp, xp.rint(near) if to_even else levels.half_away(xp, near), T)
        near -= start
        near *= scale
        if not grid.lowest:
            near += _F(0.5)
            return _finished(xp, xp.floor(near), T)
        near -= grid.half
        return _finished(xp, levels.half_away(xp, near), T)

    return _in_pieces(xp, quantized, x, T.numpy_dtype, axis), low, high


def _ranged(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Rows share a range, or each has its own; then it is one of the first axis."""
    axis = node.attrs["axis"]
    x, low, high = inputs
    if not any(stacked[1:]):
        moved = axis if axis is None or axis < 0 else axis + 1
        made = node.op(x, low, high, **{**node.attrs, "axis": moved})
        if not isinstance(made, tuple):
            return made
        return (made[0], *[batching.Whole(value) for value in made[1:]])
    if axis is not None:
        raise batching.NotBatched
    return node.op(*b.all_stacked(inputs, stacked), **{**node.attrs, "axis": 0})


quantize_op: Op = define_op(
    "QuantizeV2",
    args("input", {float32}) + _RANGE,
    infer=_quantize_infer,
    kernel=_quantize_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    outputs=3,
    batch=_ranged,
)


class QuantizeV2(NamedTuple):
    """Quantized numbers, and the range that they cover."""

    output: Tensor
    output_min: Tensor
    output_max: Tensor


def _option(op: str, value: str, name: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"{op}: {name} must be one of {', '.join(allowed)}, got {value!r}.")
    return value


def _axis(op: str, axis: Any, x: Tensor) -> int | None:
    at = None if axis is None else static_int(op, axis, "axis")
    if at is not None and x.shape.rank is not None:
        return rules.normalize_axis(op, at, x.shape.rank)
    return at


def _ranges(low: TensorLike, high: TensorLike) -> tuple[Tensor, Tensor]:
    return convert_to_tensor(low, dtype_hint=float32), convert_to_tensor(high, dtype_hint=float32)


def _quantized_type(op: str, dtype: DTypeLike, name: str) -> DType:
    wanted = dtypes.as_dtype(dtype)
    if wanted not in QUANTIZED:
        names = ", ".join(sorted(d.name for d in QUANTIZED))
        raise DTypeError(f"{op}: {name} must be one of {names}, got {wanted.name}.")
    return wanted


def quantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
    narrow_range: bool = False,
    axis: AxisLike | None = None,
    ensure_minimum_range: float = 0.01,
) -> QuantizeV2:
    """Floats as quantized numbers; what lies outside of the range is moved to its end.

    The range is first made to hold zero, and to be at least as long as `ensure_minimum_range` says.
    MIN_COMBINED puts the smallest whole number at its beginning and the largest at its end.
    MIN_FIRST does so too, but moves the levels so that zero is one of them. SCALED multiplies:
    zero becomes the whole number 0, and the range grows at one end.

    Args:
      input: a float32 tensor.
      min_range: the smallest number: a scalar, or a vector with one for each slice along `axis`.
      max_range: the largest one.
      T: the dtype of the result: qint8, quint8, qint16, quint16 or qint32.
      mode: "MIN_COMBINED", "MIN_FIRST" or "SCALED".
      round_mode: "HALF_AWAY_FROM_ZERO", or for SCALED also "HALF_TO_EVEN".
      narrow_range: whether SCALED leaves the smallest whole number out.
      axis: the axis along which each slice has a range of its own; None: one range for all.
      ensure_minimum_range: the least length of the range, as a part of its larger end (or of 1).

    Returns:
      A named tuple (output, output_min, output_max): the numbers, and the range they cover, which
      `dequantize` wants.

    Raises:
      InvalidArgumentError: if `max_range` is below `min_range`, or the round mode is not for the
        mode.
      ShapeError: if the limits have another shape, or there is no such axis.
      ValueError: if there is no such mode.
      DTypeError: if `T` is no quantized dtype, or `input` is not float32.

    >>> tf.quantization.quantize([0.0, 0.5, 9.0], 0.0, 1.0, tf.quint8)[0]
    <tf.Tensor: shape=(3,), dtype=quint8, numpy=array([  0, 128, 255], dtype=uint8)>
    """
    x = convert_to_tensor(input, dtype_hint=float32)
    _option("quantize", mode, "mode", MODES)
    _option("quantize", round_mode, "round_mode", ROUND_MODES)
    if mode != "SCALED" and round_mode != "HALF_AWAY_FROM_ZERO":
        raise InvalidArgumentError(
            None, None, f"quantize: round_mode {round_mode} is for mode SCALED, got {mode}."
        )
    try:
        minimum = as_float(ensure_minimum_range)
    except (TypeError, ValueError):
        raise TypeError(
            f"quantize: ensure_minimum_range must be a number, got {ensure_minimum_range!r}."
        ) from None
    out = quantize_op(
        x,
        *_ranges(min_range, max_range),
        T=_quantized_type("quantize", T, "T"),
        mode=mode,
        round_mode=round_mode,
        narrow_range=bool(narrow_range),
        axis=_axis("quantize", axis, x),
        ensure_minimum_range=minimum,
        name=name,
    )
    return QuantizeV2(*out)


# --- dequantize --------------------------------------------------------------------------------


def _dequantize_infer(
    x: TensorSpec, low: TensorSpec, high: TensorSpec, *, axis: int | None, dtype: DType, **_: Any
) -> TensorSpec:
    _check_ranges("dequantize", x, low, high, axis)
    return x.with_dtype(dtype)


def _dequantize_kernel(
    xp: ArrayNamespace,
    x: Array,
    low: Array,
    high: Array,
    *,
    mode: str,
    axis: int | None,
    narrow_range: bool,
    dtype: DType,
) -> Array:
    grid = _grid(dtypes.from_numpy(x.dtype), narrow_range and mode == "SCALED")
    low, high = [levels.placed(xp, value, x.ndim, axis) for value in (low, high)]
    step = (high - low) / (_F(grid.highest) - _F(grid.lowest))
    if mode == "SCALED":
        step = high / _F(grid.highest)
        if grid.lowest < 0:
            step = xp.maximum(low / _F(grid.lowest), step)

    def floats(x: Array) -> Array:
        numbers = dtypes.plain(x).astype(_F)
        if mode == "MIN_FIRST":
            out = _from_first_at_low(xp, numbers, low, high, grid)
        elif mode == "SCALED":
            out = numbers * step
        else:
            out = xp.add(numbers, grid.half, out=...)
            out *= step
            out += low
        return out.astype(dtype.numpy_dtype, copy=False)

    return _in_pieces(xp, floats, x, dtype.numpy_dtype, axis)


dequantize_op: Op = define_op(
    "Dequantize",
    args("input", QUANTIZED) + _RANGE,
    infer=_dequantize_infer,
    kernel=_dequantize_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    batch=_ranged,
)


def dequantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    axis: AxisLike | None = None,
    narrow_range: bool = False,
    dtype: DTypeLike = float32,
) -> Tensor:
    """Quantized numbers as floats again: what `quantize` made, with the range that it gave.

    Args:
      input: a tensor of a quantized dtype.
      min_range: the beginning of the range: a scalar, or a vector with one for each slice along
        `axis`.
      max_range: its end.
      mode: "MIN_COMBINED", "MIN_FIRST" or "SCALED", as it was quantized.
      axis: the axis along which each slice has a range of its own; None: one range for all.
      narrow_range: whether SCALED has left the smallest whole number out.
      dtype: the dtype of the result, float32 or bfloat16.

    Returns:
      A tensor of the shape of `input`.

    Raises:
      ShapeError: if the limits have another shape, or there is no such axis.
      ValueError: if there is no such mode.
      DTypeError: if `input` is not quantized, or `dtype` is another one.

    >>> x, low, high = tf.quantization.quantize([-1.0, 0.5], -1.0, 1.0, tf.qint8, mode="SCALED")
    >>> tf.quantization.dequantize(x, low, high, mode="SCALED").numpy().round(2)
    array([-1. ,  0.5], dtype=float32)
    """
    x = convert_to_tensor(input)
    wanted = dtypes.as_dtype(dtype)
    if wanted not in (float32, bfloat16):
        raise DTypeError(f"dequantize: dtype must be float32 or bfloat16, got {wanted.name}.")
    return dequantize_op(
        x,
        *_ranges(min_range, max_range),
        mode=_option("dequantize", mode, "mode", MODES),
        axis=_axis("dequantize", axis, x),
        narrow_range=bool(narrow_range),
        dtype=wanted,
        name=name,
    )


# --- quantized_concat --------------------------------------------------------------------------


def _concat_infer(
    lows: TensorSpec, highs: TensorSpec, *values: TensorSpec, axis: int
) -> tuple[TensorSpec, ...]:
    for name, given in (("input_mins", lows), ("input_maxes", highs)):
        rules.check_rank("quantized_concat", given, 1, name=name)
        if given.dims is not None:
            what = f"the numbers of {name} and of values"
            rules.unify("quantized_concat", given.dims[0], len(values), what)
    joined = joining.concat_op.infer(*values, axis=axis)
    return joined, rules.scalar(float32), rules.scalar(float32)


def _concat_kernel(
    xp: ArrayNamespace, lows: Array, highs: Array, *values: Array, axis: int
) -> tuple[Array, Array, Array]:
    dtype = dtypes.from_numpy(values[0].dtype)
    grid = _grid(dtype)
    low, high = xp.minimum(_F(0), xp.min(lows)), xp.max(highs)
    if grid.lowest < 0:  # the same on both sides of zero
        high = xp.maximum(xp.abs(low), xp.abs(high))
        low = -high
    parts: list[Array] = []
    for value, start, end in zip(values, lows, highs, strict=True):
        if (start, end) != (low, high):
            numbers = dtypes.plain(value).astype(_F)
            floats = _from_first_at_low(xp, numbers, start, end, grid)
            value = _finished(xp, _first_at_low(xp, floats, low, high, grid), dtype)
        parts.append(value)
    return xp.concatenate(parts, axis), low, high


def _concat_rows(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Rows of values with the same ranges."""
    if any(stacked[:2]):
        raise batching.NotBatched
    values = b.all_stacked(inputs[2:], stacked[2:])
    axis = node.attrs["axis"]
    moved = axis + 1 if axis >= 0 else axis
    joined, *ranges = node.op(*inputs[:2], *values, axis=moved)
    return (joined, *[batching.Whole(value) for value in ranges])


quantized_concat_op: Op = define_op(
    "QuantizedConcat",
    args("input_mins input_maxes", {float32}) + args("*values", QUANTIZED),
    infer=_concat_infer,
    kernel=_concat_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    outputs=3,
    batch=_concat_rows,
)


class QuantizedConcat(NamedTuple):
    """Joined quantized numbers, and the range that they cover."""

    output: Tensor
    output_min: Tensor
    output_max: Tensor


def quantized_concat(
    concat_dim: AxisLike,
    values: Any,
    input_mins: Any,
    input_maxes: Any,
    name: str | None = None,
) -> QuantizedConcat:
    """Joins tensors of quantized numbers along an axis, on the levels of a range for all of them.

    Args:
      concat_dim: the axis, counted from the end if negative.
      values: a list of tensors of one quantized dtype; their shapes differ along this axis only.
      input_mins: for each of them the beginning of its range, a scalar.
      input_maxes: for each of them the end.

    Returns:
      A named tuple (output, output_min, output_max): the numbers, and the range they cover, which
      holds zero (and is the same on both sides of it if they have a sign).

    Raises:
      ShapeError: if shapes do not fit, there is no such axis, or a limit is no scalar.
      ValueError: if there are no values, or another number of limits.
      DTypeError: if the values are not quantized, or have different dtypes.

    >>> x, low, high = tf.quantization.quantize([1.0, 2.0], 0.0, 2.0, tf.quint8)
    >>> y, _, top = tf.quantization.quantize([4.0], 0.0, 4.0, tf.quint8)
    >>> tf.quantization.quantized_concat(0, [x, y], [low, low], [high, top])[0].numpy()
    array([ 64, 128, 255], dtype=uint8)
    """
    op = "quantized_concat"
    tensors = [convert_to_tensor(x) for x in items_of(op, values, "values")]
    if not tensors:
        raise ValueError(f"{op}: values must hold at least one tensor.")
    limits = []
    for what, given in (("input_mins", input_mins), ("input_maxes", input_maxes)):
        scalars = [convert_to_tensor(x, dtype_hint=float32) for x in items_of(op, given, what)]
        if len(scalars) != len(tensors):
            raise ValueError(
                f"{op}: {what} must be as many as values, {len(tensors)}, got {len(scalars)}."
            )
        for x in scalars:
            if x.shape.rank not in (None, 0):
                raise ShapeError(f"{op}: {what} must be scalars, got shape {x.shape}.")
        limits.append(source.pack_op(*scalars, axis=0))
    axis = static_int(op, concat_dim, "concat_dim")
    return QuantizedConcat(*quantized_concat_op(*limits, *tensors, axis=axis, name=name))
