"""Random numbers from streams that move on with every call (see `ops.random.streams`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.core.convert import convert_to_tensor, of_dtype
from weft._src.core.dtypes import FLOATING, INDEX, DType, float32, int32
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.registry import Op
from weft._src.ops.sampling import distributions, draws, parametric
from weft._src.ops.sampling.streams import next_state


def stream_source(op: str, seed: Any) -> distributions.StateSource:
    """Where a function takes its states from: a stream of its own, which moves on."""

    def state(draw: Op, dtype: DType, shape: Tensor) -> Tensor:
        return next_state(op, (draw.name, dtype, shape.dtype), seed, shape)

    return state


def uniform(
    shape: ShapeLike,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = float32,
    seed: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers uniform in [minval, maxval); integers need a maxval.

    Args:
      shape: the sizes of the result: a list, `tf.TensorShape`, int32 or int64 vector, or one
        number.
      minval: the lower bound, included: a number or a tensor that broadcasts with the result.
      maxval: the upper bound, not included. For floating dtypes None means 1.
      dtype: the dtype of the result: a floating one, int32 or int64.
      seed: an integer, which goes with the global seed; None means numbers that nobody can foresee,
        unless a global seed is set.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      ValueError: if the dtype is another one, or `maxval` is missing for integers.
      InvalidArgumentError: if integer bounds are not in order.
      TypeError: if the seed is not an integer.

    >>> tf.random.set_seed(7)
    >>> tf.random.uniform([2], seed=1).numpy()
    array([0.46037483, 0.9285182 ], dtype=float32)
    """
    dtype = dtypes.as_dtype(dtype)
    if dtype not in FLOATING | INDEX:
        others = "tf.random.Generator and stateless_uniform draw unsigned integers."
        raise ValueError(
            f"random.uniform: dtype must be floating, int32 or int64, got {dtype.name}."
            f"{f' {others}' if dtype.is_unsigned else ''}"
        )
    if dtype.is_integer and maxval is None:
        raise ValueError(f"random.uniform: maxval must be given for the dtype {dtype.name}.")
    source = stream_source("random.uniform", seed)
    return distributions.uniform("random.uniform", shape, minval, maxval, dtype, name, source)


def normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    seed: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal numbers.

    Args:
      shape: the sizes of the result: a list, `tf.TensorShape`, int32 or int64 vector, or one
        number.
      mean: the mean, a number or a tensor that broadcasts with the result.
      stddev: the standard deviation, of this kind, too.
      dtype: the dtype of the result, a floating one.
      seed: an integer, which goes with the global seed; None means numbers that nobody can foresee,
        unless a global seed is set.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      DTypeError: if the dtype is another one.
      ShapeError: if a size is negative, or a parameter does not broadcast.
      TypeError: if the seed is not an integer.

    >>> tf.random.normal([2, 3], mean=1.0, stddev=[1.0, 2.0, 3.0]).shape
    TensorShape([2, 3])
    """
    op = "random.normal"
    source = stream_source(op, seed)
    return distributions.normal(op, draws.normal_op, shape, mean, stddev, dtype, name, source)


def truncated_normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    seed: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal numbers without those more than two standard deviations off.

    Args:
      shape: the sizes of the result: a list, `tf.TensorShape`, int32 or int64 vector, or one
        number.
      mean: the mean, a number or a tensor that broadcasts with the result.
      stddev: the standard deviation, of this kind, too.
      dtype: the dtype of the result, a floating one.
      seed: an integer, which goes with the global seed; None means numbers that nobody can foresee,
        unless a global seed is set.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      DTypeError: if the dtype is another one.
      ShapeError: if a size is negative, or a parameter does not broadcast.
      TypeError: if the seed is not an integer.

    >>> bool(np.all(np.abs(tf.random.truncated_normal([1000])) < 2))
    True
    """
    op = "random.truncated_normal"
    source = stream_source(op, seed)
    return distributions.normal(
        op, draws.truncated_normal_op, shape, mean, stddev, dtype, name, source
    )


def categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    dtype: DTypeLike | None = None,
    seed: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Class numbers drawn by the log-probabilities in each row.

    Args:
      logits: log-probabilities, floating numbers [rows, classes]; they need not be normalised.
      num_samples: how many for each row, an integer or integer scalar.
      dtype: the dtype of the result, int32 or int64; None means int64.
      seed: an integer, which goes with the global seed; None means numbers that nobody can foresee,
        unless a global seed is set.

    Returns:
      A tensor of shape [rows, num_samples].

    Raises:
      ShapeError: if `logits` is no matrix, or `num_samples` negative.
      ValueError: if the dtype is another one.
      TypeError: if the seed is not an integer.

    >>> tf.random.categorical([[0.0, -np.inf]], 5).numpy()
    array([[0, 0, 0, 0, 0]])
    """
    op = "random.categorical"
    dtype = distributions.class_dtype(op, dtype)
    logits, count = convert_to_tensor(logits), of_dtype(op, num_samples, int32, "num_samples")
    # Each draw takes two words, and rows begin at multiples of four draws.
    rows = _rows(logits)
    if isinstance(rows, int) and type(count) is EagerTensor and not count._value.ndim:
        delta = convert_to_tensor(np.array([2, rows, (int(count._value) + 3) // 4 * 4]))
    else:
        delta = convert_to_tensor([2, rows, (count + 3) // 4 * 4])
    state = next_state(op, ("Multinomial", logits.dtype, dtype), seed, delta)
    return draws.multinomial_op(logits, count, state, dtype=dtype, name=name)


def shuffle(value: TensorLike, seed: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The rows of a tensor in random order.

    Args:
      value: a tensor; a scalar is returned as it is.
      seed: an integer, which goes with the global seed; None means numbers that nobody can foresee,
        unless a global seed is set.

    Returns:
      A tensor of the shape and dtype of `value`.

    Raises:
      TypeError: if the seed is not an integer.

    >>> tf.random.set_seed(7)
    >>> tf.random.shuffle([1, 2, 3, 4], seed=1).numpy()
    array([1, 2, 4, 3], dtype=int32)
    """
    value = convert_to_tensor(value)
    if value.spec.rank == 0:
        return value
    # All rows but the last take one word each; a block has four.
    blocks = convert_to_tensor((_rows(value) + 2) // 4, int32)
    state = next_state("random.shuffle", ("RandomShuffle", value.dtype), seed, blocks, step=1)
    return draws.shuffle_op(value, state, inverse=False, name=name)


def _rows(x: Tensor) -> Any:
    """The size of the first axis: a number where it is known, and else a scalar of int32."""
    dims = x.spec.dims
    return dims[0] if dims and isinstance(dims[0], int) else shapes.shape(x)[0]


def gamma(
    shape: ShapeLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = float32,
    seed: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Gamma numbers of shape alpha and rate beta, `shape` of them for each pair; with gradients.

    Args:
      shape: how many for each pair: a list, `tf.TensorShape`, int32 vector, or one number.
      alpha: positive numbers, the shape of the distribution.
      beta: positive numbers, its rate; broadcast with `alpha`. None means 1.
      dtype: the dtype of the result, a floating one.
      seed: an integer, which goes with the global seed; None means numbers that nobody can foresee,
        unless a global seed is set.

    Returns:
      A tensor of this dtype and of shape [*shape, *shape of alpha and beta].

    Raises:
      DTypeError: if the dtype is not floating.
      ValueError: if a parameter is a tensor of another dtype.
      ShapeError: if the parameters cannot be broadcast together.
      TypeError: if the seed is not an integer.

    >>> tf.random.gamma([5], alpha=[0.5, 2.0]).shape
    TensorShape([5, 2])
    """
    op = "random.gamma"
    source, shape = stream_source(op, seed), of_dtype(op, shape, int32, "shape")
    return parametric.gamma(op, shape, alpha, beta, dtype, name, source, whole=False)


def poisson(
    shape: ShapeLike,
    lam: TensorLike,
    dtype: DTypeLike = float32,
    seed: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Poisson numbers of rate lam, `shape` of them for each rate.

    Args:
      shape: how many for each rate: a list, `tf.TensorShape`, int32 vector, or one number.
      lam: rates, numbers that are finite.
      dtype: the dtype of the result: float16, float32, float64, int32 or int64.
      seed: an integer, which goes with the global seed; None means numbers that nobody can foresee,
        unless a global seed is set.

    Returns:
      A tensor of this dtype and of shape [*shape, *shape of lam].

    Raises:
      DTypeError: if the dtype is another one.
      InvalidArgumentError: if a rate is not finite.
      TypeError: if the seed is not an integer.

    >>> tf.random.poisson([5], lam=[0.5, 2.0]).shape
    TensorShape([5, 2])
    """
    op = "random.poisson"
    shape = of_dtype(op, shape, int32, "shape")
    return parametric.poisson(op, shape, lam, dtype, name, stream_source(op, seed), whole=False)
