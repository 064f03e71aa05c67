"""Passes: from a graph to a better graph that computes the same. Their order is the list below."""

from __future__ import annotations

from weft.graph.ir import Graph


def optimize(graph: Graph) -> Graph:
    """All passes, in order."""
    return graph
