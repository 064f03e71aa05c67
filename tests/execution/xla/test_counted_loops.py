"""Loops whose number of turns is known: what changes steadily in them is not carried."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.xla_programs import check_program
from weft.errors import InvalidArgumentError, OutOfRangeError

RNG = np.random.default_rng(5)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def test_counters_up_and_down() -> None:
    def body(x: Any) -> Any:
        i, k = tf.constant(3), tf.constant(10)
        while i < 17:
            x = x * 0.5 + tf.cast(i - k, tf.float32)
            i, k = i + 4, k - 2
        n = tf.constant(9)
        while n > -3:
            x = x + tf.cast(n * i, tf.float32)
            n = n - 5
        return x, i, k, n

    check_program(body, normal(3))


def test_a_loop_that_does_not_run() -> None:
    def body(x: Any) -> Any:
        i = tf.constant(5)
        rows = tf.TensorArray(tf.float32, 3, element_shape=[4])
        while i < 5:
            rows = rows.write(i, x)
            i += 1
        return rows.stack(), i

    check_program(body, normal(4))


@pytest.mark.parametrize("dtype", [tf.int8, tf.int64])
def test_counters_that_leave_their_dtype(dtype: tf.DType) -> None:
    def body(x: Any) -> Any:
        i, k = tf.constant(0), tf.constant(100, dtype)
        while i < 5:
            k = k + 20  # wraps in int8
            i += 1
        return x + tf.cast(k, tf.float32)

    check_program(body, normal(2))


def test_a_counter_that_wraps_goes_on() -> None:
    def body(x: Any) -> Any:
        i, turns = tf.constant(100, tf.int8), tf.constant(0)
        while i < 127:
            i = i + 20
            turns += 1
            if turns == 30:
                break
        return x + tf.cast(i, tf.float32), turns

    check_program(body, normal(2))

    def plain(x: Any) -> Any:  # 101, 110, 119, -128, ...: until it meets 127, in 202 turns
        i, turns = tf.constant(101, tf.int8), tf.constant(0)
        while i < 127:
            i = i + 9
            turns += 1
        return x, i, turns

    check_program(plain, normal(2))


def test_lists_in_loops_and_their_gradients() -> None:
    def body(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            rows = tf.TensorArray(tf.float32, 6)
            h = tf.zeros([3])
            for i in tf.range(6):
                h = tf.tanh(h + x[i])
                rows = rows.write(i, h)
            total = tf.constant(0.0)
            for i in tf.range(5, -1, -1):
                total += tf.reduce_sum(rows.read(i) ** 2) * tf.cast(i, tf.float32)
        return total, tape.gradient(total, x)

    check_program(body, normal(6, 3))


def test_loops_in_loops_use_the_counter_around_them() -> None:
    def body(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.constant(0.0)
            for i in tf.range(3):
                for j in tf.range(4):
                    total += tf.sin(x[i, j]) * x[i, 0]
        return total, tape.gradient(total, x)

    check_program(body, normal(3, 4))


def test_an_index_that_leaves_its_list() -> None:
    @tf.function
    def body(x: Any) -> Any:
        rows = tf.TensorArray(tf.float32, 3)
        for i in tf.range(5):
            rows = rows.write(i, x)
        return rows.stack()

    with pytest.raises(OutOfRangeError, match="index 3 is out of range; it has 3 elements"):
        body(tf.constant(normal(2)))

    @tf.function
    def slices(x: Any) -> Any:
        total = tf.constant(0.0)
        for i in tf.range(5):
            total += x[i]
        return total

    assert slices(tf.ones([5])).numpy() == 5.0
    with pytest.raises(InvalidArgumentError, match="index 4 is out of range"):
        slices(tf.ones([4]))


def test_a_limit_that_is_an_argument() -> None:
    @tf.function
    def body(n: Any, x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(n):
                y = tf.sin(y) * 2.0
        return y, tape.gradient(y, x)

    for n in (0, 3):
        y = np.float32(0.4)
        for _ in range(n):
            y = np.sin(y) * 2
        np.testing.assert_allclose(body(tf.constant(n), tf.constant(0.4))[0], y, rtol=1e-5)
