"""All combinations of the values in the same row of several tensors, as sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.ops.ragged import crossing
from weft._src.ops.sparse.tensor import SparseTensor
from weft._src.ops.strings.elements import text_argument


def cross(
    inputs: Sequence[Any], name: str | None = None, separator: TensorLike | None = None
) -> SparseTensor:
    """All combinations of values in the same row of matrices, joined with `_X_`.

    Args:
      inputs: a list of matrices with equally many rows: sparse tensors, ragged tensors or tensors,
        of strings, int32 or int64. Integers become texts.
      separator: what stands between the values; None means "_X_".

    Returns:
      A `tf.SparseTensor` of strings; the last matrix changes fastest in a row.

    Raises:
      ValueError: if there are no inputs.
      DTypeError: if an input has another dtype.
      ShapeError: if an input is no matrix.
      InvalidArgumentError: if the numbers of rows differ.

    >>> sp = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2])
    >>> tf.sparse.cross([sp, [["d"], ["e"]]]).values.numpy()
    array([b'a_X_d', b'b_X_e', b'c_X_e'], dtype=object)
    """
    text = "_X_" if separator is None else text_argument("sparse.cross", separator, "separator")
    return crossing.crossed(
        "sparse.cross", inputs, lambda parts: crossing.joined(parts, text)
    ).to_sparse()


def cross_hashed(
    inputs: Sequence[Any],
    num_buckets: TensorLike = 0,
    hash_key: TensorLike | None = None,
    name: str | None = None,
) -> SparseTensor:
    """All combinations of values in the same row of matrices, as hashes below `num_buckets`.

    Args:
      inputs: a list of matrices with equally many rows: sparse tensors, ragged tensors or tensors,
        of strings, int32 or int64.
      num_buckets: a Python integer; 0 means all hashes that int64 can hold.
      hash_key: an integer that the hashes start with; None means the same number as in TensorFlow.

    Returns:
      A `tf.SparseTensor` of int64; the last matrix changes fastest in a row.

    Raises:
      ValueError: if there are no inputs, or `num_buckets` is negative.
      DTypeError: if an input has another dtype.
      ShapeError: if an input is no matrix.
      InvalidArgumentError: if the numbers of rows differ.

    >>> sp = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2])
    >>> tf.sparse.cross_hashed([sp, [["d"], ["e"]]], num_buckets=100).values.numpy()
    array([82, 61, 41])
    """
    op = "sparse.cross_hashed"
    return crossing.crossed(
        op, inputs, lambda parts: crossing.hashed(op, parts, num_buckets, hash_key)
    ).to_sparse()
