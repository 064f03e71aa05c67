"""Rows as sets: intersection, union, difference, and how many different values there are.

The sets lie along the last axis, of tensors or of sparse tensors.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import STRING, int8, int16, int32, int64, uint8, uint16
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array
from weft._src.errors import DTypeError, InvalidArgumentError, ShapeError
from weft._src.ops import rules
from weft._src.ops.arrays import fill, shape as shapes
from weft._src.ops.indexing import masks
from weft._src.ops.programs import with_kernel
from weft._src.ops.registry import DATA_SHAPED, NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.sparse.place_arrays import indices_at
from weft._src.ops.sparse.tensor import SparseTensor, sparse

_INT64 = frozenset({int64})
_ALLOWED = STRING | {int8, int16, int32, int64, uint8, uint16}
_NUMBERS = {dtype.numpy_dtype for dtype in _ALLOWED - STRING}

# By name: of sorted different numbers, and of marks at the places of the numbers.
_OPERATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "intersection": lambda a, b: np.intersect1d(a, b, assume_unique=True),
    "union": lambda a, b: _different(np.concatenate([a, b])),
    "a-b": lambda a, b: np.setdiff1d(a, b, assume_unique=True),
    "b-a": lambda a, b: np.setdiff1d(b, a, assume_unique=True),
}
_OF_MARKS: dict[str, Callable[[Array, Array], Array]] = {
    "intersection": np.logical_and,
    "union": np.logical_or,
    "a-b": np.greater,
    "b-a": np.less,
}
_ROOM_FOR_MARKS = 32  # times as many as there are numbers


def _rows(name: str, indices: Array, shape: Array, validate: bool) -> Array:
    """The row of each element, when all indices were found to be as they must.

    As numbers if all places of the shape have one, or as leading indices.
    """
    if len(indices) and (indices.min() < 0 or (indices.max(0) >= shape).any()):
        raise InvalidArgumentError(
            None, None, f"sets: an index of {name} lies outside of its shape {shape.tolist()}."
        )
    sizes = tuple(shape.tolist())
    places = None
    if 0 < math.prod(sizes) < _MANY_PLACES:
        places = np.ravel_multi_index(tuple(indices.T), sizes)
    if validate and len(indices) > 1 and not _is_ordered(indices, places):
        raise InvalidArgumentError(
            None, None, f"sets: the indices of {name} are out of order. Use tf.sparse.reorder."
        )
    return indices[:, :-1] if places is None else places // sizes[-1]


def _is_ordered(indices: Array, places: Array | None) -> bool:
    """Whether each index comes after the one before."""
    if places is not None:
        return bool((places[1:] > places[:-1]).all())
    steps = np.diff(indices, axis=0)
    first = (steps != 0).argmax(axis=1)  # the axis that decides which one comes first
    return bool((np.take_along_axis(steps, first[:, None], 1) > 0).all())


class _Numbers(NamedTuple):
    """Things as numbers below `span`, in the order that the things have."""

    numbers: Array
    span: int
    back: Callable[[Array], Array]


_SMALL = 2**31  # two numbers below that fit an int64
_MANY_PLACES = 2**62


def _row_numbers(both: list[Array], leading: list[Array], sizes: tuple[int, ...]) -> _Numbers:
    """Rows: by their places if there are not too many, or by their ranks."""
    count = math.prod(sizes)
    if sizes and count < _SMALL and all(rows.ndim == 1 for rows in both):
        numbers = np.concatenate(both)
        return _Numbers(numbers, count, lambda n: np.stack(np.unravel_index(n, sizes), axis=1))
    rows = np.concatenate(leading)
    known, ranks = np.unique(rows, axis=0, return_inverse=True)
    return _Numbers(ranks.reshape(-1), len(known), lambda n: known[n])


def _value_numbers(values: Array) -> _Numbers:
    """Values: by their distance from the least if that is small, or by their ranks."""
    if values.dtype != object and values.size:
        least = int(values.min())
        count = int(values.max()) - least + 1
        if count < _SMALL:
            numbers = values.astype(np.int64) - least
            return _Numbers(numbers, count, lambda n: n + least)
    known, ranks = np.unique(values, return_inverse=True)
    return _Numbers(ranks, max(len(known), 1), lambda n: known[n])


def _different(numbers: Array) -> Array:
    """Every number once, in order; sorting takes a tenth of what NumPy's hashing does."""
    found = np.sort(numbers)
    return found[np.diff(found, prepend=-1) != 0]


class _Runs(NamedTuple):
    """Rows that occur, in order, and how often each does."""

    rows: Array
    counts: Array


def _runs(rows: Array) -> _Runs:
    begins = np.flatnonzero(np.diff(rows, prepend=-1))
    return _Runs(rows[begins], np.diff(begins, append=len(rows)))


def _operation_infer(*inputs: TensorSpec, **_: Any) -> tuple[TensorSpec, ...]:
    shapes_ = [rules.dims_from_value("sets", spec, name="shape") for spec in inputs[2::3]]
    for dims in shapes_:
        if dims is not None and len(dims) < 2:
            raise ShapeError(f"sets: a and b must have rank 2 or more, got shape {list(dims)}.")
    first, second = shapes_
    if first is not None and second is not None:
        rules.merge_dims("sets", first[:-1], second[:-1], "all but the last axis of a and b")
    rank = next((len(dims) for dims in shapes_ if dims is not None), None)
    count: Any = Dim()
    return (
        TensorSpec.of(int64, (count, Dim() if rank is None else rank)),
        TensorSpec.of(inputs[1].dtype, (count,)),
        TensorSpec.of(int64, (Dim() if rank is None else rank,)),
    )


def _operation_kernel(
    xp: ArrayNamespace, *inputs: Array, set_operation: str, validate_indices: bool
) -> tuple[Array, ...]:
    a, b = inputs[:3], inputs[3:]
    rows = [_rows("a", a[0], a[2], validate_indices), _rows("b", b[0], b[2], validate_indices)]
    sizes = tuple(np.maximum(a[2], b[2])[:-1].tolist())
    row_numbers = _row_numbers(rows, [a[0][:, :-1], b[0][:, :-1]], sizes)
    value_numbers = _value_numbers(np.concatenate([a[1], b[1]]))
    pairs = row_numbers.numbers * value_numbers.span + value_numbers.numbers
    of_a, of_b = np.split(pairs, [len(a[1])])
    found = _combined_numbers(set_operation, of_a, of_b, row_numbers.span * value_numbers.span)
    leading = tuple(a[2][:-1].tolist())
    return _as_rows(found, row_numbers.back, value_numbers, leading, a[1].dtype)


def _as_rows(
    found: Array, row_of: Callable[[Array], Array], values: _Numbers, leading: tuple[int, ...],
    dtype: Any,
) -> tuple[Array, ...]:  # fmt: skip
    """Indices, values and shape of sets that are numbers: of a row and of a value each."""
    row = found // values.span
    value = found - row * values.span
    counts = _runs(row).counts
    places = np.empty((len(row), len(leading) + 1), np.int64)
    places[:, :-1] = row_of(row)
    places[:, -1] = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = np.array([*leading, counts.max(initial=0)], np.int64)
    return places, values.back(value).astype(dtype, copy=False), shape


def _of_tensors(operation: str) -> Callable[..., Any]:
    """The kernel for two arrays, of which all rows are sets: no index has to be looked at."""

    def kernel(a: Array, b: Array) -> Any:
        leading = a.shape[:-1]
        if a.ndim < 2 or b.shape[:-1] != leading or a.dtype != b.dtype or a.dtype not in _NUMBERS:
            return NotImplemented
        count = math.prod(leading)
        if not 0 < count < _SMALL or not a.size or not b.size:
            return NotImplemented
        values = _value_numbers(np.concatenate([a.reshape(-1), b.reshape(-1)]))
        of_a, of_b = np.split(values.numbers, [a.size])
        for numbers in (of_a, of_b):
            by_row = numbers.reshape(count, -1)
            by_row += np.arange(0, count * values.span, values.span)[:, None]
        found = _combined_numbers(operation, of_a, of_b, count * values.span)
        return _as_rows(found, lambda n: indices_at(n, leading), values, leading, a.dtype)

    return kernel


def _combined_numbers(operation: str, a: Array, b: Array, span: int) -> Array:
    """The numbers below `span` that two sets make, in order; marks take a fifth of sorting."""
    if span > _ROOM_FOR_MARKS * (len(a) + len(b)):
        return _OPERATIONS[operation](_different(a), _different(b))
    marks = np.zeros((2, span), bool)
    marks[0, a] = True
    marks[1, b] = True
    return np.flatnonzero(_OF_MARKS[operation](*marks))


_a_values, _b_values = args("set1_values set2_values", _ALLOWED)

set_operation_op = define_op(
    "SparseToSparseSetOperation",
    (
        *args("set1_indices", _INT64),
        _a_values,
        *args("set1_shape", _INT64, is_shape=True),
        *args("set2_indices", _INT64),
        _b_values,
        *args("set2_shape", _INT64, is_shape=True),
    ),
    infer=_operation_infer,
    kernel=_operation_kernel,
    native=NO_NATIVE,
    xla=DATA_SHAPED,
    vjp=NOT_DIFFERENTIABLE,
    outputs=3,
    fresh=True,
)


def _operand(op: str, value: TensorLike, name: str) -> SparseTensor:
    """A sparse tensor, or all elements of a tensor as one."""
    if not isinstance(value, SparseTensor):
        x = convert_to_tensor(value)
        everywhere = masks.where_op(fill.ones(shapes.shape(x), "bool"))
        flat = shapes.reshape(x, [-1])
        value = SparseTensor._of(everywhere, flat, shapes.shape_op(x, out_type=int64))
    if value.dtype not in _ALLOWED:
        allowed = ", ".join(sorted(d.name for d in _ALLOWED))
        raise DTypeError(f"{op}: {name} must be one of {allowed}, got {value.dtype.name}.")
    return value


def _combined(
    op: str, operation: str, a: TensorLike, b: TensorLike, validate_indices: bool
) -> SparseTensor:
    if not isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        of_tensors = _TENSOR_SETS[operation]
        return SparseTensor._of(*of_tensors(convert_to_tensor(a), convert_to_tensor(b)))
    return SparseTensor._of(*_sparse_sets(op, operation, a, b, validate_indices))


def _sparse_sets(
    op: str, operation: str, a: TensorLike, b: TensorLike, validate_indices: bool = True
) -> Any:
    """Indices, values and shape of the result."""
    first, second = _operand(op, a, "a"), _operand(op, b, "b")
    if first.dtype is not second.dtype:
        raise DTypeError(
            f"{op}: a and b must have one dtype, got {first.dtype.name} and {second.dtype.name}."
        )
    parts = [x for sp in (first, second) for x in (sp.indices, sp.values, sp.dense_shape)]
    return set_operation_op(
        *parts, set_operation=operation, validate_indices=bool(validate_indices)
    )


# Both given as tensors, by the operation.
_TENSOR_SETS = {
    operation: with_kernel(_of_tensors(operation))(
        functools.partial(_sparse_sets, f"sets.{name}", operation)
    )
    for operation, name in {
        "intersection": "intersection", "union": "union", "a-b": "difference", "b-a": "difference",
    }.items()
}  # fmt: skip


def intersection(a: TensorLike, b: TensorLike, validate_indices: bool = True) -> SparseTensor:
    """The values that are in the rows of both, each once and in order.

    Args:
      a: sets along the last axis: a `tf.SparseTensor`, or a tensor, of rank 2 or more, of strings
        or integers (other than uint32 and uint64).
      b: others, of the same dtype; all sizes but the last are equal.
      validate_indices: whether it is an error if the indices of sparse tensors are not in order.

    Returns:
      A `tf.SparseTensor` of this dtype, as wide as the largest set.

    Raises:
      DTypeError: if the dtypes differ, or are others.
      ShapeError: if a rank is below 2, or other sizes differ.
      InvalidArgumentError: if indices are not in order, or lie outside of their shape.

    >>> tf.sparse.to_dense(tf.sets.intersection([[1, 2, 2]], [[2, 3]])).numpy()
    array([[2]], dtype=int32)
    """
    return _combined("sets.intersection", "intersection", a, b, validate_indices)


def union(a: TensorLike, b: TensorLike, validate_indices: bool = True) -> SparseTensor:
    """The values that are in a row of either, each once and in order.

    Args:
      a: sets along the last axis: a `tf.SparseTensor`, or a tensor, of rank 2 or more, of strings
        or integers (other than uint32 and uint64).
      b: others, of the same dtype; all sizes but the last are equal.
      validate_indices: whether it is an error if the indices of sparse tensors are not in order.

    Returns:
      A `tf.SparseTensor` of this dtype, as wide as the largest set.

    Raises:
      DTypeError: if the dtypes differ, or are others.
      ShapeError: if a rank is below 2, or other sizes differ.
      InvalidArgumentError: if indices are not in order, or lie outside of their shape.

    >>> tf.sparse.to_dense(tf.sets.union([[1, 2, 2]], [[2, 3]])).numpy()
    array([[1, 2, 3]], dtype=int32)
    """
    return _combined("sets.union", "union", a, b, validate_indices)


def difference(
    a: TensorLike, b: TensorLike, aminusb: bool = True, validate_indices: bool = True
) -> SparseTensor:
    """The values in the rows of a that are not in those of b (or the other way round).

    Args:
      a: sets along the last axis: a `tf.SparseTensor`, or a tensor, of rank 2 or more, of strings
        or integers (other than uint32 and uint64).
      b: others, of the same dtype; all sizes but the last are equal.
      aminusb: whether what is in `a` and not in `b` is meant; if not, the other way round.
      validate_indices: whether it is an error if the indices of sparse tensors are not in order.

    Returns:
      A `tf.SparseTensor` of this dtype, as wide as the largest set.

    Raises:
      DTypeError: if the dtypes differ, or are others.
      ShapeError: if a rank is below 2, or other sizes differ.
      InvalidArgumentError: if indices are not in order, or lie outside of their shape.

    >>> tf.sparse.to_dense(tf.sets.difference([[1, 2, 2]], [[2, 3]])).numpy()
    array([[1]], dtype=int32)
    """
    operation = "a-b" if aminusb else "b-a"
    return _combined("sets.difference", operation, a, b, validate_indices)


def _size_infer(indices: TensorSpec, values: TensorSpec, shape: TensorSpec, **_: Any) -> TensorSpec:
    dims = rules.dims_from_value("sets.size", shape, name="dense_shape")
    return TensorSpec.of(int32, None if dims is None else dims[:-1])


def _size_kernel(
    xp: ArrayNamespace, indices: Array, values: Array, shape: Array, *, validate_indices: bool
) -> Array:
    sizes = tuple(shape[:-1].tolist())
    out = np.zeros(sizes, np.int32)
    rows = _rows("a", indices, shape, validate_indices)
    row_numbers = _row_numbers([rows], [indices[:, :-1]], sizes)
    value_numbers = _value_numbers(values)
    pairs = _different(row_numbers.numbers * value_numbers.span + value_numbers.numbers)
    found = _runs(pairs // value_numbers.span)
    if len(pairs):
        out[tuple(row_numbers.back(found.rows).T)] = found.counts if sizes else found.counts[0]
    return out


size_op = define_op(
    "SetSize",
    args("set_indices", _INT64)
    + args("set_values", _ALLOWED)
    + args("set_shape", _INT64, is_shape=True),
    infer=_size_infer,
    kernel=_size_kernel,
    native=NO_NATIVE,
    xla=DATA_SHAPED,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def size(a: TensorLike, validate_indices: bool = True) -> Any:
    """How many different values each row of a sparse tensor has.

    Args:
      a: a `tf.SparseTensor` of strings or integers (other than uint32 and uint64).
      validate_indices: whether it is an error if the indices are not in order.

    Returns:
      An int32 tensor without the last axis.

    Raises:
      TypeError: if `a` is not sparse.
      DTypeError: if it has another dtype.
      InvalidArgumentError: if indices are not in order, or lie outside of their shape.

    >>> sp = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [7, 7, 8], [2, 3])
    >>> tf.sets.size(sp).numpy()
    array([1, 1], dtype=int32)
    """
    sp = _operand("sets.size", sparse("sets.size", a, "a"), "a")
    return size_op(sp.indices, sp.values, sp.dense_shape, validate_indices=bool(validate_indices))
