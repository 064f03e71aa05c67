"""Gradients of resizing, and what it gives at the edges."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.image_calls import METHODS, image

I = tf.image


def slope_of(function, x, g):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x, output_gradients=g)


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [(3, 4), (9, 5), (7, 14)])
def test_gradients_are_those_of_a_linear_map(method, antialias, size) -> None:
    x, v = image(2, 7, 6, 3), image(2, 6, 7, 3).reshape(2, 7, 6, 3)
    g = np.sin(np.arange(2 * size[0] * size[1] * 3, dtype=np.float32)).reshape(2, *size, 3)

    def resize(x):
        return I.resize(x, size, method, antialias=antialias)

    slope = slope_of(resize, x, g)
    # <W v, g> = <v, W' g>, whatever v is.
    np.testing.assert_allclose(np.sum(resize(v) * g), np.sum(v * slope), rtol=1e-4, atol=1e-4)
    # The gradient is linear in g, so its own gradient is the map again.
    again = slope_of(lambda g: slope_of(resize, x, g), g, v)
    np.testing.assert_allclose(again, resize(v), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float64", "bfloat16"])
def test_gradients_have_the_dtype_of_the_image(dtype) -> None:
    x = tf.cast(image(4, 5, 1), dtype)
    slope = slope_of(lambda x: I.resize(x, (2, 3)), x, tf.ones([2, 3, 1]))
    assert slope.dtype == dtype
    np.testing.assert_allclose(np.sum(tf.cast(slope, tf.float32)), 6, rtol=1e-2)


def test_integers_have_no_gradient() -> None:
    x = tf.constant(image(4, 5, 1, dtype="int32", high=9))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = I.resize(x, (2, 3))
    assert tape.gradient(y, x) is None


def test_scaling_and_moving_has_a_gradient() -> None:
    x = image(1, 5, 6, 2)

    def moved(x):
        return tf.raw_ops.ScaleAndTranslate(
            images=x, size=[4, 7], scale=[0.7, 1.3], translation=[0.5, -1.0],
            kernel_type="triangle",
        )  # fmt: skip

    g = image(1, 4, 7, 2)
    slope = slope_of(moved, x, g)
    np.testing.assert_allclose(np.sum(moved(x) * g), np.sum(x * slope), rtol=1e-4)


def test_directional_derivatives() -> None:
    x, v = tf.constant(image(4, 5, 1)), tf.constant(image(5, 4, 1).reshape(4, 5, 1))
    with tf.autodiff.ForwardAccumulator(x, v) as accumulator:
        y = I.resize(x, (7, 3), "bicubic")
    np.testing.assert_allclose(accumulator.jvp(y), I.resize(v, (7, 3), "bicubic"), rtol=1e-5)


def test_nan_stays_near() -> None:
    x = np.ones((9, 9, 1), np.float32)
    x[4, 4] = np.nan
    out = I.resize(x, (18, 18)).numpy()
    assert 0 < np.isnan(out).sum() <= 16
    np.testing.assert_array_equal(I.resize(np.full((2, 2, 1), np.inf), (1, 1)), [[[np.inf]]])


@pytest.mark.parametrize("method", METHODS)
def test_equal_pixels_stay_equal(method) -> None:
    x = np.full((5, 4, 2), 3.5, np.float32)
    for antialias in (False, True):
        out = I.resize(x, (11, 3), method, antialias=antialias)
        np.testing.assert_allclose(out, np.full((11, 3, 2), 3.5), rtol=1e-5)


def test_sizes_are_inferred() -> None:
    @tf.function
    def resized(x, size):
        known = I.resize(x, (3, 5))
        assert known.shape.as_list() == [None, 3, 5, 2]
        computed = I.resize(x, size)
        assert computed.shape.as_list() == [None, None, None, 2]
        half = I.resize(x, (tf.shape(x)[1] // 2, 6))
        assert half.shape.as_list() == [None, None, 6, 2]
        return known, computed, half

    resized.get_concrete_function(
        tf.TensorSpec([None, None, None, 2]), tf.TensorSpec([2], tf.int32)
    )
