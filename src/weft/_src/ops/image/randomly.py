"""Images changed at random: by numbers of a random stream, or by those that a seed stands for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import int32
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import selection, shape as shapes
from weft._src.ops.control import branch
from weft._src.ops.elementwise import comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.image import adjusting, flipping, images
from weft._src.ops.indexing import blocks
from weft._src.ops.sampling import stateful, stateless

# `draw(shape, minval=, maxval=, dtype=)`: where the random numbers come from.
Draw = Callable[..., Tensor]


def _stream(seed: Any) -> Draw:
    return functools.partial(stateful.uniform, seed=seed)


def _seeded(seed: Any) -> Draw:
    return functools.partial(stateless.stateless_uniform, seed=seed)


def _bound(op: str, value: Any, name: str) -> Any:
    """A limit of random numbers: a Python number where it is known, and checked."""
    known = static.get_static_value(convert_to_tensor(value))
    if known is None:
        return value
    if known.ndim or known.dtype.kind not in "fiu":
        raise ValueError(f"{op}: {name} must be one real number, got {value!r}.")
    if known < 0:
        raise ValueError(f"{op}: {name} must not be negative, got {known}.")
    return float(known) if not isinstance(value, Tensor) else value


def _around_zero(op: str, draw: Draw, max_delta: Any, largest: float | None = None) -> Tensor:
    limit = _bound(op, max_delta, "max_delta")
    if largest is not None and isinstance(limit, float) and limit > largest:
        raise ValueError(f"{op}: max_delta must be at most {largest}, got {limit}.")
    return draw([], minval=-limit, maxval=limit)


def _between(op: str, draw: Draw, lower: Any, upper: Any) -> Tensor:
    low, high = _bound(op, lower, "lower"), _bound(op, upper, "upper")
    if isinstance(low, float) and isinstance(high, float) and high <= low:
        raise ValueError(f"{op}: upper must be above lower, got {low} and {high}.")
    return draw([], minval=low, maxval=high)


# --- flips ---------------------------------------------------------------------------------------


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
    return _flipped("random_flip_left_right", image, _stream(seed), flipping.flip_left_right)


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
    return _flipped("random_flip_up_down", image, _stream(seed), flipping.flip_up_down)


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
        "stateless_random_flip_left_right", image, _seeded(seed), flipping.flip_left_right
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
    return _flipped("stateless_random_flip_up_down", image, _seeded(seed), flipping.flip_up_down)


# --- colours -------------------------------------------------------------------------------------


def random_brightness(
    image: TensorLike,
    max_delta: TensorLike,
    seed: int | None = None,
) -> Tensor:
    """Images with one random number in [-max_delta, max_delta) added.

    Args:
      image: real numbers of any shape.
      max_delta: a number of 0 or more.
      seed: an integer, together with `tf.random.set_seed` for numbers that come again.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ValueError: if `max_delta` is negative.

    >>> tf.image.random_brightness(tf.ones([2, 3, 3]), 0.2).shape
    TensorShape([2, 3, 3])
    """
    return adjusting.adjust_brightness(
        image, _around_zero("random_brightness", _stream(seed), max_delta)
    )


def stateless_random_brightness(
    image: TensorLike,
    max_delta: TensorLike,
    seed: TensorLike,
) -> Tensor:
    """Images with one random number in [-max_delta, max_delta) added.

    Args:
      image: real numbers of any shape.
      max_delta: a number of 0 or more.
      seed: two integers.

    Returns:
      A tensor of the same shape and dtype: the same for the same seed.

    Raises:
      ValueError: if `max_delta` is negative.

    >>> tf.image.stateless_random_brightness(tf.ones([2, 3, 3]), 0.2, seed=[1, 2]).shape
    TensorShape([2, 3, 3])
    """
    return adjusting.adjust_brightness(
        image, _around_zero("stateless_random_brightness", _seeded(seed), max_delta)
    )


def random_hue(
    image: TensorLike,
    max_delta: TensorLike,
    seed: int | None = None,
) -> Tensor:
    """Colours whose hue is turned by one random number in [-max_delta, max_delta).

    Args:
      image: real numbers [..., height, width, 3].
      max_delta: a number from 0 to 0.5: parts of the circle.
      seed: an integer, together with `tf.random.set_seed` for numbers that come again.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ValueError: if `max_delta` is not in [0, 0.5].

    >>> tf.image.random_hue(tf.ones([2, 3, 3]), 0.2).shape
    TensorShape([2, 3, 3])
    """
    return adjusting.adjust_hue(
        image, _around_zero("random_hue", _stream(seed), max_delta, largest=0.5)
    )


def stateless_random_hue(
    image: TensorLike,
    max_delta: TensorLike,
    seed: TensorLike,
) -> Tensor:
    """Colours whose hue is turned by one random number in [-max_delta, max_delta).

    Args:
      image: real numbers [..., height, width, 3].
      max_delta: a number from 0 to 0.5: parts of the circle.
      seed: two integers.

    Returns:
      A tensor of the same shape and dtype: the same for the same seed.

    Raises:
      ValueError: if `max_delta` is not in [0, 0.5].

    >>> tf.image.stateless_random_hue(tf.ones([2, 3, 3]), 0.2, seed=[1, 2]).shape
    TensorShape([2, 3, 3])
    """
    return adjusting.adjust_hue(
        image, _around_zero("stateless_random_hue", _seeded(seed), max_delta, largest=0.5)
    )


def random_contrast(
    image: TensorLike,
    lower: TensorLike,
    upper: TensorLike,
    seed: int | None = None,
) -> Tensor:
    """Images whose contrast is multiplied by one random number in [lower, upper).

    Args:
      image: real numbers [..., height, width, channels].
      lower: a number of 0 or more.
      upper: a number above `lower`.
      seed: an integer, together with `tf.random.set_seed` for numbers that come again.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ValueError: if `lower` is negative, or `upper` not above it.

    >>> tf.image.random_contrast(tf.ones([2, 3, 3]), 0.5, 1.5).shape
    TensorShape([2, 3, 3])
    """
    return adjusting.adjust_contrast(
        image, _between("random_contrast", _stream(seed), lower, upper)
    )


def stateless_random_contrast(
    image: TensorLike,
    lower: TensorLike,
    upper: TensorLike,
    seed: TensorLike,
) -> Tensor:
    """Images whose contrast is multiplied by one random number in [lower, upper).

    Args:
      image: real numbers [..., height, width, channels].
      lower: a number of 0 or more.
      upper: a number above `lower`.
      seed: two integers.

    Returns:
      A tensor of the same shape and dtype: the same for the same seed.

    Raises:
      ValueError: if `lower` is negative, or `upper` not above it.

    >>> tf.image.stateless_random_contrast(tf.ones([2, 3, 3]), 0.5, 1.5, seed=[1, 2]).shape
    TensorShape([2, 3, 3])
    """
    return adjusting.adjust_contrast(
        image, _between("stateless_random_contrast", _seeded(seed), lower, upper)
    )


def random_saturation(
    image: TensorLike,
    lower: TensorLike,
    upper: TensorLike,
    seed: int | None = None,
) -> Tensor:
    """Colours whose saturation is multiplied by one random number in [lower, upper).

    Args:
      image: real numbers [..., height, width, 3].
      lower: a number of 0 or more.
      upper: a number above `lower`.
      seed: an integer, together with `tf.random.set_seed` for numbers that come again.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ValueError: if `lower` is negative, or `upper` not above it.

    >>> tf.image.random_saturation(tf.ones([2, 3, 3]), 0.5, 1.5).shape
    TensorShape([2, 3, 3])
    """
    return adjusting.adjust_saturation(
        image, _between("random_saturation", _stream(seed), lower, upper)
    )


def stateless_random_saturation(
    image: TensorLike,
    lower: TensorLike,
    upper: TensorLike,
    seed: TensorLike,
) -> Tensor:
    """Colours whose saturation is multiplied by one random number in [lower, upper).

    Args:
      image: real numbers [..., height, width, 3].
      lower: a number of 0 or more.
      upper: a number above `lower`.
      seed: two integers.

    Returns:
      A tensor of the same shape and dtype: the same for the same seed.

    Raises:
      ValueError: if `lower` is negative, or `upper` not above it.

    >>> tf.image.stateless_random_saturation(tf.ones([2, 3, 3]), 0.5, 1.5, seed=[1, 2]).shape
    TensorShape([2, 3, 3])
    """
    return adjusting.adjust_saturation(
        image, _between("stateless_random_saturation", _seeded(seed), lower, upper)
    )


# --- parts ---------------------------------------------------------------------------------------


def _random_part(op: str, value: TensorLike, size: TensorLike, draw: Draw) -> Tensor:
    x = convert_to_tensor(value)
    sizes = convert_to_tensor(size, dtype_hint=int32)
    if not sizes.dtype.is_integer:
        raise DTypeError(f"{op}: size must be integers, got dtype {sizes.dtype.name}.")
    rules.check_rank(op, sizes.spec, 1, name="size")
    have = shapes.shape(x, out_type=sizes.dtype)
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
    return _random_part("random_crop", value, size, _stream(seed))


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
    return _random_part("stateless_random_crop", value, size, _seeded(seed))
