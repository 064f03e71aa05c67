"""Drops what nobody uses, except effects."""

from __future__ import annotations

from weft.graph.ir import Graph, Node
from weft.graph.rewrite import Rewriter, rewrite


def drop_dead_nodes(graph: Graph) -> Graph:
    """The graph without nodes whose results are unused and which change nothing."""
    needed = {id(out) for out in graph.outputs}
    alive: set[int] = set()
    for node in reversed(graph.nodes):
        if node.effects.must_run or any(id(out) in needed for out in node.outputs):
            alive.add(id(node))
            needed.update([id(x) for x in node.inputs])
    alive_names = {node.name for node in graph.nodes if id(node) in alive}

    def visit(rewriter: Rewriter, node: Node) -> None:
        if node.name in alive_names:
            rewriter.copy(node)

    return rewrite(graph, visit, drop_dead_nodes)
