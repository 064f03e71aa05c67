"""Reads of a variable right after an assignment use the assigned value."""

from __future__ import annotations

from weft._src.core.tensor import EagerTensor, SymbolicTensor
from weft._src.graph.ir import Graph, Node
from weft._src.graph.rewrite import Rewriter, Visit, rewrite
from weft._src.ops.state.variables import assign_op, read_op


def forward_assignments(graph: Graph) -> Graph:
    """The graph without reads of variables whose value it has just assigned.

    Only of captured variables, which are known to be different from each other. A call holds the
    locks of what it writes, so nobody else can change the value in between.
    """
    captured = {id(inner) for outer, inner in graph.captures if isinstance(outer, EagerTensor)}
    if not captured:
        return graph
    return rewrite(graph, lambda: _forwarding(captured), lambda nested: nested)


def _forwarding(captured: set[int]) -> Visit:
    assigned: dict[int, SymbolicTensor] = {}  # handle -> the value that it holds

    def visit(rewriter: Rewriter, node: Node) -> None:
        if node.op is read_op:
            value = assigned.get(id(node.inputs[0]))
            if value is not None and value.spec == node.outputs[0].spec:
                rewriter[node.outputs[0]] = rewriter[value]
                return
        written = {id(handle) for handle in node.effects.writes}
        if node.effects.host_io or written - captured:
            assigned.clear()
        for handle in written:
            assigned.pop(handle, None)
        if node.op is assign_op and id(node.inputs[0]) in captured:
            assigned[id(node.inputs[0])] = node.inputs[1]
        rewriter.copy(node)

    return visit
