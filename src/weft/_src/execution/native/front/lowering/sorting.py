"""Sorting: numbers become integers of the same order, together with their places if these count.

NaN is larger than every number and equal to itself; -0.0 and 0.0 are equal where places count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.execution.native.front.lowering.movement import transposed, window
from weft._src.execution.native.front.lowering.rules import (
    cast_to,
    lowers,
    reshaped,
    static_shape,
    widened,
)
from weft._src.execution.native.loops.kernels.sorting import Least, Sort
from weft._src.execution.native.loops.values import (
    ElementSource,
    Index,
    Indexed,
    Stored,
    Uniform,
    Value,
)
from weft._src.execution.native.machine.builder import Builder, Scalar, compute_type, is_unsigned
from weft._src.graph.ir import Node

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering

_FEW = 4  # one in so many elements, or less, is found faster than sorted
_MOST = 64  # as long as they are not too many to be kept in order one by one


def _key_dtype(x: Value) -> DType:
    return dtypes.int64 if x.dtype.size == 8 else dtypes.int32


def _mirrored(b: Builder, bits: Scalar) -> Scalar:
    """Between the bits of floats and integers of their order; the same in both directions."""
    width = int(bits.type[1:])
    sign = b.binary("ashr", bits, b.like(bits, width - 1))
    return b.binary("xor", bits, b.binary("and", sign, b.like(bits, (1 << (width - 1)) - 1)))


def _key(b: Builder, x: Scalar, t: DType, *, descending: bool) -> Scalar:
    """A signed integer (32 or 64 bits) that is larger where the number is."""
    kind = "i64" if t.size == 8 else "i32"
    if x.is_float:
        bits = b.convert("bitcast", x, kind)
        # One NaN for all, whatever its sign. Chosen among bits: LLVM takes a choice between NaN and
        # a number that is one for the number itself.
        nan = 0x7FF8 << 48 if t.size == 8 else 0x7FC0 << 16
        key = _mirrored(b, b.select(b.compare("uno", x, x), b.like(bits, nan), bits))
    elif is_unsigned(t) and compute_type(t) == kind:
        key = b.binary("xor", x, b.like(x, -(1 << (8 * t.size - 1))))
    else:
        key = b.convert("zext" if is_unsigned(t) else "sext", x, kind)
    return b.binary("xor", key, b.like(key, -1)) if descending else key


def _number(b: Builder, key: Scalar, t: DType, *, descending: bool) -> Scalar:
    """The number with a key."""
    kind = compute_type(t)
    if descending:
        key = b.binary("xor", key, b.like(key, -1))
    if t.is_floating:
        return b.convert("bitcast", _mirrored(b, key), kind)
    if is_unsigned(t) and kind == key.type:
        return b.binary("xor", key, b.like(key, -(1 << (8 * t.size - 1))))
    return b.convert("trunc", key, kind)


def _lines(x: Value, axis: int) -> Value:
    """All lines along an axis, one after the other."""
    rank = len(x.shape)
    order = (*[a for a in range(rank) if a != axis], axis)
    n = x.shape[axis]
    return reshaped(transposed(x, order), (x.size // n, n))


def _restored(lines: Value, shape: tuple[int, ...], axis: int, label: str) -> Value:
    rank = len(shape)
    others = [a for a in range(rank) if a != axis]
    moved = reshaped(lines, tuple([shape[a] for a in (*others, axis)]))
    back = (*range(axis), rank - 1, *range(axis, rank - 1))
    return transposed(moved, back, label)


@lowers("sort")
def _sort(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x, descending = inputs[0], node.attrs["descending"]
    axis = node.attrs["axis"] % len(x.shape)
    if not x.size or x.shape[axis] == 1:
        return x
    lines = _lines(widened(x), axis)
    t = lines.dtype

    def key(source: ElementSource, index: Index) -> Scalar:
        return _key(source.b, source.at(lines, index), t, descending=descending)

    dtype = _key_dtype(lines)
    keys = Indexed(dtype, lines.shape, f"{node.name}/keys", "slice", (lines,), key)
    result = Stored(dtype, lines.shape, node.name)
    lowering.add(Sort(keys, result))

    def element(source: ElementSource, index: Index) -> Scalar:
        return _number(source.b, source.at(result, index), t, descending=descending)

    ordered = Indexed(t, lines.shape, node.name, "slice", (result,), element)
    return cast_to(_restored(ordered, x.shape, axis, node.name), x.dtype)


def _order(lowering: Lowering, label: str, x: Value, count: int, *, descending: bool) -> Value:
    """Where the first elements of each line in order are; equal ones keep their order."""
    lines = widened(x)
    t = lines.dtype
    places_apart = t.size == 8  # otherwise a key and a place fit into 64 bits

    def key(source: ElementSource, index: Index) -> Scalar:
        b = source.b
        value = source.at(lines, index)
        if value.is_float:
            value = b.add(value, b.like(value, 0.0))  # no negative zero
        out = _key(b, value, t, descending=descending)
        if places_apart:
            return out
        high = b.binary("shl", b.convert("sext", out, "i64"), b.number("i64", 32))
        return b.binary("or", high, index[-1])

    keys = Indexed(dtypes.int64, x.shape, f"{label}/keys", "slice", (lines,), key)
    n = x.shape[-1]
    if not places_apart and count <= _MOST and count * _FEW <= n:
        least = Stored(dtypes.int64, (x.shape[0], count), label)
        lowering.add(Least(keys, least))
        return cast_to(least, dtypes.int32)
    results = [Stored(dtypes.int64, x.shape, label) for _ in range(2 if places_apart else 1)]
    lowering.add(Sort(keys, *results, first_bit=0 if places_apart else 32))
    return cast_to(results[-1], dtypes.int32)  # the low bits: the place


@lowers("argsort")
def _argsort(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    x, descending = inputs[0], node.attrs["descending"]
    axis = node.attrs["axis"] % len(x.shape)
    if not x.size or x.shape[axis] == 1:
        return Uniform(dtypes.int32, x.shape, node.name, 0)
    n = x.shape[axis]
    order = _order(lowering, node.name, _lines(x, axis), n, descending=descending)
    return _restored(order, x.shape, axis, node.name)


@lowers("top_k")
def _top_k(lowering: Lowering, node: Node, inputs: list[Value]) -> list[Value]:
    x = inputs[0]
    shape = static_shape(node)
    index_dtype = node.outputs[1].dtype
    if 0 in shape:
        return [Uniform(t, shape, node.name, 0) for t in (x.dtype, index_dtype)]
    lines = _lines(x, len(x.shape) - 1)
    order = _order(lowering, node.name, lines, shape[-1], descending=True)
    wide = cast_to(order, dtypes.int64)

    def element(source: ElementSource, index: Index) -> Scalar:
        return source.at(lines, (index[0], source.at(wide, index)))

    picked = (lines.shape[0], shape[-1])
    values = Indexed(x.dtype, picked, node.name, "gather", (lines, wide), element)

    places = window(order, [0, 0], picked, node.name)
    return [reshaped(values, shape), reshaped(cast_to(places, index_dtype), shape)]
