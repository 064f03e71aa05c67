"""Bytes that are almost right: how a valid input is damaged."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

_LENGTHS = (0, 1, 0x7F, 0xFF, 2**15, 2**28, 2**31 - 1, 2**32 - 1, 2**62, 2**63, 2**64 - 1)


def mutated(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """The bytes, damaged in one to four ways; `other` is a second input to take parts from."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        data = rng.choice(_WAYS)(rng, data, other)
    return data


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    """A part of the bytes, mostly a short one."""
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + int(rng.expovariate(1 / 8)))


def _flipped(rng: random.Random, data: bytes, other: bytes) -> bytes:
    if not data:
        return data
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def _replaced(rng: random.Random, data: bytes, other: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + rng.randbytes(end - start) + data[end:]


def _cut(rng: random.Random, data: bytes, other: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _without_part(rng: random.Random, data: bytes, other: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + data[end:]


def _with_more(rng: random.Random, data: bytes, other: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + rng.randbytes(end - start + 1) + data[start:]


def _repeated(rng: random.Random, data: bytes, other: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + data[start:end] * rng.choice((2, 3, 17, 200)) + data[end:]


def _spliced(rng: random.Random, data: bytes, other: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _moved(rng: random.Random, data: bytes, other: bytes) -> bytes:
    start, end = _span(rng, data)
    rest = data[:start] + data[end:]
    at = rng.randrange(len(rest) + 1)
    return rest[:at] + data[start:end] + rest[at:]


def _long_number(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """A number in groups of seven bits that is huge, or longer than it need be."""
    n = rng.choice(_LENGTHS)
    groups = [n >> 7 * i & 127 for i in range(max(1, -(-n.bit_length() // 7)))]
    groups += [0] * rng.choice((0, 0, 1, 5, 12))
    number = bytes([g | 128 for g in groups[:-1]] + [groups[-1]])
    return _in_place(rng, data, number)


def _long_length(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """A length of four or eight bytes, of either byte order."""
    kind = rng.choice(("<Q", "<I", ">Q", ">I"))
    bits = 8 * struct.calcsize(kind)
    return _in_place(rng, data, struct.pack(kind, rng.choice(_LENGTHS) % 2**bits))


def _in_place(rng: random.Random, data: bytes, part: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + part + data[at + rng.choice((0, 1, len(part))) :]


_WAYS: tuple[Callable[[random.Random, bytes, bytes], bytes], ...] = (
    _flipped, _flipped, _replaced, _cut, _without_part, _with_more, _repeated, _spliced, _moved,
    _long_number, _long_number, _long_length,
)  # fmt: skip
