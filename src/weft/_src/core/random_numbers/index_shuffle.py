"""A random permutation of 0..n that is computed for single numbers, without making it whole.

Eight rounds of a Feistel network permute the numbers of an even number of bits; a result beyond n
is permuted again until it is not ("cycle walking"), which takes fewer than four turns on average.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_ROUNDS = 8


def _mixed(x: Array) -> Array:
    """The finisher of SplitMix64: every bit depends on every other."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def shuffled(index: Array, first: Array, second: Array, largest: Array) -> Array:
    """Where numbers go in the permutation of 0..largest that two words name; all flat uint64.

    >>> n = np.arange(6, dtype=np.uint64)
    >>> shuffled(n, n * 0 + np.uint64(1), n * 0 + np.uint64(2), n * 0 + np.uint64(5))
    array([3, 1, 0, 4, 5, 2], dtype=uint64)
    """
    bits = np.array([(max(int(n).bit_length(), 2) + 1) // 2 for n in largest], np.uint64)
    mask = (np.uint64(1) << bits) - np.uint64(1)
    keys = _mixed(first + np.uint64(0x9E3779B97F4A7C15)) ^ _mixed(~second)
    out = index.copy()
    active = np.arange(len(index))
    while active.size:
        out[active] = _permuted(out[active], keys[active], bits[active], mask[active])
        active = active[out[active] > largest[active]]
    return out


def _permuted(x: Array, keys: Array, bits: Array, mask: Array) -> Array:
    left: Array = x >> bits
    right: Array = x & mask
    for r in range(_ROUNDS):
        left, right = right, left ^ (_mixed(right + keys * np.uint64(2 * r + 1)) & mask)
    return left << bits | right
