"""Images as they look after they were stored as JPEG files."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import int32, uint8
from weft._src.core.tensor import Tensor
from weft._src.media.damage import invalid
from weft._src.media.encoding import encode_jpeg_variable_quality_op
from weft._src.media.jpeg_files import decode_jpeg
from weft._src.ops import static
from weft._src.ops.image import images
from weft._src.ops.image.converting import convert_image_dtype
from weft._src.ops.image.randomly import Draw, from_seed, from_stream


def adjust_jpeg_quality(
    image: TensorLike,
    jpeg_quality: TensorLike,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """An image with the traces of JPEG. Needs Pillow: `pip install 'weft[image]'`.

    Args:
      image: real numbers [height, width, channels], 1 or 3 channels.
      jpeg_quality: from 0 (many traces) to 100 (few); may be a tensor.
      dct_method: how the file is decoded: see `tf.io.decode_jpeg`.
      name: the name of the node in a graph.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      tf.errors.InvalidArgumentError: if the quality is another number, or `dct_method` unknown.
      ShapeError: if the shape is another, or there are no pixels.
      DTypeError: if `image` is neither floating nor integer.
      ModuleNotFoundError: if Pillow is not there.

    >>> image = tf.cast(tf.reshape(tf.range(48), [4, 4, 3]) * 5, tf.uint8)
    >>> tf.image.adjust_jpeg_quality(image, 75).shape
    TensorShape([4, 4, 3])
    """
    op = "adjust_jpeg_quality"
    quality = images.number(op, jpeg_quality, "jpeg_quality")
    if isinstance(quality, int) and not 0 <= quality <= 100:
        raise invalid(op, f"jpeg_quality must be from 0 to 100, got {quality}.")
    return _stored(op, image, quality, dct_method, name)


def _stored(
    op: str, image: TensorLike, quality: Any, dct_method: str = "", name: str | None = None
) -> Tensor:
    x = convert_to_tensor(image)
    dtype = images.numeric_image(op, x)
    pixels = convert_image_dtype(x, uint8, saturate=True)
    wanted = convert_to_tensor(quality, dtype_hint=int32)
    file = encode_jpeg_variable_quality_op(pixels, wanted, name=name)
    last = None if x.spec.dims is None else x.spec.dims[-1]
    channels = last if isinstance(last, int) else 0
    decoded = decode_jpeg(file, channels=channels, dct_method=dct_method)
    decoded.set_shape(x.shape)
    return convert_image_dtype(decoded, dtype, saturate=True)


def _drawn(op: str, draw: Draw, low: Any, high: Any) -> Tensor:
    """A quality at random."""
    bounds = {"min_jpeg_quality": low, "max_jpeg_quality": high}
    known = {name: static.static_int(op, bound, name) for name, bound in bounds.items()}
    for name, bound in known.items():
        if not 0 <= bound <= 100:
            raise ValueError(f"{op}: {name} must be from 0 to 100, got {bound}.")
    first, last = known.values()
    if first >= last:
        raise ValueError(
            f"{op}: max_jpeg_quality must be above min_jpeg_quality, got {first} and {last}."
        )
    return draw([], minval=first, maxval=last, dtype=int32)


def random_jpeg_quality(
    image: TensorLike,
    min_jpeg_quality: int,
    max_jpeg_quality: int,
    seed: int | None = None,
) -> Tensor:
    """An image with the traces of JPEG of a random quality in [min, max).

    Needs Pillow: `pip install 'weft[image]'`.

    Args:
      image: real numbers [height, width, channels], 1 or 3 channels.
      min_jpeg_quality: from 0 to 100.
      max_jpeg_quality: more than that, up to 100.
      seed: an integer, together with `tf.random.set_seed` for numbers that come again.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ValueError: if the qualities are others.
      ShapeError: if the shape is another, or there are no pixels.
      ModuleNotFoundError: if Pillow is not there.

    >>> tf.image.random_jpeg_quality(tf.zeros([4, 5, 3], tf.uint8), 75, 95).shape
    TensorShape([4, 5, 3])
    """
    op = "random_jpeg_quality"
    return _stored(op, image, _drawn(op, from_stream(seed), min_jpeg_quality, max_jpeg_quality))


def stateless_random_jpeg_quality(
    image: TensorLike,
    min_jpeg_quality: int,
    max_jpeg_quality: int,
    seed: TensorLike,
) -> Tensor:
    """An image with the traces of JPEG of a random quality in [min, max).

    Needs Pillow: `pip install 'weft[image]'`.

    Args:
      image: real numbers [height, width, channels], 1 or 3 channels.
      min_jpeg_quality: from 0 to 100.
      max_jpeg_quality: more than that, up to 100.
      seed: two integers.

    Returns:
      A tensor of the same shape and dtype: the same for the same seed.

    Raises:
      ValueError: if the qualities are others.
      ShapeError: if the shape is another, or there are no pixels.
      ModuleNotFoundError: if Pillow is not there.

    >>> black = tf.zeros([4, 5, 3], tf.uint8)
    >>> tf.image.stateless_random_jpeg_quality(black, 75, 95, seed=[1, 2]).shape
    TensorShape([4, 5, 3])
    """
    op = "stateless_random_jpeg_quality"
    return _stored(op, image, _drawn(op, from_seed(seed), min_jpeg_quality, max_jpeg_quality))
