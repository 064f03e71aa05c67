"""A graph for the shapes of one call: the same nodes, with every size known that can be known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core.specs import TensorSpec
from weft.core.tensor import SymbolicTensor
from weft.errors import OpError
from weft.execution.native.pace import breathe
from weft.graph.ir import Graph, Node, infer
from weft.graph.passes import optimize
from weft.ops.array.source import placeholder_op

_LOOSENED = 4  # how often the sizes of loop variables are loosened before giving up


def specialize(graph: Graph, specs: Sequence[TensorSpec]) -> Graph:
    """The graph with inputs of these types, captures included; all inputs are plain inputs."""
    return optimize(_retraced(graph, specs))


def _retraced(graph: Graph, specs: Sequence[TensorSpec]) -> Graph:
    new = Graph(graph.name)
    known: dict[int, SymbolicTensor] = {}
    for old, spec in zip(graph.all_inputs, specs, strict=True):
        node = old.node
        attrs = {"dtype": spec.dtype, "shape": spec.dims}
        made = new.add_node(placeholder_op, (), attrs, (spec,), node.name, node.location)
        new.inputs.append(made.outputs[0])
        known[id(old)] = made.outputs[0]
    for node in graph.nodes:
        if node.op.name != "Placeholder":
            _copy(new, node, known)
    new.outputs = [known[id(out)] for out in graph.outputs]
    new.structured_outputs = graph.structured_outputs
    return new


def _copy(new: Graph, node: Node, known: dict[int, SymbolicTensor]) -> None:
    breathe()
    inputs = tuple([known[id(x)] for x in node.inputs])
    attrs = _nested_attrs(node, inputs)
    specs = _types(node, inputs, attrs)
    made = new.add_node(node.op, inputs, attrs, specs, node.name, node.location)
    for old, out in zip(node.outputs, made.outputs, strict=True):
        known[id(old)] = out


def _types(
    node: Node, inputs: tuple[SymbolicTensor, ...], attrs: dict[str, Any]
) -> list[TensorSpec]:
    if node.op.name == "Const":
        return [node.outputs[0].spec]
    try:
        return list(infer(node.op, inputs, attrs))
    except (OpError, ValueError, TypeError):
        # It will fail when it runs, with an error for the user; here nothing more is known.
        return [out.spec for out in node.outputs]


def _nested_attrs(node: Node, inputs: tuple[SymbolicTensor, ...]) -> dict[str, Any]:
    """The attributes with nested graphs specialised for what they are given."""
    if not any(True for _ in node.nested):
        return node.attrs
    given = [x.spec for x in inputs[node.op.nested_offset :]]
    if node.op.name == "While":
        return _loop_attrs(node, given)
    attrs = dict(node.attrs)
    for key, value in node.attrs.items():
        if isinstance(value, Graph):
            attrs[key] = _retraced(value, given)
        elif isinstance(value, tuple) and value and isinstance(value[0], Graph):
            attrs[key] = tuple([_retraced(graph, given) for graph in value])
    return attrs


def _loop_attrs(node: Node, given: list[TensorSpec]) -> dict[str, Any]:
    """A loop may change sizes: then those of the body's results are what is known of them."""
    n = len(node.outputs)
    specs = list(given)
    for _ in range(_LOOSENED):
        body = _retraced(node.attrs["body"], specs)
        out = [t.spec for t in body.outputs]
        stable = [a if a.dims == b.dims else None for a, b in zip(specs[:n], out, strict=True)]
        if all(spec is not None for spec in stable):
            return {**node.attrs, "body": body, "cond": _retraced(node.attrs["cond"], specs)}
        original = [t.spec for t in node.attrs["body"].all_inputs[:n]]
        specs[:n] = [
            a if kept is not None else first.with_fresh_dims()
            for a, kept, first in zip(specs[:n], stable, original, strict=True)
        ]
    return node.attrs
