"""Raw ops that draw random numbers: from seeds, from a key and a counter, from a generator."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft._src.core.aliases import DTypeLike, IntLike, ShapeLike, TensorLike
from weft._src.core.random_numbers import seeds
from weft._src.errors import UnsupportedError
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.sampling import distributions, draws, parametric, stateful, streams
from weft._src.ops.sampling.algorithms import Algorithm
from weft._src.ops.sampling.bounded import between

_PHILOX = Algorithm.PHILOX.value


def seed_of(seed: int, seed2: int) -> Any:
    """Two seeds as they are; none if both are 0."""
    return (int(seed), int(seed2)) if seed or seed2 else None


def normal(
    shape: ShapeLike, dtype: DTypeLike, seed: int = 0, seed2: int = 0, name: str | None = None
) -> tf.Tensor:
    return stateful.normal(shape, dtype=dtype, seed=seed_of(seed, seed2), name=name)


def truncated_normal(
    shape: ShapeLike, dtype: DTypeLike, seed: int = 0, seed2: int = 0, name: str | None = None
) -> tf.Tensor:
    return stateful.truncated_normal(shape, dtype=dtype, seed=seed_of(seed, seed2), name=name)


def uniform(
    shape: Any, dtype: DTypeLike, seed: int = 0, seed2: int = 0, name: str | None = None
) -> tf.Tensor:
    return stateful.uniform(shape, dtype=dtype, seed=seed_of(seed, seed2), name=name)


def uniform_int(
    shape: ShapeLike,
    minval: TensorLike,
    maxval: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> tf.Tensor:
    low = tf.convert_to_tensor(minval)
    return stateful.uniform(shape, low, maxval, low.dtype, seed_of(seed, seed2), name)


def shuffle(value: TensorLike, seed: int = 0, seed2: int = 0, name: str | None = None) -> tf.Tensor:
    return stateful.shuffle(value, seed_of(seed, seed2), name)


def multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    output_dtype: DTypeLike = tf.int64,
    name: str | None = None,
) -> tf.Tensor:
    return stateful.categorical(logits, num_samples, output_dtype, seed_of(seed, seed2), name)


def stateless_uniform_int(
    shape: ShapeLike,
    seed: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    name: str | None = None,
) -> tf.Tensor:
    low = tf.convert_to_tensor(minval)
    return tf.random.stateless_uniform(shape, seed, low, maxval, low.dtype)


# --- keys and counters -------------------------------------------------------------------------


def algorithm(name: str | None = None) -> tf.Tensor:
    return tf.constant(_PHILOX, tf.int32)


def key_counter(seed: TensorLike, name: str | None = None) -> tuple[tf.Tensor, tf.Tensor]:
    # A conversion of 64 bits to 64 bits keeps them.
    state = tf.cast(draws.key_counter_op(tf.convert_to_tensor(seed)), tf.uint64)
    return state[2:], state[:2]


def key_counter_algorithm(seed: TensorLike, name: str | None = None) -> tuple[tf.Tensor, ...]:
    return (*key_counter(seed), algorithm())


def _check_algorithm(alg: Any) -> None:
    known = tf.get_static_value(tf.convert_to_tensor(alg))
    if known is None or int(known) not in (_PHILOX, Algorithm.AUTO_SELECT.value):
        raise UnsupportedError(f"Only the algorithm Philox ({_PHILOX}) is there, got alg={alg!r}.")


def _state(key: Any, counter: Any, alg: Any) -> tf.Tensor:
    """Weft's form of a key and a counter: one vector of int64, the counter first."""
    _check_algorithm(alg)
    parts = [tf.convert_to_tensor(part, tf.uint64) for part in (counter, key)]
    return tf.cast(tf.concat(parts, 0), tf.int64)


def _drawn(
    op: Any, shape: ShapeLike, state: tf.Tensor, dtype: DTypeLike, name: str | None
) -> tf.Tensor:
    return op(shapes.shape_argument(shape), state, dtype=tf.as_dtype(dtype), name=name)


def normal_from_state(
    shape: ShapeLike,
    key: TensorLike,
    counter: TensorLike,
    alg: str | IntLike,
    dtype: DTypeLike = tf.float32,
    name: str | None = None,
) -> tf.Tensor:
    return _drawn(draws.normal_op, shape, _state(key, counter, alg), dtype, name)


def truncated_from_state(
    shape: ShapeLike,
    key: TensorLike,
    counter: TensorLike,
    alg: str | IntLike,
    dtype: DTypeLike = tf.float32,
    name: str | None = None,
) -> tf.Tensor:
    return _drawn(draws.truncated_normal_op, shape, _state(key, counter, alg), dtype, name)


def uniform_from_state(
    shape: ShapeLike,
    key: TensorLike,
    counter: TensorLike,
    alg: str | IntLike,
    dtype: DTypeLike = tf.float32,
    name: str | None = None,
) -> tf.Tensor:
    return _drawn(draws.uniform_op, shape, _state(key, counter, alg), dtype, name)


def full_int_from_state(
    shape: ShapeLike,
    key: TensorLike,
    counter: TensorLike,
    alg: str | IntLike,
    dtype: DTypeLike = tf.uint64,
    name: str | None = None,
) -> tf.Tensor:
    return _drawn(draws.full_int_op, shape, _state(key, counter, alg), dtype, name)


def uniform_int_from_state(
    shape: ShapeLike,
    key: TensorLike,
    counter: TensorLike,
    alg: str | IntLike,
    minval: TensorLike,
    maxval: TensorLike,
    name: str | None = None,
) -> tf.Tensor:
    state = _state(key, counter, alg)

    def source(*_: Any) -> tf.Tensor:
        return state

    low = tf.convert_to_tensor(minval)
    return distributions.uniform(
        "StatelessRandomUniformIntV2", shape, low, maxval, low.dtype, name, source
    )


def shuffle_from_state(
    value: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: str | IntLike,
    name: str | None = None,
) -> tf.Tensor:
    state = _state(key, counter, alg)
    return draws.shuffle_op(tf.convert_to_tensor(value), state, inverse=False, name=name)


# --- with parameters -----------------------------------------------------------------------------


def gamma(
    shape: ShapeLike, alpha: TensorLike, seed: int = 0, seed2: int = 0, name: str | None = None
) -> tf.Tensor:
    a = tf.convert_to_tensor(alpha)
    return stateful.gamma(shape, a, None, a.dtype, seed_of(seed, seed2), name)


def poisson(
    shape: ShapeLike,
    rate: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    dtype: DTypeLike = tf.int64,
    name: str | None = None,
) -> tf.Tensor:
    return stateful.poisson(shape, rate, dtype, seed_of(seed, seed2), name)


def stateless_gamma(
    shape: ShapeLike, seed: TensorLike, alpha: TensorLike, name: str | None = None
) -> tf.Tensor:
    a = tf.convert_to_tensor(alpha)
    return tf.random.stateless_gamma(shape, seed, a, dtype=a.dtype)


def gamma_from_state(
    shape: ShapeLike,
    key: TensorLike,
    counter: TensorLike,
    alg: str | IntLike,
    alpha: TensorLike,
    name: str | None = None,
) -> tf.Tensor:
    a, state = tf.convert_to_tensor(alpha), _state(key, counter, alg)
    return parametric.gamma_op(shapes.shape_argument(shape), state, a, name=name)


def truncated_with_bounds(
    shape: ShapeLike,
    seed: TensorLike,
    means: TensorLike,
    stddevs: TensorLike,
    minvals: TensorLike,
    maxvals: TensorLike,
    name: str | None = None,
) -> tf.Tensor:
    mean = tf.convert_to_tensor(means)
    drawn = tf.random.stateless_uniform(shape, seed, dtype=mean.dtype)
    return between(drawn, mean, stddevs, minvals, maxvals)


def stateful_with_bounds(
    shape: ShapeLike,
    means: TensorLike,
    stdevs: TensorLike,
    minvals: TensorLike,
    maxvals: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> tf.Tensor:
    """Parameters that are vectors have a number for each row of the result."""
    mean = tf.convert_to_tensor(means)
    drawn = stateful.uniform(shape, dtype=mean.dtype, seed=seed_of(seed, seed2))
    ones = [1] * (drawn.ndim - 1)

    def for_rows(x: TensorLike) -> tf.Tensor:
        parameter = tf.convert_to_tensor(x, dtype_hint=mean.dtype)
        return tf.reshape(parameter, [-1, *ones]) if parameter.shape.rank == 1 else parameter

    return between(drawn, *[for_rows(x) for x in (mean, stdevs, minvals, maxvals)])


def index_shuffle(
    index: TensorLike,
    seed: TensorLike,
    max_index: TensorLike,
    rounds: int = 4,
    name: str | None = None,
) -> tf.Tensor:
    """The seed is three numbers; the first one is the same in all graphs that TensorFlow makes."""
    words = tf.convert_to_tensor(seed)
    usual = tf.constant(498247692, words.dtype)
    first = words[..., 1] + (words[..., 0] - usual)
    pair = tf.stack([first, words[..., 2]], -1)
    return tf.random.experimental.index_shuffle(index, pair, max_index)


# --- from the state of a generator ---------------------------------------------------------------


def read_and_skip(
    resource: tf.Tensor, alg: Any, delta: TensorLike, name: str | None = None
) -> tf.Tensor:
    """The state before; it moves on as if so many numbers had been drawn."""
    _check_algorithm(alg)
    count = tf.cast(delta, tf.int64)
    return streams.read_and_skip_op(resource, count, step=seeds.SKIP_PER_SAMPLE, name=name)


def skip(resource: tf.Tensor, algorithm: Any, delta: TensorLike, name: str | None = None) -> None:
    read_and_skip(resource, algorithm, delta, name)


def _taken(resource: tf.Tensor, algorithm: Any, shape: ShapeLike) -> Any:
    """A shape, and the state to draw so many numbers from."""
    sizes = shapes.shape_argument(shape)
    return sizes, read_and_skip(resource, algorithm, tf.reduce_prod(sizes))


def _from_generator(op: Any) -> Any:
    def draw(
        resource: tf.Tensor,
        algorithm: Any,
        shape: ShapeLike,
        dtype: DTypeLike,
        name: str | None = None,
    ) -> tf.Tensor:
        sizes, state = _taken(resource, algorithm, shape)
        return op(sizes, state, dtype=tf.as_dtype(dtype), name=name)

    return draw


normal_from_generator = _from_generator(draws.normal_op)
truncated_from_generator = _from_generator(draws.truncated_normal_op)
uniform_from_generator = _from_generator(draws.uniform_op)
full_int_from_generator = _from_generator(draws.full_int_op)


def uniform_int_from_generator(
    resource: tf.Tensor,
    algorithm: Any,
    shape: ShapeLike,
    minval: TensorLike,
    maxval: TensorLike,
    name: str | None = None,
) -> tf.Tensor:
    sizes, state = _taken(resource, algorithm, shape)
    low = tf.convert_to_tensor(minval)
    high = tf.convert_to_tensor(maxval, dtype_hint=low.dtype)
    return draws.uniform_int_op(sizes, state, low, high, name=name)


def binomial_from_generator(
    resource: tf.Tensor,
    algorithm: Any,
    shape: ShapeLike,
    counts: TensorLike,
    probs: TensorLike,
    dtype: DTypeLike = tf.int64,
    name: str | None = None,
) -> tf.Tensor:
    def source(draw: Any, dtype: Any, wanted: tf.Tensor) -> tf.Tensor:
        numbers = parametric.binomial_numbers(wanted, counts, probs)
        return read_and_skip(resource, algorithm, numbers)

    op = "StatefulRandomBinomial"
    return parametric.binomial(op, shape, counts, probs, dtype, name, source)


def unforeseeable(
    shape: ShapeLike, dtype: DTypeLike = tf.int64, name: str | None = None
) -> tf.Tensor:
    op = "NonDeterministicInts"
    return distributions.full_int(op, shape, dtype, name, stateful.stream_source(op, None))
