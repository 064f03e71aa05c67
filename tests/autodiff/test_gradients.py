"""`tf.gradients` and `tf.hessians` in graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.gradient_programs import PROGRAMS

X = tf.constant([1.0, 2.0])


def values(tensors: Any) -> list[Any]:
    return [None if t is None else t.numpy().tolist() for t in tensors]


def test_the_basics() -> None:
    @tf.function
    def f(x: tf.Tensor) -> Any:
        y, c = x * x, tf.constant(2.0)
        return (
            tf.gradients(y, x),
            tf.gradients([y], [x, c]),
            tf.gradients(y, [x, c], unconnected_gradients="zero"),
            tf.gradients(y * x, [x, y]),
            tf.gradients([y, x], x, grad_ys=[tf.fill([2], 3.0), None]),
            tf.gradients(x, x),
        )

    single, two, zero, inner, weighted, itself = f(X)
    assert values(single) == [[2, 4]]
    assert values(two) == [[2, 4], None]
    assert values(zero) == [[2, 4], 0]
    assert values(inner) == [[3, 12], [1, 2]]
    assert values(weighted) == [[7, 13]]
    assert values(itself) == [[1, 1]]


def test_stop_gradients() -> None:
    @tf.function
    def f(x: tf.Tensor) -> Any:
        y = x * x
        z = y * x
        return (
            tf.gradients(z, [x, y], stop_gradients=[y]),
            tf.gradients(z + y, [x, y], stop_gradients=[x, y]),
            tf.gradients(z, x, stop_gradients=x),
        )

    partial, both, single = f(X)
    assert values(partial) == [[1, 4], [1, 2]]
    assert values(both) == [[1, 4], [2, 3]]
    assert values(single) == [[3, 12]]


def test_not_differentiable() -> None:
    @tf.function
    def f(x: tf.Tensor) -> Any:
        i = tf.cast(x, tf.int32)
        return tf.gradients(i, x), tf.gradients(x, i), tf.gradients(tf.stop_gradient(x), x)

    assert f(X) == ([None], [None], [None])


def test_variables() -> None:
    v = tf.Variable([3.0, 4.0])

    @tf.function
    def f(x: tf.Tensor) -> Any:
        return tf.gradients(v * v * x, [v, x])

    assert values(f(X)) == [[6, 16], [9, 16]]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_control_flow_and_calls(program: Callable[..., tf.Tensor]) -> None:
    x = tf.constant(1.1)
    called = tf.function(program)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = program(x)
        first = inner.gradient(y, x)
    second = outer.gradient(first, x, unconnected_gradients="zero")

    @tf.function
    def in_place(x: tf.Tensor) -> Any:
        y = program(x)
        (first,) = tf.gradients(y, x)
        return first, tf.gradients(first, x, unconnected_gradients="zero")[0]

    @tf.function
    def through_call(x: tf.Tensor) -> Any:
        y = called(x)
        (first,) = tf.gradients(y, x)
        return first, tf.gradients(first, x, unconnected_gradients="zero")[0]

    for f in (in_place, through_call):
        np.testing.assert_allclose([t.numpy() for t in f(x)], [first, second], rtol=1e-4)


def test_in_a_branch_of_a_value_from_outside() -> None:
    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        y = x * x
        for _ in tf.range(2):
            y = y * x
        return tf.cond(
            x > 0.0, lambda: tf.gradients(tf.sin(y), x)[0], lambda: tf.gradients(y, y)[0]
        )

    x = 1.3
    np.testing.assert_allclose(f(tf.constant(x)), np.cos(x**4) * 4 * x**3, rtol=1e-5)
    assert f(tf.constant(-1.0)).numpy() == 1


def test_seen_by_tapes() -> None:
    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.gradients(x**3, x)[0]

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x).numpy() == 12


def test_in_a_graph_of_its_own() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.constant(3.0)
        (g,) = tf.gradients(x * x, x)
        assert g.graph is graph


def test_hessians() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def f(x: tf.Tensor) -> Any:
        c = tf.constant([1.0])
        return tf.hessians([x[0] ** 2 * x[1], x[1] ** 3], [x, c])

    hessian, none = f(X)
    assert hessian.numpy().tolist() == [[4, 2], [2, 12]]
    assert none is None

    @tf.function
    def matrix(x: tf.Tensor) -> tf.Tensor:
        return tf.hessians(tf.reduce_sum(x * x * x), x)[0]

    x = tf.constant([[1.0, 2.0, 3.0]])
    assert matrix(x).shape == (1, 3, 1, 3)
    np.testing.assert_array_equal(tf.reshape(matrix(x), [3, 3]), np.diag([6.0, 12.0, 18.0]))


def test_refusals() -> None:
    for fn in (tf.gradients, tf.hessians):
        with pytest.raises(RuntimeError, match=r"tf\.GradientTape"):
            fn(X, X)
    with tf.Graph().as_default():
        x = tf.constant(1.0)
        with pytest.raises(ValueError, match="2 for 1"):
            tf.gradients(x, x, grad_ys=[1.0, 2.0])
        with pytest.raises(ValueError, match="'none' or 'zero'"):
            tf.gradients(x, x, unconnected_gradients="maybe")
        with pytest.raises(TypeError, match="'text'"):
            tf.gradients(x, "text")


def test_aggregation_methods_are_accepted() -> None:
    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        method = tf.AggregationMethod.EXPERIMENTAL_TREE
        return tf.gradients(x * x + x, x, aggregation_method=method)[0]

    assert f(X).numpy().tolist() == [3, 5]
