"""Weighted sums of neighbours along an axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

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
from weft._src.execution.native.loops.values import (
    ElementSource,
    Index,
    Indexed,
    NotCompilableError,
    Value,
)
from weft._src.execution.native.machine.builder import Scalar
from weft._src.graph.ir import Node
from weft._src.ops.image import kernels

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering

_WRITTEN_OUT = 8  # terms that are added without a loop


@lowers("resize_axis")
def _resize_axis(
    lowering: Lowering, node: Node, inputs: list[Value], *, back: bool = False
) -> Value:
    """The band is known with the sizes, and brought along."""
    x, shape = inputs[0], static_shape(node)
    form = dict(node.attrs)
    axis = form.pop("axis") % len(shape)
    if not x.size or not math.prod(shape):
        raise NotCompilableError("resizing nothing stays with NumPy")
    if back:
        bands = kernels.resizing(size=shape[axis], wanted=x.shape[axis], **form)[2:]
    else:
        bands = kernels.resizing(size=x.shape[axis], wanted=shape[axis], **form)[:2]
    starts = lowering.constant(f"{node.name}/starts", bands[0].astype(np.int64))
    weights = lowering.constant(f"{node.name}/weights", bands[1])
    return _banded_sum(node, x, starts, weights, axis)


@lowers("resample")
def _resample(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x, starts, weights = inputs[:3]
    axis = node.attrs["axis"] % len(x.shape)
    starts = lowering.kept(cast_to(starts, dtypes.int64))
    room = number(starts, x.shape[axis] - weights.shape[1] + 1)
    lowering.check(node, in_range(starts, number(starts, 0), room))
    return _banded_sum(node, x, starts, weights, axis)


def _banded_sum(node: Node, x: Value, starts: Value, weights: Value, axis: int) -> Value:
    """With what comes before and behind the axis as one axis each: long inner loops."""
    before, size, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    x = cast_to(reshaped(x, (math.prod(before), size, math.prod(after))), dtypes.float32)
    rows, width = weights.shape

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
    return reshaped(out, (*before, rows, *after), node.name)
