"""Windows over images, and convolutions by matrix products of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weft._src.execution.native.front.lowering import direct
from weft._src.execution.native.front.lowering.making import ValueMaker
from weft._src.execution.native.front.lowering.movement import transposed, window, with_border
from weft._src.execution.native.front.lowering.products import product
from weft._src.execution.native.front.lowering.rules import (
    cast_to,
    in_memory,
    lowers,
    number,
    reshaped,
    static_shape,
    widened,
)
from weft._src.execution.native.loops.values import (
    Assembled,
    ElementSource,
    Index,
    Indexed,
    NotCompilableError,
    Part,
    Value,
)
from weft._src.graph.ir import Node
from weft._src.ops.nn.windows import Geometry

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering


_MANY_CHANNELS, _FAR = 128, 2048  # channels, and bytes from pixel to pixel


def channels_last(x: Value, first: bool) -> Value:
    """The value with its channel axis at the end."""
    rank = len(x.shape)
    return transposed(x, (0, *range(2, rank), 1)) if first else x


def finished(node: Node, x: Value) -> Value:
    """In the dtype of the node, with the channels where its format has them."""
    rank = len(x.shape)
    if node.attrs["channels_first"]:
        x = transposed(x, (0, rank - 1, *range(1, rank - 1)))
    return reshaped(cast_to(x, node.outputs[0].dtype), static_shape(node), node.name)


def geometry_of(node: Node, sizes: Sequence[int], of: Sequence[int]) -> Geometry:
    """Where the windows of a node are."""
    ones = (1,) * len(of)
    return Geometry.of(
        node.op.name,
        tuple(sizes),
        tuple(of),
        node.attrs["strides"],
        node.attrs.get("dilations", ones),
        node.attrs["padding"],
    )


def image_index(b: Any, where: Geometry, index: Index) -> Index:
    """The place in the padded image of an element of (batch, *outputs, *window, channels)."""
    n = len(where.window)
    batch, at, inside, channel = index[0], index[1 : n + 1], index[n + 1 : -1], index[-1]
    spatial = [
        b.add(b.mul(o, b.index(s)), b.mul(k, b.index(d)))
        for o, k, s, d in zip(at, inside, where.strides, where.dilations, strict=True)
    ]
    return (batch, *spatial, channel)


def columns_of(x: Value, where: Geometry) -> Value:
    """All windows of a padded image: (batch, *outputs, *window, channels)."""

    def formula(source: ElementSource, index: Index) -> Any:
        return source.at(x, image_index(source.b, where, index))

    shape = (x.shape[0], *where.outputs, *where.window, x.shape[-1])
    return Indexed(x.dtype, shape, "windows", "slice", (x,), formula)


def added_up(columns: Value, where: Geometry, shape: Sequence[int], label: str) -> Value:
    """Every element of every window added to its place in the image, whose border is dropped."""
    part = Part(
        columns,
        lambda source, index: image_index(source.b, where, index),
        (columns,),
        "add",
    )
    bordered = where.padded_shape(shape)
    whole = Assembled(columns.dtype, bordered, label, [part], number(columns, 0))
    return inside(whole, where, shape, label)


def inside(image: Value, where: Geometry, shape: Sequence[int], label: str) -> Value:
    """A bordered image without its border."""
    begin = [0, *[b for b, _ in where.paddings], 0]
    return window(image, begin, tuple(shape), label)


# --- convolutions -------------------------------------------------------------------------------


def _groups(node: Node, channels: int, filters: Sequence[int]) -> int:
    """How many groups of channels are convolved apart: usually one."""
    if not node.outputs[0].dtype.is_floating:
        raise NotCompilableError("a convolution of integers stays with NumPy")
    return channels // filters[-2] if channels else 1


def _rows(columns: Value, n: int, groups: int) -> Value:
    """All windows as (groups, places, window * channels per group)."""
    places, k = math.prod(columns.shape[: n + 1]), math.prod(columns.shape[n + 1 : -1])
    channels = columns.shape[-1]
    if groups == 1:
        return reshaped(columns, (1, places, k * channels))
    parts = reshaped(columns, (places, k, groups, channels // groups))
    return reshaped(
        transposed(parts, (2, 0, 1, 3)), (groups, places, k * (channels // groups)), "groups"
    )


def _split(x: Value, groups: int) -> Value:
    """(..., channels) as (groups, the rest, channels per group)."""
    rows = math.prod(x.shape[:-1])
    if groups == 1:
        return reshaped(x, (1, rows, x.shape[-1]))
    flat = reshaped(x, (rows, groups, x.shape[-1] // groups))
    return transposed(flat, (1, 0, 2), "groups")


def _joined(x: Value) -> Value:
    """(groups, rows, channels per group) as (rows, channels)."""
    groups, rows, channels = x.shape
    x = x if groups == 1 else transposed(x, (1, 0, 2))
    return reshaped(x, (rows, groups * channels), "groups")


@lowers("convolution")
def _convolution(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x = channels_last(widened(inputs[0]), node.attrs["channels_first"])
    filters = widened(inputs[1])
    groups = _groups(node, x.shape[-1], filters.shape)
    where = geometry_of(node, x.shape[1:-1], filters.shape[:-2])
    outputs = filters.shape[-1]
    if groups == 1 and direct.suits(where, x.dtype, x.shape[0], x.shape[-1], outputs):
        maker = ValueMaker(lowering, node.name, x)
        return finished(node, direct.convolved(maker, x, filters, where))
    rows = _rows(columns_of(with_border(x, where, 0), where), len(where.window), groups)
    out = _joined(product(lowering, node.name, rows, _split(filters, groups)))
    return finished(node, reshaped(out, (x.shape[0], *where.outputs, outputs)))


def _suits_matrices(where: Geometry, x: Value, g: Value) -> bool:
    """Whether the gradient of filters is to be a plain product of all pixels.

    Windows are single pixels, and pixels lie so far apart (powers of two) that caches hold a few
    only, unless they are copied.
    """
    ones = (1,) * len(where.window)
    if where.window != ones or where.strides != ones or tuple(where.outputs) != x.shape[1:-1]:
        return False
    sizes = (x.shape[-1], g.shape[-1])
    return min(sizes) >= _MANY_CHANNELS and any(n * x.dtype.size % _FAR == 0 for n in sizes)


@lowers("convolution_filter_gradient")
def _filter_gradient(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    first = node.attrs["channels_first"]
    x, g = [channels_last(widened(v), first) for v in (inputs[0], inputs[2])]
    wanted = static_shape(node)
    groups = _groups(node, x.shape[-1], wanted)
    where = geometry_of(node, x.shape[1:-1], wanted[:-2])
    if groups == 1 and _suits_matrices(where, x, g):
        a, b = [in_memory(v, (v.size // v.shape[-1], v.shape[-1])) for v in (x, g)]
        out = product(lowering, node.name, a, b, ta=True)
        return reshaped(cast_to(out, node.outputs[0].dtype), wanted, node.name)
    image = with_border(x, where, 0)
    if groups == 1 and direct.suits_filters(where, x.dtype, x.shape[0], x.shape[-1], g.shape[-1]):
        maker = ValueMaker(lowering, node.name, x)
        found = direct.filter_gradient(maker, image, g, where)
        return cast_to(found, node.outputs[0].dtype)
    rows = _rows(columns_of(image, where), len(where.window), groups)
    out = _joined(product(lowering, node.name, rows, _split(g, groups), ta=True))
    return reshaped(cast_to(out, node.outputs[0].dtype), wanted, node.name)


@lowers("convolution_input_gradient")
def _input_gradient(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    first = node.attrs["channels_first"]
    filters, g = widened(inputs[1]), channels_last(widened(inputs[2]), first)
    shape = static_shape(node)
    shape = (shape[0], *shape[2:], shape[1]) if first else shape
    groups = _groups(node, shape[-1], filters.shape)
    where = geometry_of(node, shape[1:-1], filters.shape[:-2])
    if groups == 1 and direct.suits(where, g.dtype, g.shape[0], g.shape[-1], shape[-1]):
        maker = ValueMaker(lowering, node.name, g)
        found = direct.input_gradient(maker, g, filters, where)
        if found is not None:
            return finished(node, found)
    flat = product(lowering, node.name, _split(g, groups), _split(filters, groups), tb=True)
    if groups > 1:
        k, places = math.prod(where.window), flat.shape[1]
        flat = transposed(reshaped(flat, (groups, places, k, filters.shape[-2])), (1, 2, 0, 3))
    columns = reshaped(flat, (shape[0], *where.outputs, *where.window, shape[-1]))
    return finished(node, added_up(columns, where, shape, node.name))
