"""Raw ops that are gradients of other ops: for an output gradient, that of the input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import weft as tf
from weft._src.core.aliases import ShapeLike, TensorLike, WindowLike


def _pulled_back(function: Callable[[Any], Any], x: Any, g: Any) -> tf.Tensor:
    """The gradient of a function at x, for a gradient of its result."""
    x = tf.convert_to_tensor(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        out = function(x)
    return tf.convert_to_tensor(tape.gradient(out, x, tf.cast(g, out.dtype)))


def _tensors(*values: Any) -> list[tf.Tensor]:
    return [tf.convert_to_tensor(value) for value in values]


def of_sigmoid(y: TensorLike, dy: TensorLike, name: str | None = None) -> tf.Tensor:
    y, dy = _tensors(y, dy)
    return dy * y * (1 - y)


def of_tanh(y: TensorLike, dy: TensorLike, name: str | None = None) -> tf.Tensor:
    y, dy = _tensors(y, dy)
    return dy * (1 - y * y)


def of_sqrt(y: TensorLike, dy: TensorLike, name: str | None = None) -> tf.Tensor:
    y, dy = _tensors(y, dy)
    return dy * 0.5 / y


def of_rsqrt(y: TensorLike, dy: TensorLike, name: str | None = None) -> tf.Tensor:
    y, dy = _tensors(y, dy)
    return dy * -0.5 * y * y * y


def of_reciprocal(y: TensorLike, dy: TensorLike, name: str | None = None) -> tf.Tensor:
    y, dy = _tensors(y, dy)
    return -dy * y * y


def of_softplus(gradients: TensorLike, features: TensorLike, name: str | None = None) -> tf.Tensor:
    return _pulled_back(tf.nn.softplus, features, gradients)


def of_softsign(gradients: TensorLike, features: TensorLike, name: str | None = None) -> tf.Tensor:
    return _pulled_back(tf.nn.softsign, features, gradients)


def of_leaky_relu(
    gradients: TensorLike, features: TensorLike, alpha: float = 0.2, name: str | None = None
) -> tf.Tensor:
    return _pulled_back(lambda x: tf.nn.leaky_relu(x, alpha), features, gradients)


def of_elu(gradients: TensorLike, outputs: Any, name: str | None = None) -> tf.Tensor:
    g, y = _tensors(gradients, outputs)
    return tf.where(y < 0, g * (y + 1), g)


_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


def of_selu(gradients: TensorLike, outputs: Any, name: str | None = None) -> tf.Tensor:
    g, y = _tensors(gradients, outputs)
    return tf.where(y < 0, g * (y + _SELU_SCALE * _SELU_ALPHA), g * _SELU_SCALE)


def of_bias(
    out_backprop: TensorLike, data_format: str = "NHWC", name: str | None = None
) -> tf.Tensor:
    (g,) = _tensors(out_backprop)
    rank = g.shape.rank
    if rank is None or rank < 2:
        raise ValueError(f"BiasAddGrad: out_backprop must have rank 2 or more, got {g.shape}.")
    channel = 1 if data_format.startswith("NC") else rank - 1
    return tf.reduce_sum(g, [axis for axis in range(rank) if axis != channel])


def of_convolved(
    input_sizes: Any,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: WindowLike,
    padding: str,
    data_format: str = "NHWC",
    dilations: WindowLike = (1, 1, 1, 1),
    name: str | None = None,
) -> tf.Tensor:
    g, kernel = _tensors(out_backprop, filter)

    def convolved(x: TensorLike) -> Any:
        return tf.nn.conv2d(x, kernel, strides, padding, data_format, dilations)

    return _pulled_back(convolved, tf.zeros(input_sizes, g.dtype), g)


def of_filter(
    input: TensorLike,
    filter_sizes: Any,
    out_backprop: TensorLike,
    strides: WindowLike,
    padding: str,
    data_format: str = "NHWC",
    dilations: WindowLike = (1, 1, 1, 1),
    name: str | None = None,
) -> tf.Tensor:
    x, g = _tensors(input, out_backprop)

    def convolved(kernel: Any) -> Any:
        return tf.nn.conv2d(x, kernel, strides, padding, data_format, dilations)

    return _pulled_back(convolved, tf.zeros(filter_sizes, g.dtype), g)


def of_max_pool(
    orig_input: TensorLike,
    orig_output: TensorLike,
    grad: TensorLike,
    ksize: WindowLike,
    strides: WindowLike,
    padding: str,
    data_format: str = "NHWC",
    name: str | None = None,
) -> tf.Tensor:
    def pooled(x: TensorLike) -> Any:
        return tf.nn.max_pool(x, ksize, strides, padding, data_format)

    return _pulled_back(pooled, orig_input, grad)


def of_strided_slice(
    shape: ShapeLike,
    begin: TensorLike,
    end: TensorLike,
    strides: WindowLike,
    dy: TensorLike,
    name: str | None = None,
    **masks: Any,
) -> tf.Tensor:
    (g,) = _tensors(dy)
    whole = tf.zeros(shape, g.dtype)
    return _pulled_back(lambda x: tf.strided_slice(x, begin, end, strides, **masks), whole, g)
