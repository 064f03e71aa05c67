"""When values of a graph die, and which of them share memory.

A result may be written into the buffer of an input only if nothing reads that buffer afterwards:
neither the input itself nor any view of it.
"""

from __future__ import annotations

from weft.core.tensor import SymbolicTensor
from weft.graph.ir import Graph, Node

FOREVER = 1 << 60


class Liveness:
    """Last uses and memory sharing of the values of one graph (nested graphs have their own)."""

    def __init__(self, graph: Graph) -> None:
        self.last_use: dict[int, int] = {}
        self._roots: dict[int, frozenset[int]] = {}
        self._owned: set[int] = set()
        for i, node in enumerate(graph.nodes):
            for x in node.inputs:
                self.last_use[id(x)] = i
            self._note_memory(node)
        for out in graph.outputs:
            self.last_use[id(out)] = FOREVER
        self._buffer_last_use: dict[int, int] = {}
        for tensor, roots in self._roots.items():
            for root in roots:
                use = self.last_use.get(tensor, -1)
                self._buffer_last_use[root] = max(self._buffer_last_use.get(root, -1), use)

    def _note_memory(self, node: Node) -> None:
        shared: frozenset[int] = frozenset()
        if not node.op.fresh:
            shared = shared.union(*[self._roots[id(x)] for x in node.inputs])
        for out in node.outputs:
            self._roots[id(out)] = shared | {id(out)}
            if node.op.fresh:
                self._owned.add(id(out))

    def dying_at(self, i: int, node: Node) -> list[SymbolicTensor]:
        """The inputs and outputs of a node that nobody needs after it."""
        seen = {id(t): t for t in (*node.inputs, *node.outputs)}
        return [t for t in seen.values() if self.last_use.get(id(t), i) <= i]

    def reusable_buffer(self, i: int, node: Node) -> SymbolicTensor | None:
        """An input of an elementwise node whose buffer can take the result, if there is one."""
        out = node.outputs[0].spec
        if not out.dims:  # scalars are not kept in buffers; an unknown shape proves nothing
            return None
        for x in node.inputs:
            if (
                id(x) in self._owned
                and self._buffer_last_use[id(x)] == i
                and x.spec.dtype is out.dtype
                and x.spec.dims == out.dims
            ):
                return x
        return None
