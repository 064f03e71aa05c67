"""Images whose colours are changed at random: by numbers of a stream, or those of a seed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.tensor import Tensor
from weft._src.ops import static
from weft._src.ops.image import adjusting
from weft._src.ops.sampling import stateful, stateless

# `draw(shape, minval=, maxval=, dtype=)`: where the random numbers come from.
Draw = Callable[..., Tensor]


def from_stream(seed: Any) -> Draw:
    """Other numbers in each call."""
    return functools.partial(stateful.uniform, seed=seed)


def from_seed(seed: Any) -> Draw:
    """The same numbers in each call."""
    return functools.partial(stateless.stateless_uniform, seed=seed)


def _bound(op: str, value: Any, name: str) -> Any:
    """A limit of random numbers: a Python number where it is known, and checked."""
    known = static.static_value(convert_to_tensor(value))
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
        image, _around_zero("random_brightness", from_stream(seed), max_delta)
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
        image, _around_zero("stateless_random_brightness", from_seed(seed), max_delta)
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
        image, _around_zero("random_hue", from_stream(seed), max_delta, largest=0.5)
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
        image, _around_zero("stateless_random_hue", from_seed(seed), max_delta, largest=0.5)
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
        image, _between("random_contrast", from_stream(seed), lower, upper)
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
        image, _between("stateless_random_contrast", from_seed(seed), lower, upper)
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
        image, _between("random_saturation", from_stream(seed), lower, upper)
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
        image, _between("stateless_random_saturation", from_seed(seed), lower, upper)
    )
