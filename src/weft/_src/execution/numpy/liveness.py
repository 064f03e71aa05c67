"""When values of a graph die, and which of them share memory.

A result may be written into the buffer of an input only if nothing reads that buffer afterwards:
neither the input itself nor any view of it.
"""

from __future__ import annotations

from weft._src.core.tensor import SymbolicTensor
from weft._src.graph.ir import Graph, Node

FOREVER = 1 << 60


class Liveness:
    """Last uses and memory sharing of the values of one graph (nested graphs have their own)."""

    def __init__(self, graph: Graph) -> None:
        self.last_use: dict[int, int] = {}
        for i, node in enumerate(graph.nodes):
            for x in node.inputs:
                self.last_use[id(x)] = i
        for out in graph.outputs:
            self.last_use[id(out)] = FOREVER
        self._owned = {id(out) for n in graph.nodes if n.op.fresh for out in n.outputs}
        # Backwards: what may be a view of an input uses the input's buffer as long as it lives.
        self._buffer_last_use = dict(self.last_use)
        for node in reversed(graph.nodes):
            if not node.op.fresh and node.outputs:
                latest = max([self._buffer_last_use.get(id(out), -1) for out in node.outputs])
                for x in node.inputs:
                    self._buffer_last_use[id(x)] = max(self._buffer_last_use[id(x)], latest)

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
