"""Weighted sums of neighbours along an axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from weft._src.core import dtypes
from weft._src.execution.native.front.lowering.rules import (
    cast_to,
    in_range,
    lowers,
    number,
    reduced,
    reshaped,
    static_shape,
)
from weft._src.execution.native.loops.values import ElementSource, Index, Indexed, Value
from weft._src.execution.native.machine.builder import Scalar
from weft._src.graph.ir import Node

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering

_WRITTEN_OUT = 8  # terms that are added without a loop


@lowers("resample")
def _resample(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    """With what comes before and behind the axis as one axis each: long inner loops."""
    x, starts, weights = inputs[:3]
    shape = static_shape(node)
    axis = node.attrs["axis"] % len(shape)
    before, size, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    x = cast_to(reshaped(x, (math.prod(before), size, math.prod(after))), dtypes.float32)
    rows, width = weights.shape
    starts = lowering.kept(cast_to(starts, dtypes.int64))
    lowering.check(node, in_range(starts, number(starts, 0), number(starts, size - width + 1)))

    def term(source: ElementSource, index: Index, place: Scalar) -> tuple[Scalar, Scalar]:
        lead, row, inner = index
        column = source.b.add(source.at(starts, (row,)), place)
        return source.at(x, (lead, column, inner)), source.at(weights, (row, place))

    def total(source: ElementSource, index: Index) -> Scalar:
        b = source.b
        out = b.mul(*term(source, index, b.index(0)))
        for place in range(1, width):
            out = b.fma(*term(source, index, b.index(place)), out)
        return out

    operands = (x, starts, weights)
    whole = (math.prod(before), rows, math.prod(after))
    if width <= _WRITTEN_OUT:
        out: Value = Indexed(x.dtype, whole, node.name, "resample", operands, total)
    else:
        terms = Indexed(
            x.dtype,
            (*whole, width),
            f"{node.name}/terms",
            "resample",
            operands,
            lambda source, index: source.b.mul(*term(source, index[:3], index[3])),
        )
        out = reduced(terms, (3,), "add", node.name)
    return reshaped(out, shape, node.name)
