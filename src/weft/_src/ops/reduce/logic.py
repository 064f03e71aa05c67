"""Whether all or any elements hold, and how many are not zero."""

from __future__ import annotations

from typing import Any

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, AxisLike, DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import BOOL, int64, string
from weft._src.core.native_rules import Reduction
from weft._src.core.tensor import Tensor
from weft._src.core.xla_rules import KERNEL
from weft._src.ops import batching, graph_forms, static
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.reduce.sums import reduce_sum, reduced_dims, reduction_axes
from weft._src.ops.registry import NOT_DIFFERENTIABLE, Op, args, define_op


def _define(name: str, function: str, ufunc: str) -> Op:
    def kernel(xp: ArrayNamespace, x: Any, *, axis: AxisLike, keepdims: bool) -> Any:
        return getattr(xp, ufunc).reduce(x, axis=axis, keepdims=keepdims)

    return define_op(
        name,
        args("input", BOOL),
        batch=batching.along_axes,
        infer=lambda x, *, axis, keepdims: reduced_dims(function, x, axis, keepdims),
        kernel=kernel,
        native=Reduction("reduction", combination=ufunc),
        xla=KERNEL,
        ragged="reduction",
        vjp=NOT_DIFFERENTIABLE,
        trusts_kernel=True,
        fresh=True,
        graphdef=graph_forms.reduction,
    )


all_op = _define("All", "reduce_all", "logical_and")
any_op = _define("Any", "reduce_any", "logical_or")


def reduce_all(
    input_tensor: TensorLike,
    axis: AxisLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """Whether all elements along the given axes are True.

    Args:
      input_tensor: a tensor of truth values.
      axis: an axis or a list of axes, counted from the end if negative; None means all.
      keepdims: whether the axes stay, with size 1.

    Returns:
      A tensor of bools without these axes; of no elements it is True.

    Raises:
      ShapeError: if there is no such axis, or one is named twice.
      DTypeError: if `input_tensor` has another dtype.

    >>> tf.reduce_all([[True, False], [True, True]], axis=1).numpy()
    array([False,  True])
    """
    x = convert_to_tensor(input_tensor)
    try:
        axes = reduction_axes("reduce_all", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("reduction", reduce_all, x, axis, keepdims)
    return all_op(x, axis=axes, keepdims=bool(keepdims), name=name)


def reduce_any(
    input_tensor: TensorLike,
    axis: AxisLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """Whether any element along the given axes is True.

    Args:
      input_tensor: a tensor of truth values.
      axis: an axis or a list of axes, counted from the end if negative; None means all.
      keepdims: whether the axes stay, with size 1.

    Returns:
      A tensor of bools without these axes; of no elements it is False.

    Raises:
      ShapeError: if there is no such axis, or one is named twice.
      DTypeError: if `input_tensor` has another dtype.

    >>> tf.reduce_any([[True, False], [False, False]], axis=1).numpy()
    array([ True, False])
    """
    x = convert_to_tensor(input_tensor)
    try:
        axes = reduction_axes("reduce_any", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("reduction", reduce_any, x, axis, keepdims)
    return any_op(x, axis=axes, keepdims=bool(keepdims), name=name)


def count_nonzero(
    input: TensorLike,
    axis: AxisLike | None = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = int64,
    name: str | None = None,
) -> Tensor:
    """The number of elements that are not zero (not False, not empty strings).

    Args:
      input: a tensor of numbers, truth values or strings.
      axis: an axis or a list of axes, counted from the end if negative; None means all.
      keepdims: whether the axes stay, with size 1; None means no.
      dtype: the dtype of the result, a numeric one.

    Returns:
      A tensor of this dtype without these axes.

    Raises:
      ShapeError: if there is no such axis, or one is named twice.

    >>> tf.math.count_nonzero([[0, 1, 0], [2, 3, 0]], axis=1).numpy()
    array([1, 2])
    """
    x = convert_to_tensor(input)
    if not x.dtype.is_bool:
        zero = "" if x.dtype is string else 0
        x = comparison.not_equal(x, convert_to_tensor(zero, dtype=x.dtype))
    count = reduce_sum(casting.cast(x, int64), axis, bool(keepdims))
    return casting.cast(count, dtypes.as_dtype(dtype), name=name)
