"""Products along axes."""

from __future__ import annotations

import math

from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INDEX, NUMERIC, int32
from weft._src.core.native_rules import IndexMap, Reduction
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL
from weft._src.ops import batching, graph_forms, rules, static
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise.operands import conj
from weft._src.ops.reduce import scans
from weft._src.ops.reduce.sums import Axes, reduced_dims, reduction_axes, spread
from weft._src.ops.registry import Op, args, define_op

# --- the reduced axes as the first axis of a matrix, whatever the rank -------------------------


def _order(axis: Axes, rank: int) -> tuple[tuple[int, ...], int]:
    """The axes with the reduced ones first, and how many those are."""
    first = rules.normalize_axes("reduce_prod", axis, rank)
    return (*first, *[i for i in range(rank) if i not in first]), len(first)


def _collapse_infer(x: TensorSpec, *, axis: Axes) -> TensorSpec:
    if x.dims is None:
        return x.with_dims((Dim(), Dim()))
    order, n = _order(axis, len(x.dims))
    sizes = [x.dims[i] for i in order]
    return x.with_dims((rules.product(sizes[:n]), rules.product(sizes[n:])))


def _collapse_kernel(xp: ArrayNamespace, x: Array, *, axis: Axes) -> Array:
    order, n = _order(axis, x.ndim)
    rows = math.prod([x.shape[i] for i in order[:n]])
    columns = math.prod([x.shape[i] for i in order[n:]])
    return xp.reshape(xp.transpose(x, order), (rows, columns))


def _restore_infer(m: TensorSpec, shape: TensorSpec, *, axis: Axes) -> TensorSpec:
    return m.with_dims(rules.dims_from_value("reduce_prod", shape))


def _restore_kernel(xp: ArrayNamespace, m: Array, shape: Array, *, axis: Axes) -> Array:
    sizes = shape.tolist()
    order, _ = _order(axis, len(sizes))
    back = sorted(range(len(order)), key=order.__getitem__)
    return xp.transpose(xp.reshape(m, [sizes[i] for i in order]), back)


def _collapse_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    shape = shapes.shape_op(ctx.inputs[0], out_type=int32)
    return (restore_op(g, shape, axis=ctx.attrs["axis"]),)


collapse_op: Op = define_op(
    "CollapseAxes",
    args("x", NUMERIC),
    infer=_collapse_infer,
    kernel=_collapse_kernel,
    native=IndexMap("collapse_axes"),
    xla=KERNEL,
    vjp=_collapse_vjp,
    trusts_kernel=True,
)
restore_op: Op = define_op(
    "RestoreAxes",
    args("matrix", NUMERIC) + args("shape", INDEX, is_shape=True),
    infer=_restore_infer,
    kernel=_restore_kernel,
    native=IndexMap("restore_axes"),
    xla=KERNEL,
    vjp=lambda ctx, g: (collapse_op(g, axis=ctx.attrs["axis"]), None),
    trusts_kernel=True,
)

# --- the product -------------------------------------------------------------------------------


def _prod_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    """Products of all other elements: of those before times those behind, so zeros do no harm."""
    x, axis = ctx.inputs[0], ctx.attrs["axis"]
    rows = collapse_op(x, axis=axis)
    before = scans.cumprod_op(rows, axis=0, exclusive=True, reverse=False)
    behind = scans.cumprod_op(rows, axis=0, exclusive=True, reverse=True)
    others = restore_op(before * behind, shapes.shape_op(x, out_type=int32), axis=axis)
    return (spread(g, x, axis, ctx.attrs["keepdims"]) * conj(others),)


prod_op = define_op(
    "Prod",
    args("input", NUMERIC),
    infer=lambda x, *, axis, keepdims: reduced_dims("reduce_prod", x, axis, keepdims),
    kernel=lambda xp, x, *, axis, keepdims: xp.reduction(xp.multiply, x, axis, keepdims),
    native=Reduction("reduction", combination="multiply"),
    xla=KERNEL,
    vjp=_prod_vjp,
    trusts_kernel=True,
    fresh=True,
    shape_arithmetic=True,
    ragged="reduction",
    batch=batching.summed,
    graphdef=graph_forms.reduction,
)


def reduce_prod(
    input_tensor: TensorLike,
    axis: AxisLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product over the given axes, over all of them if none are given.

    Args:
      input_tensor: a tensor of numbers.
      axis: an axis or a list of axes, counted from the end if negative; None means all.
      keepdims: whether the axes stay, with size 1.

    Returns:
      A tensor of the dtype of `input_tensor` without these axes; of no elements it is 1.

    Raises:
      ShapeError: if there is no such axis, or one is named twice.
      DTypeError: if `input_tensor` has another dtype.

    >>> tf.reduce_prod([[1, 2], [3, 4]], axis=0).numpy()
    array([3, 8], dtype=int32)
    """
    x = convert_to_tensor(input_tensor)
    try:
        axes = reduction_axes("reduce_prod", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("reduction", reduce_prod, x, axis, keepdims)
    return prod_op(x, axis=axes, keepdims=bool(keepdims), name=name)
