"""From ragged tensors to sparse ones and back."""

from __future__ import annotations

from typing import Any

from weft._src.core.dtypes import DType, int64
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops.arrays import joining, ranges
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering
from weft._src.ops.ragged import dense, rows, tensor as ragged
from weft._src.ops.sparse.tensor import SparseTensor, sparse


def to_sparse(rt: ragged.RaggedTensor) -> SparseTensor:
    """The values at the places they have in the tensor that holds all rows."""
    rank = rt.shape.rank
    if rank is None:
        raise ValueError("to_sparse: the rank of the ragged tensor must be known while tracing.")
    full = ragged_throughout(rt.with_row_splits_dtype(int64), rank - 1)
    columns: list[Tensor] = [ranges.range(full.nrows(), dtype=int64)]
    for splits in full.nested_row_splits:
        ids = rows.rowids(splits)
        columns = [gathering.gather(c, ids) for c in columns] + [rows.columns(splits, ids)]
    shape = dense.bounding_shape(full)
    return SparseTensor._of(joining.stack(columns, axis=1), full.flat_values, shape)


def ragged_throughout(rt: ragged.RaggedTensor, rank: int) -> ragged.RaggedTensor:
    """The same with `rank` ragged axes, of which the inner ones have rows of equal lengths."""
    if rt.ragged_rank >= rank:
        return rt
    missing = rank - rt.ragged_rank
    dtype = rt.row_splits.dtype
    return rt.with_flat_values(dense.from_tensor(rt.flat_values, None, None, missing, dtype))


def from_sparse(st_input: Any, row_splits_dtype: DType) -> ragged.RaggedTensor:
    """The rows of a sparse matrix whose elements stand at the beginning of their rows."""
    sp = sparse("from_sparse", st_input, "st_input")
    if sp.shape.rank != 2:
        raise ShapeError(f"from_sparse: st_input must have rank 2, got shape {sp.shape}.")
    ids, places = sp.indices[:, 0], sp.indices[:, 1]
    out = ragged.RaggedTensor.from_value_rowids(sp.values, ids, nrows=sp.dense_shape[0])
    text = "from_sparse: the elements must be in order, at the beginning of their rows"
    expected = rows.columns(out.row_splits, ids)
    require(comparison.equal, [places, expected], text, ("columns", "expected columns"))
    splits = casting.cast(out.row_splits, row_splits_dtype)
    return ragged.RaggedTensor._of(out.values, splits)
