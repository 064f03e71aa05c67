"""`tensorflow.python.ops.linalg.sparse.sparse_csr_matrix_ops`: products of two sparse matrices.

Keras turns both into rows, multiplies, and turns the result back; here a matrix stays what it is
until the product, which is one gather over pairs of entries that meet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import weft as tf


class _Matrix(NamedTuple):
    tensor: Any


class _Entries(NamedTuple):
    indices: Any
    values: Any
    dense_shape: Any


def sparse_tensor_to_csr_sparse_matrix(indices: Any, values: Any, dense_shape: Any) -> _Matrix:
    """A matrix out of the parts of a sparse tensor."""
    return _Matrix(tf.SparseTensor(indices, values, dense_shape))


def csr_sparse_matrix_to_sparse_tensor(matrix: _Matrix, type: Any) -> _Entries:
    """The parts of a sparse tensor out of a matrix."""
    found = matrix.tensor
    return _Entries(found.indices, found.values, found.dense_shape)


def sparse_matrix_sparse_mat_mul(a: _Matrix, b: _Matrix, type: Any, **_: Any) -> _Matrix:
    """The product of two matrices, or of two batches; entries that add up to nothing stay."""
    left, right = a.tensor, tf.sparse.reorder(b.tensor)
    inner = right.dense_shape[-2]
    # Where the entries of a row lie, the batch included; the right ones are sorted by that.
    wanted = _batch(left) * inner + left.indices[:, -1]
    rows = _batch(right) * inner + right.indices[:, -2]
    # Entry i of the left matrix meets the entries first[i] to last[i] of the right one.
    first = tf.searchsorted(rows, wanted, side="left")
    last = tf.searchsorted(rows, wanted, side="right")
    count = last - first
    mine = tf.repeat(tf.range(tf.size(count)), count)
    begin = tf.cumsum(count, exclusive=True)
    theirs = tf.range(tf.size(mine)) - tf.gather(begin - first, mine)
    values = tf.gather(left.values, mine) * tf.gather(right.values, theirs)
    shape = tf.concat([left.dense_shape[:-1], right.dense_shape[-1:]], 0)
    ends = tf.gather(left.indices[:, :-1], mine)
    indices = tf.concat([ends, tf.gather(right.indices[:, -1:], theirs)], 1)
    # The same place may have got several products.
    sizes = tf.math.cumprod(shape, exclusive=True, reverse=True)
    places, segment = tf.unique(tf.reduce_sum(indices * sizes, 1))
    summed = tf.math.unsorted_segment_sum(values, segment, tf.size(places))
    found = tf.transpose(tf.unravel_index(places, shape))
    return _Matrix(tf.sparse.reorder(tf.SparseTensor(found, summed, shape)))


def _batch(matrix: Any) -> Any:
    """The number of the matrix that each entry belongs to."""
    if matrix.shape.rank == 2:
        return tf.zeros_like(matrix.indices[:, 0])
    return matrix.indices[:, 0]
