"""Parts of images, and images with zeros around them."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import float64, int32
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import fill, joining, padding, shape as shapes
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.image import images
from weft._src.ops.image.images import HEIGHT, WIDTH, Number
from weft._src.ops.indexing import blocks

Pair = tuple[Number, Number]


def positive(op: str, value: Any, name: str) -> Number:
    """A size that is at least 1."""
    size = images.number(op, value, name)
    images.check(lambda n: n > 0, f"{op}: {name} must be positive", **{name: size})
    return size


def _not_negative(op: str, value: Any, name: str, *, may_be_wide: bool = False) -> Number:
    offset = images.number(op, value, name, may_be_wide=may_be_wide)
    images.check(lambda n: n >= 0, f"{op}: {name} must not be negative", **{name: offset})
    return offset


def cropped(x: Tensor, offsets: Pair, sizes: Pair) -> Tensor:
    """So many rows and columns from an offset on; they have to be there."""
    if x.spec.rank is None:
        (top, left), (height, width) = offsets, sizes
        return x[..., top : top + height, left : left + width, :]
    lead = x.spec.rank - 3
    begin = [0] * lead + [*offsets, 0]
    size = [-1] * lead + [*sizes, -1]
    return blocks.slice(x, _vector(begin), _vector(size))


def padded(x: Tensor, offsets: Pair, sizes: Pair) -> Tensor:
    """Images at an offset in larger ones of zeros."""
    pairs = []
    for axis, before, total in zip((HEIGHT, WIDTH), offsets, sizes, strict=True):
        pairs.append(_vector([before, total - before - images.size_at(x, axis)]))
    none = _vector([0, 0])
    inner = joining.stack([*pairs, none])
    if x.spec.rank is None:
        lead = fill.zeros(joining.stack([shapes.rank(x) - 3, 2]), int32)
    else:
        lead = fill.zeros([x.spec.rank - 3, 2], int32)
    return padding.pad(x, joining.concat([lead, inner], 0))


def _vector(numbers: list[Any]) -> Tensor:
    """A vector of int32."""
    return convert_to_tensor(numbers, dtype_hint=int32)


def crop_to_bounding_box(
    image: TensorLike,
    offset_height: TensorLike,
    offset_width: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
) -> Tensor:
    """A rectangle of images.

    Args:
      image: a tensor [height, width, channels], or a batch of such images.
      offset_height: how many rows above the rectangle are left out, an integer of 0 or more.
      offset_width: how many columns to the left of it are left out.
      target_height: the height of the rectangle, a positive integer or integer scalar.
      target_width: the width of the rectangle.

    Returns:
      A tensor of the dtype of `image`.

    Raises:
      ShapeError: if the rank is neither 3 nor 4, or the rectangle is not inside of the image.
      InvalidArgumentError: the latter, if sizes are only known when the graph runs.
      DTypeError: if a number is not an integer.

    >>> x = tf.reshape(tf.range(12), [3, 4, 1])
    >>> tf.image.crop_to_bounding_box(x, 1, 2, 2, 2)[:, :, 0].numpy()
    array([[ 6,  7],
           [10, 11]], dtype=int32)
    """
    op = "crop_to_bounding_box"
    x = images.images_of(op, image)
    top = _not_negative(op, offset_height, "offset_height")
    left = _not_negative(op, offset_width, "offset_width")
    height = positive(op, target_height, "target_height")
    width = positive(op, target_width, "target_width")
    for axis, offset, target, side in (
        (HEIGHT, top, height, "height"),
        (WIDTH, left, width, "width"),
    ):
        images.check(
            lambda size, offset, target: offset + target <= size,
            f"{op}: the box must lie inside of the image",
            **{side: images.size_at(x, axis), f"offset_{side}": offset, f"target_{side}": target},
        )
    return cropped(x, (top, left), (height, width))


def pad_to_bounding_box(
    image: TensorLike,
    offset_height: TensorLike,
    offset_width: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
) -> Tensor:
    """Images with zeros around them.

    Args:
      image: a tensor [height, width, channels], or a batch of such images.
      offset_height: how many rows of zeros are above the image, an integer of 0 or more.
      offset_width: how many columns of zeros are to the left of it.
      target_height: the height of the result, an integer or integer scalar.
      target_width: the width of the result.

    Returns:
      A tensor of the dtype of `image`.

    Raises:
      ShapeError: if the rank is neither 3 nor 4, or the image does not fit.
      InvalidArgumentError: the latter, if sizes are only known when the graph runs.
      DTypeError: if a number is not an integer.

    >>> tf.image.pad_to_bounding_box(tf.ones([1, 2, 1]), 1, 0, 2, 3)[:, :, 0].numpy()
    array([[0., 0., 0.],
           [1., 1., 0.]], dtype=float32)
    """
    op = "pad_to_bounding_box"
    x = images.images_of(op, image)
    top = _not_negative(op, offset_height, "offset_height", may_be_wide=True)
    left = _not_negative(op, offset_width, "offset_width", may_be_wide=True)
    height = images.number(op, target_height, "target_height", may_be_wide=True)
    width = images.number(op, target_width, "target_width", may_be_wide=True)
    for axis, offset, target, side in (
        (HEIGHT, top, height, "height"),
        (WIDTH, left, width, "width"),
    ):
        images.check(
            lambda size, offset, target: offset + size <= target,
            f"{op}: the image must fit into the target",
            **{side: images.size_at(x, axis), f"offset_{side}": offset, f"target_{side}": target},
        )
    return padded(x, (top, left), (height, width))


def resize_with_crop_or_pad(
    image: TensorLike, target_height: TensorLike, target_width: TensorLike
) -> Tensor:
    """The middle of images, or images in the middle of zeros: what has the wanted size.

    Args:
      image: a tensor [height, width, channels], or a batch of such images.
      target_height: the height of the result, a positive integer or integer scalar.
      target_width: the width of the result.

    Returns:
      A tensor of the dtype of `image`.

    Raises:
      ShapeError: if the rank is neither 3 nor 4, or a size is not positive.
      DTypeError: if a size is not an integer.

    >>> x = tf.reshape(tf.range(1, 7), [2, 3, 1])
    >>> tf.image.resize_with_crop_or_pad(x, 3, 1)[:, :, 0].numpy()
    array([[2],
           [5],
           [0]], dtype=int32)
    """
    op = "resize_with_crop_or_pad"
    x = images.images_of(op, image)
    targets = (
        positive(op, target_height, "target_height"),
        positive(op, target_width, "target_width"),
    )
    sizes = [images.size_at(x, axis) for axis in (HEIGHT, WIDTH)]
    room = [target - size for target, size in zip(targets, sizes, strict=True)]
    cut = [images.at_least(-r // 2, 0) for r in room]
    kept = [images.at_most(n, target) for n, target in zip(sizes, targets, strict=True)]
    x = cropped(x, (cut[0], cut[1]), (kept[0], kept[1]))
    before = [images.at_least(r // 2, 0) for r in room]
    return padded(x, (before[0], before[1]), targets)


def central_crop(image: TensorLike, central_fraction: TensorLike) -> Tensor:
    """The middle of images: a part of their height and of their width.

    Args:
      image: a tensor [height, width, channels], or a batch of such images.
      central_fraction: how large the part is, a number above 0 and at most 1.

    Returns:
      A tensor of the dtype of `image`.

    Raises:
      ShapeError: if the rank is neither 3 nor 4.
      ValueError: if the fraction is not in (0, 1]; InvalidArgumentError if it is a tensor whose
        value is only known when the graph runs.

    >>> x = tf.reshape(tf.range(16), [4, 4, 1])
    >>> tf.image.central_crop(x, 0.5)[:, :, 0].numpy()
    array([[ 5,  6],
           [ 9, 10]], dtype=int32)
    """
    x = images.images_of("central_crop", image)
    fraction = convert_to_tensor(central_fraction)
    rules.check_rank("central_crop", fraction.spec, 0, name="central_fraction")
    if not fraction.dtype.is_floating and not fraction.dtype.is_integer:
        raise DTypeError(
            f"central_crop: central_fraction must be a number, got dtype {fraction.dtype.name}."
        )
    part: Any = static.static_value(fraction)
    if part is not None:
        # A Python float has more digits than the tensor that it becomes.
        part = central_fraction if isinstance(central_fraction, float) else float(part)
        if not 0 < part <= 1:
            raise ValueError(f"central_crop: central_fraction must be in (0, 1], got {part}.")
        if part == 1:
            return x
    else:
        part = casting.cast(fraction, float64)
        require(
            lambda f: comparison.logical_and(f > 0, f <= 1),
            [fraction],
            "central_crop: central_fraction must be in (0, 1]",
            ["central_fraction"],
        )
    sizes = [images.size_at(x, axis) for axis in (HEIGHT, WIDTH)]
    offsets = [_left_out(size, part) for size in sizes]
    kept = [size - 2 * offset for size, offset in zip(sizes, offsets, strict=True)]
    return cropped(x, (offsets[0], offsets[1]), (kept[0], kept[1]))


def _left_out(size: Number, part: Any) -> Number:
    """How much is left out on each side."""
    if isinstance(size, int) and isinstance(part, float):
        return int((size - size * part) / 2)
    whole = casting.cast(size, float64)
    return casting.cast((whole - whole * part) / 2.0, int32)
