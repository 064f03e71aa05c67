"""Joining ragged tensors along their axes, and new axes of size one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core import dtypes
from weft._src.core.aliases import AxisLike, TensorLike
from weft._src.core.convert import convert_to_tensor, items_of
from weft._src.errors import ShapeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import fill, joining, ranges, shape as shapes
from weft._src.ops.elementwise import comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.ragged import dense, indexing, rows
from weft._src.ops.ragged.tensor import RaggedTensor


def expand_dims(x: Any, axis: int) -> RaggedTensor:
    """A ragged tensor with a new axis of size one."""
    rank = x.shape.rank
    at = axis if rank is None else rules.normalize_axis("expand_dims", axis, rank + 1)
    splits = x.row_splits
    if at < 0:
        raise ValueError("expand_dims: a negative axis needs a rank that is known while tracing.")
    if at == 0:
        count = x.nrows()
        known = x.shape[0] if rank is not None else None
        length = count if known is None else known
        return RaggedTensor._of(x, joining.stack([fill.zeros([], splits.dtype), count]), length)
    if at == 1:
        return RaggedTensor._of(x, ranges.range(x.nrows() + 1, dtype=splits.dtype), 1)
    return x.with_values(shapes.expand_dims(x.values, at - 1))


def concat(parts: Sequence[Any], axis: int) -> Any:
    """Ragged tensors (and tensors) joined along an axis they all have."""
    rank = next((p.shape.rank for p in parts if p.shape.rank is not None), None)
    if rank is None:
        raise ValueError("concat: the rank of a RaggedTensor must be known while tracing.")
    at = rules.normalize_axis("concat", axis, rank)
    for part in parts:
        if part.shape.rank not in (None, rank):
            raise ShapeError(
                f"concat: all values must have one rank, got shapes {parts[0].shape} and "
                f"{part.shape}."
            )
    return _concat(_equally_ragged(parts), at)


def _equally_ragged(parts: Sequence[Any]) -> list[RaggedTensor]:
    """All parts with the same number of ragged axes and one dtype of row splits."""
    ragged = [p for p in parts if isinstance(p, RaggedTensor)]
    rank = max(p.ragged_rank for p in ragged)
    narrow = all(p.row_splits.dtype is dtypes.int32 for p in ragged)
    dtype = dtypes.int32 if narrow else dtypes.int64
    return [_with_ragged_rank(p, rank, dtype) for p in parts]


def _with_ragged_rank(x: TensorLike, rank: int, dtype: dtypes.DType) -> RaggedTensor:
    if not isinstance(x, RaggedTensor):
        return dense.from_tensor(x, None, None, rank, dtype)
    if rank > x.ragged_rank:
        x = x.with_values(_with_ragged_rank(x.values, rank - 1, dtype))
    return x.with_row_splits_dtype(dtype)


def _concat(parts: Sequence[Any], axis: int) -> Any:
    if not isinstance(parts[0], RaggedTensor):
        return joining.concat(list(parts), axis)
    if axis == 0:
        lengths = joining.concat([rows.lengths(p.row_splits) for p in parts], 0)
        return RaggedTensor._of(_concat([p.values for p in parts], 0), rows.from_lengths(lengths))
    if axis == 1:
        return _joined_rows(parts)
    first = parts[0]
    for other in parts[1:]:
        rows.check_same(first.row_splits, other.row_splits, "concat")
    return first.with_values(_concat([p.values for p in parts], axis - 1))


def _joined_rows(parts: Sequence[RaggedTensor]) -> RaggedTensor:
    """Row i is row i of each part, one after the other."""
    first = parts[0].row_splits
    count = rows.count(first, first.dtype) - 1
    for other in parts[1:]:
        text = "concat: the ragged tensors must have equally many rows"
        names = ("rows", "rows")
        total = rows.count(other.row_splits, first.dtype) - 1
        require(comparison.equal, [count, total], text, names)
    n = len(parts)
    every = _concat(parts, 0)
    order = shapes.expand_dims(ranges.range(count, dtype=first.dtype), 1)
    order = order + ranges.range(n, dtype=first.dtype) * count
    mixed = indexing.gather_rows(every, shapes.reshape(order, [-1]))
    return RaggedTensor._of(mixed.values, mixed.row_splits[::n])


def stack(values: TensorLike, axis: AxisLike = 0, name: str | None = None) -> Any:
    """Tensors and ragged tensors joined along a new axis; their rows may differ in number.

    Args:
      values: a list of tensors and ragged tensors of one rank and dtype.
      axis: where the new axis is in the result; counted from the end if negative.

    Returns:
      A `tf.RaggedTensor`; a tensor if the values are scalars, or all are tensors and the new axis
      is the last.

    Raises:
      ValueError: if there are no values.
      ShapeError: if the ranks differ or are unknown, or there is no such axis.

    >>> tf.ragged.stack([[1, 2], [3, 4, 5]]).to_list()
    [[1, 2], [3, 4, 5]]
    """
    parts = [
        x if isinstance(x, RaggedTensor) else convert_to_tensor(x)
        for x in items_of("ragged.stack", values, "values")
    ]
    if not parts:
        raise ValueError("ragged.stack: at least one tensor is needed, got none.")
    at = static.static_int("ragged.stack", axis, "axis")
    ranks = {p.shape.rank for p in parts}
    if len(ranks) != 1 or None in ranks:
        raise ShapeError(
            f"ragged.stack: values must have one known rank, got {sorted(map(str, ranks))}."
        )
    (rank,) = ranks
    at = rules.normalize_axis("ragged.stack", at, rank + 1)  # type: ignore[operator]
    if rank == 0:
        return joining.stack(parts)
    if rank == 1 and at == 0:
        return _rows_of(parts)
    if at == rank and not any(isinstance(p, RaggedTensor) for p in parts):
        return joining.stack(parts, at)
    ragged = [_ragged(p) for p in parts]
    return concat([expand_dims(p, at) for p in ragged], at)


def _ragged(x: TensorLike) -> RaggedTensor:
    return x if isinstance(x, RaggedTensor) else dense.from_tensor(x, None, None, 1, dtypes.int64)


def _rows_of(vectors: Sequence[Any]) -> RaggedTensor:
    lengths = [shapes.size(v) for v in vectors]
    splits = rows.from_lengths(joining.stack(lengths))
    return RaggedTensor._of(joining.concat(list(vectors), 0), splits)
