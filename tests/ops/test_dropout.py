"""Dropout: which elements are dropped (as in TensorFlow), scaling, gradients, errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, check_case, f32
from weft._src.execution import reference
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.tracing import trace

X = np.arange(1, 7, dtype=np.float32).reshape(2, 3)


@pytest.fixture(autouse=True)
def _seed() -> Iterator[None]:
    tf.random.set_seed(7)
    yield
    tf.random.set_seed(None)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"rate": 0.4, "seed": 1}, [[1.6666666, 3.3333333, 0], [0, 0, 0]]),
        ({"rate": tf.constant(0.4), "seed": 1}, [[1.6666666, 3.3333333, 0], [0, 0, 0]]),
        ({"rate": 0.4}, [[1.6666666, 0, 5], [0, 8.333333, 10]]),
        ({"rate": 0.5, "noise_shape": [2, 1], "seed": 1}, [[0, 0, 0], [8, 10, 12]]),
        ({"rate": 0.5, "noise_shape": [None, 1], "seed": 1}, [[0, 0, 0], [8, 10, 12]]),
        ({"rate": 0.5, "noise_shape": [1, 2, 3], "seed": 1}, [[[0, 4, 0], [0, 0, 0]]]),
        ({"rate": 0}, X),
        ({"rate": tf.constant(1.0), "seed": 1}, np.zeros((2, 3))),
    ],
)
def test_values(options: dict[str, Any], expected: Any) -> None:
    out = tf.nn.dropout(X, **options)
    assert out.dtype is tf.float32
    assert np.array_equal(out.numpy(), np.float32(expected))


def test_stateless_values() -> None:
    dropout = tf.nn.experimental.stateless_dropout
    expected = np.float32([[1.6666666, 0, 5], [0, 0, 10]])
    assert np.array_equal(dropout(X, 0.4, [1, 2]), expected)
    assert np.array_equal(dropout(X, 0.4, [1, 2], "philox"), expected)
    rows = dropout(X, 0.4, [1, 2], noise_shape=[2, 1]).numpy()
    assert np.array_equal(rows, np.float32([[1.6666666, 3.3333333, 5], [0, 0, 0]]))


def test_what_is_dropped_is_zero_even_if_it_is_not_finite() -> None:
    out = tf.nn.dropout([np.nan, np.inf, 1.0, 2, 3, 4], 0.5, seed=1)
    assert out.numpy().tolist() == [0, np.inf, 0, 0, 0, 0]


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64])
def test_dtypes(dtype: Any) -> None:
    out = tf.nn.dropout(tf.cast(X, dtype), 0.3, seed=1)
    assert out.dtype is dtype
    kept = out.numpy() != 0
    scaled = X.astype(np.float64) / 0.7
    tolerance = 2 * float(ml_dtypes.finfo(dtype.as_numpy_dtype).eps)
    assert np.allclose(out.numpy().astype(np.float64)[kept], scaled[kept], rtol=tolerance)


def test_a_rate_of_zero_takes_a_seed_all_the_same() -> None:
    tf.nn.dropout(X, 0.0)
    after = tf.random.uniform([3]).numpy()
    assert after.tolist() == np.float32([0.01905346, 0.6496551, 0.6962069]).tolist()


def stateless(x: Any) -> Any:
    return tf.nn.experimental.stateless_dropout(x, 0.5, [1, 2])


def stateless_rate(x: Any, rate: Any) -> Any:
    return tf.nn.experimental.stateless_dropout(x, rate, [1, 2], noise_shape=tf.shape(x)[:1])


def sampled(x: Any) -> Any:
    sampler = lambda shape, dtype: tf.random.stateless_uniform(shape, [3, 4], dtype=dtype)  # noqa: E731
    return tf.nn.experimental.general_dropout(x, 0.25, sampler)


CASES = [
    Case(stateless, [f32(2, 3)]),
    Case(stateless_rate, [f32(5), f32(low=0.2, high=0.4)]),
    Case(sampled, [f32(4, 2)]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def test_every_call_of_a_graph_drops_others() -> None:
    graph = trace(lambda x: tf.nn.dropout(x, 0.5, seed=1), [tf.TensorSpec([None])])
    captured = [t._value for t, _ in graph.captures]
    x = np.ones(50, np.float32)
    calls = (lambda: NumpyPlan(graph)(x, *captured), lambda: reference.run(graph, [x, *captured]))
    tf.random.set_seed(7)
    drawn = [call()[0].tolist() for call in (*calls, *calls)]
    assert len({tuple(d) for d in drawn}) == 4
    tf.random.set_seed(7)
    assert [tf.nn.dropout(x, 0.5, seed=1).numpy().tolist() for _ in drawn] == drawn


@pytest.mark.parametrize(
    ("x", "rate", "text"),
    [
        (X, 1.0, "rate must be at least 0 and below 1, got 1.0"),
        (X, -0.1, "got -0.1"),
        (X, "a", "rate must be a number or a scalar tensor"),
        (X, tf.constant(0.4, tf.float64), "dtype of x, float32, got float64"),
        (X, tf.constant([0.4]), "rate must have rank 0"),
        ([1, 2], 0.5, "x must be floating"),
    ],
)
def test_errors(x: Any, rate: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        tf.nn.dropout(x, rate)
    with pytest.raises(tf.errors.ShapeError, match="cannot be broadcast"):
        tf.nn.dropout(X, 0.5, noise_shape=[5])
