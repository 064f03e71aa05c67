"""Axes and permutations that are known only when a graph runs.

Ops take them as attributes, which costs nothing. Where one is not known while tracing, a function
asks here instead: the axes in question are moved to the end by one op that takes a permutation as
an input, and what is left to do has a known axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA, INDEX, int32
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import graph_forms, rules, static
from weft._src.ops.arrays import joining, permutations, ranges, selection, shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering, one_hot
from weft._src.ops.reduce import logic, order, products, sums
from weft._src.ops.registry import NO_NATIVE, NO_XLA, Op, args, define_op

# --- a permutation that is an input ------------------------------------------------------------


def _transpose_infer(x: TensorSpec, perm: TensorSpec) -> TensorSpec:
    rules.check_rank("transpose", perm, 1, name="perm")
    size = None if perm.dims is None else perm.dims[0]
    rank = x.rank if x.rank is not None else size
    if x.rank is not None and isinstance(size, int) and size != x.rank:
        raise ShapeError(f"transpose: perm has {size} entries for a tensor of shape {x.shape}.")
    return x.with_dims(tuple([Dim() for _ in range(rank)]) if isinstance(rank, int) else None)


def _transpose_kernel(xp: ArrayNamespace, x: Array, perm: Array) -> Array:
    wanted = perm.tolist()
    if sorted(p % x.ndim if -x.ndim <= p < x.ndim else -1 for p in wanted) != list(range(x.ndim)):
        raise InvalidArgumentError(
            None,
            None,
            f"transpose: perm must name each of {x.ndim} axes once, got {wanted}.",
        )
    return xp.transpose(x, wanted)


def _transpose_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, None]:
    perm = ctx.inputs[1]
    rank = shapes.size(perm, out_type=perm.dtype)
    return transpose_by_op(g, permutations.invert_permutation((perm + rank) % rank)), None


transpose_by_op: Op = define_op(
    "TransposeBy",
    args("a", DATA) + args("perm", INDEX),
    infer=_transpose_infer,
    kernel=_transpose_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=_transpose_vjp,
    graphdef=graph_forms.transpose_by,
)


# --- what functions do with them ---------------------------------------------------------------


def _rank(op: str, x: Tensor) -> int:
    if x.shape.rank is None:
        raise ShapeError(f"{op}: an axis that is not known while tracing needs a known rank.")
    return x.shape.rank


def _axes(op: str, axis: TensorLike, rank: int) -> Tensor:
    """Axes as a vector of numbers from 0 on, after a check that there are such axes."""
    given = convert_to_tensor(axis)
    if not given.dtype.is_integer or given.shape.rank not in (0, 1):
        raise TypeError(f"{op}: axis must be an integer or a vector of integers, got {axis!r}.")
    found = shapes.reshape(given, [-1])
    text = f"{op}: axis must lie between -rank and rank - 1"
    require(lambda a: (a >= -rank) & (a < rank), [found], text, ("axis",), more=[f"rank {rank}"])
    return casting.cast((found + rank) % rank, int32)


def _one_axis(op: str, axis: TensorLike, rank: int) -> Tensor:
    found = _axes(op, axis, rank)
    if found.shape[0] != 1:
        raise TypeError(f"{op}: axis must be one integer, got {axis!r}.")
    return found


def _moved_last(x: Tensor, at: Tensor, rank: int) -> tuple[Tensor, Tensor, Tensor]:
    """The tensor with some axes behind the others, their permutation, and which they are."""
    chosen = logic.reduce_any(one_hot.one_hot(at, rank, True, False), axis=0)
    perm = order.argsort(casting.cast(chosen, int32), stable=True)
    return transpose_by_op(x, perm), perm, chosen


def transpose(x: Tensor, perm: TensorLike) -> Tensor:
    """`tf.transpose` with a permutation that is computed."""
    return transpose_by_op(x, convert_to_tensor(perm, dtype_hint=int32))


def reduction(reduce: Callable[..., Any], x: Tensor, axis: TensorLike, keepdims: bool) -> Tensor:
    """A reduction along axes that are computed; how many they are is known."""
    op = reduce.__name__
    rank = _rank(op, x)
    at = _axes(op, axis, rank)
    count = at.shape[0]
    if count is None:
        raise ShapeError(f"{op}: how many axes are reduced must be known while tracing.")
    moved, perm, chosen = _moved_last(x, at, rank)
    text = f"{op}: an axis is named twice"
    named = sums.reduce_sum(casting.cast(chosen, int32))
    require(lambda n: comparison.equal(n, count), [named], text, ("axes",))
    sizes = shapes.shape(x)
    by_place = gathering.gather(sizes, perm)
    kept, last = by_place[: rank - count], products.reduce_prod(by_place[rank - count :])
    flat = shapes.reshape(moved, joining.concat([kept, shapes.expand_dims(last, 0)], 0))
    out = reduce(flat, axis=-1)
    return shapes.reshape(out, selection.where(chosen, 1, sizes)) if keepdims else out


def along(function: Callable[..., Any], x: Tensor, axis: TensorLike, **options: Any) -> Tensor:
    """A function that keeps all axes, along one that is computed."""
    rank = _rank(function.__name__, x)
    moved, perm, _ = _moved_last(x, _one_axis(function.__name__, axis, rank), rank)
    out = function(moved, axis=-1, **options)
    return transpose_by_op(out, permutations.invert_permutation(perm))


def without(function: Callable[..., Any], x: Tensor, axis: TensorLike, **options: Any) -> Tensor:
    """A function that takes one axis away, which is computed."""
    rank = _rank(function.__name__, x)
    moved, _, _ = _moved_last(x, _one_axis(function.__name__, axis, rank), rank)
    return function(moved, axis=-1, **options)


def concat(parts: Sequence[Tensor], axis: TensorLike) -> Tensor:
    """Tensors joined along an axis that is computed."""
    rank = max(_rank("concat", part) for part in parts)
    at = _one_axis("concat", axis, rank)
    moved = [_moved_last(part, at, rank) for part in parts]
    out = joining.concat([part for part, _, _ in moved], -1)
    return transpose_by_op(out, permutations.invert_permutation(moved[0][1]))


def gather(params: Tensor, indices: Tensor, axis: TensorLike) -> Tensor:
    """Slices along an axis that is computed; the axes of the indices stand in its place."""
    rank, new = _rank("gather", params), _rank("gather", indices)
    at = _one_axis("gather", axis, rank)
    moved, _, _ = _moved_last(params, at, rank)
    found = gathering.gather(moved, indices, axis=-1)  # the other axes, then those of the indices
    places = ranges.range(rank - 1 + new)
    inside = comparison.logical_and(places >= at, places < at + new)
    before = selection.where(places < at, places, places - new)
    return transpose_by_op(found, selection.where(inside, places - at + (rank - 1), before))


def expand_dims(x: Tensor, axis: TensorLike) -> Tensor:
    """A new axis of size one, at a place that is computed."""
    rank = _rank("expand_dims", x) + 1
    at = _one_axis("expand_dims", axis, rank)
    places = ranges.range(rank)
    sizes = joining.concat([shapes.shape(x), [1]], 0)
    old = gathering.gather(sizes, selection.where(places > at, places - 1, places))
    return shapes.reshape(x, selection.where(comparison.equal(places, at), 1, old))


static.UnknownWhileTracingError.forms |= {
    "along": along, "concat": concat, "expand_dims": expand_dims, "gather": gather,
    "reduction": reduction, "transpose": transpose, "without": without,
}  # fmt: skip
