"""Drops what only matters to gradients, once a graph is to be run and not to be differentiated."""

from __future__ import annotations

from weft._src.graph.ir import Graph, Node
from weft._src.graph.rewrite import Rewriter, with_nested


def forget_gradients(graph: Graph) -> Graph:
    """A copy of the graph without identities: without stops and custom gradients.

    It is a graph of its own in any case: the first one may still grow.
    """
    rewriter = Rewriter(graph)
    for node in graph.body:
        _visit(rewriter, with_nested(node, forget_gradients))
    return rewriter.finish()


def _visit(rewriter: Rewriter, node: Node) -> None:
    if not node.op.identity:
        rewriter.copy(node)
        return
    for x, out in zip(node.inputs, node.outputs, strict=False):
        rewriter[out] = rewriter[x]
