"""Products of vectors and matrices."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.experimental.numpy import arithmetic, joining, shapes
from weft._src.experimental.numpy.promotion import promoted


def matmul(x1: TensorLike, x2: TensorLike) -> tf.Tensor:
    """The matrix product; vectors are rows on the left and columns on the right.

    Args:
      x1: an array of shape `[..., n, m]`, or a vector of m elements.
      x2: an array of shape `[..., m, k]`, or a vector of m elements; axes in front broadcast.

    Returns:
      A tensor of shape `[..., n, k]` of their common dtype; the axis of a vector falls away, and
      two vectors give a scalar.

    Raises:
      ValueError: if one of them is a scalar.
      ShapeError: if the sizes do not fit.

    >>> tf.experimental.numpy.matmul([[1, 2], [3, 4]], [5, 6]).numpy()
    array([17, 39])
    """
    x, y = promoted(x1, x2)
    if x.ndim == 0 or y.ndim == 0:
        raise ValueError("matmul: x1 and x2 must not be scalars; use multiply.")
    if x.ndim == 1 and y.ndim == 1:
        return tf.reduce_sum(x * y)
    if x.ndim == 1:
        return tf.matmul(x[None], y)[..., 0, :]
    return tf.matmul(x, y[:, None])[..., 0] if y.ndim == 1 else tf.matmul(x, y)


def dot(a: TensorLike, b: TensorLike) -> tf.Tensor:
    """The sum of products over the last axis of a and the last but one of b.

    Args:
      a: an array, number or (nested) list.
      b: the other one. If one of them is a scalar, they are multiplied.

    Returns:
      A tensor of their common dtype: the other axes of `a`, then those of `b`.

    Raises:
      ShapeError: if the sizes of the two axes differ.

    >>> tf.experimental.numpy.dot([1, 2], [3, 4]).numpy()
    np.int64(11)
    """
    x, y = promoted(a, b)
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    return tf.tensordot(x, y, [[x.ndim - 1], [max(y.ndim - 2, 0)]])


def outer(a: TensorLike, b: TensorLike) -> tf.Tensor:
    """All products of two elements.

    Args:
      a: an array, which is flattened.
      b: the other one, which is flattened too.

    Returns:
      A matrix of their common dtype, with a row for each element of `a` and a column for each of
      `b`.

    >>> tf.experimental.numpy.outer([1, 2], [3, 4]).numpy()
    array([[3, 4],
           [6, 8]])
    """
    x, y = promoted(a, b)
    return arithmetic.multiply(tf.reshape(x, [-1, 1]), tf.reshape(y, [1, -1]))


def inner(a: TensorLike, b: TensorLike) -> tf.Tensor:
    """The sum of products over the last axes.

    Args:
      a: an array, number or (nested) list.
      b: the other one, with a last axis of the same size. If one of them is a scalar, they are
        multiplied.

    Returns:
      A tensor of their common dtype: the other axes of `a`, then those of `b`.

    Raises:
      ShapeError: if the sizes of the last axes differ.

    >>> tf.experimental.numpy.inner([[1, 2]], [[3, 4], [5, 6]]).numpy()
    array([[11, 17]])
    """
    x, y = promoted(a, b)
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    return tf.tensordot(x, y, [[x.ndim - 1], [y.ndim - 1]])


def tensordot(a: TensorLike, b: TensorLike, axes: TensorLike = 2) -> tf.Tensor:
    """The sum of products over several axes.

    Args:
      a: an array.
      b: the other one.
      axes: how many axes, the last ones of `a` and the first ones of `b`; or a pair of lists of
        axes, of `a` and of `b`.

    Returns:
      A tensor of their common dtype: the other axes of `a`, then those of `b`.

    Raises:
      ShapeError: if the sizes of axes that belong together differ.

    >>> tf.experimental.numpy.tensordot([[1, 2]], [[3], [4]], 1).numpy()
    array([[11]])
    """
    x, y = promoted(a, b)
    return tf.tensordot(x, y, axes)


def einsum(subscripts: str, *operands: Any) -> tf.Tensor:
    """Einstein's sum convention.

    Args:
      subscripts: the letters of the axes of each operand, with commas between, then "->" and those
        of the result, such as "ij,jk->ik".
      *operands: arrays, which get their common dtype.

    Returns:
      A tensor with the axes that stand behind "->".

    >>> tf.experimental.numpy.einsum("ij->j", [[1, 2], [3, 4]]).numpy()
    array([4, 6])
    """
    return tf.einsum(subscripts, *promoted(*operands))


def vdot(a: TensorLike, b: TensorLike) -> tf.Tensor:
    """The sum of products of all elements, those of a conjugated.

    Args:
      a: an array, which is flattened.
      b: the other one, of as many elements, which is flattened too.

    Returns:
      A scalar of their common dtype.

    Raises:
      ShapeError: if they have different numbers of elements, neither of them one.

    >>> tf.experimental.numpy.vdot([1, 2], [3, 4]).numpy()
    np.int64(11)
    """
    x, y = [tf.reshape(v, [-1]) for v in promoted(a, b)]
    return tf.reduce_sum((tf.math.conj(x) if x.dtype.is_complex else x) * y)


def kron(a: TensorLike, b: TensorLike) -> tf.Tensor:
    """Blocks of b, each times an element of a.

    Args:
      a: an array, number or (nested) list.
      b: the blocks. The one with fewer axes gets new ones in front.

    Returns:
      A tensor of their common dtype; the size of each axis is the product of both sizes.

    >>> tf.experimental.numpy.kron([1, 10], [1, 2, 3]).numpy()
    array([ 1,  2,  3, 10, 20, 30])
    """
    x, y = promoted(a, b)
    rank = max(x.ndim, y.ndim)
    x, y = [v[(None,) * (rank - v.ndim)] for v in (x, y)]
    sizes = [tf.shape(x), tf.shape(y)]
    for axis in range(rank):
        x, y = tf.expand_dims(x, 2 * axis + 1), tf.expand_dims(y, 2 * axis)
    return tf.reshape(x * y, sizes[0] * sizes[1])


def cross(
    a: TensorLike,
    b: TensorLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> tf.Tensor:
    """The vector perpendicular to two of three elements; a number for two of two elements.

    Args:
      a: vectors of two or three elements along an axis.
      b: the others, which broadcast with those of `a`.
      axisa: the axis of the vectors in `a`.
      axisb: the axis of the vectors in `b`.
      axisc: the axis of the vectors in the result; without effect if these are numbers.
      axis: if it is given, stands for all three of them.

    Returns:
      A tensor of the common shape and dtype, without the axis if both have vectors of two elements.

    Raises:
      ValueError: if vectors have another number of elements, or there is no such axis.

    >>> tf.experimental.numpy.cross([1, 0, 0], [0, 1, 0]).numpy()
    array([0, 0, 1])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = promoted(a, b)
    x, y = shapes.moveaxis(x, axisa, -1), shapes.moveaxis(y, axisb, -1)
    sizes = x.shape[-1], y.shape[-1]
    if any(size not in (2, 3) for size in sizes):
        raise ValueError(f"cross: vectors must have 2 or 3 elements, got {sizes}.")
    if sizes == (2, 2):
        return x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    x, y = joining.broadcast_arrays(_in_space(x), _in_space(y))
    return shapes.moveaxis(tf.linalg.cross(x, y), -1, axisc)


def _in_space(x: tf.Tensor) -> tf.Tensor:
    """Vectors of two elements with a third, which is 0."""
    if x.shape[-1] == 3:
        return x
    return tf.concat([x, tf.zeros_like(x[..., :1])], -1)
