"""Dropout: setting a random part of the elements to zero, and scaling the others up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.aliases import ShapeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING, DType
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import Tensor
from weft._src.ops import rules
from weft._src.ops.arrays import selection, shape as shapes
from weft._src.ops.sampling import stateful, stateless

_Uniform = Callable[[Any, DType], Tensor]


def dropout(
    x: TensorLike,
    rate: TensorLike,
    noise_shape: ShapeLike | None = None,
    seed: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Each element becomes 0 with probability `rate`; the others are divided by 1 - rate.

    The choice is made once for each element of `noise_shape`, and broadcast.

    Args:
      x: a tensor of floating numbers.
      rate: a number of at least 0 and below 1, or a scalar of the dtype of `x`.
      noise_shape: a shape that broadcasts to that of `x`, with None for sizes of `x`; None means
        the shape of `x`.
      seed: an integer, which goes with the global seed; None means another choice in every run,
        unless a global seed is set.

    Returns:
      A tensor of the shape and dtype of `x`; `x` itself if the rate is the number 0.

    Raises:
      ValueError: if `x` is not floating, or the rate is out of range, no scalar or of another
        dtype.

    >>> tf.random.set_seed(7)
    >>> tf.nn.dropout([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], rate=0.5, seed=1).numpy()
    array([[0., 4., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    if type(rate) in (int, float) and rate == 0:
        stateful.uniform([1])  # as TensorFlow does, so that other ops get the same seeds
    return _dropout(
        "dropout",
        x,
        rate,
        noise_shape,
        lambda shape, dtype: stateful.uniform(shape, dtype=dtype, seed=seed),
        name,
    )


def stateless_dropout(
    x: TensorLike,
    rate: TensorLike,
    seed: TensorLike,
    rng_alg: Any = None,
    noise_shape: ShapeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Dropout whose choice is determined by a seed of two integers.

    Args:
      x: a tensor of floating numbers.
      rate: a number of at least 0 and below 1, or a scalar of the dtype of `x`.
      seed: two integers, a list or an int32 or int64 vector.
      rng_alg: "auto_select" (which None means, too) or "philox", which are the same.
      noise_shape: a shape that broadcasts to that of `x`, with None for sizes of `x`; None means
        the shape of `x`.

    Returns:
      A tensor of the shape and dtype of `x`; `x` itself if the rate is the number 0.

    Raises:
      ValueError: if `x` is not floating, the rate is out of range, no scalar or of another dtype,
        or there is no such algorithm.
      UnsupportedError: for "threefry".

    >>> tf.nn.experimental.stateless_dropout([1.0, 2.0, 3.0], rate=0.5, seed=[1, 2]).numpy()
    array([2., 0., 6.], dtype=float32)
    """
    alg = "auto_select" if rng_alg is None else rng_alg
    return _dropout(
        "stateless_dropout",
        x,
        rate,
        noise_shape,
        lambda shape, dtype: stateless.stateless_uniform(shape, seed, dtype=dtype, alg=alg),
        name,
    )


def general_dropout(
    x: TensorLike,
    rate: TensorLike,
    uniform_sampler: Callable[..., Any],
    noise_shape: ShapeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Dropout by numbers from `uniform_sampler(shape=, dtype=)`, uniform in [0, 1).

    Args:
      x: a tensor of floating numbers.
      rate: a number of at least 0 and below 1, or a scalar of the dtype of `x`.
      uniform_sampler: a function with the keyword arguments `shape` and `dtype`, which returns a
        tensor.
      noise_shape: a shape that broadcasts to that of `x`, with None for sizes of `x`; None means
        the shape of `x`.

    Returns:
      A tensor of the shape and dtype of `x`; `x` itself if the rate is the number 0.

    Raises:
      ValueError: if `x` is not floating, or the rate is out of range, no scalar or of another
        dtype.

    >>> sampler = tf.random.Generator.from_seed(1).uniform
    >>> tf.nn.experimental.general_dropout(tf.ones([2, 3]), 0.5, sampler).shape
    TensorShape([2, 3])
    """
    return _dropout(
        "general_dropout",
        x,
        rate,
        noise_shape,
        lambda shape, dtype: uniform_sampler(shape=shape, dtype=dtype),
        name,
    )


def _dropout(
    op: str, x: Any, rate: TensorLike, noise_shape: Any, uniform: _Uniform, name: str | None
) -> Tensor:
    x = convert_to_tensor(x)
    if x.dtype not in FLOATING:
        raise ValueError(f"{op}: x must be floating, as it is scaled; got {x.dtype.name}.")
    if isinstance(rate, (int, float, np.number)) and not isinstance(rate, bool):
        if not 0 <= rate < 1:
            raise ValueError(f"{op}: rate must be at least 0 and below 1, got {rate}.")
        if rate == 0:
            return x
        scaled = x * (1 / (1 - rate))
        rate = convert_to_tensor(float(rate), x.dtype)
    else:
        rate = _rate_tensor(op, rate, x.dtype)
        scaled = x / (1 - rate)
    keep = uniform(_noise_shape(x, noise_shape), x.dtype) >= rate
    # A choice, not a product: what is dropped is 0 even where x is infinite or NaN.
    return selection.select_op(keep, scaled, convert_to_tensor(0.0, x.dtype), name=name)


def _rate_tensor(op: str, rate: TensorLike, dtype: DType) -> Tensor:
    if not isinstance(rate, Tensor) and not hasattr(rate, "__tf_tensor__"):
        raise ValueError(f"{op}: rate must be a number or a scalar tensor, got {rate!r}.")
    rate = convert_to_tensor(rate)
    if rate.dtype is not dtype:
        raise ValueError(
            f"{op}: rate must have the dtype of x, {dtype.name}, got {rate.dtype.name}."
        )
    rules.check_rank(op, rate.spec, 0, name="rate")
    return rate


def _noise_shape(x: Tensor, noise_shape: Any) -> Any:
    """The shape of the random choice; sizes that are None are those of x."""
    if noise_shape is None:
        return shapes.shape(x)
    if isinstance(noise_shape, TensorShape):
        noise_shape = noise_shape.as_list()
    if not isinstance(noise_shape, (list, tuple)) or len(noise_shape) != x.spec.rank:
        return noise_shape
    return [shapes.shape(x)[i] if d is None else d for i, d in enumerate(noise_shape)]
