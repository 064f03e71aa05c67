"""Gradients of tf.py_function in graphs; tf.numpy_function has none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

X = [1.0, 2.0]


def cube(x: Any) -> Any:
    return x * x * x


def traced(x: Any) -> Any:
    return tf.py_function(cube, [x], tf.float32)


def gradient(f: Any, x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def in_loop(x: Any) -> Any:
    for _ in tf.range(2):
        x = tf.ensure_shape(traced(x), [2])
    return x


def in_branch(x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0, lambda: traced(x), lambda: x)


def in_functions(x: Any) -> Any:
    inner = tf.function(traced)
    return inner(inner(x))


CASES = {"plain": (traced, [3, 12]), "branch": (in_branch, [3, 12])}
CASES |= {"loop": (in_loop, [9, 2304]), "functions": (in_functions, [9, 2304])}


@pytest.mark.parametrize("name", CASES)
def test_gradients(name: str) -> None:
    f, expected = CASES[name]
    x = tf.constant(X)
    np.testing.assert_allclose(gradient(tf.function(f), x), expected)
    np.testing.assert_allclose(tf.function(lambda x: gradient(f, x))(x), expected)
    by_graph = tf.function(lambda x: tf.gradients(f(x), x)[0])(x)
    np.testing.assert_allclose(by_graph, expected)


def test_second_order() -> None:
    x = tf.constant(X)
    for run in (lambda: gradient(lambda x: gradient(tf.function(traced), x), x),):
        np.testing.assert_allclose(run(), [6, 12])
    inside = tf.function(lambda x: gradient(lambda x: gradient(traced, x), x))
    np.testing.assert_allclose(inside(x), [6, 12])


def test_forward_mode() -> None:
    @tf.function
    def f(x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
            y = traced(x)
        return acc.jvp(y)

    np.testing.assert_allclose(f(tf.constant(X)), [3, 12])


def test_several_inputs_and_results() -> None:
    @tf.function
    def f(x: Any, y: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, y])
            product, total, number = tf.py_function(
                lambda u, v, i: (u * v, u + 1.0, i),
                [x, y, tf.constant(3)],
                [tf.float32, tf.float32, tf.int32],
            )
        return tape.gradient(product, [x, y]), tape.gradient([product, total], [x, y]), number

    one, both, number = f(tf.constant(X), tf.constant([5.0, 7.0]))
    np.testing.assert_allclose(one, [[5, 7], [1, 2]])
    np.testing.assert_allclose(both, [[6, 8], [1, 2]])
    assert number.numpy() == 3


def test_what_the_function_does_not_use() -> None:
    @tf.function
    def f(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = tf.py_function(lambda u, v: u * 2.0, [x, y], tf.float32)
        return tape.gradient(z, [x, y])

    np.testing.assert_allclose(f(tf.constant(X), tf.constant(X)), [[2, 2], [0, 0]])


def test_variables_inside_are_not_seen() -> None:
    v = tf.Variable(2.0)

    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda u: u * v, [x], tf.float32)
        return tape.gradient(y, [x, v])

    by_x, by_v = f(tf.constant(X))
    np.testing.assert_allclose(by_x, [2, 2])
    assert by_v is None


@pytest.mark.parametrize("is_traced", [False, True])
def test_numpy_function_has_none(is_traced: bool) -> None:
    f: Any = lambda x: tf.numpy_function(np.sin, [x], tf.float32)  # noqa: E731
    x = tf.constant(X)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = (tf.function(f) if is_traced else f)(x)
    assert tape.gradient(y, x) is None
    why = tf.explain_gradient(tape, y, x)
    assert why.reason == "not differentiable"
    assert "numpy_function" in repr(why) or "PyFunc" in repr(why)
