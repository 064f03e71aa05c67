"""Ops that move elements: views, slices, joins, gathers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._src.core import dtypes
from weft._src.execution.native.front.lowering.rules import (
    apply,
    broadcast,
    cast_to,
    in_range,
    known,
    lowers,
    normalized_axes,
    number,
    reshaped,
    static_shape,
)
from weft._src.execution.native.loops.values import (
    Assembled,
    ElementSource,
    Index,
    Indexed,
    NotCompilableError,
    Part,
    Shape,
    Uniform,
    Value,
)
from weft._src.execution.native.machine.builder import Scalar
from weft._src.graph.ir import Node
from weft._src.ops.indexing.slicing import NEW_AXIS, expanded
from weft._src.ops.nn.windows import Geometry

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering


@lowers("reshape")
def _reshape(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    return reshaped(inputs[0], static_shape(node), node.name)


def transposed(x: Value, perm: tuple[int, ...], label: str = "transpose") -> Value:
    """The value with its axes in another order."""
    if perm == tuple(range(len(perm))):
        return x

    def formula(source: ElementSource, index: Index) -> Scalar:
        back: list[Any] = [None] * len(perm)
        for to, axis in enumerate(perm):
            back[axis] = index[to]
        return source.at(x, back)

    shape = tuple([x.shape[axis] for axis in perm])
    return Indexed(x.dtype, shape, label, "transpose", (x,), formula)


@lowers("transpose")
def _transpose(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    rank = len(inputs[0].shape)
    perm = node.attrs["perm"]
    perm = tuple(reversed(range(rank))) if perm is None else tuple([p % rank for p in perm])
    return transposed(inputs[0], perm, node.name)


@lowers("reverse")
def _reverse(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    (x,) = inputs
    axes = normalized_axes(node.attrs["axis"], len(x.shape)) if node.attrs["axis"] != () else ()

    def formula(source: ElementSource, index: Index) -> Scalar:
        b = source.b
        return source.at(
            x,
            [b.sub(b.index(x.shape[i] - 1), at) if i in axes else at for i, at in enumerate(index)],
        )

    return Indexed(x.dtype, x.shape, node.name, "reverse", (x,), formula)


# --- slices ---------------------------------------------------------------------------------


def _picked(lowering: Lowering, node: Node, x_shape: Any, index: Any, dynamic: list[Value]) -> Any:
    """For each axis of x: (start value or int, step) and whether the axis stays, checked."""
    out: list[Any] = []
    axis = 0
    for entry in expanded(index, len(x_shape)):
        if entry == NEW_AXIS:
            out.append(None)
            continue
        size = x_shape[axis]
        if isinstance(entry, tuple) and entry[0] != "input":
            if any(isinstance(part, tuple) for part in entry):
                raise NotCompilableError(f"{node.name}: a slice with bounds known only at run time")
            start, _, step = slice(*entry).indices(size)
            out.append((start, step, True))
        elif isinstance(entry, tuple):
            position = cast_to(dynamic[entry[1]], dtypes.int64)
            low, high = number(position, -size), number(position, size)
            lowering.check(node, in_range(position, low, high))
            wrapped = apply(
                "select",
                apply("less", position, number(position, 0)),
                apply("add", position, number(position, size)),
                position,
            )
            out.append((lowering.kept(wrapped), 1, False))
        else:
            out.append((entry % size, 1, False))
        axis += 1
    return out


def _source_index(source: ElementSource, picked: Any, index: Index) -> Index:
    """The index in x of an element of x[...]."""
    b = source.b
    at: list[Scalar] = []
    position = 0
    for entry in picked:
        if entry is None:
            position += 1
            continue
        start, step, stays = entry
        first = source.at(start, ()) if isinstance(start, Value) else b.index(start)
        if stays:
            moved = b.mul(index[position], b.index(step))
            first = b.add(first, moved)
            position += 1
        at.append(first)
    return tuple(at)


def _dynamic_of(picked: Any) -> list[Value]:
    return [e[0] for e in picked if e is not None and isinstance(e[0], Value)]


@lowers("strided_slice")
def _strided_slice(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x, *dynamic = inputs
    shape = static_shape(node)
    picked = _picked(lowering, node, x.shape, node.attrs["index"], dynamic)

    def formula(source: ElementSource, index: Index) -> Scalar:
        return source.at(x, _source_index(source, picked, index))

    return Indexed(x.dtype, shape, node.name, "slice", (x, *_dynamic_of(picked)), formula)


@lowers("strided_slice_grad")
def _strided_slice_grad(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    _, g, *dynamic = inputs
    shape = static_shape(node)
    picked = _picked(lowering, node, shape, node.attrs["index"], dynamic)
    part = Part(g, lambda source, index: _source_index(source, picked, index), _dynamic_of(picked))
    return Assembled(g.dtype, shape, node.name, [part], Uniform(g.dtype, (), "0", 0))


@lowers("slice")
def _slice(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x, begin, _ = inputs
    shape = static_shape(node)
    if node.inputs[1].node.is_const:
        return window(x, known(node.inputs[1]).tolist(), shape, node.name)
    begin = lowering.kept(cast_to(begin, dtypes.int64))
    room = np.subtract(x.shape, shape) + 1
    low, high = number(begin, 0), lowering.constant("room", room.astype(np.int64))
    lowering.check(node, in_range(begin, low, high))

    def formula(source: ElementSource, index: Index) -> Scalar:
        b = source.b
        first = [b.inside(source.at(begin, (b.index(i),)), int(n)) for i, n in enumerate(room)]
        return source.at(x, [b.add(at, n) for at, n in zip(index, first, strict=True)])

    return Indexed(x.dtype, shape, node.name, "slice", (x, begin), formula)


def window(x: Value, begin: list[int], shape: tuple[int, ...], label: str) -> Value:
    """A part of a value, from a place on."""

    def formula(source: ElementSource, index: Index) -> Scalar:
        b = source.b
        return source.at(x, [b.add(at, b.index(n)) for at, n in zip(index, begin, strict=True)])

    return Indexed(x.dtype, shape, label, "slice", (x,), formula)


@lowers("split")
def _split(
    lowering: Lowering, node: Node, inputs: list[Value], *, drops_axis: bool = False
) -> list[Value]:
    x = inputs[0]
    axis = node.attrs["axis"] % len(x.shape)
    out: list[Value] = []
    begin = 0
    for i in range(len(node.outputs)):
        shape = static_shape(node, i)
        n = 1 if drops_axis else shape[axis]
        whole = (*x.shape[:axis], n, *x.shape[axis + 1 :])
        starts = [begin if a == axis else 0 for a in range(len(x.shape))]
        out.append(reshaped(window(x, starts, whole, node.name), shape))
        begin += n
    return out


# --- joins ----------------------------------------------------------------------------------


def _shifted(axis: int, by: int) -> Any:
    def place(source: ElementSource, index: Index) -> Index:
        b = source.b
        return tuple([b.add(at, b.index(by)) if i == axis else at for i, at in enumerate(index)])

    return place


def joined(values: list[Value], axis: int, label: str) -> Value:
    """Values one behind the other along an axis."""
    parts, at = [], 0
    for v in values:
        parts.append(Part(v, _shifted(axis, at)))
        at += v.shape[axis]
    first = values[0]
    shape = (*first.shape[:axis], at, *first.shape[axis + 1 :])
    return Assembled(first.dtype, shape, label, parts, None)


@lowers("concat")
def _concat(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    axis = node.attrs["axis"] % len(static_shape(node))
    return joined(inputs, axis, node.name)


@lowers("stack")
def _pack(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    shape = static_shape(node)
    axis = node.attrs["axis"] % len(shape)
    one = (*shape[:axis], 1, *shape[axis + 1 :])
    return joined([reshaped(v, one) for v in inputs], axis, node.name)


@lowers("pad")
def _pad(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x = inputs[0]
    before = [int(lo) for lo, _ in known(node.inputs[1]).tolist()]
    fill = inputs[2] if len(inputs) > 2 else number(x, 0)
    return padded(x, before, static_shape(node), fill, node.name)


def padded(x: Value, before: Sequence[int], shape: Shape, fill: Value, label: str) -> Value:
    """The value somewhere in a larger one."""

    def place(source: ElementSource, index: Index) -> Index:
        b = source.b
        return tuple([b.add(at, b.index(n)) for at, n in zip(index, before, strict=True)])

    return Assembled(x.dtype, shape, label, [Part(x, place)], fill)


def with_border(x: Value, where: Geometry, fill: Any) -> Value:
    """An image with the border of windows over it."""
    if not any(map(any, where.paddings)):
        return x
    before = [0, *[b for b, _ in where.paddings], 0]
    return padded(x, before, where.padded_shape(x.shape), number(x, fill), "padded")


@lowers("tile")
def _tile(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x = inputs[0]
    shape = static_shape(node)
    if x.size == 0 or 0 in shape:
        return Uniform(x.dtype, shape, node.name, 0)
    # One more axis per repeated axis, which broadcasts.
    inner: list[int] = []
    wide: list[int] = []
    for n, m in zip(x.shape, shape, strict=True):
        if m != n:
            inner.append(1)
            wide.append(m // n)
        inner.append(n)
        wide.append(n)
    return reshaped(broadcast(reshaped(x, tuple(inner)), tuple(wide)), shape, node.name)


@lowers("roll")
def _roll(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    out, by = inputs
    if not node.inputs[1].node.is_const:
        return _rolled_by(lowering, node, out, by)
    shifts = known(node.inputs[1]).reshape(-1).tolist()
    for axis, shift in zip(node.attrs["axis"], shifts, strict=True):
        axis %= len(out.shape)
        n = out.shape[axis]
        shift %= n or 1
        if shift:
            out = _rolled(out, axis, shift, node.name)
    return out


def _rolled(x: Value, axis: int, shift: int, label: str) -> Value:
    n = x.shape[axis]
    lead = [0] * len(x.shape)
    tail = [n - shift if a == axis else 0 for a in range(len(x.shape))]
    first = (*x.shape[:axis], shift, *x.shape[axis + 1 :])
    rest = (*x.shape[:axis], n - shift, *x.shape[axis + 1 :])
    return joined([window(x, tail, first, label), window(x, lead, rest, label)], axis, label)


def _rolled_by(lowering: Lowering, node: Node, x: Value, by: Value) -> Value:
    """Rolled by numbers of steps that are only known at run time."""
    axes = [axis % len(x.shape) for axis in node.attrs["axis"]]
    sizes = lowering.constant("sizes", np.array([x.shape[a] or 1 for a in axes], np.int64))
    steps = lowering.kept(apply("floor_mod", cast_to(by, dtypes.int64), sizes))

    def formula(source: ElementSource, index: Index) -> Scalar:
        b = source.b
        at = list(index)
        for i, axis in enumerate(axes):
            by = b.inside(source.at(steps, (b.index(i),)), x.shape[axis])
            moved = b.sub(at[axis], by)
            wrapped = b.add(moved, b.index(x.shape[axis]))
            at[axis] = b.select(b.compare("slt", moved, b.index(0)), wrapped, moved)
        return source.at(x, at)

    return Indexed(x.dtype, x.shape, node.name, "slice", (x, steps), formula)


# --- gathers --------------------------------------------------------------------------------


@lowers("gather")
def _gather(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    params, indices = inputs
    axis, batch = gather_axes(node, params.shape, indices.shape)
    return gathered(lowering, node, params, indices, axis, batch)


def gather_axes(node: Node, params: Shape, indices: Shape) -> tuple[int, int]:
    """The axis of a gather and its number of batch axes, both non-negative."""
    axis, batch = node.attrs["axis"], node.attrs["batch_dims"]
    batch += len(indices) if batch < 0 else 0
    return (batch if axis is None else axis % len(params)), batch


def gathered(
    lowering: Lowering, node: Node, params: Value, indices: Value, axis: int, batch: int = 0
) -> Value:
    """Rows of a value, their numbers checked; the first axes may be batches of both."""
    shape = static_shape(node)
    rows = cast_to(indices, dtypes.int64)
    lowering.check(node, in_range(rows, number(rows, 0), number(rows, params.shape[axis])))
    end = axis + len(indices.shape) - batch

    def formula(source: ElementSource, index: Index) -> Scalar:
        row = source.at(rows, (*index[:batch], *index[axis:end]))
        return source.at(params, (*index[:axis], row, *index[end:]))

    return Indexed(params.dtype, shape, node.name, "gather", (params, rows), formula)


@lowers("one_hot")
def _one_hot(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    indices, _, on, off = inputs
    shape = static_shape(node)
    axis = node.attrs["axis"]
    axis = len(shape) - 1 if axis == -1 else axis
    rows = cast_to(indices, dtypes.int64)

    def formula(source: ElementSource, index: Index) -> Scalar:
        row = source.at(rows, (*index[:axis], *index[axis + 1 :]))
        hit = source.b.compare("eq", row, index[axis])
        return source.b.select(hit, source.at(on, ()), source.at(off, ()))

    return Indexed(on.dtype, shape, node.name, "one_hot", (rows, on, off), formula)
