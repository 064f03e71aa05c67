"""Batches of matrices whose leading axes broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import weft as tf
from weft._src.core.aliases import TensorLike


def broadcast_static(shapes: Sequence[tf.TensorShape]) -> tf.TensorShape:
    """The shape that all broadcast to, as far as it is known."""
    out = tf.TensorShape([])
    for shape in shapes:
        out = tf.broadcast_static_shape(out, shape)
    return out


def broadcast_dynamic(shapes: Sequence[Any]) -> Any:
    """The same, as an int32 vector."""
    out = tf.constant([], tf.int32)
    for shape in shapes:
        out = tf.broadcast_dynamic_shape(out, shape)
    return out


def with_equal_batches(*matrices: TensorLike) -> list[Any]:
    """Matrices whose leading axes are broadcast to each other."""
    found = [tf.convert_to_tensor(x) for x in matrices]
    leading = [x.shape[:-2] for x in found]
    if all(shape.is_fully_defined() and shape == leading[0] for shape in leading):
        return found
    batch = broadcast_dynamic([tf.shape(x)[:-2] for x in found])
    out = []
    for x in found:
        wide = tf.broadcast_to(x, tf.concat([batch, tf.shape(x)[-2:]], 0))
        wide.set_shape(broadcast_static(leading).concatenate(x.shape[-2:]))
        out.append(wide)
    return out


def solved(matrix: TensorLike, rhs: TensorLike, adjoint: bool = False) -> Any:
    """`tf.linalg.solve`, whose leading axes broadcast."""
    left, right = with_equal_batches(matrix, rhs)
    return tf.linalg.solve(left, right, adjoint=adjoint)


def solved_triangular(
    matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False
) -> Any:
    """`tf.linalg.triangular_solve`, whose leading axes broadcast."""
    left, right = with_equal_batches(matrix, rhs)
    return tf.linalg.triangular_solve(left, right, lower=lower, adjoint=adjoint)


def concat_shape(batch: Any, *sizes: Any) -> Any:
    """A shape from a batch shape and two sizes, all int32."""
    return tf.concat([batch, tf.stack([tf.cast(size, tf.int32) for size in sizes])], 0)
