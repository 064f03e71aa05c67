"""Convolutions by matrix products of their windows, and pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.execution.native.lowering.movement import transposed, window
from weft.execution.native.lowering.products import product
from weft.execution.native.lowering.rules import (
    apply,
    cast_to,
    identity_of,
    lowers,
    number,
    reduced,
    reshaped,
    static_shape,
    widened,
)
from weft.execution.native.values import Assembled, Index, Indexed, NotCompilableError, Part, Value
from weft.graph.ir import Node
from weft.ops.nn.windows import Geometry


def _channels_last(x: Value, first: bool) -> Value:
    rank = len(x.shape)
    return transposed(x, (0, *range(2, rank), 1)) if first else x


def _finished(node: Node, x: Value) -> Value:
    """In the dtype of the node, with the channels where its format has them."""
    rank = len(x.shape)
    if node.attrs["channels_first"]:
        x = transposed(x, (0, rank - 1, *range(1, rank - 1)))
    return reshaped(cast_to(x, node.outputs[0].dtype), static_shape(node), node.name)


def _geometry(node: Node, sizes: Sequence[int], of: Sequence[int]) -> Geometry:
    ones = (1,) * len(of)
    return Geometry.of(
        node.op.name,
        tuple(sizes),
        tuple(of),
        node.attrs["strides"],
        node.attrs.get("dilations", ones),
        node.attrs["padding"],
    )


def _padded(x: Value, where: Geometry, fill: Any) -> Value:
    if not any(map(any, where.paddings)):
        return x
    before = [0, *[b for b, _ in where.paddings], 0]

    def place(source: Any, index: Index) -> Index:
        b = source.b
        return tuple([b.add(at, b.index(n)) for at, n in zip(index, before, strict=True)])

    shape = where.padded_shape(x.shape)
    return Assembled(x.dtype, shape, "padded", [Part(x, place)], number(x, fill))


def _image_index(b: Any, where: Geometry, index: Index) -> Index:
    """The place in the padded image of an element of (batch, *outputs, *window, channels)."""
    n = len(where.window)
    batch, at, inside, channel = index[0], index[1 : n + 1], index[n + 1 : -1], index[-1]
    spatial = [
        b.add(b.mul(o, b.index(s)), b.mul(k, b.index(d)))
        for o, k, s, d in zip(at, inside, where.strides, where.dilations, strict=True)
    ]
    return (batch, *spatial, channel)


def _columns(x: Value, where: Geometry) -> Value:
    """All windows of a padded image: (batch, *outputs, *window, channels)."""

    def formula(source: Any, index: Index) -> Any:
        return source.at(x, _image_index(source.b, where, index))

    shape = (x.shape[0], *where.outputs, *where.window, x.shape[-1])
    return Indexed(x.dtype, shape, "windows", "slice", (x,), formula)


def _added_up(columns: Value, where: Geometry, shape: Sequence[int], label: str) -> Value:
    """Every element of every window added to its place in the image, whose border is dropped."""
    part = Part(
        columns,
        lambda source, index: _image_index(source.b, where, index),
        (columns,),
        "add",
    )
    padded = where.padded_shape(shape)
    whole = Assembled(columns.dtype, padded, label, [part], number(columns, 0))
    begin = [0, *[b for b, _ in where.paddings], 0]
    return window(whole, begin, tuple(shape), label)


# --- convolutions -------------------------------------------------------------------------------


def _check_plain(node: Node, channels: int, filters: Sequence[int]) -> None:
    if filters[-2] != channels:
        raise NotCompilableError("a convolution in groups stays with NumPy")
    if not node.outputs[0].dtype.is_floating:
        raise NotCompilableError("a convolution of integers stays with NumPy")


@lowers("Conv2D", "Conv3D")
def _convolution(lowering: Any, node: Node, inputs: list[Value]) -> Value:
    x, filters = (
        _channels_last(widened(inputs[0]), node.attrs["channels_first"]),
        widened(inputs[1]),
    )
    _check_plain(node, x.shape[-1], filters.shape)
    where = _geometry(node, x.shape[1:-1], filters.shape[:-2])
    outputs = filters.shape[-1]
    depth = math.prod(filters.shape[:-1])
    rows = reshaped(
        _columns(_padded(x, where, 0), where), (x.shape[0] * math.prod(where.outputs), depth)
    )
    out = product(lowering, node.name, rows, reshaped(filters, (depth, outputs)))
    return _finished(node, reshaped(out, (x.shape[0], *where.outputs, outputs)))


@lowers("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
def _filter_gradient(lowering: Any, node: Node, inputs: list[Value]) -> Value:
    first = node.attrs["channels_first"]
    x, g = [_channels_last(widened(v), first) for v in (inputs[0], inputs[2])]
    wanted = static_shape(node)
    _check_plain(node, x.shape[-1], wanted)
    where = _geometry(node, x.shape[1:-1], wanted[:-2])
    depth, places = math.prod(wanted[:-1]), x.shape[0] * math.prod(where.outputs)
    rows = reshaped(_columns(_padded(x, where, 0), where), (places, depth))
    out = product(lowering, node.name, rows, reshaped(g, (places, wanted[-1])), ta=True)
    return reshaped(cast_to(out, node.outputs[0].dtype), wanted, node.name)


@lowers("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def _input_gradient(lowering: Any, node: Node, inputs: list[Value]) -> Value:
    first = node.attrs["channels_first"]
    filters, g = widened(inputs[1]), _channels_last(widened(inputs[2]), first)
    shape = static_shape(node)
    shape = (shape[0], *shape[2:], shape[1]) if first else shape
    _check_plain(node, shape[-1], filters.shape)
    where = _geometry(node, shape[1:-1], filters.shape[:-2])
    depth, places = math.prod(filters.shape[:-1]), shape[0] * math.prod(where.outputs)
    flat = product(
        lowering,
        node.name,
        reshaped(g, (places, g.shape[-1])),
        reshaped(filters, (depth, g.shape[-1])),
        tb=True,
    )
    columns = reshaped(flat, (shape[0], *where.outputs, *where.window, shape[-1]))
    return _finished(node, _added_up(columns, where, shape, node.name))


# --- pooling ------------------------------------------------------------------------------------


def _over_windows(x: Value, where: Geometry, combination: str, label: str) -> Value:
    n = len(where.window)
    return reduced(_columns(x, where), tuple(range(n + 1, 2 * n + 1)), combination, label)


@lowers("MaxPool", "MaxPool3D")
def _max_pool(lowering: Any, node: Node, inputs: list[Value]) -> Value:
    x = _channels_last(inputs[0], node.attrs["channels_first"])
    where = _geometry(node, x.shape[1:-1], node.attrs["ksize"])
    padded = _padded(x, where, identity_of("maximum", x.dtype))
    return _finished(node, _over_windows(padded, where, "maximum", node.name))


def _counts(lowering: Any, where: Geometry, like: Value) -> Value:
    """How many elements of the image each window holds: the border does not count."""
    ones = np.zeros([b + n + a for n, (b, a) in zip(where.sizes, where.paddings, strict=True)])
    ones[tuple(slice(b, b + n) for n, (b, _) in zip(where.sizes, where.paddings, strict=True))] = 1
    total = sum((ones[at] for _, at in where.positions()), np.zeros(where.outputs))
    counts = np.maximum(total, 1).reshape(1, *where.outputs, 1)
    return lowering.constant("counts", counts.astype(like.dtype.numpy_dtype))


@lowers("AvgPool", "AvgPool3D")
def _avg_pool(lowering: Any, node: Node, inputs: list[Value]) -> Value:
    x = widened(_channels_last(inputs[0], node.attrs["channels_first"]))
    where = _geometry(node, x.shape[1:-1], node.attrs["ksize"])
    total = _over_windows(_padded(x, where, 0), where, "add", node.name)
    return _finished(node, apply("divide", total, _counts(lowering, where, total)))


@lowers("AvgPoolGrad", "AvgPool3DGrad")
def _avg_pool_gradient(lowering: Any, node: Node, inputs: list[Value]) -> Value:
    first = node.attrs["channels_first"]
    g = widened(_channels_last(inputs[1], first))
    shape = static_shape(node)
    shape = (shape[0], *shape[2:], shape[1]) if first else shape
    where = _geometry(node, shape[1:-1], node.attrs["ksize"])
    share = apply("divide", g, _counts(lowering, where, g))
    n = len(where.window)

    def formula(source: Any, index: Index) -> Any:
        return source.at(share, (*index[: n + 1], index[-1]))

    columns = Indexed(
        share.dtype,
        (shape[0], *where.outputs, *where.window, shape[-1]),
        "shares",
        "slice",
        (share,),
        formula,
    )
    return _finished(node, _added_up(columns, where, shape, node.name))
