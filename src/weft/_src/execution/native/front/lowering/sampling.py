"""Random numbers: Philox blocks computed where they are used, the same words as on NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.core.random_numbers import distributions
from weft._src.core.random_numbers.seeds import SCRAMBLE_KEY
from weft._src.execution.native.front.lowering.bins import bound
from weft._src.execution.native.front.lowering.movement import window
from weft._src.execution.native.front.lowering.rules import (
    NARROW,
    apply,
    cast_to,
    expanded,
    lowers,
    number,
    reduced,
    reshaped,
    static_shape,
)
from weft._src.execution.native.loops import philox
from weft._src.execution.native.loops.kernels.sampling import Permutation, Truncated
from weft._src.execution.native.loops.kernels.scans import Cumulative
from weft._src.execution.native.loops.values import (
    Assembled,
    ElementSource,
    Index,
    Indexed,
    Part,
    Shape,
    Stored,
    Uniform,
    Value,
)
from weft._src.execution.native.machine.builder import Builder, Scalar, compute_type
from weft._src.graph.ir import Node

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering

# The numbers of a block, of its words.
Numbers = Callable[[Builder, list[Scalar]], list[Scalar]]


def _state(source: ElementSource, state: Value) -> list[Scalar]:
    return [source.at(state, (source.b.index(i),)) for i in range(3)]


def _picked(b: Builder, items: list[Scalar], at: Scalar) -> Scalar:
    out = items[-1]
    for i, item in enumerate(items[:-1]):
        out = b.select(b.compare("eq", at, b.index(i)), item, out)
    return out


def _cut(made: Value, shape: Shape) -> Value:
    """Whole blocks as a tensor of a shape; the last block may be cut."""
    n = math.prod(shape)
    flat = reshaped(made, (made.size,))
    return reshaped(flat if n == made.size else window(flat, [0], (n,), made.label), shape)


def _drawn(label: str, shape: Shape, dtype: DType, state: Value, numbers: Numbers) -> Value:
    """One number per word, or per two words of a 64-bit dtype."""
    n, each = math.prod(shape), 2 if dtype.size == 8 else 4
    if n == 0:
        return Uniform(dtype, shape, label, 0)

    def formula(source: ElementSource, index: Index) -> Scalar:
        words = philox.block_at(source.b, _state(source, state), index[0])
        return _picked(source.b, numbers(source.b, words), index[1])

    made = Indexed(dtype, (-(-n // each), each), label, "random", (state,), formula)
    return _cut(made, shape)


def _arithmetic_dtype(dtype: DType) -> DType:
    return dtypes.float32 if dtype in NARROW else dtype


_MANTISSA_BITS = {dtypes.float16: 10, dtypes.bfloat16: 7, dtypes.float32: 23}


def _uniform(label: str, shape: Shape, dtype: DType, state: Value) -> Value:
    def numbers(b: Builder, words: list[Scalar]) -> list[Scalar]:
        if dtype is dtypes.float64:
            return philox.uniform_doubles(b, words)
        return philox.uniform_floats(b, words, _MANTISSA_BITS[dtype])

    return cast_to(_drawn(label, shape, _arithmetic_dtype(dtype), state, numbers), dtype)


@lowers("philox_uniform")
def _uniform_numbers(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    return _uniform(node.name, static_shape(node), node.outputs[0].dtype, inputs[1])


@lowers("philox_normal")
def _normal_numbers(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    dtype = node.outputs[0].dtype
    wide = _arithmetic_dtype(dtype)

    def numbers(b: Builder, words: list[Scalar]) -> list[Scalar]:
        return philox.normals(b, words, double=wide is dtypes.float64)

    return cast_to(_drawn(node.name, static_shape(node), wide, inputs[1], numbers), dtype)


@lowers("philox_truncated_normal")
def _truncated_numbers(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    shape, dtype = static_shape(node), node.outputs[0].dtype
    wide = _arithmetic_dtype(dtype)
    n, each = math.prod(shape), 2 if dtype.size == 8 else 4
    if n == 0:
        return Uniform(dtype, shape, node.name, 0)
    result = Stored(wide, (-(-n // each), each), node.name)
    apart = distributions.truncated_blocks_used(1, dtype.numpy_dtype)
    lowering.add(Truncated(inputs[1], result, apart))
    return cast_to(_cut(result, shape), dtype)


# --- integers -----------------------------------------------------------------------------------


def _integers(b: Builder, words: list[Scalar], kind: str) -> list[Scalar]:
    if kind == "i64":
        pairs = zip(words[::2], words[1::2], strict=True)
        return [philox.joined(b, low, high) for low, high in pairs]
    return [b.convert("trunc", word, kind) for word in words]


@lowers("philox_full_int")
def _any_integers(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    dtype = node.outputs[0].dtype
    kind = compute_type(dtype)
    shape = static_shape(node)
    return _drawn(node.name, shape, dtype, inputs[1], lambda b, words: _integers(b, words, kind))


@lowers("philox_uniform_int")
def _integers_below(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    _, state, low, high = inputs
    shape, dtype = static_shape(node), node.outputs[0].dtype
    kind = compute_type(dtype)
    if 0 in shape:
        return Uniform(dtype, shape, node.name, 0)
    lowering.check(node, lowering.kept(apply("less", low, high)))
    words = _drawn(node.name, shape, dtype, state, lambda b, words: _integers(b, words, kind))

    def formula(source: ElementSource, index: Index) -> Scalar:
        b = source.b
        least = source.at(low, ())
        span = b.sub(source.at(high, ()), least)
        # The processor must not see a zero, even where the result is thrown away.
        span = b.select(b.compare("eq", span, b.like(span, 0)), b.like(span, 1), span)
        return b.add(b.binary("urem", source.at(words, index), span), least)

    return Indexed(dtype, shape, node.name, "random", (words, low, high), formula)


# --- seeds --------------------------------------------------------------------------------------


@lowers("philox_seed")
def _key_counter(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    (seed,) = inputs
    wide = cast_to(seed, dtypes.int64)

    def formula(source: ElementSource, index: Index) -> Scalar:
        b = source.b
        first, second = [source.at(wide, (b.index(i),)) for i in range(2)]
        words = philox.block(b, first, second, b.number("i64", SCRAMBLE_KEY))
        key, high = philox.joined(b, *words[:2]), philox.joined(b, *words[2:])
        return _picked(b, [b.index(0), high, key], index[0])

    return Indexed(dtypes.int64, (3,), node.name, "random", (wide,), formula)


# --- classes and permutations -------------------------------------------------------------------


@lowers("philox_multinomial")
def _classes(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    logits, _, state = inputs
    shape, dtype = static_shape(node), node.outputs[0].dtype
    if 0 in shape:
        return Uniform(dtype, shape, node.name, 0)
    wide = cast_to(logits, dtypes.float64)
    wide = apply("select", apply("isfinite", wide), wide, number(wide, -math.inf))
    top = expanded(reduced(wide, (1,), "maximum", f"{node.name}/max"), (1,))
    top = apply("select", apply("isfinite", top), top, number(top, 0.0))
    weights = apply("exp", apply("subtract", wide, top))
    sums = Stored(dtypes.float64, weights.shape, f"{node.name}/sums")
    rows, classes = weights.shape
    lowering.add(Cumulative(weights, sums, (rows, classes, 1)))
    totals = window(sums, [0, classes - 1], (rows, 1), f"{node.name}/totals")
    find = apply("multiply", _uniform(node.name, shape, dtypes.float64, state), totals)
    return cast_to(bound(lowering, node, sums, find, is_lower=False), dtype)


@lowers("philox_shuffle")
def _shuffle(lowering: Lowering, node: Node, inputs: list[Value]) -> Value:
    value, state = inputs
    if not value.shape or value.shape[0] < 2:
        return value
    order = Stored(dtypes.int64, value.shape[:1], f"{node.name}/order")
    lowering.add(Permutation(state, order))
    if node.attrs["inverse"]:
        part = Part(
            value, lambda source, index: (source.at(order, index[:1]), *index[1:]), (order,)
        )
        return Assembled(value.dtype, value.shape, node.name, [part], None)

    def formula(source: ElementSource, index: Index) -> Scalar:
        return source.at(value, (source.at(order, index[:1]), *index[1:]))

    return Indexed(value.dtype, value.shape, node.name, "gather", (value, order), formula)
