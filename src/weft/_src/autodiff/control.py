"""Where branches and loops are replaced by ones that save what their gradients need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.autodiff import bodies
from weft._src.autodiff.branches import prepare_branches
from weft._src.autodiff.loops import prepare_while
from weft._src.core.context import building
from weft._src.graph.ir import Graph, Node
from weft._src.graph.rewrite import Rewriter
from weft._src.ops.control.branch import case_op, if_op
from weft._src.ops.control.loop import LOOPS
from weft._src.ops.dispatch import install_structured_preparation
from weft._src.ops.registry import Op

Attrs = dict[str, Any]

_STRUCTURED = LOOPS | {if_op, case_op}


def prepare(
    op: Op, inputs: Sequence[Any], attrs: Attrs, repeatedly: bool
) -> tuple[Any, Attrs, int]:
    """The inputs and attributes of a node that saves, and how many outputs it had before."""
    return (prepare_while if op in LOOPS else prepare_branches)(inputs, attrs, repeatedly)


def _prepare_graph(graph: Graph, repeatedly: bool) -> Graph:
    """The graph with all its branches and loops saving what their gradients need."""
    if not any(node.op in _STRUCTURED for node in graph.nodes):
        return graph
    rewriter = Rewriter(graph)
    with building(rewriter.new):
        for node in graph.body:
            if node.op in _STRUCTURED:
                _rewrite(rewriter, node, repeatedly)
            else:
                rewriter.copy(node)
    return rewriter.finish()


def _rewrite(rewriter: Rewriter, node: Node, repeatedly: bool) -> None:
    inputs = [rewriter[x] for x in node.inputs]
    new_inputs, attrs, n = prepare(node.op, inputs, node.attrs, repeatedly)
    _, out = rewriter.new.add_op(node.op, tuple(new_inputs), attrs, node.name)
    rewriter.new.nodes[-1].location = node.location
    for old, new in zip(node.outputs, out[:n], strict=True):
        rewriter[old] = new


bodies.prepare_control_flow.append(_prepare_graph)
install_structured_preparation(prepare)
