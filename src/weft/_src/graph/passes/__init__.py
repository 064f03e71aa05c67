"""Passes: from a graph to a better graph that computes the same. Their order is the list below."""

from __future__ import annotations

from weft._src.graph.ir import Graph
from weft._src.graph.passes.cse import merge_equal_nodes
from weft._src.graph.passes.dce import drop_dead_nodes
from weft._src.graph.passes.fold import fold_constants
from weft._src.graph.passes.forward import forward_assignments
from weft._src.graph.passes.inline import inline_calls
from weft._src.graph.passes.simplify import simplify
from weft._src.graph.verify import verify

PASSES = (
    inline_calls,
    forward_assignments,
    fold_constants,
    simplify,
    merge_equal_nodes,
    drop_dead_nodes,
)

# Tests switch this on: every graph that a pass makes is verified.
check_passes = False


def optimize(graph: Graph) -> Graph:
    """All passes, in order; the graph itself if they change nothing, or have been there."""
    if graph.is_optimized:
        return graph
    for transform in PASSES:
        graph = transform(graph)
        if check_passes:
            verify(graph)
    graph.is_optimized = True
    return graph
