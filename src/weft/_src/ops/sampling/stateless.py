"""Random numbers that are pure functions of their seed."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import DTypeLike, IntLike, ShapeLike, TensorLike
from weft._src.core.convert import convert_to_tensor, of_dtype
from weft._src.core.dtypes import DType, float32, int32, int64
from weft._src.core.tensor import Tensor
from weft._src.ops.arrays import source
from weft._src.ops.arrays.shape import shape_argument
from weft._src.ops.registry import Op
from weft._src.ops.sampling import distributions, draws, parametric
from weft._src.ops.sampling.algorithms import Algorithm, philox_like


def _state_of(seed: TensorLike) -> Tensor:
    return draws.key_counter_op(convert_to_tensor(seed))


def _source(op: str, seed: Any, alg: Any) -> distributions.StateSource:
    philox_like(op, alg)

    def state(draw: Op, dtype: DType, shape: Tensor) -> Tensor:
        return _state_of(seed)

    return state


def stateless_uniform(
    shape: ShapeLike,
    seed: TensorLike,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = float32,
    name: str | None = None,
    alg: str | IntLike | Algorithm = "auto_select",
) -> Tensor:
    """Numbers uniform in [minval, maxval), determined by a seed of two integers.

    Integer dtypes need both bounds, or None for both to draw from the whole range of the dtype.

    Args:
      shape: the sizes of the result: a list, `tf.TensorShape`, int32 or int64 vector, or one
        number.
      seed: two integers, a list or an int32 or int64 vector.
      minval: the lower bound, included: a number or a tensor that broadcasts with the result.
      maxval: the upper bound, not included. For floating dtypes None means 1.
      dtype: a floating dtype, int32 or int64; uint32 and uint64 for the whole range only.
      alg: "auto_select" or "philox", which are the same, or their `tf.random.Algorithm`.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      ValueError: if the dtype is another one, an integer one has one bound only, or there is no
        such algorithm.
      InvalidArgumentError: if integer bounds are not in order.
      ShapeError: if the seed is not two numbers, or a size is negative.
      UnsupportedError: for "threefry".

    >>> tf.random.stateless_uniform([2], seed=[1, 2]).numpy()
    array([0.8440604 , 0.19204533], dtype=float32)
    >>> tf.random.stateless_uniform([3], seed=[1, 2], minval=0, maxval=10, dtype=tf.int32).numpy()
    array([0, 9, 4], dtype=int32)
    """
    op = "stateless_uniform"
    return distributions.uniform(op, shape, minval, maxval, dtype, name, _source(op, seed, alg))


def stateless_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    name: str | None = None,
    alg: str | IntLike | Algorithm = "auto_select",
) -> Tensor:
    """Normal numbers, determined by a seed of two integers.

    Args:
      shape: the sizes of the result: a list, `tf.TensorShape`, int32 or int64 vector, or one
        number.
      seed: two integers, a list or an int32 or int64 vector.
      mean: the mean, a number or a tensor that broadcasts with the result.
      stddev: the standard deviation, of this kind, too.
      dtype: the dtype of the result, a floating one.
      alg: "auto_select" or "philox", which are the same, or their `tf.random.Algorithm`.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      DTypeError: if the dtype is another one.
      ShapeError: if the seed is not two numbers, a size is negative, or a parameter does not
        broadcast.
      ValueError: if there is no such algorithm.
      UnsupportedError: for "threefry".

    >>> x = tf.random.stateless_normal([1000], seed=[1, 2], mean=5.0)
    >>> bool(abs(tf.reduce_mean(x) - 5.0) < 0.1)
    True
    """
    op = "stateless_normal"
    return distributions.normal(
        op, draws.normal_op, shape, mean, stddev, dtype, name, _source(op, seed, alg)
    )


def stateless_truncated_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    name: str | None = None,
    alg: str | IntLike | Algorithm = "auto_select",
) -> Tensor:
    """Normal numbers within two standard deviations, determined by a seed of two integers.

    Args:
      shape: the sizes of the result: a list, `tf.TensorShape`, int32 or int64 vector, or one
        number.
      seed: two integers, a list or an int32 or int64 vector.
      mean: the mean, a number or a tensor that broadcasts with the result.
      stddev: the standard deviation, of this kind, too.
      dtype: the dtype of the result, a floating one.
      alg: "auto_select" or "philox", which are the same, or their `tf.random.Algorithm`.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      DTypeError: if the dtype is another one.
      ShapeError: if the seed is not two numbers, a size is negative, or a parameter does not
        broadcast.
      ValueError: if there is no such algorithm.
      UnsupportedError: for "threefry".

    >>> x = tf.random.stateless_truncated_normal([1000], seed=[1, 2])
    >>> bool(np.all(np.abs(x) < 2))
    True
    """
    op = "stateless_truncated_normal"
    return distributions.normal(
        op, draws.truncated_normal_op, shape, mean, stddev, dtype, name, _source(op, seed, alg)
    )


def stateless_categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = int64,
    name: str | None = None,
) -> Tensor:
    """Class numbers drawn by the log-probabilities in each row, determined by a seed.

    Args:
      logits: log-probabilities, floating numbers [rows, classes]; they need not be normalised.
      num_samples: how many for each row, an integer or integer scalar.
      seed: two integers, a list or an int32 or int64 vector.
      dtype: the dtype of the result, int32 or int64.

    Returns:
      A tensor of shape [rows, num_samples].

    Raises:
      ShapeError: if `logits` is no matrix, `num_samples` negative, or the seed not two numbers.
      ValueError: if the dtype is another one.

    >>> tf.random.stateless_categorical([[0.0, 0.0, 0.0]], 4, seed=[1, 2]).numpy()
    array([[2, 2, 0, 2]])
    """
    op = "stateless_categorical"
    dtype = distributions.class_dtype(op, dtype)
    logits, count = convert_to_tensor(logits), of_dtype(op, num_samples, int32, "num_samples")
    return draws.multinomial_op(logits, count, _state_of(seed), dtype=dtype, name=name)


def stateless_shuffle(
    value: TensorLike,
    seed: TensorLike,
    alg: str | IntLike | Algorithm = "auto_select",
    name: str | None = None,
) -> Tensor:
    """The rows of a tensor in an order determined by a seed.

    Args:
      value: a tensor; a scalar is returned as it is.
      seed: two integers, a list or an int32 or int64 vector.
      alg: "auto_select" or "philox", which are the same, or their `tf.random.Algorithm`.

    Returns:
      A tensor of the shape and dtype of `value`.

    Raises:
      ShapeError: if the seed is not two numbers.
      ValueError: if there is no such algorithm.
      UnsupportedError: for "threefry".

    >>> tf.random.experimental.stateless_shuffle([0, 1, 2, 3, 4], seed=[1, 2]).numpy()
    array([0, 2, 1, 4, 3], dtype=int32)
    """
    philox_like("stateless_shuffle", alg)
    return draws.shuffle_op(convert_to_tensor(value), _state_of(seed), inverse=False, name=name)


def split(
    seed: TensorLike, num: TensorLike = 2, alg: str | IntLike | Algorithm = "auto_select"
) -> Tensor:
    """Independent new seeds from one, as rows.

    Args:
      seed: two integers, a list or an int32 or int64 vector.
      num: how many, an integer or integer scalar.
      alg: "auto_select" or "philox", which are the same, or their `tf.random.Algorithm`.

    Returns:
      A tensor of shape [num, 2] and the dtype of the seed.

    Raises:
      ShapeError: if the seed is not two numbers, or `num` is negative.
      ValueError: if there is no such algorithm.
      UnsupportedError: for "threefry".

    >>> tf.random.split([1, 2], num=2).numpy()
    array([[1105988140, 1738052849],
           [-335576002,  370444179]], dtype=int32)
    """
    philox_like("split", alg)
    seed = convert_to_tensor(seed)
    return draws.full_int_op(shape_argument([num, 2]), _state_of(seed), dtype=seed.dtype)


def fold_in(
    seed: TensorLike, data: TensorLike, alg: str | IntLike | Algorithm = "auto_select"
) -> Tensor:
    """A new seed from a seed and a number, such as the number of the step.

    Args:
      seed: two integers, a list or an int32 or int64 vector.
      data: a scalar of 32 or 64 bits.
      alg: "auto_select" or "philox", which are the same, or their `tf.random.Algorithm`.

    Returns:
      A vector of two numbers, with the dtype of `data`.

    Raises:
      ValueError: if `data` is no such integer, or there is no such algorithm.
      ShapeError: if the seed is not two numbers.
      UnsupportedError: for "threefry".

    >>> tf.random.fold_in([1, 2], 77).numpy()
    array([1105988140,         77], dtype=int32)
    """
    philox_like("fold_in", alg)
    data = convert_to_tensor(data)
    if data.dtype not in draws.FULL_INTS:
        raise ValueError(f"fold_in: data must be an integer (32 or 64 bits), got {data!r}.")
    first = draws.full_int_op(shape_argument([]), _state_of(seed), dtype=data.dtype)
    return source.pack_op(first, data, axis=0)


def stateless_gamma(
    shape: ShapeLike,
    seed: TensorLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """Gamma numbers of shape alpha and rate beta, determined by a seed; alpha gets a gradient.

    Args:
      shape: the sizes of the result, which end with the shape of the parameters: a list,
        `tf.TensorShape`, int32 or int64 vector, or one number.
      seed: two integers, a list or an int32 or int64 vector.
      alpha: positive numbers, the shape of the distribution.
      beta: positive numbers, its rate; broadcast with `alpha`. None means 1.
      dtype: the dtype of the result, a floating one.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      DTypeError: if the dtype is not floating.
      ValueError: if a parameter is a tensor of another dtype.
      ShapeError: if the shape does not end with that of the parameters, or the seed is not two
        numbers.

    >>> x = tf.random.stateless_gamma([1000, 2], seed=[1, 2], alpha=[2.0, 8.0])
    >>> tf.reduce_mean(x, 0).numpy().round(0)
    array([2., 8.], dtype=float32)
    """
    op = "stateless_gamma"
    drawn_by = _source(op, seed, "auto_select")
    return parametric.gamma(op, shape, alpha, beta, dtype, name, drawn_by, whole=True)


def stateless_poisson(
    shape: ShapeLike,
    seed: TensorLike,
    lam: TensorLike,
    dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """Poisson numbers of rate lam, determined by a seed.

    Args:
      shape: the sizes of the result, which end with the shape of the parameters: a list,
        `tf.TensorShape`, int32 or int64 vector, or one number.
      seed: two integers, a list or an int32 or int64 vector.
      lam: rates, numbers that are finite.
      dtype: the dtype of the result: float16, float32, float64, int32 or int64.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      DTypeError: if the dtype is another one.
      InvalidArgumentError: if a rate is not finite.
      ShapeError: if the shape does not end with that of the parameters, or the seed is not two
        numbers.

    >>> x = tf.random.stateless_poisson([1000, 2], seed=[1, 2], lam=[3.0, 40.0], dtype=tf.float32)
    >>> tf.reduce_mean(x, 0).numpy().round(0)
    array([ 3., 40.], dtype=float32)
    """
    op = "stateless_poisson"
    drawn_by = _source(op, seed, "auto_select")
    return parametric.poisson(op, shape, lam, dtype, name, drawn_by, whole=True)


def stateless_binomial(
    shape: ShapeLike,
    seed: TensorLike,
    counts: TensorLike,
    probs: TensorLike,
    output_dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """How many of `counts` trials succeed with probability `probs`, determined by a seed.

    Args:
      shape: the sizes of the result, which end with the shape of the parameters: a list,
        `tf.TensorShape`, int32 or int64 vector, or one number.
      seed: two integers, a list or an int32 or int64 vector.
      counts: how many trials, a tensor of numbers.
      probs: the probability of success, floating numbers; the two are broadcast together.
      output_dtype: the dtype of the result: float16, float32, float64, int32 or int64.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      DTypeError: if the dtype is another one.
      InvalidArgumentError: if a count is not finite, or a probability is NaN.
      ShapeError: if the shape does not end with that of the parameters, or the seed is not two
        numbers.

    >>> tf.random.stateless_binomial([3], seed=[1, 2], counts=10.0, probs=1.0).numpy()
    array([10, 10, 10], dtype=int32)
    """
    op = "stateless_binomial"
    drawn_by = _source(op, seed, "auto_select")
    return parametric.binomial(op, shape, counts, probs, output_dtype, name, drawn_by)
