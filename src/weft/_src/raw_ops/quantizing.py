"""Raw ops of quantization: -1 for no axis, and bits that are a tensor."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.ops.quantization import there_and_back


def _axis(axis: int) -> int | None:
    return None if axis == -1 else axis


def quantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    axis: int = -1,
    **options: Any,
) -> Any:
    return tf.quantization.quantize(input, min_range, max_range, T, axis=_axis(axis), **options)


def dequantize(
    input: TensorLike, min_range: TensorLike, max_range: TensorLike, axis: int = -1, **options: Any
) -> tf.Tensor:
    return tf.quantization.dequantize(input, min_range, max_range, axis=_axis(axis), **options)


def straight_through(
    input: TensorLike, input_min: TensorLike, input_max: TensorLike, axis: int = -1, **options: Any
) -> tf.Tensor:
    function = tf.quantization.quantize_and_dequantize
    return function(input, input_min, input_max, axis=_axis(axis), **options)


def masked(
    input: TensorLike, input_min: TensorLike, input_max: TensorLike, axis: int = -1, **options: Any
) -> tf.Tensor:
    function = tf.quantization.quantize_and_dequantize_v2
    return function(input, input_min, input_max, axis=_axis(axis), **options)


def masked_gradient(
    gradients: TensorLike,
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    axis: int = -1,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    x = tf.convert_to_tensor(input)
    return there_and_back.masked_gradient(gradients, x, input_min, input_max, _axis(axis))
