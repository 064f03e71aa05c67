"""Images turned and mirrored."""

from __future__ import annotations

from weft._src.core.aliases import TensorLike
from weft._src.core.tensor import Tensor
from weft._src.ops.arrays import joining, shape as shapes, tiling
from weft._src.ops.control import branch
from weft._src.ops.image import images
from weft._src.ops.image.images import HEIGHT, WIDTH


def flip_left_right(image: TensorLike) -> Tensor:
    """Images with their columns in reverse.

    Args:
      image: a tensor [height, width, channels], or a batch of such images.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ShapeError: if the rank is neither 3 nor 4.

    >>> tf.image.flip_left_right([[[1], [2]], [[3], [4]]])[:, :, 0].numpy()
    array([[2, 1],
           [4, 3]], dtype=int32)
    """
    return tiling.reverse(images.images_of("flip_left_right", image), [WIDTH])


def flip_up_down(image: TensorLike) -> Tensor:
    """Images with their rows in reverse.

    Args:
      image: a tensor [height, width, channels], or a batch of such images.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ShapeError: if the rank is neither 3 nor 4.

    >>> tf.image.flip_up_down([[[1], [2]], [[3], [4]]])[:, :, 0].numpy()
    array([[3, 4],
           [1, 2]], dtype=int32)
    """
    return tiling.reverse(images.images_of("flip_up_down", image), [HEIGHT])


def _transposed(x: Tensor) -> Tensor:
    if x.spec.rank == 3:
        return shapes.transpose(x, [1, 0, 2])
    if x.spec.rank == 4:
        return shapes.transpose(x, [0, 2, 1, 3])
    # Of unknown rank: all that is in front of the height as one axis, for as long as it takes.
    sizes = shapes.shape(x)
    flat = shapes.transpose(_as_batch(x), [0, 2, 1, 3])
    swapped = [sizes[WIDTH], sizes[HEIGHT], sizes[-1]]
    return shapes.reshape(flat, joining.concat([sizes[:HEIGHT], joining.stack(swapped)], 0))


def _as_batch(x: Tensor) -> Tensor:
    sizes = shapes.shape(x)
    return shapes.reshape(x, joining.concat([[-1], sizes[HEIGHT:]], 0))


def transpose(image: TensorLike, name: str | None = None) -> Tensor:
    """Images whose rows have become columns.

    Args:
      image: a tensor [height, width, channels], or a batch of such images.

    Returns:
      A tensor of the same dtype with height and width exchanged.

    Raises:
      ShapeError: if the rank is neither 3 nor 4.

    >>> tf.image.transpose([[[1], [2]], [[3], [4]]])[:, :, 0].numpy()
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    return _transposed(images.images_of("transpose", image))


def rot90(image: TensorLike, k: TensorLike = 1, name: str | None = None) -> Tensor:
    """Images turned by quarters, against the clock.

    Args:
      image: a tensor [height, width, channels], or a batch of such images.
      k: how many quarters, an integer or integer scalar; negative ones turn with the clock.

    Returns:
      A tensor of the same dtype; height and width are exchanged if `k` is odd.

    Raises:
      ShapeError: if the rank is neither 3 nor 4.
      DTypeError: if `k` is not an integer.

    >>> tf.image.rot90([[[1], [2]], [[3], [4]]])[:, :, 0].numpy()
    array([[2, 4],
           [1, 3]], dtype=int32)
    """
    x = images.images_of("rot90", image)
    turns = images.number("rot90", k, "k")
    ways = [
        lambda: x,
        lambda: tiling.reverse(_transposed(x), [HEIGHT]),
        lambda: tiling.reverse(x, [HEIGHT, WIDTH]),
        lambda: tiling.reverse(_transposed(x), [WIDTH]),
    ]
    if isinstance(turns, int):
        return ways[turns % 4]()
    return branch.switch_case(turns % 4, ways)
