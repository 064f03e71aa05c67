"""Reductions of rows by segment, for ids that are sorted: their last one tells the size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INDEX, NUMERIC, REAL, DType, int32
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import InvalidArgumentError
from weft._src.ops import batching, rules
from weft._src.ops.arrays import fill
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import guarded
from weft._src.ops.reduce import unsorted_segments
from weft._src.ops.registry import DATA_SHAPED, NO_NATIVE, Absent, Op, args, define_op

Gradients = tuple[Tensor | None, ...]


# --- sorted ids --------------------------------------------------------------------------------


def _sorted_infer(op: str) -> Any:
    def infer(data: TensorSpec, ids: TensorSpec) -> TensorSpec:
        rules.check_rank_at_least(op, data, 1, name="data")
        rules.check_rank(op, ids, 1, name="segment_ids")
        if data.dims is None:
            return data
        if ids.dims is not None:
            rules.unify(op, data.dims[0], ids.dims[0], "the sizes of data and segment_ids")
        return data.with_dims((Dim(), *data.dims[1:]))

    return infer


def _sorted_kernel(op: str, ufunc: str, start: int, mean: bool) -> Any:
    def kernel(xp: ArrayNamespace, data: Array, ids: Array) -> Array:
        if ids.ndim != 1 or data.shape[:1] != ids.shape:
            raise ValueError("the type rule says what is wrong")
        starts = unsorted_segments.runs(xp, ids)
        found = ids[starts]
        if len(ids) and (found[0] < 0 or (found[1:] < found[:-1]).any()):
            raise InvalidArgumentError(
                None,
                None,
                f"{op}: segment_ids must be sorted and not negative; sort data by them, or use "
                f"tf.math.unsorted_{op}.",
            )
        wide = xp.widen(data)
        if not len(ids):
            return xp.zeros((0, *data.shape[1:]), data.dtype)
        reduced = getattr(xp, ufunc).reduceat(wide, starts, axis=0, dtype=wide.dtype)
        if mean:
            sizes = xp.empty(starts.shape, starts.dtype)
            xp.subtract(starts[1:], starts[:-1], out=sizes[:-1])
            sizes[-1] = len(ids) - starts[-1]
            sizes = xp.reshape(sizes, (len(sizes), *[1] * (data.ndim - 1))).astype(wide.dtype)
            # Integers are divided towards zero.
            quotient = reduced / sizes
            reduced = xp.trunc(quotient) if data.dtype.kind in "iu" else quotient
        reduced = reduced.astype(data.dtype, copy=False)
        count = int(found[-1]) + 1
        if len(found) == count:  # all of them
            return reduced
        out = xp.zeros((count, *data.shape[1:]), data.dtype)
        if start:
            out[...] = start
        out[found] = reduced
        return out

    return kernel


def _define_sorted(
    name: str,
    op: str,
    ufunc: str,
    allowed: frozenset[DType],
    vjp: Callable[..., Any] | Absent,
    *,
    start: int = 0,
    mean: bool = False,
) -> Op:
    return define_op(
        name,
        args("data", allowed) + args("segment_ids", INDEX),
        infer=_sorted_infer(op),
        kernel=_sorted_kernel(op, ufunc, start, mean),
        native=NO_NATIVE,
        xla=DATA_SHAPED,
        vjp=vjp,
        trusts_kernel=True,
        fresh=True,
        batch=batching.same_segments,
    )


def _mean_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    data, ids = ctx.inputs
    sizes = sum_op(fill.ones_like(data), ids)
    return unsorted_segments.spread_op(guarded.div_no_nan_op(g, sizes), ids), None


sum_op: Op = _define_sorted("SegmentSum", "segment_sum", "add", NUMERIC, unsorted_segments.sum_vjp)
mean_op = _define_sorted("SegmentMean", "segment_mean", "add", NUMERIC, _mean_vjp, mean=True)
max_op = _define_sorted(
    "SegmentMax", "segment_max", "maximum", REAL, unsorted_segments.extremum_vjp(lambda: sum_op)
)
min_op = _define_sorted(
    "SegmentMin", "segment_min", "minimum", REAL, unsorted_segments.extremum_vjp(lambda: sum_op)
)
prod_op: Op = _define_sorted(
    "SegmentProd",
    "segment_prod",
    "multiply",
    NUMERIC,
    unsorted_segments.product_vjp(lambda: sum_op, lambda: prod_op),
    start=1,
)


def _sorted(op: Op, data: TensorLike, segment_ids: TensorLike, name: str | None) -> Tensor:
    ids = convert_to_tensor(segment_ids, dtype_hint=int32)
    return op(convert_to_tensor(data), ids, name=name)


def segment_sum(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the rows of each segment; 0 for ids that do not occur.

    Args:
      data: a tensor of numbers, of rank 1 or more.
      segment_ids: an int32 or int64 vector with the segment of each row, sorted and not negative.

    Returns:
      A tensor of the dtype of `data` with a row for each number up to the largest id.

    Raises:
      InvalidArgumentError: if the ids are not sorted, or negative.
      ShapeError: if there are more or fewer ids than rows.

    >>> tf.math.segment_sum([1, 2, 3, 4], [0, 0, 2, 2]).numpy()
    array([3, 0, 7], dtype=int32)
    """
    return _sorted(sum_op, data, segment_ids, name)


def segment_mean(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The mean of the rows of each segment; 0 for ids that do not occur.

    Args:
      data: a tensor of numbers; means of integers are cut towards zero, of rank 1 or more.
      segment_ids: an int32 or int64 vector with the segment of each row, sorted and not negative.

    Returns:
      A tensor of the dtype of `data` with a row for each number up to the largest id.

    Raises:
      InvalidArgumentError: if the ids are not sorted, or negative.
      ShapeError: if there are more or fewer ids than rows.

    >>> tf.math.segment_mean([1.0, 2.0, 3.0, 4.0], [0, 0, 2, 2]).numpy()
    array([1.5, 0. , 3.5], dtype=float32)
    """
    return _sorted(mean_op, data, segment_ids, name)


def segment_prod(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The product of the rows of each segment; 1 for ids that do not occur.

    Args:
      data: a tensor of numbers, of rank 1 or more.
      segment_ids: an int32 or int64 vector with the segment of each row, sorted and not negative.

    Returns:
      A tensor of the dtype of `data` with a row for each number up to the largest id.

    Raises:
      InvalidArgumentError: if the ids are not sorted, or negative.
      ShapeError: if there are more or fewer ids than rows.

    >>> tf.math.segment_prod([1, 2, 3, 4], [0, 0, 2, 2]).numpy()
    array([ 2,  1, 12], dtype=int32)
    """
    return _sorted(prod_op, data, segment_ids, name)


def segment_max(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The largest of the rows of each segment; 0 for ids that do not occur.

    Args:
      data: a tensor of real numbers, of rank 1 or more.
      segment_ids: an int32 or int64 vector with the segment of each row, sorted and not negative.

    Returns:
      A tensor of the dtype of `data` with a row for each number up to the largest id.

    Raises:
      InvalidArgumentError: if the ids are not sorted, or negative.
      ShapeError: if there are more or fewer ids than rows.

    >>> tf.math.segment_max([1, 2, 3, 4], [0, 0, 2, 2]).numpy()
    array([2, 0, 4], dtype=int32)
    """
    return _sorted(max_op, data, segment_ids, name)


def segment_min(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The smallest of the rows of each segment; 0 for ids that do not occur.

    Args:
      data: a tensor of real numbers, of rank 1 or more.
      segment_ids: an int32 or int64 vector with the segment of each row, sorted and not negative.

    Returns:
      A tensor of the dtype of `data` with a row for each number up to the largest id.

    Raises:
      InvalidArgumentError: if the ids are not sorted, or negative.
      ShapeError: if there are more or fewer ids than rows.

    >>> tf.math.segment_min([1, 2, 3, 4], [0, 0, 2, 2]).numpy()
    array([1, 0, 3], dtype=int32)
    """
    return _sorted(min_op, data, segment_ids, name)
