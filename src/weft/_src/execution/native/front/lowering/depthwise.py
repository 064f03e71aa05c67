"""Convolutions of each channel apart.

They are tiles of vectors (`direct.py`), for which a channel with several filters becomes as many
channels: to write them down takes less than tiles save. Small ones are sums over windows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from weft._src.execution.native.front.lowering import direct
from weft._src.execution.native.front.lowering.making import ValueMaker
from weft._src.execution.native.front.lowering.movement import with_border
from weft._src.execution.native.front.lowering.rules import (
    apply,
    broadcast,
    cast_to,
    lowers,
    number,
    reduced,
    reshaped,
    static_shape,
    widened,
)
from weft._src.execution.native.front.lowering.windows import (
    channels_last,
    columns_of,
    finished,
    geometry_of,
)
from weft._src.execution.native.loops.values import (
    Assembled,
    ElementSource,
    Index,
    Indexed,
    Part,
    Value,
)
from weft._src.graph.ir import Node
from weft._src.ops.nn.windows import Geometry

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering

_WINDOW = (3, 4)  # the axes of the window in (batch, *outputs, *window, ...)


def _with_unit(x: Value) -> Value:
    """One more axis: for the filters of a channel, or for those of all channels."""
    return reshaped(x, (*x.shape, 1))


@lowers("depthwise_convolution")
def _depthwise(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x = channels_last(widened(inputs[0]), node.attrs["channels_first"])
    filters = widened(inputs[1])
    where = geometry_of(node, x.shape[1:-1], filters.shape[:2])
    if _suits_tiles(where, x, filters.shape):
        found = direct.convolved_channels(
            ValueMaker(lowering, node.name, x),
            _repeated(lowering, x, filters.shape[3]),
            _flat(filters),
            where,
        )
        return finished(node, found)
    columns = columns_of(with_border(x, where, 0), where)
    out = reduced(apply("multiply", _with_unit(columns), filters), _WINDOW, "add", node.name)
    channels = math.prod(filters.shape[2:])
    return finished(node, reshaped(out, (x.shape[0], *where.outputs, channels)))


def _suits_tiles(where: Geometry, x: Value, filters: tuple[int, ...]) -> bool:
    """Whether there are enough filters to fill vectors."""
    return direct.suits(where, x.dtype, x.shape[0], 1, math.prod(filters[2:]))


def _flat(filters: Value) -> Value:
    return reshaped(filters, (*filters.shape[:2], math.prod(filters.shape[2:])))


def _repeated(lowering: Lowering, x: Value, times: int) -> Value:
    """Each channel so many times."""
    if times == 1:
        return x
    copies = lowering.kept(broadcast(_with_unit(x), (*x.shape, times)))
    return reshaped(copies, (*x.shape[:-1], x.shape[-1] * times))


def _by_channel(g: Value, filters: tuple[int, ...]) -> Value:
    """(batch, *outputs, channels, filters of each)."""
    return reshaped(g, (*g.shape[:3], *filters[2:]))


@lowers("depthwise_convolution_input_gradient")
def _input_gradient(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    first = node.attrs["channels_first"]
    filters, g = widened(inputs[1]), channels_last(widened(inputs[2]), first)
    shape = static_shape(node)
    shape = (shape[0], *shape[2:], shape[1]) if first else shape
    where = geometry_of(node, shape[1:-1], filters.shape[:2])
    if _suits_tiles(where, g, filters.shape):
        found = direct.channels_input_gradient(
            ValueMaker(lowering, node.name, g), g, _flat(filters), where
        )
        if found is not None:
            by_filter = reshaped(found, (*shape, filters.shape[3]))
            return finished(node, reduced(by_filter, (4,), "add", node.name))
    g = _by_channel(g, filters.shape)
    # What lies `strides` apart in a field of zeros is met by windows that look backwards.
    reach = [(k - 1) * d for k, d in zip(where.window, where.dilations, strict=True)]
    sizes = [
        max(n + before + back, (o - 1) * s + 1 + back)
        for n, (before, _), back, o, s in zip(
            where.sizes, where.paddings, reach, where.outputs, where.strides, strict=True
        )
    ]

    def place(source: ElementSource, index: Index) -> Index:
        b = source.b
        spatial = [
            b.add(b.mul(at, b.index(s)), b.index(back))
            for at, s, back in zip(index[1:3], where.strides, reach, strict=True)
        ]
        return (index[0], *spatial, *index[3:])

    field_shape = (shape[0], *sizes, *filters.shape[2:])
    field = Assembled(g.dtype, field_shape, "field", [Part(g, place)], number(g, 0))

    def formula(source: ElementSource, index: Index) -> Any:
        b = source.b
        spatial = [
            b.sub(b.add(at, b.index(before + back)), b.mul(k, b.index(d)))
            for at, k, (before, _), back, d in zip(
                index[1:3], index[3:5], where.paddings, reach, where.dilations, strict=True
            )
        ]
        return source.at(field, (index[0], *spatial, *index[5:]))

    met = Indexed(
        g.dtype,
        (*shape[:3], *where.window, *filters.shape[2:]),
        "windows",
        "slice",
        (field,),
        formula,
    )
    terms = apply("multiply", met, filters)
    return finished(node, reduced(terms, (*_WINDOW, 6), "add", node.name))


@lowers("depthwise_convolution_filter_gradient")
def _filter_gradient(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    first = node.attrs["channels_first"]
    x, g = [channels_last(widened(v), first) for v in (inputs[0], inputs[2])]
    wanted = static_shape(node)
    where = geometry_of(node, x.shape[1:-1], wanted[:2])
    if _suits_tiles(where, x, wanted):
        repeated = _repeated(lowering, x, wanted[3])
        maker = ValueMaker(lowering, node.name, x)
        total = direct.channels_filter_gradient(maker, repeated, g, where)
        return cast_to(reshaped(total, wanted), node.outputs[0].dtype)
    columns = columns_of(with_border(x, where, 0), where)
    g = _by_channel(g, wanted)
    g = reshaped(g, (*g.shape[:3], 1, 1, *g.shape[3:]))
    total = reduced(apply("multiply", _with_unit(columns), g), (0, 1, 2), "add", node.name)
    return cast_to(total, node.outputs[0].dtype)
