"""A graph for the shapes of one call: the same nodes, with every size known that can be known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core.specs import TensorSpec
from weft.core.tensor import SymbolicTensor
from weft.errors import OpError
from weft.execution.native.pace import breathe
from weft.execution.native.values import NotCompilableError
from weft.graph.ir import Graph, Node, infer
from weft.graph.passes import optimize
from weft.ops.array.source import placeholder_op
from weft.ops.control.loop import LOOP_NAMES

_LOOSENED = 4  # how often the sizes of loop variables are loosened before giving up


# The lengths of stacks that keep their length, by the id of the tensor.
Lengths = dict[int, int]


def specialize(graph: Graph, specs: Sequence[TensorSpec]) -> Graph:
    """The graph with inputs of these types, captures included; all inputs are plain inputs."""
    nothing: list[int | None] = [None] * len(specs)
    return optimize(_retraced(graph, specs, nothing)[0])


def _retraced(
    graph: Graph, specs: Sequence[TensorSpec], given: Sequence[int | None]
) -> tuple[Graph, list[int | None]]:
    """The graph for inputs of these types and stacks of these lengths; the lengths that result."""
    new = Graph(graph.name)
    known: dict[int, SymbolicTensor] = {}
    lengths: Lengths = {}
    for old, spec in zip(graph.all_inputs, specs, strict=True):
        node = old.node
        attrs = {"dtype": spec.dtype, "shape": spec.dims}
        made = new.add_node(placeholder_op, (), attrs, (spec,), node.name, node.location)
        new.inputs.append(made.outputs[0])
        known[id(old)] = made.outputs[0]
    for tensor, length in zip(new.inputs, given, strict=True):
        if length is not None:
            lengths[id(tensor)] = length
    for node in graph.nodes:
        if node.op.name != "Placeholder":
            _copy(new, node, known, lengths)
    new.outputs = [known[id(out)] for out in graph.outputs]
    new.structured_outputs = graph.structured_outputs
    return new, [lengths.get(id(out)) for out in new.outputs]


def _copy(new: Graph, node: Node, known: dict[int, SymbolicTensor], lengths: Lengths) -> None:
    breathe()
    inputs = tuple([known[id(x)] for x in node.inputs])
    attrs, resulting = _nested_attrs(node, inputs, lengths)
    specs = _types(node, inputs, attrs)
    if node.op.name == "TensorListStack" and id(inputs[0]) in lengths and specs[0].dims:
        specs[0] = specs[0].with_dims((lengths[id(inputs[0])], *specs[0].dims[1:]))
    made = new.add_node(node.op, inputs, attrs, specs, node.name, node.location)
    for i, (old, out) in enumerate(zip(node.outputs, made.outputs, strict=True)):
        known[id(old)] = out
        length = resulting[i] if resulting else _length(made, lengths)
        if length is not None:
            lengths[id(out)] = length


def _length(node: Node, lengths: Lengths) -> int | None:
    """The length of the stack a node makes, if it is the same whenever it runs."""
    name = node.op.name
    if name == "TensorListReserve" and node.inputs[0].node.op.name == "Const":
        return int(node.inputs[0].node.attrs["value"])
    if name == "TensorListFromTensor":
        dims = node.inputs[0].spec.dims
        return dims[0] if dims and isinstance(dims[0], int) else None
    if name == "TensorListSetItem" and not node.attrs["grow"]:
        return lengths.get(id(node.inputs[0]))
    if name in ("Identity", "StopGradient"):
        return lengths.get(id(node.inputs[0]))
    return None


def _types(
    node: Node, inputs: tuple[SymbolicTensor, ...], attrs: dict[str, Any]
) -> list[TensorSpec]:
    if node.op.name == "Const":
        return [node.outputs[0].spec]
    try:
        return list(infer(node.op, inputs, attrs))
    except (OpError, ValueError, TypeError) as error:
        # Machine code checks no shapes: it must not be made for those that do not fit.
        raise NotCompilableError("it fails for these shapes", node, fails=True) from error


def _nested_attrs(
    node: Node, inputs: tuple[SymbolicTensor, ...], lengths: Lengths
) -> tuple[dict[str, Any], list[int | None]]:
    """The attributes with nested graphs specialised, and the lengths of resulting stacks."""
    if not any(True for _ in node.nested):
        return node.attrs, []
    given = [x.spec for x in inputs[node.op.nested_offset :]]
    stacks = [lengths.get(id(x)) for x in inputs[node.op.nested_offset :]]
    if node.op.name in LOOP_NAMES:
        return _loop_attrs(node, given, stacks)
    attrs = dict(node.attrs)
    results: list[list[int | None]] = []
    for key, value in node.attrs.items():
        graphs = value if isinstance(value, tuple) else (value,)
        if not isinstance(graphs[0] if graphs else None, Graph):
            continue
        made = [_retraced(graph, given, stacks) for graph in graphs]
        results += [lengths for _, lengths in made]
        attrs[key] = tuple([graph for graph, _ in made]) if isinstance(value, tuple) else made[0][0]
    agreed = [r[0] if all(x == r[0] for x in r) else None for r in zip(*results)]
    return attrs, agreed


def _loop_attrs(
    node: Node, given: list[TensorSpec], stacks: list[int | None]
) -> tuple[dict[str, Any], list[int | None]]:
    """A loop may change sizes: then those of the body's results are what is known of them."""
    n = len(node.outputs)
    specs, lengths = list(given), list(stacks)
    for _ in range(_LOOSENED):
        body, after = _retraced(node.attrs["body"], specs, lengths)
        out = [t.spec for t in body.outputs]
        stable = [a.dims == b.dims for a, b in zip(specs[:n], out, strict=True)]
        if all(stable) and lengths[:n] == after:
            condition, _ = _retraced(node.attrs["cond"], specs, lengths)
            return {**node.attrs, "body": body, "cond": condition}, after
        original = [t.spec for t in node.attrs["body"].all_inputs[:n]]
        specs[:n] = [
            a if is_stable else first.with_fresh_dims()
            for a, is_stable, first in zip(specs[:n], stable, original, strict=True)
        ]
        lengths[:n] = [a if a == b else None for a, b in zip(lengths[:n], after, strict=True)]
    return node.attrs, []
