"""Axes and permutations that are computed when a graph runs, compared with those that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

X = np.cos(np.arange(24.0)).reshape(2, 3, 4)
AXIS = tf.TensorSpec([], tf.int32)
ALONG_ONE: list[Any] = [
    tf.reduce_sum,
    tf.reduce_mean,
    tf.reduce_prod,
    tf.reduce_logsumexp,
    tf.math.reduce_euclidean_norm,
    tf.math.reduce_variance,
    lambda x, i: tf.reduce_max(x, i, keepdims=True),
    lambda x, i: tf.reduce_min(x, i),
    lambda x, i: tf.reduce_any(x > 0.9, i),
    lambda x, i: tf.reduce_all(x > -0.9, i, keepdims=True),
    tf.argmax,
    lambda x, i: tf.argmin(x, i, output_type=tf.int32),
    lambda x, i: tf.cumsum(x, i, reverse=True),
    lambda x, i: tf.math.cumprod(x, i, exclusive=True),
    tf.math.cumulative_logsumexp,
    lambda x, i: tf.concat([x, x * 2, x], i),
    tf.expand_dims,
    lambda x, i: tf.gather(x, [[1, 0], [0, 1]], axis=i),
    lambda x, i: tf.gather(x, 1, axis=i),
]


@pytest.mark.parametrize("axis", range(-3, 3))
@pytest.mark.parametrize("number", range(len(ALONG_ONE)))
def test_one_axis(number: int, axis: int) -> None:
    function = ALONG_ONE[number]
    known = function(tf.constant(X), axis)
    for sizes in ([2, 3, 4], [None, None, None]):
        computed = tf.function(function).get_concrete_function(
            tf.TensorSpec(sizes, tf.float64), AXIS
        )
        found = computed(tf.constant(X), tf.constant(axis))
        assert found.dtype == known.dtype
        np.testing.assert_allclose(found, known)


def test_several_axes_and_permutations() -> None:
    two, three = tf.TensorSpec([2], tf.int32), tf.TensorSpec([3], tf.int32)
    mean = tf.function(tf.reduce_mean).get_concrete_function(tf.constant(X), two)
    np.testing.assert_allclose(mean(tf.constant(X), tf.constant([0, -1])), X.mean((0, 2)))
    turn = tf.function(tf.transpose).get_concrete_function(tf.constant(X), three)
    np.testing.assert_array_equal(
        turn(tf.constant(X), tf.constant([2, 0, -2])), X.transpose(2, 0, 1)
    )
    flipped = tf.function(lambda x, p: tf.transpose(x, p, conjugate=True))
    value = X + 1j
    np.testing.assert_array_equal(
        flipped(tf.constant(value), tf.constant([1, 0, 2])), value.conj().transpose(1, 0, 2)
    )


@tf.function
def _gradient(x: Any, perm: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.transpose(x, perm)
        y = tf.reduce_sum(y**2 * tf.cumsum(tf.ones_like(y), perm[0]))
    return tape.gradient(y, x)


@pytest.mark.parametrize("perm", [[0, 1, 2], [1, 2, 0], [2, 0, 1]])
def test_gradients(perm: list[int]) -> None:
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.transpose(x, perm)
        y = tf.reduce_sum(y**2 * tf.cumsum(tf.ones_like(y), perm[0]))
    np.testing.assert_allclose(_gradient(x, tf.constant(perm)), tape.gradient(y, x))


@pytest.mark.parametrize(
    ("function", "axis", "match"),
    [
        (tf.reduce_sum, 7, "axis must lie between"),
        (tf.reduce_sum, [0, -3], "an axis is named twice"),
        (tf.transpose, [0, 0, 1], "perm must name each of 3 axes once"),
        (tf.transpose, [0, 1, 5], "perm must name each of 3 axes once"),
    ],
)
def test_axes_that_are_none(function: Any, axis: Any, match: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        tf.function(lambda i: function(tf.constant(X), i))(tf.constant(axis))


def test_what_has_to_be_known() -> None:
    with pytest.raises(TypeError, match="sort: axis must be known while tracing"):
        tf.function(lambda x, i: tf.sort(x, i))(tf.constant(X), tf.constant(0))
    spec = [tf.TensorSpec(None), AXIS]
    with pytest.raises(tf.errors.ShapeError, match="needs a known rank"):
        tf.function(tf.reduce_sum, input_signature=spec).get_concrete_function()
