"""Rows, slices of rows, and slices within rows of a ragged tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.convert import convert_to_tensor
from weft._src.core.tensor import Tensor
from weft._src.ops import static
from weft._src.ops.arrays import ranges, shape as shapes
from weft._src.ops.elementwise import arithmetic, casting
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering
from weft._src.ops.ragged import rows, tensor as ragged


def get_item(rt: ragged.RaggedTensor, key: Any) -> Any:
    """`rt[key]`: rows by number or slice, then slices within rows."""
    keys = list(key) if isinstance(key, tuple) else [key]
    return _get(rt, _without_ellipsis(rt, keys))


def _without_ellipsis(rt: ragged.RaggedTensor, keys: list[Any]) -> list[Any]:
    places = [i for i, k in enumerate(keys) if k is Ellipsis]
    if not places:
        return keys
    if len(places) > 1:
        raise IndexError("A RaggedTensor is indexed with at most one ellipsis (...).")
    rank = rt.shape.rank
    if rank is None:
        raise ValueError("An ellipsis needs a RaggedTensor whose rank is known while tracing.")
    given = sum(k is not None for k in keys) - 1
    at = places[0]
    return [*keys[:at], *[slice(None)] * (rank - given), *keys[at + 1 :]]


def _get(x: Any, keys: list[Any]) -> Any:
    if not keys:
        return x
    if not isinstance(x, ragged.RaggedTensor):
        return x[tuple(keys)]
    first, *rest = keys
    if first is None:
        inner = _get(x, rest)
        return shapes.expand_dims(inner, 0)
    if isinstance(first, slice):
        return _inner(_sliced_rows(x, first), rest)
    return _get(_row(x, first), rest)


def _row(rt: ragged.RaggedTensor, index: Any) -> Any:
    """One row: a slice of the values."""
    number = convert_to_tensor(index)
    if not number.dtype.is_integer or number.shape.rank not in (None, 0):
        raise TypeError(
            f"A RaggedTensor is indexed with integers and slices, got {index!r}. Use tf.gather for "
            "several rows."
        )
    number = casting.cast(number, rt.row_splits.dtype)
    known, count = static.static_value(number), rt.shape[0] if rt.shape.rank else None
    if known is not None and count is not None:
        if not -count <= known < count:
            raise IndexError(f"Row {int(known)} of a RaggedTensor with {count} rows.")
        number = convert_to_tensor(np.asarray(known + count if known < 0 else known))
    else:
        total = rt.nrows()
        text = "A RaggedTensor is indexed with a row it does not have"
        names = ("row", "number of rows")
        require(lambda i, n: (i >= -n) & (i < n), [number, total], text, names)
        number = number + total * casting.cast(number < 0, number.dtype)
    splits = rt.row_splits
    return _rows_between(rt.values, splits[number], splits[number + 1])


def _rows_between(values: Any, start: Tensor, stop: Tensor) -> Any:
    if not isinstance(values, ragged.RaggedTensor):
        return values[start:stop]
    return gather_rows(values, ranges.range(start, stop, dtype=start.dtype))


def _sliced_rows(rt: ragged.RaggedTensor, key: slice) -> ragged.RaggedTensor:
    if key == slice(None):
        return rt
    numbers = ranges.range(rt.nrows(), dtype=rt.row_splits.dtype)
    return gather_rows(rt, numbers[key])


def _inner(rt: ragged.RaggedTensor, keys: list[Any]) -> ragged.RaggedTensor:
    """The same rows, each with the remaining keys applied to it."""
    if not keys:
        return rt
    first, *rest = keys
    if first is None:  # a new axis of size one inside of every row's place
        one = ranges.range(rt.nrows() + 1, dtype=rt.row_splits.dtype)
        return ragged.RaggedTensor._of(_inner(rt, rest), one, 1)
    if not isinstance(first, slice):
        raise ValueError(
            "A ragged axis cannot be indexed with a number: rows may be too short for it. Use a "
            "slice, such as x[:, 1:2]."
        )
    cut = rt if first == slice(None) else _cut_rows(rt, first)
    return cut.with_values(_inner_values(cut.values, rest))


def _inner_values(values: Any, keys: list[Any]) -> Any:
    if not keys:
        return values
    if isinstance(values, ragged.RaggedTensor):
        return _inner(values, keys)
    return values[(slice(None), *keys)]


def _cut_rows(rt: ragged.RaggedTensor, key: slice) -> ragged.RaggedTensor:
    """Every row sliced as Python slices a list."""
    splits = rt.row_splits
    lengths = rows.lengths(splits)
    step = 1 if key.step is None else static.static_int("RaggedTensor", key.step, "step")
    if step == 0:
        raise ValueError("The step of a slice must not be 0.")
    # Python's rule: bounds count from the end if negative, and are then cut to what there is.
    low, high = (0, lengths) if step > 0 else (-1, lengths - 1)
    start = _bound(key.start, lengths, low, high, low if step > 0 else high)
    stop = _bound(key.stop, lengths, low, high, high if step > 0 else low)
    span = (stop - start) if step > 0 else (start - stop)
    count = arithmetic.maximum((span + abs(step) - 1) // abs(step), 0)
    chosen = rows.from_lengths(count)
    ids = rows.rowids(chosen)
    first = gathering.gather(splits[:-1] + start, ids)
    places = first + rows.columns(chosen, ids) * step
    length = None
    if isinstance(rt._row_length, int) and all(
        k is None or isinstance(k, int) for k in (key.start, key.stop)
    ):
        length = len(range(*slice(key.start, key.stop, step).indices(rt._row_length)))
    return ragged.RaggedTensor._of(_gathered(rt.values, places), chosen, length)


def _bound(value: Any, lengths: Tensor, low: Any, high: Any, default: Any) -> Any:
    if value is None:
        return default + lengths * 0
    bound = casting.cast(convert_to_tensor(value), lengths.dtype)
    bound = bound + lengths * casting.cast(bound < 0, lengths.dtype)
    return arithmetic.minimum(arithmetic.maximum(bound, low), high)


def _gathered(values: Any, indices: Tensor, uniform: bool = True) -> Any:
    if isinstance(values, ragged.RaggedTensor):
        return gather_rows(values, indices, uniform=uniform)
    return gathering.gather(values, indices)


def gather_rows(
    rt: ragged.RaggedTensor, indices: Tensor, *, uniform: bool = True
) -> ragged.RaggedTensor:
    """The rows that a vector of indices names.

    Rows of one length still have it, unless `uniform` is False.
    """
    splits, places = rows.picked(rt.row_splits, indices)
    length = rt._row_length if uniform else None
    return ragged.RaggedTensor._of(_gathered(rt.values, places, uniform), splits, length)
