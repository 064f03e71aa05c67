"""Rows of labels: `tf.nn.collapse_repeated`, `tf.nn.ctc_unique_labels`."""

from __future__ import annotations

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import int32, int64
from weft._src.core.tensor import Tensor
from weft._src.ops import rules
from weft._src.ops.arrays import fill, joining, ranges, shape as shapes
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.indexing import gathering, masks, scattering
from weft._src.ops.reduce import extrema, scans, sums


def collapse_repeated(
    labels: TensorLike, seq_length: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Rows of labels with repetitions merged (and 0 behind them), and their new lengths.

    Args:
      labels: a matrix of numbers [batch, most labels].
      seq_length: how many labels of each row count, an integer vector [batch].

    Returns:
      A matrix of the dtype of `labels`, as wide as the longest row, and a vector like `seq_length`.

    Raises:
      ShapeError: if the ranks are others.

    >>> rows, lengths = tf.nn.collapse_repeated([[1, 1, 2, 2, 0]], [5])
    >>> rows.numpy(), lengths.numpy()
    (array([[1, 2, 0]], dtype=int32), array([3], dtype=int32))
    """
    x = convert_to_tensor(labels, dtype_hint=int32)
    rules.check_rank("collapse_repeated", x.spec, 2, name="labels")
    lengths = convert_to_tensor(seq_length, dtype_hint=int32)
    rules.check_rank("collapse_repeated", lengths.spec, 1, name="seq_length")
    is_new = comparison.not_equal(x[:, 1:], x[:, :-1])
    first = fill.ones(shapes.shape(x[:, :1]), is_new.dtype)
    inside = ranges.sequence_mask(lengths, shapes.shape(x)[1])
    kept = comparison.logical_and(joining.concat([first, is_new], 1), inside)
    new_lengths = sums.reduce_sum(casting.cast(kept, lengths.dtype), 1)
    longest = extrema.reduce_max(new_lengths)
    places = masks.where_op(ranges.sequence_mask(new_lengths, longest))
    shape = joining.stack([shapes.shape(x, int64)[0], casting.cast(longest, int64)])
    return scattering.scatter_nd(places, masks.boolean_mask(x, kept), shape), new_lengths


def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The different labels of each row in the order of their first appearance, and their places.

    Args:
      labels: a matrix of whole numbers [batch, most labels].

    Returns:
      An int64 matrix of the same shape, with 0 behind the different labels of each row, and an
      int32 matrix that says for each label which of them it is.

    Raises:
      ShapeError: if `labels` is no matrix.

    >>> unique, places = tf.nn.ctc_unique_labels([[3, 4, 4, 3]])
    >>> unique.numpy(), places.numpy()
    (array([[3, 4, 0, 0]]), array([[0, 1, 1, 0]], dtype=int32))
    """
    x = casting.cast(convert_to_tensor(labels, dtype_hint=int32), int64)
    rules.check_rank("ctc_unique_labels", x.spec, 2, name="labels")
    same = comparison.equal(shapes.expand_dims(x, 2), shapes.expand_dims(x, 1))
    count = shapes.shape(x)[1]
    differs = casting.cast(comparison.logical_not(same), int32)
    first = extrema.reduce_min(ranges.range(count) + differs * count, -1)  # of equal labels
    is_first = comparison.equal(first, ranges.range(count))
    number = scans.cumsum(casting.cast(is_first, int32), 1) - 1
    places = gathering.gather(number, first, batch_dims=1)
    rows = masks.where_op(is_first)
    columns = shapes.expand_dims(casting.cast(masks.boolean_mask(number, is_first), int64), 1)
    at = joining.concat([rows[:, :1], columns], 1)
    kept = masks.boolean_mask(x, is_first)
    return scattering.scatter_nd(at, kept, shapes.shape(x, int64)), places
