"""A graph for the shapes of one call: the same nodes, with every size known that can be known."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from weft._src.core.dtypes import variant
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import SymbolicTensor
from weft._src.errors import OpError
from weft._src.execution.native.front.elements import lists_agree, tell_element_shapes
from weft._src.execution.native.front.iterations import count_of
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.native.pace import breathe
from weft._src.graph.ir import Graph, Node, infer
from weft._src.graph.passes import optimize
from weft._src.graph.rewrite import deeply_copied
from weft._src.ops.arrays.source import placeholder_op
from weft._src.ops.control import stack
from weft._src.ops.control.loop import LOOP_NAMES
from weft._src.ops.registry import STRUCTURED
from weft._src.ops.state.variables import read_op

_LOOSENED = 4  # how often the sizes of loop variables are loosened before giving up
_ROUNDS = 4  # how often folded constants may tell further sizes
_SMALL = 1024  # bytes of constants that nested graphs get as their own

# What else is known of tensors, by id: the lengths of stacks, the types of what variables hold, and
# what a loop counts in its first iteration.
Fact = int | TensorSpec | None
Facts = dict[int, Fact]


def specialize(
    graph: Graph, specs: Sequence[TensorSpec], variables: Sequence[TensorSpec | None] = ()
) -> Graph:
    """The graph for inputs of these types, captures included; itself if that is what it is.

    `variables` tells what the variables among the inputs hold.
    """
    facts: list[Fact] = [None] * len(specs)
    reshaped = _reshaped_variables(graph)
    for i, held in enumerate(variables):
        facts[i] = None if id(graph.all_inputs[i]) in reshaped else held
    if _is_settled(graph, specs, facts):
        return optimize(graph)
    out = optimize(_retraced(graph, specs, facts)[0])
    # A size that was computed is a constant now: what has it as shape may be known, too.
    unknown = _unknown_sizes(out)
    before = out
    assumed: list[tuple[Node, dict[str, Any]]] = []
    for _ in range(_ROUNDS):
        if not unknown:
            break
        out = deeply_copied(out)  # passes leave what they do not change with the graph it is from
        told = tell_element_shapes(out)
        if told and not assumed:
            before, assumed = out, told
        again, _ = _retraced(out, specs, facts)
        # Before passes drop what only led to a wrong shape.
        if assumed and not lists_agree(again):  # the shapes of elements depend on each other
            for node, attrs in assumed:
                node.attrs = attrs
            return before
        again = optimize(again)
        left = _unknown_sizes(again)
        if left >= unknown:
            break
        out, unknown = again, left
    return out


def _is_settled(graph: Graph, specs: Sequence[TensorSpec], facts: Sequence[Fact]) -> bool:
    """Whether all is known of a graph for inputs of these types.

    What somebody said (`set_shape`) is not known: machine code has to be able to rely on it.
    """
    held: Facts = {}
    for tensor, spec, fact in zip(graph.all_inputs, specs, facts, strict=True):
        if tensor.spec.dims != spec.dims or tensor.dtype is not spec.dtype:
            return False
        held[id(tensor)] = fact
    for node in graph.body:
        breathe()
        if node.op.kernel is STRUCTURED:  # nested graphs may be told constants
            return False
        types = _types(node, node.inputs, node.attrs)
        fact = held.get(id(node.inputs[0])) if node.op is read_op else None
        if isinstance(fact, TensorSpec):
            types = [fact]
        for out, spec in zip(node.outputs, types, strict=True):
            if spec.dims != out.spec.dims or not spec.is_static or spec.dtype is variant:
                return False
    return True


def _unknown_sizes(graph: Graph) -> int:
    """How many tensors have sizes that are not known."""
    own = sum(not t.spec.is_static for node in graph.nodes for t in node.outputs)
    return own + sum(_unknown_sizes(body) for node in graph.nodes for _, body in node.nested)


def _reshaped_variables(graph: Graph) -> set[int]:
    """The ids of variables that may be assigned a value of another shape, by callbacks too."""
    if graph.effects.host_io:
        return {id(x) for x in graph.all_inputs}
    return {
        id(cell) for node in graph.nodes if not node.op.keeps_shape for cell in node.effects.writes
    }


def _retraced(
    graph: Graph,
    specs: Sequence[TensorSpec],
    given: Sequence[Fact],
    constants: Sequence[Node | None] = (),
) -> tuple[Graph, list[Fact]]:
    """The graph for inputs of these types, of which these facts are known; facts that result.

    `constants` are what inputs always are: inside, too, sizes may depend on them.
    """
    new = Graph(graph.name)
    known: dict[int, SymbolicTensor] = {}
    facts: Facts = {}
    for old, spec, constant in itertools.zip_longest(graph.all_inputs, specs, constants):
        node = old.node
        attrs = {"dtype": spec.dtype, "shape": spec.dims}
        made = new.add_node(placeholder_op, (), attrs, (spec,), node.name, node.location)
        new.inputs.append(made.outputs[0])
        if constant is not None:
            made = new.add_copy(constant, (), specs=(spec,))
        known[id(old)] = made.outputs[0]
    for tensor, fact in zip(new.inputs, given, strict=True):
        if fact is not None:
            facts[id(tensor)] = fact
    for node in graph.body:
        _copy(new, node, known, facts)
    new.outputs = [known[id(out)] for out in graph.outputs]
    new.structured_outputs = graph.structured_outputs
    return new, [facts.get(id(out)) for out in new.outputs]


def _copy(new: Graph, node: Node, known: dict[int, SymbolicTensor], facts: Facts) -> None:
    breathe()
    inputs = tuple([known[id(x)] for x in node.inputs])
    attrs, resulting = _nested_attrs(node, inputs, facts)
    specs = _types(node, inputs, attrs)
    fact = facts.get(id(inputs[0])) if inputs else None
    if node.op is stack.to_tensor_op and isinstance(fact, int) and specs[0].dims:
        specs[0] = specs[0].with_dims((fact, *specs[0].dims[1:]))
    if node.op is read_op and isinstance(fact, TensorSpec):
        specs[0] = fact
    made = new.add_copy(node, inputs, attrs=attrs, specs=specs)
    for i, (old, out) in enumerate(zip(node.outputs, made.outputs, strict=True)):
        known[id(old)] = out
        length = resulting[i] if resulting else _length(made, facts)
        if length is not None:
            facts[id(out)] = length


def _length(node: Node, facts: Facts) -> Fact:
    """The length of the stack a node makes, if it is the same whenever it runs."""
    op = node.op
    if op is stack.reserve_op and node.inputs[0].node.is_const:
        return int(node.inputs[0].node.attrs["value"])
    if op is stack.from_tensor_op:
        dims = node.inputs[0].spec.dims
        return dims[0] if dims and isinstance(dims[0], int) else None
    if op is stack.set_item_op:
        before, index = facts.get(id(node.inputs[0])), _number(node.inputs[1], facts)
        if not node.attrs["grow"]:
            return before
        # Inside, or at its end, as a loop does that writes at the number of its iteration.
        if isinstance(before, int) and index is not None and 0 <= index <= before:
            return max(before, index + 1)
        return None
    if op is stack.push_op:
        before = facts.get(id(node.inputs[0]))
        return before + 1 if isinstance(before, int) else None
    if op.identity and op.outputs == 1:
        return facts.get(id(node.inputs[0]))
    return None


def _number(index: SymbolicTensor, facts: Facts) -> int | None:
    """A place in a list, if it is known."""
    if index.node.is_const:
        return int(index.node.attrs["value"])
    fact = facts.get(id(index))
    return fact if isinstance(fact, int) else None


def _types(
    node: Node, inputs: tuple[SymbolicTensor, ...], attrs: dict[str, Any]
) -> list[TensorSpec]:
    if node.is_const:
        return [node.outputs[0].spec]
    try:
        return list(infer(node.op, inputs, attrs))
    except (OpError, ValueError, TypeError) as error:
        # Machine code checks no shapes: it must not be made for those that do not fit.
        raise NotCompilableError("it fails for these shapes", node, fails=True) from error


def _nested_attrs(
    node: Node, inputs: tuple[SymbolicTensor, ...], facts: Facts
) -> tuple[dict[str, Any], list[Fact]]:
    """The attributes with nested graphs specialised, and what is known of its results."""
    if node.op.kernel is not STRUCTURED:  # others look after the graphs they hold
        return node.attrs, []
    given = [x.spec for x in inputs[node.op.nested_offset :]]
    stacks = [facts.get(id(x)) for x in inputs[node.op.nested_offset :]]
    constants = [_as_constant(x) for x in inputs[node.op.nested_offset :]]
    if node.op.name in LOOP_NAMES:
        constants[: len(node.outputs)] = [None] * len(node.outputs)  # these change
        return _loop_attrs(node, inputs, given, stacks, constants)
    attrs = dict(node.attrs)
    results: list[list[Fact]] = []
    for key, value in node.attrs.items():
        graphs = value if isinstance(value, tuple) else (value,)
        if not isinstance(graphs[0] if graphs else None, Graph):
            continue
        made = [_retraced(graph, given, stacks, constants) for graph in graphs]
        results += [found for _, found in made]
        attrs[key] = tuple([graph for graph, _ in made]) if isinstance(value, tuple) else made[0][0]
    agreed = [r[0] if all(x == r[0] for x in r) else None for r in zip(*results)]
    return attrs, agreed


def _as_constant(x: SymbolicTensor) -> Node | None:
    """The node of a small constant."""
    is_small = x.node.is_const and x.node.attrs["value"].nbytes <= _SMALL
    return x.node if is_small else None


def _loop_attrs(
    node: Node,
    inputs: tuple[SymbolicTensor, ...],
    given: list[TensorSpec],
    stacks: list[Fact],
    constants: Sequence[Node | None],
) -> tuple[dict[str, Any], list[Fact]]:
    """A loop may change sizes: then those of the body's results are what is known of them."""
    n = len(node.outputs)
    specs, facts = list(given), list(stacks)
    count = count_of(node, inputs)
    if count is not None and count.by == 1:
        facts[count.position] = count.start
    grown: list[Fact] = [None] * n
    for _ in range(_LOOSENED):
        body, after = _retraced(node.attrs["body"], specs, facts, constants)
        out = [t.spec for t in body.outputs]
        stable = [a.dims == b.dims for a, b in zip(specs[:n], out, strict=True)]
        if all(stable) and facts[:n] == after:
            condition, _ = _retraced(node.attrs["cond"], specs, facts, constants)
            known = [b if a is None else a for a, b in zip(grown, after, strict=True)]
            return {**node.attrs, "body": body, "cond": condition}, known
        if count is not None:
            grown = [
                a + count.times * (b - a)
                if g is None and isinstance(a, int) and isinstance(b, int)
                else g
                for g, a, b in zip(grown, facts[:n], after, strict=True)
            ]
        original = [t.spec for t in node.attrs["body"].all_inputs[:n]]
        specs[:n] = [
            a if is_stable else first.with_fresh_dims()
            for a, is_stable, first in zip(specs[:n], stable, original, strict=True)
        ]
        facts[:n] = [a if a == b else None for a, b in zip(facts[:n], after, strict=True)]
    return node.attrs, []
