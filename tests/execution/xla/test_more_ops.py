"""Ops that the tables have in no graph of known sizes."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.xla_programs import check_program
from weft._src.ops.arrays.ranges import range_shape_op
from weft._src.ops.reduce.sums import sum_to_shape_op

RNG = np.random.default_rng(5)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def test_custom_gradients() -> None:
    @tf.custom_gradient
    def clipped(x: tf.Tensor) -> tuple[tf.Tensor, object]:
        return tf.exp(x), lambda g: tf.clip_by_value(g, -1.0, 1.0) * 3.0

    def body(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = clipped(x) * 2.0
        return y, tape.gradient(y, x)

    check_program(body, normal(3))


@pytest.mark.parametrize("n", [2, 3])
def test_second_gradients_of_pooling(n: int) -> None:
    pool = tf.nn.max_pool2d if n == 2 else tf.nn.max_pool3d

    def body(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(pool(x**3, 2, 2, "VALID"))
            g = inner.gradient(y, x)
        return outer.gradient(tf.reduce_sum(g**2), x)

    check_program(body, normal(1, *[4] * n, 2))


def test_resizing_and_its_gradient() -> None:
    def body(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.image.resize(x, [7, 3], antialias=True)
            z = tf.raw_ops.ScaleAndTranslate(
                images=x, size=[4, 5], scale=[1.3, 0.8], translation=[0.1, 0.2]
            )
            total = tf.reduce_sum(y**2) + tf.reduce_sum(z**2)
        return total, tape.gradient(total, x)

    check_program(body, normal(1, 4, 5, 2))


def test_neighbours_of_numbers() -> None:
    check_program(tf.math.nextafter, normal(4), normal(4))


def test_elements_along_an_axis() -> None:
    factors = normal(4, 1)

    def body(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.sort(x, axis=0) ** 2 * factors)
            g = inner.gradient(y, x)
        return g, outer.gradient(tf.reduce_sum(g**2), x)

    check_program(body, normal(4, 3))


def test_the_length_of_a_range() -> None:
    def body(x: tf.Tensor, i: tf.Tensor) -> tf.Tensor:
        n = tf.shape(x)[0]
        tf.no_op()
        return x + tf.cast(range_shape_op(i, n, n // n, out_type=tf.int32), tf.float32)

    for i in (0, 3, 4):
        check_program(body, normal(4), np.array(i, np.int32))


def test_sums_to_a_shape_and_calls_of_other_functions() -> None:
    inner = tf.function(lambda x, y: tf.tanh(x) * y, autograph=False)

    def body(x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, list[tf.Tensor]]:
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = sum_to_shape_op(inner(x, y) ** 2, tf.constant([4, 1])) * inner(x[:, :1], y)
        return z, tape.gradient(z, [x, y])

    check_program(body, normal(2, 4, 3), normal(4, 1))


def test_lists_of_another_length() -> None:
    def body(x: tf.Tensor) -> tf.Tensor:
        rows = tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=[3])
        longer = tf.raw_ops.TensorListResize(input_handle=rows, size=6)
        shorter = tf.raw_ops.TensorListResize(input_handle=longer, size=2)
        again = tf.raw_ops.TensorListResize(input_handle=shorter, size=4)
        return tf.raw_ops.TensorListStack(
            input_handle=again, element_shape=[3], element_dtype=tf.float32, num_elements=4
        )

    check_program(body, normal(4, 3))
