"""`tf.experimental.numpy.random`: random arrays of float64 and int64."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.experimental.numpy.promotion import as_dtype, asarray, floating


def seed(s: TensorLike) -> None:
    """Sets the seed of all random functions, like `tf.random.set_seed`.

    Args:
      s: the seed, an integer.

    >>> tf.experimental.numpy.random.seed(1)
    """
    tf.random.set_seed(s)


def _sizes(size: Any, *arrays: Any) -> Any:
    """The shape asked for; None is the shape of the other arguments."""
    if size is None:
        shape = tf.constant([], tf.int32)
        for a in arrays:
            shape = tf.broadcast_dynamic_shape(shape, tf.shape(a))
        return shape
    return size if isinstance(size, (list, tuple, tf.Tensor)) else [size]


def random(size: TensorLike | None = None) -> tf.Tensor:
    """Numbers between 0 and 1.

    Args:
      size: the shape, or the size of a vector; None is a scalar.

    Returns:
      A float64 tensor; 1 is not among the numbers.

    >>> tf.experimental.numpy.random.random([2, 3]).shape
    TensorShape([2, 3])
    """
    return uniform(size=size)


def rand(*size: int) -> tf.Tensor:
    """Numbers between 0 and 1; the sizes are single arguments.

    Args:
      *size: the sizes of the axes; none is a scalar.

    Returns:
      A float64 tensor; 1 is not among the numbers.

    >>> tf.experimental.numpy.random.rand(2, 3).dtype
    tf.float64
    """
    return uniform(size=size)


def uniform(
    low: TensorLike = 0.0, high: TensorLike = 1.0, size: TensorLike | None = None
) -> tf.Tensor:
    """Numbers between two limits, the lower one included.

    Args:
      low: the lower limit, a number or array.
      high: the upper limit, which is not reached but by rounding.
      size: the shape, or the size of a vector, which the limits broadcast to; None is the shape
        that they broadcast to together.

    Returns:
      A float64 tensor.

    >>> tf.experimental.numpy.random.uniform(5, 6, size=2).shape
    TensorShape([2])
    """
    start, stop = tf.cast(asarray(low), tf.float64), tf.cast(asarray(high), tf.float64)
    shape = _sizes(size, start, stop)
    return start + (stop - start) * tf.random.uniform(shape, dtype=tf.float64)


def standard_normal(size: TensorLike | None = None) -> tf.Tensor:
    """Normally distributed numbers with mean 0 and variance 1.

    Args:
      size: the shape, or the size of a vector; None is a scalar.

    Returns:
      A float64 tensor.

    >>> tf.experimental.numpy.random.standard_normal(3).shape
    TensorShape([3])
    """
    return tf.random.normal(_sizes(size), dtype=tf.float64)


def randn(*args: int) -> tf.Tensor:
    """Normally distributed numbers; the sizes are single arguments.

    Args:
      *args: the sizes of the axes; none is a scalar.

    Returns:
      A float64 tensor.

    >>> tf.experimental.numpy.random.randn(2).dtype
    tf.float64
    """
    return standard_normal(args)


def randint(
    low: TensorLike,
    high: TensorLike | None = None,
    size: TensorLike | None = None,
    dtype: DTypeLike = tf.int64,
) -> tf.Tensor:
    """Integers from `low` up to `high`, which is not included; from 0 if only one is given.

    Args:
      low: the least number, or the limit above if `high` is left out; one integer.
      high: the limit above, which is not included; one integer. None: `low` is the limit.
      size: the shape, or the size of a vector; None is a scalar.
      dtype: the dtype of the result.

    Returns:
      A tensor of integers.

    Raises:
      tf.errors.InvalidArgumentError: if there is no number between the limits.
      ShapeError: if a limit is no scalar.

    >>> bool(tf.experimental.numpy.random.randint(5) < 5)
    True
    """
    start, stop = (0, low) if high is None else (low, high)
    wanted = as_dtype(dtype)
    made = wanted if wanted in (tf.int32, tf.int64) else tf.int64
    least, end = [tf.cast(asarray(limit), made) for limit in (start, stop)]
    return tf.cast(tf.random.uniform(_sizes(size), least, end, made), wanted)


def poisson(lam: TensorLike = 1.0, size: TensorLike | None = None) -> tf.Tensor:
    """Numbers of events that happen `lam` times on average.

    Args:
      lam: the rate, a number or array that is not negative.
      size: the shape, or the size of a vector, which `lam` broadcasts to; None is the shape of
        `lam`.

    Returns:
      An int64 tensor.

    Raises:
      ValueError: if a rate is known to be negative or NaN.

    >>> tf.experimental.numpy.random.poisson(2.0, size=3).dtype
    tf.int64
    """
    rate = floating(lam)
    known = tf.get_static_value(rate)
    if known is not None and not (known >= 0).all():
        raise ValueError(f"random.poisson: lam must be 0 or more, got {lam!r}.")
    shape = _sizes(size, rate)
    # One number for each rate, after the rates have the shape of the result.
    return tf.random.poisson([], tf.broadcast_to(rate, shape), dtype=tf.int64)
