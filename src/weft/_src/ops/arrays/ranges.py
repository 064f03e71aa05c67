"""Sequences and regular patterns: range, linspace, eye, sequence_mask."""

from __future__ import annotations

import math
import operator
from typing import Any

from weft._src.core import dtypes, memory
from weft._src.core.aliases import (
    ArrayNamespace,
    AxisLike,
    DTypeLike,
    IntLike,
    ShapeLike,
    TensorLike,
)
from weft._src.core.conversions import how_to_be_one_of
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import (
    FLOATING,
    INDEX,
    DType,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int32,
    int64,
)
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Dim, Size
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import fill, joining, selection, shape as shapes, shape_checks
from weft._src.ops.elementwise import arithmetic, casting, comparison
from weft._src.ops.reduce import extrema
from weft._src.ops.registry import NOT_DIFFERENTIABLE, args, define_op

# Mixed arguments take the dtype that stands last here.
_RANGE_DTYPES = (int32, int64, float16, bfloat16, float32, float64)


def _range_size(start: Any, limit: Any, delta: Any) -> int:
    """The number of elements, computed in the dtype of the arguments; ShapeError if none fits."""
    if delta == 0:
        raise ShapeError("range: delta must not be 0.")
    if (limit - start) * (1 if delta > 0 else -1) < 0:
        side = "at most" if delta > 0 else "at least"
        raise ShapeError(
            f"range: start must be {side} limit when delta is {delta}, got start {start} and "
            f"limit {limit}."
        )
    if isinstance(start, int):
        return len(range_of_ints(start, limit, delta))
    steps = abs((limit - start) / delta)
    if not math.isfinite(steps):
        raise ShapeError(
            f"range: start, limit and delta must be finite, got {start}, {limit} and {delta}."
        )
    return math.ceil(steps)


range_of_ints = range  # `range` is tf.range below


def _range_infer(start: TensorSpec, limit: TensorSpec, delta: TensorSpec) -> TensorSpec:
    parts: list[Any] = []
    for name, spec in (("start", start), ("limit", limit), ("delta", delta)):
        rules.check_rank("range", spec, 0, name=name)
        parts.append(rules.known(spec))
    size: Size = Dim()
    if all(isinstance(p, (int, float)) for p in parts):
        exact = int if start.dtype.is_integer else start.dtype.as_numpy_dtype
        size = _range_size(*[exact(p) for p in parts])
    elif parts[0] == 0 and parts[2] == 1 and isinstance(parts[1], Dim):
        size = parts[1]
    return TensorSpec.of(start.dtype, (size,))


_BLOCK = 1 << 12  # numbers


def _integers(
    xp: ArrayNamespace, start: int, limit: int, delta: int, size: int, dtype: Any
) -> Array:
    """`np.arange`, which takes three times as long for many numbers: one after the other."""
    whole = size - size % _BLOCK
    if not whole or abs(delta) >= 1 << 18:  # numbers of a block are small enough for int32
        return xp.arange(start, limit, delta, dtype)
    out = xp.empty(size, dtype)
    last = start + (whole - 1) * delta
    firsts = xp.arange(start, last + (1 if delta > 0 else -1), _BLOCK * delta, dtype)
    within = xp.arange(0, _BLOCK * delta, delta, dtype)
    xp.add.outer(firsts, within, out=out[:whole].reshape(-1, _BLOCK))
    if whole < size:
        xp.add(within[: size - whole], last + delta, out=out[whole:])
    return out


def _range_kernel(xp: ArrayNamespace, start: Any, limit: Any, delta: Any) -> Array:
    dtype = start.dtype
    if start.ndim or limit.ndim or delta.ndim:
        raise TypeError("range takes scalars.")  # the rule of its shape says which is none
    start, limit, delta = start[()], limit[()], delta[()]
    if dtype.kind in "iu":
        size = _range_size(operator.index(start), operator.index(limit), operator.index(delta))
    else:
        size = _range_size(start, limit, delta)
    memory.check("range", (size,), dtype)
    if dtype.kind == "i":
        ends = operator.index(start), operator.index(limit), operator.index(delta)
        return _integers(xp, *ends, size, dtype)
    steps = xp.arange(size)
    if dtype.itemsize < 4:  # the narrow floats count only to a few hundred exactly
        wide = xp.float32
        return (wide(start) + steps.astype(wide) * wide(delta)).astype(dtype)
    return start + steps.astype(dtype) * delta


range_op = define_op(
    "Range",
    args("start limit delta", INDEX | FLOATING, is_shape=True),
    infer=_range_infer,
    kernel=_range_kernel,
    native=Special("range"),
    xla=KERNEL,
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
    fresh=True,
    shape_arithmetic=True,
)


def _range_shape_infer(
    start: TensorSpec, limit: TensorSpec, delta: TensorSpec, *, out_type: DType
) -> TensorSpec:
    _range_infer(start, limit, delta)
    return TensorSpec.of(out_type, (1,))


def _range_shape_kernel(
    xp: ArrayNamespace, start: Any, limit: Any, delta: Any, *, out_type: DType
) -> Array:
    size = _range_size(operator.index(start), operator.index(limit), operator.index(delta))
    if size > out_type.max:
        raise ShapeError(
            f"range: from {start} to {limit} by {delta} there are {size} numbers, more than "
            f"{out_type.name} can count. Use a while loop with a counter of its own."
        )
    return xp.array([size], out_type.numpy_dtype)


# What passes put in place of the shape of a range nobody else looks at, as in
# `for i in tf.range(n)`: the numbers themselves are then never made.
range_shape_op = define_op(
    "RangeShape",
    args("start limit delta", INDEX, is_shape=True),
    infer=_range_shape_infer,
    kernel=_range_shape_kernel,
    native=Special("range_shape"),
    xla=Lowered("range_shape"),
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
    fresh=True,
)


def range(
    start: TensorLike,
    limit: TensorLike | None = None,
    delta: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str = "range",
) -> Tensor:
    """Numbers from start (included) to limit (not included), delta apart.

    Args:
      start: the first number, a scalar; the limit (and the range starts at 0) if `limit` is left
        out.
      limit: the end, a scalar; None means that `start` is.
      delta: the step, a scalar other than 0; it may be negative.
      dtype: int32, int64 or floating; None means the highest dtype of the arguments.

    Returns:
      A vector; it is empty if `start` equals `limit`.

    Raises:
      ShapeError: if `delta` is 0 or points away from `limit`, or an argument is no scalar or not
        finite.
      DTypeError: if an argument has a dtype that ranges do not have.

    >>> tf.range(5).numpy()
    array([0, 1, 2, 3, 4], dtype=int32)
    >>> tf.range(3, 0, -0.5).numpy()
    array([3. , 2.5, 2. , 1.5, 1. , 0.5], dtype=float32)
    """
    if limit is None:
        start, limit = 0, start
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    values = [
        x if isinstance(x, Tensor) else convert_to_tensor(x, dtype=wanted)
        for x in (start, limit, delta)
    ]
    values = [shapes.reshape(x, []) if x.spec.dims == (1,) else x for x in values]
    wanted = wanted or _common_range_dtype(values)
    return range_op(*[casting.cast(x, wanted) for x in values], name=name)


def _common_range_dtype(values: list[Tensor]) -> DType:
    for name, x in zip(("start", "limit", "delta"), values, strict=True):
        if x.dtype not in _RANGE_DTYPES:
            raise DTypeError(
                f"range: {name} has dtype {x.dtype.name}, expected one of "
                f"{', '.join(d.name for d in _RANGE_DTYPES)}. "
                f"{how_to_be_one_of(name, x.dtype, _RANGE_DTYPES)}"
            )
    return max([x.dtype for x in values], key=_RANGE_DTYPES.index)


def linspace(
    start: TensorLike,
    stop: TensorLike,
    num: TensorLike,
    name: str | None = None,
    axis: AxisLike = 0,
) -> Tensor:
    """Evenly spaced numbers from start to stop (both included), along a new axis.

    Args:
      start: the first number or tensor; integers become float64.
      stop: the last one, of the same dtype; the two are broadcast together.
      num: how many numbers there are, an integer or integer scalar.
      axis: where the new axis is in the result; counted from the end if negative.

    Returns:
      A tensor with the broadcast shape of `start` and `stop` and the new axis of size `num`.

    Raises:
      TypeError: if `num` is not an integer.
      ShapeError: if `start` and `stop` cannot be broadcast together, or there is no such axis.

    >>> tf.linspace(0.0, 1.0, 5).numpy()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    first, last = joining.matching_tensors([start, stop])
    count = convert_to_tensor(num, dtype_hint=int32)
    if not count.dtype.is_integer:
        raise TypeError(f"linspace: num must be an integer, got dtype {count.dtype.name}.")
    try:
        at = joining.single_axis("linspace", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("linspace", first, last, count, axis)
    if first.dtype.is_integer:
        first, last = casting.cast(first, float64), casting.cast(last, float64)
    if first.spec.rank == 0 == last.spec.rank:
        rules.normalize_axis("linspace", at, 1)
        return _spaced(first, last, range(count), count, name)
    shape = shape_checks.broadcast_dynamic_shape(shapes.shape(first), shapes.shape(last))
    first, last = shapes.broadcast_to(first, shape), shapes.broadcast_to(last, shape)
    before, after = _around_new_axis(shape, first.spec.rank, at)
    first = shapes.reshape(first, joining.concat([before, [1], after], 0))
    last = shapes.reshape(last, shapes.shape(first))
    along = joining.concat([fill.ones_like(before), [-1], fill.ones_like(after)], 0)
    return _spaced(first, last, shapes.reshape(range(count), along), count, name)


def _spaced(first: Tensor, last: Tensor, steps: Tensor, count: Tensor, name: str | None) -> Tensor:
    """Numbers from first to last, at the given steps out of `count`."""
    gaps = arithmetic.maximum(count - 1, 1)
    spacing = (last - first) / casting.cast(gaps, first.dtype)
    inner = first + spacing * casting.cast(steps, first.dtype)
    # The last number is stop itself, not what rounding makes of it; the first is start, also where
    # the spacing is infinite.
    inner = selection.where(comparison.equal(steps, count - 1), last, inner)
    return selection.where(comparison.equal(steps, 0), first, inner, name=name)


def _around_new_axis(shape: Tensor, rank: int | None, axis: int) -> tuple[Tensor, Tensor]:
    """The sizes before and after the place where a new axis goes."""
    if rank is not None:
        axis = rules.normalize_axis("linspace", axis, rank + 1)
    elif axis < 0:
        axis += 1
        if axis == 0:
            return shape, shape[:0]
    return shape[:axis], shape[axis:]


def eye(
    num_rows: IntLike,
    num_columns: IntLike | None = None,
    batch_shape: ShapeLike | None = None,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """The identity matrix, or a batch of them.

    Args:
      num_rows: the number of rows, an integer or integer scalar.
      num_columns: the number of columns; None means as many as rows.
      batch_shape: the shape of the batch, a vector of integers; None means one matrix.
      dtype: the dtype of the result, of numbers or truth values.

    Returns:
      A tensor of shape [*batch_shape, num_rows, num_columns] with 1 on the diagonals, else 0.

    Raises:
      TypeError: if the dtype is string, a number is no integer, or `batch_shape` no vector of them.
      ShapeError: if a number is negative.

    >>> tf.eye(2, 3).numpy()
    array([[1., 0., 0.],
           [0., 1., 0.]], dtype=float32)
    """
    if dtypes.as_dtype(dtype) is dtypes.string:
        raise TypeError("eye: dtype must be numeric or bool, got string.")
    rows = matrix_size("eye", "num_rows", num_rows, int32)
    columns = rows
    if num_columns is not None:
        columns = matrix_size("eye", "num_columns", num_columns, int32)
    if type(num_rows) is int and (num_columns is None or type(num_columns) is int):
        shape = (num_rows, num_rows if num_columns is None else num_columns)
        memory.check("eye", shape, dtypes.as_dtype(dtype).numpy_dtype)
    row, column = range(0, rows), range(0, columns)
    on_diagonal = comparison.equal_op(shapes.expand_dims(row, 1), column)
    out = casting.cast(on_diagonal, dtype, name=name)
    if batch_shape is None:
        return out
    batch = shapes.shape_argument(batch_shape)
    if batch.spec.rank not in (None, 1) or not batch.dtype.is_integer:
        raise TypeError(f"eye: batch_shape must be a vector of integers, got {batch_shape!r}.")
    batch = casting.cast(batch, int32)
    return shapes.broadcast_to(out, joining.concat([batch, shapes.shape(out)], 0))


def matrix_size(op: str, name: str, value: Any, dtype: DType) -> Tensor:
    """The number of rows or columns of a matrix, as a scalar of this dtype."""
    size = convert_to_tensor(value, dtype_hint=dtype)
    if not size.dtype.is_integer or size.spec.rank not in (None, 0):
        raise TypeError(f"{op}: {name} must be an integer, got {value!r}.")
    known = static.static_value(size)
    if known is not None and known < 0:
        raise ShapeError(f"{op}: {name} must not be negative, got {known}.")
    return casting.cast(size, dtype)


def sequence_mask(
    lengths: TensorLike,
    maxlen: TensorLike | None = None,
    dtype: DTypeLike = bool_,
    name: str | None = None,
) -> Tensor:
    """For each length that many True followed by False.

    Args:
      lengths: an integer tensor of any shape.
      maxlen: the size of the new axis, a scalar; None means the largest length.
      dtype: the dtype of the result; numeric ones get 1 and 0.

    Returns:
      A tensor of shape [*shape of lengths, maxlen].

    Raises:
      ValueError: if `maxlen` is no scalar.

    >>> tf.sequence_mask([1, 3, 2]).numpy()
    array([[ True, False, False],
           [ True,  True,  True],
           [ True,  True, False]])
    """
    x = convert_to_tensor(lengths)
    if maxlen is None:
        longest = arithmetic.maximum(extrema.reduce_max(x), 0)
    else:
        longest = convert_to_tensor(maxlen)
    if longest.spec.rank not in (None, 0):
        raise ValueError(f"sequence_mask: maxlen must be a scalar, got shape {longest.shape}.")
    positions = range(casting.cast(0, longest.dtype), longest)
    limits = casting.cast(shapes.expand_dims(x, -1), longest.dtype)
    return casting.cast(comparison.less(positions, limits), dtype, name=name)
