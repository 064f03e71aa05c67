"""Classes with traced methods: a method that is decorated is bound like any other."""

from typing import assert_type

import weft as tf


class Dense(tf.Module):
    def __init__(self, inputs: int, outputs: int, name: str | None = None) -> None:
        super().__init__(name)
        self.w = tf.Variable(tf.random.normal([inputs, outputs]), name="w")
        self.b = tf.Variable(tf.zeros([outputs]), name="b")

    @tf.function
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.nn.relu(x @ self.w + self.b)

    @tf.function(reduce_retracing=True)
    def scaled(self, x: tf.Tensor, factor: float = 1.0) -> tuple[tf.Tensor, tf.Tensor]:
        y = self(x) * factor
        return y, tf.norm(y)

    @tf.Module.with_name_scope
    def grown(self, by: int) -> int:
        return by + 1


layer = Dense(3, 2)
x = tf.ones([4, 3])
assert_type(layer(x), tf.Tensor)
assert_type(layer.scaled(x), tuple[tf.Tensor, tf.Tensor])
assert_type(layer.scaled(x, factor=2.0), tuple[tf.Tensor, tf.Tensor])
assert_type(layer.grown(2), int)
assert_type(layer.w, tf.Variable)
assert_type(layer.trainable_variables, tuple[tf.Variable, ...])
assert_type(Dense.scaled(layer, x), tuple[tf.Tensor, tf.Tensor])

with tf.GradientTape() as tape:
    loss = tf.reduce_sum(layer(x))
gradients = tape.gradient(loss, layer.trainable_variables)
assert_type(gradients, tuple[tf.Tensor | None, ...])
