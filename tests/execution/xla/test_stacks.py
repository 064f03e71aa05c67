"""TensorArrays, lists and what loops save: memory of a fixed size that proves large enough."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.xla_programs import check_program

RNG = np.random.default_rng(11)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def test_a_tensor_array_is_written_read_and_stacked() -> None:
    def body(x: tf.Tensor) -> tf.Tensor:
        array = tf.TensorArray(tf.float32, size=4, element_shape=[3])
        for i in tf.range(4):
            array = array.write(i, x[i] * 2.0)
        return array.stack() + array.read(2)

    check_program(body, normal(4, 3))


def test_elements_that_nobody_wrote_are_zeros() -> None:
    def body(x: tf.Tensor, i: tf.Tensor) -> tf.Tensor:
        array = tf.TensorArray(tf.float32, size=5, element_shape=[3])
        return array.write(i, x).stack()

    check_program(body, normal(3), np.array(3, np.int32))


@pytest.mark.parametrize("n", [3, 70, 300])
def test_a_list_of_a_length_nobody_knows(n: int) -> None:
    def body(limit: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(limit)
            x, i = limit * 0.001, tf.constant(0)
            while tf.cast(i, tf.float32) < limit:
                x = tf.sin(x) + 0.01 * x
                i += 1
        return x, tape.gradient(x, limit)

    check_program(body, np.float32(n))


def test_gradients_of_loops_in_loops() -> None:
    def body(x: tf.Tensor, n: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for i in tf.range(n):
                for _ in tf.range(i + 1):
                    y = tf.sin(y) * x
            total = tf.reduce_sum(y)
        return total, tape.gradient(total, x)

    check_program(body, normal(3), np.array(4, np.int32))


def test_counted_loops_in_loops() -> None:
    def body(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(4):
                for _ in tf.range(3):
                    y = tf.sin(y) * x
            total = tf.reduce_sum(y)
        return total, tape.gradient(total, x)

    check_program(body, normal(3))


def test_a_list_that_an_inner_loop_appends_to() -> None:
    def body(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[3])
            for i in tf.range(4):
                for j in tf.range(3):
                    array = array.write(i * 3 + j, x * tf.cast(i + j, tf.float32))
            total = tf.reduce_sum(array.stack()[:12] ** 2)
        return total, tape.gradient(total, x)

    check_program(body, normal(3), segments=True)


def test_gradients_of_tensor_arrays() -> None:
    def body(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            array = tf.TensorArray(tf.float32, size=5).unstack(x)
            out = tf.TensorArray(tf.float32, size=5)
            for i in tf.range(5):
                out = out.write(4 - i, array.read(i) * array.read((i + 1) % 5))
            rows = out.gather([0, 3, 3])
            total = tf.reduce_sum(rows**2) + tf.reduce_sum(out.stack() ** 3)
        return total, tape.gradient(total, x)

    check_program(body, normal(5, 2))


def test_a_list_in_branches() -> None:
    def body(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            array = tf.TensorArray(tf.float32, size=6, element_shape=[])
            for i in tf.range(6):
                if x[i] > 0.0:
                    array = array.write(i, x[i] * 2.0)
                else:
                    array = array.write(i, x[i] ** 2)
            total = tf.reduce_sum(array.stack() * x)
        return total, tape.gradient(total, x)

    check_program(body, normal(6))


def test_a_loop_that_stops_early() -> None:
    def body(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            total, count = tf.constant(0.0), tf.constant(0)
            for row in x:
                if tf.reduce_sum(row) > 5.0:
                    break
                total += tf.reduce_sum(row**2)
                count += 1
        return total, count, tape.gradient(total, x)

    rows = np.ones((6, 2), np.float32)
    rows[4] = 4.0
    check_program(body, rows)


def test_functional_loops() -> None:
    def body(x: tf.Tensor) -> tuple[tf.Tensor, ...]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            scanned = tf.scan(lambda a, b: a * 0.5 + b, x)
            folded = tf.foldl(lambda a, b: a + b**2, x, initializer=tf.zeros([2]))
            mapped = tf.map_fn(lambda row: tf.cumsum(row) ** 2, x)
            total = tf.reduce_sum(scanned) + tf.reduce_sum(folded) + tf.reduce_sum(mapped)
        return scanned, folded, mapped, tape.gradient(total, x)

    check_program(body, normal(4, 2))


def test_at_most_so_many_turns() -> None:
    def body(x: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(
            lambda y: tf.reduce_sum(y) < 1e9, lambda y: (y * 2.0,), [x], maximum_iterations=5
        )[0]

    check_program(body, np.abs(normal(3)))
