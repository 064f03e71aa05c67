"""The verifier: what must hold of every graph. It runs after every pass in tests.

A failure names the rule, prints the node with its neighbours, and the user's line.
"""

from __future__ import annotations

from typing import Any

from weft._src.core.tensor import SymbolicTensor
from weft._src.errors import InternalError, OpError
from weft._src.graph.ir import Graph, Node, infer
from weft._src.graph.printer import describe_node
from weft._src.ops.registry import STRUCTURED


def verify(graph: Graph) -> None:
    """Raises InternalError unless the graph and all nested graphs are valid."""
    defined: set[int] = set()
    names: set[str] = set()
    for i, node in enumerate(graph.nodes):
        if node.graph is not graph:
            raise _invalid(graph, i, "the node says it belongs to another graph")
        if node.name in names:
            raise _invalid(graph, i, f"the name {node.name!r} is used twice")
        names.add(node.name)
        for x in node.inputs:
            if id(x) not in defined:
                raise _invalid(graph, i, f"the input {x!r} is not defined before the node")
        _check_types(graph, i, node)
        _check_nested(graph, i, node)
        defined.update([id(out) for out in node.outputs])
    for tensor in (*graph.all_inputs, *graph.outputs):
        if id(tensor) not in defined:
            raise InternalError(
                None, None, f"{graph.name}: {tensor!r} is an input or output but not in the graph."
            )


def _check_types(graph: Graph, i: int, node: Node) -> None:
    try:
        specs = infer(node.op, node.inputs, node.attrs)
    except OpError as error:
        raise _invalid(graph, i, f"its types are wrong: {error}") from error
    if len(specs) != len(node.outputs):
        raise _invalid(graph, i, f"it has {len(node.outputs)} outputs, its rule gives {len(specs)}")
    for out, spec in zip(node.outputs, specs, strict=True):
        if out.dtype is not spec.dtype or not out.spec.shape.is_compatible_with(spec.shape):
            raise _invalid(graph, i, f"{out!r} should be {spec.words}")


def _check_nested(graph: Graph, i: int, node: Node) -> None:
    if node.op.kernel is not STRUCTURED:
        return
    passed: Any = node.inputs[node.op.nested_offset :]
    for key, nested in node.nested:
        if len(nested.all_inputs) != len(passed):
            raise _invalid(
                graph, i, f"{key} takes {len(nested.all_inputs)} inputs, gets {len(passed)}"
            )
        for inner, outer in zip(nested.all_inputs, passed, strict=True):
            _check_passed(graph, i, key, inner, outer)
        verify(nested)


def _check_passed(
    graph: Graph, i: int, key: str, inner: SymbolicTensor, outer: SymbolicTensor
) -> None:
    fits = inner.dtype is outer.dtype and inner.shape.is_compatible_with(outer.shape)
    if not fits:
        raise _invalid(graph, i, f"{key} takes {inner!r}, gets {outer!r}")


def _invalid(graph: Graph, i: int, problem: str) -> InternalError:
    around = graph.nodes[max(0, i - 2) : i + 3]
    listing = "\n".join(
        f"  {'->' if n is graph.nodes[i] else '  '} {describe_node(n)}" for n in around
    )
    return InternalError(
        None, None,
        f"Invalid graph {graph.name!r}: at node {graph.nodes[i].name!r}, {problem}.\n{listing}\n"
        f"made at {graph.nodes[i].location}",
    )  # fmt: skip
