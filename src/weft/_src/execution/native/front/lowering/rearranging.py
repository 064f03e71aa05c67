"""Ops that put all elements in another order: blocks, mirrors, sequences, permutations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from weft._src.core import dtypes
from weft._src.execution.native.front.lowering.movement import padded, transposed, window
from weft._src.execution.native.front.lowering.rules import (
    apply,
    cast_to,
    in_range,
    known,
    lowers,
    normalized_axes,
    number,
    reduced,
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
    Uniform,
    Value,
)
from weft._src.execution.native.machine.builder import Builder, Scalar
from weft._src.graph.ir import Node

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering

# --- blocks of spatial axes ---------------------------------------------------------------------


@lowers("space_to_batch")
def _to_batch(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x = inputs[0]
    sizes, pairs = known(node.inputs[1]).tolist(), known(node.inputs[2]).tolist()
    m = len(sizes)
    spatial = [n + a + b for n, (a, b) in zip(x.shape[1:], pairs, strict=False)]
    rest = x.shape[m + 1 :]
    if any(map(any, pairs)):
        before = [0, *[a for a, _ in pairs], *[0 for _ in rest]]
        x = padded(x, before, (x.shape[0], *spatial, *rest), number(x, 0), node.name)
    split = [k for n, size in zip(spatial, sizes, strict=True) for k in (n // size, size)]
    x = reshaped(x, (x.shape[0], *split, *rest))
    outer, inner = [2 * i + 1 for i in range(m)], [2 * i + 2 for i in range(m)]
    order = (*inner, 0, *outer, *range(2 * m + 1, len(x.shape)))
    return reshaped(transposed(x, order), static_shape(node), node.name)


@lowers("batch_to_space")
def _to_space(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x = inputs[0]
    sizes, pairs = known(node.inputs[1]).tolist(), known(node.inputs[2]).tolist()
    m = len(sizes)
    batch, rest = x.shape[0] // math.prod(sizes), x.shape[m + 1 :]
    spatial = [n * size for n, size in zip(x.shape[1:], sizes, strict=False)]
    x = reshaped(x, (*sizes, batch, *x.shape[1:]))
    order = [k for i in range(m) for k in (m + 1 + i, i)]
    x = transposed(x, (m, *order, *range(2 * m + 1, len(x.shape))))
    x = reshaped(x, (batch, *spatial, *rest), node.name)
    return window(x, [0, *[a for a, _ in pairs], *[0 for _ in rest]], static_shape(node), node.name)


@lowers("depth_blocks")
def _depth(lowering: Lowering, node: Node, inputs: list[Value], *, to_depth: bool = False) -> Value:
    first, b = node.attrs["channels_first"], node.attrs["block_size"]
    x = transposed(inputs[0], (0, 2, 3, 1)) if first else inputs[0]
    n, h, w, c = x.shape
    if to_depth:
        split, out = (n, h // b, b, w // b, b, c), (n, h // b, w // b, b * b * c)
    else:
        split, out = (n, h, w, b, b, c // (b * b)), (n, h * b, w * b, c // (b * b))
    x = reshaped(transposed(reshaped(x, split), (0, 1, 3, 2, 4, 5)), out, node.name)
    return transposed(x, (0, 3, 1, 2), node.name) if first else x


# --- axes ---------------------------------------------------------------------------------------


def _reduced_first(node: Node, rank: int) -> tuple[int, ...]:
    first = normalized_axes(node.attrs["axis"], rank)
    return (*first, *[i for i in range(rank) if i not in first])


@lowers("collapse_axes")
def _collapse(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    order = _reduced_first(node, len(inputs[0].shape))
    return reshaped(transposed(inputs[0], order), static_shape(node), node.name)


@lowers("restore_axes")
def _restore(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    shape = static_shape(node)
    order = _reduced_first(node, len(shape))
    back = tuple(sorted(range(len(order)), key=order.__getitem__))
    return transposed(reshaped(inputs[0], tuple([shape[i] for i in order])), back, node.name)


# --- repetitions and mirrors --------------------------------------------------------------------


@lowers("tile_grad")
def _tile_gradient(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    g = widened(inputs[0])
    shape = static_shape(node)
    if not math.prod(g.shape):
        return Uniform(node.outputs[0].dtype, shape, node.name, 0)
    split: list[int] = []
    repeated: list[int] = []
    for n, m in zip(g.shape, shape, strict=True):
        if n != m:
            repeated.append(len(split))
            split.append(n // m)
        split.append(m)
    total = reduced(reshaped(g, tuple(split)), tuple(repeated), "add", node.name)
    return cast_to(total, node.outputs[0].dtype)


def _mirrored(b: Builder, at: Scalar, size: int, before: int, mode: str) -> Scalar:
    """Where the element comes from that lies at a place of a padded axis."""
    edge = 0 if mode == "REFLECT" else 1  # whether the outermost element is repeated
    at = b.sub(at, b.index(before))
    low = b.sub(b.index(-edge), at)
    at = b.select(b.compare("slt", at, b.index(0)), low, at)
    high = b.sub(b.index(2 * (size - 1) + edge), at)
    return b.select(b.compare("sge", at, b.index(size)), high, at)


@lowers("mirror_pad")
def _mirror_pad(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x, mode = inputs[0], node.attrs["mode"]
    pairs = known(node.inputs[1]).tolist()

    def formula(source: ElementSource, index: Index) -> Scalar:
        places = [
            _mirrored(source.b, at, size, before, mode) if before or after else at
            for at, size, (before, after) in zip(index, x.shape, pairs, strict=True)
        ]
        return source.at(x, places)

    return Indexed(x.dtype, static_shape(node), node.name, "slice", (x,), formula)


@lowers("mirror_pad_grad")
def _mirror_pad_gradient(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    out, mode = inputs[0], node.attrs["mode"]
    shape = static_shape(node)
    # One axis after the other, so that sums are taken in the order of the NumPy tier.
    for axis, (before, after) in enumerate(known(node.inputs[1]).tolist()):
        if before or after:
            out = _folded(out, axis, shape[axis], before, mode, node.name)
    return out


def _folded(x: Value, axis: int, size: int, before: int, mode: str, label: str) -> Value:
    def place(source: ElementSource, index: Index) -> Index:
        at = _mirrored(source.b, index[axis], size, before, mode)
        return (*index[:axis], at, *index[axis + 1 :])

    shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
    return Assembled(x.dtype, shape, label, [Part(x, place, (), "add")], number(x, 0))


# --- sequences and permutations -----------------------------------------------------------------


@lowers("reverse_sequence")
def _reverse_sequence(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x = inputs[0]
    ends = cast_to(inputs[1], dtypes.int64)
    axis, batch = node.attrs["seq_axis"] % len(x.shape), node.attrs["batch_axis"] % len(x.shape)
    lowering.check(node, in_range(ends, number(ends, 0), number(ends, x.shape[axis] + 1)))

    def formula(source: ElementSource, index: Index) -> Scalar:
        b = source.b
        end = source.at(ends, (index[batch],))
        at = index[axis]
        mirrored = b.sub(b.sub(end, b.index(1)), at)
        at = b.select(b.compare("slt", at, end), mirrored, at)
        return source.at(x, (*index[:axis], at, *index[axis + 1 :]))

    return Indexed(x.dtype, x.shape, node.name, "gather", (x, ends), formula)


@lowers("invert_permutation")
def _invert_permutation(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    (x,) = inputs
    n = x.shape[0]
    rows = cast_to(x, dtypes.int64)
    lowering.check(node, in_range(rows, number(rows, 0), number(rows, n)))
    part = Part(
        cast_to(lowering.positions((n,), 0, dtypes.int64), x.dtype),
        lambda source, index: (source.at(rows, index),),
        (rows,),
    )
    out = Assembled(x.dtype, (n,), node.name, [part], number(x, -1))
    # A number that occurs twice leaves a place that nobody writes to.
    is_met = apply("greater_equal", out, number(out, 0))
    lowering.check(node, reduced(is_met, (0,), "logical_and", "all there"))
    return out


@lowers("unravel_index")
def _unravel_index(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    indices = cast_to(inputs[0], dtypes.int64)
    sizes = known(node.inputs[1]).tolist()
    if any(n <= 0 for n in sizes):
        raise NotCompilableError(f"{node.name} fails for these sizes", fails=True)
    lowering.check(node, in_range(indices, number(indices, 0), number(indices, math.prod(sizes))))
    strides = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    column = (len(sizes), *[1 for _ in indices.shape])
    by, wraps = [
        lowering.constant(node.name, np.array(numbers, np.int64).reshape(column))
        for numbers in (strides, sizes)
    ]
    places = apply("floor_mod", apply("floor_divide", indices, by), wraps, label=node.name)
    return reshaped(cast_to(places, node.outputs[0].dtype), static_shape(node), node.name)
