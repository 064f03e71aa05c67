"""The buckets of a dense table as TensorFlow lays them out: checkpoints hold them as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.string_hashes import murmur

Array = np.ndarray[Any, Any]
_MOST_FULL = 0.8
_LOW64 = (1 << 64) - 1


def laid_out(keys: Array, values: Array, empty: Array) -> tuple[Array, Array]:
    """Keys and values in buckets, a power of two; those without a key have the empty one."""
    count = 4
    while count * _MOST_FULL < len(keys) + 1:
        count *= 2
    rows = keys.reshape(len(keys), -1)
    width = rows.shape[1] if len(rows) else empty.size
    placed = np.empty((count, width), keys.dtype)
    placed[...] = empty.reshape(-1)
    held = np.empty((count, max(values[:1].size, 1)), values.dtype)
    held[...] = b"" if values.dtype == object else 0
    taken = np.zeros(count, bool)
    for key, value in zip(rows, values.reshape(len(values), -1), strict=True):
        at, step = _hash(key) & (count - 1), 0
        while taken[at]:
            step += 1
            at = (at + step) & (count - 1)
        taken[at] = True
        placed[at], held[at] = key, value
    return placed, held


def _hash(key: Array) -> int:
    """The number that decides where a key goes."""
    if key.dtype == object:
        numbers = [int(x) for x in murmur([bytes(x) for x in key])]
    else:
        numbers = [int(x) & _LOW64 for x in key]
    if len(numbers) == 1:
        return numbers[0]
    found = 0
    for number in numbers:
        found ^= number + 0x9E3779B97F4A7800 + (found << 10) + (found >> 4)
        found &= _LOW64
    return found
