"""The growing stack (`core.stack`) in a program of XLA: memory of a fixed capacity, and a length.

What was never written is zero, so places beyond the length are kept zero, or the stack is `stale`
and they are cleared before they count. How much memory a list needs is known where it is made with
a size, or grows in a loop that counts; otherwise it is guessed, and the program says if that was
too little (`Lowering.check_room`).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from weft._src.execution.native.loops.values import NotCompilableError

GUESSED = 64  # elements of a list of which nothing is known


class StackValue:
    """A stack as a tree of jax's arrays.

    items: the elements, along a first axis as long as the capacity; a StackValue with such an axis
        in all its parts for a stack of stacks; None as long as nothing is known of elements.
    length: a scalar int32, of NumPy if it is known while lowering.
    endless: whether zeros without end follow, as in the gradient of a list nobody asked for.
    stale: whether places beyond the length may hold something.
    grows: whether something was appended since a loop looked.
    bounds: what the length lies between, where that is known of a traced one; in a loop only.
    hidden: which elements count as zeros, a vector of bools; None for none. To write zeros instead
        would have XLA copy all of them, where others read the stack as it was before.
    """

    __slots__ = ("bounds", "endless", "grows", "hidden", "items", "length", "stale")

    def __init__(
        self,
        items: Any,
        length: Any,
        *,
        endless: bool = False,
        stale: bool = False,
        grows: bool = False,
        hidden: Any = None,
        bounds: tuple[int, int] | None = None,
    ) -> None:
        self.items = items
        self.bounds = bounds
        self.hidden = hidden
        self.length = length
        self.endless, self.stale, self.grows = endless, stale, grows

    @property
    def capacity(self) -> int:
        """For how many elements there is memory."""
        leaves = jax.tree.leaves(self.items)
        return leaves[0].shape[0] if leaves else 0

    @property
    def is_guessed(self) -> bool:
        """Whether its memory is what lists get of which nothing is known."""
        return self.capacity > 0 and self.capacity % GUESSED == 0

    @property
    def has_known_length(self) -> bool:
        """Whether the length is known while lowering."""
        return isinstance(self.length, np.ndarray)

    def replace(self, **fields: Any) -> StackValue:
        """The same stack with some fields changed."""
        if "length" not in fields:
            fields.setdefault("bounds", self.bounds)
        items, length = fields.pop("items", self.items), fields.pop("length", self.length)
        rest = {name: getattr(self, name) for name in ("endless", "stale", "grows", "hidden")}
        return StackValue(items, length, **(rest | fields))

    def longer(self, by: int, length: Any) -> StackValue:
        """With a new length, which is larger by a number."""
        bounds = None if self.bounds is None else (self.bounds[0] + by, self.bounds[1] + by)
        return self.replace(length=length, bounds=bounds)

    def with_capacity(self, capacity: int) -> StackValue:
        """The same elements with memory for more."""
        more = capacity - self.capacity
        if self.items is None or more <= 0:
            return self
        hidden = None if self.hidden is None else _padded(self.hidden, more)
        items = jax.tree.map(lambda x: _padded(x, more), self.items)
        return self.replace(items=items, hidden=hidden)

    def with_room_for(self, item: Any, capacity: int) -> StackValue:
        """With memory for elements like this one, if there is none yet."""
        item = element(item)
        if self.items is not None:
            self._check_kind(item)
            return self.with_capacity(capacity)
        items = jax.tree.map(lambda x: jnp.zeros((capacity, *x.shape), x.dtype), item)
        return self.replace(items=items)

    def _check_kind(self, item: Any) -> None:
        mine, structure = jax.tree.flatten(self.items)
        given, other = jax.tree.flatten(item)
        same = [(x.shape[1:], x.dtype) for x in mine] == [(x.shape, x.dtype) for x in given]
        if not same or str(structure) != str(other):
            raise NotCompilableError("a list holds elements of different shapes")

    def read(self, i: Any) -> Any:
        """Element i, which has to be inside."""
        item = jax.tree.map(
            lambda x: jax.lax.dynamic_index_in_dim(x, i, keepdims=False), self.items
        )
        if self.hidden is None:
            return item
        is_zero = jax.lax.dynamic_index_in_dim(self.hidden, i, keepdims=False)
        return jnp.where(is_zero, jnp.zeros_like(item), item)

    def with_hidden(self, i: Any, is_hidden: Any) -> StackValue:
        """With element i taken for zeros, if it is so."""
        hidden = jnp.zeros(self.capacity, bool) if self.hidden is None else self.hidden
        before = jax.lax.dynamic_index_in_dim(hidden, i, keepdims=False)
        new = jnp.asarray(before | is_hidden)
        return self.replace(hidden=jax.lax.dynamic_update_index_in_dim(hidden, new, i, 0))

    def shown(self) -> StackValue:
        """The same elements, all of them as they count."""
        if self.hidden is None:
            return self
        mask = self.hidden.reshape((-1, *[1] * (self.items.ndim - 1)))
        items = jnp.where(mask, jnp.zeros((), self.items.dtype), self.items)
        return self.replace(items=items, hidden=None)

    def written(self, i: Any, item: Any) -> StackValue:
        """With element i replaced; there has to be memory for it."""
        items = jax.tree.map(
            lambda x, new: jax.lax.dynamic_update_index_in_dim(x, new, i, 0),
            self.items,
            element(item),
        )
        if self.hidden is None:
            return self.replace(items=items)
        seen = jax.lax.dynamic_update_index_in_dim(self.hidden, jnp.zeros((), bool), i, 0)
        return self.replace(items=items, hidden=seen)

    def cleared(self) -> StackValue:
        """With zeros beyond the length."""
        if not self.stale or self.items is None:
            return self
        inside = jnp.arange(self.capacity) < self.length

        def clear(x: Any) -> Any:
            mask = inside.reshape((-1, *[1] * (x.ndim - 1)))
            return jnp.where(mask, x, jnp.zeros((), x.dtype))

        return self.replace(items=jax.tree.map(clear, self.items), stale=False)


def _padded(x: Any, more: int) -> Any:
    return jnp.pad(x, [(0, more), *[(0, 0)] * (x.ndim - 1)])


def _flatten(stack: StackValue) -> tuple[Any, Any]:
    parts = (stack.items, stack.length, stack.hidden)
    return parts, (stack.endless, stack.stale, stack.grows)


def _unflatten(flags: Any, parts: Any) -> StackValue:
    endless, stale, grows = flags
    items, length, hidden = parts
    return StackValue(items, length, endless=endless, stale=stale, grows=grows, hidden=hidden)


jax.tree_util.register_pytree_node(StackValue, _flatten, _unflatten)


def traced(value: Any) -> Any:
    """A value, or a stack, made of jax's arrays only; what is known is a constant there."""
    return jax.tree.map(jnp.asarray, value)


def element(item: Any) -> Any:
    """A value as an element of a stack. Of stacks as elements, nothing is said but the values."""
    out = traced(item)
    return out.shown().replace(stale=True, grows=False) if isinstance(out, StackValue) else out


def unified(value: Any, other: Any, capacity: int) -> Any:
    """`value` with the memory and the flags that `other` needs, too; arrays stay as they are.

    Args:
      value: what a loop starts with, or a branch returns.
      other: what the body makes of it, or another branch returns; only types are looked at.
      capacity: the memory that a stack gets that grows; 0 if that is what the other one has.
    """
    if not isinstance(value, StackValue):
        return value
    wanted = max(value.capacity, capacity if other.grows and capacity else other.capacity)
    out = value.replace(
        endless=value.endless or other.endless,
        stale=value.stale or other.stale,
        grows=value.grows or other.grows,
    )
    if out.items is None and other.items is not None:
        items = jax.tree.map(lambda x: jnp.zeros((wanted, *x.shape[1:]), x.dtype), other.items)
        return _with_mask(out.replace(items=items), other)
    if isinstance(out.items, StackValue) and isinstance(other.items, StackValue):
        out = out.replace(items=_deeper(out.items, other.items))
    elif other.items is not None:
        _same_elements(out.items, other.items)
    return _with_mask(out.with_capacity(wanted), other)


def _with_mask(stack: StackValue, other: StackValue) -> StackValue:
    """With a vector of what is hidden, if the other one has one."""
    if other.hidden is None or stack.hidden is not None or stack.items is None:
        return stack
    return stack.replace(hidden=jnp.zeros(stack.capacity, bool))


def _same_elements(items: Any, other: Any) -> None:
    if items.shape[1:] != other.shape[1:] or items.dtype != other.dtype:
        raise NotCompilableError("a list holds elements of different shapes")


def _deeper(items: StackValue, other: StackValue) -> StackValue:
    """Elements that are stacks, with the memory and the flags of others."""
    out = items.replace(
        endless=items.endless or other.endless,
        stale=items.stale or other.stale,
        grows=items.grows or other.grows,
    )
    if items.items is None:
        if other.items is None:
            return out
        n = items.length.shape[0]
        return out.replace(items=jnp.zeros((n, *other.items.shape[1:]), other.items.dtype))
    if other.items is None:
        return out
    more = other.items.shape[1] - items.items.shape[1]
    if more <= 0:
        return out
    pads = [(0, 0), (0, more), *[(0, 0)] * (items.items.ndim - 2)]
    return out.replace(items=jnp.pad(items.items, pads))
