"""Elementwise work on large arrays, done piece by piece: the same bits, and the same errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core import dtypes
from weft._src.execution.background import worker
from weft._src.execution.numpy import pieces
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.passes import pieces as passes
from weft._src.graph.passes.pieces import IN_PIECES, cut_into_pieces

rng = np.random.default_rng(12)
SHAPE = (37, 29)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE", 64)
    monkeypatch.setattr(pieces, "WHOLE", 0)
    monkeypatch.setattr(passes, "_LEAST", 1000)


def graph_of(function: Any, *values: Any) -> Any:
    specs = [tf.TensorSpec(np.shape(x), np.asarray(x).dtype) for x in values]
    return tf.function(function).get_concrete_function(*specs).graph


def calls(graph: Any) -> list[Any]:
    return [node for node in graph.nodes if IN_PIECES in node.attrs]


def both(function: Any, *values: Any) -> tuple[list[Any], list[Any], int]:
    """The outputs as ever and in pieces, and how many groups there are."""
    graph = graph_of(function, *values)
    cut = cut_into_pieces(graph)
    whole, parts = NumpyPlan(graph)(*values), NumpyPlan(cut)(*values)
    return [np.asarray(x) for x in whole], [np.asarray(x) for x in parts], len(calls(cut))


def check(function: Any, *values: Any, groups: int = 1) -> None:
    whole, parts, found = both(function, *values)
    assert found == groups
    assert len(whole) == len(parts)
    for x, y in zip(whole, parts, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


def normal(dtype: Any = np.float32, shape: Any = SHAPE) -> Any:
    return rng.normal(size=shape).astype(dtype)


def gelu(x: Any) -> Any:
    return 0.5 * x * (1.0 + tf.tanh(0.8 * (x + 0.04 * x * x * x)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_chain(dtype: Any) -> None:
    check(gelu, normal(dtype))
    x = normal(dtype)
    x[0, :3], x[-1, -1] = (np.nan, np.inf, -np.inf), np.nan
    check(gelu, x)


FUNCTIONS = ["exp", "log", "sin", "cos", "tanh", "expm1", "log1p", "atan", "sigmoid", "erf", "sqrt"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_bits_do_not_depend_on_pieces(name: str, dtype: Any) -> None:
    f = getattr(tf.math, name)
    x = normal(dtype) * 20
    check(lambda x: f(f(x)) + f(x * 0.5) * 2.0 - x * x + 1.0, x)


def test_several_results_and_dtypes() -> None:
    def function(x: Any, y: Any, factor: Any) -> Any:
        a = tf.exp(x) * factor
        b = tf.cast(tf.sin(y), tf.float64)
        return a, b, tf.where(a > 1.0, x, y), a > y

    check(function, normal(), normal(), np.float32(2.5))


def test_integers_and_booleans() -> None:
    x, y = [rng.integers(1, 100, SHAPE).astype(np.int32) for _ in range(2)]
    check(lambda x, y: (x * y + x // y - y % 7, (x > y) & (x < 50) | (y == 3)), x, y)


def test_who_needs_a_result_ends_a_group() -> None:
    def function(x: Any) -> Any:
        y = gelu(x)
        z = y - tf.reduce_mean(y)  # the second group
        return gelu(z) + y

    check(function, normal(), groups=2)


def test_what_lies_between_may_be_used_later() -> None:
    def function(x: Any, rows: Any) -> Any:
        y = tf.exp(x) * 2.0
        total = tf.reduce_sum(rows)  # of no group, and no result of one
        return tf.sin(y) + total * x

    check(function, normal(), normal(shape=(5, 3)))


def test_two_shapes_grow_beside_each_other() -> None:
    def function(x: Any, y: Any) -> Any:
        a, b = tf.exp(x), tf.exp(y)
        a, b = tf.sin(a), tf.sin(b)
        return a * x, b * y

    check(function, normal(), normal(shape=(1100,)), groups=2)


def test_arrays_that_are_views() -> None:
    graph = graph_of(gelu, normal())
    cut = NumpyPlan(cut_into_pieces(graph))
    x = normal(shape=SHAPE[::-1]).T
    np.testing.assert_array_equal(cut(x)[0], NumpyPlan(graph)(x)[0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2.0 + 1.0,  # as fast as it is
        lambda x: gelu(x[:9]),  # small
        lambda x: tf.exp(x) * tf.exp(x[:1]) * tf.sin(x[:1]),  # one op of its shape that is long
        lambda x: tf.cumsum(tf.sort(x)),
    ],
)
def test_what_stays(function: Any) -> None:
    graph = graph_of(function, normal())
    assert cut_into_pieces(graph) is graph


def test_unknown_sizes_stay() -> None:
    graph = tf.function(gelu).get_concrete_function(tf.TensorSpec([None, 29], dtypes.float32)).graph
    assert cut_into_pieces(graph) is graph


def test_functions_run_so_while_they_wait_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def share(work: Any, count: int) -> None:
        asked.append(count)
        for number in range(count):
            work(number)

    monkeypatch.setattr(pieces.crew, "share", share)
    monkeypatch.setattr(pieces, "is_one_idle", lambda: True)
    x = normal()
    expected = gelu(x)
    f = tf.function(gelu)
    np.testing.assert_allclose(f(x), expected, rtol=1e-6)
    assert asked == [-(-x.size // 64)]
    monkeypatch.setattr(worker, "is_at_work", True)
    np.testing.assert_allclose(f(x), expected, rtol=1e-6)
    assert len(asked) == 1  # the compiler has the other processor
    monkeypatch.setattr(pieces, "WHOLE", 1 << 20)  # and pieces bring nothing
    np.testing.assert_allclose(f(x), expected, rtol=1e-6)
    monkeypatch.setattr(worker, "is_at_work", False)
    monkeypatch.setattr(pieces, "is_one_idle", lambda: False)
    np.testing.assert_allclose(f(x), expected, rtol=1e-6)
    assert len(asked) == 1


def test_gradients_and_loops() -> None:
    x = tf.constant(normal())

    @tf.function
    def step(x: Any) -> Any:
        total = tf.zeros(SHAPE)
        for _ in tf.range(3):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = gelu(x)
            total += tape.gradient(y, x)
        return total, gelu(x)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = gelu(x)
    gradient = tape.gradient(y, x)
    total, out = step(x)
    np.testing.assert_allclose(total, 3 * gradient, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(out, y, rtol=1e-6)


def test_errors_name_the_users_line() -> None:
    x = np.zeros(SHAPE, np.int32)

    @tf.function
    def divided(x: Any) -> Any:
        y = x * 2 + 3 - x * 5 + x
        return y // x + y - 1  # here

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        divided(tf.constant(x))
    assert "y // x + y - 1  # here" in str(caught.value)
