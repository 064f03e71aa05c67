"""Two more hashes of byte strings: MurmurHash64A as TensorFlow seeds it, and SipHash-2-4.

As in `farmhash`, strings of one length are hashed together, a 64-bit number per string.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

SEED = 0xDECAFCAFFE
MULTIPLIER = np.uint64(0xC6A4A7935BD1E995)
MAGIC = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
_MASK = (1 << 64) - 1


def by_length(strings: Sequence[bytes], hash_rows: Callable[[Array, int], Array]) -> Array:
    """The hash of each string, as uint64; `hash_rows` gets the bytes of all of one length."""
    out = np.empty(len(strings), np.uint64)
    places: dict[int, list[int]] = {}
    for i, text in enumerate(strings):
        places.setdefault(len(text), []).append(i)
    with np.errstate(over="ignore"):
        for length, at in places.items():
            joined = b"".join([strings[i] for i in at])
            rows = np.frombuffer(joined, np.uint8).reshape(len(at), length)
            out[at] = hash_rows(rows, length)
    return out


def _words(rows: Array, count: int) -> Array:
    """The first bytes of each row as little-endian 64-bit numbers."""
    return np.ascontiguousarray(rows[:, : 8 * count]).view("<u8").astype(np.uint64, copy=False)


def _rest(rows: Array, start: int) -> Array:
    """The bytes behind the last whole word as one number, filled up with zeros."""
    padded = np.zeros((len(rows), 8), np.uint8)
    padded[:, : rows.shape[1] - start] = rows[:, start:]
    return padded.view("<u8")[:, 0].astype(np.uint64, copy=False)


def murmur(strings: Sequence[bytes]) -> Array:
    """MurmurHash64A of each string."""
    return by_length(strings, _murmur_rows)


def _murmur_rows(rows: Array, length: int) -> Array:
    h = np.full(len(rows), (SEED ^ (length * int(MULTIPLIER))) & _MASK, np.uint64)
    whole = length // 8
    shift = np.uint64(47)
    for word in _words(rows, whole).T if whole else ():
        k = word * MULTIPLIER
        h = (h ^ ((k ^ (k >> shift)) * MULTIPLIER)) * MULTIPLIER
    if length % 8:
        h = (h ^ _rest(rows, 8 * whole)) * MULTIPLIER
    h = (h ^ (h >> shift)) * MULTIPLIER
    return h ^ (h >> shift)


def siphash(strings: Sequence[bytes], key: tuple[int, int]) -> Array:
    """SipHash-2-4 of each string under a key of two 64-bit numbers."""
    return by_length(strings, lambda rows, length: _siphash_rows(rows, length, key))


def _rotate(x: Array, bits: int) -> Array:
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


def _round(v: list[Array]) -> None:
    v[0] = v[0] + v[1]
    v[2] = v[2] + v[3]
    v[1] = _rotate(v[1], 13) ^ v[0]
    v[3] = _rotate(v[3], 16) ^ v[2]
    v[0] = _rotate(v[0], 32) + v[3]
    v[2] = v[2] + v[1]
    v[3] = _rotate(v[3], 21) ^ v[0]
    v[1] = _rotate(v[1], 17) ^ v[2]
    v[2] = _rotate(v[2], 32)


def _siphash_rows(rows: Array, length: int, key: tuple[int, int]) -> Array:
    k0, k1 = [number & _MASK for number in key]
    starts = (k0 ^ MAGIC[0], k1 ^ MAGIC[1], k0 ^ MAGIC[2], k1 ^ MAGIC[3])
    v = [np.full(len(rows), start, np.uint64) for start in starts]
    whole = length // 8
    last = _rest(rows, 8 * whole) | np.uint64((length & 0xFF) << 56)
    for word in [*(_words(rows, whole).T if whole else ()), last]:
        v[3] = v[3] ^ word
        _round(v)
        _round(v)
        v[0] = v[0] ^ word
    v[2] = v[2] ^ np.uint64(0xFF)
    for _ in range(4):
        _round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]
