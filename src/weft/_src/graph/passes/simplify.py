"""Algebra that holds for every value, NaN and infinities included: one small rule per op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.dtypes import REAL
from weft._src.core.tensor import SymbolicTensor
from weft._src.graph.ir import Graph, Node
from weft._src.graph.rewrite import Rewriter, rewrite
from weft._src.ops.arrays.ranges import range_shape_op
from weft._src.ops.elementwise.unary import square_op

Rule = Callable[[Rewriter, Node, list[SymbolicTensor]], SymbolicTensor | None]


def simplify(graph: Graph) -> Graph:
    """The graph with nodes replaced by something simpler where a rule applies."""
    return rewrite(graph, lambda: _visit, simplify)


def _visit(rewriter: Rewriter, node: Node) -> None:
    rule = _RULES.get(node.op.name)
    if rule is not None:
        found = rule(rewriter, node, [rewriter[x] for x in node.inputs])
        if found is not None:
            rewriter[node.outputs[0]] = found
            return
    rewriter.copy(node)


def _same_type(tensor: SymbolicTensor, node: Node) -> bool:
    """Whether a tensor has exactly the type of a node's output, unknown sizes included."""
    out = node.outputs[0].spec
    return out.dims is not None and tensor.spec.dims == out.dims and tensor.dtype is out.dtype


def _constant(tensor: SymbolicTensor) -> Any:
    """The number a constant holds everywhere, None if it does not hold just one."""
    if not tensor.node.is_const:
        return None
    value = tensor.node.attrs["value"]
    # Not complex numbers: an infinite part times 1 + 0j has a NaN in the other part.
    if tensor.dtype not in REAL or not value.size:
        return None
    first = value.flat[0]
    return first if value.size == 1 or np.all(value == first) else None


def _is(tensor: SymbolicTensor, number: int) -> bool:
    value = _constant(tensor)
    return value is not None and bool(value == number)


def _identity(
    rewriter: Rewriter, node: Node, inputs: list[SymbolicTensor]
) -> SymbolicTensor | None:
    return inputs[0]


def _unchanged(
    rewriter: Rewriter, node: Node, inputs: list[SymbolicTensor]
) -> SymbolicTensor | None:
    """A change of shape that changes nothing."""
    return inputs[0] if _same_type(inputs[0], node) else None


def _add(rewriter: Rewriter, node: Node, inputs: list[SymbolicTensor]) -> SymbolicTensor | None:
    # Not for floats: -0.0 + 0 is 0.
    if not node.outputs[0].dtype.is_integer:
        return None
    for x, other in (inputs, inputs[::-1]):
        if _is(other, 0) and _same_type(x, node):
            return x
    return None


def _sub(rewriter: Rewriter, node: Node, inputs: list[SymbolicTensor]) -> SymbolicTensor | None:
    x, y = inputs
    positive_zero = _is(y, 0) and not np.signbit(_constant(y))
    return x if positive_zero and _same_type(x, node) else None


def _mul(rewriter: Rewriter, node: Node, inputs: list[SymbolicTensor]) -> SymbolicTensor | None:
    for x, other in (inputs, inputs[::-1]):
        if _is(other, 1) and _same_type(x, node):
            return x
    return None


def _div(rewriter: Rewriter, node: Node, inputs: list[SymbolicTensor]) -> SymbolicTensor | None:
    x, y = inputs
    return x if _is(y, 1) and _same_type(x, node) else None


def _pow(rewriter: Rewriter, node: Node, inputs: list[SymbolicTensor]) -> SymbolicTensor | None:
    x, y = inputs
    if not _same_type(x, node):
        return None
    if _is(y, 1):
        return x
    if not _is(y, 2):
        return None
    made = rewriter.new.add_node(
        square_op, (x,), {}, (x.spec,), node.name, node.location, node.device
    )
    return made.outputs[0]


def _neg(rewriter: Rewriter, node: Node, inputs: list[SymbolicTensor]) -> SymbolicTensor | None:
    inner = inputs[0].node
    return inner.inputs[0] if inner.op.name == "Neg" else None


def _transpose(
    rewriter: Rewriter, node: Node, inputs: list[SymbolicTensor]
) -> SymbolicTensor | None:
    x, perm = inputs[0], node.attrs["perm"]
    if x.spec.rank is None:  # perm may not fit what comes, which the node has to say
        return None
    if perm is not None and tuple(perm) == tuple(range(len(perm))):
        return x
    inner = x.node
    if inner.op.name != "Transpose" or perm is None or inner.attrs["perm"] is None:
        return None
    combined = [inner.attrs["perm"][i] for i in perm]
    if inner.inputs[0].spec.rank is None:
        return None
    return inner.inputs[0] if combined == list(range(len(combined))) else None


def _shape(rewriter: Rewriter, node: Node, inputs: list[SymbolicTensor]) -> SymbolicTensor | None:
    """The number of steps of a range, without the range."""
    made_by = inputs[0].node
    if made_by.op.name != "Range" or not inputs[0].dtype.is_integer:
        return None
    if inputs[0].spec.is_static:
        return None
    made = rewriter.new.add_node(
        range_shape_op,
        made_by.inputs,
        node.attrs,
        (node.outputs[0].spec,),
        node.name,
        made_by.location,
        node.device,
    )
    return made.outputs[0]


_RULES: dict[str, Rule] = {
    "Identity": _identity,
    "Reshape": _unchanged,
    "BroadcastTo": _unchanged,
    "SumToShape": _unchanged,
    "Cast": _unchanged,
    "EnsureShape": _unchanged,
    "AddV2": _add,
    "Sub": _sub,
    "Mul": _mul,
    "RealDiv": _div,
    "Pow": _pow,
    "Neg": _neg,
    "Transpose": _transpose,
    "Shape": _shape,
}
