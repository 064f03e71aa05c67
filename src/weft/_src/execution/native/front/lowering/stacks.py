"""Growing stacks that live inside one program.

Native code changes a stack in place if nobody uses it afterwards, else a copy of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weft._src.core.dtypes import DType, int32, int64, variant
from weft._src.execution.native.front.lowering.rules import NARROW, known, lowers, static_shape
from weft._src.execution.native.loops.blocks import Write
from weft._src.execution.native.loops.kernels import stacks as kernels
from weft._src.execution.native.loops.kernels.stack_code import Elements
from weft._src.execution.native.loops.values import NotCompilableError, Stored, Value
from weft._src.graph.ir import Node

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering


class StackPlace:
    """Where a stack lies, and which version of it is there."""

    __slots__ = ("current", "elements", "owned", "stored")

    def __init__(
        self, stored: Stored, elements: Elements | None = None, *, owned: bool = True
    ) -> None:
        self.stored = stored
        self.current = 0
        self.owned = owned  # whether its words may be changed here
        self.elements = elements or Elements()


class Stack:
    """One version of a stack."""

    __slots__ = ("place", "version")

    def __init__(self, place: StackPlace) -> None:
        self.place = place
        self.version = place.current

    @property
    def elements(self) -> Elements:
        """What is known of its elements."""
        return self.place.elements

    def read(self) -> Stored:
        """Its memory, for looking."""
        if self.version != self.place.current:
            raise NotCompilableError("a stack is used after it has been changed")
        return self.place.stored

    def changed(self) -> Stack:
        """The next version, in the same place."""
        self.read()
        self.place.current += 1
        return Stack(self.place)


class Reserved:
    """A stack nobody has written to: every use gets one of its own."""

    __slots__ = ("endless", "length")

    def __init__(self, length: int, *, endless: bool = False) -> None:
        self.length = length
        self.endless = endless

    def words(self, lowering: Lowering) -> Stored:
        """The words of such a stack."""
        array = np.array([0, self.length, 0, self.endless, 0], np.int64)
        words: Stored = lowering.constant("stack", array)
        return words

    def write_to(self, lowering: Lowering, place: StackPlace) -> None:
        """Sets up a place as such a stack, here and now."""
        lowering.block.items.append(Write(place.stored, self.words(lowering)))


def new_place(lowering: Lowering, label: str) -> StackPlace:
    """Memory for a stack."""
    stored = Stored(int64, (kernels.WORDS,), label)
    lowering.program.scratch(stored)
    return StackPlace(stored)


def own(lowering: Lowering, stack: Any, node: Node) -> Stack:
    """The stack itself, or a new one for a reserved one."""
    if isinstance(stack, Reserved):
        place = new_place(lowering, node.name)
        lowering.local(place.stored)
        stack.write_to(lowering, place)
        return Stack(place)
    return stack


def changeable(lowering: Lowering, node: Node, i: int, stack: Any) -> Stack:
    """What a node may change of the stack it is given: that itself, or a copy."""
    if isinstance(stack, Reserved):
        return own(lowering, stack, node)
    if stack.place.owned and lowering.may_change(node, node.inputs[i]):
        return stack
    return copied(lowering, stack)


def copied(lowering: Lowering, stack: Stack) -> Stack:
    """A stack with the same elements; they are copied when one of the two changes."""
    words = Stored(int64, (kernels.WORDS,), "copy")
    kernel = kernels.Copy(stack.read(), [], stack.elements)
    kernel.results = (words,)
    lowering.add(kernel)
    return Stack(StackPlace(words, stack.elements))


def _add(lowering: Lowering, node: Node, kernel: Any) -> None:
    """Adds a step that may fail as a check does."""
    if lowering.has_written:
        raise NotCompilableError(f"{node.name} may fail after a variable has been changed")
    lowering.program.checks.append(node)
    kernel.number = len(lowering.program.checks)
    lowering.add(kernel)


@lowers("stack_reserve")
def _reserve(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    return [Reserved(int(known(node.inputs[0])))]


@lowers("stack_zeros")
def _zeros(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    return [Reserved(0, endless=True)]


@lowers("stack_zeros_like")
def _zeros_like(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    (stack,) = inputs
    if isinstance(stack, Reserved):
        return [stack]
    words = Stored(int64, (kernels.WORDS,), node.name)
    kernel = kernels.ZerosLike(stack.read(), [], stack.elements)
    kernel.results = (words,)
    lowering.add(kernel)
    return [Stack(StackPlace(words, stack.elements))]


@lowers("stack_push")
def _push(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    stack, item = changeable(lowering, node, 0, inputs[0]), inputs[1]
    if not isinstance(item, Value):  # a stack: its words are the element
        inner = own(lowering, item, node)
        stack.elements.are_stacks_of(inner.elements)
        item = inner.read()
    stack.elements.are(item.dtype, item.shape)
    after = stack.changed()
    kernel = kernels.Push(after.place.stored, [item], stack.elements)
    kernel.room = lowering.repetitions
    kernel.of_stack = node.inputs[1].dtype is variant
    _add(lowering, node, kernel)
    return [after]


def _refuse_nested(item: Any) -> None:
    if not isinstance(item, Value):
        raise NotCompilableError("a TensorArray of stacks stays with NumPy")


def _result(node: Node, i: int) -> Stored:
    return Stored(node.outputs[i].dtype, static_shape(node, i), node.name)


@lowers("stack_pop")
def _pop(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    stack = changeable(lowering, node, 0, inputs[0])
    makes_stack = node.outputs[1].dtype is variant
    result = Stored(int64, (kernels.WORDS,), node.name) if makes_stack else _result(node, 1)
    stack.elements.are(result.dtype, result.shape)
    after = stack.changed()
    kernel = kernels.Pop(after.place.stored, [], stack.elements)
    kernel.results, kernel.of_stack = (result,), makes_stack
    _add(lowering, node, kernel)
    if not makes_stack:
        return [after, result]
    inner = Elements()
    stack.elements.are_stacks_of(inner)
    return [after, Stack(StackPlace(result, inner))]


@lowers("stack_put")
def _put(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    stack, (index, item) = changeable(lowering, node, 0, inputs[0]), inputs[1:]
    _refuse_nested(item)
    stack.elements.are(item.dtype, item.shape)
    after = stack.changed()
    kernel = kernels.Put(after.place.stored, [index, item], stack.elements)
    kernel.grow = bool(node.attrs["grow"])
    _add(lowering, node, kernel)
    return [after]


@lowers("stack_clear")
def _clear(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    if isinstance(inputs[0], Reserved):
        return inputs[:1]
    stack = changeable(lowering, node, 0, inputs[0])
    after = stack.changed()
    _add(lowering, node, kernels.Clear(after.place.stored, [inputs[1]], stack.elements))
    return [after]


def _refuse_narrow(dtype: DType) -> None:
    if dtype in NARROW:
        raise NotCompilableError(f"sums of {dtype.name} in stacks stay with NumPy")


@lowers("stack_add_rows")
def _add_rows(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    stack, (indices, values, length) = changeable(lowering, node, 0, inputs[0]), inputs[1:]
    _refuse_narrow(values.dtype)
    stack.elements.are(values.dtype, values.shape[len(indices.shape) :])
    after = stack.changed()
    operands = [indices, values, length]
    _add(lowering, node, kernels.AddRows(after.place.stored, operands, stack.elements))
    return [after]


@lowers("stack_add")
def _add_stacks(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    x, y = inputs
    if isinstance(x, Reserved) or isinstance(y, Reserved):
        return [y if isinstance(x, Reserved) else x]
    x.elements.are_those_of(y.elements)
    if x.elements.inner is not None:
        raise NotCompilableError("a sum of stacks of stacks stays with NumPy")
    x = changeable(lowering, node, 0, x)
    after = x.changed()
    _add(lowering, node, kernels.AddStack(after.place.stored, [y.read()], x.elements))
    return [after]


@lowers("stack_pick")
def _pick(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    stack = own(lowering, inputs[0], node)
    result = _result(node, 0)
    stack.elements.are(result.dtype, result.shape[len(inputs[1].shape) :])
    kernel = kernels.Pick(stack.read(), [inputs[1]], stack.elements)
    kernel.results = (result,)
    _add(lowering, node, kernel)
    return [result]


def _all(lowering: Lowering, node: Node, stack: Any, kernel_type: Any) -> list[Any]:
    """All elements as one array."""
    stack = own(lowering, stack, node)
    result = _result(node, 0)
    stack.elements.are(result.dtype, result.shape[1:])
    kernel = kernel_type(stack.read(), [], stack.elements)
    kernel.rows, kernel.results = result.shape[0], (result,)
    _add(lowering, node, kernel)
    return [result]


@lowers("stack_to_tensor")
def _unload(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    return _all(lowering, node, inputs[0], kernels.Unload)


@lowers("stack_to_shape")
def _fit(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    return _all(lowering, node, inputs[0], kernels.Fit)


@lowers("stack_from_tensor")
def _load(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    (x,) = inputs
    stack = own(lowering, Reserved(0), node)
    stack.elements.are(x.dtype, x.shape[1:])
    kernel = kernels.Load(stack.place.stored, [x], stack.elements)
    kernel.rows = x.shape[0]
    _add(lowering, node, kernel)
    return [stack]


@lowers("stack_length")
def _length(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    if isinstance(inputs[0], Reserved):
        return [lowering.constant(node.name, np.array(inputs[0].length, np.int32))]
    result = Stored(int32, (), node.name)
    kernel = kernels.Length(inputs[0].read(), [], inputs[0].elements)
    kernel.results = (result,)
    lowering.add(kernel)
    return [result]
