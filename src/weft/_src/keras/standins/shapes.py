"""`tensorflow.python.framework.ops`, `tensor_util`, `tensor_shape`: tensors, and static shapes."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft._src.core.tensor import EagerTensor as EagerTensor

Tensor = tf.Tensor
TensorShape = tf.TensorShape
name_scope = tf.name_scope
convert_to_tensor = tf.convert_to_tensor
is_tf_type = is_tensor = tf.is_tensor
constant_value = tf.get_static_value


def try_evaluate_constant(tensor: Any) -> Any:
    """The value of a tensor that is known while tracing, or None."""
    return tf.get_static_value(tensor)


def get_default_graph() -> Any:
    """The graph that is being traced, or None."""
    return tf.compat.v1.get_default_graph()


def as_shape(shape: Any) -> tf.TensorShape:
    """A shape from what describes one."""
    return tf.TensorShape(shape)


def dimension_value(dimension: Any) -> Any:
    """Sizes are plain integers."""
    return dimension


def constant_value_as_shape(tensor: Any) -> tf.TensorShape:
    """The shape that a vector of sizes says, as far as it is known while tracing."""
    value = tf.get_static_value(tensor, partial=True)
    if value is None:
        rank = tf.TensorShape(tensor.shape)[0] if tensor.shape.rank else None
        return tf.TensorShape(None if rank is None else [None] * rank)
    return tf.TensorShape([None if n is None or n < 0 else int(n) for n in value])
