"""Computes now what does not depend on the inputs, and takes shapes that are known as constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.shapes import Dim
from weft._src.core.tensor import SymbolicTensor
from weft._src.errors import OpError
from weft._src.graph.ir import Graph, Node
from weft._src.graph.rewrite import Rewriter, rewrite
from weft._src.ops.dispatch import run_kernel
from weft._src.ops.registry import STRUCTURED

Array = np.ndarray[Any, Any]

# Larger results would make the graph itself large; they are cheap to compute anew in comparison.
_MAX_BYTES = 64 * 1024


def fold_constants(graph: Graph) -> Graph:
    """The graph with constant parts computed."""
    return rewrite(graph, lambda: _visit, fold_constants)


def _visit(rewriter: Rewriter, node: Node) -> None:
    if node.op.name == "If" and _take_known_branch(rewriter, node):
        return
    value = _known_shape(node)
    if value is None:
        value = _computed(node, [rewriter[x] for x in node.inputs])
    if value is None:
        rewriter.copy(node)
    else:
        rewriter[node.outputs[0]] = rewriter.constant(node, value)


def _known_shape(node: Node) -> Array | None:
    if node.op.measures is None or node.inputs[0].spec.dims is None:
        return None
    measured = node.op.measures(node.inputs[0].spec.dims)
    dtype = node.outputs[0].dtype
    sizes = np.ravel(np.array(measured, object))
    if any(
        isinstance(n, Dim) or n > dtype.max for n in sizes
    ):  # what does not fit fails as it runs
        return None
    return np.array(measured, dtype.numpy_dtype)


def _is_constant(tensor: SymbolicTensor) -> bool:
    return tensor.node.is_const


def _computed(node: Node, inputs: list[SymbolicTensor]) -> Array | None:
    if node.is_const or node.op.outputs != 1 or node.op.kernel is STRUCTURED:
        return None
    if not node.effects.none or not all(map(_is_constant, inputs)):
        return None
    spec = node.outputs[0].spec
    if not spec.dtype.is_numpy_compatible or not spec.is_static:
        return None
    n = int(np.prod(spec.dims, dtype=np.int64))  # type: ignore[arg-type]
    if n * spec.dtype.size > _MAX_BYTES:
        return None
    try:
        value = run_kernel(node.op, [x.node.attrs["value"] for x in inputs], node.attrs)
    except OpError:
        return None  # it fails when the graph runs, with the user's line
    value = np.array(value)
    value.flags.writeable = False
    return value


def _take_known_branch(rewriter: Rewriter, node: Node) -> bool:
    condition, *captured = [rewriter[x] for x in node.inputs]
    if not _is_constant(condition):
        return False
    branch: Graph = node.attrs["branches"][0 if condition.node.attrs["value"] else 1]
    for inner, outer in zip(branch.all_inputs, captured, strict=True):
        rewriter[inner] = outer
    for inner_node in branch.body:
        rewriter.copy(inner_node, prefix=f"{node.name}/")
    for out, result in zip(node.outputs, branch.outputs, strict=True):
        rewriter[out] = rewriter[result]
    return True
