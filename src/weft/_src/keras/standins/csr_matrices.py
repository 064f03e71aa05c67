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
    """The product of two matrices; entries that add up to nothing stay."""
    left, right = a.tensor, tf.sparse.reorder(b.tensor)
    inner = left.indices[:, -1]
    rows = right.indices[:, 0]
    # Entry i of the left matrix meets the entries first[i] to last[i] of the right one.
    first = tf.searchsorted(rows, inner, side="left")
    last = tf.searchsorted(rows, inner, side="right")
    count = last - first
    mine = tf.repeat(tf.range(tf.size(count)), count)
    begin = tf.cumsum(count, exclusive=True)
    theirs = tf.range(tf.size(mine)) - tf.gather(begin - first, mine)
    values = tf.gather(left.values, mine) * tf.gather(right.values, theirs)
    row = tf.gather(left.indices[:, 0], mine)
    column = tf.gather(right.indices[:, 1], theirs)
    shape = tf.stack([left.dense_shape[0], right.dense_shape[1]])
    places, segment = tf.unique(row * shape[1] + column)
    summed = tf.math.unsorted_segment_sum(values, segment, tf.size(places))
    indices = tf.stack([places // shape[1], places % shape[1]], axis=1)
    return _Matrix(tf.sparse.reorder(tf.SparseTensor(indices, summed, shape)))
