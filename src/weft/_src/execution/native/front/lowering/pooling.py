"""Pooling: the maximum or the mean of every window, and the gradients of both."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._src.core import dtypes
from weft._src.execution.native.front.lowering.movement import with_border
from weft._src.execution.native.front.lowering.rules import (
    apply,
    identity_of,
    lowers,
    number,
    reduced,
    static_shape,
    widened,
)
from weft._src.execution.native.front.lowering.windows import (
    added_up,
    channels_last,
    columns_of,
    finished,
    geometry_of,
    image_index,
    inside,
)
from weft._src.execution.native.loops.values import (
    Assembled,
    ElementSource,
    Index,
    Indexed,
    Part,
    Value,
)
from weft._src.execution.native.machine.builder import Scalar
from weft._src.graph.ir import Node
from weft._src.ops.nn.windows import Geometry

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering


_IN_REGISTERS = {"maximum": "largest", "add": "add"}
_WRITTEN_OUT = 9  # places of a window that are combined without a loop, in registers


def _over_windows(x: Value, where: Geometry, combination: str, label: str) -> Value:
    if math.prod(where.window) > _WRITTEN_OUT:
        return reduced(columns_of(x, where), _window_axes(where), combination, label)
    places = [_place_of_windows(x, where, place) for place in np.ndindex(*where.window)]
    out = places[0]
    for value in places[1:]:
        out = apply(_IN_REGISTERS[combination], out, value, label=label)
    return out


def _place_of_windows(x: Value, where: Geometry, place: tuple[int, ...]) -> Value:
    """The elements at one place of all windows."""

    def formula(source: ElementSource, index: Index) -> Scalar:
        b = source.b
        inner = [b.index(at) for at in place]
        return source.at(x, image_index(b, where, (*index[:-1], *inner, index[-1])))

    shape = (x.shape[0], *where.outputs, x.shape[-1])
    return Indexed(x.dtype, shape, "windows", "slice", (x,), formula)


def _window_axes(where: Geometry) -> tuple[int, ...]:
    n = len(where.window)
    return tuple(range(n + 1, 2 * n + 1))


# --- maximum ------------------------------------------------------------------------------------


@lowers("max_pool")
def _max_pool(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x = channels_last(inputs[0], node.attrs["channels_first"])
    where = geometry_of(node, x.shape[1:-1], node.attrs["ksize"])
    bordered = with_border(x, where, identity_of("maximum", x.dtype))
    return finished(node, _over_windows(bordered, where, "maximum", node.name))


def _winners(bordered: Value, y: Value, where: Geometry, label: str) -> Value:
    """The number of the first place in each window that holds y, or that of no place."""
    n = len(where.window)
    nowhere = math.prod(where.window)

    def formula(source: ElementSource, index: Index) -> Scalar:
        b = source.b
        x = source.at(bordered, image_index(b, where, index))
        top = source.at(y, (*index[: n + 1], index[-1]))
        place = b.index(0)
        for at, size in zip(index[n + 1 : -1], where.window, strict=True):
            place = b.add(b.mul(place, b.index(size)), at)
        hit = b.compare("oeq" if x.is_float else "eq", x, top)
        place = b.number("i32", int(place.text)) if place.level == 0 else b.convert(
            "trunc", place, "i32"
        )  # fmt: skip
        return b.select(hit, place, b.number("i32", nowhere))

    shape = (*y.shape[:-1], *where.window, y.shape[-1])
    places = Indexed(dtypes.int32, shape, label, "slice", (bordered, y), formula)
    return reduced(places, _window_axes(where), "minimum", label)


def _winner_index(source: ElementSource, winners: Value, where: Geometry, index: Index) -> Index:
    """The place in the bordered image of the winner of a window (the last one if there is none)."""
    b = source.b
    last = b.number("i64", math.prod(where.window) - 1)
    rest = b.convert("sext", source.at(winners, index), "i64")
    rest = b.select(b.compare("sgt", rest, last), last, rest)
    inner: list[Scalar] = []
    for size in reversed(where.window):
        inner.insert(0, b.binary("urem", rest, b.index(size)))
        rest = b.binary("udiv", rest, b.index(size))
    return image_index(b, where, (*index[:-1], *inner, index[-1]))


def _contest(node: Node, inputs: list[Value]) -> tuple[Geometry, Value, Value, Value]:
    """The geometry, the winners, which windows have one, and the third input; channels last."""
    x, y, g = [channels_last(v, node.attrs["channels_first"]) for v in inputs]
    where = geometry_of(node, x.shape[1:-1], node.attrs["ksize"])
    bordered = with_border(x, where, identity_of("maximum", x.dtype))
    winners = _winners(bordered, y, where, f"{node.name}/winners")
    has_one = apply("less", winners, number(winners, math.prod(where.window)))
    return where, winners, has_one, g


@lowers("max_pool_grad")
def _max_pool_gradient(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    where, winners, has_one, g = _contest(node, inputs)
    wide = widened(g)
    if where.strides == where.window and not any(map(any, where.paddings)):
        return finished(node, _each_in_one_window(node, where, winners, wide))
    part = Part(
        apply("select", has_one, wide, number(wide, 0)),
        lambda source, index: _winner_index(source, winners, where, index),
        (winners,),
        "add",
    )
    image = channels_last(inputs[0], node.attrs["channels_first"]).shape
    shape = where.padded_shape(image)
    whole = Assembled(wide.dtype, shape, node.name, [part], number(wide, 0))
    return finished(node, inside(whole, where, image, node.name))


def _each_in_one_window(node: Node, where: Geometry, winners: Value, g: Value) -> Value:
    """The gradient of the maximum over windows beside each other: an element asks its window."""
    n = len(where.window)
    image = (winners.shape[0], *where.sizes, winners.shape[-1])

    def formula(source: ElementSource, index: Index) -> Scalar:
        b = source.b
        place = b.index(0)
        at: list[Scalar] = []
        inside: Scalar | None = None
        for i, size, count in zip(index[1 : n + 1], where.window, where.outputs, strict=True):
            number = b.binary("udiv", i, b.index(size))
            place = b.add(b.mul(place, b.index(size)), b.binary("urem", i, b.index(size)))
            if where.sizes[len(at)] > count * size:  # what is left over is in no window
                exists = b.compare("ult", number, b.index(count))
                number = b.select(exists, number, b.index(count - 1))
                inside = exists if inside is None else b.binary("and", inside, exists)
            at.append(number)
        window = (index[0], *at, index[-1])
        won = b.compare("eq", b.convert("sext", source.at(winners, window), "i64"), place)
        won = won if inside is None else b.binary("and", won, inside)
        found = source.at(g, window)
        return b.select(won, found, b.like(found, 0.0))

    return Indexed(g.dtype, image, node.name, "slice", (winners, g), formula)


@lowers("max_pool_grad_grad")
def _max_pool_pick(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    where, winners, has_one, h = _contest(node, inputs)
    bordered = with_border(h, where, 0)

    def formula(source: ElementSource, index: Index) -> Scalar:
        return source.at(bordered, _winner_index(source, winners, where, index))

    operands = (bordered, winners)
    picked = Indexed(h.dtype, winners.shape, node.name, "gather", operands, formula)
    return finished(node, apply("select", has_one, picked, number(picked, 0)))


# --- mean ---------------------------------------------------------------------------------------


def _counts(lowering: Lowering, where: Geometry, like: Value) -> Value:
    """How many elements of the image each window holds: the border does not count."""
    ones = np.zeros([b + n + a for n, (b, a) in zip(where.sizes, where.paddings, strict=True)])
    ones[tuple(slice(b, b + n) for n, (b, _) in zip(where.sizes, where.paddings, strict=True))] = 1
    total = sum((ones[at] for _, at in where.positions()), np.zeros(where.outputs))
    counts = np.maximum(total, 1).reshape(1, *where.outputs, 1)
    return lowering.constant("counts", counts.astype(like.dtype.numpy_dtype))


@lowers("avg_pool")
def _avg_pool(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x = widened(channels_last(inputs[0], node.attrs["channels_first"]))
    where = geometry_of(node, x.shape[1:-1], node.attrs["ksize"])
    total = _over_windows(with_border(x, where, 0), where, "add", node.name)
    return finished(node, apply("divide", total, _counts(lowering, where, total)))


@lowers("avg_pool_grad")
def _avg_pool_gradient(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    first = node.attrs["channels_first"]
    g = widened(channels_last(inputs[1], first))
    shape = static_shape(node)
    shape = (shape[0], *shape[2:], shape[1]) if first else shape
    where = geometry_of(node, shape[1:-1], node.attrs["ksize"])
    share = apply("divide", g, _counts(lowering, where, g))
    n = len(where.window)

    def formula(source: ElementSource, index: Index) -> Any:
        return source.at(share, (*index[: n + 1], index[-1]))

    columns = Indexed(
        share.dtype,
        (shape[0], *where.outputs, *where.window, shape[-1]),
        "shares",
        "slice",
        (share,),
        formula,
    )
    return finished(node, added_up(columns, where, shape, node.name))
