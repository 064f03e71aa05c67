"""What `bad_indices_policy` says is done with indices out of range: an error, or nothing."""

from __future__ import annotations

from weft._src.core.dtypes import int32, int64
from weft._src.core.tensor import Tensor
from weft._src.ops.arrays import fill, joining, selection, shape as shapes
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.indexing import gathering, masks
from weft._src.ops.reduce import logic

POLICIES = "'', 'DEFAULT', 'ERROR' or 'IGNORE'"


def are_ignored(op: str, policy: str) -> bool:
    """Whether a policy lets indices out of range be; ValueError if it is none."""
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise ValueError(f"{op}: bad_indices_policy must be {POLICIES}, got {policy!r}.")
    return policy == "IGNORE"


def _within(indices: Tensor, sizes: Tensor) -> Tensor:
    """Which vectors of indices lie within the sizes of the axes they index."""
    wide = casting.cast(indices, int64)
    inside = comparison.logical_and(wide >= 0, wide < casting.cast(sizes, int64))
    return logic.reduce_all(inside, axis=-1)


def gathered(params: Tensor, indices: Tensor, batch_dims: int) -> Tensor:
    """What indices within range name, and zeros (empty strings) for the others."""
    depth = shapes.shape(indices)[-1]
    sizes = shapes.shape_op(params, out_type=int64)[batch_dims : batch_dims + depth]
    inside = _within(indices, sizes)
    safe = selection.where(shapes.expand_dims(inside, -1), indices, fill.zeros_like(indices))
    found = gathering.gather_nd(params, safe, batch_dims)
    slices = shapes.rank(found) - shapes.rank(inside)
    column = joining.concat(
        [shapes.shape(inside), fill.ones(shapes.expand_dims(slices, 0), int32)], 0
    )
    return selection.where(shapes.reshape(inside, column), found, fill.zeros_like(found))


def kept(indices: Tensor, updates: Tensor, shape: Tensor) -> tuple[Tensor, Tensor]:
    """The indices within range, one after the other, and their updates."""
    inside = _within(indices, shape[: shapes.shape(indices)[-1]])
    return masks.boolean_mask(indices, inside), masks.boolean_mask(updates, inside)
