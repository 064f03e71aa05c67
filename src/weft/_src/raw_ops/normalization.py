"""Raw ops of batch normalisation in one step, and of its gradient."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.ops.nn.normalization import bias_add_grad_op

_FORMATS = ("NHWC", "NCHW", "NDHWC", "NCDHW")


class _Images:
    """Images in any format: which axes are summed over, and vectors as wide as the channels."""

    def __init__(self, op: str, x: TensorLike, data_format: str) -> None:
        if data_format not in _FORMATS:
            raise ValueError(f"{op}: data_format must be one of {_FORMATS}, got {data_format!r}.")
        rank = len(data_format)
        self.given = tf.convert_to_tensor(x)
        if self.given.shape.rank not in (None, rank):
            raise tf.errors.ShapeError(
                f"{op}: x must have rank {rank} in the format {data_format}, got shape "
                f"{self.given.shape}."
            )
        self.x = tf.cast(tf.ensure_shape(self.given, [None] * rank), tf.float32)
        channels = 1 if data_format[1] == "C" else rank - 1
        self.axes = [i for i in range(rank) if i != channels]
        self._shape = [-1] + [1] * (rank - 2) if data_format[1] == "C" else [-1]

    def across(self, vector: tf.Tensor) -> tf.Tensor:
        """A number for each channel, for all places."""
        return tf.reshape(vector, self._shape)

    def returned(self, y: tf.Tensor) -> tf.Tensor:
        return tf.cast(y, self.given.dtype)

    def count(self) -> tf.Tensor:
        """How many numbers each channel has."""
        sizes = tf.gather(tf.shape(self.x), self.axes)
        return tf.cast(tf.reduce_prod(sizes), tf.float32)


def normalized(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    epsilon: float = 0.0001,
    exponential_avg_factor: float = 1.0,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> tuple[tf.Tensor, ...]:
    """The result, the moments from now on, and the moments that it was made with."""
    images = _Images("FusedBatchNorm", x, data_format)
    factor, shift, old_mean, old_variance = [
        tf.convert_to_tensor(v, tf.float32) for v in (scale, offset, mean, variance)
    ]
    if is_training:
        used_mean, used_variance = tf.nn.moments(images.x, images.axes)
        count = images.count()
        known = used_variance * (count / tf.maximum(count - 1.0, 1.0))
        new_mean, new_variance = [
            found if exponential_avg_factor == 1.0 else old + exponential_avg_factor * (found - old)
            for old, found in ((old_mean, used_mean), (old_variance, known))
        ]
    else:
        new_mean, new_variance = used_mean, used_variance = old_mean, old_variance
    steepness = factor * tf.math.rsqrt(used_variance + epsilon)
    y = (images.x - images.across(used_mean)) * images.across(steepness) + images.across(shift)
    return images.returned(y), new_mean, new_variance, used_mean, used_variance


def normalized_with_space(*args: Any, **kwargs: Any) -> tuple[tf.Tensor, ...]:
    """With what TensorFlow keeps for its gradient on other devices: nothing."""
    return (*normalized(*args, **kwargs), tf.zeros([0]))


def of_normalized(
    y_backprop: TensorLike,
    x: TensorLike,
    scale: TensorLike,
    reserve_space_1: TensorLike,
    reserve_space_2: TensorLike,
    epsilon: float = 0.0001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> tuple[tf.Tensor, ...]:
    """The gradients of input, scale and offset."""
    op = "FusedBatchNormGrad"
    images, gradients = _Images(op, x, data_format), _Images(op, y_backprop, data_format)
    factor, mean, variance = [
        tf.convert_to_tensor(v, tf.float32) for v in (scale, reserve_space_1, reserve_space_2)
    ]
    g, narrowness = gradients.x, tf.math.rsqrt(variance + epsilon)
    centred = (images.x - images.across(mean)) * images.across(narrowness)
    of_offset = tf.reduce_sum(g, images.axes)
    of_scale = tf.reduce_sum(g * centred, images.axes)
    if is_training:
        count = images.count()
        g = g - images.across(of_offset / count) - centred * images.across(of_scale / count)
    of_x = images.returned(g * images.across(factor * narrowness))
    return of_x, of_scale, of_offset, tf.zeros([]), tf.zeros([])


def of_normalized_with_space(reserve_space_3: TensorLike, **kwargs: Any) -> tuple[tf.Tensor, ...]:
    return of_normalized(**kwargs)


def of_bias(
    out_backprop: TensorLike, data_format: str = "NHWC", name: str | None = None
) -> tf.Tensor:
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError(f"BiasAddGrad: data_format must be 'NHWC' or 'NCHW', got {data_format!r}.")
    first = data_format == "NCHW"
    return bias_add_grad_op(tf.convert_to_tensor(out_backprop), channels_first=first, name=name)
