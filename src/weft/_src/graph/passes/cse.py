"""Computes equal things once."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.tensor import SymbolicTensor
from weft._src.graph.ir import Graph, Node
from weft._src.graph.rewrite import Rewriter, Visit, rewrite


def merge_equal_nodes(graph: Graph) -> Graph:
    """The graph with nodes of equal op, inputs and attributes merged into the first.

    Two reads of a variable are equal only if nothing was written between them.
    """
    return rewrite(graph, _merging, merge_equal_nodes)


def _merging() -> Visit:
    seen: dict[Any, tuple[SymbolicTensor, ...]] = {}
    writes = 0

    def visit(rewriter: Rewriter, node: Node) -> None:
        nonlocal writes
        if node.effects.must_run or not node.outputs:
            writes += 1
            rewriter.copy(node)
            return
        inputs = tuple([id(rewriter[x]) for x in node.inputs])
        attrs = tuple([(k, _key(v)) for k, v in node.attrs.items()])
        seen_writes = writes if node.effects.reads else None
        key = (node.op.name, inputs, attrs, node.device, seen_writes)
        found = seen.get(key)
        if found is None:
            seen[key] = rewriter.copy(node).outputs
            return
        for out, same in zip(node.outputs, found, strict=True):
            rewriter[out] = same

    return visit


def _key(value: Any) -> Any:
    """Something hashable that is equal exactly for equal attribute values (1 and True differ)."""
    if isinstance(value, np.ndarray):
        content = tuple(value.flat) if value.dtype == object else value.tobytes()
        return (value.dtype.str, value.shape, content)
    if isinstance(value, tuple):
        return tuple([_key(item) for item in value])
    if isinstance(value, (int, float, str, type(None))):
        return (type(value), repr(value))  # 0.0 == -0.0, but they print differently
    return id(value)
