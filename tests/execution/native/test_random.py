"""Random numbers as machine code: the words, and so the numbers, of the NumPy tier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check, check_program, compile_native
from weft._src.ops.sampling.draws import (
    full_int_op,
    truncated_normal_op,
    uniform_int_op,
    uniform_op,
)

SEED = np.array([7, -3], np.int32)
# Carries into the high half of the counter.
LATE = np.array([-2, 5, 1 << 40], np.int64)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (3,), (5, 7), (0, 2)])
def test_uniform(dtype: str, shape: tuple[int, ...]) -> None:
    check(lambda seed: [tf.random.stateless_uniform(shape, seed, dtype=dtype)], SEED)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_normal(dtype: str) -> None:
    tolerance = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 2e-6, "float64": 1e-14}[dtype]
    check(
        lambda seed: [
            tf.random.stateless_normal([61], seed, dtype=dtype),
            tf.random.stateless_normal([3, 3], seed, mean=2.0, stddev=0.5, dtype=dtype),
        ],
        SEED,
        rtol=tolerance,
        atol=tolerance,
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (11,), (40, 57), (3, 0)])
def test_truncated_normal(dtype: str, shape: tuple[int, ...]) -> None:
    tolerance = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 2e-6, "float64": 1e-14}[dtype]
    (out,) = check(
        lambda seed: [tf.random.stateless_truncated_normal(shape, seed, dtype=dtype)],
        SEED,
        rtol=tolerance,
        atol=tolerance,
    )
    assert (np.abs(out.astype(np.float64)) <= 2).all()


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_integers(dtype: str) -> None:
    def function(state: Any, low: Any, high: Any) -> list[Any]:
        return [
            full_int_op(tf.constant([23]), state, dtype=tf.as_dtype(dtype)),
            uniform_int_op(tf.constant([4, 5]), state, low, high),
            uniform_int_op(tf.constant([2, 0]), state, high, low),
        ]

    limits = np.iinfo(dtype)
    for low, high in ((3, 17), (0, 1), (limits.min, limits.max)):
        check(function, LATE, np.array(low, dtype), np.array(high, dtype))
    compiled, _ = compile_native(function, LATE, np.array(0, dtype), np.array(1, dtype))
    assert compiled(LATE, np.array(4, dtype), np.array(4, dtype)) is None


def test_states_carry() -> None:
    def function(state: Any) -> list[Any]:
        shape = tf.constant([9])
        return [
            uniform_op(shape, state, dtype=tf.float32),
            full_int_op(shape, state, dtype=tf.uint64),
            truncated_normal_op(shape, state, dtype=tf.float64),
        ]

    check(function, LATE, rtol=1e-13)


def test_seeds() -> None:
    check(
        lambda seed, n: [
            tf.random.split(seed, 3),
            tf.random.fold_in(seed, n),
            tf.random.stateless_uniform([5], tf.random.fold_in(seed, n)),
            tf.random.split(tf.cast(seed, tf.int64), 2),
        ],
        SEED,
        np.int32(5),
    )


def test_classes() -> None:
    nan, inf = np.nan, np.inf
    logits = np.float32([[0.1, 0.2, 2.7], [1, 1, nan], [-inf, -inf, 1], [inf, inf, -inf]])
    for dtype in (tf.int32, tf.int64):
        check(
            lambda x, seed, dtype=dtype: [
                tf.random.stateless_categorical(x, 37, seed, dtype=dtype),
                tf.random.stateless_categorical(x, 0, seed, dtype=dtype),
            ],
            logits,
            SEED,
        )


@pytest.mark.parametrize("n", [0, 1, 2, 9, 100])
def test_shuffles(n: int) -> None:
    x = np.arange(3 * n, dtype=np.float32).reshape(n, 3)

    def function(x: Any, seed: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.random.experimental.stateless_shuffle(x, seed)
        return [y, tape.gradient(y, x, output_gradients=x)]

    check(function, x, SEED)


def test_in_loops() -> None:
    def walk(x: Any, n: Any) -> Any:
        for i in tf.range(n):
            seed = tf.random.fold_in([4, 2], i)
            if tf.random.stateless_uniform([], seed) < 0.5:
                x = x + tf.random.stateless_truncated_normal([3], seed)
            else:
                x = x - tf.random.stateless_normal([3], seed)
        return x

    check_program(walk, np.zeros(3, np.float32), np.int32(20), rtol=1e-4)


def test_many_numbers_are_shared_by_threads() -> None:
    check(lambda seed: [tf.random.stateless_uniform([300, 1001], seed)], SEED)


# --- streams -------------------------------------------------------------------------------------


def _drawn(x: Any) -> Any:
    return tf.nn.dropout(tf.tanh(x), 0.5) + tf.random.normal([3]) * tf.random.uniform([3])


def test_streams_go_on_as_on_numpy() -> None:
    """NumPy only takes the states; all the rest is machine code, in one piece."""
    x = tf.constant([0.5, 1.0, 2.0])
    runs = []
    for jit in (False, True):
        tf.random.set_seed(11)
        function = tf.function(_drawn, jit_compile=jit)
        runs.append([function(x).numpy() for _ in range(3)])
    np.testing.assert_allclose(runs[1], runs[0], rtol=1e-5)
    assert np.unique(runs[1], axis=0).shape == (3, 3)
    trace = tf.explain(function).traces[0]
    assert trace["tier"] == "native"
    assert "1 segments; left to NumPy: " in trace["native"]
    assert "RngReadAndSkip" in trace["native"]


def test_streams_between_assignments() -> None:
    generator = tf.random.Generator.from_seed(5)
    results = []
    for jit in (False, True):
        generator.reset_from_seed(5)
        v = tf.Variable([1.0, 2.0])

        @tf.function(jit_compile=jit)
        def step(v: Any = v) -> Any:
            v.assign_add(generator.uniform([2]))
            v.assign(v * generator.normal([2]))
            return tf.reduce_sum(v)

        results.append([float(step()) for _ in range(3)] + v.numpy().tolist())
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5)


def test_a_single_draw() -> None:
    tf.random.set_seed(2)
    jitted = tf.function(lambda: tf.random.truncated_normal([4]), jit_compile=True)
    first, second = jitted().numpy(), jitted().numpy()
    assert not (first == second).any()


def test_streams_in_loops_are_refused_with_advice() -> None:
    def walk(x: Any) -> Any:
        for _ in tf.range(3):
            x += tf.random.normal([])
        return x

    with pytest.raises(tf.errors.UnimplementedError, match=r"stateless.*fold_in.*test_random.py"):
        tf.function(walk, jit_compile=True)(0.0)
    tf.function(walk)(0.0)  # the advice is good
    jitted = tf.function(lambda x: tf.linalg.svd(x * tf.random.uniform([2, 2])), jit_compile=True)
    with pytest.raises(tf.errors.UnimplementedError, match="Svd has no native form"):
        jitted(tf.ones([2, 2]))
