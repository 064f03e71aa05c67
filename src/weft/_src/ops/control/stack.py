"""Ops on the growing stack (`core.stack`): what TensorArrays, grown lists and loop gradients use.

A stack is a value of dtype variant. Its gradient is a stack too: of the gradients of its elements,
with those that nobody wrote counting as zeros.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace
from weft._src.core.dtypes import DATA, INDEX, DType, int32
from weft._src.core.native_rules import Special
from weft._src.core.resources import Variant, VariantVector
from weft._src.core.shapes import Dim, Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.stack import Stack
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import ShapeError
from weft._src.ops import batching, rules
from weft._src.ops.arrays import fill, shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.control import graph_forms as forms
from weft._src.ops.graph_forms import as_op
from weft._src.ops.registry import NOT_DIFFERENTIABLE, Op, args, define_op

VARIANT = frozenset({dtypes.variant})
STACK = TensorSpec.of(dtypes.variant, ())


@functools.lru_cache(maxsize=1024)
def static_sizes(shape: Dims | None) -> tuple[int, ...] | None:
    """The shape, if all of its sizes are known."""
    if shape is None or any(isinstance(d, Dim) for d in shape):
        return None
    return shape  # type: ignore[return-value]


def _reserve_infer(size: TensorSpec, *, dtype: DType) -> TensorSpec:
    rules.check_rank("TensorArray", size, 0, name="size")
    return STACK


reserve_op = define_op(
    "TensorListReserve",
    args("num_elements", INDEX),
    infer=_reserve_infer,
    kernel=lambda xp, size, *, dtype: Stack.reserve(dtype.numpy_dtype, int(size)),
    native=Special("stack_reserve"),
    xla=Lowered("stack_reserve"),
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    graphdef=forms.reserve,
)

# The gradient of a stack that nothing depends on; needs no length, so nothing has to be saved.
zeros_op = define_op(
    "StackZeros",
    (),
    infer=lambda: STACK,
    kernel=lambda xp: Stack.zeros(),
    native=Special("stack_zeros"),
    xla=Lowered("stack_zeros"),
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    graphdef=forms.no_rows,
)


def _zeros_like_kernel(xp: ArrayNamespace, stack: Stack) -> Stack:
    if stack.is_empty:
        return Stack.reserve(stack.element_dtype, stack.length)
    if stack.is_ragged:
        out = Stack.reserve(stack.element_dtype, stack.length)
        for i in stack.written():
            out = out.write(i, np.zeros_like(stack.read(i)))
        return out
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
    native=Special("stack_zeros_like"),
    xla=Lowered("stack_zeros_like"),
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    batch=batching.same_list,
    graphdef=as_op("ZerosLike"),
)

length_op = define_op(
    "TensorListLength",
    args("input_handle", VARIANT),
    infer=lambda stack: rules.scalar(int32),
    kernel=lambda xp, stack: np.array(stack.length, np.int32),
    native=Special("stack_length"),
    xla=Lowered("stack_length"),
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    cheap=True,
    batch=batching.length_of_list,
)


def _boxed(item: Any) -> Any:
    """An element as an array: a stack can hold stacks, and other variants."""
    if not isinstance(item, Variant):
        return item
    boxed = np.empty((), object)
    boxed[()] = item
    return boxed


def _set_item_infer(
    stack: TensorSpec, index: TensorSpec, item: TensorSpec, *, grow: bool
) -> TensorSpec:
    rules.check_rank("TensorArray.write", index, 0, name="index")
    return stack


def _set_item_vjp(ctx: VjpContext, g: Tensor) -> tuple[Any, ...]:
    _, index, item = ctx.inputs
    if static_sizes(item.spec.dims) is None:
        shape = shapes.shape_op(item, out_type=int32)
        got = get_shaped_item_op(g, index, shape, dtype=item.dtype)
    else:
        got = get_item_op(g, index, dtype=item.dtype, shape=item.spec.dims)
    return clear_item_op(g, index), None, got


set_item_op: Op = define_op(
    "TensorListSetItem",
    args("input_handle", VARIANT) + args("index", INDEX) + args("item", DATA | VARIANT),
    infer=_set_item_infer,
    kernel=lambda xp, stack, i, item, *, grow: stack.write(int(i), _boxed(item), grow=grow),
    native=Special("stack_put"),
    xla=Lowered("stack_put"),
    vjp=_set_item_vjp,
    linear=(0, 2),
    batch=batching.pushed,
    graphdef=forms.set_item,
)


def _get_item_infer(
    stack: TensorSpec, index: TensorSpec, *, dtype: DType, shape: Dims | None
) -> TensorSpec:
    rules.check_rank("TensorArray.read", index, 0, name="index")
    return TensorSpec.of(dtype, shape)


def _get_item_kernel(
    xp: ArrayNamespace, stack: Stack, index: Any, *, dtype: DType, shape: Dims | None
) -> Array:
    if dtype is dtypes.variant:
        return stack.read(int(index)).item()
    return stack.read(int(index), static_sizes(shape), dtype.numpy_dtype)


class StackItem:
    """The gradient of elements read: added to what there is, so that reading all is linear."""

    def __init__(self, stack: Tensor, index: Tensor, value: Tensor) -> None:
        self.stack = stack
        self.index = index
        self.value = value

    def added_to(self, total: Tensor | None) -> Tensor:
        """The gradient of the stack."""
        start = zeros_op() if total is None else total
        return add_rows_op(start, self.index, self.value, length_op(self.stack))


def _get_item_vjp(ctx: VjpContext, g: Tensor) -> tuple[Any, ...]:
    stack, index = ctx.inputs
    return StackItem(stack, index, g), None


get_item_op: Op = define_op(
    "TensorListGetItem",
    args("input_handle", VARIANT) + args("index", INDEX),
    infer=_get_item_infer,
    kernel=_get_item_kernel,
    native=Special("stack_pick"),
    xla=Lowered("stack_pick"),
    vjp=_get_item_vjp,
    linear=(0,),
    batch=batching.read,
    graphdef=forms.get_item,
)


def _get_shaped_item_kernel(
    xp: ArrayNamespace, stack: Stack, index: Any, shape: Array, *, dtype: DType
) -> Array:
    i = int(index)
    if stack.has_written(i):
        return stack.read(i)
    return np.zeros(shape.tolist(), dtype.numpy_dtype)


# The gradient of an element the shape of which is known only at run time: nobody may have read it,
# and the others may have other shapes.
get_shaped_item_op: Op = define_op(
    "StackGetShapedItem",
    args("input_handle", VARIANT) + args("index", INDEX) + args("shape", INDEX, is_shape=True),
    infer=lambda stack, index, shape, *, dtype: TensorSpec.of(
        dtype, rules.dims_from_value("StackGetShapedItem", shape)
    ),
    kernel=_get_shaped_item_kernel,
    native=Special("stack_pick"),
    xla=Lowered("stack_pick"),
    vjp=lambda ctx, g: (StackItem(ctx.inputs[0], ctx.inputs[1], g), None, None),
    linear=(0,),
    batch=batching.read_shaped,
    graphdef=forms.get_shaped_item,
)


def _clear_item_kernel(xp: ArrayNamespace, stack: Stack, index: Any) -> Stack:
    i = int(index)
    if not stack.has_written(i):
        return stack
    return stack.write(i, np.zeros_like(stack.read(i)))


clear_item_op: Op = define_op(
    "StackClearItem",
    args("input_handle", VARIANT) + args("index", INDEX),
    infer=lambda stack, index: stack,
    kernel=_clear_item_kernel,
    native=Special("stack_clear"),
    xla=Lowered("stack_clear"),
    vjp=lambda ctx, g: (clear_item_op(g, ctx.inputs[1]), None),
    batch=batching.same_list,
    graphdef=forms.clear_item,
)


def _push_vjp(ctx: VjpContext, g: Tensor) -> tuple[Any, ...]:
    item = ctx.inputs[1]
    if item.dtype is not dtypes.variant and static_sizes(item.spec.dims) is None:
        return pop_shaped_op(g, shapes.shape_op(item, out_type=int32), dtype=item.dtype)
    return pop_op(g, dtype=item.dtype, shape=item.spec.dims)


def _push_kernel(xp: ArrayNamespace, stack: Stack, item: Any) -> Stack:
    """A stack can hold stacks: what an inner loop saved in each iteration of an outer one."""
    return stack.push(_boxed(item))


push_op: Op = define_op(
    "TensorListPushBack",
    args("input_handle", VARIANT) + args("tensor", DATA | VARIANT),
    infer=lambda stack, item: stack,
    kernel=_push_kernel,
    native=Special("stack_push"),
    xla=Lowered("stack_push"),
    vjp=_push_vjp,
    linear=(0, 1),
    batch=batching.pushed,
)


def _pop_vjp(ctx: VjpContext, g_stack: Tensor | None, g_item: Tensor | None) -> tuple[Any, ...]:
    item = ctx.outputs[1]
    if g_stack is None:
        g_stack = zeros_op()
    if g_item is None:
        g_item = zeros_op() if item.dtype is dtypes.variant else fill.zeros_like(item)
    return (push_op(g_stack, g_item),)


def _pop_kernel(
    xp: ArrayNamespace, stack: Stack, *, dtype: DType, shape: Dims | None
) -> tuple[Stack, Any]:
    if dtype is dtypes.variant:
        if not stack.has_written(stack.length - 1):
            return (stack.pop(())[0] if stack.length else stack), Stack.zeros()
        rest, item = stack.pop()
        return rest, item.item()
    return stack.pop(static_sizes(shape), dtype.numpy_dtype)


pop_op: Op = define_op(
    "TensorListPopBack",
    args("input_handle", VARIANT),
    infer=lambda stack, *, dtype, shape: (stack, TensorSpec.of(dtype, shape)),
    kernel=_pop_kernel,
    native=Special("stack_pop"),
    xla=Lowered("stack_pop"),
    vjp=_pop_vjp,
    outputs=2,
    linear=(0,),
    batch=batching.read,
    graphdef=forms.pop,
)


def _pop_shaped_kernel(
    xp: ArrayNamespace, stack: Stack, shape: Array, *, dtype: DType
) -> tuple[Stack, Any]:
    return stack.pop(tuple(shape.tolist()), dtype.numpy_dtype)


# As StackGetShapedItem, of the last element.
pop_shaped_op: Op = define_op(
    "StackPopShaped",
    args("input_handle", VARIANT) + args("shape", INDEX, is_shape=True),
    infer=lambda stack, shape, *, dtype: (
        stack,
        TensorSpec.of(dtype, rules.dims_from_value("StackPopShaped", shape)),
    ),
    kernel=_pop_shaped_kernel,
    native=Special("stack_pop"),
    xla=Lowered("stack_pop"),
    vjp=lambda ctx, g_stack, g_item: (*_pop_vjp(ctx, g_stack, g_item), None),
    outputs=2,
    linear=(0,),
    batch=batching.read_shaped,
    graphdef=forms.pop_shaped,
)


def _to_tensor_infer(stack: TensorSpec, *, dtype: DType, shape: Dims | None) -> TensorSpec:
    return TensorSpec.of(dtype, None if shape is None else (Dim(), *shape))


def _to_tensor_kernel(xp: ArrayNamespace, stack: Stack, *, dtype: DType, shape: Dims | None) -> Any:
    if dtype is dtypes.variant:
        return VariantVector([stack.read(i).item() for i in range(stack.length)])
    return stack.to_array(static_sizes(shape))


to_tensor_op: Op = define_op(
    "TensorListStack",
    args("input_handle", VARIANT),
    infer=_to_tensor_infer,
    kernel=_to_tensor_kernel,
    native=Special("stack_to_tensor"),
    xla=Lowered("stack_to_tensor"),
    vjp=lambda ctx, g: (from_tensor_op(g),),
    linear=(0,),
    batch=batching.unstacked_list,
    graphdef=forms.to_tensor,
)


def _from_tensor_infer(tensor: TensorSpec) -> TensorSpec:
    if tensor.rank == 0:
        raise ShapeError("TensorArray.unstack: the tensor must have at least one axis.")
    return STACK


def _from_tensor_kernel(xp: ArrayNamespace, tensor: Any) -> Stack:
    if not isinstance(tensor, VariantVector):
        return Stack.from_array(tensor)
    rows = np.empty(len(tensor.items), object)
    rows[:] = tensor.items
    return Stack.from_array(rows)


def _from_tensor_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    x = ctx.inputs[0]
    return (to_shape_op(g, shapes.shape_op(x, out_type=int32), dtype=x.dtype),)


from_tensor_op: Op = define_op(
    "TensorListFromTensor",
    args("tensor", DATA | VARIANT),
    infer=_from_tensor_infer,
    kernel=_from_tensor_kernel,
    native=Special("stack_from_tensor"),
    xla=Lowered("stack_from_tensor"),
    vjp=_from_tensor_vjp,
    linear=(0,),
    batch=batching.list_of_rows,
    graphdef=forms.from_tensor,
)


# --- gradients that arrive row by row ------------------------------------------------------------


def _add_rows_kernel(
    xp: ArrayNamespace, stack: Stack, indices: Any, values: Any, length: Any
) -> Stack:
    if stack.length < length:
        stack = stack.resized(int(length))
    if not indices.ndim:
        return _with_added(stack, int(indices), values)
    for i, value in zip(indices.tolist(), values, strict=True):
        stack = _with_added(stack, i, value)
    return stack


def _with_added(stack: Stack, i: int, value: Any) -> Stack:
    return stack.write(i, stack.read(i) + value if stack.has_written(i) else value, grow=True)


def _add_rows_vjp(ctx: VjpContext, g: Tensor) -> tuple[Any, ...]:
    _, indices, values, _ = ctx.inputs
    rank = indices.spec.rank
    dims = None if values.spec.dims is None else values.spec.dims[rank:]
    read = read_rows_op if rank else get_item_op
    return g, None, read(g, indices, dtype=values.dtype, shape=dims), None


# One row at one index, or rows at a vector of them: what gradients of reads add up to. The stack
# becomes as long as the one that was read: who pushed on that pops from this.
add_rows_op: Op = define_op(
    "StackAddRows",
    args("input_handle", VARIANT)
    + args("indices", INDEX | {dtypes.int16})
    + args("values", DATA)
    + args("length", INDEX),
    infer=lambda stack, indices, values, length: stack,
    kernel=_add_rows_kernel,
    native=Special("stack_add_rows"),
    xla=Lowered("stack_add_rows"),
    vjp=_add_rows_vjp,
    linear=(0, 2),
    graphdef=forms.add_rows,
)


def _read_rows_infer(
    stack: TensorSpec, indices: TensorSpec, *, dtype: DType, shape: Dims | None
) -> TensorSpec:
    if shape is None or indices.dims is None:
        return TensorSpec.of(dtype, None)
    return TensorSpec.of(dtype, (*indices.dims, *shape))


def _read_rows_kernel(
    xp: ArrayNamespace, stack: Stack, indices: Any, *, dtype: DType, shape: Dims | None
) -> Array:
    element = static_sizes(shape) if stack.element_shape is None else stack.element_shape
    rows = [stack.read(i, element, dtype.numpy_dtype) for i in indices.tolist()]
    return np.stack(rows) if rows else np.zeros((0, *(element or ())), dtype.numpy_dtype)


read_rows_op: Op = define_op(
    "StackReadRows",
    args("input_handle", VARIANT) + args("indices", INDEX | {dtypes.int16}),
    infer=_read_rows_infer,
    kernel=_read_rows_kernel,
    native=Special("stack_pick"),
    xla=Lowered("stack_pick"),
    vjp=_get_item_vjp,
    fresh=True,
    linear=(0,),
    graphdef=forms.read_rows,
)


def _to_shape_kernel(xp: ArrayNamespace, stack: Stack, shape: Array, *, dtype: DType) -> Array:
    sizes = tuple(shape.tolist())
    if stack.length == sizes[0] and len(stack.written()) == stack.length:
        return stack.to_array(sizes[1:])
    out = np.zeros(sizes, dtype.numpy_dtype)
    rows = stack.to_array(sizes[1:])[: sizes[0]]
    out[: len(rows)] = rows
    return out


def _to_shape_infer(stack: TensorSpec, shape: TensorSpec, *, dtype: DType) -> TensorSpec:
    return TensorSpec.of(dtype, rules.dims_from_value("StackToShape", shape))


# The gradient of a tensor from that of its rows, of which some (at the end: all) may be missing.
to_shape_op: Op = define_op(
    "StackToShape",
    args("input_handle", VARIANT) + args("shape", INDEX, is_shape=True),
    infer=_to_shape_infer,
    kernel=_to_shape_kernel,
    native=Special("stack_to_shape"),
    xla=Lowered("stack_to_shape"),
    vjp=lambda ctx, g: (from_tensor_op(g), None),
    linear=(0,),
    graphdef=forms.to_shape,
)


def _add_numbers(x: Stack, y: Stack) -> Stack:
    complete = x.length == y.length and len(x.written()) == len(y.written()) == x.length
    if complete and not (x.is_ragged or y.is_ragged):
        return Stack.from_array(x.to_array() + y.to_array())
    few, many = sorted((x, y), key=lambda s: len(s.written()))
    many = many.resized(max(x.length, y.length))
    for i in few.written():
        many = _with_added(many, i, few.read(i))
    return many


def _add_kernel(xp: ArrayNamespace, x: Stack, y: Stack) -> Stack:
    if x.is_empty or y.is_empty:
        return y if x.is_empty else x
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
    xla=Lowered("stack_add"),
    vjp=lambda ctx, g: (g, g),
    linear=(0, 1),
    batch=batching.added_lists,
    graphdef=forms.add_lists,
)
