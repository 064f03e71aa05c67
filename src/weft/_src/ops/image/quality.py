"""How alike two images are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import float32
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import joining, padding, ranges, shape as shapes, tiling
from weft._src.ops.elementwise import arithmetic, casting, guarded, unary
from weft._src.ops.image.converting import convert_image_dtype
from weft._src.ops.image.images import (
    CHANNELS,
    HEIGHT,
    WIDTH,
    at_least_images,
    check,
    numeric_image,
    size_at,
)
from weft._src.ops.nn import activations, depthwise, pooling, softmax
from weft._src.ops.reduce import products, sums

_PIXELS = [HEIGHT, WIDTH, CHANNELS]


def _pair(op: str, first: Any, second: Any, names: tuple[str, str], max_val: Any) -> Any:
    """Two images of one dtype as float32, and the largest number in the same way."""
    x = at_least_images(op, first, names[0])
    y = at_least_images(op, convert_to_tensor(second, dtype_hint=x.dtype), names[1])
    numeric_image(op, x, names[0])
    if x.dtype is not y.dtype:
        raise DTypeError(
            f"{op}: both images must have one dtype, got {x.dtype.name} and {y.dtype.name}."
        )
    rules.broadcast_dims(op, x.spec.dims, y.spec.dims)
    largest = casting.cast(convert_to_tensor(max_val), x.dtype)
    rules.check_rank(op, largest.spec, 0, name="max_val")
    return [convert_image_dtype(value, float32) for value in (x, y, largest)]


def psnr(a: TensorLike, b: TensorLike, max_val: TensorLike, name: str | None = None) -> Tensor:
    """The ratio of the largest number to the difference of two images, in decibels.

    Args:
      a: real numbers [..., height, width, channels].
      b: others of the same dtype, whose shape broadcasts with that of `a`.
      max_val: the difference between black and white: 255 for uint8, usually 1 for floats.

    Returns:
      A tensor of float32 without the last three axes; infinite where images are equal.

    Raises:
      ShapeError: if a rank is below 3, or shapes do not broadcast.
      DTypeError: if dtypes differ or are not real.

    >>> tf.image.psnr(tf.zeros([2, 2, 1]), tf.fill([2, 2, 1], 0.1), max_val=1.0).numpy().round(3)
    np.float32(20.0)
    """
    x, y, largest = _pair("psnr", a, b, ("a", "b"), max_val)
    error = sums.reduce_mean(guarded.squared_difference(x, y), _PIXELS)
    tenth = 10.0 / math.log(10.0)
    return 2.0 * tenth * arithmetic.log(largest) - tenth * arithmetic.log(error)


# --- structural similarity -----------------------------------------------------------------------


class _Form(NamedTuple):
    """How the surroundings of pixels are compared."""

    size: int
    window: Tensor  # so many weights, which add up to one
    k1: Tensor
    k2: Tensor


def _form(op: str, filter_size: Any, filter_sigma: Any, k1: Any, k2: Any) -> _Form:
    size = static.static_int(op, filter_size, "filter_size")
    if size < 1:
        raise ValueError(f"{op}: filter_size must be positive, got {size}.")
    sigma, k1, k2 = [adopt(value, float32) for value in (filter_sigma, k1, k2)]
    for value, name in ((sigma, "filter_sigma"), (k1, "k1"), (k2, "k2")):
        rules.check_rank(op, value.spec, 0, name=name)
    at = casting.cast(ranges.range(size), float32) - (size - 1) / 2
    return _Form(size, softmax.softmax(-0.5 * unary.square(at / sigma)), k1, k2)


def _blurred(x: Tensor, form: _Form) -> Tensor:
    """The means around each pixel, without the border that is narrower than the window."""
    lead, x, depth = shapes.shape(x)[:HEIGHT], _as_batch(x), size_at(x, CHANNELS)
    for shape in ([-1, 1, 1, 1], [1, -1, 1, 1]):
        filters = shapes.reshape(form.window, shape)
        filters = tiling.tile(filters, joining.stack([1, 1, depth, 1]))
        x = depthwise.depthwise_conv2d(x, filters, [1, 1, 1, 1], "VALID")
    return _with_lead(x, lead)


def _as_batch(x: Tensor) -> Tensor:
    """With all axes before the height as one."""
    return shapes.reshape(x, joining.concat([[-1], shapes.shape(x)[HEIGHT:]], 0))


def _with_lead(x: Tensor, lead: Tensor) -> Tensor:
    """With the axes before the height as they were."""
    return shapes.reshape(x, joining.concat([lead, shapes.shape(x)[HEIGHT:]], 0))


def _check_size(op: str, x: Tensor, y: Tensor, form: _Form) -> None:
    for value in (x, y):
        for axis, side in ((HEIGHT, "height"), (WIDTH, "width")):
            check(
                lambda size, filter_size: size >= filter_size,
                f"{op}: images must be as large as the filter",
                **{side: size_at(value, axis)},
                filter_size=form.size,
            )


def _similar(x: Tensor, y: Tensor, largest: Tensor, form: _Form) -> tuple[Tensor, Tensor]:
    """Maps of the similarity, and of that of contrast and structure alone."""
    c1, c2 = unary.square(form.k1 * largest), unary.square(form.k2 * largest)
    mean_x, mean_y = _blurred(x, form), _blurred(y, form)
    both, squares = 2.0 * mean_x * mean_y, unary.square(mean_x) + unary.square(mean_y)
    luminance = (both + c1) / (squares + c1)
    products_of = 2.0 * _blurred(x * y, form)
    powers = _blurred(unary.square(x) + unary.square(y), form)
    structure = (products_of - both + c2) / (powers - squares + c2)
    return luminance * structure, structure


def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """The structural similarity of two images: 1 if they are equal.

    Args:
      img1: real numbers [..., height, width, channels].
      img2: others of the same dtype, whose shape broadcasts with that of `img1`.
      max_val: the difference between black and white: 255 for uint8, usually 1 for floats.
      filter_size: how many pixels wide the surroundings are that are compared, an integer.
      filter_sigma: how fast their weights fall from the middle to the border.
      k1: a small number that keeps denominators away from zero.
      k2: another one.
      return_index_map: whether there is one number for each place, and not their mean.

    Returns:
      A tensor of float32 without the last three axes; with `return_index_map` it has the axes
      height and width, less `filter_size` - 1.

    Raises:
      ShapeError: if a rank is below 3, shapes do not broadcast, or an image is smaller than the
        filter.
      DTypeError: if dtypes differ or are not real.
      ValueError: if `filter_size` is not positive.

    >>> x = tf.reshape(tf.range(144.0) / 143, [12, 12, 1])
    >>> tf.image.ssim(x, x, max_val=1.0).numpy()
    np.float32(1.0)
    """
    x, y, largest = _pair("ssim", img1, img2, ("img1", "img2"), max_val)
    form = _form("ssim", filter_size, filter_sigma, k1, k2)
    _check_size("ssim", x, y, form)
    similarity, _ = _similar(x, y, largest, form)
    return sums.reduce_mean(similarity, [CHANNELS] if return_index_map else _PIXELS)


_POWERS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _halved(x: Tensor) -> Tensor:
    """Images of half the height and width; the last row or column counts twice if it is odd."""
    lead, x = shapes.shape(x)[:HEIGHT], _as_batch(x)
    border: Any = [[0, 0], [0, size_at(x, HEIGHT) % 2], [0, size_at(x, WIDTH) % 2], [0, 0]]
    x = padding.pad(x, border, mode="SYMMETRIC")
    return _with_lead(pooling.avg_pool2d(x, 2, 2, "VALID"), lead)


def ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    power_factors: Sequence[float] = _POWERS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """The structural similarity of two images at several sizes, each half of the one before.

    Args:
      img1: real numbers [..., height, width, channels].
      img2: others of the same dtype, whose shape broadcasts with that of `img1`.
      max_val: the difference between black and white: 255 for uint8, usually 1 for floats.
      power_factors: the weight of each size, from the largest to the smallest.
      filter_size: how many pixels wide the surroundings are that are compared, an integer.
      filter_sigma: how fast their weights fall from the middle to the border.
      k1: a small number that keeps denominators away from zero.
      k2: another one.

    Returns:
      A tensor of float32 without the last three axes, in [0, 1].

    Raises:
      ShapeError: if a rank is below 3, shapes do not broadcast, or an image is smaller than the
        filter at one of the sizes.
      DTypeError: if dtypes differ or are not real.
      ValueError: if `power_factors` are no list of numbers, or `filter_size` is not positive.

    >>> x = tf.reshape(tf.range(576.0) / 575, [24, 24, 1])
    >>> tf.image.ssim_multiscale(x, x, 1.0, power_factors=(0.5, 0.5)).numpy()
    np.float32(1.0)
    """
    op = "ssim_multiscale"
    x, y, largest = _pair(op, img1, img2, ("img1", "img2"), max_val)
    form = _form(op, filter_size, filter_sigma, k1, k2)
    factors = adopt(power_factors, float32)
    count = factors.shape[0] if factors.shape.rank == 1 else None
    if not count:
        raise ValueError(
            f"{op}: power_factors must be a list of numbers, got shape {factors.shape}."
        )
    parts: list[Tensor] = []
    for i in range(count):
        if i:
            x, y = _halved(x), _halved(y)
        _check_size(op, x, y, form)
        similarity, structure = _similar(x, y, largest, form)
        is_last = i == count - 1
        mean = sums.reduce_mean(similarity if is_last else structure, [HEIGHT, WIDTH])
        parts.append(activations.relu(mean))
    powers = arithmetic.pow(joining.stack(parts, -1), factors)
    return sums.reduce_mean(products.reduce_prod(powers, [-1]), [-1])
