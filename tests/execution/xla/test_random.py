"""Random numbers are the same on every tier: words and uniform ones bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.xla_programs import plan_of

SHAPE = (5, 7)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64])
def test_uniform_numbers(dtype: tf.DType) -> None:
    draw = tf.function(lambda seed: tf.random.stateless_uniform(SHAPE, seed, dtype=dtype))
    seed = tf.constant([3, -9])
    np.testing.assert_array_equal(draw(seed), tf.random.stateless_uniform(SHAPE, seed, dtype=dtype))


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.uint32, tf.uint64])
def test_integers(dtype: tf.DType) -> None:
    def body(seed: Any) -> Any:
        return tf.random.stateless_uniform(SHAPE, seed, None, None, dtype=dtype)

    seed = tf.constant([3, 8], tf.int64)
    np.testing.assert_array_equal(tf.function(body)(seed), body(seed))


@pytest.mark.parametrize(("low", "high"), [(0, 10), (-7, 3), (-(2**31), 2**31 - 1)])
def test_integers_in_a_range(low: int, high: int) -> None:
    def body(seed: Any, low: Any, high: Any) -> Any:
        return tf.random.stateless_uniform(SHAPE, seed, low, high, dtype=tf.int32)

    arguments = tf.constant([1, 2]), tf.constant(low), tf.constant(high)
    np.testing.assert_array_equal(tf.function(body)(*arguments), body(*arguments))


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
@pytest.mark.parametrize("kind", ["stateless_normal", "stateless_truncated_normal"])
def test_normal_numbers_within_4_ulp(dtype: tf.DType, kind: str) -> None:
    def body(seed: Any) -> Any:
        return getattr(tf.random, kind)((401,), seed, dtype=dtype)

    seed = tf.constant([5, 6])
    got, wanted = tf.function(body)(seed).numpy(), body(seed).numpy()
    unit = np.spacing(np.abs(wanted)).astype(np.float64)
    assert (np.abs(got.astype(np.float64) - wanted.astype(np.float64)) <= 4 * unit).all()


def test_categories_and_permutations() -> None:
    def body(seed: Any, logits: Any) -> Any:
        drawn = tf.random.stateless_categorical(logits, 9, seed)
        order = tf.random.experimental.stateless_shuffle(tf.range(11), seed)
        return drawn, order

    logits = tf.constant(np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32))
    seed = tf.constant([8, 1])
    for got, wanted in zip(tf.function(body)(seed, logits), body(seed, logits), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_streams_go_on_from_call_to_call() -> None:
    body = lambda: tf.random.uniform([4], seed=5)  # noqa: E731
    tf.random.set_seed(7)
    tf.config.execution = "numpy"
    function = tf.function(body)
    wanted = [function().numpy() for _ in range(3)]
    tf.random.set_seed(7)
    tf.config.execution = "xla"
    function = tf.function(body)
    np.testing.assert_array_equal([function().numpy() for _ in range(3)], wanted)
    generator = tf.random.Generator.from_seed(4)
    drawn = tf.function(lambda: generator.normal([3]))
    first = [drawn().numpy() for _ in range(2)]
    generator.reset_from_seed(4)
    np.testing.assert_allclose([generator.normal([3]).numpy() for _ in range(2)], first, rtol=1e-6)


def on_both(make: Any) -> tuple[list[Any], list[Any]]:
    """What three calls of a function give on NumPy, and on XLA as one program."""
    found = []
    for tier in ("numpy", "xla"):
        tf.random.set_seed(7)
        tf.config.execution = tier
        function = tf.function(make())
        found.append([x.numpy() for _ in range(3) for x in tf.nest.flatten(function())])
    assert plan_of(function).program is not None
    return found[0], found[1]


def test_streams_in_loops_and_branches() -> None:
    def make() -> Any:
        def body() -> Any:
            total = tf.random.uniform([3])
            for i in tf.range(4):
                if i % 2 == 0:
                    total += tf.random.uniform([3], seed=4)
                else:
                    total += tf.cast(tf.random.uniform([], 0, 9, tf.int32), tf.float32)
            return total, tf.random.uniform([tf.shape(total)[0], 2], dtype=tf.float64)

        return body

    wanted, got = on_both(make)
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("low", [0, -1, 2**63 - 1])
@pytest.mark.parametrize("delta", [3, -2, 2**33])
def test_counters_at_their_limits(low: int, delta: int) -> None:
    """The state of a generator after a step of any size, where it is carried or wraps."""

    def make() -> Any:
        generator = tf.random.Generator.from_state([low, 5, 9], alg="philox")

        def body() -> Any:
            skipped = tf.convert_to_tensor(generator.skip(delta))
            return skipped, generator.uniform([2]), generator.state

        return body

    wanted, got = on_both(make)
    np.testing.assert_array_equal(np.concatenate(got), np.concatenate(wanted))


def test_a_check_that_fails_draws_once() -> None:
    """NumPy runs the call, and draws: the program has put the stream back."""
    tf.random.set_seed(3)
    function = tf.function(lambda i: (tf.random.uniform([2], seed=1), tf.gather([1.0, 2.0], i)))
    first = function(tf.constant(0))[0].numpy()
    with pytest.raises(tf.errors.InvalidArgumentError, match="index 5 is out of range"):
        function(tf.constant(5))
    third = function(tf.constant(1))[0].numpy()
    tf.random.set_seed(3)
    again = [function(tf.constant(0))[0].numpy() for _ in range(3)]
    np.testing.assert_array_equal([first, third], [again[0], again[2]])
