"""If, Case and While: nested graphs become blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core import dtypes
from weft.execution.native.kernels.control import Branch, Given, Loop
from weft.execution.native.kernels.stacks import WORDS
from weft.execution.native.lowering.rules import lowers, static_shape
from weft.execution.native.lowering.stacks import Reserved, Stack, StackPlace, new_place
from weft.execution.native.schedule import Block, Write
from weft.execution.native.values import NotCompilableError, Stored, Uniform, Value
from weft.graph.ir import Graph, Node


def _is_cell(x: Any) -> bool:
    return hasattr(x, "volatile")


def _given(inputs: Sequence[Any]) -> tuple[list[Any], Given]:
    """What nested graphs are given, with stand-ins for values that are computed outside."""
    inside: list[Any] = []
    given: Given = {}
    for x in inputs:
        if isinstance(x, Stack):
            stand_in = Stored(dtypes.int64, (WORDS,), "stack")
            given[stand_in] = x.read()
            place = StackPlace(stand_in, owned=False)
            place.element = x.place.element
            x = Stack(place)
        elif isinstance(x, Value) and not isinstance(x, Uniform):
            stand_in = Stored(x.dtype, x.shape, x.label)
            given[stand_in] = x
            x = stand_in
        inside.append(x)
    return inside, given


def _nested_block(lowering: Any, graph: Graph, inputs: list[Any], targets: Sequence[Any]) -> Block:
    """The block of a nested graph that leaves its outputs in the targets."""
    outer, lowering.block = lowering.block, Block()
    block = lowering.block
    # Every block keeps its own copy of a number, should it need one in memory.
    inputs = [
        Uniform(x.dtype, x.shape, x.label, x.number) if isinstance(x, Uniform) else x
        for x in inputs
    ]
    cells = [x for x in inputs if _is_cell(x)]
    before = [(cell.volatile, cell.stored) for cell in cells]
    for cell in cells:
        cell.volatile = False
    outputs = lowering.lower(graph, inputs)
    for target, value in zip(targets, outputs, strict=True):
        if isinstance(target, StackPlace):
            if not isinstance(value, Stack) or value.place is not target:
                raise NotCompilableError("a loop variable becomes another stack")
            value.read()
        else:
            block.outputs.append(Write(target, value))
    if lowering.flush(cells):
        lowering.has_written = True
    for cell, (volatile, stored) in zip(cells, before, strict=True):
        cell.volatile, cell.stored = volatile, stored
    lowering.block = outer
    return block


def _add(lowering: Any, node: Node, inputs: Sequence[Any], kernel: Any) -> None:
    """Adds the step; variables it writes have new contents after it."""
    written = {id(t) for t in node.effects.writes}
    for tensor, x in zip(node.inputs, inputs, strict=True):
        if id(tensor) in written:
            old, new = x.renew()
            kernel.renewed.append((new, old))
    lowering.add(kernel)


def _results(node: Node) -> list[Stored]:
    return [_result(node, i) for i in range(len(node.outputs))]


def _result(node: Node, i: int) -> Stored:
    dtype = node.outputs[i].dtype
    if dtype in (dtypes.variant, dtypes.resource, dtypes.string):
        raise NotCompilableError(f"{node.name} hands on a {dtype.name}")
    return Stored(dtype, static_shape(node, i), f"{node.name}:{i}")


def _branch(lowering: Any, node: Node, inputs: list[Any], graphs: Sequence[Graph]) -> list[Stored]:
    choice, *captured = inputs
    inside, given = _given(captured)
    results = _results(node)
    for result in results:
        lowering.program.scratch(result)
    blocks = [_nested_block(lowering, graph, inside, results) for graph in graphs]
    _add(lowering, node, inputs, Branch(lowering.program, choice, given, results, blocks))
    return results


@lowers("If")
def _if(lowering: Any, node: Node, inputs: list[Any]) -> list[Stored]:
    if node.inputs[0].dtype is not dtypes.bool_:
        raise NotCompilableError("a condition that is no bool")
    return _branch(lowering, node, inputs, node.attrs["branches"])


@lowers("Case")
def _case(lowering: Any, node: Node, inputs: list[Any]) -> list[Stored]:
    return _branch(lowering, node, inputs, node.attrs["branches"])


def _current(variables: Sequence[Any]) -> list[Any]:
    return [Stack(v) if isinstance(v, StackPlace) else v for v in variables]


def _loop_variables(lowering: Any, node: Node) -> list[Any]:
    out: list[Any] = []
    for i, tensor in enumerate(node.outputs):
        if tensor.dtype is dtypes.variant:
            out.append(new_place(lowering, f"{node.name}:{i}"))
        else:
            out.append(_result(node, i))
    return out


def _begin_stack(lowering: Any, variable: StackPlace, first: Any) -> None:
    """The loop goes on with the stack it is given; nobody else may change it then."""
    if isinstance(first, Reserved):
        first.write_to(lowering, variable)
        return
    if not isinstance(first, Stack):
        raise NotCompilableError("a loop over something that is no stack")
    lowering.block.items.append(Write(variable.stored, first.read()))
    variable.element = first.place.element
    first.changed()


@lowers("While")
def _while(lowering: Any, node: Node, inputs: list[Any]) -> list[Any]:
    n = len(node.outputs)
    start = inputs[:n]
    variables = _loop_variables(lowering, node)
    captured, given = _given(inputs[n:])
    for variable, first in zip(variables, start, strict=True):
        if isinstance(variable, StackPlace):
            _begin_stack(lowering, variable, first)
            continue
        if variable.shape != first.shape:
            raise NotCompilableError(f"a variable of the loop {node.name} changes its shape")
        lowering.program.scratch(variable)
        lowering.block.items.append(Write(variable, first))
    stored = [v.stored if isinstance(v, StackPlace) else v for v in variables]
    loop = Loop(lowering.program, given, stored, node.attrs["maximum_iterations"])
    checks, had_written = len(lowering.program.checks), lowering.has_written
    lowering.has_written = False
    condition = _nested_block(
        lowering, node.attrs["cond"], [*_current(variables), *captured], [loop.test]
    )
    body = _nested_block(lowering, node.attrs["body"], [*_current(variables), *captured], variables)
    if lowering.has_written and len(lowering.program.checks) > checks:
        raise NotCompilableError(f"the loop {node.name} may fail after it has changed a variable")
    lowering.has_written = lowering.has_written or had_written
    loop.set_blocks(condition, body)
    _add(lowering, node, inputs, loop)
    return _current(variables)
