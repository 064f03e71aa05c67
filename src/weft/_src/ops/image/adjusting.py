"""Brightness, contrast, gamma, hue and saturation of images."""

from __future__ import annotations

import math

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import float32
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import joining
from weft._src.ops.elementwise import arithmetic, casting, clipping, division, unary
from weft._src.ops.host.requiring import require
from weft._src.ops.image import colours
from weft._src.ops.image.converting import in_floats, widened
from weft._src.ops.image.images import (
    CHANNELS,
    HEIGHT,
    WIDTH,
    at_least_images,
    numeric_image,
    size_at,
    with_channels,
)
from weft._src.ops.programs import as_program
from weft._src.ops.reduce import sums


def _factor(op: str, value: TensorLike, name: str, x: Tensor) -> Tensor:
    """A number to change images with, of their dtype."""
    factor = convert_to_tensor(value, dtype_hint=x.dtype)
    if not (factor.dtype.is_floating or factor.dtype.is_integer):
        raise DTypeError(f"{op}: {name} must be a real number, got dtype {factor.dtype.name}.")
    return casting.cast(factor, x.dtype)


def _scalar(op: str, value: TensorLike, name: str, x: Tensor) -> Tensor:
    factor = _factor(op, value, name, x)
    rules.check_rank(op, factor.spec, 0, name=name)
    return factor


def adjust_brightness(image: TensorLike, delta: TensorLike) -> Tensor:
    """Images with a number added; 1 is the difference between black and white.

    Args:
      image: real numbers of any shape; integers are computed with as floats from 0 to 1.
      delta: a number, usually in (-1, 1).

    Returns:
      A tensor of the same shape and dtype; integers stop at the ends of their range.

    Raises:
      DTypeError: if `image` or `delta` is not real.

    >>> tf.image.adjust_brightness(tf.constant([[[10, 250]]], tf.uint8), 0.1).numpy()
    array([[[ 35, 255]]], dtype=uint8)
    """
    op = "adjust_brightness"
    return in_floats(op, image, lambda x: x + _factor(op, delta, "delta", x))


def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    """Images whose distances from the mean of each channel are multiplied by a number.

    Args:
      images: real numbers [..., height, width, channels].
      contrast_factor: a number.

    Returns:
      A tensor of the same shape and dtype; integers stop at the ends of their range.

    Raises:
      ShapeError: if the rank is below 3, or the factor no scalar.
      DTypeError: if `images` or the factor is not real.

    >>> tf.image.adjust_contrast([[[1.0], [3.0]]], 2.0)[0, :, 0].numpy()
    array([0., 4.], dtype=float32)
    """
    op = "adjust_contrast"
    value = at_least_images(op, images, "images")

    def change(x: Tensor) -> Tensor:
        # One axis after the other: sums of whole rows are quick.
        mean = sums.reduce_mean(sums.reduce_mean(x, HEIGHT, keepdims=True), WIDTH, keepdims=True)
        return (x - mean) * _scalar(op, contrast_factor, "contrast_factor", x) + mean

    return in_floats(op, value, widened(change))


def adjust_gamma(image: TensorLike, gamma: TensorLike = 1, gain: TensorLike = 1) -> Tensor:
    """Images to the power of `gamma`, times `gain`.

    Args:
      image: real numbers of any shape; integers are computed with as floats from 0 to 1.
      gamma: a number of 0 or more: above 1 images become darker.
      gain: a number.

    Returns:
      A tensor of the same shape and dtype; integers stop at the ends of their range.

    Raises:
      ValueError: if `gamma` is negative; InvalidArgumentError if it is a tensor whose value is only
        known when the graph runs.
      DTypeError: if an argument is not real.

    >>> tf.image.adjust_gamma([0.5, 1.0], gamma=2.0, gain=3.0).numpy()
    array([0.75, 3.  ], dtype=float32)
    """
    op = "adjust_gamma"

    def change(x: Tensor) -> Tensor:
        power = _factor(op, gamma, "gamma", x)
        known = static.static_value(power)
        if known is None:
            require(lambda g: g >= 0, [power], f"{op}: gamma must not be negative", ["gamma"])
        elif (known < 0).any():
            raise ValueError(f"{op}: gamma must not be negative, got {known}.")
        return _factor(op, gain, "gain", x) * arithmetic.pow(x, power)

    return in_floats(op, image, change)


def _colour_image(op: str, image: TensorLike) -> Tensor:
    return with_channels(op, at_least_images(op, image), 3, "image")


@as_program()
def turned_hue(x: Tensor, delta: Tensor) -> Tensor:
    """Colours whose hue is turned by a part of the circle, the largest and least channel kept."""
    rgb = colours.channels_of(x)
    least, most = colours.extremes(rgb)
    span = most - least
    hue = colours.hue_in_sixths(rgb, most, span) + delta * 6.0
    parts = colours.of_hue(division.floormod(hue, 6.0))
    return joining.stack([least + span * part for part in parts], -1)


def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """Colours whose hue is turned by a part of the circle.

    Args:
      image: real numbers [..., height, width, 3].
      delta: how far, in [-1, 1]: 1 is the whole circle.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ShapeError: if the rank is below 3, there are not three channels, or `delta` is no scalar.
      DTypeError: if `image` or `delta` is not real.

    >>> tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5).numpy()
    array([[[0., 1., 1.]]], dtype=float32)
    """
    op = "adjust_hue"
    value = _colour_image(op, image)
    change = widened(lambda x: turned_hue(x, _scalar(op, delta, "delta", x)))
    return in_floats(op, value, change)


@as_program()
def scaled_saturation(x: Tensor, factor: Tensor) -> Tensor:
    """Colours whose saturation is multiplied by a number, and stays between 0 and 1."""
    hue, saturation, value = colours.hsv_channels(x)
    return colours.colours_of(hue, clipping.clip_by_value(saturation * factor, 0.0, 1.0), value)


def adjust_saturation(
    image: TensorLike, saturation_factor: TensorLike, name: str | None = None
) -> Tensor:
    """Colours whose saturation is multiplied by a number.

    Args:
      image: real numbers [..., height, width, 3].
      saturation_factor: a number: with 0 all becomes grey.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ShapeError: if the rank is below 3, there are not three channels, or the factor is no scalar.
      DTypeError: if `image` or the factor is not real.

    >>> tf.image.adjust_saturation([[[0.5, 0.25, 0.25]]], 2.0).numpy()
    array([[[0.5, 0. , 0. ]]], dtype=float32)
    """
    op = "adjust_saturation"
    value = _colour_image(op, image)
    factor = "saturation_factor"
    change = widened(lambda x: scaled_saturation(x, _scalar(op, saturation_factor, factor, x)))
    return in_floats(op, value, change)


def per_image_standardization(image: TensorLike) -> Tensor:
    """Images less their mean, divided by their standard deviation.

    Args:
      image: real numbers [..., height, width, channels].

    Returns:
      A tensor of float32 of the same shape. The deviation counts as at least 1 / sqrt(n), where an
      image has n numbers, so that equal numbers become zeros.

    Raises:
      ShapeError: if the rank is below 3.
      DTypeError: if `image` is not real.

    >>> tf.image.per_image_standardization([[[1.0], [3.0]]])[0, :, 0].numpy()
    array([-1.,  1.], dtype=float32)
    """
    op = "per_image_standardization"
    x = at_least_images(op, image)
    if not x.dtype.is_bool:
        numeric_image(op, x)
    x = casting.cast(x, float32)
    axes = [HEIGHT, WIDTH, CHANNELS]
    count = casting.cast(math.prod([size_at(x, axis) for axis in axes]), float32)
    centred = x - sums.reduce_mean(x, axes, keepdims=True)
    variance = sums.reduce_mean(unary.square(centred), axes, keepdims=True)
    return centred / arithmetic.maximum(unary.sqrt(variance), unary.rsqrt(count))
