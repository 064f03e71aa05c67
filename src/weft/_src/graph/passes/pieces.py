"""Elementwise work on large arrays becomes functions that can be called piece by piece.

NumPy goes through memory for each op, on one thread. A group of ops that all compute arrays of the
same shape is done for a part of the elements at a time, which stays in a cache, and by several
threads. Machine code does so by itself: this is for the NumPy tier.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from weft._src.core.dtypes import COMPLEX, REAL, bool_
from weft._src.core.memory import limits
from weft._src.core.tensor import SymbolicTensor
from weft._src.graph.ir import Graph, Node
from weft._src.graph.rewrite import Rewriter
from weft._src.ops.control.call import call_op
from weft._src.ops.dispatch import known_bytes
from weft._src.ops.worth import is_special

IN_PIECES = "in_pieces"  # the attribute of calls that are made so
_LEAST = 1 << 18  # elements
# Ops by how long NumPy takes, in passes over memory; groups of fewer are done as fast as one.
_PASSES, _LEAST_PASSES = 4, 6
Shape = tuple[int, ...]
_NUMBERS = REAL | COMPLEX | {bool_}


@dataclass
class _Group:
    """Nodes that compute arrays of one shape."""

    nodes: list[Node] = field(default_factory=list)

    @property
    def passes(self) -> int:
        return sum([_PASSES if is_special(node.op) else 1 for node in self.nodes])


def cut_into_pieces(graph: Graph) -> Graph:
    """The graph with groups of large elementwise ops as calls; see the module.

    Args:
      graph: an optimised one, of which nobody takes gradients.
    """
    groups = [g for g in _groups(graph.body) if g.passes >= _LEAST_PASSES]
    if not groups:
        return graph
    member_of = {id(node): group for group in groups for node in group.nodes}
    used = _used_outside(graph, member_of)
    rewriter = Rewriter(graph)
    for node in graph.body:
        group = member_of.get(id(node))
        if group is None:
            rewriter.copy(node)
        elif node is group.nodes[-1]:
            _call(rewriter, group, used)
    return rewriter.finish()


def _groups(nodes: Iterable[Node]) -> list[_Group]:
    """Groups that can be computed where their last node is.

    As soon as another node needs a result of a group, there must be no more nodes in it.
    """
    found: list[_Group] = []
    growing: dict[Shape, _Group] = {}
    maker: dict[int, Shape] = {}  # of results of groups that still grow
    for node in nodes:
        dims = _shape_of_member(node)
        for x in node.inputs:
            made_in = maker.get(id(x))
            if made_in is not None and made_in != dims:
                growing.pop(made_in, None)
        if dims is None:
            continue
        group = growing.get(dims)
        if group is None:
            group = growing[dims] = _Group()
            found.append(group)
            maker = {x: shape for x, shape in maker.items() if shape != dims}
        group.nodes.append(node)
        maker[id(node.outputs[0])] = dims
    return found


def _shape_of_member(node: Node) -> Shape | None:
    """The shape of what a node computes, if it can be computed piece by piece; None if not."""
    op = node.op
    if not op.elementwise or op.host_io or node.is_const or not node.effects.none or node.device:
        return None
    if len(node.outputs) != 1 or any(True for _ in node.nested):
        return None
    spec = node.outputs[0].spec
    shape = cast(Shape, spec.dims)
    if not spec.is_static or math.prod(shape) < _LEAST or known_bytes(spec) > limits.asked_above:
        return None
    values = [x.spec for x in (*node.inputs, *node.outputs)]
    fits = all(v.dtype in _NUMBERS and v.dims in (shape, ()) for v in values)
    return shape if fits else None


def _used_outside(graph: Graph, member_of: dict[int, _Group]) -> set[int]:
    """The tensors that somebody else needs than the group that computes them."""
    used = {id(x) for x in graph.outputs}
    for node in graph.body:
        group = member_of.get(id(node))
        used |= {id(x) for x in node.inputs if member_of.get(id(x.node)) is not group}
    return used


def _call(rewriter: Rewriter, group: _Group, used: set[int]) -> None:
    """Adds a call of what a group computes."""
    body = Graph("pieces")
    inner: dict[int, SymbolicTensor] = {}
    given: list[SymbolicTensor] = []
    for node in group.nodes:
        for x in node.inputs:
            if id(x) in inner:
                continue
            if x.node.is_const and x.spec.dims == ():
                inner[id(x)] = body.add_copy(x.node, ()).outputs[0]
            else:
                inner[id(x)] = body.add_input(x.spec, x.node.name)
                given.append(x)
        made = body.add_copy(node, tuple([inner[id(x)] for x in node.inputs]))
        inner[id(node.outputs[0])] = made.outputs[0]
    results = [node.outputs[0] for node in group.nodes if id(node.outputs[0]) in used]
    body.outputs = [inner[id(x)] for x in results]
    inputs = tuple([rewriter[x] for x in given])
    last = group.nodes[-1]
    attrs = {"body": body, IN_PIECES: True}
    specs = [x.spec for x in results]
    made = rewriter.new.add_node(call_op, inputs, attrs, specs, "pieces", last.location)
    for old, new in zip(results, made.outputs, strict=True):
        rewriter[old] = new
