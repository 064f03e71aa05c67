"""Raw ops on files of images that public functions do not offer in this form."""

from __future__ import annotations

import weft as tf
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.media import encoding
from weft._src.media.arguments import pixel_dtype, with_hint


def decode_image(
    contents: TensorLike,
    channels: int = 0,
    dtype: DTypeLike = tf.uint8,
    expand_animations: bool = True,
    name: str | None = None,
) -> tf.Tensor:
    """Other dtypes are made by the public function, of uint16."""
    wanted = pixel_dtype("DecodeImage", dtype, (tf.uint8, tf.uint16, tf.float32))
    return tf.io.decode_image(contents, channels, wanted, name, expand_animations)


def encode_jpeg_variable_quality(
    images: TensorLike, quality: TensorLike, name: str | None = None
) -> tf.Tensor:
    pixels = with_hint(images, tf.uint8)
    number = with_hint(quality, tf.int32)
    return encoding.encode_jpeg_variable_quality_op(pixels, number, name=name)
