"""Writes called graphs out in place of the calls."""

from __future__ import annotations

from weft.graph.ir import Graph, Node
from weft.graph.rewrite import Rewriter, rewrite


def inline_calls(graph: Graph) -> Graph:
    """The graph without call nodes; inlined nodes carry the name of the call in front."""
    return rewrite(graph, _visit, inline_calls)


def _visit(rewriter: Rewriter, node: Node) -> None:
    if node.op.name != "PartitionedCall":
        rewriter.copy(node)
        return
    body: Graph = node.attrs["body"]
    for inner, outer in zip(body.all_inputs, node.inputs, strict=True):
        rewriter[inner] = rewriter[outer]
    for inner_node in body.nodes:
        if inner_node.op.name != "Placeholder":
            rewriter.copy(inner_node, prefix=f"{node.name}/")
    for out, result in zip(node.outputs, body.outputs, strict=True):
        rewriter[out] = rewriter[result]
