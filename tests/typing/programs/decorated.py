"""Decorators return what they decorate: its parameters, and its result."""

from collections.abc import Callable
from typing import assert_type

import weft as tf


@tf.function
def plain(x: tf.Tensor, times: int = 2) -> tf.Tensor:
    return x * times


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)], jit_compile=True)
def with_signature(x: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"sum": tf.reduce_sum(x), "max": tf.reduce_max(x)}


@tf.custom_gradient
def log1pexp(x: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
    e = tf.exp(x)
    return tf.math.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))


@tf.recompute_grad
def block(x: tf.Tensor, depth: int) -> tf.Tensor:
    return tf.sin(x) * depth


@tf.autograph.experimental.do_not_convert
def untouched(n: int) -> str:
    return "yes" if n else "no"


@tf.autograph.experimental.do_not_convert()
def untouched_too(n: int) -> str:
    return "yes" if n else "no"


def double(x: tf.Tensor) -> tf.Tensor:
    return x + x


x = tf.constant([1.0, 2.0])
assert_type(plain(x), tf.Tensor)
assert_type(plain(x, times=3), tf.Tensor)
assert_type(with_signature(x), dict[str, tf.Tensor])
assert_type(log1pexp(x), tf.Tensor)
assert_type(block(x, 2), tf.Tensor)
assert_type(untouched(1), str)
assert_type(untouched_too(1), str)
assert_type(tf.function(double)(x), tf.Tensor)
assert_type(tf.grad_pass_through(tf.round)(x), tf.Tensor)
assert_type(
    plain.get_concrete_function(x, 2),
    tf.types.experimental.ConcreteFunction,
)
assert_type(plain.experimental_get_tracing_count(), int)
