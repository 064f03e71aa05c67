"""Differences between neighbouring pixels."""

from __future__ import annotations

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING
from weft._src.core.tensor import Tensor
from weft._src.ops import rules
from weft._src.ops.arrays import fill, joining, padding
from weft._src.ops.elementwise import unary
from weft._src.ops.image.images import CHANNELS, HEIGHT, WIDTH, images_of
from weft._src.ops.reduce import sums


def _batch(op: str, image: TensorLike) -> Tensor:
    x = convert_to_tensor(image)
    rules.check_rank(op, x.spec, 4, name="image")
    return x


def image_gradients(image: TensorLike) -> tuple[Tensor, Tensor]:
    """What each pixel differs by from the next one below and the next one to the right.

    Args:
      image: numbers [batch, height, width, channels].

    Returns:
      Two tensors (dy, dx) of the same shape and dtype; the last row of dy and the last column of
      dx are zeros.

    Raises:
      ShapeError: if the rank is not 4.

    >>> dy, dx = tf.image.image_gradients(tf.reshape(tf.range(4.0) ** 2, [1, 2, 2, 1]))
    >>> dy[0, :, :, 0].numpy(), dx[0, :, :, 0].numpy()
    (array([[4., 8.],
           [0., 0.]], dtype=float32), array([[1., 0.],
           [5., 0.]], dtype=float32))
    """
    x = _batch("image_gradients", image)
    dy, dx = x[:, 1:] - x[:, :-1], x[:, :, 1:] - x[:, :, :-1]
    dy = joining.concat([dy, fill.zeros_like(x[:, :1])], 1)
    return dy, joining.concat([dx, fill.zeros_like(x[:, :, :1])], 2)


def sobel_edges(image: TensorLike) -> Tensor:
    """How fast each pixel's surroundings change downwards and to the right.

    Args:
      image: floating numbers [batch, height, width, channels]; both sizes are at least 2.

    Returns:
      A tensor [batch, height, width, channels, 2] of the same dtype: (dy, dx) at the end.

    Raises:
      ShapeError: if the rank is not 4, or an image is too small.
      DTypeError: if `image` is not floating.

    >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.image.sobel_edges(x)[0, 1, 1, 0].numpy()
    array([24.,  8.], dtype=float32)
    """
    x = _batch("sobel_edges", image)
    rules.check_dtype("sobel_edges", x.dtype, FLOATING, name="image")
    wide = padding.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    across = wide[:, :, :-2] + 2.0 * wide[:, :, 1:-1] + wide[:, :, 2:]
    down = wide[:, :-2] + 2.0 * wide[:, 1:-1] + wide[:, 2:]
    return joining.stack([across[:, 2:] - across[:, :-2], down[:, :, 2:] - down[:, :, :-2]], -1)


def total_variation(images: TensorLike, name: str | None = None) -> Tensor:
    """How rough images are: the sum of the absolute differences between neighbours.

    Args:
      images: numbers [height, width, channels], or a batch of such images.

    Returns:
      A scalar of the same dtype; a vector for a batch.

    Raises:
      ShapeError: if the rank is neither 3 nor 4.

    >>> tf.image.total_variation([[[1.0], [2.0]], [[5.0], [3.0]]]).numpy()
    np.float32(8.0)
    """
    x = images_of("total_variation", images, "images")
    axes = [HEIGHT, WIDTH, CHANNELS]
    down = x[..., 1:, :, :] - x[..., :-1, :, :]
    across = x[..., 1:, :] - x[..., :-1, :]
    return sums.reduce_sum(unary.abs(down), axes) + sums.reduce_sum(unary.abs(across), axes)
