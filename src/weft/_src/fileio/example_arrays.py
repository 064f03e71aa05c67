"""Columns of parsed Examples as arrays: dense, filled up, sparse, ragged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core import memory
from weft._src.core.dtypes import string
from weft._src.errors import InvalidArgumentError
from weft._src.fileio.example_columns import MISSING, Column
from weft._src.fileio.features import Partition, Wanted

Array = np.ndarray[Any, Any]


def sparse(column: Column, is_single: bool) -> list[Array]:
    """The parts of a sparse tensor: a row for each example, or a vector for a single one."""
    counts, values = np.maximum(column.counts, 0), column.values
    ends = np.cumsum(counts)
    places = np.arange(len(values))
    if is_single:
        return [places[:, None], values, counts]
    indices = np.empty((len(values), 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(counts)), counts)
    indices[:, 1] = places - np.repeat(ends - counts, counts)
    return [indices, values, np.array([len(counts), counts.max(initial=0)], np.int64)]


def indexed(item: Wanted, column: Column, index: Sequence[Column], is_single: bool) -> list[Array]:
    """The same with indices that are features as well, one for each axis."""
    counts = np.maximum(column.counts, 0)
    for key, places in zip(item.index_keys, index, strict=True):
        others = np.maximum(places.counts, 0)
        if (others != counts).any():
            i = int(np.argmax(others != counts))
            raise InvalidArgumentError(
                None,
                None,
                f"parse_example: the SparseFeature {item.name!r} of example {i} has {counts[i]} "
                f"values in {item.key!r} and {others[i]} indices in {key!r}.",
            )
    example = np.repeat(np.arange(len(counts)), counts)
    indices = np.stack([example, *[places.values for places in index]], 1)
    is_outside = (indices[:, 1:] < 0) | (indices[:, 1:] >= item.shape)
    if is_outside.any():
        row, axis = np.argwhere(is_outside)[0].tolist()
        raise InvalidArgumentError(
            None,
            None,
            f"parse_example: the SparseFeature {item.name!r} of example {example[row]} has the "
            f"index {indices[row, axis + 1]} in {item.index_keys[axis]!r}, beyond the size "
            f"{item.shape[axis]}.",
        )
    values = column.values
    if not item.is_sorted:
        order = np.lexsort(indices.T[::-1])
        indices, values = indices[order], values[order]
    shape = np.array([len(counts), *item.shape], np.int64)
    return [indices[:, 1:], values, shape[1:]] if is_single else [indices, values, shape]


def fixed(item: Wanted, column: Column, default: Array | None) -> Array:
    """All examples have as many values as the shape; those without any have the default."""
    counts, values = column
    size = math.prod(item.shape)
    shape = (len(counts), *item.shape)
    if (counts == size).all():
        return values.reshape(shape)
    is_missing = counts == MISSING
    for i in np.flatnonzero(counts != size).tolist():
        if not is_missing[i]:
            raise InvalidArgumentError(
                None,
                None,
                f"parse_example: the feature {item.name!r} of example {i} has {counts[i]} values, "
                f"expected {size} for shape {item.shape}.",
            )
        if default is None:
            raise InvalidArgumentError(
                None,
                None,
                f"parse_example: the feature {item.name!r} ({item.dtype.name}) is missing in "
                f"example {i}. Give it a default_value if it may be.",
            )
    assert default is not None
    out = np.empty(shape, item.dtype.numpy_dtype)
    out[~is_missing] = values.reshape(-1, *item.shape)
    out[is_missing] = default
    return out


def sequences(item: Wanted, column: Column, default: Array | None) -> Array:
    """Rows of the shape, in examples with fewer than others filled up."""
    counts, values = np.maximum(column.counts, 0), column.values
    size = math.prod(item.shape)
    wrong = np.flatnonzero(counts % size if size else counts >= 0)
    if len(wrong):
        i = int(wrong[0])
        raise InvalidArgumentError(
            None,
            None,
            f"parse_example: the feature {item.name!r} of example {i} has {counts[i]} values, "
            f"which is no multiple of the {size} of shape {item.shape}.",
        )
    longest = int(counts.max(initial=0))
    fill = b"" if item.dtype is string else 0
    padding = fill if default is None else default.reshape(-1)[0]
    memory.check("parse_example", (len(counts), longest), item.dtype.numpy_dtype)
    out = np.full((len(counts), longest), padding, item.dtype.numpy_dtype)
    out[np.arange(longest) < counts[:, None]] = values
    rows = longest // size if size else 0
    return out.reshape(len(counts), rows, *item.shape)


# --- ragged --------------------------------------------------------------------------------------


def ragged(item: Wanted, column: Column, parts: Sequence[Column | None]) -> list[Array]:
    """All values, where rows end for each partition from the innermost on, and for the examples.

    Args:
        item: The feature.
        column: Its values.
        parts: What its partitions hold; None for those of one length.
    """
    out = [column.values]
    sizes = np.maximum(column.counts, 0)  # how much each example has of the level below
    for part, found in reversed(list(zip(item.partitions, parts, strict=True))):
        if found is None:
            rows = sizes // part.length
            is_wrong = sizes % part.length != 0
        else:
            lengths, rows, is_wrong = _rows(part, found, sizes)
            of_example = np.repeat(np.arange(len(sizes)), rows)
            is_wrong |= np.bincount(of_example, lengths, len(sizes)) != sizes
            is_wrong[of_example[lengths < 0]] = True
            out.append(splits(lengths, item))
        if is_wrong.any():
            i = int(np.argmax(is_wrong))
            raise InvalidArgumentError(
                None,
                None,
                f"parse_example: the partition {part.words} of {item.name!r} does not fit the "
                f"{sizes[i]} values or rows of example {i}.",
            )
        sizes = rows
    return [*out, splits(sizes, item)]


def splits(lengths: Array, item: Wanted) -> Array:
    """Where rows of these lengths begin and end."""
    out = np.zeros(len(lengths) + 1, item.splits_dtype.numpy_dtype)
    np.cumsum(lengths, out=out[1:], dtype=out.dtype)
    return out


def _rows(part: Partition, column: Column, sizes: Array) -> tuple[Array, Array, Array]:
    """The lengths of all rows, how many rows each example has, and which examples are wrong."""
    counts, numbers = np.maximum(column.counts, 0), column.values
    is_wrong = np.zeros(len(counts), np.bool_)
    ends = np.cumsum(counts)
    some = np.flatnonzero(counts)  # the examples that have any numbers
    first, last = (ends - counts)[some], ends[some] - 1
    if part.kind == "RowLengths":
        return numbers, counts, is_wrong
    if part.kind == "RowStarts":
        lengths = np.diff(numbers, append=0)
        lengths[last] = sizes[some] - numbers[last]
        return lengths, counts, is_wrong
    lengths = np.diff(numbers, prepend=0)
    lengths[first] = numbers[first]
    if part.kind == "RowLimits":
        return lengths, counts, is_wrong
    if part.kind == "RowSplits":  # the first number of an example is a zero that ends no row
        is_wrong[some] = numbers[first] != 0
        return np.delete(lengths, first), np.maximum(counts - 1, 0), is_wrong
    # ValueRowIds, which do not fall; rows without values may follow on each other.
    is_wrong[np.repeat(np.arange(len(counts)), counts)[lengths < 0]] = True
    rows = np.zeros_like(sizes)
    rows[some] = np.where(is_wrong[some], 0, np.minimum(numbers[last], 2**62) + 1)
    total = sum(rows.tolist())
    memory.check("parse_example", (total,), rows.dtype)
    is_fine = np.repeat(~is_wrong, counts)
    places = (numbers + np.repeat(np.cumsum(rows) - rows, counts))[is_fine]
    return np.bincount(places, minlength=total), rows, is_wrong
