"""Reductions of ragged tensors along any axis.

Along a ragged axis the values of a row are combined: segment ops on the flat values. If rows of
rows are combined, values at the same place of each are, and the result is as long as the longest.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core.dtypes import int32, int64
from weft._src.core.location import called_function
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops import rules
from weft._src.ops.arrays import fill, joining, shape as shapes, source
from weft._src.ops.elementwise import arithmetic, casting, unary
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering, masks
from weft._src.ops.ragged import rows
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.reduce import extrema, logic, products, sums, unsorted_segments as segments
from weft._src.ops.registry import Op
from weft._src.ops.strings import joining as text_joining

Axes = tuple[int, ...] | None


def _any_in_segments(data: Tensor, ids: Tensor, count: Tensor) -> Tensor:
    return segments.unsorted_segment_max(casting.cast(data, int32), ids, count) > 0


def _all_in_segments(data: Tensor, ids: Tensor, count: Tensor) -> Tensor:
    return segments.unsorted_segment_min(casting.cast(data, int32), ids, count) > 0


# Of each op: the whole tensor, or axes of it, at once; and segments of its rows.
_FORMS: dict[Op, tuple[Callable[..., Any], Callable[..., Any]]] = {
    sums.sum_op: (sums.reduce_sum, segments.unsorted_segment_sum),
    products.prod_op: (products.reduce_prod, segments.unsorted_segment_prod),
    extrema.max_op: (extrema.reduce_max, segments.unsorted_segment_max),
    extrema.min_op: (extrema.reduce_min, segments.unsorted_segment_min),
    logic.any_op: (logic.reduce_any, _any_in_segments),
    logic.all_op: (logic.reduce_all, _all_in_segments),
}


def apply(op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Any:
    """One of the ops above, or the mean, on a ragged tensor."""
    (x,) = inputs
    return reduce(x, op, attrs["axis"], attrs["keepdims"])


def reduce(x: RaggedTensor, op: Op, axis: Axes, keepdims: bool) -> Any:
    """A reduction along some axes, or all of them."""
    if op is sums.mean_op:
        ones = x.with_flat_values(fill.ones_like(x.flat_values))
        total = reduce(x, sums.sum_op, axis, keepdims)
        return arithmetic.truediv(total, reduce(ones, sums.sum_op, axis, keepdims))
    return reduce_with(*_FORMS[op], x, axis, keepdims)


def reduce_with(
    whole: Callable[..., Any],
    in_segments: Callable[..., Any],
    x: RaggedTensor,
    axis: Axes,
    keepdims: bool,
) -> Any:
    """A reduction given for tensors (axes at once) and for segments of rows."""
    rank = x.shape.rank
    if rank is None:
        raise ValueError("The rank of a RaggedTensor that is reduced must be known while tracing.")
    axes = rules.normalize_axes(called_function(), axis, rank)
    out: Any = x
    if len(axes) == rank:
        out = whole(x.flat_values)
    else:
        for at in sorted(axes, reverse=True):
            out = _along(out, whole, in_segments, at)
    for at in sorted(axes) if keepdims else ():
        out = shapes.expand_dims(out, at)
    return out


def _along(x: Any, whole: Callable[..., Any], in_segments: Callable[..., Any], axis: int) -> Any:
    if not isinstance(x, RaggedTensor):
        return whole(x, axis=axis)
    if axis > 1:
        return x.with_values(_along(x.values, whole, in_segments, axis - 1))
    splits = x.row_splits
    if axis == 1:
        return _combined(x.values, rows.rowids(splits), x.nrows(), in_segments)
    one = fill.ones([], splits.dtype)
    ids = fill.zeros(shapes.expand_dims(x.nrows(), 0), splits.dtype)
    return _combined(x, ids, one, in_segments)[0]


def _combined(x: Any, ids: Tensor, count: Tensor, in_segments: Callable[..., Any]) -> Any:
    """The rows of x combined to `count` rows, row i going into row `ids[i]`."""
    if not isinstance(x, RaggedTensor):
        return in_segments(x, ids, count)
    splits = x.row_splits
    longest = segments.unsorted_segment_max(rows.lengths(splits), ids, count)
    joined = rows.from_lengths(arithmetic.maximum(longest, 0))
    own = rows.rowids(splits)
    starts = gathering.gather(joined, gathering.gather(ids, own))
    places = starts + rows.columns(splits, own)
    return RaggedTensor._of(_combined(x.values, places, joined[-1], in_segments), joined)


def in_segments(op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Any:
    """The rows that belong to one segment combined: values at the same place of each."""
    x, ids, count = inputs
    if ids.shape.rank != 1:
        raise ShapeError(
            f"{called_function()}: segment_ids must be a vector with a number for each row of a "
            f"RaggedTensor, got shape {ids.shape}."
        )
    dtype = x.row_splits.dtype
    return _combined(x, casting.cast(ids, dtype), casting.cast(count, dtype), op)


def bincount(op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Tensor:
    """How often each number occurs in each row."""
    x, size, weights = inputs
    if x.shape.rank != 2:
        raise ShapeError(f"bincount: a RaggedTensor must have rank 2, got shape {x.shape}.")
    if isinstance(weights, RaggedTensor):
        rows.check_same(x.row_splits, weights.row_splits, "bincount")
        weights = weights.values
    ids = rows.rowids(casting.cast(x.row_splits, int64))
    return counted_in_rows(x.values, ids, x.nrows(int64), size, weights, attrs["binary_output"])


def counted_in_rows(
    numbers: Tensor, row_of_each: Tensor, count: Tensor, size: Tensor, weights: Tensor, binary: bool
) -> Tensor:
    """How often each of `size` numbers occurs in each of `count` rows; weights may be missing."""
    flat, bins = casting.cast(numbers, int64), casting.cast(size, int64)
    text = "bincount: numbers must not be negative"
    require(lambda v: v >= 0, [flat], text, ("arr",))
    known = weights.spec.dims != (0,) or flat.spec.dims == (0,)
    amounts = weights if known else fill.ones(shapes.shape(flat), weights.dtype)
    inside = flat < bins
    places = row_of_each * bins + flat
    counted = segments.unsorted_segment_sum(
        masks.boolean_mask(amounts, inside), masks.boolean_mask(places, inside), count * bins
    )
    out = shapes.reshape(counted, joining.stack([count, bins]))
    return arithmetic.minimum(out, 1) if binary else out


def join(op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Any:
    """The strings along axes joined to one."""
    separator = attrs["separator"]
    return reduce_with(
        functools.partial(text_joining.reduce_join, separator=separator),
        functools.partial(text_joining.unsorted_segment_join, separator=separator),
        inputs[0],
        attrs["axis"],
        attrs["keepdims"],
    )


def softmax(op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> RaggedTensor:
    """Softmax within the rows of the innermost ragged axis."""
    (x,) = inputs
    rank = x.shape.rank
    axis = attrs.get("axis", -1)
    if rank is None or x.ragged_rank != rank - 1 or axis not in (-1, rank - 1):
        return op(x.flat_values, name=name, **attrs)
    ids = rows.rowids(x.nested_row_splits[-1])
    count = rows.count(x.nested_row_splits[-1], int32) - 1
    flat = x.flat_values
    top = segments.unsorted_segment_max(source.stop_gradient(flat), ids, count)
    powers = unary.exp(flat - gathering.gather(top, ids))
    total = segments.unsorted_segment_sum(powers, ids, count)
    return x.with_flat_values(powers / gathering.gather(total, ids))
