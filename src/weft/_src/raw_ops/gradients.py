"""Raw ops that are gradients of other ops: for an output gradient, that of the input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import weft as tf
from weft._src.core.aliases import ShapeLike, TensorLike, WindowLike
from weft._src.core.convert import adopt
from weft._src.ops.arrays import padding
from weft._src.ops.arrays.shape import shape_argument
from weft._src.ops.indexing import slicing


def pulled_back(function: Callable[[Any], Any], x: Any, g: Any) -> tf.Tensor:
    """The gradient of a function at x, for a gradient of its result."""
    x = tf.convert_to_tensor(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        out = function(x)
    return tf.convert_to_tensor(tape.gradient(out, x, tf.cast(g, out.dtype)))


def _tensors(*values: Any) -> list[tf.Tensor]:
    first = tf.convert_to_tensor(values[0])
    return [first, *[adopt(value, first.dtype) for value in values[1:]]]


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
    return pulled_back(tf.nn.softplus, features, gradients)


def of_softsign(gradients: TensorLike, features: TensorLike, name: str | None = None) -> tf.Tensor:
    return pulled_back(tf.nn.softsign, features, gradients)


def of_leaky_relu(
    gradients: TensorLike, features: TensorLike, alpha: float = 0.2, name: str | None = None
) -> tf.Tensor:
    return pulled_back(lambda x: tf.nn.leaky_relu(x, alpha), features, gradients)


def of_elu(gradients: TensorLike, outputs: Any, name: str | None = None) -> tf.Tensor:
    g, y = _tensors(gradients, outputs)
    return tf.where(y < 0, g * (y + 1), g)


_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


def of_selu(gradients: TensorLike, outputs: Any, name: str | None = None) -> tf.Tensor:
    g, y = _tensors(gradients, outputs)
    return tf.where(y < 0, g * (y + _SELU_SCALE * _SELU_ALPHA), g * _SELU_SCALE)


def of_cholesky(l: TensorLike, grad: TensorLike, name: str | None = None) -> tf.Tensor:
    """The gradient of the matrix whose factor is known."""
    factor, g = _tensors(l, grad)
    return pulled_back(tf.linalg.cholesky, tf.matmul(factor, factor, adjoint_b=True), g)


# --- moving elements -----------------------------------------------------------------------------


def of_strided_slice(
    shape: ShapeLike,
    begin: TensorLike,
    end: TensorLike,
    strides: WindowLike,
    dy: TensorLike,
    name: str | None = None,
    **masks: Any,
) -> tf.Tensor:
    index, dynamic = slicing.slice_entries(begin, end, strides, **masks)
    g, sizes = tf.convert_to_tensor(dy), shape_argument(shape)
    return slicing.strided_slice_grad_op(sizes, g, *dynamic, index=index, name=name)


def of_mirror_pad(
    input: TensorLike, paddings: TensorLike, mode: str, name: str | None = None
) -> tf.Tensor:
    g, pairs = tf.convert_to_tensor(input), tf.convert_to_tensor(paddings, dtype_hint=tf.int32)
    sizes = tf.shape(g) - tf.cast(tf.reduce_sum(pairs, 1), tf.int32)
    return padding.mirror_pad_grad_op(g, pairs, sizes, mode=mode, name=name)


def of_tile(input: TensorLike, multiples: TensorLike, name: str | None = None) -> tf.Tensor:
    g, counts = tf.convert_to_tensor(input), tf.convert_to_tensor(multiples, dtype_hint=tf.int32)
    sizes = tf.shape(g, counts.dtype) // counts
    return pulled_back(lambda x: tf.tile(x, counts), tf.zeros(sizes, g.dtype), g)


# --- looking elements up -------------------------------------------------------------------------


def _of_segments(weight: Callable[[tf.Tensor], tf.Tensor]) -> Callable[..., tf.Tensor]:
    """The gradient of sums of rows: each row gets that of its segment, with the weight of that."""

    def gradient(
        grad: TensorLike,
        indices: TensorLike,
        segment_ids: TensorLike,
        output_dim0: TensorLike,
        name: str | None = None,
    ) -> tf.Tensor:
        g = tf.convert_to_tensor(grad)
        rows = tf.convert_to_tensor(indices, dtype_hint=tf.int32)
        ids = tf.convert_to_tensor(segment_ids, dtype_hint=tf.int32)
        ones = tf.ones(tf.shape(ids), g.dtype)
        counts = tf.math.unsorted_segment_sum(ones, ids, tf.shape(g)[0])
        weights = weight(tf.maximum(counts, tf.ones([], g.dtype)))
        shape = tf.concat([tf.shape(weights), tf.ones_like(tf.shape(g)[1:])], 0)
        picked = tf.gather(g * tf.reshape(weights, shape), ids)
        return tf.math.unsorted_segment_sum(picked, rows, output_dim0, name=name)

    return gradient


of_segment_sum = _of_segments(tf.ones_like)
of_segment_mean = _of_segments(tf.math.reciprocal)
of_segment_sqrt_n = _of_segments(tf.math.rsqrt)


# --- what has no gradient ------------------------------------------------------------------------


def prevented(input: TensorLike, message: str = "", name: str | None = None) -> tf.Tensor:
    """The input; to differentiate it is an error with the message."""

    @tf.custom_gradient
    def identity(x: tf.Tensor) -> tuple[tf.Tensor, Callable[[Any], Any]]:
        def refuse(g: Any) -> Any:
            raise LookupError(f"PreventGradient: there is no gradient. {message}".strip())

        return tf.identity(x, name=name), refuse

    return identity(tf.convert_to_tensor(input))
