"""Arrays of uniform and normal numbers from Philox words.

Every function here is pure: a 64-bit key, a 128-bit counter, a shape and a dtype determine the
array. Uniform numbers equal TensorFlow's ``tf.random.stateless_uniform`` bit for bit; normal ones
come from the same words by the same formula and agree within a few units in the last place (the
logarithm, sine and cosine are NumPy's).

How words become numbers:

- A float takes as many low bits as it has mantissa bits, as a number in [1, 2), minus one. All
  types up to 32 bits use one word a number, float64 and 64-bit integers use two.
- Normal numbers come in pairs from two uniform ones (Box and Muller); float16 and bfloat16 are
  rounded from float32.
- Truncated normal numbers are normal ones of magnitude below two; the others are passed over. A
  group of numbers that share a block draws from counters of its own, so that the words a group
  needs do not depend on how many its neighbours rejected.

A little-endian machine is assumed, as everywhere in Weft.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike

from weft._src.core.crew import crew
from weft._src.core.random_numbers import philox
from weft._src.core.random_numbers.philox import WORDS_PER_BLOCK, Words

RESERVED_WORDS = 256  # words set aside for each truncated normal number
TRUNCATION = 2.0  # truncated normal numbers lie within so many standard deviations

MANTISSA_BITS = {
    np.dtype(np.float16): 10,
    np.dtype(ml_dtypes.bfloat16): 7,
    np.dtype(np.float32): 23,
    np.dtype(np.float64): 52,
}
_INT_DTYPES = tuple(np.dtype(t) for t in (np.int32, np.int64, np.uint32, np.uint64))
_PAIRS_AT_ONCE = 1 << 14  # normal numbers whose intermediate results stay in cache
_SHARED = 4  # such pieces that several threads share
SMALLEST_UNIFORM = 1e-7  # keeps the logarithm in Box-Muller finite


def blocks_used(size: int, dtype: DTypeLike) -> int:
    """How many Philox blocks `size` uniform or normal numbers of `dtype` are made of.

    >>> blocks_used(5, np.float32), blocks_used(5, np.float64)
    (2, 3)
    """
    per_block = _samples_per_block(np.dtype(dtype))
    return -(-size // per_block)


def truncated_blocks_used(size: int, dtype: DTypeLike) -> int:
    """How many counters `size` truncated normal numbers of `dtype` set aside.

    >>> truncated_blocks_used(5, np.float32), truncated_blocks_used(5, np.float64)
    (512, 384)
    """
    dtype = np.dtype(dtype)
    return blocks_used(size, dtype) * _blocks_per_group(dtype)


def uniform_float(key: int, counter: int, shape: Sequence[int], dtype: DTypeLike) -> np.ndarray:
    """Numbers uniform in [0, 1).

    >>> uniform_float(9, 0, (3,), np.float32)
    array([0.08012962, 0.52336264, 0.477072  ], dtype=float32)
    """
    dtype = _float_dtype(dtype)
    words = _words_for(key, counter, shape, dtype)
    return _shaped(_uniform_from_words(words, dtype), shape)


def uniform_full_int(key: int, counter: int, shape: Sequence[int], dtype: DTypeLike) -> np.ndarray:
    """Integers uniform over all values of an int32, int64, uint32 or uint64.

    >>> uniform_full_int(9, 0, (3,), np.int32)
    array([ -678805072, -2000487028,  -323153742], dtype=int32)
    """
    dtype = _int_dtype(dtype)
    return _shaped(_words_for(key, counter, shape, dtype).view(dtype), shape)


def uniform_int(
    key: int, counter: int, shape: Sequence[int], dtype: DTypeLike, minval: int, maxval: int
) -> np.ndarray:
    """Integers in [minval, maxval), by remainder: slightly uneven for ranges near the type's own.

    >>> uniform_int(9, 0, (4,), np.int64, 0, 10)
    array([2, 6, 6, 3])
    """
    dtype = _int_dtype(dtype)
    if math.prod(shape) == 0:
        return np.empty(tuple(shape), dtype)
    minval, maxval = int(minval), int(maxval)
    if minval >= maxval:
        raise ValueError(f"Need minval < maxval, got {minval} >= {maxval}")
    info = np.iinfo(dtype)
    if minval < info.min or maxval > info.max:
        raise ValueError(f"The range [{minval}, {maxval}) does not fit {dtype}")
    unsigned = np.dtype(f"u{dtype.itemsize}")
    out = _words_for(key, counter, shape, dtype).view(unsigned)
    # x - x // m * m, as NumPy's division by a constant is fast: 0.8 ms a million, with % 1.7 ms.
    span = unsigned.type(maxval - minval)
    whole = np.floor_divide(out, span)
    np.multiply(whole, span, out=whole)
    np.subtract(out, whole, out=out)
    np.add(out, unsigned.type(minval % (1 << 8 * dtype.itemsize)), out=out)
    return _shaped(out.view(dtype), shape)


def normal(key: int, counter: int, shape: Sequence[int], dtype: DTypeLike) -> np.ndarray:
    """Normal numbers of mean 0 and standard deviation 1.

    >>> normal(9, 0, (3,), np.float32).round(4).tolist() == np.float32(
    ...     [-0.3286, -2.2227, -1.193]
    ... ).tolist()
    True
    """
    dtype = _float_dtype(dtype)
    pairs = _box_muller(_words_for(key, counter, shape, dtype), _wide(dtype))
    return _shaped(pairs.astype(dtype, copy=False), shape)


def truncated_normal(key: int, counter: int, shape: Sequence[int], dtype: DTypeLike) -> np.ndarray:
    """Normal numbers (mean 0, deviation 1) without those of magnitude 2 and more.

    >>> x = truncated_normal(9, 0, (1000,), np.float32)
    >>> bool(np.all(np.abs(x) < 2))
    True
    """
    dtype = _float_dtype(dtype)
    wide = _wide(dtype)
    per_group = _samples_per_block(dtype)
    groups = blocks_used(math.prod(shape), dtype)
    offsets = np.arange(groups, dtype=np.uint64) * np.uint64(_blocks_per_group(dtype))
    out = _box_muller(philox.philox_at(key, counter, offsets), wide).reshape(groups, per_group)
    kept = np.abs(out) < TRUNCATION
    # Five groups of six are done at once. The others move their numbers together and go on drawing.
    active = np.flatnonzero(~kept.all(axis=1))
    drawn, kept, offsets = out[active], kept[active], offsets[active]
    filled = np.zeros(active.size, np.intp)
    while active.size:
        place = np.cumsum(kept, axis=1)
        place += filled[:, None]  # the place after the one a kept number goes to
        row, column = np.nonzero(kept & (place <= per_group))
        out[active[row], place[row, column] - 1] = drawn[row, column]
        unfinished = place[:, -1] < per_group
        active, filled = active[unfinished], place[unfinished, -1]
        offsets = offsets[unfinished] + np.uint64(1)
        words = philox.philox_at(key, counter, offsets)
        drawn = _box_muller(words, wide).reshape(-1, per_group)
        kept = np.abs(drawn) < TRUNCATION
    return _shaped(out.reshape(-1).astype(dtype, copy=False), shape)


def _samples_per_block(dtype: np.dtype[Any]) -> int:
    return 2 if dtype.itemsize == 8 else WORDS_PER_BLOCK


def _blocks_per_group(dtype: np.dtype[Any]) -> int:
    """How far the counters of neighbouring groups of truncated normal numbers stand apart."""
    return _samples_per_block(dtype) * RESERVED_WORDS // WORDS_PER_BLOCK


def _float_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    dtype = np.dtype(dtype)
    if dtype not in MANTISSA_BITS:
        raise TypeError(f"Expected float16, bfloat16, float32 or float64, got {dtype}")
    return dtype


def _int_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    dtype = np.dtype(dtype)
    if dtype not in _INT_DTYPES:
        raise TypeError(f"Expected int32, int64, uint32 or uint64, got {dtype}")
    return dtype


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type the arithmetic is done in."""
    return dtype if dtype.itemsize >= 4 else np.dtype(np.float32)


def _words_for(key: int, counter: int, shape: Sequence[int], dtype: np.dtype[Any]) -> Words:
    """Whole blocks of words, enough for an array of `shape`."""
    return philox.philox_words(key, counter, blocks_used(math.prod(shape), dtype))


def _shaped(flat: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """`flat` without the numbers that only fill its last block."""
    return flat[: math.prod(shape)].reshape(tuple(shape))


def _uniform_from_words(words: Words, dtype: np.dtype[Any]) -> np.ndarray:
    """Uniform numbers in [0, 1); overwrites `words`."""
    if dtype.itemsize == 8:
        # The first word of a pair gives the high 20 bits of the mantissa, the second the low 32.
        pairs = words.view(np.uint64)
        low = pairs >> np.uint64(32)
        pairs <<= np.uint64(44)
        pairs >>= np.uint64(12)
        pairs |= low
        pairs |= np.uint64(0x3FF << 52)
        wide = pairs.view(np.float64)
    else:
        bits = MANTISSA_BITS[dtype]
        words <<= np.uint32(32 - bits)
        words >>= np.uint32(9)
        words |= np.uint32(0x7F << 23)
        wide = words.view(np.float32)
    wide -= 1
    return wide.astype(dtype, copy=False)


def _box_muller(words: Words, dtype: np.dtype[Any]) -> np.ndarray:
    """Pairs of independent normal numbers; overwrites `words`.

    The first of two uniform numbers gives the radius, the second the angle; the sine comes first.
    """
    uniform = _uniform_from_words(words.reshape(-1), dtype).reshape(-1, 2)
    out = np.empty_like(uniform)

    def work(number: int) -> None:
        part = slice(number * _PAIRS_AT_ONCE, (number + 1) * _PAIRS_AT_ONCE)
        _box_muller_pairs(uniform[part], out[part])

    pieces = -(-len(uniform) // _PAIRS_AT_ONCE)
    if pieces >= _SHARED:
        crew.share(work, pieces)
    else:
        for number in range(pieces):
            work(number)
    return out.reshape(-1)


def _box_muller_pairs(uniform: np.ndarray, out: np.ndarray) -> None:
    # Logarithm and angle are computed in double precision and rounded once, for float32 too:
    # NumPy's float32 logarithm errs by up to 3.7 units in the last place (sine and cosine: 1.4).
    dtype = uniform.dtype
    first = np.maximum(uniform[:, 0], dtype.type(SMALLEST_UNIFORM))
    radius = np.log(first, dtype=np.float64).astype(dtype, copy=False)
    radius *= -2
    np.sqrt(radius, out=radius)
    angle = np.multiply(uniform[:, 1], 2 * np.pi, dtype=np.float64).astype(dtype, copy=False)
    np.multiply(np.sin(angle), radius, out=out[:, 0])
    np.multiply(np.cos(angle, out=angle), radius, out=out[:, 1])
