"""Writes called graphs out in place of the calls."""

from __future__ import annotations

from weft._src.graph.ir import Graph, holds_graphs
from weft._src.graph.rewrite import Rewriter, with_nested


def inline_calls(graph: Graph) -> Graph:
    """The graph without call nodes; inlined nodes carry the name of the call in front."""
    if not _calls(graph):
        return graph
    rewriter = Rewriter(graph)
    _write(rewriter, graph, "", "")
    return rewriter.finish()


def _calls(graph: Graph) -> bool:
    """Whether there are calls in a graph, or in the graphs of its nodes."""
    return any(
        node.op.name == "PartitionedCall" or any(_calls(inner) for _, inner in node.nested)
        for node in graph.body
        if holds_graphs(node.attrs)
    )


def _write(rewriter: Rewriter, graph: Graph, prefix: str, device: str) -> None:
    """Copies the nodes of a graph; calls in called graphs at once, so each node is copied once.

    What leaves open where it runs is meant for the device of the call.
    """
    for node in graph.body:
        if node.op.name == "PartitionedCall":
            body: Graph = node.attrs["body"]
            for inner, outer in zip(body.all_inputs, node.inputs, strict=True):
                rewriter[inner] = rewriter[outer]
            _write(rewriter, body, f"{prefix}{node.name}/", node.device or device)
            for out, result in zip(node.outputs, body.outputs, strict=True):
                rewriter[out] = rewriter[result]
        else:
            whole = with_nested(node, inline_calls)
            rewriter.copy(whole, prefix=prefix, device=node.device or device)
