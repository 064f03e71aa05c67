"""Sums, products, reductions and functions of sparse tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src import nest
from weft._src.core import dtypes
from weft._src.core.aliases import AxisLike, DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING, NUMERIC, DType, bool_, int32, int64
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import fill, joining, ranges, selection, shape as shapes
from weft._src.ops.elementwise import arithmetic, casting, comparison, unary
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering, scattering
from weft._src.ops.programs import as_program, with_kernel
from weft._src.ops.reduce import (
    products,
    segments as sorted_segments,
    unsorted_segments as segments,
)
from weft._src.ops.reduce.sums import reduction_axes
from weft._src.ops.sparse import dense, place_arrays, places, reshaping
from weft._src.ops.sparse.tensor import SparseTensor, sparse


def add(a: Any, b: Any, threshold: TensorLike = 0) -> Any:
    """The sum of two tensors of which at least one is sparse; sparse if both are.

    Where both sparse tensors have an element, a sum smaller than the threshold is left out.

    Args:
      a: a `tf.SparseTensor` or a tensor of numbers.
      b: another one, of the same shape and dtype.
      threshold: the least absolute value of a sum of two elements; 0 keeps all.

    Returns:
      A `tf.SparseTensor` if both are sparse, else a tensor.

    Raises:
      TypeError: if none is sparse.
      InvalidArgumentError: if the shapes of two sparse tensors differ.
      DTypeError: if the dtypes differ.

    >>> sp = tf.SparseTensor([[0, 1]], [5], [2, 2])
    >>> tf.sparse.add(sp, sp).values.numpy(), tf.sparse.add(sp, [[1, 1], [1, 1]]).numpy()
    (array([10], dtype=int32), array([[1, 6],
           [1, 1]], dtype=int32))
    """
    if not isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        raise TypeError("sparse.add: a or b must be a tf.SparseTensor; use tf.add for tensors.")
    if not isinstance(b, SparseTensor):
        whole = convert_to_tensor(b, dtype_hint=a.dtype)
        return scattering.tensor_scatter_nd_add(whole, a.indices, a.values)
    if not isinstance(a, SparseTensor):
        return add(b, a)
    _check_shapes("sparse.add", a, b)
    if isinstance(threshold, (int, float)) and threshold == 0:
        indices, values = _added(a.indices, a.values, b.indices, b.values, a.dense_shape)
        return SparseTensor._of(indices, values, a.dense_shape)
    every = _joined(a, b)
    joined = places.summed(every)
    least = convert_to_tensor(threshold, dtype_hint=joined.dtype.real_dtype)
    terms = places.summed(every.with_values(fill.ones_like(every.values, dtype=int32)))
    kept = comparison.logical_or(unary.abs(joined.values) >= least, terms.values < 2)
    return reshaping.retain(joined, kept)


@with_kernel(place_arrays.added)
def _added(
    a: Tensor, of_a: Tensor, b: Tensor, of_b: Tensor, shape: Tensor
) -> tuple[Tensor, Tensor]:
    """The indices and values of a sum, from those of its terms."""
    pair = SparseTensor._of(a, of_a, shape), SparseTensor._of(b, of_b, shape)
    made = places.summed(_joined(*pair))
    return made.indices, made.values


def _check_shapes(op: str, a: SparseTensor, b: SparseTensor) -> None:
    text = f"{op}: both sparse tensors must have the same shape"
    require(comparison.equal, [a.dense_shape, b.dense_shape], text, ("dense_shape", "dense_shape"))


def _joined(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    """The elements of both, those of a first."""
    return SparseTensor._of(
        joining.concat([a.indices, b.indices], 0),
        joining.concat([a.values, b.values], 0),
        a.dense_shape,
    )


def _elementwise(op: str, function: Callable[..., Any], sp_a: Any, sp_b: Any) -> SparseTensor:
    """A function of two sparse tensors wherever one of them has an element, 0 for the other."""
    a, b = sparse(op, sp_a, "sp_a"), sparse(op, sp_b, "sp_b")
    _check_shapes(op, a, b)
    of_a = _joined(a, b.with_values(fill.zeros_like(b.values)))
    of_b = _joined(a.with_values(fill.zeros_like(a.values)), b)
    total_a, total_b = places.summed(of_a), places.summed(of_b)
    return total_a.with_values(function(total_a.values, total_b.values))


def maximum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """The larger of two sparse tensors wherever one of them has an element.

    Args:
      sp_a: a `tf.SparseTensor` of real numbers.
      sp_b: another one, of the same shape and dtype.

    Returns:
      A `tf.SparseTensor`; an element that one of them does not have counts as 0.

    Raises:
      TypeError: if one is not sparse.
      InvalidArgumentError: if the shapes differ.

    >>> a, b = tf.SparseTensor([[0]], [5], [3]), tf.SparseTensor([[0], [2]], [7, -1], [3])
    >>> tf.sparse.maximum(a, b).values.numpy()
    array([7, 0], dtype=int32)
    """
    return _elementwise("sparse.maximum", arithmetic.maximum, sp_a, sp_b)


def minimum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """The smaller of two sparse tensors wherever one of them has an element.

    Args:
      sp_a: a `tf.SparseTensor` of real numbers.
      sp_b: another one, of the same shape and dtype.

    Returns:
      A `tf.SparseTensor`; an element that one of them does not have counts as 0.

    Raises:
      TypeError: if one is not sparse.
      InvalidArgumentError: if the shapes differ.

    >>> a, b = tf.SparseTensor([[0]], [5], [3]), tf.SparseTensor([[0], [2]], [7, -1], [3])
    >>> tf.sparse.minimum(a, b).values.numpy()
    array([ 5, -1], dtype=int32)
    """
    return _elementwise("sparse.minimum", arithmetic.minimum, sp_a, sp_b)


def reduce_sum(
    sp_input: SparseTensor,
    axis: AxisLike | None = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The sum of the elements along axes, by default along all.

    Args:
      sp_input: a `tf.SparseTensor` of numbers.
      axis: an axis or a list of axes, counted from the end if negative; None means all.
      keepdims: whether the axes stay, with size 1; None means no.
      output_is_sparse: whether the result is sparse, too.

    Returns:
      A tensor, or a `tf.SparseTensor`, of the dtype of `sp_input` without these axes.

    Raises:
      TypeError: if `sp_input` is not sparse.
      ShapeError: if there is no such axis.
      ValueError: if the rank is not known while tracing.

    >>> sp = tf.SparseTensor([[0, 1], [0, 2], [2, 0]], [5, 6, 7], [3, 3])
    >>> tf.sparse.reduce_sum(sp, axis=1).numpy()
    array([11,  0,  7], dtype=int32)
    """
    return _reduce("sparse.reduce_sum", _sums, sp_input, axis, keepdims, output_is_sparse)


def reduce_max(
    sp_input: SparseTensor,
    axis: AxisLike | None = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The largest of the elements along axes; 0 where there are none.

    Args:
      sp_input: a `tf.SparseTensor` of real numbers.
      axis: an axis or a list of axes, counted from the end if negative; None means all.
      keepdims: whether the axes stay, with size 1; None means no.
      output_is_sparse: whether the result is sparse, too.

    Returns:
      A tensor, or a `tf.SparseTensor`, of the dtype of `sp_input` without these axes. Elements that
      are absent do not count.

    Raises:
      TypeError: if `sp_input` is not sparse.
      ShapeError: if there is no such axis.
      ValueError: if the rank is not known while tracing.

    >>> sp = tf.SparseTensor([[0, 1], [0, 2], [2, 0]], [-5, -6, 7], [3, 3])
    >>> tf.sparse.reduce_max(sp, axis=1).numpy()
    array([-5,  0,  7], dtype=int32)
    """
    return _reduce("sparse.reduce_max", _maxima, sp_input, axis, keepdims, output_is_sparse)


class _Reduction:
    """How elements at the same place are combined, and programs that do so along axes."""

    def __init__(self, combine: Callable[..., Tensor]) -> None:
        self.combine = combine

        @as_program(sizes=(2, 3))
        def along_all_but_one(indices: Tensor, values: Tensor, shape: Tensor, axis: Tensor) -> Any:
            ids, count = gathering.gather(indices, axis, axis=1), gathering.gather(shape, axis)
            return combine(values, ids, count)

        @as_program(sizes=(2,))
        def along_axes(indices: Tensor, values: Tensor, shape: Tensor) -> Any:
            count = products.reduce_prod(shape)
            flat = combine(values, places.from_indices(indices, shape), count)
            return shapes.reshape(flat, shape)

        self.along_all_but_one, self.along_axes = along_all_but_one, along_axes


def _largest(values: Tensor, ids: Tensor, count: Tensor) -> Tensor:
    held = segments.unsorted_segment_sum(fill.ones_like(ids), ids, count)
    found = segments.unsorted_segment_max(values, ids, count)
    return selection.where(held > 0, found, fill.zeros([], values.dtype))


_sums, _maxima = _Reduction(segments.unsorted_segment_sum), _Reduction(_largest)


def _reduce(
    op: str,
    reduction: _Reduction,
    sp_input: Any,
    axis: Any,
    keepdims: Any,
    is_sparse: bool,
) -> Any:
    sp = sparse(op, sp_input, "sp_input")
    rank = sp.shape.rank
    if rank is None:
        raise ValueError(f"{op}: the rank of sp_input must be known while tracing.")
    axes = rules.normalize_axes(op, reduction_axes(op, axis), rank)
    kept = [i for i in range(rank) if i not in axes or keepdims]
    # An axis that is kept with size one has only the index 0.
    mask = [0 if i in axes else 1 for i in kept]
    if len(kept) == 1 and not keepdims and not is_sparse:
        axis = convert_to_tensor(np.array(kept[0]))
        return reduction.along_all_but_one(sp.indices, sp.values, sp.dense_shape, axis)
    columns = convert_to_tensor(np.array(kept, np.int64))
    shape = gathering.gather(sp.dense_shape, columns)
    indices = gathering.gather(sp.indices, columns, axis=1)
    if keepdims:
        shape, indices = shape * mask + [1 - m for m in mask], indices * mask
    if is_sparse:
        return places.merged(SparseTensor._of(indices, sp.values, shape), reduction.combine)
    return reduction.along_axes(indices, sp.values, shape)


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function with sparse tensors replaced by their values; its result gets the places.

    Args:
      op: a function that returns a vector with a value for each element.
      *args: its arguments, which may be nests; at least one sparse tensor is in them, and all
        of these have the same indices and shape.
      **kwargs: its keyword arguments, which may be sparse, too.

    Returns:
      A `tf.SparseTensor` with the indices and shape of the first.

    Raises:
      TypeError: if `op` cannot be called.
      ValueError: if no argument is sparse.
      InvalidArgumentError: if indices or shapes differ.

    >>> sp = tf.SparseTensor([[0, 1]], [5], [2, 2])
    >>> tf.sparse.map_values(tf.square, sp).values.numpy()
    array([25], dtype=int32)
    """
    if not callable(op):
        raise TypeError(f"sparse.map_values: op must be callable, got {op!r}.")
    try:
        leaves = nest.flatten((args, kwargs))
    except RecursionError:
        raise ValueError("sparse.map_values: an argument contains itself.") from None
    parts = [x for x in leaves if isinstance(x, SparseTensor)]
    if not parts:
        raise ValueError("sparse.map_values: at least one argument must be a tf.SparseTensor.")
    first = parts[0]
    for other in parts[1:]:
        places.check_same("sparse.map_values", first, other, "all sparse tensors")

    def plain(x: Any) -> Any:
        return x.values if isinstance(x, SparseTensor) else x

    plain_args, plain_kwargs = nest.map_structure(plain, (args, kwargs))
    result = op(*plain_args, **plain_kwargs)
    return first.with_values(result)


def softmax(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Softmax of the elements of each row, along the last axis; absent ones do not count.

    Args:
      sp_input: a `tf.SparseTensor` of floating numbers, of rank 2 or more.

    Returns:
      A `tf.SparseTensor` with the same indices, shape and dtype.

    Raises:
      TypeError: if `sp_input` is not sparse.
      ShapeError: if the rank is below 2.
      DTypeError: if the numbers are not floating.

    >>> sp = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1.0, 1.0, 3.0], [2, 3])
    >>> tf.sparse.softmax(sp).values.numpy()
    array([0.5, 0.5, 1. ], dtype=float32)
    """
    sp = sparse("sparse.softmax", sp_input, "sp_input")
    if sp.shape.rank is not None and sp.shape.rank < 2:
        raise ShapeError(f"sparse.softmax: sp_input must have rank 2 or more, got {sp.shape}.")
    shape = sp.dense_shape[:-1]
    rows, count = places.from_indices(sp.indices[:, :-1], shape), products.reduce_prod(shape)
    top = segments.unsorted_segment_max(sp.values, rows, count)
    powers = unary.exp(sp.values - gathering.gather(top, rows))
    total = segments.unsorted_segment_sum(powers, rows, count)
    return sp.with_values(powers / gathering.gather(total, rows))


def eye(
    num_rows: TensorLike,
    num_columns: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> SparseTensor:
    """The identity matrix.

    Args:
      num_rows: the number of rows, an integer or integer scalar.
      num_columns: the number of columns; None means as many as rows.
      dtype: the dtype of the result.

    Returns:
      A `tf.SparseTensor` with 1 on the diagonal.

    Raises:
      TypeError: if a number is not an integer.
      ShapeError: if a number is negative.

    >>> tf.sparse.eye(2, 3).indices.numpy()
    array([[0, 0],
           [1, 1]])
    """
    op = "sparse.eye"
    height = ranges.matrix_size(op, "num_rows", num_rows, int64)
    width = height
    if num_columns is not None:
        width = ranges.matrix_size(op, "num_columns", num_columns, int64)
    count = arithmetic.minimum(height, width)
    diagonal = ranges.range(count, dtype=int64)
    ones = fill.ones(shapes.expand_dims(count, 0), dtypes.as_dtype(dtype))
    indices = joining.stack([diagonal, diagonal], axis=1)
    return SparseTensor._of(indices, ones, joining.stack([height, width]))


def to_indicator(sp_input: SparseTensor, vocab_size: TensorLike, name: str | None = None) -> Tensor:
    """For each row of integers, which of the numbers below `vocab_size` it holds.

    Args:
      sp_input: a `tf.SparseTensor` of int32 or int64.
      vocab_size: the size of the last axis of the result, a Python integer.

    Returns:
      A bool tensor of the shape of `sp_input`, but for the last axis.

    Raises:
      TypeError: if `sp_input` is not sparse or has another dtype.
      InvalidArgumentError: if a number is negative or not below `vocab_size`.

    >>> sp = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 2])
    >>> tf.sparse.to_indicator(sp, 3).numpy()
    array([[ True, False,  True],
           [False,  True, False]])
    """
    sp = sparse("sparse.to_indicator", sp_input, "sp_input")
    if sp.dtype not in (int32, int64):
        raise TypeError(
            f"sparse.to_indicator: sp_input must hold int32 or int64, got {sp.dtype.name}."
        )
    size = static.static_int("sparse.to_indicator", vocab_size, "vocab_size")
    values = shapes.expand_dims(sp.values, 1)
    last = values if sp.dtype is int64 else casting.cast(values, int64)
    indices = joining.concat([sp.indices[:, :-1], last], 1)
    shape = joining.concat([sp.dense_shape[:-1], convert_to_tensor([size], dtype=int64)], 0)
    ones = fill.ones_like(sp.values, dtype=bool_)
    return dense.to_dense(SparseTensor._of(indices, ones, shape), validate_indices=False)


def _segments(
    name: str,
    ops: tuple[Any, Any],
    allowed: frozenset[DType],
    data: Any,
    indices: TensorLike,
    ids: TensorLike,
    num: Any,
    sparse_gradient: bool,
) -> Tensor:
    x = convert_to_tensor(data)
    rules.check_dtype(f"sparse.{name}", x.dtype, allowed, name="data")
    if x.shape.rank == 0:
        raise ShapeError(f"sparse.{name}: data must have at least one axis, got a scalar.")
    picked, segments_of = convert_to_tensor(indices), convert_to_tensor(ids)
    for argument, value in (("indices", picked), ("segment_ids", segments_of)):
        rules.check_rank(f"sparse.{name}", value.spec, 1, name=argument)
    rows = gathering.gather(x, picked) if sparse_gradient else gathering.pick(x, picked, 0)
    return ops[0](rows, segments_of) if num is None else ops[1](rows, segments_of, num)


def segment_sum(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """The sums of rows picked by number, one for each segment.

    Args:
      data: a tensor of numbers, of rank 1 or more.
      indices: the rows that are picked, an int32 or int64 vector.
      segment_ids: an int32 or int64 vector with the segment of each, sorted and not negative; they
        need not be sorted if `num_segments` is given.
      num_segments: the number of segments; None means as many as the largest id needs.
      sparse_gradient: whether the gradient of `data` is `tf.IndexedSlices`, not a tensor.

    Returns:
      A tensor of the dtype of `data` with a row for each segment; 0 for those without rows.

    Raises:
      InvalidArgumentError: if an index is out of range, or an id is not sorted or out of range.
      ShapeError: if `data` is a scalar, or the others are no vectors of one length.
      DTypeError: if `data` is not numeric.

    >>> tf.sparse.segment_sum([[1, 2], [3, 4], [5, 6]], [0, 2], [0, 0]).numpy()
    array([[6, 8]], dtype=int32)
    """
    ops = sorted_segments.segment_sum, segments.unsorted_segment_sum
    return _segments(
        "segment_sum", ops, NUMERIC, data, indices, segment_ids, num_segments, sparse_gradient
    )


def segment_sqrt_n(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """The sums of rows picked by number, divided by the root of how many there are.

    Args:
      data: a tensor of floating numbers, of rank 1 or more.
      indices: the rows that are picked, an int32 or int64 vector.
      segment_ids: an int32 or int64 vector with the segment of each, sorted and not negative; they
        need not be sorted if `num_segments` is given.
      num_segments: the number of segments; None means as many as the largest id needs.
      sparse_gradient: whether the gradient of `data` is `tf.IndexedSlices`, not a tensor.

    Returns:
      A tensor of the dtype of `data` with a row for each segment; 0 for those without rows.

    Raises:
      InvalidArgumentError: if an index is out of range, or an id is not sorted or out of range.
      ShapeError: if `data` is a scalar, or the others are no vectors of one length.
      DTypeError: if `data` is not floating.

    >>> tf.sparse.segment_sqrt_n([[1.0], [3.0], [5.0], [7.0]], [0, 1, 2, 3], [0, 0, 0, 0]).numpy()
    array([[8.]], dtype=float32)
    """
    ops = sorted_segments.segment_sum, segments.unsorted_segment_sum
    total = _segments(
        "segment_sqrt_n", ops, FLOATING, data, indices, segment_ids, num_segments, sparse_gradient
    )
    ones = fill.ones(shapes.shape(convert_to_tensor(indices)), total.dtype)
    ids = convert_to_tensor(segment_ids)
    if num_segments is None:
        count = sorted_segments.segment_sum(ones, ids)
    else:
        count = segments.unsorted_segment_sum(ones, ids, num_segments)
    inner = shapes.expand_dims(shapes.rank(total) - 1, 0)
    root = unary.sqrt(arithmetic.maximum(count, 1))
    return total / shapes.reshape(root, joining.concat([[-1], fill.fill(inner, 1)], 0))


def segment_mean(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """The means of rows picked by number, one for each segment.

    Args:
      data: a tensor of floating numbers, of rank 1 or more.
      indices: the rows that are picked, an int32 or int64 vector.
      segment_ids: an int32 or int64 vector with the segment of each, sorted and not negative; they
        need not be sorted if `num_segments` is given.
      num_segments: the number of segments; None means as many as the largest id needs.
      sparse_gradient: whether the gradient of `data` is `tf.IndexedSlices`, not a tensor.

    Returns:
      A tensor of the dtype of `data` with a row for each segment; 0 for those without rows.

    Raises:
      InvalidArgumentError: if an index is out of range, or an id is not sorted or out of range.
      ShapeError: if `data` is a scalar, or the others are no vectors of one length.
      DTypeError: if `data` is not floating.

    >>> tf.sparse.segment_mean([[1.0, 2.0], [3.0, 4.0]], [0, 1], [0, 0]).numpy()
    array([[2., 3.]], dtype=float32)
    """
    ops = sorted_segments.segment_mean, segments.unsorted_segment_mean
    return _segments(
        "segment_mean", ops, FLOATING, data, indices, segment_ids, num_segments, sparse_gradient
    )
