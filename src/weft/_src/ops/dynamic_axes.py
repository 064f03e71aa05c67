"""Axes and permutations that are known only when a graph runs.

Ops take them as attributes, which costs nothing. Where one is not known while tracing, a function
asks here instead: the axes in question are moved to the end by one op that takes a permutation as
an input, and what is left to do has a known axis. `reverse` and `roll`, which take any number of
axes, have such ops of their own.
"""

from __future__ import annotations

import functools
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
from weft._src.ops.elementwise import arithmetic, casting, comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering, one_hot
from weft._src.ops.linalg import einsum
from weft._src.ops.reduce import order, sums
from weft._src.ops.registry import NO_NATIVE, NO_XLA, Op, args, define_op, each

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


# --- axes that are an input --------------------------------------------------------------------


def _reverse_infer(x: TensorSpec, axis: TensorSpec) -> TensorSpec:
    rules.check_rank("reverse", axis, 1, name="axis")
    return x


reverse_by_op: Op = define_op(
    "ReverseBy",
    args("tensor", DATA) + args("axis", INDEX),
    infer=_reverse_infer,
    kernel=lambda xp, x, axis: xp.flip(x, rules.normalize_axes("reverse", axis.tolist(), x.ndim)),
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=lambda ctx, g: (reverse_by_op(g, ctx.inputs[1]), None),
    graphdef=graph_forms.reverse_by,
)


def _roll_infer(x: TensorSpec, shift: TensorSpec, axis: TensorSpec) -> TensorSpec:
    rules.check_rank_at_least("roll", x, 1, name="input")
    rules.check_rank("roll", shift, 1, name="shift")
    rules.check_rank("roll", axis, 1, name="axis")
    rules.merge_dims("roll", shift.dims, axis.dims, "axes and shifts")
    return x


def _roll_kernel(xp: ArrayNamespace, x: Array, shift: Array, axis: Array) -> Array:
    at = tuple([rules.normalize_axis("roll", a, x.ndim) for a in axis.tolist()])
    return xp.roll(x, tuple(shift.tolist()), at)


roll_by_op: Op = define_op(
    "RollBy",
    args("input", DATA) + each("shift axis", INDEX),
    infer=_roll_infer,
    kernel=_roll_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=lambda ctx, g: (roll_by_op(g, -ctx.inputs[1], ctx.inputs[2]), None, None),
    fresh=True,
    graphdef=graph_forms.roll_by,
)


# --- what functions do with them ---------------------------------------------------------------


# A rank, which may be computed as well.
Rank = int | Tensor


def _rank(x: Tensor) -> Rank:
    return shapes.rank(x) if x.shape.rank is None else x.shape.rank


def _largest(ranks: Sequence[Rank]) -> Rank:
    known = [rank for rank in ranks if isinstance(rank, int)]
    computed = [rank for rank in ranks if not isinstance(rank, int)]
    return functools.reduce(arithmetic.maximum, computed + ([max(known)] if known else []))


def _axes(op: str, axis: TensorLike, rank: Rank) -> Tensor:
    """Axes as a vector of numbers from 0 on, after a check that there are such axes."""
    given = convert_to_tensor(axis)
    if not given.dtype.is_integer or given.shape.rank not in (0, 1):
        raise TypeError(f"{op}: axis must be an integer or a vector of integers, got {axis!r}.")
    found = shapes.reshape(given, [-1])
    text = f"{op}: axis must lie between -rank and rank - 1"
    limit = convert_to_tensor(rank) if isinstance(rank, int) else rank
    limit = casting.cast(limit, found.dtype)
    require(lambda a, r: (a >= -r) & (a < r), [found, limit], text, ("axis", "rank"))
    at = casting.cast((found + limit) % limit, int32)
    if at.shape[0] != 1:
        uses = sums.reduce_sum(one_hot.one_hot(at, rank, dtype=int32), axis=0)
        require(lambda n: n <= 1, [uses], f"{op}: an axis is named twice", ("uses of each",))
    return at


def _one_axis(op: str, axis: TensorLike, rank: Rank) -> Tensor:
    found = _axes(op, axis, rank)
    if found.shape[0] != 1:
        raise TypeError(f"{op}: axis must be one integer, got {axis!r}.")
    return found


def _moved_last(x: Tensor, at: Tensor, rank: Rank) -> tuple[Tensor, Tensor, Tensor]:
    """The tensor with some axes behind the others, in the order in which they are named.

    Also the permutation, and which axes they are.
    """
    turns = shapes.expand_dims(ranges.range(1, shapes.size(at) + 1), 1)
    named = sums.reduce_sum(one_hot.one_hot(at, rank, dtype=int32) * turns, axis=0)
    perm = order.argsort(ranges.range(rank) + rank * named, stable=True)
    return transpose_by_op(x, perm), perm, named > 0


def _last_moved_to(x: Tensor, at: Tensor, count: Rank) -> Tensor:
    """The tensor with its last axes, so many, from a place on that is computed."""
    rank = _rank(x)
    places = ranges.range(rank)
    inside = comparison.logical_and(places >= at, places < at + count)
    before = selection.where(places < at, places, places - count)
    return transpose_by_op(x, selection.where(inside, places - at + (rank - count), before))


def sizes(x: Tensor, axis: TensorLike) -> Tensor:
    """The sizes of axes that are computed."""
    rank = shapes.rank(x)
    return gathering.gather(shapes.shape(x), (convert_to_tensor(axis) + rank) % rank)


def last(x: Tensor, axis: TensorLike) -> Tensor:
    """The tensor with an axis that is computed behind the others."""
    rank = _rank(x)
    return _moved_last(x, _one_axis("transpose", axis, rank), rank)[0]


def transpose(x: Tensor, perm: TensorLike) -> Tensor:
    """`tf.transpose` with a permutation that is computed."""
    return transpose_by_op(x, convert_to_tensor(perm, dtype_hint=int32))


def reduction(
    reduce: Callable[..., Any], x: Tensor, axis: TensorLike, keepdims: bool, **options: Any
) -> Tensor:
    """A reduction along axes that are computed; how many they are is known."""
    op = reduce.__name__
    rank = _rank(x)
    at = _axes(op, axis, rank)
    count = at.shape[0]
    if count is None:
        raise ShapeError(f"{op}: how many axes are reduced must be known while tracing.")
    moved, _, chosen = _moved_last(x, at, rank)
    several = convert_to_tensor(axis).shape.rank == 1
    out = reduce(moved, axis=list(range(-count, 0)) if several else -1, **options)
    sizes = shapes.shape(x)
    return shapes.reshape(out, selection.where(chosen, 1, sizes)) if keepdims else out


def along(function: Callable[..., Any], x: Tensor, axis: TensorLike, **options: Any) -> Tensor:
    """A function that keeps all axes, along one that is computed."""
    rank = _rank(x)
    moved, perm, _ = _moved_last(x, _one_axis(function.__name__, axis, rank), rank)
    out = function(moved, axis=-1, **options)
    return transpose_by_op(out, permutations.invert_permutation(perm))


def without(function: Callable[..., Any], x: Tensor, axis: TensorLike, **options: Any) -> Tensor:
    """A function that takes one axis away, which is computed."""
    rank = _rank(x)
    moved, _, _ = _moved_last(x, _one_axis(function.__name__, axis, rank), rank)
    return function(moved, axis=-1, **options)


def concat(parts: Sequence[Tensor], axis: TensorLike) -> Tensor:
    """Tensors joined along an axis that is computed."""
    rank = _largest([_rank(part) for part in parts])
    at = _one_axis("concat", axis, rank)
    moved = [_moved_last(part, at, rank) for part in parts]
    out = joining.concat([part for part, _, _ in moved], -1)
    return transpose_by_op(out, permutations.invert_permutation(moved[0][1]))


def gather(params: Tensor, indices: Tensor, axis: TensorLike) -> Tensor:
    """Slices along an axis that is computed; the axes of the indices stand in its place."""
    rank, new = _rank(params), _rank(indices)
    at = _one_axis("gather", axis, rank)
    moved, _, _ = _moved_last(params, at, rank)
    found = gathering.gather(moved, indices, axis=-1)  # the other axes, then those of the indices
    return _last_moved_to(found, at, new)


def frame(cut: Callable[..., Any], x: Tensor, axis: TensorLike, **options: Any) -> Tensor:
    """Frames along an axis that is computed, in the place of which there are two."""
    rank = _rank(x)
    at = _one_axis("frame", axis, rank)
    moved, _, _ = _moved_last(x, at, rank)
    return _last_moved_to(cut(moved, axis=-1, **options), at, 2)


def boolean_mask(pick: Callable[..., Any], x: Tensor, mask: Tensor, axis: TensorLike) -> Tensor:
    """What a mask leaves of the axes that it covers, from one on that is computed."""
    rank, covered = _rank(x), mask.shape.rank
    assert covered is not None
    at = _one_axis("boolean_mask", axis, rank)
    text = "boolean_mask: the mask must not cover more axes than there are"
    require(lambda a: a + covered <= rank, [at], text, ("axis",))
    places = ranges.range(rank)
    inside = comparison.logical_and(places >= at, places < at + covered)
    first = order.argsort(selection.where(inside, places - rank, places), stable=True)
    out = pick(transpose_by_op(x, first), mask, axis=0)
    left = ranges.range(rank - (covered - 1))
    moved = selection.where(left < at, left + 1, left)
    return transpose_by_op(out, selection.where(comparison.equal(left, at), 0, moved))


def linspace(first: Tensor, last: Tensor, num: Tensor, axis: TensorLike) -> Tensor:
    """Evenly spaced tensors, along a new axis at a place that is computed."""
    rank = _largest([_rank(first), _rank(last)]) + 1
    at = _one_axis("linspace", axis, rank)
    return _last_moved_to(ranges.linspace(first, last, num, axis=-1), at, 1)


def split(x: Tensor, sizes: TensorLike, axis: TensorLike, num: int | None) -> list[Tensor]:
    """The parts of a tensor that is cut along an axis that is computed."""
    rank = _rank(x)
    moved, perm, _ = _moved_last(x, _one_axis("split", axis, rank), rank)
    back = permutations.invert_permutation(perm)
    return [transpose_by_op(part, back) for part in joining.split(moved, sizes, -1, num)]


def reverse(x: Tensor, axis: TensorLike) -> Tensor:
    """The order reversed along axes that are computed; how many there are need not be known."""
    if convert_to_tensor(axis).shape == [0]:
        return x
    return reverse_by_op(x, convert_to_tensor(axis, dtype_hint=int32))


def roll(x: Tensor, shift: Tensor, axis: TensorLike) -> Tensor:
    """Elements moved along axes that are computed."""
    at = convert_to_tensor(axis, dtype_hint=int32)
    if at.shape.rank == 0:
        at, shift = shapes.reshape(at, [1]), shapes.reshape(shift, [1])
    return roll_by_op(x, shift, at)


def tensordot(a: Tensor, b: Tensor, axes: Sequence[TensorLike]) -> Tensor:
    """A product summed over axes that are computed; how many they are is known."""
    if isinstance(axes, Tensor) and axes.shape.rank == 0:
        raise TypeError(
            f"tensordot: how many axes are summed must be known while tracing, got {axes!r}."
        )
    moved, counts = [], []
    for x, axis in zip((a, b), axes, strict=True):
        rank = _rank(x)
        at = _axes("tensordot", axis, rank)
        counts.append(at.shape[0])
        moved.append(_moved_last(x, at, rank)[0])
    if None in counts or counts[0] != counts[1]:
        raise ShapeError(
            "tensordot: axes must name as many axes of a as of b, and how many must be known while "
            f"tracing, got {axes!r}."
        )
    last = list(range(-counts[0], 0))
    return einsum.tensordot(moved[0], moved[1], [last, last])


def expand_dims(x: Tensor, axis: TensorLike) -> Tensor:
    """A new axis of size one, at a place that is computed."""
    rank = _rank(x) + 1
    at = _one_axis("expand_dims", axis, rank)
    places = ranges.range(rank)
    sizes = joining.concat([shapes.shape(x), [1]], 0)
    old = gathering.gather(sizes, selection.where(places > at, places - 1, places))
    return shapes.reshape(x, selection.where(comparison.equal(places, at), 1, old))


static.UnknownWhileTracingError.forms |= {
    "along": along, "boolean_mask": boolean_mask, "concat": concat, "expand_dims": expand_dims,
    "frame": frame, "gather": gather, "last": last, "linspace": linspace, "reduction": reduction,
    "reverse": reverse, "roll": roll, "sizes": sizes, "split": split, "tensordot": tensordot,
    "transpose": transpose, "without": without,
}  # fmt: skip
