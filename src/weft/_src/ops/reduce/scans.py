"""Cumulative sums, products and logarithms of sums of exponentials."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING, NUMERIC
from weft._src.core.native_rules import Scan
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.ops import batching, graph_forms, rules, static
from weft._src.ops.arrays import joining, selection
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import arithmetic, comparison, unary
from weft._src.ops.elementwise.operands import conj
from weft._src.ops.registry import Op, args, define_op


def _infer(op: str) -> Any:
    def infer(x: TensorSpec, *, axis: int, exclusive: bool, reverse: bool) -> TensorSpec:
        if x.dims is not None:
            rules.normalize_axis(op, axis, len(x.dims))
        return x

    return infer


def _kernel(ufunc: str, start: float) -> Any:
    def kernel(xp: ArrayNamespace, x: Array, *, axis: int, exclusive: bool, reverse: bool) -> Array:
        wide = xp.widen(x)
        if reverse:
            wide = xp.flip(wide, axis)
        accumulate = getattr(xp, ufunc).accumulate
        if exclusive:
            rows = xp.moveaxis(wide, axis, 0)
            out = xp.empty(rows.shape, wide.dtype)
            out[:1] = start
            if len(rows) > 1:
                accumulate(rows[:-1], axis=0, dtype=wide.dtype, out=out[1:])
            out = xp.moveaxis(out, 0, axis)
        else:
            out = accumulate(wide, axis=axis, dtype=wide.dtype)
        return (xp.flip(out, axis) if reverse else out).astype(x.dtype, copy=False)

    return kernel


def _cumsum_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    return (cumsum_op(g, **(ctx.attrs | {"reverse": not ctx.attrs["reverse"]})),)


cumsum_op: Op = define_op(
    "Cumsum",
    args("x", NUMERIC),
    infer=_infer("cumsum"),
    kernel=_kernel("add", 0),
    native=Scan("scan", combination="add"),
    xla=Lowered("scan", combination="add"),
    vjp=_cumsum_vjp,
    trusts_kernel=True,
    fresh=True,
    ragged="scan",
    batch=batching.along_axis,
    graphdef=graph_forms.with_axis,
)


def cumsum(
    x: TensorLike,
    axis: AxisLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Sums of all elements up to each (without it if exclusive; from the end if reverse).

    Args:
      x: a tensor of numbers, of rank 1 or more.
      axis: the axis, counted from the end if negative.
      exclusive: whether the element itself is left out; the first is then 0.
      reverse: whether to go from the last element to the first.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      ShapeError: if there is no such axis.
      DTypeError: if `x` has another dtype.

    >>> tf.cumsum([1, 2, 3]).numpy()
    array([1, 3, 6], dtype=int32)
    >>> tf.cumsum([1, 2, 3], exclusive=True, reverse=True).numpy()
    array([5, 3, 0], dtype=int32)
    """
    try:
        at = joining.single_axis("cumsum", axis)
    except static.UnknownWhileTracingError as unknown:
        options = {"exclusive": exclusive, "reverse": reverse}
        made = convert_to_tensor(x)
        return unknown.instead("along", cumsum, made, axis, **options)
    return cumsum_op(
        convert_to_tensor(x),
        axis=at,
        exclusive=bool(exclusive),
        reverse=bool(reverse),
        name=name,
    )


def _cumprod_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    x = ctx.inputs[0]
    later = ctx.attrs | {"reverse": not ctx.attrs["reverse"]}
    # As in TensorFlow the gradient of an element that is 0 is 0.
    zero = comparison.equal(x, convert_to_tensor(0, dtype=x.dtype))
    divisor = selection.where(zero, convert_to_tensor(1, dtype=x.dtype), x)
    summed = cumsum_op(conj(ctx.outputs[0]) * g, **later)
    return (selection.where(zero, convert_to_tensor(0, dtype=x.dtype), summed / conj(divisor)),)


cumprod_op: Op = define_op(
    "Cumprod",
    args("x", NUMERIC),
    infer=_infer("cumprod"),
    kernel=_kernel("multiply", 1),
    native=Scan("scan", combination="multiply"),
    xla=Lowered("scan", combination="multiply"),
    vjp=_cumprod_vjp,
    trusts_kernel=True,
    fresh=True,
    ragged="scan",
    batch=batching.along_axis,
    graphdef=graph_forms.with_axis,
)


def cumprod(
    x: TensorLike,
    axis: AxisLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Products of all elements up to each (without it if exclusive; from the end if reverse).

    Args:
      x: a tensor of numbers, of rank 1 or more.
      axis: the axis, counted from the end if negative.
      exclusive: whether the element itself is left out; the first is then 1.
      reverse: whether to go from the last element to the first.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      ShapeError: if there is no such axis.
      DTypeError: if `x` has another dtype.

    >>> tf.math.cumprod([1, 2, 3]).numpy()
    array([1, 2, 6], dtype=int32)
    """
    try:
        at = joining.single_axis("cumprod", axis)
    except static.UnknownWhileTracingError as unknown:
        options = {"exclusive": exclusive, "reverse": reverse}
        made = convert_to_tensor(x)
        return unknown.instead("along", cumprod, made, axis, **options)
    return cumprod_op(
        convert_to_tensor(x),
        axis=at,
        exclusive=bool(exclusive),
        reverse=bool(reverse),
        name=name,
    )


def _log_of(g: Tensor) -> Tensor:
    """log(g) where g is positive, else the lowest number."""
    positive = g > 0
    lowest = convert_to_tensor(g.dtype.min, dtype=g.dtype)
    one = convert_to_tensor(1, dtype=g.dtype)
    return selection.where(positive, arithmetic.log_op(selection.where(positive, g, one)), lowest)


def _cumulative_logsumexp_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    x, y = ctx.inputs[0], ctx.outputs[0]
    later = ctx.attrs | {"reverse": not ctx.attrs["reverse"]}
    # By logarithms, positive and negative parts apart: exp(x) alone may overflow.
    parts = [
        unary.exp_op(cumulative_logsumexp_op(_log_of(part) - y, **later) + x) for part in (g, -g)
    ]
    return (parts[0] - parts[1],)


cumulative_logsumexp_op: Op = define_op(
    "CumulativeLogsumexp",
    args("x", FLOATING),
    infer=_infer("cumulative_logsumexp"),
    kernel=_kernel("logaddexp", -float("inf")),
    native=Scan("scan", combination="logaddexp"),
    xla=Lowered("scan", combination="logaddexp"),
    vjp=_cumulative_logsumexp_vjp,
    trusts_kernel=True,
    fresh=True,
    batch=batching.inexact(batching.along_axis),
    graphdef=graph_forms.with_axis,
)


def cumulative_logsumexp(
    x: TensorLike,
    axis: AxisLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """log(sum(exp(x))) of all elements up to each (without it if exclusive).

    Args:
      x: a tensor of floating numbers, of rank 1 or more.
      axis: the axis, counted from the end if negative.
      exclusive: whether the element itself is left out; the first is then -inf.
      reverse: whether to go from the last element to the first.

    Returns:
      A tensor of the shape and dtype of `x`.

    Raises:
      ShapeError: if there is no such axis.
      DTypeError: if `x` has another dtype.

    >>> tf.math.cumulative_logsumexp([0.0, 0.0, 0.0]).numpy()
    array([0.       , 0.6931472, 1.0986123], dtype=float32)
    """
    try:
        at = joining.single_axis("cumulative_logsumexp", axis)
    except static.UnknownWhileTracingError as unknown:
        options = {"exclusive": exclusive, "reverse": reverse}
        made = convert_to_tensor(x)
        return unknown.instead("along", cumulative_logsumexp, made, axis, **options)
    return cumulative_logsumexp_op(
        convert_to_tensor(x),
        axis=at,
        exclusive=bool(exclusive),
        reverse=bool(reverse),
        name=name,
    )
