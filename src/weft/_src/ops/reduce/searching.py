"""Places in sorted sequences, and values without their repetitions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INDEX, PLAIN, REAL, DType, int32
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Dim, Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import batching, graph_forms, rules
from weft._src.ops.arrays import joining
from weft._src.ops.registry import DATA_SHAPED, NO_NATIVE, NOT_DIFFERENTIABLE, Op, args, define_op

# --- searchsorted ------------------------------------------------------------------------------


def _bound_infer(sequence: TensorSpec, values: TensorSpec, *, out_type: DType) -> TensorSpec:
    rules.check_rank_at_least("searchsorted", sequence, 1, name="sorted_sequence")
    rules.check_rank_at_least("searchsorted", values, 1, name="values")
    if sequence.dims is not None and values.dims is not None:
        what = "the leading axes of sorted_sequence and values"
        rules.merge_dims("searchsorted", sequence.dims[:-1], values.dims[:-1], what)
    return values.with_dtype(out_type)


def _bound_kernel(side: str) -> Any:
    def kernel(xp: ArrayNamespace, sequence: Array, values: Array, *, out_type: DType) -> Array:
        if not sequence.ndim or not values.ndim or sequence.shape[:-1] != values.shape[:-1]:
            raise ShapeError(
                "searchsorted: the leading axes of sorted_sequence and values must be equal, got "
                f"shapes {sequence.shape} and {values.shape}."
            )
        out = xp.empty(values.shape, out_type.numpy_dtype)
        sequence, values = xp.widen(sequence), xp.widen(values)
        for at in xp.ndindex(values.shape[:-1]):
            found = _counted(sequence[at], values[at], side)
            out[at] = xp.searchsorted(sequence[at], values[at], side) if found is None else found
        return out

    return kernel


_WORTH_COUNTING = 1000  # values


def _counted(sequence: Array, values: Array, side: str) -> Array | None:
    """`np.searchsorted` for many integers that lie close together, by how many there are of each.

    None for others. Rows of ragged tensors are found so: a tenth of the time of searching.
    """
    if len(values) < _WORTH_COUNTING or not len(sequence) or sequence.dtype.kind != "i":
        return None
    low, high = int(sequence[0]), int(sequence[-1])
    if not 0 <= high - low < 4 * (len(values) + len(sequence)) or (np.diff(sequence) < 0).any():
        return None
    if values.dtype.kind == "i":
        first, last = int(values[0]), int(values[-1])
        if last - first == len(values) - 1 and (np.diff(values) == 1).all():
            return _of_consecutive(sequence, first, len(values), side)
    sequence, values = sequence.astype(np.int64), values.astype(np.int64)
    counts = np.bincount(sequence - low, minlength=high - low + 1)
    # Up to each number from one below the least; what lies beyond the ends counts as the ends.
    up_to = np.concatenate([[0], np.cumsum(counts)])
    places = np.clip(values, low - 1, high) if side == "right" else np.clip(values, low, high + 1)
    return up_to[places - low + (1 if side == "right" else 0)]


def _of_consecutive(sequence: Array, first: int, count: int, side: str) -> Array:
    """The same for numbers one after the other: each place stands as often as numbers lie there."""
    ends = sequence.astype(np.int64) - first + (1 if side == "left" else 0)
    ends = np.concatenate([[0], np.clip(ends, 0, count), [count]])
    return np.repeat(np.arange(len(sequence) + 1), np.diff(ends))


def _define_bound(name: str, side: str) -> Op:
    return define_op(
        name,
        args("sorted_sequence values", REAL),
        infer=_bound_infer,
        kernel=_bound_kernel(side),
        native=Special("bound", is_lower=side == "left"),
        xla=Lowered("bound", side=side),
        vjp=NOT_DIFFERENTIABLE,
        trusts_kernel=True,
        fresh=True,
        graphdef=graph_forms.bounds,
        batch=batching.systems,
    )


lower_bound_op = _define_bound("LowerBound", "left")
upper_bound_op = _define_bound("UpperBound", "right")


def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """Where values would go into a sorted sequence, before (left) or after (right) equal ones.

    Args:
      sorted_sequence: real numbers, ascending along the last axis.
      values: of the same dtype and rank; all axes but the last have equal sizes.
      side: "left" or "right".
      out_type: the dtype of the result, int32 or int64.

    Returns:
      A tensor of the shape of `values`, with numbers from 0 to the length of the sequence.

    Raises:
      ValueError: if there is no such side.
      ShapeError: if the shapes do not fit, or one is a scalar.
      DTypeError: if the dtypes differ, or `out_type` is another one.

    >>> tf.searchsorted([1, 3, 5], [0, 3, 6]).numpy()
    array([0, 1, 3], dtype=int32)
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', got {side!r}.")
    sequence, wanted = joining.matching_tensors([sorted_sequence, values])
    op = lower_bound_op if side == "left" else upper_bound_op
    return op(sequence, wanted, out_type=_index_type("searchsorted", out_type), name=name)


def _index_type(op: str, out_type: DTypeLike) -> DType:
    dtype = dtypes.as_dtype(out_type)
    if dtype not in INDEX:
        raise DTypeError(f"{op}: the type of indices must be int32 or int64, got {dtype.name}.")
    return dtype


# --- unique ------------------------------------------------------------------------------------


class Unique(NamedTuple):
    """Values without repetitions, and the place of each element among them."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """Values without repetitions, the place of each element among them, and their numbers."""

    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]


def _unique_infer(
    x: TensorSpec, *, out_idx: DType, axis: int | None = None
) -> tuple[TensorSpec, ...]:
    """`axis` is that of the slices that are told apart; None stands for that of a vector."""
    if axis is None:
        rules.check_rank("unique", x, 1)
    size = Dim()
    dims: Dims | None = None
    if x.dims is not None:
        at = rules.normalize_axis("unique", axis or 0, len(x.dims))
        dims = (*x.dims[:at], size, *x.dims[at + 1 :])
        places = TensorSpec.of(out_idx, (x.dims[at],))
    else:
        places = TensorSpec.of(out_idx, (Dim(),))
    counts = TensorSpec.of(out_idx, (size,))
    return x.with_dims((size,) if axis is None else dims), places, counts


def _unique_kernel(
    xp: ArrayNamespace, x: Array, *, out_idx: DType, axis: int | None = None
) -> tuple[Array, ...]:
    if axis is not None and x.ndim != 1:
        return _unique_slices(xp, x, out_idx, axis)
    if x.ndim != 1:
        raise ShapeError(f"unique: x must be a vector, got shape {x.shape}.")
    find = _unique_by_dict if x.dtype == object else _unique_by_value
    if x.dtype.kind in "iu" and x.size and int(x.max()) - int(x.min()) < _TABLE * x.size:
        find = _unique_by_table
    first, inverse = find(xp, x)
    counts = xp.bincount(inverse, minlength=len(first))
    dtype = out_idx.numpy_dtype
    return x[first], inverse.astype(dtype), counts.astype(dtype)


def _unique_slices(xp: ArrayNamespace, x: Array, out_idx: DType, axis: int) -> tuple[Array, ...]:
    """Slices are told apart by their elements, one after the other."""
    rows = xp.moveaxis(x, axis, 0)
    numbers = xp.zeros(len(rows), xp.int64)  # of the slices, by the elements so far
    for column in rows.reshape(len(rows), math.prod(rows.shape[1:])).T:
        _, own, kinds = _unique_kernel(xp, column, out_idx=dtypes.int64)
        _, numbers, _ = _unique_kernel(xp, numbers * (len(kinds) + 1) + own, out_idx=dtypes.int64)
    first = _first_places(xp, numbers, int(numbers.max()) + 1 if len(rows) else 0)
    counts = xp.bincount(numbers, minlength=len(first))
    dtype = out_idx.numpy_dtype
    return xp.take(x, first, axis), numbers.astype(dtype), counts.astype(dtype)


_TABLE = 8  # entries for each element, from which on sorting is faster


# What follows gives the places at which values appear first, and for each element which of these
# values it is.


def _unique_by_dict(xp: ArrayNamespace, x: Array) -> tuple[Array, Array]:
    numbers: dict[Any, int] = {}
    inverse = xp.array([numbers.setdefault(value, len(numbers)) for value in x.tolist()], xp.int64)
    return _first_places(xp, inverse, len(numbers)), inverse


def _unique_by_table(xp: ArrayNamespace, x: Array) -> tuple[Array, Array]:
    """For integers that lie close together."""
    least = x.min()
    keys = (x - least).astype(xp.int64) if x.dtype.kind == "u" else x.astype(xp.int64) - int(least)
    table = _first_places(xp, keys, int(keys.max()) + 1)
    first = xp.sort(table[table >= 0])
    table[keys[first]] = xp.arange(len(first))
    return first, table[keys]


def _first_places(xp: ArrayNamespace, keys: Array, count: int) -> Array:
    """For each number below a count where it is first, -1 if it is nowhere."""
    table = xp.full(count, -1, xp.int64)
    table[keys[::-1]] = xp.arange(len(keys))[::-1]  # what is written last stays
    return table


def _unique_by_value(xp: ArrayNamespace, x: Array) -> tuple[Array, Array]:
    _, first, inverse = xp.unique(x, return_index=True, return_inverse=True, equal_nan=False)
    order = xp.argsort(first)  # by first appearance instead of by value
    rank = xp.empty(order.shape, order.dtype)
    rank[order] = xp.arange(len(order))
    return first[order], rank[inverse]


unique_op = define_op(
    "UniqueWithCounts",
    args("x", PLAIN),
    infer=_unique_infer,
    kernel=_unique_kernel,
    native=NO_NATIVE,
    xla=DATA_SHAPED,
    vjp=NOT_DIFFERENTIABLE,
    outputs=3,
    trusts_kernel=True,
    fresh=True,
)


def unique(x: TensorLike, out_idx: DTypeLike = int32, name: str | None = None) -> Unique:
    """The different values of a vector in the order of their first appearance.

    Args:
      x: a vector of numbers, truth values or strings. Each NaN is a value of its own.
      out_idx: the dtype of the places, int32 or int64.

    Returns:
      A named tuple (y, idx): the values, and for each element of `x` the place of its value in y.

    Raises:
      ShapeError: if `x` is no vector.
      DTypeError: if `out_idx` is another dtype.

    >>> y, idx = tf.unique([4, 1, 4, 2])
    >>> y.numpy(), idx.numpy()
    (array([4, 1, 2], dtype=int32), array([0, 1, 0, 2], dtype=int32))
    """
    found = unique_op(convert_to_tensor(x), out_idx=_index_type("unique", out_idx), name=name)
    return Unique(*found[:2])


def unique_with_counts(
    x: TensorLike, out_idx: DTypeLike = int32, name: str | None = None
) -> UniqueWithCounts:
    """The different values of a vector in the order of their first appearance, and how often.

    Args:
      x: a vector of numbers, truth values or strings. Each NaN is a value of its own.
      out_idx: the dtype of the places and counts, int32 or int64.

    Returns:
      A named tuple (y, idx, count): the values, for each element of `x` the place of its value in
      y, and how often each value occurs.

    Raises:
      ShapeError: if `x` is no vector.
      DTypeError: if `out_idx` is another dtype.

    >>> y, idx, count = tf.unique_with_counts([4, 1, 4, 2])
    >>> count.numpy()
    array([2, 1, 1], dtype=int32)
    """
    dtype = _index_type("unique_with_counts", out_idx)
    return UniqueWithCounts(*unique_op(convert_to_tensor(x), out_idx=dtype, name=name))
