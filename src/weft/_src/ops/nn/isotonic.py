"""Isotonic regression: the nearest sequence that only falls, or only rises."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING, float64, int32
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import DTypeError, UnsupportedError
from weft._src.ops import batching, rules, static
from weft._src.ops.arrays import ranges, shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting
from weft._src.ops.indexing import gathering
from weft._src.ops.reduce import unsorted_segments as segments
from weft._src.ops.registry import NO_NATIVE, NO_XLA, args, define_op


def _infer(x: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    rules.check_rank_at_least("isotonic_regression", x, 1, name="inputs")
    return x, x.with_dtype(int32)


def _kernel(xp: ArrayNamespace, x: Array) -> tuple[Array, Array]:
    wide = xp.widen(x)
    rows = xp.reshape(wide, (-1, x.shape[-1])) if x.size else xp.zeros((0, 0), wide.dtype)
    out = xp.empty(rows.shape, wide.dtype)
    which = xp.empty(rows.shape, xp.int32)
    for i, row in enumerate(rows.tolist()):
        sizes, means = _blocks(row)
        out[i] = xp.repeat(xp.asarray(means, wide.dtype), sizes)
        which[i] = xp.repeat(xp.arange(len(sizes), dtype=xp.int32), sizes)
    return xp.reshape(out, x.shape).astype(x.dtype), xp.reshape(which, x.shape)


def _blocks(row: list[float]) -> tuple[list[int], list[float]]:
    """Neighbours that would rise become one block with their mean ("pool adjacent violators")."""
    sizes: list[int] = []
    totals: list[float] = []
    for number in row:
        size, total = 1, number
        while sizes and totals[-1] * size < total * sizes[-1]:
            size, total = size + sizes.pop(), total + totals.pop()
        sizes.append(size)
        totals.append(total)
    return sizes, [total / size for size, total in zip(sizes, totals, strict=True)]


def _vjp(ctx: VjpContext, g: Tensor | None, _: Tensor | None) -> tuple[Tensor | None]:
    """The mean over each block, as the result is one."""
    if g is None:
        return (None,)
    which = casting.cast(ctx.outputs[1], int32)
    sizes = shapes.shape_op(which, out_type=int32)
    length = sizes[-1]
    flat = shapes.reshape(which, [-1])
    row = ranges.range(shapes.size(flat)) // length
    ids = flat + row * length
    means = segments.unsorted_segment_mean(shapes.reshape(g, [-1]), ids, shapes.size(flat))
    return (shapes.reshape(gathering.gather(means, ids), sizes),)


isotonic_op = define_op(
    "IsotonicRegression",
    args("input", FLOATING),
    infer=_infer,
    kernel=_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=_vjp,
    outputs=2,
    fresh=True,
    slow_kernel=True,
    batch=batching.leading,
)


def isotonic_regression(
    inputs: TensorLike, decreasing: bool = True, axis: AxisLike = -1
) -> tuple[Tensor, Tensor]:
    """The sequence nearest to another one (by squares) that only falls, or only rises.

    Args:
      inputs: a tensor of real numbers; integers become float64.
      decreasing: whether the result falls; else it rises.
      axis: the axis along which sequences lie.

    Returns:
      Two tensors of the shape of `inputs`: the result, and for each element the number of its
      block; a block is what has one mean in common.

    Raises:
      DTypeError: if `inputs` holds no real numbers.
      ShapeError: if there is no such axis.
      UnsupportedError: if the axis is not the last one and the rank is unknown while tracing.

    >>> out, blocks = tf.nn.isotonic_regression([3.0, 1.0, 2.0, 0.0])
    >>> out.numpy(), blocks.numpy()
    (array([3. , 1.5, 1.5, 0. ], dtype=float32), array([0, 1, 1, 2], dtype=int32))
    """
    op = "isotonic_regression"
    x = convert_to_tensor(inputs)
    if x.dtype.is_integer and not x.dtype.is_quantized:
        x = casting.cast(x, float64)
    if x.dtype not in FLOATING:
        raise DTypeError(f"{op}: inputs must hold real numbers, got {x.dtype.name}.")
    if x.spec.rank == 0:
        return x, convert_to_tensor(0, int32)
    order: Any = None
    where = static.static_int(op, axis, "axis")
    if x.spec.rank is not None:
        (last,) = rules.normalize_axes(op, (where,), x.spec.rank)
        if last != x.spec.rank - 1:
            order = list(range(x.spec.rank))
            order[last], order[-1] = order[-1], order[last]
            x = shapes.transpose_op(x, perm=tuple(order))
    elif where != -1:
        raise UnsupportedError(f"{op}: with axis={where} inputs must have a known rank.")
    out, blocks = isotonic_op(x if decreasing else -x)
    if not decreasing:
        out = -out
    if order is not None:  # two axes were exchanged, which undoes itself
        out, blocks = (shapes.transpose_op(y, perm=tuple(order)) for y in (out, blocks))
    return out, blocks
