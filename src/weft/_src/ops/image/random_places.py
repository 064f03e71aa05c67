"""Images flipped at random, and parts of them from random places."""

from __future__ import annotations

from collections.abc import Callable

from weft._src.core.aliases import TensorLike
from weft._src.core.composite import CompositeTensor
from weft._src.core.convert import convert_to_tensor, of_dtype
from weft._src.core.dtypes import int32
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError, UnsupportedError
from weft._src.ops import rules
from weft._src.ops.arrays import selection, shape as shapes
from weft._src.ops.control import branch
from weft._src.ops.elementwise import comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.image import flipping, images
from weft._src.ops.image.randomly import Draw, from_seed, from_stream
from weft._src.ops.indexing import blocks


def _flipped(op: str, image: TensorLike, draw: Draw, flip: Callable[[Tensor], Tensor]) -> Tensor:
    x = images.images_of(op, image)
    if x.spec.rank is None:
        raise ShapeError(f"{op}: the rank of the image must be known while tracing.")
    if x.spec.rank == 3:
        return branch.cond(draw([], minval=0.0, maxval=1.0) < 0.5, lambda: flip(x), lambda: x)
    chances = draw([images.size_at(x, 0)], minval=0.0, maxval=1.0)
    chosen = shapes.reshape(chances > 0.5, [-1, 1, 1, 1])
    return selection.where(chosen, flip(x), x)


def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """Images, each with its columns in reverse or not: a half of them is.

    Args:
      image: a tensor [height, width, channels], or a batch of such images.
      seed: an integer, together with `tf.random.set_seed` for numbers that come again.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ShapeError: if the rank is neither 3 nor 4.

    >>> tf.image.random_flip_left_right(tf.ones([2, 3, 1])).shape
    TensorShape([2, 3, 1])
    """
    return _flipped("random_flip_left_right", image, from_stream(seed), flipping.flip_left_right)


def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """Images, each with its rows in reverse or not: a half of them is.

    Args:
      image: a tensor [height, width, channels], or a batch of such images.
      seed: an integer, together with `tf.random.set_seed` for numbers that come again.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ShapeError: if the rank is neither 3 nor 4.

    >>> tf.image.random_flip_up_down(tf.ones([2, 3, 1])).shape
    TensorShape([2, 3, 1])
    """
    return _flipped("random_flip_up_down", image, from_stream(seed), flipping.flip_up_down)


def stateless_random_flip_left_right(image: TensorLike, seed: TensorLike) -> Tensor:
    """Images, each with its columns in reverse or not, as a seed says.

    Args:
      image: a tensor [height, width, channels], or a batch of such images.
      seed: two integers.

    Returns:
      A tensor of the same shape and dtype: the same for the same seed.

    Raises:
      ShapeError: if the rank is neither 3 nor 4.

    >>> x = tf.constant([[[1], [2]]])
    >>> tf.image.stateless_random_flip_left_right(x, seed=[3, 4])[0, :, 0].numpy()
    array([2, 1], dtype=int32)
    """
    return _flipped(
        "stateless_random_flip_left_right", image, from_seed(seed), flipping.flip_left_right
    )


def stateless_random_flip_up_down(image: TensorLike, seed: TensorLike) -> Tensor:
    """Images, each with its rows in reverse or not, as a seed says.

    Args:
      image: a tensor [height, width, channels], or a batch of such images.
      seed: two integers.

    Returns:
      A tensor of the same shape and dtype: the same for the same seed.

    Raises:
      ShapeError: if the rank is neither 3 nor 4.

    >>> x = tf.constant([[[1]], [[2]]])
    >>> tf.image.stateless_random_flip_up_down(x, seed=[3, 4])[:, 0, 0].numpy()
    array([2, 1], dtype=int32)
    """
    return _flipped("stateless_random_flip_up_down", image, from_seed(seed), flipping.flip_up_down)


# --- parts ---------------------------------------------------------------------------------------


def _random_part(op: str, value: TensorLike, size: TensorLike, draw: Draw) -> Tensor:
    x = convert_to_tensor(value)
    if isinstance(x, CompositeTensor):
        raise UnsupportedError(f"{op}: value must be a dense tensor, got {type(x).__name__}.")
    sizes = of_dtype(op, size, int32, "size")
    rules.check_rank(op, sizes.spec, 1, name="size")
    have = shapes.shape_op(x, out_type=sizes.dtype)
    if have.spec.is_static and sizes.spec.is_static and have.shape != sizes.shape:
        raise ShapeError(
            f"{op}: size must have one number for each axis of value, got {sizes.shape[0]} for "
            f"shape {x.shape}."
        )
    require(
        comparison.greater_equal,
        [have, sizes],
        f"{op}: size must not be larger than value",
        ["shape of value", "size"],
    )
    room = have - sizes + 1
    offsets = draw(shapes.shape(have), maxval=sizes.dtype.max, dtype=sizes.dtype) % room
    return blocks.slice(x, offsets, sizes)


def random_crop(
    value: TensorLike, size: TensorLike, seed: int | None = None, name: str | None = None
) -> Tensor:
    """A part of a tensor from a random place.

    Args:
      value: a tensor of any shape.
      size: the shape of the part, one integer for each axis.
      seed: an integer, together with `tf.random.set_seed` for numbers that come again.

    Returns:
      A tensor of that shape and the dtype of `value`.

    Raises:
      ShapeError: if there are more or fewer sizes than axes.
      InvalidArgumentError: if a size is larger than the axis.
      DTypeError: if `size` is not integers.

    >>> tf.image.random_crop(tf.ones([4, 5, 3]), [2, 2, 3]).shape
    TensorShape([2, 2, 3])
    """
    return _random_part("random_crop", value, size, from_stream(seed))


def stateless_random_crop(
    value: TensorLike, size: TensorLike, seed: TensorLike, name: str | None = None
) -> Tensor:
    """A part of a tensor from a place that a seed stands for.

    Args:
      value: a tensor of any shape.
      size: the shape of the part, one integer for each axis.
      seed: two integers.

    Returns:
      A tensor of that shape and the dtype of `value`: the same for the same seed.

    Raises:
      ShapeError: if there are more or fewer sizes than axes.
      InvalidArgumentError: if a size is larger than the axis.
      DTypeError: if `size` is not integers.

    >>> tf.image.stateless_random_crop(tf.range(10), [3], seed=[1, 2]).numpy()
    array([4, 5, 6], dtype=int32)
    """
    return _random_part("stateless_random_crop", value, size, from_seed(seed))
