"""If, Case and While: nested graphs become blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weft._src.core import dtypes
from weft._src.execution.native.front.iterations import count_of
from weft._src.execution.native.front.lowering.rules import lowers, static_shape
from weft._src.execution.native.front.lowering.stacks import (
    Reserved,
    Stack,
    StackPlace,
    changeable,
    copied,
    new_place,
)
from weft._src.execution.native.loops.blocks import Block, Write
from weft._src.execution.native.loops.kernels.control import Branch, Given, Loop
from weft._src.execution.native.loops.kernels.stacks import WORDS
from weft._src.execution.native.loops.values import NotCompilableError, Stored, Uniform, Value
from weft._src.graph.ir import Graph, Node
from weft._src.ops.control.loop import LOOP_NAMES

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering


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
            x = Stack(StackPlace(stand_in, x.elements, owned=False))
        elif isinstance(x, Value) and not isinstance(x, Uniform):
            stand_in = Stored(x.dtype, x.shape, x.label)
            given[stand_in] = x
            x = stand_in
        inside.append(x)
    return inside, given


def _nested_block(
    lowering: Lowering, graph: Graph, inputs: list[Any], targets: Sequence[Any]
) -> Block:
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
    taken: set[int] = set()
    for target, value in zip(targets, outputs, strict=True):
        if isinstance(target, StackPlace):
            _leave_stack(lowering, target, value, taken)
        else:
            block.outputs.append(Write(target, value))
    if lowering.flush(cells):
        lowering.has_written = True
    for cell, (volatile, stored) in zip(cells, before, strict=True):
        cell.volatile, cell.stored = volatile, stored
    lowering.block = outer
    return block


def _leave_stack(lowering: Lowering, target: StackPlace, value: Any, taken: set[int]) -> None:
    """A stack goes where the outer block expects it; one that goes to two places is shared.

    When the block ends: what lies in the place until then may go elsewhere.
    """
    if isinstance(value, Reserved):
        lowering.block.outputs.append(Write(target.stored, value.words(lowering)))
        return
    if not isinstance(value, Stack):
        raise NotCompilableError("something else than a stack becomes one")
    target.elements.are_those_of(value.elements)
    if value.place is not target or id(target) in taken:
        copy = copied(lowering, value)
        lowering.block.outputs.append(Write(target.stored, copy.read()))
    else:
        value.read()
    taken.add(id(value.place))


def _add(lowering: Lowering, node: Node, inputs: Sequence[Any], kernel: Any) -> None:
    """Adds the step; variables it writes have new contents after it."""
    written = {id(t) for t in node.effects.writes}
    for tensor, x in zip(node.inputs, inputs, strict=True):
        if id(tensor) in written:
            old, new = x.renew()
            kernel.renewed.append((new, old))
    lowering.add(kernel)


def _result(node: Node, i: int) -> Stored:
    dtype = node.outputs[i].dtype
    if dtype in (dtypes.variant, dtypes.resource, dtypes.string):
        raise NotCompilableError(f"{node.name} hands on a {dtype.name}")
    return Stored(dtype, static_shape(node, i), f"{node.name}:{i}")


def _branch(
    lowering: Lowering, node: Node, inputs: list[Any], graphs: Sequence[Graph]
) -> list[Any]:
    """A choice between graphs, all of which leave their results in the same places.

    Results that are arrays have a place of their own. A result that is a stack is left where the
    stack was that it was made of (`_stack_targets`), so branches that hand on stacks work on those
    they are given, in a place all of them know.
    """
    choice, *captured = inputs
    stacks = [i for i, t in enumerate(node.outputs) if t.dtype is dtypes.variant]
    moved = _moved_stacks(lowering, node, captured) if stacks else {}
    inside, given = _given([None if i in moved else x for i, x in enumerate(captured)])
    results = [None if i in stacks else _result(node, i) for i in range(len(node.outputs))]
    for result in results:
        if result is not None:
            lowering.program.scratch(result)
    targets = _stack_targets(node, graphs, moved)
    here = [Stack(moved[i]) if i in moved else x for i, x in enumerate(inside)]
    wanted = [targets.get(i, result) for i, result in enumerate(results)]
    blocks = [_branch_block(lowering, graph, here, wanted, moved) for graph in graphs]
    for place in moved.values():
        place.current += 1
    stored = [targets[i].stored if r is None else r for i, r in enumerate(results)]
    stored += [p.stored for p in moved.values() if p not in targets.values()]
    _add(lowering, node, inputs, Branch(lowering.program, choice, given, stored, blocks))
    return [Stack(targets[i]) if r is None else r for i, r in enumerate(results)]


def _moved_stacks(lowering: Lowering, node: Node, captured: Sequence[Any]) -> dict[int, StackPlace]:
    """Places for the stacks among what branches are given, with these stacks in them."""
    moved: dict[int, StackPlace] = {}
    for i, x in enumerate(captured):
        if isinstance(x, (Stack, Reserved)):
            moved[i] = new_place(lowering, f"{node.name}:stack")
            _begin_stack(lowering, node, i + 1, moved[i], x)
    return moved


def _branch_block(
    lowering: Lowering,
    graph: Graph,
    inputs: list[Any],
    wanted: list[Any],
    moved: dict[int, StackPlace],
) -> Any:
    """The code of one branch; the next one begins with the stacks as this one found them."""
    starts = {i: place.current for i, place in moved.items()}
    block = _nested_block(lowering, graph, inputs, wanted)
    for i, place in moved.items():
        place.current = starts[i]
    return block


def _stack_targets(
    node: Node, graphs: Sequence[Graph], moved: dict[int, StackPlace]
) -> dict[int, StackPlace]:
    """For each output that is a stack the place it is left in: that of the one it was made from."""
    targets: dict[int, StackPlace] = {}
    for i, tensor in enumerate(node.outputs):
        if tensor.dtype is not dtypes.variant:
            continue
        origins = {_origin(graph, graph.outputs[i]) for graph in graphs}
        (origin,) = origins if len(origins) == 1 else (None,)
        if origin not in moved or moved[origin] in targets.values():
            raise NotCompilableError(f"{node.name} chooses between different stacks")
        targets[i] = moved[origin]
    return targets


def _origin(graph: Graph, stack: Any) -> int | None:
    """The number of the input a stack was made from, by nodes that change their first input."""
    while not stack.node.is_parameter:
        stacks = [x for x in stack.node.inputs if x.dtype is dtypes.variant]
        if not stacks:
            return None
        is_nested = any(True for _ in stack.node.nested)
        stack = _through(stack) if is_nested else stacks[0]
        if stack is None:
            return None
    return next((i for i, x in enumerate(graph.all_inputs) if x is stack), None)


def _through(stack: Any) -> Any:
    """The stack a loop began with, or a branch was given, to make one of its results of it."""
    node = stack.node
    number = next(i for i, t in enumerate(node.outputs) if t is stack)
    if node.op.name in LOOP_NAMES:
        return node.inputs[number]
    found = {_origin(g, g.outputs[number]) for _, g in node.nested}
    (origin,) = found if len(found) == 1 else (None,)
    return None if origin is None else node.inputs[node.op.nested_offset + origin]


@lowers("if")
def _if(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    if node.inputs[0].dtype is not dtypes.bool_:
        raise NotCompilableError("a condition that is no bool")
    return _branch(lowering, node, inputs, node.attrs["branches"])


@lowers("case")
def _case(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    return _branch(lowering, node, inputs, node.attrs["branches"])


def _current(variables: Sequence[Any]) -> list[Any]:
    return [Stack(v) if isinstance(v, StackPlace) else v for v in variables]


def _loop_variables(lowering: Lowering, node: Node) -> list[Any]:
    out: list[Any] = []
    for i, tensor in enumerate(node.outputs):
        if tensor.dtype is dtypes.variant:
            out.append(new_place(lowering, f"{node.name}:{i}"))
        else:
            out.append(_result(node, i))
    return out


def _begin_stack(lowering: Lowering, node: Node, i: int, variable: StackPlace, first: Any) -> None:
    """The loop goes on with the stack it is given, or a copy if others use that, too."""
    if isinstance(first, Reserved):
        first.write_to(lowering, variable)
        return
    if not isinstance(first, Stack):
        raise NotCompilableError("a loop over something that is no stack")
    first = changeable(lowering, node, i, first)
    lowering.block.items.append(Write(variable.stored, first.read()))
    variable.elements.are_those_of(first.elements)
    first.changed()


def _repetitions(node: Node) -> int:
    """How often a loop runs at most; 0 if that is not known."""
    count = count_of(node, node.inputs)
    return (node.attrs["maximum_iterations"] or 0) if count is None else count.times


@lowers("while")
def _while(lowering: Lowering, node: Node, inputs: list[Any]) -> list[Any]:
    n = len(node.outputs)
    start = inputs[:n]
    variables = _loop_variables(lowering, node)
    captured, given = _given(inputs[n:])
    for i, (variable, first) in enumerate(zip(variables, start, strict=True)):
        if isinstance(variable, StackPlace):
            _begin_stack(lowering, node, i, variable, first)
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
    lowering.loops.append(given)
    around, lowering.repetitions = lowering.repetitions, _repetitions(node)
    body = _nested_block(lowering, node.attrs["body"], [*_current(variables), *captured], variables)
    lowering.repetitions = around
    lowering.loops.pop()
    loop.operands = tuple(given.values())  # with what the body wants to have made before
    if lowering.has_written and len(lowering.program.checks) > checks:
        raise NotCompilableError(f"the loop {node.name} may fail after it has changed a variable")
    lowering.has_written = lowering.has_written or had_written
    loop.set_blocks(condition, body)
    _add(lowering, node, inputs, loop)
    return _current(variables)
