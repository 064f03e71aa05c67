"""Stateless random numbers: values recorded from TensorFlow, every tier, gradients, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, check_case, f32
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.tracing import trace

SEED = [1, 2]

UNIFORM = [
    (tf.float32, {}, [0.8440604209899902, 0.19204533100128174]),
    (tf.float64, {"maxval": 1.5}, [1.1287256307677702, 1.4546786588441227]),
    (tf.float16, {"minval": 1, "maxval": 10}, [5.88671875, 3.1171875]),
    (tf.float32, {"minval": 5, "maxval": 3}, [3.3118791580200195, 4.615909576416016]),
    (tf.int32, {"minval": None}, [1105988140, 1738052849]),
    (tf.uint64, {"minval": None}, [7464880146280614444, 1591045637757961278]),
    (tf.float32, {"minval": 1}, [1.0, 1.0]),
]


@pytest.mark.parametrize(("dtype", "bounds", "expected"), UNIFORM)
def test_uniform_is_bit_equal_to_tensorflow(dtype: Any, bounds: Any, expected: Any) -> None:
    x = tf.random.stateless_uniform([2], SEED, dtype=dtype, **bounds)
    assert x.dtype is dtype
    assert x.numpy().tolist() == expected


@pytest.mark.parametrize("alg", ["philox", "auto_select", 1, 3, tf.random.Algorithm.PHILOX])
def test_algorithms_that_mean_philox(alg: Any) -> None:
    x = tf.random.stateless_uniform([], SEED, alg=alg)
    assert float(x) == 0.8440604209899902


def test_normal_is_within_4_ulp_of_tensorflow() -> None:
    x = tf.random.stateless_normal([2, 3], SEED, [1.0, 2, 3], 2.0).numpy()
    recorded = np.float32(
        [
            [2.0882201194763184, 2.4147605895996094, 3.1471285820007324],
            [1.0928690433502197, -0.6031796932220459, 1.0922869443893433],
        ]
    )
    assert np.all(np.abs(x - recorded) <= 4 * np.spacing(np.float32(2.0)))


def test_classes_permutations_and_seeds_are_those_of_tensorflow() -> None:
    logits = np.zeros((2, 3), np.float32)
    drawn = tf.random.stateless_categorical(logits, 4, SEED)
    assert drawn.dtype is tf.int64
    assert drawn.numpy().tolist() == [[2, 2, 0, 2], [1, 1, 2, 0]]
    narrow = tf.random.stateless_categorical(logits.astype(np.float16), 4, SEED, tf.int32)
    assert narrow.dtype is tf.int32
    assert narrow.numpy().tolist() == drawn.numpy().tolist()
    shuffle = tf.random.experimental.stateless_shuffle
    rows = shuffle(np.arange(12).reshape(4, 3), SEED).numpy()
    assert rows.tolist() == [[0, 1, 2], [9, 10, 11], [6, 7, 8], [3, 4, 5]]
    assert shuffle(["a", "b"], SEED).dtype is tf.string
    assert int(shuffle(5, SEED)) == 5
    assert tf.random.split(tf.constant(SEED, tf.int64), 1).numpy().tolist() == [
        [7464880146280614444, 1591045637757961278]
    ]
    assert tf.random.split(SEED, 0).shape == (0, 2)
    assert tf.random.fold_in(SEED, tf.constant(3, tf.uint32)).dtype is tf.uint32
    assert tf.random.experimental.stateless_fold_in(SEED, 3).numpy().tolist() == [1105988140, 3]


def uniform(shape: Any, seed: Any) -> Any:
    return tf.random.stateless_uniform(shape, seed)


def other_draws(shape: Any, seed: Any) -> Any:
    return (
        tf.random.stateless_normal(shape, seed, dtype=tf.float64),
        tf.random.stateless_truncated_normal(shape, seed, dtype=tf.bfloat16),
        tf.random.stateless_uniform(shape, seed, None, None, tf.uint32),
        tf.random.stateless_uniform(shape, seed, -7, 7, tf.int64),
        tf.random.split(seed, shape[0]),
        tf.random.fold_in(seed, shape[0]),
    )


def scaled(low: Any, high: Any) -> Any:
    return tf.random.stateless_uniform([2, 3], SEED, low, high, low.dtype)


def moved(mean: Any, deviation: Any) -> Any:
    return tf.random.stateless_normal([2, 3], SEED, mean, deviation, mean.dtype)


def classes(logits: Any, seed: Any) -> Any:
    return tf.random.stateless_categorical(logits, 5, seed)


def shuffled(x: Any) -> Any:
    return tf.random.experimental.stateless_shuffle(x, SEED)


CASES = [
    Case(uniform, [np.array(shape, np.int32), np.array(SEED)], grad=False)
    for shape in ([], [3], [2, 3, 5], [4, 0])
] + [
    Case(other_draws, [np.array([2, 3], np.int64), np.array(SEED, np.int32)], grad=False),
    Case(scaled, [f32(3), f32(2, 1)]),
    Case(moved, [f32(), f32(3)]),
    Case(classes, [f32(3, 4), np.array(SEED)], grad=False),
    Case(shuffled, [f32(5, 2)]),
    Case(shuffled, [f32(1)], label="shuffle-one-row"),
    Case(shuffled, [f32(0, 2)], grad=False, label="shuffle-no-row"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def test_a_known_shape_is_known_in_the_graph() -> None:
    graph = trace(
        lambda x: tf.random.stateless_normal([tf.shape(x)[0], 3], SEED), [tf.TensorSpec([None])]
    )
    assert graph.outputs[0].shape.as_list() == [None, 3]


def test_logits_that_are_not_finite_are_never_drawn() -> None:
    drawn = tf.random.stateless_categorical([[0.0, -np.inf, np.nan]], 50, SEED)
    assert set(drawn.numpy().ravel().tolist()) == {0}


ERRORS: list[tuple[Any, type[BaseException], str]] = [
    (lambda r: r.stateless_uniform([2], SEED, dtype=tf.int32), ValueError, "minval=0 and maxval"),
    (lambda r: r.stateless_uniform([2], SEED, None), ValueError, "minval must be a number"),
    (lambda r: r.stateless_uniform([2], SEED, 0, 5, tf.uint32), ValueError, "uint32"),
    (lambda r: r.stateless_uniform([2], SEED, 0, 5, tf.int8), ValueError, "got int8"),
    (
        lambda r: r.stateless_uniform([2], SEED, 5, 5, tf.int32),
        tf.errors.InvalidArgumentError,
        "minval 5 and maxval 5",
    ),
    (lambda r: r.stateless_uniform([2], [1, 2, 3]), tf.errors.ShapeError, r"\(2,\), got \(3,\)"),
    (lambda r: r.stateless_uniform([2], [1.0, 2.0]), tf.errors.DTypeError, "seed has dtype float"),
    (lambda r: r.stateless_uniform([-2], SEED), tf.errors.ShapeError, r"negative, got \(-2,\)"),
    (
        lambda r: r.stateless_uniform([[2]], SEED),
        tf.errors.ShapeError,
        "shape must have rank 1",
    ),
    (lambda r: r.stateless_uniform([2.0], SEED), tf.errors.DTypeError, "got float32"),
    (lambda r: r.stateless_uniform([2], SEED, alg="threefry"), NotImplementedError, "alg='philox'"),
    (lambda r: r.stateless_uniform([2], SEED, alg="foo"), ValueError, "got 'foo'"),
    (lambda r: r.stateless_normal([2], SEED, dtype=tf.int32), TypeError, "got int32"),
    (lambda r: r.stateless_categorical([1.0], 4, SEED), tf.errors.ShapeError, "logits must have"),
    (lambda r: r.stateless_categorical([[1.0]], -4, SEED), tf.errors.ShapeError, "got -4"),
    (lambda r: r.stateless_categorical([[1.0]], 4, SEED, tf.int16), ValueError, "got int16"),
    (
        lambda r: r.stateless_categorical(np.zeros((2, 0), np.float32), 4, SEED),
        tf.errors.ShapeError,
        "at least one class",
    ),
    (lambda r: r.fold_in(SEED, 3.0), ValueError, "data must be an integer"),
]


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_errors(call: Any, error: type[BaseException], text: str) -> None:
    with pytest.raises(error, match=text):
        call(tf.random)


@pytest.mark.parametrize("shape", [[-1], [-1, -2], [0, -1], [-1, 0]])
@pytest.mark.parametrize("traced", [False, True])
def test_sizes_that_are_negative_at_run_time(shape: list[int], traced: bool) -> None:
    draws = (
        lambda s: tf.random.stateless_uniform(s, SEED),
        lambda s: tf.random.stateless_normal(s, SEED, dtype=tf.float64),
        lambda s: tf.random.stateless_truncated_normal(s, SEED),
        lambda s: tf.random.stateless_uniform(s, SEED, None, None, tf.uint64),
        lambda s: tf.random.stateless_uniform(s, SEED, 0, 9, tf.int32),
    )
    value = np.array(shape, np.int32)
    for draw in draws:
        run = NumpyPlan(trace(draw, [tf.TensorSpec([None], tf.int32)])) if traced else draw
        with pytest.raises(tf.errors.ShapeError, match="must not be negative"):
            run(value)


def test_a_shape_that_cannot_fit_is_refused() -> None:
    with pytest.raises(tf.errors.ResourceExhaustedError):
        tf.random.stateless_uniform([10**9, 10**9], SEED)
