"""Logarithms of sums, norms, variances."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.composite import CompositeTensor
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import FLOATING, NUMERIC, float64
from weft._src.core.native_rules import Reduction
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL
from weft._src.ops import batching, graph_forms, static
from weft._src.ops.arrays import selection, source
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting, unary
from weft._src.ops.elementwise.operands import zero
from weft._src.ops.reduce.sums import (
    Axes,
    reduce_mean,
    reduced_dims,
    reduction_axes,
    restore_axes,
    sum_op,
)
from weft._src.ops.registry import args, define_op

# --- logsumexp ---------------------------------------------------------------------------------


def _logsumexp_kernel(xp: ArrayNamespace, x: Array, *, axis: Axes, keepdims: bool) -> Any:
    wide = xp.widen(x)
    top = xp.maximum.reduce(wide, axis=axis, keepdims=True, initial=-xp.inf)
    top = xp.where(xp.isfinite(top), top, 0)
    out = xp.log(xp.add.reduce(xp.exp(wide - top), axis=axis, keepdims=True)) + top
    if not keepdims:
        out = xp.squeeze(out, tuple(range(x.ndim)) if axis is None else axis)
    return out.astype(x.dtype)


def _logsumexp_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    x, axis, keepdims = ctx.inputs[0], ctx.attrs["axis"], ctx.attrs["keepdims"]
    total = source.stop_gradient(restore_axes(ctx.outputs[0], x, axis, keepdims))
    total = selection.select_op(unary.is_finite_op(total), total, zero(total))
    # Divided by their sum, because of large totals the digits behind the point are rounded off.
    parts = unary.exp_op(x - total)
    share = restore_axes(g, x, axis, keepdims) / sum_op(parts, axis=axis, keepdims=True)
    return (share * parts,)


logsumexp_op = define_op(
    "LogSumExp",
    args("input", FLOATING),
    infer=lambda x, *, axis, keepdims: reduced_dims("reduce_logsumexp", x, axis, keepdims),
    kernel=_logsumexp_kernel,
    native=Reduction("logsumexp"),
    xla=KERNEL,
    vjp=_logsumexp_vjp,
    trusts_kernel=True,
    fresh=True,
    batch=batching.inexact(batching.along_axes),
    graphdef=graph_forms.log_sum_exp,
)


def reduce_logsumexp(
    input_tensor: TensorLike,
    axis: AxisLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """log(sum(exp(x))) over the given axes, without overflow.

    Args:
      input_tensor: a tensor of floating numbers.
      axis: an axis or a list of axes, counted from the end if negative; None means all.
      keepdims: whether the axes stay, with size 1.

    Returns:
      A tensor of the dtype of `input_tensor` without these axes; of no elements it is -inf.

    Raises:
      ShapeError: if there is no such axis, or one is named twice.
      DTypeError: if `input_tensor` has another dtype.

    >>> tf.reduce_logsumexp([1000.0, 1000.0]).numpy()
    np.float32(1000.6932)
    """
    x = convert_to_tensor(input_tensor)
    try:
        axes = reduction_axes("reduce_logsumexp", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("reduction", reduce_logsumexp, x, axis, keepdims)
    return logsumexp_op(x, axis=axes, keepdims=bool(keepdims), name=name)


# --- the euclidean norm ------------------------------------------------------------------------


def _norm_kernel(xp: ArrayNamespace, x: Array, *, axis: Axes, keepdims: bool) -> Any:
    wide = xp.widen(x)
    if x.dtype.kind in "iu":
        wide = x.astype(xp.float64)
    squares = wide * xp.conj(wide)
    total = xp.add.reduce(squares, axis=axis, dtype=squares.dtype, keepdims=keepdims)
    return xp.sqrt(total).astype(x.dtype)


def _norm_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    x, axis, keepdims = ctx.inputs[0], ctx.attrs["axis"], ctx.attrs["keepdims"]
    norm = restore_axes(ctx.outputs[0], x, axis, keepdims)
    return (x / (norm / restore_axes(g, x, axis, keepdims)),)


euclidean_norm_op = define_op(
    "EuclideanNorm",
    args("input", NUMERIC),
    infer=lambda x, *, axis, keepdims: reduced_dims("reduce_euclidean_norm", x, axis, keepdims),
    kernel=_norm_kernel,
    native=Reduction("euclidean_norm"),
    xla=KERNEL,
    vjp=_norm_vjp,
    trusts_kernel=True,
    fresh=True,
    batch=batching.inexact(batching.along_axes),
    graphdef=graph_forms.reduction,
)


def reduce_euclidean_norm(
    input_tensor: TensorLike,
    axis: AxisLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The square root of the sum of squares over the given axes.

    Args:
      input_tensor: a tensor of numbers.
      axis: an axis or a list of axes, counted from the end if negative; None means all.
      keepdims: whether the axes stay, with size 1.

    Returns:
      A tensor of the dtype of `input_tensor` without these axes; of integers the norm is cut to an
      integer.

    Raises:
      ShapeError: if there is no such axis, or one is named twice.
      DTypeError: if `input_tensor` has another dtype.

    >>> tf.math.reduce_euclidean_norm([3.0, 4.0]).numpy()
    np.float32(5.0)
    """
    x = convert_to_tensor(input_tensor)
    try:
        axes = reduction_axes("reduce_euclidean_norm", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("reduction", reduce_euclidean_norm, x, axis, keepdims)
    return euclidean_norm_op(x, axis=axes, keepdims=bool(keepdims), name=name)


# --- variance ----------------------------------------------------------------------------------


def reduce_variance(
    input_tensor: TensorLike,
    axis: AxisLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The mean squared distance from the mean over the given axes.

    Args:
      input_tensor: a tensor of floating or complex numbers; a ragged one may hold integers, too.
      axis: an axis or a list of axes, counted from the end if negative; None means all.
      keepdims: whether the axes stay, with size 1.

    Returns:
      A tensor of the dtype of `input_tensor` without these axes; complex numbers give real ones,
      ragged integers float64.

    Raises:
      TypeError: if the dtype is neither floating nor complex.
      ShapeError: if there is no such axis, or one is named twice.

    >>> tf.math.reduce_variance([1.0, 2.0, 3.0, 4.0]).numpy()
    np.float32(1.25)
    """
    x = convert_to_tensor(input_tensor)
    if isinstance(x, CompositeTensor) and not x.dtype.is_complex:
        return _variance_of_rows(x, axis, keepdims)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise TypeError(
            f"reduce_variance: input_tensor has dtype {x.dtype.name}, expected a floating or "
            "complex one. Convert it with tf.cast."
        )
    distance = x - reduce_mean(x, axis, keepdims=True)
    if x.dtype.is_complex:
        distance = unary.abs(distance)
    return reduce_mean(unary.square(distance), axis, keepdims, name=name)


def _variance_of_rows(x: Any, axis: AxisLike | None, keepdims: bool) -> Tensor:
    """Of a ragged tensor, to whose rows the means along an axis need not broadcast."""
    x = casting.cast(x, float64) if x.dtype.is_integer else x
    near_zero = x - reduce_mean(x.all_values)  # so that the squares do not hide the differences
    mean = reduce_mean(near_zero, axis, keepdims)
    return reduce_mean(unary.square(near_zero), axis, keepdims) - unary.square(mean)


def reduce_std(
    input_tensor: TensorLike,
    axis: AxisLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The standard deviation over the given axes.

    Args:
      input_tensor: a tensor of floating or complex numbers.
      axis: an axis or a list of axes, counted from the end if negative; None means all.
      keepdims: whether the axes stay, with size 1.

    Returns:
      A tensor of the dtype of `input_tensor` without these axes; complex numbers give real ones.

    Raises:
      TypeError: if the dtype is neither floating nor complex.
      ShapeError: if there is no such axis, or one is named twice.

    >>> tf.math.reduce_std([1.0, 3.0]).numpy()
    np.float32(1.0)
    """
    return unary.sqrt(reduce_variance(input_tensor, axis, keepdims), name=name)
