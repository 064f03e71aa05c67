"""A model fitted by hand: variables, a tape, gradients, assignments."""

from typing import assert_type

import numpy as np

import weft as tf

w = tf.Variable(tf.zeros([3, 1]), name="w")
b = tf.Variable(0.0)
rate = 0.1


def predict(x: tf.Tensor) -> tf.Tensor:
    return x @ w + b


def loss_of(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    return tf.reduce_mean(tf.square(predict(x) - y))


@tf.function
def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as tape:
        assert_type(tape, tf.GradientTape)
        loss = loss_of(x, y)
    gradients = tape.gradient(loss, [w, b])
    assert_type(gradients, list[tf.Tensor | None])
    for variable, gradient in zip([w, b], gradients, strict=True):
        if gradient is not None:
            assert_type(variable.assign_sub(rate * gradient), tf.Variable)
    return loss


x = tf.constant(np.ones([4, 3], np.float32))
y = tf.ones([4, 1])
for _ in range(3):
    loss = step(x, y)
assert_type(step(x, y), tf.Tensor)
assert_type(float(step(x, y)), float)
assert_type(w.read_value(), tf.Tensor)
assert_type(w.assign(tf.zeros([3, 1]), read_value=False), tf.Variable | None)

with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    out = tf.sin(x) * 2.0
assert_type(out, tf.Tensor)
assert_type(tape.gradient(out, x), tf.Tensor | None)
assert_type(tape.gradient(out, w), tf.Tensor | None)
assert_type(tape.gradient(out, {"x": x}), dict[str, tf.Tensor | None])
assert_type(tape.gradient(out, (x, x)), tuple[tf.Tensor | None, ...])
assert_type(tape.gradient(out, x, unconnected_gradients="zero"), tf.Tensor)
assert_type(tape.gradient(out, [x], unconnected_gradients="zero"), list[tf.Tensor])
assert_type(tape.jacobian(out, x), tf.Tensor | None)
assert_type(tape.batch_jacobian(out, x), tf.Tensor)
