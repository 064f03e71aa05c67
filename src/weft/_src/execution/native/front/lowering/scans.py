"""Cumulative sums, products, and logarithms of sums of exponentials."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from weft._src.execution.native.front.lowering.rules import cast_to, lowers, widened
from weft._src.execution.native.loops.kernels.scans import Cumulative
from weft._src.execution.native.loops.values import Stored, Value
from weft._src.graph.ir import Node

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering


def _sizes(x: Value, axis: int) -> tuple[int, int, int]:
    return math.prod(x.shape[:axis]), x.shape[axis], math.prod(x.shape[axis + 1 :])


@lowers("scan")
def _cumulative(lowering: Lowering, node: Node, inputs: list[Value], *, combination: str) -> Value:
    (x,) = inputs
    if x.size == 0:
        return x
    dtype = x.dtype
    x = widened(x)
    result = Stored(x.dtype, x.shape, node.name)
    kernel = Cumulative(x, result, _sizes(x, node.attrs["axis"] % len(x.shape)))
    kernel.combination = combination
    kernel.exclusive, kernel.reverse = node.attrs["exclusive"], node.attrs["reverse"]
    lowering.add(kernel)
    return cast_to(result, dtype)
