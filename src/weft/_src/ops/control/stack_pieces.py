"""Ops on whole stacks: joining elements that differ in length, splitting, changing the length."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.dtypes import DATA, INDEX, DType, int32, int64
from weft._src.core.shapes import Dim, Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.stack import Stack
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import rules
from weft._src.ops.contexts import VjpContext
from weft._src.ops.control import graph_forms as forms
from weft._src.ops.control.stack import STACK, VARIANT, length_op
from weft._src.ops.registry import (
    DATA_SHAPED,
    HOST_ONLY,
    NO_NATIVE,
    NOT_DIFFERENTIABLE,
    Op,
    args,
    define_op,
)


def _concat_kernel(
    xp: ArrayNamespace, stack: Stack, like: Stack, *, dtype: DType, shape: Dims | None, axis: int
) -> Array:
    rows = [
        stack.read(i) if stack.has_written(i) else np.zeros_like(like.read(i))
        for i in range(like.length)
    ]
    if any(row.ndim == 0 for row in rows):
        raise ShapeError("concat: scalar elements cannot be joined; stack them.")
    if not rows:
        known = like.element_shape  # of the rows of an array that has none
        return _nothing(dtype, shape if known is None else known, axis)
    found = ", ".join([str(row.shape) for row in rows[:4]])
    if not -rows[0].ndim <= axis < rows[0].ndim:
        raise ShapeError(f"concat: axis {axis} is out of range for elements of shapes {found}.")
    if len({_without(row.shape, axis) for row in rows}) > 1:
        raise ShapeError(
            f"concat: elements may differ in the size of axis {axis} only, got shapes {found}."
        )
    return np.concatenate(rows, axis)


def _nothing(dtype: DType, shape: Dims | None, axis: int) -> Array:
    """What no elements are joined to. Sizes that nobody knows are taken for 0."""
    sizes = [0 if isinstance(size, Dim) else size for size in shape or (0,)]
    sizes[axis if -len(sizes) <= axis < len(sizes) else 0] = 0
    return np.zeros(sizes, dtype.numpy_dtype)


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    at = axis % len(shape)
    return (*shape[:at], *shape[at + 1 :])


def _concat_infer(
    stack: TensorSpec, like: TensorSpec, *, dtype: DType, shape: Dims | None, axis: int
) -> TensorSpec:
    if shape is None:
        return TensorSpec.of(dtype, None)
    at = rules.normalize_axis("concat", axis, len(shape))
    return TensorSpec.of(dtype, (*shape[:at], Dim(), *shape[at + 1 :]))


def _concat_vjp(ctx: VjpContext, g: Tensor) -> tuple[Any, ...]:
    axis = ctx.attrs["axis"]
    return split_op(g, row_lengths_op(ctx.inputs[1], axis=axis), axis=axis), None


# All elements joined along an axis; those not written are zeros shaped as in `like`.
concat_op: Op = define_op(
    "StackConcat",
    args("input_handle like", VARIANT),
    infer=_concat_infer,
    kernel=_concat_kernel,
    native=HOST_ONLY,
    vjp=_concat_vjp,
    fresh=True,
    linear=(0,),
    graphdef=forms.concat_items,
)


def _row_lengths_kernel(xp: ArrayNamespace, stack: Stack, *, axis: int) -> Array:
    return np.array([stack.read(i).shape[axis] for i in range(stack.length)], np.int64)


row_lengths_op: Op = define_op(
    "StackRowLengths",
    args("input_handle", VARIANT),
    infer=lambda stack, *, axis: TensorSpec.of(int64, (Dim(),)),
    kernel=_row_lengths_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def _split_kernel(xp: ArrayNamespace, tensor: Array, lengths: Array, *, axis: int) -> Stack:
    sizes = lengths.tolist()
    total = tensor.shape[axis]
    if min(sizes, default=0) < 0 or sum(sizes) != total:
        raise InvalidArgumentError(
            None,
            None,
            f"TensorArray.split: lengths must be >= 0 and add up to {total}, got {sizes}.",
        )
    out = Stack.reserve(tensor.dtype, len(sizes))
    for i, part in enumerate(np.split(tensor, np.cumsum(sizes)[:-1], axis) if sizes else []):
        out = out.write(i, part)
    return out


def _split_infer(tensor: TensorSpec, lengths: TensorSpec, *, axis: int) -> TensorSpec:
    if tensor.rank == 0:
        raise ShapeError("TensorArray.split: the tensor must have at least one axis.")
    rules.check_rank("TensorArray.split", lengths, 1, name="lengths")
    return STACK


def _split_vjp(ctx: VjpContext, g: Tensor) -> tuple[Any, ...]:
    x = ctx.inputs[0]
    axis = ctx.attrs["axis"]
    return concat_op(g, ctx.outputs[0], dtype=x.dtype, shape=x.spec.dims, axis=axis), None


# Pieces of a tensor, of the given lengths along an axis.
split_op: Op = define_op(
    "StackSplit",
    args("tensor", DATA) + args("lengths", INDEX),
    infer=_split_infer,
    kernel=_split_kernel,
    native=HOST_ONLY,
    vjp=_split_vjp,
    fresh=True,
    linear=(0,),
    graphdef=forms.split_items,
)


# --- length and shape ----------------------------------------------------------------------------


def _resize_infer(stack: TensorSpec, size: TensorSpec) -> TensorSpec:
    rules.check_rank("TensorListResize", size, 0, name="size")
    return STACK


def _resize_kernel(xp: ArrayNamespace, stack: Stack, size: Any) -> Stack:
    if size < 0:
        raise InvalidArgumentError(None, None, f"TensorListResize: size must be >= 0, got {size}.")
    return stack.resized(int(size))


# New elements at the end are not written yet.
resize_op: Op = define_op(
    "TensorListResize",
    args("input_handle", VARIANT) + args("size", INDEX),
    infer=_resize_infer,
    kernel=_resize_kernel,
    native=NO_NATIVE,
    xla=Lowered("stack_resize"),
    vjp=lambda ctx, g: (resize_op(g, length_op(ctx.inputs[0])), None),
    linear=(0,),
)


def _element_shape_kernel(xp: ArrayNamespace, stack: Stack) -> Array:
    shape = stack.element_shape
    return np.array(-1 if shape is None else shape, np.int32)


# -1 if the elements have different shapes, or nobody has written any.
element_shape_op: Op = define_op(
    "TensorListElementShape",
    args("input_handle", VARIANT),
    infer=lambda stack: TensorSpec.of(int32, None),
    kernel=_element_shape_kernel,
    native=NO_NATIVE,
    xla=DATA_SHAPED,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)
