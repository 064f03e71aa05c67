"""Mistakes that a type checker finds; each line says which error it must give."""

import weft as tf


@tf.function
def traced(x: tf.Tensor) -> tf.Tensor:
    return x


class Model(tf.Module):
    @tf.function
    def run(self, x: tf.Tensor) -> tf.Tensor:
        return x


x = tf.zeros([2])
tf.nosuchname  # expect: attr-defined
tf.math.nosuchname  # expect: attr-defined
tf.data.Dataset.range(3).nosuchmethod()  # expect: attr-defined
x.nosuchattribute  # expect: attr-defined
traced("text")  # expect: arg-type
traced(x, x)  # expect: call-arg
traced(y=x)  # expect: call-arg
Model().run()  # expect: call-arg
Model().run(x, 1)  # expect: call-arg
tf.reduce_sum(None)  # expect: arg-type
tf.zeros([2], dtype=None)  # expect: arg-type
tf.GradientTape().gradient(x, x) + 1  # expect: operator
