"""Gradients through branches, loops, TensorArrays and grown lists: the same as eagerly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.gradient_programs import PROGRAMS


def first_and_second(f: Callable[..., tf.Tensor], x: tf.Tensor) -> list[tf.Tensor]:
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        first = inner.gradient(y, x)
    return [y, first, outer.gradient(first, x, unconnected_gradients="zero")]


@pytest.mark.parametrize("value", [2.0, 1.1, 0.3])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_same_gradients_everywhere(program: Callable[..., tf.Tensor], value: float) -> None:
    x = tf.constant(value)
    expected = [float(t) for t in first_and_second(program, x)]
    outside = [float(t) for t in first_and_second(tf.function(program), x)]
    inside = tf.function(lambda x: first_and_second(program, x))(x)
    np.testing.assert_allclose(outside, expected, rtol=1e-4)
    np.testing.assert_allclose([float(t) for t in inside], expected, rtol=1e-4)


def test_variables_in_branches_and_loops() -> None:
    w, b = tf.Variable(2.0), tf.Variable(0.5)

    def f(x: tf.Tensor) -> tf.Tensor:
        for _ in tf.range(3):
            if x < 5.0:
                x = x * w
            else:
                x = x + b
        return x

    results = []
    for g in (f, tf.function(f)):
        with tf.GradientTape() as tape:
            y = g(tf.constant(2.0))
        results.append([float(v) for v in (y, *tape.gradient(y, [w, b]))])
    assert results[0] == results[1]


def test_unknown_sizes() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        y = tf.zeros_like(x)
        for i in tf.range(3):
            y = tf.tanh(y + x * tf.cast(i, tf.float32))
        return tf.reduce_sum(y)

    x = tf.constant([0.5, -1.0, 2.0])
    traced = tf.function(f, input_signature=[tf.TensorSpec([None], tf.float32)])
    gradients = []
    for g in (f, traced):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = g(x)
        gradients.append(tape.gradient(y, x).numpy())
    np.testing.assert_allclose(gradients[0], gradients[1], rtol=1e-5)


def test_recurrent_network() -> None:
    rng = np.random.default_rng(0)
    w = tf.Variable(rng.normal(size=(4, 4)).astype(np.float32) * 0.5)
    u = tf.Variable(rng.normal(size=(3, 4)).astype(np.float32) * 0.5)
    xs = tf.constant(rng.normal(size=(7, 2, 3)).astype(np.float32))

    def loss(xs: tf.Tensor) -> tf.Tensor:
        h = tf.zeros([2, 4])
        states = tf.TensorArray(tf.float32, size=7, element_shape=[2, 4])
        for t in tf.range(7):
            h = tf.tanh(h @ w + xs[t] @ u)
            states = states.write(t, h)
        return tf.reduce_mean(tf.square(states.stack()))

    results = []
    for f in (loss, tf.function(loss)):
        with tf.GradientTape() as tape:
            y = f(xs)
        results.append([y, *tape.gradient(y, [w, u])])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-6)


def test_reading_elements_one_by_one() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        ta = tf.TensorArray(tf.float32, size=6, element_shape=[2]).unstack(x)
        total = tf.constant(0.0)
        for i in tf.range(6):
            total += tf.reduce_sum(ta.read(i) ** 2) + tf.reduce_sum(ta.read(0)) * ta.read(5 - i)[0]
        return total

    x = tf.constant(np.arange(12, dtype=np.float32).reshape(6, 2) * 0.1)
    gradients = []
    for g in (f, tf.function(f)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = g(x)
        gradients.append(tape.gradient(y, x).numpy())
    np.testing.assert_allclose(gradients[0], gradients[1], rtol=1e-5)


def test_variables_are_read_once_before_a_loop_that_does_not_change_them() -> None:
    w, count = tf.Variable([2.0, 3.0]), tf.Variable(0.0)

    def f(x: tf.Tensor) -> tf.Tensor:
        for _ in tf.range(3):
            x = x * w + count
            count.assign_add(1.0)
        return tf.reduce_sum(x)

    def gradients(f: Callable[..., tf.Tensor]) -> list[list[float]]:
        count.assign(0.0)
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return [g.numpy().tolist() for g in tape.gradient(y, [x, w, count])]

    traced = tf.function(f)
    assert gradients(traced) == gradients(f)
    assert gradients(traced) == gradients(f)


def test_what_does_not_change_is_not_saved() -> None:
    w = tf.Variable(tf.ones([20, 20]))

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            y = x
            for _ in tf.range(3):
                y = tf.matmul(y, w)
        return tape.gradient(y, w)

    step(tf.ones([1, 20]))
    source = step.get_concrete_function(tf.ones([1, 20])).graph.plan.source
    assert source.count("k_TensorListPushBack(") == 1  # y, once per iteration


def _growing(x: Any) -> Any:
    y = x
    for _ in tf.range(3):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None]))])
        y = tf.concat([y * 2.0, x * y[-1]], 0)
    return tf.reduce_sum(tf.sin(y))


def _shrinking(x: Any) -> Any:
    total = tf.constant(0.0)
    while tf.size(x) > 1:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
        x = x[1:] * x[:-1]
        total += tf.reduce_sum(tf.sin(x))
    return total


def _sizes_made_in_the_loop(x: Any) -> Any:
    total = tf.constant(0.0)
    for i in tf.range(3):
        weights = tf.cast(tf.range(i + 1), tf.float32)
        chosen = tf.boolean_mask(x, x > 0.4 * tf.cast(i, tf.float32))
        total += tf.reduce_sum(tf.sin(x[0] * weights)) + tf.reduce_sum(chosen**3)
    return total


@pytest.mark.parametrize("f", [_growing, _shrinking, _sizes_made_in_the_loop])
def test_values_of_loops_that_change_their_shape(f: Any) -> None:
    def first_and_second(f: Any, x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            first = tape.gradient(y, x)
        return first, outer.gradient(first, x)

    x = tf.constant([0.3, 0.5, 0.7, 0.9])
    expected = first_and_second(f, x)
    traced = tf.function(f)
    for got in (first_and_second(traced, x), tf.function(first_and_second)(traced, x)):
        for a, b in zip(got, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as forward:
        y = traced(x)
    np.testing.assert_allclose(forward.jvp(y), np.sum(expected[0]), rtol=1e-4)
