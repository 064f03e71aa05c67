"""Drops what only matters to gradients, once a graph is to be run and not to be differentiated."""

from __future__ import annotations

from weft._src.graph.ir import Graph, Node
from weft._src.graph.rewrite import Rewriter, rewrite

_IDENTITIES = frozenset({"StopGradient", "PreventGradient", "CustomGradient"})


def forget_gradients(graph: Graph) -> Graph:
    """The graph without stops and custom gradients, and without what only these used."""
    return rewrite(graph, _visit, forget_gradients)


def _visit(rewriter: Rewriter, node: Node) -> None:
    if node.op.name not in _IDENTITIES:
        rewriter.copy(node)
        return
    for x, out in zip(node.inputs, node.outputs, strict=False):
        rewriter[out] = rewriter[x]
