"""Growing stacks that live inside one program: every version of a stack has one successor.

Native code changes a stack in place. A version that is used after it was changed is refused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft.core.dtypes import DType, int32, int64
from weft.execution.native.kernels import stacks as kernels
from weft.execution.native.lowering.rules import known, lowers, static_shape
from weft.execution.native.schedule import Write
from weft.execution.native.values import NotCompilableError, Shape, Stored, Value
from weft.graph.ir import Node


class StackPlace:
    """Where a stack lies, and which version of it is there."""

    __slots__ = ("current", "element", "owned", "stored")

    def __init__(self, stored: Stored, *, owned: bool = True) -> None:
        self.stored = stored
        self.current = 0
        self.owned = owned  # whether it may be changed here
        self.element: tuple[DType, Shape] | None = None


class Stack:
    """One version of a stack."""

    __slots__ = ("place", "version")

    def __init__(self, place: StackPlace) -> None:
        self.place = place
        self.version = place.current

    def read(self) -> Stored:
        """Its memory, for looking."""
        if self.version != self.place.current:
            raise NotCompilableError("a stack is used after it has been changed")
        return self.place.stored

    def changed(self) -> Stack:
        """The next version, in the same place."""
        self.read()
        if not self.place.owned:
            raise NotCompilableError("a stack from outside is changed in a branch or loop")
        self.place.current += 1
        return Stack(self.place)

    def element_bytes(self, dtype: DType, shape: Shape) -> int:
        """The size of an element; all elements have one type."""
        if self.place.element is None:
            self.place.element = (dtype, shape)
        if self.place.element != (dtype, shape):
            raise NotCompilableError("the elements of a stack have different types")
        return math.prod(shape) * dtype.size


class Reserved:
    """A stack nobody has written to: every use gets one of its own."""

    __slots__ = ("length",)

    def __init__(self, length: int) -> None:
        self.length = length

    def write_to(self, lowering: Any, place: StackPlace) -> None:
        """Sets up a place as such a stack."""
        words = lowering.constant("stack", np.array([0, self.length, 0], np.int64))
        lowering.block.items.append(Write(place.stored, words))


def new_place(lowering: Any, label: str) -> StackPlace:
    """Memory for a stack."""
    stored = Stored(int64, (kernels.WORDS,), label)
    lowering.program.scratch(stored)
    return StackPlace(stored)


def own(lowering: Any, stack: Any, node: Node) -> Stack:
    """The stack itself, or a new one for a reserved one."""
    if isinstance(stack, Reserved):
        place = new_place(lowering, node.name)
        lowering.local(place.stored)
        stack.write_to(lowering, place)
        return Stack(place)
    return stack


def _add(lowering: Any, node: Node, kernel: Any) -> None:
    """Adds a step that may fail as a check does."""
    if lowering.has_written:
        raise NotCompilableError(f"{node.name} may fail after a variable has been changed")
    lowering.program.checks.append(node)
    kernel.number = len(lowering.program.checks)
    lowering.add(kernel)


@lowers("TensorListReserve")
def _reserve(lowering: Any, node: Node, inputs: list[Any]) -> list[Any]:
    return [Reserved(int(known(node.inputs[0])))]


@lowers("TensorListPushBack")
def _push(lowering: Any, node: Node, inputs: list[Any]) -> list[Any]:
    stack, item = own(lowering, inputs[0], node), inputs[1]
    _refuse_nested(item)
    bytes_ = stack.element_bytes(item.dtype, item.shape)
    after = stack.changed()
    _add(lowering, node, kernels.Push(after.place.stored, [item], 0, bytes_))
    return [after]


def _refuse_nested(item: Any) -> None:
    if not isinstance(item, Value):
        raise NotCompilableError("a stack of stacks stays with NumPy")


def _result(node: Node, i: int) -> Stored:
    return Stored(node.outputs[i].dtype, static_shape(node, i), node.name)


@lowers("TensorListPopBack")
def _pop(lowering: Any, node: Node, inputs: list[Any]) -> list[Any]:
    stack = own(lowering, inputs[0], node)
    result = _result(node, 1)
    bytes_ = stack.element_bytes(result.dtype, result.shape)
    after = stack.changed()
    kernel = kernels.Pop(after.place.stored, [], 0, bytes_)
    kernel.results = (result,)
    _add(lowering, node, kernel)
    return [after, result]


@lowers("TensorListSetItem")
def _put(lowering: Any, node: Node, inputs: list[Any]) -> list[Any]:
    stack, (index, item) = own(lowering, inputs[0], node), inputs[1:]
    _refuse_nested(item)
    bytes_ = stack.element_bytes(item.dtype, item.shape)
    after = stack.changed()
    kernel = kernels.Put(after.place.stored, [index, item], 0, bytes_)
    kernel.grow = bool(node.attrs["grow"])
    _add(lowering, node, kernel)
    return [after]


@lowers("TensorListGetItem")
def _pick(lowering: Any, node: Node, inputs: list[Any]) -> list[Any]:
    stack = own(lowering, inputs[0], node)
    result = _result(node, 0)
    bytes_ = stack.element_bytes(result.dtype, result.shape)
    kernel = kernels.Pick(stack.read(), [inputs[1]], 0, bytes_)
    kernel.results = (result,)
    _add(lowering, node, kernel)
    return [result]


@lowers("TensorListStack")
def _unload(lowering: Any, node: Node, inputs: list[Any]) -> list[Any]:
    stack = own(lowering, inputs[0], node)
    result = _result(node, 0)
    bytes_ = stack.element_bytes(result.dtype, result.shape[1:])
    kernel = kernels.Unload(stack.read(), [], 0, bytes_)
    kernel.rows, kernel.results = result.shape[0], (result,)
    _add(lowering, node, kernel)
    return [result]


@lowers("TensorListFromTensor")
def _load(lowering: Any, node: Node, inputs: list[Any]) -> list[Any]:
    (x,) = inputs
    stack = own(lowering, Reserved(0), node)
    bytes_ = stack.element_bytes(x.dtype, x.shape[1:])
    kernel = kernels.Load(stack.place.stored, [x], 0, bytes_)
    kernel.rows = x.shape[0]
    _add(lowering, node, kernel)
    return [stack]


@lowers("TensorListLength")
def _length(lowering: Any, node: Node, inputs: list[Any]) -> list[Any]:
    if isinstance(inputs[0], Reserved):
        return [lowering.constant(node.name, np.array(inputs[0].length, np.int32))]
    result = Stored(int32, (), node.name)
    kernel = kernels.Length(inputs[0].read(), [], 0, 0)
    kernel.results = (result,)
    lowering.add(kernel)
    return [result]
