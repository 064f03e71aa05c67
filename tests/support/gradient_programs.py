"""Programs of one scalar with branches, loops, arrays and lists, for tests of gradients."""

from __future__ import annotations

import weft as tf


def branch(x: tf.Tensor) -> tf.Tensor:
    if x > 0:
        y = x * x * tf.sin(x)
    else:
        y = -x
    return y


def switched(x: tf.Tensor) -> tf.Tensor:
    i = tf.cast(x, tf.int32)
    return tf.switch_case(i, [lambda: x * x, lambda: tf.exp(x), lambda: tf.sin(x) * x])


def fixed_loop(x: tf.Tensor) -> tf.Tensor:
    y = x
    for _ in tf.range(3):
        y = y * x + tf.sin(y)
    return y


def no_iterations(x: tf.Tensor) -> tf.Tensor:
    y = x * x
    for _ in tf.range(0):
        y = y * x
    return y


def nested(x: tf.Tensor) -> tf.Tensor:
    y = x
    n = 0
    while tf.reduce_sum(y) < 50.0:
        if n % 2 == 0:
            y = y * x
        else:
            for j in tf.range(2):
                y = y + tf.sqrt(tf.abs(x)) * tf.cast(j + 1, tf.float32)
        n += 1
        if n > 5:
            break
    return y


def early_return(x: tf.Tensor) -> tf.Tensor:
    y = x
    for i in tf.range(10):
        y = y * 1.5 + x
        if y > 8.0:
            return y * tf.cast(i, tf.float32)
    return y


def arrays(x: tf.Tensor) -> tf.Tensor:
    ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[])
    for i in tf.range(4):
        ta = ta.write(i, x * tf.cast(i, tf.float32) * x)
    s = ta.stack()
    return tf.reduce_sum(s * s) + ta.read(2) * x


def grown(x: tf.Tensor) -> tf.Tensor:
    powers = []
    for _ in tf.range(3):
        x = x * x
        powers.append(x)
    return tf.reduce_sum(tf.stack(powers)) + powers[0] * powers[1]


def captured_only(x: tf.Tensor) -> tf.Tensor:
    total = tf.constant(0.0)
    for i in tf.range(3):
        total += tf.sin(x * tf.cast(i, tf.float32))
    return total


PROGRAMS = [
    branch, switched, fixed_loop, no_iterations, nested, early_return, arrays, grown, captured_only,
]  # fmt: skip
