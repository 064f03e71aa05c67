"""`tensorflow.compiler.tf2xla.python.xla`: `keras.ops.slice_update` under XLA."""

from __future__ import annotations

from typing import Any

import weft as tf


def dynamic_update_slice(operand: Any, update: Any, indices: Any) -> Any:
    """`operand` with a part replaced; the part is moved until it lies inside, as XLA does it."""
    operand, update = tf.convert_to_tensor(operand), tf.convert_to_tensor(update)
    start = tf.cast(tf.convert_to_tensor(indices), tf.int32)
    size, whole = tf.shape(update), tf.shape(operand)
    start = tf.clip_by_value(start, 0, whole - size)
    grids = tf.meshgrid(*[tf.range(n) for n in tf.unstack(size)], indexing="ij")
    places = tf.stack(grids, axis=-1) + start
    return tf.tensor_scatter_nd_update(operand, places, update)
