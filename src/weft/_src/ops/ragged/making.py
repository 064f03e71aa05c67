"""Ragged tensors out of Python lists, ranges, masks; row splits and segment ids."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import float64, int64, uint64
from weft._src.core.growing import GrowingList
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import rules
from weft._src.ops.arrays import selection, shape as shapes, shape_checks
from weft._src.ops.elementwise import arithmetic, casting, comparison, unary
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering, masks
from weft._src.ops.ragged import dense, reductions, rows
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.reduce import order, sums


def constant(
    pylist: Any,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: ShapeLike | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = int64,
) -> Any:
    """A ragged tensor of nested lists; all their numbers must be nested equally deep.

    Args:
      pylist: nested lists, tuples or arrays of numbers, truth values or strings; no tensors.
      dtype: the dtype of the values; None means what the values suggest.
      ragged_rank: the number of ragged axes; None means all but the first and those of
        `inner_shape`.
      inner_shape: the shape of each value, which is not ragged; None means numbers.
      row_splits_dtype: int32 or int64.

    Returns:
      A `tf.RaggedTensor`; a tensor if no axis is ragged.

    Raises:
      ValueError: if values are not nested equally deep, or `ragged_rank` or the inner values do not
        fit.
      TypeError: if there are tensors in the lists.
      ArgumentError: if `row_splits_dtype` is another dtype.

    >>> tf.ragged.constant([[1, 2], [3]])
    <tf.RaggedTensor [[1, 2], [3]]>
    """
    splits_dtype = rows.splits_dtype(row_splits_dtype)
    try:
        value = _plain(pylist)
    except RecursionError:
        raise ValueError("ragged.constant: pylist contains itself.") from None
    depth, always = _depths(value)
    if inner_shape is not None:
        inner = tuple(TensorShape(inner_shape))
        rank = (depth or 1) - 1 - len(inner) if ragged_rank is None else ragged_rank
    else:
        inner = None
        rank = (
            max((always if depth is None else depth) - 1, 0) if ragged_rank is None else ragged_rank
        )
    if inner is not None and depth is not None and rank + 1 + len(inner) > max(depth, 1):
        raise ValueError(
            f"ragged.constant: lists nested {depth} deep have no room for {rank} ragged axes and "
            f"an inner_shape of {list(inner)}."
        )
    if not isinstance(rank, int) or rank < 0 or (depth is not None and rank >= max(depth, 1)):
        raise ValueError(
            f"ragged.constant: ragged_rank must lie between 0 and {max((depth or 1) - 1, 0)} for "
            f"lists nested {depth} deep, got {ragged_rank!r}."
        )
    splits: list[Any] = []
    while len(splits) < rank:
        lengths = [len(row) for row in value]
        splits.append(np.concatenate([[0], np.cumsum(lengths)]).astype(splits_dtype.numpy_dtype))
        value = [item for row in value for item in row]
    whole = not splits and isinstance(pylist, (np.ndarray, np.generic))
    try:
        values = convert_to_tensor(pylist if whole else value, dtype=dtype)
    except ValueError as e:
        raise ValueError(f"ragged.constant: the inner values must be rectangular. {e}") from None
    if inner is not None:
        values = shapes.reshape(values, (-1, *inner) if rank else inner)
    out: Any = values
    for s in reversed(splits):
        out = RaggedTensor._of(out, convert_to_tensor(s))
    return out


def _plain(value: Any) -> Any:
    """Nested lists, with arrays as lists too."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (Tensor, RaggedTensor, GrowingList)):
        raise TypeError("ragged.constant takes Python lists and arrays; use tf.ragged.stack.")
    return value


def _depths(value: Any) -> tuple[int | None, int]:
    """How deep numbers are nested (None if there are none), and how deep the lists go."""
    if not isinstance(value, list):
        return 0, 0
    found = [_depths(item) for item in value]
    depths = {depth for depth, _ in found if depth is not None}
    lists = 1 + max((depth for _, depth in found), default=0)
    if len(depths) > 1 or (depths and max(depth for _, depth in found) > max(depths)):
        raise ValueError("ragged.constant: all values must be nested equally deep.")
    return (None if not depths else depths.pop() + 1), lists


def range(
    starts: TensorLike,
    limits: TensorLike | None = None,
    deltas: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = int64,
) -> RaggedTensor:
    """Row i holds the numbers from starts[i] to limits[i] (not included), deltas[i] apart.

    Args:
      starts: the first numbers, a scalar or a vector; the limits (and rows start at 0) if `limits`
        is left out.
      limits: the ends; None means that `starts` are.
      deltas: the steps, other than 0.
      dtype: the dtype of the values; None means the widest one of the arguments.
      row_splits_dtype: int32 or int64.

    Returns:
      A `tf.RaggedTensor` with a row for each element of the vectors; rows that lead away from their
      limit are empty.

    Raises:
      DTypeError: if an argument is not real.
      ArgumentError: if `row_splits_dtype` is another dtype.
      ShapeError: if an argument is neither a number nor a vector, or lengths differ.
      InvalidArgumentError: if a step is 0, or a row would have 2**63 numbers or more.

    >>> tf.ragged.range([3, 0, 2]).to_list()
    [[0, 1, 2], [], [0, 1]]
    """
    if limits is None:
        starts, limits = 0, starts
    parts = [convert_to_tensor(x, dtype=dtype) for x in (starts, limits, deltas)]
    for p in parts:
        if not (p.dtype.is_floating or p.dtype.is_integer):
            raise DTypeError(f"ragged.range: arguments must be real, got {p.dtype.name}.")
    wanted = max((p.dtype for p in parts), key=lambda d: (d.is_floating, d.size))
    parts = [casting.cast(p, wanted) for p in parts]
    for p in parts:
        if p.shape.rank not in (0, 1):
            raise ShapeError(f"ragged.range: arguments must be numbers or vectors, got {p.shape}.")
    text = "ragged.range: deltas must not be 0"
    require(lambda d: comparison.not_equal(d, 0), [parts[2]], text, ("deltas",))
    _check_lengths(parts)
    first, second, third = [shapes.shape(shapes.reshape(p, [-1])) for p in parts]
    broadcast = shape_checks.broadcast_dynamic_shape
    size = broadcast(broadcast(first, second), third)
    start, limit, delta = [shapes.broadcast_to(p, size) for p in parts]
    splits_dtype = rows.splits_dtype(row_splits_dtype)
    lengths = casting.cast(_steps_between(start, limit, delta), splits_dtype)
    splits = rows.from_lengths(lengths)
    ids = rows.rowids(splits)
    steps = casting.cast(rows.columns(splits, ids), wanted)
    values = gathering.gather(start, ids) + steps * gathering.gather(delta, ids)
    return RaggedTensor._of(values, splits)


def _check_lengths(parts: list[Tensor]) -> None:
    """ShapeError unless all vectors among the arguments of a range are equally long."""
    vectors = [p for p in parts if p.shape.rank == 1]
    for other in vectors[1:]:
        rules.merge_dims("ragged.range", vectors[0].spec.dims, other.spec.dims, "the vectors")
        sizes = [shapes.shape(vectors[0])[0], shapes.shape(other)[0]]
        text = "ragged.range: vectors must be equally long"
        require(comparison.equal, sizes, text, ("length", "length"))


def _steps_between(start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    """How many steps lead from start to limit, as int64, for spans wider than the dtype, too."""
    text = "ragged.range: a row has too many numbers"
    if start.dtype.is_floating:
        span = casting.cast(limit, float64) - casting.cast(start, float64)
        count = unary.ceil(span / casting.cast(delta, float64))
        require(lambda n: n < 2.0**63, [count], text, ("numbers",))
        return casting.cast(arithmetic.maximum(count, 0), int64)
    start, limit, delta = [casting.cast(p, int64) for p in (start, limit, delta)]
    up = delta > 0
    # Differences of int64 need 64 bits without a sign.
    span = casting.cast(selection.where(up, limit - start, start - limit), uint64)
    step = casting.cast(unary.abs(delta), uint64)
    count = (span - 1) // arithmetic.maximum(step, 1) + 1
    count = selection.where(comparison.equal(up, limit > start), count, 0)
    count = selection.where(comparison.equal(start, limit), casting.cast(0, uint64), count)
    require(lambda n: n < 2**63, [count], text, ("numbers",))
    return casting.cast(count, int64)


def boolean_mask(data: TensorLike, mask: TensorLike, name: str | None = None) -> Any:
    """The values for which the mask holds; rows stay rows.

    Args:
      data: a tensor or ragged tensor, of the rank of `mask` or more.
      mask: bools, a tensor or ragged tensor of rank 1 or more.

    Returns:
      A `tf.RaggedTensor`; for a mask of rank 1 the rows of `data`, of its kind.

    Raises:
      TypeError: if `mask` is not bool.
      ShapeError: if it is a scalar or of unknown rank.
      InvalidArgumentError: if the rows of both have different lengths.

    >>> tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False] * 3]).to_list()
    [[1, 3], []]
    """
    if not isinstance(data, RaggedTensor):
        data = convert_to_tensor(data)
    if not isinstance(mask, RaggedTensor):
        mask = convert_to_tensor(mask, dtype=dtypes.bool_)
    if mask.dtype is not dtypes.bool_:
        raise TypeError(f"ragged.boolean_mask: mask must be bool, got {mask.dtype.name}.")
    rank = mask.shape.rank
    if not rank:
        raise ShapeError(
            f"ragged.boolean_mask: mask must have at least one axis, got {mask.shape}."
        )
    if rank == 1:
        kept = shapes.reshape(masks.where_op(mask), [-1])
        return gathering.gather(data, kept)
    depth = rank - 1
    if isinstance(data, Tensor) and isinstance(mask, Tensor):
        dims = None if data.spec.dims is None else data.spec.dims[:rank]
        rules.merge_dims("ragged.boolean_mask", dims, mask.spec.dims, "data and mask")
    ragged_mask = _ragged(mask, depth)
    ragged_data = _ragged(data, depth)
    for a, b in zip(ragged_mask.nested_row_splits, ragged_data.nested_row_splits, strict=False):
        rows.check_same(casting.cast(a, int64), casting.cast(b, int64), "ragged.boolean_mask")
    return _masked(ragged_data, ragged_mask)


def _ragged(x: TensorLike, rank: int) -> RaggedTensor:
    if not isinstance(x, RaggedTensor):
        return dense.from_tensor(x, None, None, rank, int64)
    return x if x.ragged_rank >= rank else x.with_values(_ragged(x.values, rank - 1))


def _masked(data: RaggedTensor, mask: RaggedTensor) -> RaggedTensor:
    """Values of the innermost masked axis are kept or dropped; rows count what is left."""
    if isinstance(mask.values, RaggedTensor):
        return data.with_values(_masked(data.values, mask.values))
    kept = shapes.reshape(masks.where_op(mask.values), [-1])
    counted: Any = casting.cast(mask, data.row_splits.dtype)  # ragged as the mask is
    left = reductions.reduce(counted, sums.sum_op, (1,), False)
    return RaggedTensor._of(gathering.gather(data.values, kept), rows.from_lengths(left))


def row_splits_to_segment_ids(
    splits: TensorLike, name: str | None = None, out_type: DTypeLike | None = None
) -> Tensor:
    """The number of the row that each value belongs to.

    Args:
      splits: row splits, an int32 or int64 vector that begins with 0 and does not descend.
      out_type: the dtype of the result; None means that of `splits`.

    Returns:
      A vector as long as the last split says.

    Raises:
      ShapeError: if `splits` is no vector, or empty.
      DTypeError: if it has another dtype.

    >>> tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]).numpy()
    array([0, 0, 0, 2, 2])
    """
    found = rows.integers(splits, "splits")
    if found.shape.rank != 1 or found.shape[0] == 0:
        raise ShapeError(f"row_splits_to_segment_ids: splits must be a vector, got {found.shape}.")
    return casting.cast(rows.rowids(found), found.dtype if out_type is None else out_type)


def segment_ids_to_row_splits(
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Where the rows of sorted segment ids begin and end.

    Args:
      segment_ids: an int32 or int64 vector, sorted and not negative.
      num_segments: the number of rows; None means as many as the largest id needs.
      out_type: the dtype of the result; None means that of the ids.

    Returns:
      A vector of one more element than there are rows.

    Raises:
      InvalidArgumentError: if the ids are not sorted, or not below `num_segments`.
      DTypeError: if they have another dtype.

    >>> tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2]).numpy()
    array([0, 3, 3, 5])
    """
    ids = rows.integers(segment_ids, "segment_ids")
    made = RaggedTensor.from_value_rowids(ids, ids, nrows=num_segments)
    return casting.cast(made.row_splits, made.row_splits.dtype if out_type is None else out_type)


def stack_dynamic_partitions(
    data: TensorLike, partitions: TensorLike, num_partitions: TensorLike, name: str | None = None
) -> RaggedTensor:
    """The rows of data dealt out to the rows of a ragged tensor, as `partitions` says.

    Args:
      data: a tensor or ragged tensor; its first axes have the sizes of `partitions`.
      partitions: int32 or int64, a tensor or ragged tensor of rank 1 or more: the row each belongs
        to.
      num_partitions: the number of rows of the result, an integer or integer scalar.

    Returns:
      A `tf.RaggedTensor`; values keep their order within a row.

    Raises:
      DTypeError: if `partitions` has another dtype.
      ShapeError: if one is a scalar.
      InvalidArgumentError: if a number is not in [0, num_partitions), or the sizes differ.

    >>> tf.ragged.stack_dynamic_partitions(["a", "b", "c", "d"], [0, 2, 0, 1], 4).to_list()
    [[b'a', b'c'], [b'd'], [b'b'], []]
    """
    ids = partitions if isinstance(partitions, RaggedTensor) else convert_to_tensor(partitions)
    x = data if isinstance(data, RaggedTensor) else convert_to_tensor(data)
    if ids.dtype not in rows.INTEGERS:
        raise DTypeError(
            f"stack_dynamic_partitions: partitions must be int32 or int64, got {ids.dtype.name}."
        )
    if isinstance(ids, RaggedTensor):
        inner = _ragged(x, ids.ragged_rank)
        for a, b in zip(ids.nested_row_splits, inner.nested_row_splits, strict=False):
            rows.check_same(a, b, "stack_dynamic_partitions")
        for _ in ids.nested_row_splits:
            inner = inner.values
        return stack_dynamic_partitions(inner, ids.flat_values, num_partitions)
    if x.shape.rank == 0:
        raise ShapeError(
            "stack_dynamic_partitions: data must have at least one axis, got a scalar."
        )
    rank = ids.shape.rank
    if not rank:
        raise ShapeError(
            "stack_dynamic_partitions: partitions must have a known rank of at least 1, got shape "
            f"{ids.shape}."
        )
    for _ in builtins.range(rank - 1):  # each element of the leading axes is dealt out
        both = [y if isinstance(y, RaggedTensor) else dense.from_tensor(y, None, None, 1, int64)
                for y in (ids, x)]  # fmt: skip
        rows.check_same(both[0].row_splits, both[1].row_splits, "stack_dynamic_partitions")
        ids, x = both[0].values, both[1].values
    sizes = [y.nrows(int64) if isinstance(y, RaggedTensor) else shapes.shape(y, int64)[0]
             for y in (ids, x)]  # fmt: skip
    text = "stack_dynamic_partitions: partitions and data must have as many rows"
    known = [y.shape[0] if y.shape.rank else None for y in (ids, x)]
    if None not in known and known[0] != known[1]:
        raise ShapeError(f"{text}, got {known[0]} and {known[1]}.")
    require(comparison.equal, sizes, text, ("partitions", "data"))
    count = casting.cast(rows.integers(num_partitions, "num_partitions", ids.dtype), ids.dtype)
    by_partition = order.argsort(ids)
    sorted_ids = gathering.gather(ids, by_partition)
    return RaggedTensor.from_value_rowids(gathering.gather(x, by_partition), sorted_ids, count)
