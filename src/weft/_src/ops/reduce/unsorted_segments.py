"""Reductions of rows by segment: rows with the same segment id combine.

The ids of `unsorted_segment_*` come in any order, the number of segments is given, and rows with a
negative id are left out. What the gradients of all segment ops need is here, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INDEX, NUMERIC, REAL, DType, int16, int32
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Dim, Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import batching, rules
from weft._src.ops.arrays import fill, joining, selection, shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import arithmetic, casting, comparison, guarded, unary
from weft._src.ops.elementwise.operands import conj, zeros_like
from weft._src.ops.indexing import slicing
from weft._src.ops.registry import Absent, Op, args, define_op

Gradients = tuple[Tensor | None, ...]


def runs(xp: ArrayNamespace, ids: Array) -> Array:
    """Where each run of equal ids begins."""
    changes = (ids[1:] != ids[:-1]).nonzero()[0]
    starts = xp.empty((len(changes) + 1,), changes.dtype) if len(ids) else changes
    starts[:1] = 0
    xp.add(changes, 1, out=starts[1:])
    return starts


def reduce_rows(xp: ArrayNamespace, ufunc: Any, rows: Array, ids: Array, out: Array) -> Array:
    """Combines rows whose ids are sorted and valid into `out`, one for each id that occurs."""
    if len(ids):
        starts = runs(xp, ids)
        out[ids[starts]] = ufunc.reduceat(rows, starts, axis=0, dtype=out.dtype)
    return out


# --- what gradients need -----------------------------------------------------------------------


def _spread_infer(g: TensorSpec, ids: TensorSpec) -> TensorSpec:
    if g.dims is None or ids.dims is None:
        return g.with_dims(None)
    return g.with_dims((*ids.dims, *g.dims[1:]))


def _spread_kernel(xp: ArrayNamespace, g: Array, ids: Array) -> Array:
    out = (
        xp.asarray(xp.take(g, xp.maximum(ids, 0), 0))
        if len(g)
        else xp.zeros((*ids.shape, *g.shape[1:]), g.dtype)
    )
    dropped = ids < 0
    if dropped.any():
        out[dropped] = 0
    return out


def _spread_vjp(ctx: VjpContext, h: Tensor) -> Gradients:
    g, ids = ctx.inputs
    return unsorted_sum_op(h, ids, slicing.get_item(shapes.shape_op(g, out_type=int32), 0)), None


# The result of each row's segment, 0 for rows that are left out: what sums have as gradient.
spread_op: Op = define_op(
    "GatherSegments",
    args("g", NUMERIC) + args("segment_ids", INDEX),
    infer=_spread_infer,
    kernel=_spread_kernel,
    native=Special("spread_segments"),
    xla=Lowered("spread_segments"),
    vjp=_spread_vjp,
    fresh=True,
)


def sum_vjp(ctx: VjpContext, g: Tensor) -> Gradients:
    return (spread_op(g, ctx.inputs[1]), None, None)[: len(ctx.inputs)]


def _again(ctx: VjpContext, x: Tensor, op: Op) -> Tensor:
    """The sum or product of another tensor over the same segments."""
    return op(x, *ctx.inputs[1:])


def extremum_vjp(total: Any) -> Any:
    def vjp(ctx: VjpContext, g: Tensor) -> Gradients:
        """All rows that reach the extremum share the gradient equally."""
        data, ids, *rest = ctx.inputs
        chosen = casting.cast(comparison.equal(data, spread_op(ctx.outputs[0], ids)), g.dtype)
        share = guarded.div_no_nan_op(g, _again(ctx, chosen, total()))
        return spread_op(share, ids) * chosen, None, *[None for _ in rest]

    return vjp


def product_vjp(total: Any, product: Any) -> Any:
    def vjp(ctx: VjpContext, g: Tensor) -> Gradients:
        """The product of the other rows; with one zero among them only its own is not zero."""
        data, ids, *rest = ctx.inputs
        one, is_zero = fill.ones_like(data), comparison.equal(data, zeros_like(data))
        zeros = _again(ctx, casting.cast(is_zero, int32), total())
        g = selection.where(zeros > 1, zeros_like(g), g)
        others = selection.where(is_zero, one, data)
        without_zeros = spread_op(_again(ctx, others, product()), ids)
        whole = spread_op(ctx.outputs[0], ids)
        rest_of_product = selection.where(is_zero, without_zeros, whole / others)
        return spread_op(g, ids) * conj(rest_of_product), None, *[None for _ in rest]

    return vjp


# --- unsorted ids ------------------------------------------------------------------------------


def _inner_dims(op: str, data: TensorSpec, ids: TensorSpec) -> Dims | None:
    """The axes of data behind those that the ids name rows of."""
    if data.dims is None or ids.dims is None:
        return None
    n = len(ids.dims)
    what = "segment_ids and the leading axes of data"
    rules.merge_dims(op, ids.dims, data.dims[:n], what)
    return data.dims[n:]


def _unsorted_infer(op: str) -> Any:
    def infer(data: TensorSpec, ids: TensorSpec, num: TensorSpec) -> TensorSpec:
        rules.check_rank(op, num, 0, name="num_segments")
        size, inner = rules.known(num), _inner_dims(op, data, ids)
        if isinstance(size, int) and size < 0:
            raise ShapeError(f"{op}: num_segments must not be negative, got {size}.")
        return data.with_dims(None if inner is None else (Dim() if size is None else size, *inner))

    return infer


# What every number is at least as large, or as small, as.
_WORST = {"maximum": -float("inf"), "minimum": float("inf")}


def _extrema_in_place(
    xp: ArrayNamespace, ufunc: str, numbers: Array, ids: Array, count: int
) -> Array | None:
    """The extrema of numbers without sorting them; None if an id is negative or does not occur."""
    if numbers.dtype.kind != "f" or ids.min() < 0:
        return None
    out = xp.empty((count,), numbers.dtype)
    worst = out.dtype.type(_WORST[ufunc])
    out[...] = worst
    getattr(xp, ufunc).at(out, ids, numbers)
    return None if (out == worst).any() else out


def _unsorted_kernel(op: str, ufunc: str, empty: Any) -> Any:
    def kernel(xp: ArrayNamespace, data: Array, ids: Array, num: Any) -> Array:
        if num.ndim or num < 0 or data.shape[: ids.ndim] != ids.shape:
            raise ValueError("the type rule says what is wrong")
        count = int(num)
        wide = xp.widen(data)
        out = xp.empty((count, *data.shape[ids.ndim :]), wide.dtype)
        out[...] = empty(data.dtype)
        flat = xp.reshape(ids, (-1,))
        rows = xp.reshape(wide, (flat.size, *out.shape[1:]))
        if flat.size and flat.max() >= count:
            raise InvalidArgumentError(
                None,
                None,
                f"{op}: segment_ids must be less than num_segments, {count}, got {flat.max()}.",
            )
        if ufunc == "add" and rows.ndim == 1 and wide.dtype.kind == "f" and flat.size:
            if flat.min() < 0:
                flat, rows = flat[flat >= 0], rows[flat >= 0]
            return xp.bincount(flat, rows, count).astype(data.dtype)
        if ufunc in _WORST and rows.ndim == 1 and flat.size:
            found = _extrema_in_place(xp, ufunc, rows, flat, count)
            if found is not None:
                return found.astype(data.dtype, copy=False)
        if (flat[1:] < flat[:-1]).any():
            # Integers of 16 bits are sorted by their digits, in a tenth of the time.
            narrow = flat.astype(xp.int16) if count < 2**15 and flat.min() >= -(2**15) else flat
            order = xp.argsort(narrow, kind="stable")
            flat, rows = flat[order], rows[order]
        first = int(xp.searchsorted(flat, 0))
        reduce_rows(xp, getattr(xp, ufunc), rows[first:], flat[first:], out)
        return out.astype(data.dtype, copy=False)

    return kernel


def _define_unsorted(
    name: str,
    op: str,
    ufunc: str,
    allowed: frozenset[DType],
    vjp: Callable[..., Any] | Absent,
    empty: Any,
) -> Op:
    return define_op(
        name,
        args("data", allowed)
        + args("segment_ids", INDEX)
        + args("num_segments", INDEX, is_shape=True),
        batch=batching.inexact(batching.segments),
        infer=_unsorted_infer(op),
        kernel=_unsorted_kernel(op, ufunc, empty),
        native=Special("segments", combination=ufunc),
        xla=Lowered("segments", combination=ufunc),
        slow_kernel=True,
        ragged="in_segments",
        vjp=vjp,
        trusts_kernel=True,
        fresh=True,
    )


unsorted_sum_op: Op = _define_unsorted(
    "UnsortedSegmentSum", "unsorted_segment_sum", "add", NUMERIC, sum_vjp, lambda dtype: 0
)
unsorted_prod_op: Op = _define_unsorted(
    "UnsortedSegmentProd",
    "unsorted_segment_prod",
    "multiply",
    NUMERIC,
    product_vjp(lambda: unsorted_sum_op, lambda: unsorted_prod_op),
    lambda dtype: 1,
)
unsorted_max_op = _define_unsorted(
    "UnsortedSegmentMax",
    "unsorted_segment_max",
    "maximum",
    REAL,
    extremum_vjp(lambda: unsorted_sum_op),
    lambda dtype: dtypes.from_numpy(dtype).min,
)
unsorted_min_op = _define_unsorted(
    "UnsortedSegmentMin",
    "unsorted_segment_min",
    "minimum",
    REAL,
    extremum_vjp(lambda: unsorted_sum_op),
    lambda dtype: dtypes.from_numpy(dtype).max,
)


def _ids(segment_ids: TensorLike) -> Tensor:
    """Segment ids of a sum, which may be int16, too."""
    ids = convert_to_tensor(segment_ids, dtype_hint=int32)
    return casting.cast(ids, int32) if ids.dtype is int16 else ids


def _unsorted(
    op: Op, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None
) -> Tensor:
    summed = op is unsorted_sum_op
    ids = _ids(segment_ids) if summed else convert_to_tensor(segment_ids, dtype_hint=int32)
    count = convert_to_tensor(num_segments, dtype_hint=int32)
    return op(convert_to_tensor(data), ids, count, name=name)


def unsorted_segment_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The sum of the rows of each segment; 0 for segments without rows.

    Args:
      data: a tensor of numbers whose shape begins with that of `segment_ids`.
      segment_ids: int16, int32 or int64, the segment of each row; negative ones are left out.
      num_segments: the number of segments, an integer or integer scalar.

    Returns:
      A tensor of the dtype of `data` with `num_segments` rows.

    Raises:
      InvalidArgumentError: if an id is not below `num_segments`.
      ShapeError: if the shapes do not fit, or `num_segments` is negative or no scalar.

    >>> tf.math.unsorted_segment_sum([1, 2, 3, 4], [2, 0, -1, 2], 3).numpy()
    array([2, 0, 5], dtype=int32)
    """
    return _unsorted(unsorted_sum_op, data, segment_ids, num_segments, name)


def unsorted_segment_prod(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The product of the rows of each segment; 1 for segments without rows.

    Args:
      data: a tensor of numbers whose shape begins with that of `segment_ids`.
      segment_ids: int32 or int64, the segment of each row. Rows with negative ids are left out.
      num_segments: the number of segments, an integer or integer scalar.

    Returns:
      A tensor of the dtype of `data` with `num_segments` rows.

    Raises:
      InvalidArgumentError: if an id is not below `num_segments`.
      ShapeError: if the shapes do not fit, or `num_segments` is negative or no scalar.

    >>> tf.math.unsorted_segment_prod([1, 2, 3, 4], [2, 0, -1, 2], 3).numpy()
    array([2, 1, 4], dtype=int32)
    """
    return _unsorted(unsorted_prod_op, data, segment_ids, num_segments, name)


def unsorted_segment_max(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The largest of the rows of each segment; the lowest number for segments without rows.

    Args:
      data: a tensor of real numbers whose shape begins with that of `segment_ids`.
      segment_ids: int32 or int64, the segment of each row. Rows with negative ids are left out.
      num_segments: the number of segments, an integer or integer scalar.

    Returns:
      A tensor of the dtype of `data` with `num_segments` rows.

    Raises:
      InvalidArgumentError: if an id is not below `num_segments`.
      ShapeError: if the shapes do not fit, or `num_segments` is negative or no scalar.

    >>> tf.math.unsorted_segment_max([1, 2, 3, 4], [1, 0, -1, 1], 2).numpy()
    array([2, 4], dtype=int32)
    """
    return _unsorted(unsorted_max_op, data, segment_ids, num_segments, name)


def unsorted_segment_min(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The smallest of the rows of each segment; the highest number for segments without rows.

    Args:
      data: a tensor of real numbers whose shape begins with that of `segment_ids`.
      segment_ids: int32 or int64, the segment of each row. Rows with negative ids are left out.
      num_segments: the number of segments, an integer or integer scalar.

    Returns:
      A tensor of the dtype of `data` with `num_segments` rows.

    Raises:
      InvalidArgumentError: if an id is not below `num_segments`.
      ShapeError: if the shapes do not fit, or `num_segments` is negative or no scalar.

    >>> tf.math.unsorted_segment_min([1, 2, 3, 4], [1, 0, -1, 1], 2).numpy()
    array([2, 1], dtype=int32)
    """
    return _unsorted(unsorted_min_op, data, segment_ids, num_segments, name)


def _sizes(data: Tensor, ids: Tensor, num: Tensor) -> Tensor:
    """The number of rows of each segment (at least 1), in a shape that divides their sum."""
    ones = fill.ones(shapes.shape_op(ids, out_type=int32), data.dtype)
    counts = arithmetic.maximum(unsorted_sum_op(ones, ids, num), 1)
    inner = shapes.expand_dims(shapes.rank(data) - shapes.rank(ids), 0)
    return shapes.reshape(counts, joining.concat([[-1], fill.fill(inner, 1)], 0))


def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The mean of the rows of each segment; 0 for segments without rows.

    Args:
      data: a tensor of numbers whose shape begins with that of `segment_ids`.
      segment_ids: int32 or int64, the segment of each row. Rows with negative ids are left out.
      num_segments: the number of segments, an integer or integer scalar.

    Returns:
      A tensor of the dtype of `data` (float64 for integers, float32 if of 8 or 16 bits) with
      `num_segments` rows.

    Raises:
      InvalidArgumentError: if an id is not below `num_segments`.
      ShapeError: if the shapes do not fit, or `num_segments` is negative or no scalar.

    >>> tf.math.unsorted_segment_mean([1.0, 2.0, 3.0, 4.0], [2, 0, -1, 2], 3).numpy()
    array([2. , 0. , 2.5], dtype=float32)
    """
    data, ids = convert_to_tensor(data), _ids(segment_ids)
    num = convert_to_tensor(num_segments, dtype_hint=int32)
    total = unsorted_sum_op(data, ids, num)
    return arithmetic.truediv(total, _sizes(data, ids, num), name=name)


def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The sum of the rows of each segment over the square root of their number.

    Args:
      data: a tensor of floating numbers whose shape begins with that of `segment_ids`.
      segment_ids: int32 or int64, the segment of each row. Rows with negative ids are left out.
      num_segments: the number of segments, an integer or integer scalar.

    Returns:
      A tensor of the dtype of `data` with `num_segments` rows.

    Raises:
      InvalidArgumentError: if an id is not below `num_segments`.
      ShapeError: if the shapes do not fit, or `num_segments` is negative or no scalar.

    >>> tf.math.unsorted_segment_sqrt_n([1.0, 2.0, 3.0, 5.0], [1, 1, 1, 1], 2).numpy()
    array([0. , 5.5], dtype=float32)
    """
    data, ids = convert_to_tensor(data), _ids(segment_ids)
    num = convert_to_tensor(num_segments, dtype_hint=int32)
    total = unsorted_sum_op(data, ids, num)
    return arithmetic.truediv(total, unary.sqrt(_sizes(data, ids, num)), name=name)
