"""Philox blocks and the numbers made of their words, as instructions: the same as on NumPy."""

from __future__ import annotations

import math
from collections.abc import Sequence

from weft._src.execution.native.loops import elementary
from weft._src.execution.native.machine.builder import Builder, Scalar

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_SMALLEST = 1e-7  # what a uniform number is at least before its logarithm is taken


def _halves(b: Builder, x: Scalar) -> tuple[Scalar, Scalar]:
    """The low and the high word of 64 bits, each in 64 bits."""
    return b.binary("and", x, b.like(x, 0xFFFFFFFF)), b.binary("lshr", x, b.like(x, 32))


def joined(b: Builder, low: Scalar, high: Scalar) -> Scalar:
    """64 bits from two words."""
    return b.binary("or", low, b.binary("shl", high, b.like(high, 32)))


def block(b: Builder, low: Scalar, high: Scalar, key: Scalar) -> list[Scalar]:
    """The four words of the block with a 128-bit counter, each in 64 bits."""
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


def block_at(b: Builder, state: Sequence[Scalar], offset: Scalar) -> list[Scalar]:
    """The words of the block so many counters behind a state (counter low, high, key)."""
    start, high, key = state
    low = b.add(start, offset)
    carry = b.convert("zext", b.compare("ult", low, start), "i64")
    return block(b, low, b.add(high, carry), key)


# --- numbers of the words of a block ------------------------------------------------------------


def uniform_floats(b: Builder, words: Sequence[Scalar], bits: int) -> list[Scalar]:
    """Floats in [0, 1) of the low bits of each word, as many as their mantissas have."""
    out = []
    for word in words:
        low = b.binary("shl", b.convert("trunc", word, "i32"), b.number("i32", 32 - bits))
        low = b.binary("lshr", low, b.number("i32", 9))
        low = b.binary("or", low, b.number("i32", 0x7F << 23))
        out.append(b.sub(b.convert("bitcast", low, "float"), b.number("float", 1.0)))
    return out


def uniform_doubles(b: Builder, words: Sequence[Scalar]) -> list[Scalar]:
    """Doubles in [0, 1): the first word of a pair has the high 20 bits, the second the low 32."""
    out = []
    for first, second in zip(words[::2], words[1::2], strict=True):
        high = b.binary("and", first, b.number("i64", 0xFFFFF))
        bits = b.binary("or", b.binary("shl", high, b.number("i64", 32)), second)
        bits = b.binary("or", bits, b.number("i64", 0x3FF << 52))
        out.append(b.sub(b.convert("bitcast", bits, "double"), b.number("double", 1.0)))
    return out


def normals(b: Builder, words: Sequence[Scalar], *, double: bool) -> list[Scalar]:
    """Normal numbers, by pairs of uniform ones."""
    uniform = uniform_doubles(b, words) if double else uniform_floats(b, words, 23)
    pairs = zip(uniform[::2], uniform[1::2], strict=True)
    return [x for first, second in pairs for x in _box_muller(b, first, second)]


def _box_muller(b: Builder, first: Scalar, second: Scalar) -> tuple[Scalar, Scalar]:
    """Two independent normal numbers; the sine comes first."""
    kind = first.type
    least = b.like(first, _SMALLEST)
    first = b.select(b.compare("olt", first, least), least, first)
    logarithm = b.call("log", "double", b.convert("fpext", first, "double"))
    radius = b.convert("fptrunc", logarithm, kind)
    radius = b.intrinsic("sqrt", b.mul(radius, b.like(radius, -2.0)))
    turn = b.mul(b.convert("fpext", second, "double"), b.number("double", 2 * math.pi))
    angle = b.convert("fptrunc", turn, kind)
    sine, cosine = elementary.sin(b, angle), elementary.cos(b, angle)
    return b.mul(sine, radius), b.mul(cosine, radius)
