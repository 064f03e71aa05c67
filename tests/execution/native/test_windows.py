"""Convolutions, pooling and their gradients as machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check, check_program

rng = np.random.default_rng(23)

POOLS: dict[str, Callable[..., Any]] = {"max": tf.nn.max_pool, "avg": tf.nn.avg_pool}


def _image(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Few different numbers, so that maxima are tied."""
    return rng.integers(-4, 5, shape).astype(dtype)


def _with_gradients(function: Callable[..., Any]) -> Callable[..., list[Any]]:
    """The result of a function, its gradients, and the gradients of these."""

    def both(*xs: Any) -> list[Any]:
        with tf.GradientTape() as outer:
            outer.watch(xs)
            with tf.GradientTape() as tape:
                tape.watch(xs)
                y = function(*xs)
                loss = tf.reduce_sum(
                    y * tf.cast(tf.reshape(tf.range(tf.size(y)), y.shape), y.dtype)
                )
            slopes = tape.gradient(loss, xs)
            total = tf.add_n([tf.reduce_sum(s * s * s) for s in slopes])
        second = outer.gradient(total, xs)
        return [y, *slopes, *[s for s in second if s is not None]]

    return both


@pytest.mark.parametrize("name", list(POOLS))
@pytest.mark.parametrize(
    ("ksize", "strides", "padding"),
    [((2, 2), (2, 2), "VALID"), ((3, 2), (1, 2), "SAME"), ((1, 4), (2, 3), "SAME")],
)
def test_pools(name: str, padding: str, ksize: Any, strides: Any) -> None:
    def function(x: Any) -> Any:
        return POOLS[name](x, ksize, strides, padding)

    check(_with_gradients(function), _image(2, 5, 7, 3), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", list(POOLS))
def test_pools_over_one_and_three_axes(name: str) -> None:
    one = getattr(tf.nn, f"{name}_pool1d")
    three = getattr(tf.nn, f"{name}_pool3d")
    check(_with_gradients(lambda x: one(x, 3, 2, "SAME")), _image(2, 7, 3), rtol=1e-6, atol=1e-6)
    check(
        _with_gradients(lambda x: three(x, (2, 1, 3), (1, 2, 2), "SAME")),
        _image(2, 3, 4, 5, 2),
        rtol=1e-6,
        atol=1e-6,
    )


@pytest.mark.parametrize("name", list(POOLS))
def test_channels_first(name: str) -> None:
    def function(x: Any) -> Any:
        return POOLS[name](x, 2, 1, "SAME", data_format="NCHW")

    check(_with_gradients(function), _image(2, 3, 5, 4), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_gradients_of_pools_in_other_dtypes(dtype: str) -> None:
    x = _image(2, 5, 4, 3, dtype=tf.as_dtype(dtype).numpy_dtype)

    def function(x: Any) -> list[Any]:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            ys = [tf.nn.max_pool(x, 3, 2, "SAME"), tf.nn.avg_pool(x, 2, 2, "VALID")]
        return [*ys, *[tape.gradient(y, x) for y in ys]]

    check(function, x)


def test_max_pool_of_integers() -> None:
    check(lambda x: [tf.nn.max_pool(x, 2, 1, "SAME")], _image(1, 3, 4, 2, dtype=np.int32))


def test_where_no_element_is_the_maximum() -> None:
    """NaN equals nothing: nobody gets the gradient; a border of -inf may."""
    x = _image(1, 4, 6, 2)
    x[0, 1, 2, 0], x[0, 3] = np.nan, -np.inf

    def function(x: Any, h: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.max_pool(x, 3, 2, "SAME")
        with tf.GradientTape() as second:
            g = tf.fill(y.shape, 3.0)
            second.watch(g)
            slope = tape.gradient(y, x, output_gradients=g)
        return [slope, second.gradient(slope, g, output_gradients=h)]

    slope, picked = check(function, x, _image(1, 4, 6, 2))
    assert slope.sum() < 3.0 * picked.size


@pytest.mark.parametrize(
    ("padding", "step", "rates", "multiplier"),
    [
        ("SAME", 1, (2, 1), 1),
        ("VALID", 2, (1, 1), 2),
        ([[0, 0], [2, 1], [0, 3], [0, 0]], 1, (1, 1), 2),
        ("SAME", 3, (1, 1), 1),
    ],
)
def test_depthwise(padding: Any, step: int, rates: Any, multiplier: int) -> None:
    def function(x: Any, filters: Any) -> Any:
        return tf.nn.depthwise_conv2d(
            x, filters, [1, step, step, 1], padding, dilations=list(rates)
        )

    check(
        _with_gradients(function),
        _image(2, 5, 7, 3),
        _image(3, 2, 3, multiplier) / 4,
        rtol=1e-4,
        atol=1e-3,
    )


def test_depthwise_channels_first_and_separable() -> None:
    check(
        _with_gradients(
            lambda x, f: tf.nn.depthwise_conv2d(x, f, [1, 1, 2, 2], "SAME", data_format="NCHW")
        ),
        _image(2, 3, 5, 4, dtype=np.float64),
        _image(3, 3, 3, 2, dtype=np.float64) / 8,
        rtol=1e-9,
        atol=1e-9,
    )
    check(
        _with_gradients(lambda x, f, m: tf.nn.separable_conv2d(x, f, m, [1, 1, 1, 1], "SAME")),
        _image(2, 3, 5, 4) / 4,
        _image(3, 3, 4, 1) / 4,
        _image(1, 1, 4, 5) / 4,
        rtol=1e-4,
        atol=1e-3,
    )


def test_depthwise_of_narrow_floats() -> None:
    def function(x: Any, filters: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch([x, filters])
            y = tf.nn.depthwise_conv2d(x, filters, [1, 1, 1, 1], "SAME")
        return [y, *tape.gradient(y, [x, filters])]

    check(function, _image(1, 4, 5, 2, dtype=np.float16), _image(2, 2, 2, 2, dtype=np.float16))


@pytest.mark.parametrize(("groups", "form"), [(1, "NCHW"), (2, "NHWC"), (3, "NCHW")])
def test_convolutions_in_groups(groups: int, form: str) -> None:
    shape = (2, 5, 4, 6) if form == "NHWC" else (2, 6, 5, 4)
    check(
        _with_gradients(lambda x, f: tf.nn.conv2d(x, f, 2, "SAME", data_format=form)),
        _image(*shape) / 4,
        _image(3, 2, 6 // groups, 9 - 9 % groups) / 4,
        rtol=1e-4,
        atol=1e-3,
    )


def test_convolutions_over_one_and_three_axes() -> None:
    check(
        _with_gradients(lambda x, f: tf.nn.conv1d(x, f, 2, "SAME")),
        _image(2, 7, 3) / 4,
        _image(3, 3, 5) / 4,
        rtol=1e-4,
        atol=1e-3,
    )
    check(
        _with_gradients(lambda x, f: tf.nn.conv3d(x, f, [1, 1, 2, 1, 1], "SAME")),
        _image(1, 3, 4, 5, 2) / 4,
        _image(2, 3, 1, 2, 3) / 4,
        rtol=1e-4,
        atol=1e-3,
    )


@pytest.mark.parametrize("shape", [(0, 4, 5, 3), (2, 4, 5, 0)])
def test_no_images_or_channels(shape: tuple[int, ...]) -> None:
    x = np.zeros(shape, np.float32)
    check(_with_gradients(lambda x: tf.nn.max_pool(x, 2, 2, "SAME")), x)


def test_a_convolution_of_no_images() -> None:
    check(
        _with_gradients(lambda x, f: tf.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME")),
        np.zeros((0, 4, 5, 3), np.float32),
        np.ones((2, 2, 3, 2), np.float32),
    )


def test_windows_in_loops() -> None:
    def function(x: Any, filters: Any) -> Any:
        for _ in tf.range(3):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.nn.max_pool(
                    tf.nn.depthwise_conv2d(x, filters, [1, 1, 1, 1], "SAME"), 2, 1, "SAME"
                )
            x = x - 0.125 * tape.gradient(y, x)
        return x

    check_program(function, _image(1, 5, 4, 2), _image(2, 2, 2, 1))


def test_large_images_are_shared_by_threads() -> None:
    x = _image(4, 32, 32, 16)

    def function(x: Any, filters: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch([x, filters])
            y = tf.nn.max_pool(x, 2, 2, "VALID")
            z = tf.reduce_sum(y * y) + tf.reduce_sum(
                tf.nn.depthwise_conv2d(x, filters, [1, 1, 1, 1], "SAME")
            )
        return [y, *tape.gradient(z, [x, filters])]

    check(function, x, _image(3, 3, 16, 1))
