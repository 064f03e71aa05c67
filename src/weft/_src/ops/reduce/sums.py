"""Sums and means along axes, and the sum of several tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, AxisLike, DTypeLike, ShapeLike, TensorLike
from weft._src.core.convert import convert_to_tensor, items_of
from weft._src.core.dtypes import INDEX, NUMERIC
from weft._src.core.growing import GrowingList
from weft._src.core.native_rules import Reduction, Special
from weft._src.core.shapes import Dim, TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import KERNEL, Lowered
from weft._src.errors import DTypeError
from weft._src.ops import batching, graph_forms, rules, shape_graph_forms, static
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting
from weft._src.ops.registry import FOLDED, NOT_DIFFERENTIABLE, args, define_op

SHAPE_DTYPE = dtypes.int32
Axes = tuple[int, ...] | None


def reduction_axes(op: str, axis: Any) -> Axes:
    """The `axis` argument of a reduction: None, a number, or several (maybe as a tensor)."""
    axes = static.static_ints(op, axis, "axis")
    return (axes,) if isinstance(axes, int) else axes


def reduced_dims(op: str, x: TensorSpec, axis: Axes, keepdims: bool) -> TensorSpec:
    """The type rule of reductions."""
    if x.dims is None:
        return x if axis is not None or keepdims else x.with_dims(())
    axes = rules.normalize_axes(op, axis, len(x.dims))
    if keepdims:
        return x.with_dims(tuple([1 if i in axes else d for i, d in enumerate(x.dims)]))
    return x.with_dims(tuple([d for i, d in enumerate(x.dims) if i not in axes]))


def restore_axes(g: Tensor, x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    """A reduced tensor with the axes that were reduced put back as axes of size one."""
    if keepdims:
        return g
    rank = x.spec.rank
    if rank is None:
        return shapes.reshape_op(
            g, kept_shape_op(shapes.shape_op(x, out_type=SHAPE_DTYPE), axis=axis)
        )
    for i in sorted(rules.normalize_axes("reduction", axis, rank)):
        g = shapes.expand_dims_op(g, axis=i)
    return g


def _kept_shape_kernel(xp: ArrayNamespace, shape: Array, *, axis: Axes) -> Array:
    out = shape.copy()
    out[list(axis) if axis is not None else slice(None)] = 1
    return out


kept_shape_op = define_op(
    "ReducedShape",
    args("shape", INDEX),
    infer=lambda shape, *, axis: shape,
    kernel=_kept_shape_kernel,
    native=FOLDED,
    vjp=lambda ctx, g: (None,),
    fresh=True,
    graphdef=shape_graph_forms.reduced_shape,
)


def _reduced_shapes_kernel(xp: ArrayNamespace, shape: Array, axes: Array) -> tuple[Array, Array]:
    rank = len(shape)
    found = rules.normalize_axes("reduction", tuple(axes.ravel().tolist()), rank)
    kept = [1 if i in found else n for i, n in enumerate(shape.tolist())]
    left = [n for i, n in enumerate(shape.tolist()) if i not in found]
    return xp.array(kept, shape.dtype), xp.array(left, shape.dtype)


# What is left of a shape by a reduction whose axes are computed: with size 1, and without them.
reduced_shapes_op = define_op(
    "ReducedShapes",
    args("shape", INDEX) + args("axes", INDEX),
    infer=lambda shape, axes: (shape, shape.with_dims((Dim(),))),
    kernel=_reduced_shapes_kernel,
    native=FOLDED,
    vjp=NOT_DIFFERENTIABLE,
    outputs=2,
    fresh=True,
    graphdef=shape_graph_forms.reduced_shapes,
)


def spread(g: Tensor, x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    """A reduced gradient repeated over the shape of the reduction's input."""
    return shapes.broadcast_to_op(
        restore_axes(g, x, axis, keepdims), shapes.shape_op(x, out_type=SHAPE_DTYPE)
    )


def _sum_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    return (spread(g, ctx.inputs[0], ctx.attrs["axis"], ctx.attrs["keepdims"]),)


sum_op = define_op(
    "Sum",
    args("input", NUMERIC),
    infer=lambda x, *, axis, keepdims: reduced_dims("reduce_sum", x, axis, keepdims),
    kernel=lambda xp, x, *, axis, keepdims: xp.reduction(xp.add, x, axis, keepdims),
    native=Reduction("reduction", combination="add"),
    xla=KERNEL,
    vjp=_sum_vjp,
    trusts_kernel=True,
    fresh=True,
    ragged="reduction",
    batch=batching.summed,
    graphdef=graph_forms.reduction,
)


def reduce_sum(
    input_tensor: TensorLike,
    axis: AxisLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sum over the given axes, over all of them if none are given.

    Args:
      input_tensor: a tensor of numbers.
      axis: an axis or a list of axes, counted from the end if negative; None means all.
      keepdims: whether the axes stay, with size 1.

    Returns:
      A tensor of the dtype of `input_tensor` without these axes; of no elements it is 0.

    Raises:
      ShapeError: if there is no such axis, or one is named twice.
      DTypeError: if `input_tensor` has another dtype.

    >>> tf.reduce_sum([[1, 2], [3, 4]], axis=0).numpy()
    array([4, 6], dtype=int32)
    """
    x = convert_to_tensor(input_tensor)
    try:
        axes = reduction_axes("reduce_sum", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("reduction", reduce_sum, x, axis, keepdims)
    return sum_op(x, axis=axes, keepdims=bool(keepdims), name=name)


def _mean_kernel(xp: ArrayNamespace, x: Array, *, axis: Axes, keepdims: bool) -> Any:
    if x.dtype.kind in "fc" and x.dtype.itemsize > 2:
        n = x.size if axis is None else math.prod([x.shape[i] for i in axis])
        return xp.add.reduce(x, axis=axis, keepdims=keepdims) / x.dtype.type(n)
    wide = xp.widen(x)
    exact = x.dtype.kind in "iu"
    if exact:
        wide = x.astype(xp.int64 if x.dtype.kind == "i" else xp.uint64, copy=False)
    total = xp.add.reduce(wide, axis=axis, dtype=wide.dtype, keepdims=keepdims)
    n = 1
    for i in range(x.ndim) if axis is None else axis:
        n *= x.shape[i]
    if not exact:
        return xp.true_divide(total, wide.dtype.type(n)).astype(x.dtype)
    # Integers: truncated towards zero; the mean of nothing is 0, as for every integer sum.
    n = wide.dtype.type(max(n, 1))
    return xp.floor_divide(total + (n - 1) * (total < 0), n).astype(x.dtype)


def _mean_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    x = ctx.inputs[0]
    share = g * _share_of_each(x, ctx.outputs[0])
    return (spread(share, x, ctx.attrs["axis"], ctx.attrs["keepdims"]),)


def _share_of_each(x: Tensor, mean: Tensor) -> Any:
    """How much each element counts in its mean: a number if the sizes are known."""
    n, groups = x.shape.num_elements(), mean.shape.num_elements()
    if n is not None and groups is not None:
        return groups / n if n else 0.0
    # In float64: the number of elements may be beyond what float16 can hold.
    sizes = [shapes.size_op(t, out_type=dtypes.int64) for t in (mean, x)]
    count, total = [casting.cast(size, dtypes.float64) for size in sizes]
    return casting.cast(count / total, mean.dtype)


mean_op = define_op(
    "Mean",
    args("input", NUMERIC),
    infer=lambda x, *, axis, keepdims: reduced_dims("reduce_mean", x, axis, keepdims),
    kernel=_mean_kernel,
    native=Reduction("mean"),
    xla=KERNEL,
    vjp=_mean_vjp,
    trusts_kernel=True,
    fresh=True,
    ragged="reduction",
    batch=batching.summed,
    graphdef=graph_forms.reduction,
)


def reduce_mean(
    input_tensor: TensorLike,
    axis: AxisLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The mean over the given axes; integers are cut towards zero.

    Args:
      input_tensor: a tensor of numbers.
      axis: an axis or a list of axes, counted from the end if negative; None means all.
      keepdims: whether the axes stay, with size 1.

    Returns:
      A tensor of the dtype of `input_tensor` without these axes; of no floats it is NaN.

    Raises:
      ShapeError: if there is no such axis, or one is named twice.
      DTypeError: if `input_tensor` has another dtype.

    >>> tf.reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=1).numpy()
    array([1.5, 3.5], dtype=float32)
    """
    x = convert_to_tensor(input_tensor)
    try:
        axes = reduction_axes("reduce_mean", axis)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("reduction", reduce_mean, x, axis, keepdims)
    return mean_op(x, axis=axes, keepdims=bool(keepdims), name=name)


# --- the sum of several tensors ----------------------------------------------------------------


def _add_n_infer(*inputs: TensorSpec) -> TensorSpec:
    dims = inputs[0].dims
    for i, other in enumerate(inputs[1:], 1):
        dims = rules.merge_dims("add_n", dims, other.dims, f"inputs[0] and inputs[{i}]")
    return inputs[0].with_dims(dims)


def _add_n_kernel(xp: ArrayNamespace, *inputs: Array) -> Any:
    if any(x.shape != inputs[0].shape for x in inputs):
        raise ValueError("the type rule says what is wrong")
    total = xp.add(inputs[0], inputs[1]) if len(inputs) > 1 else xp.array(inputs[0])
    for x in inputs[2:]:
        total = total + x
    return total


add_n_op = define_op(
    "AddN",
    args("*inputs", NUMERIC),
    infer=_add_n_infer,
    kernel=_add_n_kernel,
    native=Special("add_n"),
    xla=Lowered("add_n"),
    vjp=lambda ctx, g: (g,) * len(ctx.inputs),
    trusts_kernel=True,
    fresh=True,
    ragged="elementwise",
    batch=batching.same_shapes,
)


def add_n(inputs: Sequence[Any], name: str | None = None) -> Tensor:
    """The sum of several tensors of one shape.

    Args:
      inputs: a list of tensors of numbers, of one shape and dtype; they are not broadcast.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      ValueError: if the list is empty.
      ShapeError: if shapes differ.
      DTypeError: if dtypes differ.

    >>> tf.add_n([[1, 2], [3, 4], [5, 6]]).numpy()
    array([ 9, 12], dtype=int32)
    """
    if isinstance(inputs, GrowingList):
        return inputs.summed()
    tensors = [convert_to_tensor(x) for x in items_of("add_n", inputs, "inputs")]
    if not tensors:
        raise ValueError("add_n: at least one tensor is needed, got none.")
    return add_n_op(*tensors, name=name)


def accumulate_n(
    inputs: Sequence[Any],
    shape: ShapeLike | None = None,
    tensor_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The sum of several tensors of one shape, which may be asserted together with the dtype.

    Args:
      inputs: a list of tensors of numbers, of one shape and dtype; they are not broadcast.
      shape: the shape they must have; None means any.
      tensor_dtype: the dtype they must have; None means any.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      ValueError: if the list is empty.
      ShapeError: if shapes differ.
      DTypeError: if dtypes differ.

    >>> tf.math.accumulate_n([[1, 2], [3, 4]], shape=[2], tensor_dtype=tf.int32).numpy()
    array([4, 6], dtype=int32)
    """
    tensors = (
        [inputs.summed()]
        if isinstance(inputs, GrowingList)
        else [convert_to_tensor(x) for x in items_of("accumulate_n", inputs, "inputs")]
    )
    if not tensors:
        raise ValueError("accumulate_n: at least one tensor is needed in inputs, got none.")
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) is not tensors[0].dtype:
        raise DTypeError(
            f"accumulate_n: tensor_dtype is {dtypes.as_dtype(tensor_dtype).name}, but inputs have "
            f"dtype {tensors[0].dtype.name}."
        )
    for x in tensors if shape is not None else ():
        wanted = TensorShape(shape).dims_or_none
        rules.merge_dims("accumulate_n", x.spec.dims, wanted, "inputs and shape")
    return add_n_op(*tensors, name=name)


# --- summing down to a shape: the gradient of broadcasting with unknown sizes -------------------


def _sum_to_shape_infer(x: TensorSpec, shape: TensorSpec) -> TensorSpec:
    return x.with_dims(rules.dims_from_value("SumToShape", shape))


def _sum_to_shape_kernel(xp: ArrayNamespace, x: Array, shape: Array) -> Array:
    want = tuple(shape.tolist())
    lead = x.ndim - len(want)
    axes = (*range(lead), *[lead + i for i, d in enumerate(want) if d == 1 != x.shape[lead + i]])
    return xp.reshape(xp.reduction(xp.add, x, axes, True), want)


sum_to_shape_op = define_op(
    "SumToShape",
    args("x", NUMERIC) + args("shape", INDEX, is_shape=True),
    infer=_sum_to_shape_infer,
    kernel=_sum_to_shape_kernel,
    native=Special("sum_to_shape"),
    xla=KERNEL,
    vjp=lambda ctx, g: (
        shapes.broadcast_to_op(g, shapes.shape_op(ctx.inputs[0], out_type=SHAPE_DTYPE)),
        None,
    ),
    batch=batching.summed_to_shape,
    graphdef=graph_forms.sum_to_shape,
)
