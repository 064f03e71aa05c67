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
    lambda x, i: tf.sort(x, i, direction="DESCENDING"),
    tf.argsort,
    lambda x, i: tf.reverse(x, [i]),
    lambda x, i: tf.roll(x, 1, i),
    tf.nn.softmax,
    tf.nn.log_softmax,
    lambda x, i: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(x, i), x, i),
    lambda x, i: tf.concat(tf.split(x, [1, -1], i, num=2)[::-1], i),
    lambda x, i: tf.norm(x, 1, i),
    lambda x, i: tf.norm(x, axis=i, keepdims=True),
    tf.math.l2_normalize,
    lambda x, i: tf.clip_by_norm(x, 0.5, i),
    lambda x, i: tf.nn.moments(x, i)[1],
    lambda x, i: tf.nn.weighted_moments(x, i, tf.abs(x))[1],
    lambda x, i: tf.nn.sufficient_statistics(x, i)[1],
    lambda x, i: tf.nn.sufficient_statistics(x, i)[0],
    lambda x, i: tf.tensordot(x, x, [[i], [i]]),
    lambda x, i: tf.linspace(x[0], x[1], 5, axis=i),
    lambda x, i: tf.signal.frame(x, 2, 1, axis=i),
    lambda x, i: tf.signal.frame(x, 3, 2, pad_end=True, pad_value=7.0, axis=i),
    tf.signal.fftshift,
    tf.signal.ifftshift,
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


def test_orders_of_several_axes() -> None:
    x, two = tf.constant(X), tf.TensorSpec([2], tf.int32)
    for axes in ([0, 1], [2, 0], [-1, -2]):
        for order in (1, 2, np.inf, "fro"):
            norm = tf.function(lambda x, i, o=order: tf.norm(x, o, [i[0], i[1]]))
            np.testing.assert_allclose(norm(x, tf.constant(axes)), tf.norm(x, order, axes))
        product = tf.function(lambda x, i: tf.tensordot(x, x, [i, i])).get_concrete_function(x, two)
        np.testing.assert_allclose(product(x, tf.constant(axes)), tf.tensordot(x, x, [axes, axes]))
        join = tf.function(lambda s, i: tf.strings.reduce_join(s, i, separator="-"))
        text = tf.strings.as_string(tf.reshape(tf.range(24), [2, 3, 4]))
        wanted = tf.strings.reduce_join(text, axes, separator="-")
        np.testing.assert_array_equal(join(text, tf.constant(axes)), wanted)


@pytest.mark.parametrize("axes", [[], [1], [0, -1], [2, 1, 0]])
def test_any_number_of_axes_of_reverse_and_roll(axes: list[int]) -> None:
    spec = [tf.TensorSpec(None, tf.float64), tf.TensorSpec([None], tf.int32)]
    x, at = tf.constant(X), tf.constant(axes, tf.int32)
    reverse = tf.function(tf.reverse, input_signature=spec)
    np.testing.assert_array_equal(reverse(x, at), tf.reverse(x, axes))
    roll = tf.function(lambda x, i: tf.roll(x, tf.range(tf.size(i)) + 1, i), input_signature=spec)
    if axes:
        np.testing.assert_array_equal(roll(x, at), np.roll(X, [1, 2, 3][: len(axes)], axes))


@tf.function
def _gradient(x: Any, perm: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.transpose(x, perm)
        y = tf.reverse(tf.roll(y, 1, perm[1]), [perm[2]])
        y = tf.reduce_sum(tf.sort(y**2, perm[0]) * tf.cumsum(tf.ones_like(y), perm[0]))
    return tape.gradient(y, x)


@pytest.mark.parametrize("perm", [[0, 1, 2], [1, 2, 0], [2, 0, 1]])
def test_gradients(perm: list[int]) -> None:
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.transpose(x, perm)
        y = tf.reverse(tf.roll(y, 1, perm[1]), [perm[2]])
        y = tf.reduce_sum(tf.sort(y**2, perm[0]) * tf.cumsum(tf.ones_like(y), perm[0]))
    np.testing.assert_allclose(_gradient(x, tf.constant(perm)), tape.gradient(y, x))


@pytest.mark.parametrize(
    ("function", "axis", "match"),
    [
        (tf.reduce_sum, 7, "axis must lie between"),
        (tf.reduce_sum, [0, -3], "an axis is named twice"),
        (lambda x, i: tf.norm(x, axis=[i[0], i[1]]), [1, -2], "an axis is named twice"),
        (lambda x, i: tf.tensordot(x, x, [i, i]), [0, -3], "an axis is named twice"),
        (tf.reverse, [0, 3], "axis 3 is out of range"),
        (tf.reverse, [0, -3], "names an axis twice"),
        (lambda x, i: tf.roll(x, 1, i), 3, "axis 3 is out of range"),
        (tf.sort, -4, "sort: axis must lie between"),
        (tf.transpose, [0, 0, 1], "perm must name each of 3 axes once"),
        (tf.transpose, [0, 1, 5], "perm must name each of 3 axes once"),
    ],
)
def test_axes_that_are_none(function: Any, axis: Any, match: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        tf.function(lambda i: function(tf.constant(X), i))(tf.constant(axis))


def test_what_has_to_be_known() -> None:
    with pytest.raises(TypeError, match="stack: axis must be known while tracing"):
        tf.function(lambda x, i: tf.stack([x, x], i))(tf.constant(X), tf.constant(0))
    with pytest.raises(tf.errors.ShapeError, match="numbers of axes|axes and shifts"):
        tf.function(lambda x, i: tf.roll(x, [1, 2], [i]))(tf.constant(X), tf.constant(0))
    with pytest.raises(TypeError, match="tensordot: how many axes are summed must be known"):
        tf.function(lambda x, n: tf.tensordot(x, x, n))(tf.constant(X), tf.constant(0))


@pytest.mark.parametrize(
    "function",
    [
        tf.reduce_sum,
        lambda x, i: tf.reduce_max(x, i, keepdims=True),
        tf.argmax,
        lambda x, i: tf.math.cumprod(x, i, exclusive=True),
        lambda x, i: tf.concat([x, x * 2, x], i),
        tf.expand_dims,
        lambda x, i: tf.gather(x, [[1, 0], [0, 1]], axis=i),
        lambda x, i: tf.concat(tf.split(x, [1, -1], i, num=2)[::-1], i),
        tf.math.l2_normalize,
        lambda x, i: tf.linspace(x, x + 1.0, 5, axis=i),
        lambda x, i: tf.signal.frame(x, 2, 1, axis=i),
        lambda x, i: tf.boolean_mask(x, tf.range(tf.shape(x)[i]) != 1, axis=i),
    ],
)
@pytest.mark.parametrize("axis", [-3, -1, 0, 1])
def test_a_rank_that_is_not_known_either(function: Any, axis: int) -> None:
    known = function(tf.constant(X), axis)
    spec = [tf.TensorSpec(None, tf.float64), AXIS]
    found = tf.function(function, input_signature=spec)(tf.constant(X), tf.constant(axis))
    np.testing.assert_allclose(found, known)


@pytest.mark.parametrize("sizes", [[2, 3, 4], [None, None, None], None])
def test_masks_from_an_axis_on(sizes: Any) -> None:
    def masked(x: tf.Tensor, mask: tf.Tensor, axis: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.boolean_mask(x, mask, axis)
        return y, tape.gradient(y, x)

    x, spec = tf.constant(X), tf.TensorSpec(sizes, tf.float64)
    for axis, shape in [(0, [2]), (1, [3]), (-1, [4]), (0, [2, 3]), (1, [3, 4]), (0, [2, 3, 4])]:
        mask = tf.constant(np.arange(np.prod(shape)).reshape(shape) % 3 != 1)
        computed = tf.function(masked).get_concrete_function(spec, mask, AXIS)
        found = computed(x, mask, tf.constant(axis))
        for ours, wanted in zip(found, masked(x, mask, axis), strict=True):
            np.testing.assert_array_equal(ours, wanted)
    too_far = tf.function(lambda x, i: tf.boolean_mask(x, [[True, False]] * 3, i))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must not cover more axes"):
        too_far(x, tf.constant(2))
