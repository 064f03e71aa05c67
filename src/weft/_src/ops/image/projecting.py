"""Images seen from another side: each pixel comes from a place that a projection gives."""

from __future__ import annotations

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import float32
from weft._src.core.tensor import Tensor
from weft._src.ops import rules
from weft._src.ops.arrays import joining, ranges, selection
from weft._src.ops.elementwise import arithmetic, casting, clipping, unary
from weft._src.ops.image import pixels
from weft._src.ops.image.images import (
    HEIGHT,
    WIDTH,
    Number,
    numeric_image,
    size_at,
    wanted_sizes,
    with_channels,
)

_OP = "image_projective_transform"
_FILL_MODES = ("CONSTANT", "REFLECT", "WRAP", "NEAREST")
_INTERPOLATIONS = {"NEAREST": pixels.nearest, "BILINEAR": pixels.blended}


def _reflected(at: Tensor, size: Tensor) -> Tensor:
    """Mirrored at the borders again and again, the border itself twice."""
    both = 2.0 * size
    below = both * unary.floor(-at / both) + at
    below = selection.where(at < -both, below, at)
    below = selection.where(below < -size, below + both, -below - 1.0)
    above = at - both * unary.floor(at / both)
    above = selection.where(above >= size, both - above - 1.0, above)
    return selection.where(at < 0.0, below, selection.where(at > size - 1.0, above, at))


def _wrapped(at: Tensor, size: Tensor) -> Tensor:
    """Begun again behind the borders."""
    last = arithmetic.maximum(size - 1.0, 1.0)
    below = at + size * (unary.floor(-at / last) + 1.0)
    above = at - size * unary.floor(at / last)
    return selection.where(at < 0.0, below, selection.where(at > size - 1.0, above, at))


def _mapped(at: Tensor, size: Number, mode: str) -> Tensor:
    """Where a place outside of an image is read."""
    if mode == "CONSTANT":
        return at
    length = pixels.as_float(size)
    if mode == "REFLECT":
        at = _reflected(at, length)
    elif mode == "WRAP":
        at = _wrapped(at, length)
    return clipping.clip_by_value(at, 0.0, length - 1.0)


def image_projective_transform(
    images: TensorLike,
    transforms: TensorLike,
    output_shape: TensorLike,
    fill_value: TensorLike = 0.0,
    interpolation: str = "NEAREST",
    fill_mode: str = "CONSTANT",
) -> Tensor:
    """Images whose pixel (x, y) comes from ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k).

    Here k = c0 x + c1 y + 1, and a projection is the eight numbers a0, a1, a2, b0, b1, b2, c0, c1.

    Args:
      images: real numbers [batch, height, width, channels].
      transforms: floats [batch, 8], or [1, 8] for all images.
      output_shape: the height and width of the results.
      fill_value: what is outside of images with "CONSTANT".
      interpolation: "NEAREST" or "BILINEAR".
      fill_mode: "CONSTANT", "REFLECT", "WRAP" or "NEAREST".

    Returns:
      A tensor [batch, *output_shape, channels] of the dtype of `images`.
    """
    x = convert_to_tensor(images)
    rules.check_rank(_OP, x.spec, 4, name="images")
    dtype = numeric_image(_OP, x, "images")
    if interpolation not in _INTERPOLATIONS:
        raise ValueError(
            f"{_OP}: interpolation must be 'NEAREST' or 'BILINEAR', got {interpolation!r}."
        )
    if fill_mode not in _FILL_MODES:
        raise ValueError(f"{_OP}: fill_mode must be one of {_FILL_MODES}, got {fill_mode!r}.")
    numbers = convert_to_tensor(transforms, dtype_hint=float32)
    rules.check_rank(_OP, numbers.spec, 2, name="transforms")
    with_channels(_OP, numbers, 8, "transforms")
    tall, wide = wanted_sizes(_OP, output_shape, "output_shape")
    row = casting.cast(ranges.range(tall), float32)[:, None]
    column = casting.cast(ranges.range(wide), float32)
    a0, a1, a2, b0, b1, b2, c0, c1 = [
        part[:, None, None] for part in joining.unstack(numbers, 8, 1)
    ]
    k = c0 * column + c1 * row + 1.0
    from_column = (a0 * column + a1 * row + a2) / k
    from_row = (b0 * column + b1 * row + b2) / k
    from_row = _mapped(from_row, size_at(x, HEIGHT), fill_mode)
    from_column = _mapped(from_column, size_at(x, WIDTH), fill_mode)
    outside = casting.cast(adopt(fill_value, float32), dtype)
    which = ranges.range(size_at(x, 0))[:, None, None]
    found = _INTERPOLATIONS[interpolation](x, which, from_row, from_column, outside)
    found = selection.where((k == 0.0)[..., None], casting.cast(outside, found.dtype), found)
    return casting.cast(found, dtype)
