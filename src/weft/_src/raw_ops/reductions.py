"""Raw ops whose axes TensorFlow takes as a tensor that may only be known when the graph runs."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.core.dtypes import INDEX, NUMERIC
from weft._src.core.shapes import Dim
from weft._src.ops import static
from weft._src.ops.arrays.shape_checks import broadcast_axes_op
from weft._src.ops.reduce.sums import reduced_shapes_op, sum_to_shape_op


def total(
    input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None
) -> tf.Tensor:
    """The sum; the axes may be computed, as those of gradients of what is broadcast are."""
    x, axes = tf.convert_to_tensor(input), tf.convert_to_tensor(axis, dtype_hint=tf.int32)
    if tf.get_static_value(axes) is not None:
        return tf.reduce_sum(x, axes, keep_dims, name=name)
    summed, left = _summed(x, axes)
    return summed if keep_dims else tf.reshape(summed, left, name=name)


def mean(
    input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None
) -> tf.Tensor:
    x, axes = tf.convert_to_tensor(input), tf.convert_to_tensor(axis, dtype_hint=tf.int32)
    if tf.get_static_value(axes) is not None:
        return tf.reduce_mean(x, axes, keep_dims, name=name)
    if x.dtype not in NUMERIC:
        return tf.reduce_mean(x)  # which refuses it, as of any axes
    summed, left = _summed(tf.cast(x, _wide(x.dtype)), axes)
    count = tf.size(x, tf.int64) // tf.maximum(tf.size(summed, tf.int64), 1)
    if x.dtype.is_integer:
        averaged = tf.truncatediv(summed, tf.cast(tf.maximum(count, 1), summed.dtype))
    else:
        averaged = summed / tf.cast(count, summed.dtype)
    averaged = tf.cast(averaged, x.dtype)
    return averaged if keep_dims else tf.reshape(averaged, left, name=name)


def _wide(dtype: tf.DType) -> tf.DType:
    """What numbers are added in."""
    if dtype.is_integer:
        return tf.uint64 if dtype.is_unsigned else tf.int64
    return tf.float32 if dtype.size < 4 else dtype


def _summed(x: tf.Tensor, axes: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The sum with the axes left at size 1, and the shape without them."""
    kept, left = reduced_shapes_op(tf.shape(x), axes)
    return sum_to_shape_op(x, kept), left


def broadcast_axes(
    s0: TensorLike, s1: TensorLike, name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """For two shapes, the axes that gradients of what was broadcast are summed over.

    Where sizes are symbols and equal, or one is 1, that is known while tracing.
    """
    x, y = [tf.convert_to_tensor(s, dtype_hint=tf.int32) for s in (s0, s1)]
    are_shapes = all(s.dtype in INDEX and s.shape.rank == 1 for s in (x, y))
    known = [static.known_value(s) for s in (x, y)] if are_shapes else [None]
    if any(value is None for value in known):
        return broadcast_axes_op(x, y, name=name)
    axes = _decided([value.tolist() for value in known if value is not None])
    if axes is None:
        return broadcast_axes_op(x, y, name=name)
    return tf.constant(axes[0], x.dtype, [len(axes[0])]), tf.constant(
        axes[1], y.dtype, [len(axes[1])]
    )


def _decided(shapes: list[list[Any]]) -> list[list[int]] | None:
    """The axes for both, None if a size may or may not be 1."""
    one, other = shapes
    if len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True)):
        return [[], []]
    rank = max(len(one), len(other))
    axes: list[list[int]] = [[], []]
    wide = [[None] * (rank - len(sizes)) + sizes for sizes in shapes]
    for i, (a, b) in enumerate(zip(*wide, strict=True)):
        if _same(a, b) and not _is_one(a):
            continue
        if not (_is_one(a) or _is_one(b)):
            if isinstance(a, Dim) or isinstance(b, Dim):
                return None
            raise tf.errors.ShapeError(f"BroadcastGradientArgs: {one} and {other} do not fit.")
        for sizes, found in zip((a, b), axes, strict=True):
            if _is_one(sizes):
                found.append(i)
    return axes


def _same(a: Any, b: Any) -> bool:
    return a is b or (isinstance(a, int) and a == b)


def _is_one(n: Any) -> bool:
    """Whether a size is 1, or an axis is missing altogether."""
    return n is None or (isinstance(n, int) and n == 1)
