"""Ops on the growing stack (`core.stack`): what TensorArrays, grown lists and loop gradients use.

A stack is a value of dtype variant. Its gradient is a stack too: of the gradients of its elements,
with those that nobody wrote counting as zeros.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DATA, INDEX, DType, int32
from weft.core.native_rules import Special
from weft.core.shapes import Dim, Dims
from weft.core.specs import TensorSpec
from weft.core.stack import Stack
from weft.core.tensor import Array, Tensor
from weft.errors import ShapeError
from weft.ops import rules
from weft.ops.array import fill
from weft.ops.registry import NOT_DIFFERENTIABLE, Op, args, define_op

VARIANT = frozenset({dtypes.variant})
_STACK = TensorSpec.of(dtypes.variant, ())


@functools.lru_cache(maxsize=1024)
def _static(shape: Dims | None) -> tuple[int, ...] | None:
    if shape is None or any(isinstance(d, Dim) for d in shape):
        return None
    return shape  # type: ignore[return-value]


def _reserve_infer(size: TensorSpec, *, dtype: DType) -> TensorSpec:
    rules.check_rank("TensorArray", size, 0, name="size")
    return _STACK


reserve_op = define_op(
    "TensorListReserve",
    args("num_elements", INDEX),
    infer=_reserve_infer,
    kernel=lambda xp, size, *, dtype: Stack.reserve(dtype.numpy_dtype, int(size)),
    native=Special("stack_reserve"),
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)

# The gradient of a stack that nothing depends on; needs no length, so nothing has to be saved.
zeros_op = define_op(
    "StackZeros",
    (),
    infer=lambda: _STACK,
    kernel=lambda xp: Stack.zeros(),
    native=Special("stack_reserve"),
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def _zeros_like_kernel(xp: Any, stack: Stack) -> Stack:
    if stack.element_shape is None:
        return Stack.reserve(stack.element_dtype, stack.length)
    if stack.element_dtype.kind != "O":
        return Stack.from_array(np.zeros_like(stack.to_array()))
    out = Stack.reserve(stack.element_dtype, 0)
    for i in range(stack.length):  # stacks of stacks
        item = stack.read(i).item() if stack.has_written(i) else Stack.zeros()
        out = _push_kernel(xp, out, _zeros_like_kernel(xp, item))
    return out


# A stack of as many zeros as another has elements.
zeros_like_op = define_op(
    "StackZerosLike",
    args("x", VARIANT),
    infer=lambda stack: stack,
    kernel=_zeros_like_kernel,
    native=Special("stack_reserve"),
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)

length_op = define_op(
    "TensorListLength",
    args("input_handle", VARIANT),
    infer=lambda stack: rules.scalar(int32),
    kernel=lambda xp, stack: np.array(stack.length, np.int32),
    native=Special("stack_length"),
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def _set_item_infer(
    stack: TensorSpec, index: TensorSpec, item: TensorSpec, *, grow: bool
) -> TensorSpec:
    rules.check_rank("TensorArray.write", index, 0, name="index")
    return stack


def _set_item_vjp(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    _, index, item = ctx.inputs
    return (
        clear_item_op(g, index),
        None,
        get_item_op(g, index, dtype=item.dtype, shape=item.spec.dims),
    )


set_item_op: Op = define_op(
    "TensorListSetItem",
    args("input_handle", VARIANT) + args("index", INDEX) + args("item", DATA),
    infer=_set_item_infer,
    kernel=lambda xp, stack, i, item, *, grow: stack.write(int(i), item, grow=grow),
    native=Special("stack_write"),
    vjp=_set_item_vjp,
)


def _get_item_infer(
    stack: TensorSpec, index: TensorSpec, *, dtype: DType, shape: Dims | None
) -> TensorSpec:
    rules.check_rank("TensorArray.read", index, 0, name="index")
    return TensorSpec.of(dtype, shape)


def _get_item_kernel(
    xp: Any, stack: Stack, index: Any, *, dtype: DType, shape: Dims | None
) -> Array:
    return stack.read(int(index), _static(shape))


def _get_item_vjp(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    stack, index = ctx.inputs
    zeros = reserve_op(length_op(stack), dtype=g.dtype)
    return set_item_op(zeros, index, g, grow=False), None


get_item_op: Op = define_op(
    "TensorListGetItem",
    args("input_handle", VARIANT) + args("index", INDEX),
    infer=_get_item_infer,
    kernel=_get_item_kernel,
    native=Special("stack_read"),
    vjp=_get_item_vjp,
)


def _clear_item_kernel(xp: Any, stack: Stack, index: Any) -> Stack:
    if stack.element_shape is None:
        return stack
    return stack.write(int(index), np.zeros(stack.element_shape, stack.element_dtype))


clear_item_op: Op = define_op(
    "StackClearItem",
    args("input_handle", VARIANT) + args("index", INDEX),
    infer=lambda stack, index: stack,
    kernel=_clear_item_kernel,
    native=Special("stack_write"),
    vjp=lambda ctx, g: (clear_item_op(g, ctx.inputs[1]), None),
)


def _push_vjp(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    item = ctx.inputs[1]
    return pop_op(g, dtype=item.dtype, shape=item.spec.dims)


def _push_kernel(xp: Any, stack: Stack, item: Any) -> Stack:
    """A stack can hold stacks: what an inner loop saved in each iteration of an outer one."""
    if isinstance(item, Stack):
        boxed = np.empty((), object)
        boxed[()] = item
        item = boxed
    return stack.push(item)


push_op: Op = define_op(
    "TensorListPushBack",
    args("input_handle", VARIANT) + args("tensor", DATA | VARIANT),
    infer=lambda stack, item: stack,
    kernel=_push_kernel,
    native=Special("stack_push"),
    vjp=_push_vjp,
)


def _pop_vjp(ctx: Any, g_stack: Tensor | None, g_item: Tensor | None) -> tuple[Any, ...]:
    item = ctx.outputs[1]
    if g_stack is None:
        g_stack = zeros_op()
    if g_item is None:
        g_item = zeros_op() if item.dtype is dtypes.variant else fill.zeros_like(item)
    return (push_op(g_stack, g_item),)


def _pop_kernel(xp: Any, stack: Stack, *, dtype: DType, shape: Dims | None) -> tuple[Stack, Any]:
    if dtype is dtypes.variant:
        if not stack.has_written(stack.length - 1):
            return (stack.pop(())[0] if stack.length else stack), Stack.zeros()
        rest, item = stack.pop()
        return rest, item.item()
    return stack.pop(_static(shape))


pop_op: Op = define_op(
    "TensorListPopBack",
    args("input_handle", VARIANT),
    infer=lambda stack, *, dtype, shape: (stack, TensorSpec.of(dtype, shape)),
    kernel=_pop_kernel,
    native=Special("stack_pop"),
    vjp=_pop_vjp,
    outputs=2,
)


def _to_tensor_infer(stack: TensorSpec, *, dtype: DType, shape: Dims | None) -> TensorSpec:
    return TensorSpec.of(dtype, None if shape is None else (Dim(), *shape))


def _to_tensor_kernel(xp: Any, stack: Stack, *, dtype: DType, shape: Dims | None) -> Array:
    return stack.to_array(_static(shape))


to_tensor_op: Op = define_op(
    "TensorListStack",
    args("input_handle", VARIANT),
    infer=_to_tensor_infer,
    kernel=_to_tensor_kernel,
    native=Special("stack_to_tensor"),
    vjp=lambda ctx, g: (from_tensor_op(g),),
)


def _from_tensor_infer(tensor: TensorSpec) -> TensorSpec:
    if tensor.rank == 0:
        raise ShapeError("TensorArray.unstack: the tensor must have at least one axis.")
    return _STACK


def _from_tensor_vjp(ctx: Any, g: Tensor) -> tuple[Tensor]:
    x = ctx.inputs[0]
    element = None if x.spec.dims is None else x.spec.dims[1:]
    return (to_tensor_op(g, dtype=x.dtype, shape=element),)


from_tensor_op: Op = define_op(
    "TensorListFromTensor",
    args("tensor", DATA),
    infer=_from_tensor_infer,
    kernel=lambda xp, tensor: Stack.from_array(tensor),
    native=Special("stack_from_tensor"),
    vjp=_from_tensor_vjp,
)


def _add_numbers(x: Stack, y: Stack) -> Stack:
    """The gradient of one element read is a stack with just that one: merged without a copy."""
    few, many = sorted((x, y), key=lambda s: len(s.written()))
    if len(few.written()) > _FEW or few.length > many.length:
        return Stack.from_array(x.to_array() + y.to_array())
    for i in few.written():
        value = few.read(i)
        many = many.write(i, many.read(i) + value if many.has_written(i) else value)
    return many


_FEW = 4


def _add_kernel(xp: Any, x: Stack, y: Stack) -> Stack:
    if x.element_shape is None or y.element_shape is None:
        return y if x.element_shape is None else x
    if x.element_dtype.kind != "O":
        return _add_numbers(x, y)
    out = Stack.reserve(x.element_dtype, 0)
    for i in range(x.length):  # stacks of stacks
        parts = [s.read(i).item() for s in (x, y) if s.has_written(i)]
        item = parts[0] if len(parts) == 1 else _add_kernel(xp, *parts) if parts else Stack.zeros()
        out = _push_kernel(xp, out, item)
    return out


# Gradients of one stack that arrive from two readers.
add_stacks_op: Op = define_op(
    "StackAdd",
    args("x y", VARIANT),
    infer=lambda x, y: x,
    kernel=_add_kernel,
    native=Special("stack_add"),
    vjp=lambda ctx, g: (g, g),
)
