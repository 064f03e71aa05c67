"""Rows of tables: one for each id, or several combined, as sparse and ragged ids say."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import int64
from weft._src.core.growing import GrowingList
from weft._src.core.location import called_function
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops.arrays import fill, joining, selection, shape as shapes
from weft._src.ops.elementwise import casting, comparison, guarded, unary
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering
from weft._src.ops.linalg import norms
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.reduce import products, segments
from weft._src.ops.sparse import reshaping
from weft._src.ops.sparse.tensor import SparseTensor, sparse

_COMBINERS = ("mean", "sqrtn", "sum")


def embedding_lookup(
    params: TensorLike, ids: TensorLike, max_norm: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The rows of a table; a list of tables counts as one long one.

    Args:
      params: a tensor or variable of rank 1 or more, or a list of them.
      ids: the numbers of rows, int32 or int64, of any shape; a ragged tensor, too.
      max_norm: the largest Euclidean norm of a row, others are scaled down; None means no limit.

    Returns:
      A tensor of shape [*shape of ids, *shape of a row]; ragged if `ids` is.

    Raises:
      InvalidArgumentError: if there is no such row.
      ShapeError: if `max_norm` is given and a rank is unknown while tracing.

    >>> tf.nn.embedding_lookup([[1.0, 2.0], [3.0, 4.0]], [1, 1]).numpy()
    array([[3., 4.],
           [3., 4.]], dtype=float32)
    """
    if params is None or (isinstance(params, (list, tuple)) and not params):
        raise ValueError(
            f"{called_function()}: params must be a tensor or a list of some, got {params!r}."
        )
    if isinstance(params, GrowingList):
        params = joining.concat(params, 0)
    elif isinstance(params, (list, tuple)) and params and hasattr(params[0], "shape"):
        params = params[0] if len(params) == 1 else joining.concat(params, 0)
    ids = convert_to_tensor(ids)
    if isinstance(ids, RaggedTensor):
        return ids.with_flat_values(embedding_lookup(params, ids.flat_values, max_norm, name))
    rows = gathering.gather(params, ids, name=name)
    if max_norm is None:
        return rows
    if rows.spec.rank is None or ids.spec.rank is None:
        raise ShapeError("embedding_lookup: max_norm needs params and ids of known rank.")
    return norms.clip_by_norm(rows, max_norm, axes=list(range(ids.spec.rank, rows.spec.rank)))


def embedding_lookup_sparse(
    params: TensorLike,
    sp_ids: Any,
    sp_weights: Any,
    combiner: str | None = None,
    max_norm: TensorLike | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """The rows of a table that the ids of each row name, combined.

    Args:
      params: a tensor or variable of rank 1 or more, or a list of them, which counts as one long
        one.
      sp_ids: integers, a `tf.SparseTensor` or a ragged matrix; each row names one group.
      sp_weights: a weight for each id, of the same kind; None means 1.
      combiner: "mean" (which None means, too), "sum", or "sqrtn": the sum divided by the root of
        the sum of squared weights.
      max_norm: the largest Euclidean norm of a row, others are scaled down; None means no limit.
      allow_fast_lookup: accepted for compatibility, ignored.

    Returns:
      A tensor with a row for each row of ids up to the last that has some; those without ids are 0.

    Raises:
      ValueError: if there is no such combiner.
      TypeError: if the ids are not integers.
      InvalidArgumentError: if there is no such row, or an id has no weight.

    >>> ids = tf.ragged.constant([[0, 2], [], [1]])
    >>> tf.nn.embedding_lookup_sparse([[1.0], [2.0], [5.0]], ids, None).numpy()
    array([[3.],
           [0.],
           [2.]], dtype=float32)
    """
    op = "embedding_lookup_sparse"
    how = "mean" if combiner is None else combiner
    if how not in _COMBINERS:
        raise ValueError(f"{op}: combiner must be 'mean', 'sqrtn' or 'sum', got {combiner!r}.")
    ids, rows = _elements(op, sp_ids, "sp_ids")
    if not ids.dtype.is_integer:
        raise TypeError(f"{op}: sp_ids must hold integers, got {ids.dtype.name}.")
    found = embedding_lookup(params, ids, max_norm)
    if sp_weights is None:
        weights = fill.ones(shapes.shape(ids), found.dtype)
    else:
        weights, others = _elements(op, sp_weights, "sp_weights")
        text = f"{op}: each id must have a weight"
        known = [part.shape[0] if part.shape.rank else None for part in (rows, others)]
        if None not in known and known[0] != known[1]:
            raise ShapeError(f"{text}, got {known[0]} ids and {known[1]} weights.")
        sizes = [shapes.size(rows), shapes.size(others)]
        require(comparison.equal, sizes, text, ("sp_ids", "sp_weights"))
        weights = casting.cast(weights, found.dtype)
    for _ in range(_known_rank(op, found) - 1):
        weights = shapes.expand_dims(weights, -1)
    total = segments.segment_sum(found * weights, rows)
    if how == "sum":
        return total
    if how == "mean":
        return guarded.divide_no_nan(total, segments.segment_sum(weights, rows))
    return guarded.divide_no_nan(total, unary.sqrt(segments.segment_sum(weights * weights, rows)))


def _known_rank(op: str, x: Tensor) -> int:
    if x.shape.rank is None:
        raise ValueError(f"{op}: the rank of params must be known while tracing.")
    return x.shape.rank


def _elements(op: str, value: TensorLike, name: str) -> tuple[Tensor, Tensor]:
    """The values of a sparse or ragged matrix, and the row of each."""
    if isinstance(value, RaggedTensor):
        if value.shape.rank != 2:
            raise ShapeError(f"{op}: {name} must be a matrix, got shape {value.shape}.")
        return value.flat_values, value.value_rowids()
    sp = sparse(op, value, name)
    return sp.values, sp.indices[:, 0]


def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: TensorLike | None = None,
    max_norm: TensorLike | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """`embedding_lookup_sparse` for ids that may be negative or missing, of any rank.

    Negative ids, and ids with weights that are not positive, are left out; a row without ids is
    that of `default_id`, or zero.

    Args:
      embedding_weights: the table, a tensor or variable of rank 1 or more.
      sparse_ids: integers, a `tf.SparseTensor` of rank 2 or more; the last axis names one group.
      sparse_weights: a `tf.SparseTensor` with a weight for each id; None means 1.
      combiner: "mean", "sum" or "sqrtn", as for `tf.nn.embedding_lookup_sparse`. With "sum" the
        weights need not be positive.
      default_id: the id of groups without any; None means that these are 0.
      max_norm: the largest Euclidean norm of a row, others are scaled down; None means no limit.
      allow_fast_lookup: accepted for compatibility, ignored.

    Returns:
      A tensor of shape [*shape of sparse_ids without its last axis, *shape of a row].

    Raises:
      TypeError: if the ids are not integers or not sparse.
      ShapeError: if `sparse_ids` has a rank below 2 or unknown, or the table is a scalar.
      InvalidArgumentError: if there is no such row.

    >>> ids = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([0, -1], tf.int64), [2, 2])
    >>> tf.nn.safe_embedding_lookup_sparse(tf.constant([[3.0]]), ids).numpy()
    array([[3.],
           [0.]], dtype=float32)
    """
    op = "safe_embedding_lookup_sparse"
    ids = sparse(op, sparse_ids, "sparse_ids")
    if not ids.dtype.is_integer:
        raise TypeError(f"{op}: sparse_ids must hold integers, got {ids.dtype.name}.")
    table = convert_to_tensor(embedding_weights)
    if table.shape.rank == 0:
        raise ShapeError(f"{op}: embedding_weights must be a table, got a scalar.")
    weights = None if sparse_weights is None else sparse(op, sparse_weights, "sparse_weights")
    if ids.shape.rank is None or ids.shape.rank < 2:
        raise ShapeError(f"{op}: sparse_ids must have a known rank of at least 2, got {ids.shape}.")
    outer = ids.dense_shape[:-1]
    flat = joining.stack([products.reduce_prod(outer), ids.dense_shape[-1]])
    ids = reshaping.reshape(ids, flat)
    kept = ids.values >= 0
    if weights is not None:
        weights = SparseTensor._of(ids.indices, weights.values, ids.dense_shape)
        if combiner != "sum":
            kept = comparison.logical_and(kept, weights.values > 0)
        weights = reshaping.retain(weights, kept)
    ids = reshaping.retain(ids, kept)
    default = 0 if default_id is None else default_id
    ids, is_empty = reshaping.fill_empty_rows(ids, casting.cast(default, ids.dtype))
    if weights is not None:
        weights, _ = reshaping.fill_empty_rows(weights, fill.ones([], weights.dtype))
    out = embedding_lookup_sparse(table, ids, weights, combiner, max_norm)
    if default_id is None:
        empty = is_empty
        for _ in range(_known_rank(op, out) - 1):
            empty = shapes.expand_dims(empty, -1)
        out = selection.where(empty, fill.zeros([], out.dtype), out)
    inner = shapes.shape_op(out, out_type=int64)[1:]
    return shapes.reshape(out, joining.concat([outer, inner], 0))
