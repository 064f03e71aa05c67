"""`tf.gather` and `tf.gather_nd` where the tensor, the indices, or both are ragged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.dtypes import int64
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops import rules
from weft._src.ops.arrays import fill, joining, shape as shapes
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering
from weft._src.ops.ragged import dense, indexing, rows
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.registry import Op


def gather(op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Any:
    """Slices along any axis, the first ones going together in both (`batch_dims`)."""
    params, indices = inputs
    ranks = params.shape.rank, indices.shape.rank
    if None in ranks:
        raise ValueError("gather: the rank of a RaggedTensor must be known while tracing.")
    batch = attrs["batch_dims"] + (ranks[1] if attrs["batch_dims"] < 0 else 0)
    axis = batch if attrs["axis"] is None else attrs["axis"]
    axis = rules.normalize_axis("gather", axis, ranks[0])
    if not 0 <= batch <= axis or batch >= ranks[1] + (not batch):
        raise ShapeError(
            f"gather: batch_dims {attrs['batch_dims']} must be at most axis ({axis}) and below "
            f"the rank of indices ({ranks[1]})."
        )
    return _gather(params, indices, axis, batch)


def _gather(params: Any, indices: Any, axis: int, batch: int) -> Any:
    if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
        return gathering.gather(params, indices, axis=axis, batch_dims=batch)
    if batch:
        return _gather_batches(_ragged(params), _ragged(indices), axis, batch)
    if axis == 0:
        return _gather_rows(params, indices)
    if not isinstance(params, RaggedTensor):
        params = _ragged(params)
    if axis > 1:
        return params.with_values(_gather(params.values, indices, axis - 1, 0))
    # The same indices for every row.
    if isinstance(indices, RaggedTensor):
        return _gather_batches(params, _repeated(indices, params.nrows()), 1, 1)
    shape = shapes.shape_op(indices, out_type=params.row_splits.dtype)
    count = shapes.expand_dims(params.nrows(), 0)
    every = shapes.broadcast_to(indices, joining.concat([count, shape], 0))
    if indices.shape.rank == 0:
        return _gather_batches(params, _ragged(shapes.expand_dims(every, 1)), 1, 1).values
    return _gather_batches(params, _ragged(every), 1, 1)


def _repeated(x: RaggedTensor, times: Tensor) -> RaggedTensor:
    """A ragged tensor whose rows are all x."""
    splits = joining.concat([[0], shapes.expand_dims(x.nrows(), 0)], 0)
    once = RaggedTensor.from_row_splits(x, splits, validate=False)
    return indexing.gather_rows(once, fill.zeros(shapes.expand_dims(times, 0), int64))


def _gather_rows(params: Any, indices: Any) -> Any:
    """Rows by number; the result has the form of the indices."""
    if isinstance(indices, RaggedTensor):
        return indices.with_values(_gather_rows(params, indices.values))
    if not isinstance(params, RaggedTensor):
        return gathering.gather(params, indices)
    if indices.shape.rank == 0:
        return params[indices]
    if indices.shape.rank > 1:
        return _gather_rows(
            params, dense.from_tensor(indices, None, None, 1, params.row_splits.dtype)
        )
    # As in TensorFlow, where `gather` gives rows of any length.
    return indexing.gather_rows(params, indices, uniform=False)


def _gather_batches(params: RaggedTensor, indices: RaggedTensor, axis: int, batch: int) -> Any:
    """Row i of the indices picks from row i of the tensor."""
    if axis > 1 and batch == 1:
        # Each value of a row is picked from with the indices of that row.
        each = indexing.gather_rows(indices, rows.rowids(params.row_splits))
        return params.with_values(_gather_batches(_ragged(params.values), each, axis - 1, 1))
    if batch > 1:
        rows.check_same(params.row_splits, indices.row_splits, "gather")
        return indices.with_values(_gather(params.values, indices.values, axis - 1, batch - 1))
    rows.check_count(params.row_splits, indices.row_splits, "gather")
    splits = casting.cast(params.row_splits, indices.row_splits.dtype)
    ids = rows.rowids(indices.row_splits)
    start, size = gathering.gather(splits, ids), gathering.gather(rows.lengths(splits), ids)
    picked = _places(indices.values, start, size)
    return indices.with_values(_gather_rows(params.values, picked))


def _places(indices: TensorLike, start: Tensor, size: Tensor) -> Any:
    """Numbers within rows as numbers among all values."""
    if isinstance(indices, RaggedTensor):
        ids = rows.rowids(indices.row_splits)
        start, size = gathering.gather(start, ids), gathering.gather(size, ids)
        return indices.with_values(_places(indices.values, start, size))
    found = casting.cast(indices, start.dtype)
    for _ in range(found.ndim - 1):
        start, size = shapes.expand_dims(start, -1), shapes.expand_dims(size, -1)
    _check_inside("gather", found, size)
    return found + start


def _check_inside(what: str, index: Tensor, size: Tensor) -> None:
    text = f"{what}: an index must lie within the row of the RaggedTensor it belongs to"
    require(
        lambda i, n: comparison.logical_and(i >= 0, i < n),
        [index, size],
        text,
        ("indices", "lengths of the rows"),
    )


def _ragged(x: TensorLike) -> RaggedTensor:
    return x if isinstance(x, RaggedTensor) else dense.from_tensor(x, None, None, 1, int64)


def gather_nd(op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Any:
    """Elements or rows by their indices, which lie along the last axis."""
    params, indices = inputs
    if attrs["batch_dims"]:
        raise ShapeError("gather_nd: a RaggedTensor has no batch_dims here; use tf.gather.")
    if isinstance(indices, RaggedTensor):
        if indices.flat_values.shape.rank == 1:
            raise ShapeError(
                "gather_nd: the last axis of indices must not be ragged, got shape "
                f"{indices.shape}."
            )
        flat = gathering.gather_nd(params, indices.flat_values)
        return indices.with_flat_values(flat)
    width = None if not indices.shape.rank else indices.shape[-1]
    if not width:
        raise ShapeError(
            "gather_nd: the size of the last axis of indices must be at least 1, and known while "
            f"tracing; got shape {indices.shape}."
        )
    return _element(params, casting.cast(indices, params.row_splits.dtype), width)


def _element(params: Any, indices: Tensor, width: int) -> Any:
    """The first number names a row, the next a place in it, and so on."""
    place = indices[..., 0]
    _check_inside("gather_nd", place, params.nrows())
    values = params
    for column in range(1, width):
        if not isinstance(values, RaggedTensor):
            rest = joining.concat([shapes.expand_dims(place, -1), indices[..., column:]], -1)
            return gathering.gather_nd(values, rest)
        inner, splits = indices[..., column], values.row_splits
        _check_inside("gather_nd", inner, gathering.gather(rows.lengths(splits), place))
        place = gathering.gather(splits, place) + inner
        values = values.values
    return _gather_rows(values, place)
