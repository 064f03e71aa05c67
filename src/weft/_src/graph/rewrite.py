"""Building a new graph from an old one: what all passes share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import SymbolicTensor
from weft._src.graph.ir import Graph, Node, holds_graphs
from weft._src.ops.arrays.source import const_op


class Rewriter:
    """Copies nodes of one graph into a new one; a pass decides for each what to do instead.

    Captures of the outermost graph stay captures. Those of nested graphs become plain inputs: the
    node that holds such a graph passes them by position.
    """

    def __init__(self, old: Graph) -> None:
        self.old = old
        self.new = Graph(old.name)
        self._map: dict[int, SymbolicTensor] = {}
        for tensor in old.inputs:
            self.new.inputs.append(self._copy_placeholder(tensor))
        for outer, inner in old.captures:
            placeholder = self._copy_placeholder(inner)
            if old.is_function:
                self.new._captures[id(outer)] = (outer, placeholder)
                self.new._outer_of[id(placeholder)] = outer
            else:
                self.new.inputs.append(placeholder)

    def _copy_placeholder(self, tensor: SymbolicTensor) -> SymbolicTensor:
        placeholder = self.new.add_copy(tensor.node, (), specs=(tensor.spec,)).outputs[0]
        self._map[id(tensor)] = placeholder
        return placeholder

    def __getitem__(self, old: SymbolicTensor) -> SymbolicTensor:
        """What stands in the new graph for a tensor of the old one."""
        return self._map[id(old)]

    def __setitem__(self, old: SymbolicTensor, new: SymbolicTensor) -> None:
        self._map[id(old)] = new

    def copy(
        self, node: Node, attrs: dict[str, Any] | None = None, prefix: str = "", device: str = ""
    ) -> Node:
        """The same node in the new graph, on what its inputs have become."""
        inputs = tuple([self[x] for x in node.inputs])
        made = self.new.add_copy(node, inputs, attrs=attrs, prefix=prefix, device=device)
        for old, new in zip(node.outputs, made.outputs, strict=True):
            self[old] = new
        return made

    def constant(self, node: Node, value: np.ndarray[Any, Any]) -> SymbolicTensor:
        """A constant that takes the place of a node."""
        spec = TensorSpec.of(dtypes.from_numpy(value.dtype), value.shape)
        made = self.new.add_node(const_op, (), {"value": value}, (spec,), node.name, node.location)
        return made.outputs[0]

    def finish(self) -> Graph:
        """The new graph, with the outputs of the old one."""
        self.new.outputs = [self[out] for out in self.old.outputs]
        self.new.structured_outputs = self.old.structured_outputs
        return self.new


def copied(graph: Graph) -> Rewriter:
    """A rewriter that has copied the whole graph; the outputs are still to be set."""
    rewriter = Rewriter(graph)
    for node in graph.body:
        rewriter.copy(node)
    return rewriter


def rewrite(graph: Graph, visit: Callable[[Rewriter, Node], None], again: Any) -> Graph:
    """Runs `visit` on every node in order; `again` is the pass itself, for nested graphs."""
    rewriter = Rewriter(graph)
    for node in graph.body:
        visit(rewriter, with_nested(node, again))
    return rewriter.finish()


def with_nested(node: Node, transform: Callable[[Graph], Graph]) -> Node:
    """The node with its nested graphs transformed; the node itself if it has none."""
    if not holds_graphs(node.attrs):
        return node
    attrs = dict(node.attrs)
    for key, value in node.attrs.items():
        if isinstance(value, Graph):
            attrs[key] = transform(value)
        elif isinstance(value, tuple) and value and isinstance(value[0], Graph):
            attrs[key] = tuple([transform(graph) for graph in value])
    return node.replace(attrs=attrs)
