"""Indices as single numbers (their places in row-major order) and back; order and repetitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.core.dtypes import bool_, int64
from weft._src.core.tensor import Tensor
from weft._src.ops.arrays import fill, joining, shape as shapes
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering, masks
from weft._src.ops.programs import with_kernel
from weft._src.ops.reduce import order, scans, sums, unsorted_segments as segments
from weft._src.ops.sparse import place_arrays
from weft._src.ops.sparse.tensor import SparseTensor


def strides(shape: Tensor) -> Tensor:
    """How far apart neighbours along each axis are."""
    return scans.cumprod(shape, exclusive=True, reverse=True)


def from_indices(indices: Tensor, shape: Tensor) -> Tensor:
    """The place of each row of indices in a tensor of the given shape."""
    return sums.reduce_sum(indices * strides(shape), axis=1)


def to_indices(places: Tensor, shape: Tensor) -> Tensor:
    """The row of indices for each place."""
    return shapes.expand_dims(places, 1) // strides(shape) % shape


def in_order(sp: SparseTensor) -> tuple[Tensor, SparseTensor]:
    """The places of the elements in ascending order, and the elements in that order."""
    places, indices, values = _in_order(sp.indices, sp.values, sp.dense_shape)
    return places, SparseTensor._of(indices, values, sp.dense_shape)


@with_kernel(place_arrays.in_order)
def _in_order(indices: Tensor, values: Tensor, shape: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    places = from_indices(indices, shape)
    by_place = order.argsort(places, stable=True)
    indices, values = [gathering.pick(x, by_place, 0) for x in (indices, values)]
    return gathering.gather(places, by_place), indices, values


def merged(sp: SparseTensor, combine: Callable[..., Any]) -> SparseTensor:
    """In order, with elements at the same place combined to one by a segment op."""
    places, sp = in_order(sp)
    is_first = joining.concat([fill.ones_like(places[:1], bool_), places[1:] != places[:-1]], 0)
    ids = scans.cumsum(casting.cast(is_first, int64)) - 1
    indices = masks.boolean_mask(sp.indices, is_first)
    values = combine(sp.values, ids, shapes.shape(indices, out_type=int64)[0])
    return SparseTensor._of(indices, values, sp.dense_shape)


def summed(sp: SparseTensor) -> SparseTensor:
    """In order, with elements at the same place added."""
    return merged(sp, segments.unsorted_segment_sum)


def check_same(op: str, a: SparseTensor, b: SparseTensor, what: str) -> None:
    """InvalidArgumentError unless two sparse tensors have elements at the same places."""
    for part in ("dense_shape", "indices"):
        pair = [getattr(a, part), getattr(b, part)]
        text = f"{op}: {what} must have the same {part}"
        if part == "indices":
            counts = [shapes.shape(x)[0] for x in pair]
            require(comparison.equal, counts, f"{op}: {what} must have equally many elements",
                    ("elements", "elements"))  # fmt: skip
        require(comparison.equal, pair, text, (part, part))
