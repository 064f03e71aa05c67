"""Random numbers: Philox blocks computed where they are used, the same words as on NumPy."""

from __future__ import annotations

import math
from typing import Any

from weft.core import dtypes
from weft.execution.native import elementary
from weft.execution.native.builder import Builder, Scalar
from weft.execution.native.lowering.movement import window
from weft.execution.native.lowering.rules import lowers, reshaped, static_shape
from weft.execution.native.values import Index, Indexed, NotCompilableError, Uniform, Value
from weft.graph.ir import Node

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_SMALLEST = 1e-7  # what a uniform number is at least before its logarithm is taken


def _halves(b: Builder, x: Scalar) -> tuple[Scalar, Scalar]:
    """The low and the high word of 64 bits, each in 64 bits."""
    return b.binary("and", x, b.like(x, 0xFFFFFFFF)), b.binary("lshr", x, b.like(x, 32))


def _block(source: Any, state: Value, block: Scalar) -> list[Scalar]:
    """The four words of a block of the generator, each in 64 bits."""
    b: Builder = source.b
    start, high, key = [source.at(state, (b.index(i),)) for i in range(3)]
    low = b.add(start, block)
    high = b.add(high, b.convert("zext", b.compare("ult", low, start), "i64"))
    (c0, c1), (c2, c3), (k0, k1) = _halves(b, low), _halves(b, high), _halves(b, key)
    mask = b.number("i64", 0xFFFFFFFF)
    for _ in range(10):
        p0 = b.mul(b.number("i64", _MULTIPLIERS[0]), c0)
        p1 = b.mul(b.number("i64", _MULTIPLIERS[1]), c2)
        (low0, high0), (low1, high1) = _halves(b, p0), _halves(b, p1)
        c0 = b.binary("xor", b.binary("xor", high1, c1), k0)
        c2 = b.binary("xor", b.binary("xor", high0, c3), k1)
        c1, c3 = low1, low0
        k0 = b.binary("and", b.add(k0, b.number("i64", _KEY_STEPS[0])), mask)
        k1 = b.binary("and", b.add(k1, b.number("i64", _KEY_STEPS[1])), mask)
    return [c0, c1, c2, c3]


def _uniform(b: Builder, word: Scalar) -> Scalar:
    """A float32 in [0, 1) from the low 23 bits of a word."""
    bits = b.binary("and", b.convert("trunc", word, "i32"), b.number("i32", 0x7FFFFF))
    bits = b.binary("or", bits, b.number("i32", 0x7F << 23))
    return b.sub(b.convert("bitcast", bits, "float"), b.number("float", 1.0))


def _picked(b: Builder, words: list[Scalar], at: Scalar) -> Scalar:
    out = words[-1]
    for i, word in enumerate(words[:-1]):
        out = b.select(b.compare("eq", at, b.index(i)), word, out)
    return out


def _drawn(node: Node, state: Value, formula: Any) -> Value:
    """One number per word, in blocks of four; the last block may be cut."""
    if node.outputs[0].dtype is not dtypes.float32:
        raise NotCompilableError("random numbers of this dtype stay with NumPy")
    shape = static_shape(node)
    n = math.prod(shape)
    if n == 0:
        return Uniform(dtypes.float32, shape, node.name, 0)
    blocks = -(-n // 4)
    made = Indexed(dtypes.float32, (blocks, 4), node.name, "random", (state,), formula)
    flat = reshaped(made, (4 * blocks,))
    return reshaped(flat if n == 4 * blocks else window(flat, [0], (n,), node.name), shape)


@lowers("StatelessRandomUniformV2")
def _uniform_numbers(lowering: Any, node: Node, inputs: list[Value]) -> Value:
    state = inputs[1]

    def formula(source: Any, index: Index) -> Scalar:
        words = [_uniform(source.b, word) for word in _block(source, state, index[0])]
        return _picked(source.b, words, index[1])

    return _drawn(node, state, formula)


@lowers("StatelessRandomNormalV2")
def _normal_numbers(lowering: Any, node: Node, inputs: list[Value]) -> Value:
    state = inputs[1]

    def formula(source: Any, index: Index) -> Scalar:
        b: Builder = source.b
        words = [_uniform(b, word) for word in _block(source, state, index[0])]
        pairs = [_box_muller(b, *words[:2]), _box_muller(b, *words[2:])]
        return _picked(b, [number for pair in pairs for number in pair], index[1])

    return _drawn(node, state, formula)


def _box_muller(b: Builder, first: Scalar, second: Scalar) -> tuple[Scalar, Scalar]:
    """Two independent normal numbers; the sine comes first."""
    least = b.like(first, _SMALLEST)
    first = b.select(b.compare("olt", first, least), least, first)
    logarithm = b.call("log", "double", b.convert("fpext", first, "double"))
    radius = b.convert("fptrunc", logarithm, "float")
    radius = b.intrinsic("sqrt", b.mul(radius, b.like(radius, -2.0)))
    turn = b.mul(b.convert("fpext", second, "double"), b.number("double", 2 * math.pi))
    angle = b.convert("fptrunc", turn, "float")
    sine, cosine = elementary.sin(b, angle), elementary.cos(b, angle)
    return b.mul(sine, radius), b.mul(cosine, radius)
