"""Writing to places that data tells: gradients of gathers, scatters, updates of variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weft._src.core import dtypes
from weft._src.execution.native.front.lowering.movement import gather_axes
from weft._src.execution.native.front.lowering.rules import (
    apply,
    broadcast,
    cast_to,
    in_range,
    lowers,
    number,
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
    Value,
)
from weft._src.execution.native.machine.builder import Scalar
from weft._src.graph.ir import Node

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering


def _whole(x: Value) -> Part:
    """What is there before the updates."""
    return Part(x, lambda source, index: index, is_whole=True)


def _check_range(lowering: Lowering, node: Node, rows: Value, sizes: Value) -> None:
    """Indices must be in [0, size)."""
    lowering.check(node, in_range(rows, number(rows, 0), sizes))


@lowers("gather_grad")
def _gather_grad(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    _, g, indices = inputs
    shape = static_shape(node)
    axis, batch = gather_axes(node, shape, indices.shape)
    rows = cast_to(indices, dtypes.int64)
    _check_range(lowering, node, rows, number(rows, shape[axis]))
    parts = [_rows(g, rows, axis, "add", batch)]
    return Assembled(g.dtype, shape, node.name, parts, number(g, 0))


def _rows(g: Value, rows: Value, axis: int, combination: str | None, batch: int = 0) -> Part:
    end = axis + len(rows.shape) - batch

    def place(source: ElementSource, index: Index) -> Index:
        row = source.at(rows, (*index[:batch], *index[axis:end]))
        return (*index[:axis], row, *index[end:])

    return Part(g, place, (rows,), combination)


def _slices(updates: Value, indices: Value, combination: str | None, batch: int = 0) -> Part:
    """Where vectors along the last axis of the indices say."""

    def place(source: ElementSource, index: Index) -> Index:
        return _vector_index(source, indices, index, batch)

    return Part(updates, place, (indices,), combination)


def _vector_index(source: ElementSource, indices: Value, index: Index, batch: int) -> Index:
    """The place that the indices name, for an element of what they pick."""
    rank, depth = len(indices.shape) - 1, indices.shape[-1]
    vector = [source.at(indices, (*index[:rank], source.b.index(i))) for i in range(depth)]
    return (*index[:batch], *vector, *index[rank:])


def _check_vectors(
    lowering: Lowering, node: Node, indices: Value, shape: Shape, batch: int = 0
) -> None:
    if not indices.size:
        return
    sizes = np.array(shape[batch : batch + indices.shape[-1]], np.int64)
    _check_range(lowering, node, indices, lowering.constant("sizes", sizes))


@lowers("tensor_scatter")
def _tensor_scatter(
    lowering: Lowering, node: Node, inputs: list[Value], *, combination: str | None
) -> Value:
    x, indices, updates = inputs
    rows = cast_to(indices, dtypes.int64)
    if not rows.shape[-1]:
        raise NotCompilableError("a scatter with empty indices stays with NumPy")
    _check_vectors(lowering, node, rows, x.shape)
    if combination == "subtract":
        updates, combination = apply("negative", updates), "add"
    parts = [_whole(x), _slices(updates, rows, combination)]
    return Assembled(x.dtype, x.shape, node.name, parts, None)


@lowers("scatter_nd")
def _scatter_nd(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    indices, updates, _ = inputs
    rows = cast_to(indices, dtypes.int64)
    batch = node.attrs["batch_dims"]
    if not rows.shape[-1] and not batch:
        raise NotCompilableError("a scatter with empty indices stays with NumPy")
    shape = static_shape(node)
    _check_vectors(lowering, node, rows, shape, batch)
    parts = [_slices(updates, rows, "add", batch)]
    return Assembled(updates.dtype, shape, node.name, parts, number(updates, 0))


@lowers("scatter_variable")
def _resource_scatter(
    lowering: Lowering, node: Node, inputs: list[Any], *, combination: str | None
) -> None:
    cell, indices, updates = inputs
    rows = cast_to(indices, dtypes.int64)
    old = lowering.read(cell)
    _check_range(lowering, node, rows, number(rows, old.shape[0]))
    if combination == "subtract":
        updates, combination = apply("negative", updates), "add"
    wanted = (*rows.shape, *old.shape[1:])
    if updates.shape not in ((), wanted):
        raise NotCompilableError(f"{node.name} fails for these shapes", fails=True)
    if updates.shape != wanted:
        updates = broadcast(updates, wanted)  # one update for all places
    parts = [_whole(old), _rows(updates, rows, 0, combination)]
    lowering.assign(cell, Assembled(old.dtype, old.shape, node.name, parts, None))


@lowers("take_along")
def _take_along(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x, indices = inputs
    shape = static_shape(node)
    axis = node.attrs["axis"] % len(x.shape)
    rows = cast_to(indices, dtypes.int64)
    _check_range(lowering, node, rows, number(rows, x.shape[axis]))

    def formula(source: ElementSource, index: Index) -> Scalar:
        row = source.at(rows, _clipped(source, rows, index))
        where = (*index[:axis], row, *index[axis + 1 :])
        return source.at(x, _clipped(source, x, where))

    return Indexed(x.dtype, shape, node.name, "gather", (x, rows), formula)


def _clipped(source: ElementSource, x: Value, index: Index) -> Index:
    """Axes of size one broadcast."""
    zero = source.b.index(0)
    return tuple([zero if n == 1 else i for n, i in zip(x.shape, index, strict=True)])


@lowers("put_along")
def _put_along(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    _, g, indices = inputs
    shape = static_shape(node)
    axis = node.attrs["axis"] % len(shape)
    rows = cast_to(indices, dtypes.int64)
    _check_range(lowering, node, rows, number(rows, shape[axis]))

    def place(source: ElementSource, index: Index) -> Index:
        return (*index[:axis], source.at(rows, index), *index[axis + 1 :])

    parts = [Part(g, place, (rows,))]
    return Assembled(g.dtype, shape, node.name, parts, number(g, 0))


@lowers("gather_nd")
def _gather_nd(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x, indices = inputs
    rows = cast_to(indices, dtypes.int64)
    batch = node.attrs["batch_dims"]
    _check_vectors(lowering, node, rows, x.shape, batch)

    def formula(source: ElementSource, index: Index) -> Scalar:
        return source.at(x, _vector_index(source, rows, index, batch))

    return Indexed(x.dtype, static_shape(node), node.name, "gather", (x, rows), formula)
