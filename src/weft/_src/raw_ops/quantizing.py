"""Raw ops that round numbers to few steps, as training for quantized inference does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import weft as tf
from weft._src.core.aliases import TensorLike


def _nudged(low: Any, high: Any, num_bits: int, narrow_range: bool) -> tuple[Any, Any, Any]:
    """Bounds moved so that 0 is one of the steps, and the length of a step."""
    if not 2 <= num_bits <= 16:
        raise ValueError(f"FakeQuant: num_bits must be between 2 and 16, got {num_bits}.")
    first, last = float(narrow_range), float(2**num_bits - 1)
    step = (high - low) / (last - first)
    zero = tf.floor(first - low / step + 0.5)
    zero = tf.clip_by_value(zero, first, last)
    return (first - zero) * step, (last - zero) * step, step


def _rounded(x: tf.Tensor, low: Any, high: Any, num_bits: int, narrow_range: bool) -> tf.Tensor:
    start, end, step = _nudged(low, high, num_bits, narrow_range)
    steps = tf.floor((tf.clip_by_value(x, start, end) - start) / step + 0.5)
    # Bounds that are both 0 have no steps.
    return tf.where(tf.equal(low, high), tf.zeros_like(x), steps * step + start)


def _bounds(low: TensorLike, high: TensorLike) -> list[tf.Tensor]:
    return [tf.convert_to_tensor(bound, tf.float32) for bound in (low, high)]


def fake_quantized(
    inputs: TensorLike,
    min: TensorLike = -6.0,
    max: TensorLike = 6.0,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """The gradient is that of the identity between the bounds; outside it belongs to them."""

    @tf.custom_gradient
    def rounded(x: tf.Tensor, low: tf.Tensor, high: tf.Tensor) -> Any:
        def gradient(g: tf.Tensor) -> Any:
            return of_fake_quantized(g, x, low, high, num_bits, narrow_range)

        return _rounded(x, low, high, num_bits, narrow_range), gradient

    return rounded(tf.convert_to_tensor(inputs, tf.float32), *_bounds(min, max))


def of_fake_quantized(
    gradients: TensorLike,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """The gradients of the input and of both bounds: numbers, or one for each channel."""
    low, high = _bounds(min, max)
    g, x = [tf.convert_to_tensor(value, tf.float32) for value in (gradients, inputs)]
    start, end, _ = _nudged(low, high, num_bits, narrow_range)
    none, empty = tf.zeros_like(g), tf.equal(low, high)
    below = tf.where(tf.logical_or(empty, x >= start), none, g)
    above = tf.where(tf.logical_or(empty, x <= end), none, g)
    per_channel = low.shape.rank == 1

    def total(values: tf.Tensor) -> tf.Tensor:
        axes = list(range(values.ndim - 1)) if per_channel else None
        return tf.reduce_sum(values, axes)

    return g - below - above, total(below), total(above)


def of_fixed_bounds(
    gradients: TensorLike,
    inputs: TensorLike,
    min: float = -6.0,
    max: float = 6.0,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    return of_fake_quantized(gradients, inputs, min, max, num_bits, narrow_range)[0]


# --- to integers and back ------------------------------------------------------------------------

_ROUNDINGS: dict[str, Callable[[Any], Any]] = {
    "HALF_TO_EVEN": tf.round,
    "HALF_UP": lambda x: tf.floor(x + 0.5),
}


def there_and_back(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    num_bits: Any = 8,
    signed_input: bool = True,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    narrow_range: bool = False,
    axis: int = -1,
    name: str | None = None,
) -> tf.Tensor:
    """Rounded to integers of so many bits, and scaled back; the gradient is that of the identity.

    One scale serves all numbers, or each part along an axis has its own.
    """
    if round_mode not in _ROUNDINGS:
        raise ValueError(
            f"QuantizeAndDequantize: round_mode must be one of {sorted(_ROUNDINGS)}, got "
            f"{round_mode!r}."
        )
    x = tf.convert_to_tensor(input)
    low, high = _range(x, input_min, input_max, range_given, axis)
    bits = tf.cast(num_bits, tf.int32)
    steps = tf.cast(tf.bitwise.left_shift(1, bits - (1 if signed_input else 0)), x.dtype)
    most = steps - 1
    least = -steps + (1 if narrow_range else 0) if signed_input else tf.zeros_like(steps)

    @tf.custom_gradient
    def rounded(x: tf.Tensor, low: tf.Tensor, high: tf.Tensor) -> Any:
        start, end, scale, step = _scaled(low, high, least, most)

        def gradient(g: tf.Tensor) -> Any:
            inside = tf.logical_and(x >= low, x <= high) if range_given else tf.ones_like(x) > 0
            return tf.where(inside, g, tf.zeros_like(g)), tf.zeros_like(low), tf.zeros_like(high)

        inside = tf.clip_by_value(x, start, end) if range_given else x
        return _ROUNDINGS[round_mode](inside * scale) * step, gradient

    return rounded(x, low, high)


def _range(x: tf.Tensor, low: Any, high: Any, given: bool, axis: int) -> tuple[Any, Any]:
    if not given:
        others = [i for i in range(x.ndim) if i != axis] if axis >= 0 else None
        return (
            tf.reduce_min(x, others, keepdims=axis >= 0),
            tf.reduce_max(x, others, keepdims=axis >= 0),
        )
    bounds = [tf.convert_to_tensor(bound, dtype_hint=x.dtype) for bound in (low, high)]
    if axis >= 0:
        shape = [-1 if i == axis else 1 for i in range(x.ndim)]
        bounds = [tf.reshape(bound, shape) for bound in bounds]
    return bounds[0], bounds[1]


def _scaled(low: Any, high: Any, least: Any, most: Any) -> tuple[Any, Any, Any, Any]:
    """The range that whole steps cover, and the factors to steps and back."""
    largest = tf.fill(tf.shape(low), low.dtype.max)
    by_low = tf.where(least * low > 0, tf.math.divide_no_nan(least, low), largest)
    by_high = tf.where(most * high > 0, tf.math.divide_no_nan(most, high), largest)
    takes_low = by_low < by_high
    scale = tf.where(takes_low, by_low, by_high)
    step = tf.where(takes_low, tf.math.divide_no_nan(low, least), high / most)
    return (
        tf.where(takes_low, low, least * step),
        tf.where(takes_low, most * step, high),
        scale,
        step,
    )
