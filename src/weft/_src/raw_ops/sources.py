"""Raw ops that take no tensors, or hand on the one they get."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.ops.control import stack as stacks


def const(value: Any, dtype: DTypeLike, name: str | None = None) -> tf.Tensor:
    """A tensor, an array, or numbers; a tensor must have the dtype."""
    wanted = tf.as_dtype(dtype)
    if isinstance(value, tf.Tensor):
        known = tf.get_static_value(value)
        if known is None or value.dtype is not wanted:
            raise tf.errors.InvalidArgumentError(
                None, None, f"Const: value must be known and {wanted.name}, got {value!r}."
            )
        value = known
    return tf.constant(value, wanted, name=name or "Const")


def empty(shape: ShapeLike, dtype: DTypeLike, name: str | None = None) -> tf.Tensor:
    """Zeros: what TensorFlow leaves open is the same in every run here."""
    wanted = tf.as_dtype(dtype)
    return tf.fill(shape, "") if wanted is tf.string else tf.zeros(shape, wanted, name)


def placeholder_with_default(
    input: TensorLike, shape: ShapeLike, name: str | None = None
) -> tf.Tensor:
    """The default: nothing else is ever fed."""
    return tf.ensure_shape(input, shape, name=name)


def filler(dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> tf.Tensor:
    """What a branch returns where only the other one has a value; nobody looks at it."""
    wanted, sizes = tf.as_dtype(dtype), tf.TensorShape(shape)
    if wanted is tf.variant:
        return stacks.reserve_op(tf.constant(0), dtype=tf.float32, name=name)
    known = [] if sizes.rank is None else [n or 0 for n in sizes.as_list()]
    return empty(known, wanted, name)
