"""What changes by the same number in each turn of a loop: counters, and the lengths of lists.

A loop whose number of turns is known need not carry these: in turn i they are start + i * step, and
after the loop they are known numbers. So the loop that goes back for gradients is one of known
length, too, and its lists need no checks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from weft._src.core.tensor import SymbolicTensor
from weft._src.execution.xla.lowering import Value
from weft._src.execution.xla.stack_values import StackValue
from weft._src.graph.ir import Graph, Node
from weft._src.ops.control import stack
from weft._src.ops.elementwise.arithmetic import add_op, sub_op
from weft._src.ops.elementwise.comparison import greater_op, less_op


class Steady(NamedTuple):
    """A loop variable that begins with a known number and changes by the same in each turn."""

    start: int
    step: int

    def after(self, turns: int) -> int:
        """The number after so many turns."""
        return self.start + turns * self.step

    def bounds(self, turns: int) -> tuple[int, int]:
        """The smallest and the largest number in so many turns."""
        ends = (self.start, self.after(max(turns - 1, 0)))
        return min(ends), max(ends)


def steady(body: Graph, position: int, start: Value) -> Steady | None:
    """How a loop variable changes; None if its changes cannot be foreseen."""
    step = _step(body.outputs[position], body.all_inputs[position])
    if step is None:
        return None
    if isinstance(start, StackValue):
        is_usual = start.has_known_length and not start.endless
        return Steady(int(start.length), step) if is_usual else None
    if isinstance(start, np.ndarray) and start.ndim == 0 and start.dtype.kind == "i":
        return Steady(int(start), step)
    return None


def _step(tensor: SymbolicTensor, origin: SymbolicTensor) -> int | None:
    """By how much a number, or the length of a list, is larger than that of the origin."""
    total = 0
    while tensor is not origin:
        node = tensor.node
        if node.op in (add_op, sub_op):
            number = _constant(node.inputs[1])
            if number is None:
                return None
            total += number if node.op is add_op else -number
        elif node.op is stack.push_op:
            total += 1
        elif node.op in (stack.pop_op, stack.pop_shaped_op) and tensor.index == 0:
            total -= 1
        elif not _keeps_length(node):
            return None
        tensor = node.inputs[0]
    return total


def _keeps_length(node: Node) -> bool:
    is_put = node.op is stack.set_item_op and not node.attrs["grow"]
    return is_put or node.op is stack.clear_item_op


def _constant(x: SymbolicTensor) -> int | None:
    is_known = x.node.is_const and x.dtype.is_integer and x.spec.dims == ()
    return int(x.node.attrs["value"]) if is_known else None


def turns_of(node: Node, inputs: list[Any], found: list[Steady | None]) -> int | None:
    """How often a loop runs that counts up or down to a known number; None if that is not so.

    Args:
      node: the loop.
      inputs: what it is given, in the order of its inputs.
      found: how its variables change.
    """
    condition = node.attrs["cond"]
    test = condition.outputs[0].node
    if node.attrs["maximum_iterations"] is not None or test.op not in (less_op, greater_op):
        return None
    places = {id(x): i for i, x in enumerate(condition.all_inputs)}
    position = places.get(id(test.inputs[0]), len(found))
    counter = found[position] if position < len(found) else None
    limit = _constant(test.inputs[1])
    at = places.get(id(test.inputs[1]))
    if limit is None and at is not None and at >= len(found):
        value = inputs[at]
        limit = int(value) if isinstance(value, np.ndarray) and value.ndim == 0 else None
    if counter is None or limit is None:
        return None
    is_up = test.op is less_op
    if counter.step * (1 if is_up else -1) < 1:
        return None
    turns = len(range(counter.start, limit, counter.step))
    # One that leaves its dtype begins at the other end, and does not stop there.
    return turns if stays_in_range(counter, inputs[position], turns) else None


def stays_in_range(found: Steady, start: Value, turns: int) -> bool:
    """Whether a number fits its dtype in all turns, and a list is never shorter than nothing."""
    low, high = sorted((found.start, found.after(turns)))
    if isinstance(start, StackValue):
        return low >= 0
    limits = np.iinfo(start.dtype)
    return bool(limits.min <= low and high <= limits.max)
