"""Images of any size that are cast, scaled and resized along two axes: that becomes a single op.

Where sizes are known, machine code for the whole graph does the same.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from weft._src.core.dtypes import float32, uint8
from weft._src.core.tensor import SymbolicTensor
from weft._src.graph.ir import Graph, Node, infer
from weft._src.graph.passes.dce import drop_dead_nodes
from weft._src.graph.rewrite import Rewriter, is_same, with_nested
from weft._src.ops.arrays.source import const_op
from weft._src.ops.elementwise.arithmetic import mul_op, real_div_op
from weft._src.ops.elementwise.casting import cast_op
from weft._src.ops.image.pixel_resizing import DIVIDED, MULTIPLIED, resize_pixels_op
from weft._src.ops.image.resampling import resize_axis_op

_HOW = {real_div_op: DIVIDED, mul_op: MULTIPLIED}


def fuse_resizing(graph: Graph) -> Graph:
    """The graph with resized images as single ops; for graphs of which nobody takes gradients."""
    if not any(node.op is resize_axis_op or any(True for _ in node.nested) for node in graph.nodes):
        return graph
    uses = Counter([id(x) for node in graph.nodes for x in node.inputs])
    uses.update([id(x) for x in graph.outputs])
    nodes = [with_nested(node, fuse_resizing) for node in graph.body]
    resized = [_resized(node, uses) for node in nodes]
    if not any(resized) and is_same(graph, nodes):
        return graph
    rewriter = Rewriter(graph)
    for node, found in zip(nodes, resized, strict=True):
        if found is None:
            rewriter.copy(node)
            continue
        x, sizes, attrs = found
        inputs = tuple([rewriter[value] for value in (x, *sizes)])
        specs = infer(resize_pixels_op, inputs, attrs)
        made = rewriter.new.add_node(
            resize_pixels_op, inputs, attrs, specs, node.name, node.location
        )
        rewriter[node.outputs[0]] = made.outputs[0]
    return drop_dead_nodes(rewriter.finish())


def _resized(node: Node, uses: Counter[int]) -> tuple[SymbolicTensor, Any, dict[str, Any]] | None:
    """What is resized, to which sizes, and how; if the node is the last step of that."""
    if node.op is not resize_axis_op or node.attrs["axis"] != -2:
        return None
    lines = node.inputs[0]
    before = lines.node
    form = {name: value for name, value in node.attrs.items() if name != "axis"}
    if before.op is not resize_axis_op or uses[id(lines)] != 1:
        return None
    if before.attrs != {"axis": -3, **form}:
        return None
    x = before.inputs[0]
    if x.spec.dims is None or len(x.spec.dims) < 3 or x.spec.is_static:
        return None
    sizes = (before.inputs[1], node.inputs[1])
    scaled = _scaled(x, uses)
    if scaled is not None:
        return scaled[0], sizes, {"scale": scaled[1], **form}
    return (x, sizes, {"scale": None, **form}) if x.dtype in (float32, uint8) else None


def _scaled(x: SymbolicTensor, uses: Counter[int]) -> tuple[SymbolicTensor, Any] | None:
    """Bytes that are cast to float32, and then divided or multiplied by a number."""
    scale = None
    if x.node.op in _HOW and uses[id(x)] == 1:
        for y, other in (x.node.inputs, x.node.inputs[::-1]):
            if other.node.op is const_op and other.spec.rank == 0 and y.dtype is float32:
                scale = _HOW[x.node.op], float(other.node.attrs["value"])
                x = y
                break
            if x.node.op is real_div_op:
                break
    if x.node.op is not cast_op or uses[id(x)] != 1 or x.dtype is not float32:
        return None
    source = x.node.inputs[0]
    return (source, scale) if source.dtype is uint8 else None
