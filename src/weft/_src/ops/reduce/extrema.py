"""Largest and smallest elements along axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, AxisLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import REAL
from weft._src.core.native_rules import Reduction
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL
from weft._src.ops import batching, graph_forms, static
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.reduce.sums import Axes, reduced_dims, reduction_axes, restore_axes, sum_op
from weft._src.ops.registry import Op, args, define_op


def _identity(dtype: np.dtype[Any], largest: bool) -> Any:
    """What the largest (smallest) of nothing is: the other end of the dtype's range."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return info.min if largest else info.max
    return dtype.type(-np.inf if largest else np.inf)


def _kernel(ufunc: str) -> Any:
    largest = ufunc == "maximum"

    def kernel(xp: ArrayNamespace, x: Array, *, axis: Axes, keepdims: bool) -> Any:
        reduce = getattr(xp, ufunc).reduce
        if x.size:
            return reduce(x, axis=axis, keepdims=keepdims)
        return reduce(x, axis=axis, keepdims=keepdims, initial=_identity(x.dtype, largest))

    return kernel


def _vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    """Elements that share the extremum share its gradient."""
    x, axis, keepdims = ctx.inputs[0], ctx.attrs["axis"], ctx.attrs["keepdims"]
    extremum = restore_axes(ctx.outputs[0], x, axis, keepdims)
    chosen = casting.cast(comparison.equal(x, extremum), g.dtype)
    shared = restore_axes(g, x, axis, keepdims) / sum_op(chosen, axis=axis, keepdims=True)
    return (chosen * shared,)


def _define(name: str, function: str, ufunc: str) -> Op:
    return define_op(
        name,
        args("input", REAL),
        batch=batching.along_axes,
        infer=lambda x, *, axis, keepdims: reduced_dims(function, x, axis, keepdims),
        kernel=_kernel(ufunc),
        native=Reduction("reduction", combination=ufunc),
        xla=KERNEL,
        ragged="reduction",
        vjp=_vjp,
        trusts_kernel=True,
        fresh=True,
        graphdef=graph_forms.reduction,
    )


max_op = _define("Max", "reduce_max", "maximum")
min_op = _define("Min", "reduce_min", "minimum")


def reduce_max(
    input_tensor: TensorLike,
    axis: AxisLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The largest element along the given axes, of all if none are given; NaN wins.

    Args:
      input_tensor: a tensor of real numbers.
      axis: an axis or a list of axes, counted from the end if negative; None means all.
      keepdims: whether the axes stay, with size 1.

    Returns:
      A tensor of the dtype of `input_tensor` without these axes; of no elements it is the lowest
      number (-inf for floats).

    Raises:
      ShapeError: if there is no such axis, or one is named twice.
      DTypeError: if `input_tensor` has another dtype.

    >>> tf.reduce_max([[1, 5], [7, 3]], axis=1).numpy()
    array([5, 7], dtype=int32)
    """
    x = convert_to_tensor(input_tensor)
    try:
        axes = reduction_axes("reduce_max", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("reduction", reduce_max, x, axis, keepdims)
    return max_op(x, axis=axes, keepdims=bool(keepdims), name=name)


def reduce_min(
    input_tensor: TensorLike,
    axis: AxisLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The smallest element along the given axes, of all if none are given; NaN wins.

    Args:
      input_tensor: a tensor of real numbers.
      axis: an axis or a list of axes, counted from the end if negative; None means all.
      keepdims: whether the axes stay, with size 1.

    Returns:
      A tensor of the dtype of `input_tensor` without these axes; of no elements it is the highest
      number (inf for floats).

    Raises:
      ShapeError: if there is no such axis, or one is named twice.
      DTypeError: if `input_tensor` has another dtype.

    >>> tf.reduce_min([[1, 5], [7, 3]], axis=1).numpy()
    array([1, 3], dtype=int32)
    """
    x = convert_to_tensor(input_tensor)
    try:
        axes = reduction_axes("reduce_min", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("reduction", reduce_min, x, axis, keepdims)
    return min_op(x, axis=axes, keepdims=bool(keepdims), name=name)
