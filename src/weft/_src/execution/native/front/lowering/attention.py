"""Attention and its gradient as kernels of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft._src.execution.native.front.lowering.rules import in_memory, lowers, static_shape
from weft._src.execution.native.loops.kernels.attention import (
    AttentionForward,
    AttentionGradient,
)
from weft._src.execution.native.loops.kernels.attention_blocks import Attention
from weft._src.execution.native.loops.values import Stored, Uniform, Value
from weft._src.graph.ir import Node

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering


def _of(node: Node, inputs: list[Value]) -> Attention:
    q, k, v = inputs[:3]
    return Attention(q.dtype, node.attrs["axes"], (q.shape, k.shape, v.shape))


def _lowered(
    lowering: Lowering, node: Node, inputs: list[Value], kernel: type, tensors: int
) -> list[Value]:
    """The results of a kernel; zeros where there is nothing to add up."""
    dtype = inputs[0].dtype
    shapes = [static_shape(node, i) for i in range(3)]
    of = _of(node, inputs)
    if 0 in of.sizes.values():
        return [Uniform(dtype, shape, node.name, 0) for shape in shapes]
    results = [Stored(dtype, shape, node.name) for shape in shapes]
    inputs = [in_memory(x) for x in inputs]
    given, others = inputs[:tensors], inputs[tensors:]
    lowering.add(kernel(of, given, others, results, node.attrs["steps"]))
    return list(results)


@lowers("attention")
def _attention(lowering: Lowering, node: Node, inputs: list[Value]) -> list[Value]:
    return _lowered(lowering, node, inputs, AttentionForward, 3)


@lowers("attention_gradient")
def _attention_gradient(lowering: Lowering, node: Node, inputs: list[Value]) -> list[Value]:
    return _lowered(lowering, node, inputs, AttentionGradient, 7)
