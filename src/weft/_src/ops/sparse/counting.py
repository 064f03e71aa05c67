"""How often numbers occur, as a sparse tensor of the counts."""

from __future__ import annotations

from weft._src.core.aliases import AxisLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INDEX, int32, int64
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops.arrays import fill, joining, ranges, shape as shapes, tiling
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import masks
from weft._src.ops.ragged import rows
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.reduce import counting, unsorted_segments as segments
from weft._src.ops.sparse import places
from weft._src.ops.sparse.tensor import SparseTensor


def bincount(
    values: TensorLike,
    weights: TensorLike | None = None,
    axis: AxisLike = 0,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """How often each of 0, 1, 2, ... occurs (or the sum of the weights where it does).

    With `axis=-1` each row is counted apart. Numbers that do not occur have no element.

    Args:
      values: int32 or int64, not negative: a vector or matrix, a `tf.SparseTensor` or a ragged
        matrix.
      weights: a weight for each of them, of the same kind; None means 1.
      axis: None or 0 count all elements, -1 each row.
      minlength: how many numbers the shape has at least; None means no limit.
      maxlength: how many at most; larger numbers are not counted. None means no limit.
      binary_output: whether the result is 1 for each number that occurs; not with weights.

    Returns:
      A `tf.SparseTensor` of rank 1, or 2 with `axis=-1`, of the dtype of the values or weights.

    Raises:
      ValueError: if `axis` is another one, `binary_output` comes with weights, or the weights are
        of another kind than the values.
      DTypeError: if the values have another dtype.
      ShapeError: if the rank is another one.
      InvalidArgumentError: if a value or a length is negative, or the weights of sparse or ragged
        values are at other places.

    >>> found = tf.sparse.bincount([[1, 1, 3], [0, 2, 2]], axis=-1)
    >>> found.indices.numpy().tolist(), found.values.numpy().tolist()
    ([[0, 1], [0, 3], [1, 0], [1, 2]], [2, 1, 1, 2])
    """
    op = "sparse.bincount"
    at = 0 if axis is None else joining.single_axis(op, axis)
    if at not in (0, -1):
        raise ValueError(f"{op}: axis must be None, 0 or -1, got {axis!r}.")
    if binary_output and weights is not None:
        raise ValueError(f"{op}: binary_output and weights exclude each other; leave one out.")
    flat, row_of, count = _rows(op, values, "values")
    if flat.dtype not in INDEX:
        raise DTypeError(f"{op}: values must be int32 or int64, got {flat.dtype.name}.")
    require(lambda v: v >= 0, [flat], f"{op}: values must not be negative", ("values",))
    amounts = fill.ones_like(flat) if weights is None else _weights(op, weights, values, flat)
    size = casting.cast(counting.number_of_bins(flat, minlength, maxlength), int64)
    text = f"{op}: minlength and maxlength must not be negative"
    require(lambda n: n >= 0, [size], text, ("length",))
    inside = casting.cast(flat, int64) < size
    numbers = casting.cast(masks.boolean_mask(flat, inside), int64)
    amounts = masks.boolean_mask(amounts, inside)
    if at == 0 or row_of is None or count is None:
        indices, shape = shapes.expand_dims(numbers, 1), shapes.expand_dims(size, 0)
    else:
        indices = joining.stack([masks.boolean_mask(row_of, inside), numbers], axis=1)
        shape = joining.stack([count, size])
    every = SparseTensor._of(indices, amounts, shape)
    return places.merged(
        every, segments.unsorted_segment_max if binary_output else segments.unsorted_segment_sum
    )


def _rows(op: str, value: TensorLike, name: str) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """All numbers, the rows they are in, and how many rows there are (None for a vector)."""
    if isinstance(value, RaggedTensor):
        if value.shape.rank != 2:
            raise ShapeError(f"{op}: ragged {name} must have rank 2, got {value.shape}.")
        splits = casting.cast(value.row_splits, int64)
        return value.flat_values, rows.rowids(splits), value.nrows(int64)
    if isinstance(value, SparseTensor):
        if value.shape.rank != 2:
            return value.values, None, None
        return value.values, value.indices[:, 0], value.dense_shape[0]
    x = convert_to_tensor(value, dtype_hint=int32)
    if x.shape.rank not in (1, 2):
        raise ShapeError(f"{op}: {name} must have rank 1 or 2, got shape {x.shape}.")
    flat = shapes.reshape(x, [-1])
    if x.shape.rank == 1:
        return flat, None, None
    sizes = shapes.shape_op(x, out_type=int64)
    return flat, tiling.repeat(ranges.range(sizes[0], dtype=int64), sizes[1]), sizes[0]


def _weights(op: str, value: TensorLike, values: TensorLike, flat: Tensor) -> Tensor:
    """The weight of each number, which must be where the number is."""
    found, *_ = _rows(op, value, "weights")
    for kind in (SparseTensor, RaggedTensor):
        if isinstance(values, kind) != isinstance(value, kind):
            raise ValueError(
                f"{op}: values and weights must be of one kind, both a tf.{kind.__name__} or none."
            )
    if isinstance(values, SparseTensor) and isinstance(value, SparseTensor):
        places.check_same(op, values, value, "values and weights")
    elif isinstance(values, RaggedTensor) and isinstance(value, RaggedTensor):
        rows.check_same(values.row_splits, value.row_splits, op)
    else:
        text = f"{op}: each of values must have a weight"
        both = [shapes.size(found), shapes.size(flat)]
        require(comparison.equal, both, text, ("weights", "values"))
    return found
