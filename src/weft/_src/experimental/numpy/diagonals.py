"""Diagonals and triangles of matrices."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.experimental.numpy import reductions, shapes
from weft._src.experimental.numpy.promotion import as_dtype, asarray, whole


def diag(v: TensorLike, k: int = 0) -> tf.Tensor:
    """A matrix with a diagonal, or the diagonal of a matrix.

    Args:
      v: a vector, or a matrix.
      k: which diagonal: 0 is the main one, positive ones lie above it, negative ones below.

    Returns:
      Of a vector of n elements, a matrix of n + |k| rows and columns; of a matrix, a vector.

    Raises:
      ValueError: if `v` has another number of axes.

    >>> tf.experimental.numpy.diag([1, 2]).numpy()
    array([[1, 0],
           [0, 2]])
    """
    x = asarray(v)
    if x.ndim not in (1, 2):
        raise ValueError(f"diag: v must have one or two axes, got shape {x.shape}.")
    return tf.linalg.diag(x, k=k) if x.ndim == 1 else diagonal(x, k)


def tril(m: TensorLike, k: int = 0) -> tf.Tensor:
    """The matrix with zeros above a diagonal.

    Args:
      m: a matrix, or an array of matrices in its last two axes.
      k: the last diagonal that is kept: 0 is the main one, positive ones lie above it.

    Returns:
      A tensor of the shape and dtype of `m`.

    Raises:
      ValueError: if `m` has fewer than two axes.

    >>> tf.experimental.numpy.tril([[1, 2], [3, 4]]).numpy()
    array([[1, 0],
           [3, 4]])
    """
    x = asarray(m)
    return tf.where(_below(x, k), x, tf.zeros([], x.dtype))


def triu(m: TensorLike, k: int = 0) -> tf.Tensor:
    """The matrix with zeros below a diagonal.

    Args:
      m: a matrix, or an array of matrices in its last two axes.
      k: the first diagonal that is kept: 0 is the main one, positive ones lie above it.

    Returns:
      A tensor of the shape and dtype of `m`.

    Raises:
      ValueError: if `m` has fewer than two axes.

    >>> tf.experimental.numpy.triu([[1, 2], [3, 4]]).numpy()
    array([[1, 2],
           [0, 4]])
    """
    x = asarray(m)
    return tf.where(_below(x, k - 1), tf.zeros([], x.dtype), x)


def _below(x: tf.Tensor, k: int) -> tf.Tensor:
    """Where a matrix has its elements on and below a diagonal."""
    if x.ndim is not None and x.ndim < 2:
        raise ValueError(f"tril, triu: m must have at least two axes, got shape {x.shape}.")
    sizes = tf.shape(x)
    return tri(sizes[-2], sizes[-1], k, tf.bool)


def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = float) -> tf.Tensor:
    """Ones on a diagonal, zeros elsewhere.

    Args:
      N: the number of rows.
      M: the number of columns; None is as many as rows.
      k: which diagonal: 0 is the main one, positive ones lie above it, negative ones below.
      dtype: the dtype, float64 if it is left out.

    Returns:
      A tensor of shape `[N, M]`.

    Raises:
      ShapeError: if a size is negative.

    >>> tf.experimental.numpy.eye(2).numpy()
    array([[1., 0.],
           [0., 1.]])
    """
    rows, columns = tf.range(N), tf.range(N if M is None else M)
    return tf.cast(tf.equal(columns[None], rows[:, None] + k), as_dtype(dtype))


def identity(n: int, dtype: DTypeLike = float) -> tf.Tensor:
    """The identity matrix.

    Args:
      n: the number of rows and columns.
      dtype: the dtype, float64 if it is left out.

    Returns:
      A tensor of shape `[n, n]`.

    Raises:
      ShapeError: if `n` is negative.

    >>> tf.experimental.numpy.identity(1).numpy()
    array([[1.]])
    """
    return eye(n, dtype=dtype)


def tri(
    N: TensorLike, M: TensorLike | None = None, k: int = 0, dtype: DTypeLike | None = None
) -> tf.Tensor:
    """Ones on and below a diagonal, zeros above it.

    Args:
      N: the number of rows.
      M: the number of columns; None is as many as rows.
      k: the last diagonal with ones: 0 is the main one, positive ones lie above it.
      dtype: the dtype; None is float64.

    Returns:
      A tensor of shape `[N, M]`.

    Raises:
      ShapeError: if a size is negative.

    >>> tf.experimental.numpy.tri(2, 3).numpy()
    array([[1., 0., 0.],
           [1., 1., 0.]])
    """
    rows, columns = tf.range(N), tf.range(N if M is None else M)
    return tf.cast(columns[None] <= rows[:, None] + k, as_dtype(float if dtype is None else dtype))


def diagflat(v: TensorLike, k: int = 0) -> tf.Tensor:
    """A matrix with all elements on a diagonal.

    Args:
      v: an array of any shape; its elements are taken in order.
      k: which diagonal: 0 is the main one, positive ones lie above it, negative ones below.

    Returns:
      A tensor with n + |k| rows and columns, where `v` has n elements.

    >>> tf.experimental.numpy.diagflat([[1, 2]], 1).numpy()
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]])
    """
    return diag(tf.reshape(asarray(v), [-1]), k)


def diag_indices(n: int, ndim: int = 2) -> tuple[tf.Tensor, ...]:
    """The indices of the main diagonal of an array with `ndim` axes of size n.

    Args:
      n: the size of each axis.
      ndim: the number of axes.

    Returns:
      A tuple of `ndim` equal int64 vectors, 0 to n - 1.

    Raises:
      ValueError: if `ndim` is not between 1 and 64.

    >>> [index.numpy().tolist() for index in tf.experimental.numpy.diag_indices(2)]
    [[0, 1], [0, 1]]
    """
    count = whole("diag_indices", "ndim", ndim, 1, 64)
    return (tf.range(n, dtype=tf.int64),) * count


def diagonal(a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> tf.Tensor:
    """The elements whose indices along two axes differ by `offset`, along a new last axis.

    Args:
      a: an array with at least two axes.
      offset: which diagonal: 0 is the main one, positive ones lie above it, negative ones below.
      axis1: the axis of the rows.
      axis2: the axis of the columns.

    Returns:
      A tensor of the other axes and the diagonal as the last one.

    Raises:
      ValueError: if `a` has fewer than two axes, or the two axes do not exist or are the same.

    >>> tf.experimental.numpy.diagonal([[1, 2], [3, 4]], 1).numpy()
    array([2])
    """
    x = moved_back("diagonal", asarray(a), axis1, axis2)
    height, width = tf.shape(x)[-2], tf.shape(x)[-1]
    # Rows from where the diagonal begins, as many as it has elements.
    count = tf.maximum(tf.minimum(height + min(offset, 0), width - max(offset, 0)), 0)
    rows = x[..., -min(offset, 0) : count - min(offset, 0), :]
    return tf.linalg.diag_part(rows[..., max(offset, 0) : max(offset, 0) + count])


def moved_back(name: str, x: tf.Tensor, axis1: int, axis2: int) -> tf.Tensor:
    """The tensor with two axes as its last ones."""
    rank = x.ndim
    if rank is None or rank < 2:
        raise ValueError(f"{name}: a must have at least two axes, got shape {x.shape}.")
    pair = [shapes.axis_of(name, axis, x) for axis in (axis1, axis2)]
    if pair[0] == pair[1]:
        raise ValueError(f"{name}: axis1 and axis2 must differ, got {axis1} and {axis2}.")
    return tf.transpose(x, [i for i in range(rank) if i not in pair] + pair)


def trace(
    a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None
) -> tf.Tensor:
    """The sum along a diagonal.

    Args:
      a: an array with at least two axes.
      offset: which diagonal: 0 is the main one, positive ones lie above it, negative ones below.
      axis1: the axis of the rows.
      axis2: the axis of the columns.
      dtype: the dtype of the sum; None is that of `a`, int64 or uint64 for narrower integers and
        bools.

    Returns:
      A tensor of the other axes; a scalar for a matrix.

    Raises:
      ValueError: if `a` has fewer than two axes, or the two axes do not exist or are the same.

    >>> tf.experimental.numpy.trace([[1, 2], [3, 4]]).numpy()
    np.int64(5)
    """
    return reductions.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


def vander(x: TensorLike, N: int | None = None, increasing: bool = False) -> tf.Tensor:
    """The powers of each number, in rows; the highest first, unless `increasing`.

    Args:
      x: a vector.
      N: the number of columns; None is as many as `x` has elements.
      increasing: whether the powers go from 0 up.

    Returns:
      A tensor of shape `[len(x), N]` of the dtype of `x`.

    Raises:
      ValueError: if `x` is no vector, or `N` is negative.
      TypeError: if `N` is no integer.

    >>> tf.experimental.numpy.vander([2, 3], 3).numpy()
    array([[4, 2, 1],
           [9, 3, 1]])
    """
    vector = asarray(x)
    if vector.ndim != 1:
        raise ValueError(f"vander: x must be a vector, got shape {vector.shape}.")
    count: Any = tf.shape(vector)[0] if N is None else whole("vander", "N", N, 0, 2**31 - 1)
    powers = tf.range(count) if increasing else tf.range(count - 1, -1, -1)
    return tf.pow(vector[:, None], tf.cast(powers, vector.dtype))
