"""How the parts of elements are stacked and taken apart: tensors, ragged and sparse ones.

A *column* says it of one part: its kind, the number of arrays it is made of in an element, and a
detail. Elements of tensors alone need no columns; their arrays are stacked as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from weft._src import nest
from weft._src.core.aliases import SpecNest
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array
from weft._src.data.core import structure
from weft._src.data.core.stage import stack_column
from weft._src.data.core.structure import Values
from weft._src.errors import DataLossError, InvalidArgumentError, ShapeError
from weft._src.ops.extension import batching
from weft._src.ops.ragged.spec import RaggedTensorSpec
from weft._src.ops.sparse.tensor import SparseTensorSpec


class Column(NamedTuple):
    """One part of an element."""

    kind: str  # "tensor", "ragged", "sparse"; "to ragged", "to sparse": tensors that become it
    width: int = 1
    detail: Any = None  # dtype of the splits; for "to ragged" also the axis; the shape of a row


def plain(columns: Sequence[Column]) -> tuple[tuple[Any, ...], ...]:
    """Columns as an attribute of an op."""
    return tuple([tuple(column) for column in columns])


def from_plain(layout: Sequence[tuple[Any, ...]]) -> tuple[Column, ...]:
    """Columns out of an attribute."""
    return tuple([Column(*column) for column in layout])


def columns_of(spec: SpecNest) -> tuple[Column, ...]:
    """The columns of elements of a type."""
    return tuple([c for leaf in nest.flatten(spec) if not _is_none(leaf) for c in _columns(leaf)])


def _is_none(leaf: Any) -> bool:
    return isinstance(leaf, structure.NoneTensorSpec)


def _columns(leaf: Any) -> list[Column]:
    if isinstance(leaf, RaggedTensorSpec):
        return [Column("ragged", leaf.ragged_rank + 1, leaf.row_splits_dtype.name)]
    if isinstance(leaf, SparseTensorSpec):
        return [Column("sparse", 3)]
    if batching.encoder_of(leaf) is not None:
        return list(columns_of(leaf._component_specs))
    return [Column("tensor")]


def parts_of(value: Any) -> list[Any]:
    """The tensors, ragged and sparse tensors of a value: of an extension type those in it."""
    if batching.encoder_of(value) is None:
        return [value]
    return [part for item in value._type_spec._to_components(value) for part in parts_of(item)]


def all_tensors(columns: Sequence[Column]) -> bool:
    """Whether arrays can be stacked as they are."""
    return all(column.kind == "tensor" for column in columns)


# --- types -------------------------------------------------------------------------------------


def map_leaves(function: Callable[[Any], Any], spec: SpecNest, method: str) -> Any:
    """The specs of changed parts; None stays, anything but tensors is refused by name."""

    def leaf(item: Any) -> Any:
        if _is_none(item):
            return item
        known = isinstance(item, (TensorSpec, RaggedTensorSpec, SparseTensorSpec))
        if not known and batching.encoder_of(item) is None:
            raise TypeError(
                f"Dataset.{method}: elements that hold {item!r} cannot be handled. (An extension "
                "type can be batched if it is a tf.experimental.BatchableExtensionType.)"
            )
        return function(item)

    return nest.map_structure(leaf, spec)


def batched(spec: Any, size: int | None) -> Any:
    """The spec of several values along a new first axis."""
    return batching.batched_spec(spec, size)


def row_of(spec: Any, method: str) -> Any:
    """The spec of one row of a value."""
    return batching.row_spec(spec, f"Dataset.{method}")


# --- stacking ----------------------------------------------------------------------------------


def stacked(columns: Sequence[Column], elements: Sequence[Values]) -> Values:
    """Elements along a new first axis."""
    out: list[Any] = []
    at = 0
    for number, column in enumerate(columns):
        end = at + column.width
        parts = [element[at:end] for element in elements]
        if column.kind == "tensor":
            out.append(stack_column([part[0] for part in parts], number))
        elif column.kind == "sparse":
            out += _stack_sparse(parts)
        elif column.kind == "to sparse":
            dense = [np.asarray(part[0]) for part in parts]
            out += _stack_sparse([_as_sparse(x, dense, column.detail) for x in dense])
        elif column.kind == "ragged":
            out += _stack_ragged(parts, column.detail)
        else:
            dtype, axis = column.detail
            ragged = [_as_ragged(np.asarray(part[0]), axis) for part in parts]
            out += _stack_ragged(ragged, dtype)
        at = end
    return tuple(out)


def _stack_ragged(parts: Sequence[Values], dtype: str) -> list[Array]:
    """The values of all, where each begins, and the splits of inner axes moved to there."""
    depth = len(parts[0])
    lengths = [len(part[1]) - 1 if depth > 1 else len(part[0]) for part in parts]
    out = [_joined([part[0] for part in parts]), _splits_of(lengths, dtype)]
    for level in range(1, depth):
        inner = np.concatenate([np.diff(part[level]) for part in parts])
        out.append(_splits_of(inner, dtype))
    return out


def _splits_of(lengths: Any, dtype: str) -> Array:
    out = np.zeros(len(lengths) + 1, dtype)
    np.cumsum(lengths, out=out[1:])
    return out


def _joined(flat: Sequence[Array]) -> Array:
    for i, value in enumerate(flat):
        if value.shape[1:] != flat[0].shape[1:]:
            raise InvalidArgumentError(
                None,
                None,
                "Dataset.batch: the inner sizes of ragged elements must agree, the first has "
                f"{flat[0].shape[1:]}, element {i} has {value.shape[1:]}.",
            )
    return np.concatenate(flat)


def _as_ragged(x: Array, axis: int) -> Values:
    """A tensor with rows of equal lengths along all axes up to `axis`."""
    splits = []
    count = 1
    for size, inner in zip(x.shape[:axis], x.shape[1:], strict=False):
        count *= size
        splits.append(np.arange(count + 1) * inner)
    return x.reshape(-1, *x.shape[axis + 1 :]) if axis else x, *splits


def _stack_sparse(parts: Sequence[Values]) -> list[Array]:
    numbers = [np.full((len(part[1]), 1), i, np.int64) for i, part in enumerate(parts)]
    indices = [np.concatenate([n, part[0]], 1) for n, part in zip(numbers, parts, strict=True)]
    sizes = np.max([part[2] for part in parts], 0)
    shape = np.array([len(parts), *sizes], np.int64)
    return [np.concatenate(indices), np.concatenate([part[1] for part in parts]), shape]


def _as_sparse(x: Array, all_of_them: Sequence[Array], wanted: Sequence[int]) -> Values:
    """All elements of a tensor, in a shape that holds it; a size of -1 is that of the largest."""
    if x.ndim != len(wanted):
        raise InvalidArgumentError(
            None,
            None,
            f"Dataset.sparse_batch: an element has shape {x.shape}, but row_shape has "
            f"{len(wanted)} sizes.",
        )
    largest = [max(sizes) for sizes in zip(*[other.shape for other in all_of_them], strict=False)]
    shape = [big if size < 0 else size for big, size in zip(largest, wanted, strict=True)]
    if any(n > size for n, size in zip(x.shape, shape, strict=True)):
        raise DataLossError(
            None,
            None,
            f"Dataset.sparse_batch: an element has shape {x.shape}, which is larger than the "
            f"row_shape {tuple(shape)}.",
        )
    indices = np.argwhere(np.ones(x.shape, bool)).astype(np.int64).reshape(x.size, x.ndim)
    return indices, x.reshape(-1), np.array(shape, np.int64)


# --- taking apart ------------------------------------------------------------------------------


def count_rows(columns: Sequence[Column], values: Values, method: str) -> int:
    """The number of rows, which all parts must have."""
    counts = []
    at = 0
    for column in columns:
        part = values[at : at + column.width]
        if column.kind == "sparse":
            counts.append(int(part[2][0]))
        else:
            counts.append(len(part[1]) - 1 if column.width > 1 else len(part[0]))
        at += column.width
    if len(set(counts)) != 1:
        raise ShapeError(
            f"Dataset.{method}: all components must have the same number of rows, got {counts}."
        )
    return counts[0]


def by_row(columns: Sequence[Column], values: Values) -> Values:
    """The same with the elements of sparse parts in the order of their rows, so they are found."""
    out = list(values)
    at = 0
    for column in columns:
        if column.kind == "sparse":
            numbers = values[at][:, 0]
            if (numbers[1:] < numbers[:-1]).any():
                order = np.argsort(numbers, kind="stable")
                out[at], out[at + 1] = values[at][order], values[at + 1][order]
        at += column.width
    return tuple(out)


def row(columns: Sequence[Column], values: Values, i: int) -> Values:
    """One row of each part."""
    out: list[Any] = []
    at = 0
    for column in columns:
        part = values[at : at + column.width]
        if column.kind == "sparse":
            out += _sparse_row(part, i)
        elif column.width > 1:
            out += _ragged_row(part, i)
        else:
            out.append(part[0][i, ...])
        at += column.width
    return tuple(out)


def _ragged_row(part: Values, i: int) -> list[Any]:
    flat, outer, *inner = part
    first, last = int(outer[i]), int(outer[i + 1])
    splits = []
    for level in inner:
        splits.append(level[first : last + 1] - level[first])
        first, last = int(level[first]), int(level[last])
    return [flat[first:last], *splits]


def _sparse_row(part: Values, i: int) -> list[Any]:
    indices, values, shape = part
    first, last = np.searchsorted(indices[:, 0], [i, i + 1])
    return [indices[first:last, 1:], values[first:last], shape[1:]]
