"""Building a new graph from an old one: what all passes share."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import SymbolicTensor
from weft._src.graph.ir import Graph, Node
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


Visit = Callable[[Rewriter, Node], None]


def copied(graph: Graph) -> Rewriter:
    """A rewriter that has copied the whole graph; the outputs are still to be set."""
    rewriter = Rewriter(graph)
    for node in graph.body:
        rewriter.copy(node)
    return rewriter


def deeply_copied(graph: Graph) -> Graph:
    """A copy that shares no node with the graph, nested ones included."""
    rewriter = Rewriter(graph)
    for node in graph.body:
        rewriter.copy(with_nested(node, deeply_copied))
    return rewriter.finish()


class _ChangeError(Exception):
    """A pass changes something: a new graph is needed."""


class _Unchanged(Rewriter):
    """Stands for a rewriter as long as a pass copies everything: nodes are their own copies."""

    def __init__(self, old: Graph) -> None:
        self.old = old

    def __getattr__(self, name: str) -> Any:
        raise _ChangeError  # there is no new graph to add something to

    def __getitem__(self, old: SymbolicTensor) -> SymbolicTensor:
        return old

    def __setitem__(self, old: SymbolicTensor, new: SymbolicTensor) -> None:
        raise _ChangeError

    def copy(
        self, node: Node, attrs: dict[str, Any] | None = None, prefix: str = "", device: str = ""
    ) -> Node:
        if attrs is not None or prefix or device:
            raise _ChangeError
        return node


def rewrite(graph: Graph, visitor: Callable[[], Visit], again: Callable[[Graph], Graph]) -> Graph:
    """What a pass makes of a graph: the graph itself if nothing changes.

    Args:
      graph: the graph.
      visitor: makes the function that decides for each node in order. It may be asked twice: what
        it remembers of the nodes must begin anew.
      again: the pass itself, for nested graphs.
    """
    nodes = [with_nested(node, again) for node in graph.body]
    if is_same(graph, nodes):
        with contextlib.suppress(_ChangeError):
            unchanged, visit = _Unchanged(graph), visitor()
            for node in nodes:
                visit(unchanged, node)
            return graph
    rewriter, visit = Rewriter(graph), visitor()
    for node in nodes:
        visit(rewriter, node)
    return rewriter.finish()


def is_same(graph: Graph, nodes: Sequence[Node]) -> bool:
    """Whether these nodes are those of the graph, which has the form that a rewriter gives it."""
    if graph.captures and not graph.is_function:
        return False  # its captures become inputs
    body = graph.body
    return len(nodes) == len(body) and all(map(operator.is_, nodes, body))


def with_nested(node: Node, transform: Callable[[Graph], Graph]) -> Node:
    """The node with its nested graphs transformed; the node itself if they stay as they are."""
    changed: dict[str, Any] = {}
    for key, value in node.attrs.items():
        if isinstance(value, Graph):
            graph = transform(value)
            if graph is not value:
                changed[key] = graph
        elif type(value) is tuple and value and isinstance(value[0], Graph):
            graphs = tuple([transform(graph) for graph in value])
            if not all(map(operator.is_, graphs, value)):
                changed[key] = graphs
    return node.replace(attrs={**node.attrs, **changed}) if changed else node
