"""Ragged tensors in another order or form: reversed, repeated, sorted, summed up, cut, squeezed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import int32, int64
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import joining, ranges, shape as shapes, tiling
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering, masks
from weft._src.ops.ragged import indexing, rows, sparse
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.reduce import order, scans
from weft._src.ops.registry import Op

Attrs = dict[str, Any]


def known_rank(what: str, x: RaggedTensor) -> int:
    """The number of axes, which must be known."""
    rank = x.shape.rank
    if rank is None:
        raise ValueError(f"{what}: the rank of a RaggedTensor must be known while tracing.")
    return rank


# --- reverse and tile --------------------------------------------------------------------------


def reverse(op: Op, inputs: Sequence[Any], attrs: Attrs, name: str | None) -> Any:
    """The order along axes turned round."""
    (x,) = inputs
    for axis in rules.normalize_axes("reverse", attrs["axis"], known_rank("reverse", x)):
        x = _reversed(x, axis)
    return x


def _reversed(x: Any, axis: int) -> Any:
    if not isinstance(x, RaggedTensor):
        return tiling.reverse(x, [axis])
    if axis == 0:
        return x[::-1]
    return x[:, ::-1] if axis == 1 else x.with_values(_reversed(x.values, axis - 1))


def tile(op: Op, inputs: Sequence[Any], attrs: Attrs, name: str | None) -> Any:
    """The whole repeated along each axis."""
    x, multiples = inputs
    rank = known_rank("tile", x)
    if not multiples.shape.is_compatible_with([rank]):
        raise ShapeError(
            f"tile: multiples must have {rank} numbers, one for each axis of input, got shape "
            f"{multiples.shape}."
        )
    return _tiled(x, casting.cast(multiples, x.row_splits.dtype))


def _tiled(x: Any, multiples: Tensor) -> Any:
    if not isinstance(x, RaggedTensor):
        return tiling.tile(x, multiples)
    dtype = x.row_splits.dtype
    one = convert_to_tensor([1], dtype=dtype)
    if x.values.shape.rank != 1:
        x = x.with_values(_tiled(x.values, joining.concat([one, multiples[2:]], 0)))
    # Each row as often as the second number says, and all of that as often as the first.
    numbers = shapes.expand_dims(ranges.range(x.nrows(), dtype=dtype), 1)
    repeated = indexing.gather_rows(
        x, shapes.reshape(tiling.tile(numbers, multiples[:2]), [-1])
    ).values
    lengths = tiling.tile(rows.lengths(x.row_splits) * multiples[1], multiples[:1])
    return RaggedTensor._of(repeated, rows.from_lengths(lengths))


# --- order within rows -------------------------------------------------------------------------


def sort(op: Op, inputs: Sequence[Any], attrs: Attrs, name: str | None) -> RaggedTensor:
    """The values of each row in order; of an axis behind the ragged ones, as in tensors."""
    x = inputs[0]
    inner = _inner_axis("sort", x, attrs["axis"])
    if inner:
        return x.with_flat_values(op(x.flat_values, **attrs | {"axis": inner}, name=name))
    return x.with_flat_values(gathering.gather(x.flat_values, _row_order(x, attrs["descending"])))


def argsort(op: Op, inputs: Sequence[Any], attrs: Attrs, name: str | None) -> RaggedTensor:
    """For each row, the places within it that put it in order."""
    x = inputs[0]
    inner = _inner_axis("argsort", x, attrs["axis"])
    if inner:
        return x.with_flat_values(op(x.flat_values, **attrs | {"axis": inner}, name=name))
    splits = casting.cast(x.nested_row_splits[-1], int32)
    starts = gathering.gather(splits, rows.rowids(splits))
    return x.with_flat_values(_row_order(x, attrs["descending"]) - starts)


def _inner_axis(what: str, x: RaggedTensor, axis: int) -> int:
    """An axis as one of the flat values; 0 if it is the innermost ragged one."""
    at = rules.normalize_axis(what, axis, known_rank(what, x)) - x.ragged_rank
    if at < 0 or (at == 0 and x.flat_values.shape.rank != 1):
        raise ShapeError(
            f"{what}: axis {axis} of a RaggedTensor of shape {x.shape} cannot be sorted; only an "
            "axis whose rows hold numbers can. Make a tensor of it with x.to_tensor()."
        )
    return at


def _row_order(x: RaggedTensor, descending: bool) -> Tensor:
    """Where the values in order are found: by value, then (stable) by row."""
    by_value = order.argsort_op(x.flat_values, axis=0, descending=descending)
    row_of = gathering.gather(rows.rowids(x.nested_row_splits[-1]), by_value)
    return gathering.gather(by_value, order.argsort_op(row_of, axis=0, descending=False))


def scan(op: Op, inputs: Sequence[Any], attrs: Attrs, name: str | None) -> RaggedTensor:
    """Sums or products up to each value, along any axis; what is not there does not count."""
    (x,) = inputs
    neutral = convert_to_tensor(0 if op is scans.cumsum_op else 1, dtype=x.dtype)
    known_rank(op.name, x)
    whole = op(x.to_tensor(neutral), name=name, **attrs)
    places = sparse.to_sparse(x).indices
    flat = gathering.gather_nd(whole, places)
    return x.with_flat_values(shapes.reshape_like(flat, x.flat_values))


def where(op: Op, inputs: Sequence[Any], attrs: Attrs, name: str | None) -> Tensor:
    """The indices of what is not zero, one row each."""
    found = sparse.to_sparse(inputs[0])
    return masks.boolean_mask(found.indices, casting.cast(found.values, "bool"))


# --- fewer axes, and parts ---------------------------------------------------------------------


def squeeze(op: Op, inputs: Sequence[Any], attrs: Attrs, name: str | None) -> Any:
    """Without the named axes, which must have size one in every row."""
    (x,) = inputs
    if attrs["axis"] is None:
        raise ValueError("squeeze: a RaggedTensor needs axis=, the axes to remove.")
    axes = rules.normalize_axes("squeeze", attrs["axis"], known_rank("squeeze", x))
    for axis in sorted(axes, reverse=True):
        x = _squeezed(x, axis)
    return x


def _squeezed(x: Any, axis: int) -> Any:
    if not isinstance(x, RaggedTensor):
        return shapes.squeeze(x, axis)
    if axis > 1:
        return x.with_values(_squeezed(x.values, axis - 1))
    sizes = rows.lengths(x.row_splits) if axis else x.nrows()
    text = "squeeze: only an axis of size one can be removed from a RaggedTensor"
    require(lambda n: comparison.equal(n, 1), [sizes], text, ("row lengths" if axis else "rows",))
    return x.values


def reshape(op: Op, inputs: Sequence[Any], attrs: Attrs, name: str | None) -> Tensor:
    """All values as one vector; other shapes are refused."""
    x, shape = inputs
    known = static.static_value(shape)
    if known is None or known.tolist() != [-1]:
        raise x.refusal("reshape to another shape than [-1]")
    return shapes.reshape(x.flat_values, [-1])


def split(op: Op, inputs: Sequence[Any], attrs: Attrs, name: str | None) -> tuple[Any, ...]:
    """Parts along the rows, or along an axis behind the ragged ones."""
    x, *sizes = inputs
    axis = rules.normalize_axis("split", attrs["axis"], known_rank("split", x))
    if axis > x.ragged_rank:
        inner = attrs | {"axis": axis - x.ragged_rank}
        return tuple([x.with_flat_values(v) for v in op(x.flat_values, *sizes, **inner)])
    if axis:
        raise ShapeError(
            f"split: axis {axis} of a RaggedTensor of shape {x.shape} is ragged: its rows have "
            "nothing in common to be cut at. Use slices, such as x[:, :2]."
        )
    numbers = op(ranges.range(x.nrows(), dtype=int64), *sizes, **attrs, name=name)
    return tuple([indexing.gather_rows(x, part) for part in numbers])


def partition(op: Op, inputs: Sequence[Any], attrs: Attrs, name: str | None) -> tuple[Any, ...]:
    """Rows dealt out to several ragged tensors."""
    x, partitions = inputs
    if isinstance(partitions, RaggedTensor):
        raise partitions.refusal("dynamic_partition, as its partitions,")
    if partitions.shape.rank not in (None, 1):
        raise ShapeError(
            "dynamic_partition: partitions must be a vector with a number for each row of a "
            f"RaggedTensor, got shape {partitions.shape}."
        )
    numbers = op(ranges.range(x.nrows(), dtype=int64), partitions, name=name, **attrs)
    return tuple([indexing.gather_rows(x, part) for part in numbers])
