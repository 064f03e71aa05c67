"""Raw ops that draw random numbers: from a pair of seeds, or from a key and a counter."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft._src.core.aliases import DTypeLike, IntLike, ShapeLike, TensorLike
from weft._src.errors import UnsupportedError
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.sampling import distributions, draws, stateful
from weft._src.ops.sampling.algorithms import Algorithm

_PHILOX = Algorithm.PHILOX.value


def _seed(seed: int, seed2: int) -> Any:
    """Two seeds as they are; none if both are 0."""
    return (int(seed), int(seed2)) if seed or seed2 else None


def normal(
    shape: ShapeLike, dtype: DTypeLike, seed: int = 0, seed2: int = 0, name: str | None = None
) -> tf.Tensor:
    return stateful.normal(shape, dtype=dtype, seed=_seed(seed, seed2), name=name)


def truncated_normal(
    shape: ShapeLike, dtype: DTypeLike, seed: int = 0, seed2: int = 0, name: str | None = None
) -> tf.Tensor:
    return stateful.truncated_normal(shape, dtype=dtype, seed=_seed(seed, seed2), name=name)


def uniform(
    shape: Any, dtype: DTypeLike, seed: int = 0, seed2: int = 0, name: str | None = None
) -> tf.Tensor:
    return stateful.uniform(shape, dtype=dtype, seed=_seed(seed, seed2), name=name)


def uniform_int(
    shape: ShapeLike,
    minval: TensorLike,
    maxval: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> tf.Tensor:
    low = tf.convert_to_tensor(minval)
    return stateful.uniform(shape, low, maxval, low.dtype, _seed(seed, seed2), name)


def shuffle(value: TensorLike, seed: int = 0, seed2: int = 0, name: str | None = None) -> tf.Tensor:
    return stateful.shuffle(value, _seed(seed, seed2), name)


def multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    output_dtype: DTypeLike = tf.int64,
    name: str | None = None,
) -> tf.Tensor:
    return stateful.categorical(logits, num_samples, output_dtype, _seed(seed, seed2), name)


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
    state = tf.bitcast(draws.key_counter_op(tf.convert_to_tensor(seed)), tf.uint64)
    return state[2:], state[:2]


def key_counter_algorithm(seed: TensorLike, name: str | None = None) -> tuple[tf.Tensor, ...]:
    return (*key_counter(seed), algorithm())


def _state(key: Any, counter: Any, alg: Any) -> tf.Tensor:
    """Weft's form of a key and a counter: one vector of int64, the counter first."""
    known = tf.get_static_value(tf.convert_to_tensor(alg))
    if known is None or int(known) not in (_PHILOX, Algorithm.AUTO_SELECT.value):
        raise UnsupportedError(f"Only the algorithm Philox ({_PHILOX}) is there, got alg={alg!r}.")
    parts = [tf.convert_to_tensor(part, tf.uint64) for part in (counter, key)]
    return tf.bitcast(tf.concat(parts, 0), tf.int64)


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
