"""Where rows begin and end, in its different forms, computed with ops.

The rows of `values` are described by `splits`: row i is `values[splits[i]:splits[i + 1]]`.
"""

from __future__ import annotations

from typing import Any

from weft._src.core import dtypes
from weft._src.core.aliases import TensorLike
from weft._src.core.context import init_scope
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, int32, int64
from weft._src.core.location import called_function
from weft._src.core.tensor import Tensor
from weft._src.errors import ArgumentError, DTypeError
from weft._src.ops import static
from weft._src.ops.arrays import fill, joining, ranges, shape as shapes
from weft._src.ops.elementwise import arithmetic, casting, comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering
from weft._src.ops.programs import with_kernel
from weft._src.ops.ragged import row_arrays
from weft._src.ops.reduce import order, scans, searching

INTEGERS = (int32, int64)


def integers(value: TensorLike, what: str, dtype: DType = int64) -> Tensor:
    """A vector of int32 or int64 that describes rows; Python numbers become `dtype`."""
    found = value if isinstance(value, Tensor) else convert_to_tensor(value, dtype_hint=dtype)
    if found.dtype not in INTEGERS:
        raise DTypeError(
            f"{called_function()}: {what} must be int32 or int64, got {found.dtype.name}."
        )
    return found


def splits_dtype(value: Any) -> DType:
    """The argument `row_splits_dtype`."""
    dtype = dtypes.as_dtype(value)
    if dtype not in INTEGERS:
        raise ArgumentError(f"row_splits_dtype must be int32 or int64, got {dtype.name}.")
    return dtype


def count(values: Tensor, dtype: DType) -> Tensor:
    """The number of rows of a tensor."""
    return shapes.shape_op(values, out_type=dtype)[0]


def from_lengths(lengths: Tensor) -> Tensor:
    """The splits of rows of the given lengths."""
    zero = fill.zeros([1], lengths.dtype)
    return joining.concat([zero, scans.cumsum(lengths)], 0)


def from_rowids(rowids: Tensor, nrows: Any) -> Tensor:
    """The splits of rows to which sorted `rowids` assign the values."""
    rows = ranges.range(casting.cast(nrows, rowids.dtype) + 1, dtype=rowids.dtype)
    return searching.searchsorted(rowids, rows, out_type=rowids.dtype)


def lengths(splits: Tensor) -> Tensor:
    """The length of each row."""
    return splits[1:] - splits[:-1]


@with_kernel(row_arrays.rowids)
def rowids(splits: Tensor) -> Tensor:
    """The number of the row that each value belongs to."""
    places = ranges.range(splits[-1], dtype=splits.dtype)
    return searching.searchsorted(splits, places, side="right", out_type=splits.dtype) - 1


def columns(splits: Tensor, ids: Tensor) -> Tensor:
    """The place that each value has within its row."""
    return ranges.range(splits[-1], dtype=splits.dtype) - gathering.gather(splits, ids)


@with_kernel(row_arrays.picked)
def picked(splits: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """The splits of the rows that indices name, and where their values are found."""
    chosen = from_lengths(gathering.gather(lengths(splits), indices))
    starts = gathering.gather(splits[:-1], indices)
    ids = rowids(chosen)
    return chosen, gathering.gather(starts, ids) + columns(chosen, ids)


def check_splits(splits: Tensor, size: Tensor) -> None:
    """InvalidArgumentError unless the splits begin at 0, never fall, and end at `size`."""
    text = "RaggedTensor: row_splits must begin with 0"
    require(lambda s: comparison.equal(s[:1], 0), [splits], text, ("row_splits",))
    text = "RaggedTensor: row_splits must not decrease"
    require(lambda s: s[1:] >= s[:-1], [splits], text, ("row_splits",))
    text = "RaggedTensor: row_splits must end with the number of values"
    require(lambda s, n: comparison.equal(s[-1], n), [splits, size], text, ("row_splits", "values"))


def check_rowids(ids: Tensor, nrows: Tensor, size: Tensor) -> None:
    """InvalidArgumentError unless row ids are sorted and name rows there are."""
    text = "RaggedTensor: value_rowids must be sorted"
    require(lambda i: i[1:] >= i[:-1], [ids], text, ("value_rowids",))
    text = "RaggedTensor: value_rowids must lie between 0 and nrows - 1"
    require(lambda i, n: (i >= 0) & (i < n), [ids, nrows], text, ("value_rowids", "nrows"))
    text = "RaggedTensor: value_rowids must have one entry per value"
    require(
        lambda i, n: comparison.equal(count(i, n.dtype), n),
        [ids, size],
        text,
        ("value_rowids", "values"),
    )


def check_count(a: Tensor, b: Tensor, what: str) -> None:
    """InvalidArgumentError unless two ragged tensors have equally many rows."""
    text = f"{what}: the ragged operands must have equally many rows"
    counts = [count(a, int64) - 1, count(b, int64) - 1]
    require(comparison.equal, counts, text, ("rows of the first", "rows of the second"))


def check_same(a: Tensor, b: Tensor, what: str) -> None:
    """InvalidArgumentError unless two ragged tensors have rows of the same lengths."""
    if a is b:
        return
    if a.dtype is not b.dtype:
        a, b = casting.cast(a, int64), casting.cast(b, int64)
    check_count(a, b, what)
    known = [static.static_value(splits) for splits in (a, b)]
    if known[0] is not None and known[1] is not None:
        with init_scope():  # found while tracing, before ops complain of other sizes
            _check_lengths(convert_to_tensor(known[0]), convert_to_tensor(known[1]), what)
    else:
        _check_lengths(a, b, what)


def _check_lengths(a: Tensor, b: Tensor, what: str) -> None:
    # Up to the first end of a row that differs all are equal, so that row's lengths differ.
    end = order.argmax(casting.cast(comparison.not_equal(a, b), int32))
    row = end - 1
    start = arithmetic.maximum(row, 0)
    require(
        lambda _, x, y: comparison.equal(x, y),
        [row, a[end] - a[start], b[end] - b[start]],
        f"{what}: the ragged operands must have rows of equal lengths",
        ("row", "length in the first", "length in the second"),
    )
