"""TensorArrays, grown lists, and what loops save for gradients."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from weft._src.core import dtypes
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.xla.lowering import Lowering, Value, known
from weft._src.execution.xla.rules import lowers
from weft._src.execution.xla.stack_values import GUESSED, StackValue
from weft._src.graph.ir import Node
from weft._src.ops.control.stack import static_sizes


def _number(n: int) -> Any:
    return np.asarray(n, np.int32)


def _room(stack: StackValue, lowering: Lowering) -> int:
    """The memory of a list that gets its first element."""
    if stack.has_known_length:
        return int(stack.length) + 1
    return GUESSED * lowering.scale


@lowers("stack_reserve")
def _reserve(lowering: Lowering, node: Node, size: Value) -> StackValue:
    n = int(known(node, size))
    if n < 0:
        raise NotCompilableError("it fails for this size", node, fails=True)
    return StackValue(None, _number(n))


@lowers("stack_zeros")
def _zeros(lowering: Lowering, node: Node) -> StackValue:
    return StackValue(None, _number(0), endless=True)


@lowers("stack_zeros_like")
def _zeros_like(lowering: Lowering, node: Node, stack: StackValue) -> StackValue:
    if isinstance(stack.items, StackValue):
        inner = stack.items
        cleared = None if inner.items is None else jnp.zeros_like(inner.items)
        return stack.replace(items=inner.replace(items=cleared))
    items = None if stack.items is None else jnp.zeros_like(stack.items)
    return stack.replace(items=items, stale=False, hidden=None)


@lowers("stack_length")
def _length(lowering: Lowering, node: Node, stack: StackValue) -> Any:
    return stack.length


# --- one element ---------------------------------------------------------------------------------


def _with_room(lowering: Lowering, stack: StackValue, item: Value, length: Value) -> StackValue:
    """Memory for so many elements, outside of loops; inside of them it is checked."""
    if isinstance(length, np.ndarray):
        return stack.with_room_for(item, int(length))
    if stack.items is None:
        stack = stack.with_room_for(item, max(_room(stack, lowering), 1))
    else:
        stack = stack.with_room_for(item, stack.capacity)
    if stack.bounds is None or stack.bounds[1] >= stack.capacity:  # before it gets longer
        lowering.check_room(length > stack.capacity)
    return stack


def _resized(lowering: Lowering, stack: StackValue, length: Value) -> StackValue:
    """At least so long; new elements are zeros."""
    if stack.has_known_length and isinstance(length, np.ndarray) and stack.length >= length:
        return stack
    longer = (
        np.maximum if stack.has_known_length and isinstance(length, np.ndarray) else jnp.maximum
    )
    new = longer(stack.length, length).astype(np.int32)
    return stack.cleared().replace(length=np.asarray(new) if longer is np.maximum else new)


@lowers("stack_put")
def _put(
    lowering: Lowering, node: Node, stack: StackValue, index: Value, item: Value
) -> StackValue:
    grow = node.attrs["grow"] or stack.endless
    after = _resized(lowering, stack, _after(index)) if grow else stack
    if not (after.has_known_length and lowering.is_inside(index, int(after.length))):
        lowering.check((index < 0) | (index >= after.length))
    out = _with_room(lowering, after, item, after.length)
    grows = stack.grows or grow
    return out.written(index, item).replace(grows=grows)


def _after(index: Value) -> Any:
    return np.asarray(index + 1, np.int32) if isinstance(index, np.ndarray) else index + 1


@lowers("stack_push")
def _push(lowering: Lowering, node: Node, stack: StackValue, item: Value) -> StackValue:
    length = _after(stack.length)
    out = _with_room(lowering, stack, item, length)
    return out.written(stack.length, item).longer(1, length).replace(grows=True)


@lowers("stack_pop")
def _pop(lowering: Lowering, node: Node, stack: StackValue, *shape: Value) -> tuple[Any, Any]:
    spec = node.outputs[1].spec
    is_filled = stack.bounds is not None and stack.bounds[0] > 0
    if stack.items is None:
        if not stack.endless:
            lowering.check(stack.length < 1)
        item = _nothing(node, spec)
    elif is_filled:
        last = stack.length - 1
        return stack.longer(-1, last).replace(stale=True), stack.read(last)
    else:
        at = jnp.maximum(stack.length - 1, 0)
        item = stack.read(at)
        if stack.endless:
            item = jax.tree.map(lambda x: jnp.where(stack.length > 0, x, jnp.zeros_like(x)), item)
        else:
            lowering.check(stack.length < 1)
    if stack.has_known_length:
        length = _number(max(int(stack.length) - 1, 0))
    else:
        length = jnp.maximum(stack.length - 1, 0)
    return stack.replace(length=length, stale=True), item


def _nothing(node: Node, spec: Value) -> Any:
    """An element that was never written."""
    if spec.dtype is dtypes.variant:
        return StackValue(None, _number(0), endless=True)
    dims = static_sizes(spec.dims)
    if dims is None:
        raise NotCompilableError("an element of a list has no known shape", node)
    return jnp.zeros(dims, spec.dtype.numpy_dtype)


@lowers("stack_pick")
def _pick(lowering: Lowering, node: Node, stack: StackValue, index: Value, *shape: Value) -> Any:
    """An element, or rows at a vector of indices; what was never written is zeros."""
    if node.inputs[0].dtype is not dtypes.variant:
        raise NotCompilableError("not a list", node)
    outside = index < 0 if stack.endless else (index < 0) | (index >= stack.length)
    # The gradient of an element that nobody read is zeros, wherever it is.
    if not shape:
        lowering.check(jnp.any(outside) if np.ndim(index) else outside)
    spec = node.outputs[0].spec
    if stack.items is None:
        return _nothing(node, spec)
    if isinstance(stack.items, StackValue):
        return stack.read(jnp.clip(index, 0, max(stack.capacity - 1, 0)))
    if stack.capacity == 0:
        return _nothing(node, spec)
    inside = (index >= 0) & (index < jnp.minimum(stack.length, stack.capacity))
    at = jnp.clip(index, 0, stack.capacity - 1)
    rows = stack.shown().items[at] if np.ndim(index) else stack.read(at)
    mask = jnp.reshape(inside, (*np.shape(index), *[1] * (rows.ndim - np.ndim(index))))
    return jnp.where(mask, rows, jnp.zeros((), rows.dtype))


@lowers("stack_clear")
def _clear(lowering: Lowering, node: Node, stack: StackValue, index: Value) -> StackValue:
    if stack.items is None or stack.capacity == 0:
        return stack
    if isinstance(stack.items, StackValue):
        raise NotCompilableError("a list of lists whose elements are replaced", node)
    inside = (index >= 0) & (index < jnp.minimum(stack.length, stack.capacity))
    return stack.with_hidden(jnp.clip(index, 0, stack.capacity - 1), inside)


# --- all elements --------------------------------------------------------------------------------


@lowers("stack_to_tensor")
def _to_tensor(lowering: Lowering, node: Node, stack: StackValue) -> Any:
    dims = node.outputs[0].spec.dims
    length = stack.length
    if not stack.has_known_length and dims and isinstance(dims[0], int):
        lowering.check(length != dims[0])
        length = _number(dims[0])
    if not isinstance(length, np.ndarray):
        raise NotCompilableError("the length of a list is only known at run time", node)
    n = int(length)
    if stack.items is None:
        element = static_sizes(None if dims is None else dims[1:])
        if element is None:
            raise NotCompilableError("a list without elements has no shape", node)
        return jnp.zeros((n, *element), node.outputs[0].dtype.numpy_dtype)
    if isinstance(stack.items, StackValue):
        raise NotCompilableError("a list of lists cannot be stacked", node)
    return stack.cleared().shown().with_capacity(n).items[:n]


@lowers("stack_from_tensor")
def _from_tensor(lowering: Lowering, node: Node, tensor: Value) -> StackValue:
    if node.inputs[0].dtype is dtypes.variant:
        raise NotCompilableError("a list of lists", node)
    return StackValue(jnp.asarray(tensor), _number(tensor.shape[0]))


@lowers("stack_to_shape")
def _to_shape(lowering: Lowering, node: Node, stack: StackValue, shape: Value) -> Any:
    sizes = tuple(known(node, shape).tolist())
    if stack.items is None:
        return jnp.zeros(sizes, node.attrs["dtype"].numpy_dtype)
    return stack.cleared().shown().with_capacity(sizes[0]).items[: sizes[0]]


@lowers("stack_resize")
def _resize(lowering: Lowering, node: Node, stack: StackValue, size: Value) -> StackValue:
    n = int(known(node, size))
    if n < 0:
        raise NotCompilableError("it fails for this size", node, fails=True)
    return stack.cleared().replace(length=_number(n), stale=True)


# --- gradients that arrive row by row ------------------------------------------------------------


@lowers("stack_add_rows")
def _add_rows(
    lowering: Lowering, node: Node, stack: StackValue, indices: Value, values: Value, length: Value
) -> StackValue:
    values = jnp.asarray(values)
    item = values[0] if np.ndim(indices) and values.shape[0] else values
    if np.ndim(indices) and not values.shape[0]:
        return _resized(lowering, stack, length)
    known_length = isinstance(length, np.ndarray)
    out = _resized(lowering, stack, length if known_length else length.astype(jnp.int32))
    lowering.check(jnp.any((indices < 0) | (indices >= out.length)))
    out = _with_room(lowering, out, item, out.length)
    if np.ndim(indices):
        out = out.shown()
        return out.replace(items=out.items.at[indices].add(values), grows=True)
    at = jnp.clip(indices, 0, out.capacity - 1)
    return out.written(at, out.read(at) + values).replace(grows=True)


@lowers("stack_add")
def _add(lowering: Lowering, node: Node, x: StackValue, y: StackValue) -> StackValue:
    if x.items is None or y.items is None:
        other, empty = (y, x) if x.items is None else (x, y)
        if empty.endless or (empty.has_known_length and not int(empty.length)):
            return other
        return _resized(lowering, other, empty.length)
    if isinstance(x.items, StackValue) or isinstance(y.items, StackValue):
        raise NotCompilableError("gradients of a list of lists are added", node)
    capacity = max(x.capacity, y.capacity)
    x, y = [s.cleared().shown().with_capacity(capacity) for s in (x, y)]
    longest = _resized(lowering, x, y.length)
    return longest.replace(items=x.items + y.items, endless=x.endless and y.endless)
