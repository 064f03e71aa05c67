"""Repeating and moving elements along axes: tile, repeat, reverse, roll, meshgrid."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core import memory
from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA, INDEX, NUMERIC, int32
from weft._src.core.native_rules import IndexMap, Special
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.errors import ShapeError
from weft._src.ops import batching, graph_forms, rules, shape_graph_forms, static
from weft._src.ops.arrays import joining, ranges, shape as shapes, source
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import arithmetic
from weft._src.ops.indexing import gathering
from weft._src.ops.reduce import scans, searching, sums
from weft._src.ops.registry import Op, args, define_op

# --- tile --------------------------------------------------------------------------------------


def _tile_infer(x: TensorSpec, multiples: TensorSpec) -> TensorSpec:
    rules.check_rank("tile", multiples, 1, name="multiples")
    if x.dims is None:
        length = multiples.dims[0] if multiples.dims is not None else None
        return x.with_dims(tuple([Dim() for _ in range(length)]) if type(length) is int else None)
    if multiples.dims is not None:
        what = f"the rank of input (shape {x.shape}) and the length of multiples"
        rules.unify("tile", len(x.dims), multiples.dims[0], what)
    times = rules.dims_from_value("tile", multiples, name="multiples")
    if times is None:
        return x.with_dims(tuple([Dim() for _ in x.dims]))
    sizes: list[Any] = [d * n for d, n in zip(x.dims, times, strict=True)]
    return x.with_dims(tuple(sizes))


def _tile_kernel(xp: ArrayNamespace, x: Array, multiples: Array) -> Array:
    times = multiples.tolist()
    shape = tuple([d * n for d, n in zip(x.shape, times, strict=True)])
    memory.check("tile", shape, x.dtype)
    # np.tile gives an empty tensor back as it is, which would not be a fresh one.
    return xp.tile(x, times) if x.size else xp.empty(shape, x.dtype)


def _tile_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, None]:
    x, multiples = ctx.inputs
    return tile_grad_op(g, multiples, shapes.shape_op(x, out_type=sums.SHAPE_DTYPE)), None


tile_op: Op = define_op(
    "Tile",
    args("input", DATA) + args("multiples", INDEX, is_shape=True),
    infer=_tile_infer,
    kernel=_tile_kernel,
    native=IndexMap("tile"),
    xla=KERNEL,
    vjp=_tile_vjp,
    shape_arithmetic=True,
    trusts_kernel=True,
    fresh=True,
    ragged="tile",
    batch=batching.tiled,
)


def tile(input: TensorLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """A tensor repeated as a whole along each axis.

    Args:
      input: the tensor.
      multiples: how often along each axis, a list or int32 or int64 vector as long as the rank.

    Returns:
      A tensor of the same dtype, with sizes multiplied by `multiples`.

    Raises:
      ShapeError: if there are more or fewer numbers than axes, or one is negative.

    >>> tf.tile([[1, 2]], [2, 3]).numpy()
    array([[1, 2, 1, 2, 1, 2],
           [1, 2, 1, 2, 1, 2]], dtype=int32)
    """
    return tile_op(convert_to_tensor(input), shapes.shape_argument(multiples), name=name)


def _tile_grad_infer(g: TensorSpec, multiples: TensorSpec, shape: TensorSpec) -> TensorSpec:
    dims = rules.dims_from_value("TileGrad", shape)
    if dims is None:
        return g.with_dims(None)
    rules.check_rank("TileGrad", g, len(dims), name="dy")
    rules.check_rank("TileGrad", multiples, 1, name="multiples")
    if multiples.dims is not None:
        rules.unify("TileGrad", multiples.dims[0], len(dims), "the rank and the multiples")
    for n, m in zip(g.dims or (), dims):
        if isinstance(n, int) and isinstance(m, int) and (n % m if m else n):
            raise ShapeError(f"TileGrad: dy has {n} elements where {m} were repeated.")
    return g.with_dims(dims)


def _tile_grad_kernel(xp: ArrayNamespace, g: Array, multiples: Array, shape: Array) -> Array:
    if multiples.ndim != 1:
        raise ShapeError(f"TileGrad: multiples must have rank 1, got shape {multiples.shape}.")
    pairs = list(zip(multiples.tolist(), shape.tolist(), strict=True))
    if g.shape != tuple([m * n for m, n in pairs]):
        raise ShapeError(f"TileGrad: dy has shape {g.shape}, of {pairs} repetitions and sizes.")
    split = [n for pair in pairs for n in pair]
    return xp.reduction(xp.add, xp.reshape(g, split), tuple(range(0, len(split), 2)), False)


tile_grad_op: Op = define_op(
    "TileGrad",
    args("dy", NUMERIC) + args("multiples", INDEX) + args("shape", INDEX, is_shape=True),
    infer=_tile_grad_infer,
    kernel=_tile_grad_kernel,
    native=Special("tile_grad"),
    xla=Lowered("tile_grad"),
    vjp=lambda ctx, g: (tile_op(g, ctx.inputs[1]), None, None),
    fresh=True,
    trusts_kernel=True,
    batch=batching.padded_back,
    graphdef=shape_graph_forms.sums_of_repetitions,
)


def repeat(
    input: TensorLike, repeats: TensorLike, axis: AxisLike | None = None, name: str | None = None
) -> Tensor:
    """Each element (or slice along an axis) repeated; without an axis the tensor is flattened.

    Args:
      input: the tensor.
      repeats: how often, an integer for all elements or a vector with one for each along the axis.
      axis: the axis along which slices are repeated; None means a flattened tensor.

    Returns:
      A tensor of the same dtype: a vector without an axis, else of the rank of `input`.

    Raises:
      TypeError: if `repeats` are not integers.
      ShapeError: if `repeats` has a rank above 1 or a length that does not fit, or there is no such
        axis.

    >>> tf.repeat([[1, 2], [3, 4]], [1, 2], axis=0).numpy()
    array([[1, 2],
           [3, 4],
           [3, 4]], dtype=int32)
    """
    x = convert_to_tensor(input)
    times = convert_to_tensor(repeats, dtype_hint=int32)
    if not times.dtype.is_integer:
        raise TypeError(f"repeat: repeats must be integers, got {times.dtype.name}.")
    if times.spec.rank is not None and times.spec.rank > 1:
        raise ShapeError(f"repeat: repeats must be a number or a vector, got {times.shape}.")
    if axis is None:
        x, at = shapes.reshape(x, [-1]), 0
    else:
        at = joining.single_axis("repeat", axis)
        if x.spec.rank == 0:
            x = shapes.reshape(x, [1])
        if x.spec.rank is not None:
            at = rules.normalize_axis("repeat", at, x.spec.rank)
    if times.spec.rank == 0 and x.spec.rank is not None:
        return _repeat_all(x, times, at, x.spec.rank)
    known = _known_repeats(x, times, at)
    if known is not None:
        return gathering.pick(x, convert_to_tensor(known), at, name)
    count = shapes.shape_op(x, out_type=times.dtype)[at]
    each = shapes.broadcast_to_op(shapes.reshape(times, [-1]), shapes.expand_dims(count, 0))
    each = arithmetic.maximum(each, 0)
    positions = ranges.range(0, sums.reduce_sum(each))
    where = searching.searchsorted(scans.cumsum(each), positions, side="right")
    return gathering.pick(x, where, at, name)


_MAX_KNOWN_REPEATS = 1 << 20  # more indices than this are computed by ops, not held by the graph


def _known_repeats(x: Tensor, times: Tensor, axis: int) -> Array | None:
    """The indices that repeat slices of x, if all numbers needed are known."""
    size = x.spec.dims[axis] if x.spec.dims is not None else None
    numbers = static.static_value(times)
    if not isinstance(size, int) or numbers is None:
        return None
    if numbers.size != 1:
        rules.unify("repeat", size, numbers.size, f"the size of axis {axis} and that of repeats")
    numbers = np.broadcast_to(np.maximum(numbers.reshape(-1), 0), (size,))
    if int(numbers.sum()) > _MAX_KNOWN_REPEATS:
        return None
    return np.repeat(np.arange(size, dtype=np.int32), numbers)


def _repeat_all(x: Tensor, times: Tensor, axis: int, rank: int) -> Tensor:
    """Every slice along an axis repeated the same number of times."""
    number = static.static_value(times)
    if number is not None and x.spec.is_static:
        n, dims = int(number), list(x.spec.dims or ())
        tiled = tile(
            shapes.expand_dims(x, axis + 1), [n if i == axis else 1 for i in range(-1, rank)]
        )
        dims[axis] *= n
        return shapes.reshape(tiled, dims)
    multiples = [1] * (rank + 1)
    multiples[axis + 1] = times  # type: ignore[call-overload]
    tiled = tile(shapes.expand_dims(x, axis + 1), joining.stack(multiples))
    sizes = shapes.shape_op(x, out_type=times.dtype)
    parts = [sizes[i] * times if i == axis else sizes[i] for i in range(rank)]
    return shapes.reshape(tiled, joining.stack(parts))


# --- reverse and roll --------------------------------------------------------------------------


def _reverse_infer(x: TensorSpec, *, axis: tuple[int, ...]) -> TensorSpec:
    if x.dims is not None:
        rules.normalize_axes("reverse", axis, len(x.dims))
    return x


reverse_op: Op = define_op(
    "ReverseV2",
    args("tensor", DATA),
    infer=_reverse_infer,
    kernel=lambda xp, x, *, axis: xp.flip(x, axis),
    native=IndexMap("reverse"),
    xla=KERNEL,
    vjp=lambda ctx, g: (reverse_op(g, axis=ctx.attrs["axis"]),),
    trusts_kernel=True,
    shape_arithmetic=True,
    ragged="reverse",
    batch=batching.along_axes,
    graphdef=graph_forms.with_axis,
)


def reverse(tensor: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """A tensor with the order of its elements reversed along the given axes.

    Args:
      tensor: the tensor.
      axis: a list or vector of axes, counted from the end if negative.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ShapeError: if `axis` is no list, names an axis twice, or one that does not exist.

    >>> tf.reverse([[1, 2, 3], [4, 5, 6]], [1]).numpy()
    array([[3, 2, 1],
           [6, 5, 4]], dtype=int32)
    """
    try:
        axes = static.static_ints("reverse", axis, "axis")
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("reverse", convert_to_tensor(tensor), axis)
    if not isinstance(axes, tuple):
        raise ShapeError(f"reverse: axis must be a list of axes, got {axis!r}.")
    return reverse_op(convert_to_tensor(tensor), axis=axes, name=name)


def _roll_infer(x: TensorSpec, shift: TensorSpec, *, axis: tuple[int, ...]) -> TensorSpec:
    rules.check_rank_at_least("roll", x, 1, name="input")
    rules.check_rank("roll", shift, 1, name="shift")
    if shift.dims is not None:
        rules.unify("roll", len(axis), shift.dims[0], "the numbers of axes and of shifts")
    if x.dims is not None:
        for a in axis:
            rules.normalize_axis("roll", a, len(x.dims))
    return x


def _roll_kernel(xp: ArrayNamespace, x: Array, shift: Array, *, axis: tuple[int, ...]) -> Array:
    if shift.shape != (len(axis),) or not x.ndim:
        raise ValueError("the type rule says what is wrong")
    return xp.roll(x, tuple(shift.tolist()), axis)


roll_op: Op = define_op(
    "Roll",
    args("input", DATA) + args("shift", INDEX),
    infer=_roll_infer,
    kernel=_roll_kernel,
    native=IndexMap("roll"),
    xla=Lowered("roll"),
    vjp=lambda ctx, g: (roll_op(g, -ctx.inputs[1], axis=ctx.attrs["axis"]), None),
    shape_arithmetic=True,
    trusts_kernel=True,
    fresh=True,
    batch=batching.along_axes,
    graphdef=graph_forms.with_axis,
)


def roll(input: TensorLike, shift: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """A tensor with its elements moved along axes; what leaves at one end enters at the other.

    Args:
      input: a tensor of rank 1 or more.
      shift: how far, an integer, or a vector with one for each axis; negative ones move to the
        front.
      axis: an axis or a list of axes; one that is named twice is moved by the sum of its shifts.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ShapeError: if `input` is a scalar, the numbers of shifts and axes differ, or an axis is out
        of range.
      TypeError: if `axis` is None.

    >>> tf.roll([1, 2, 3, 4], shift=1, axis=0).numpy()
    array([4, 1, 2, 3], dtype=int32)
    """
    steps = convert_to_tensor(shift, dtype_hint=int32)
    try:
        axes = static.static_ints("roll", axis, "axis")
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("roll", convert_to_tensor(input), steps, axis)
    if axes is None:
        raise TypeError("roll: axis must be an integer or a list of them, got None.")
    if isinstance(axes, int):
        axes = (axes,)
        if steps.spec.rank != 1:
            steps = shapes.reshape(steps, [1])
    return roll_op(convert_to_tensor(input), steps, axis=axes, name=name)


# --- meshgrid ----------------------------------------------------------------------------------


def meshgrid(*args: Any, indexing: str = "xy", name: str = "meshgrid") -> list[Tensor]:
    """Coordinates of all points of a grid that has the given vectors along its axes.

    Args:
      *args: the vectors; tensors of other shapes are flattened.
      indexing: "xy" puts the second vector along the first axis, "ij" keeps the order of the
        vectors.

    Returns:
      A list with a tensor for each vector, all of the shape of the grid.

    Raises:
      ValueError: if `indexing` is another word.

    >>> [t.numpy() for t in tf.meshgrid([1, 2, 3], [4, 5])]
    [array([[1, 2, 3],
           [1, 2, 3]], dtype=int32), array([[4, 4, 4],
           [5, 5, 5]], dtype=int32)]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}.")
    vectors = [convert_to_tensor(x) for x in args]
    if not vectors:
        return []
    order = list(range(len(vectors)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = [1, 0]
    grid = source.pack_op(*[shapes.size(vectors[i]) for i in order], axis=0)
    out = []
    for i, x in enumerate(vectors):
        own = [1] * len(order)
        own[order.index(i)] = -1
        out.append(shapes.broadcast_to_op(shapes.reshape(x, own), grid))
    return out
