"""Drops what only matters to gradients, once a graph is to be run and not to be differentiated."""

from __future__ import annotations

from weft._src.graph.ir import Graph, Node
from weft._src.graph.rewrite import Rewriter, rewrite


def forget_gradients(graph: Graph) -> Graph:
    """The graph without identities (stops and custom gradients), and what only these used."""
    return rewrite(graph, _visit, forget_gradients)


def _visit(rewriter: Rewriter, node: Node) -> None:
    if not node.op.identity:
        rewriter.copy(node)
        return
    for x, out in zip(node.inputs, node.outputs, strict=False):
        rewriter[out] = rewriter[x]
