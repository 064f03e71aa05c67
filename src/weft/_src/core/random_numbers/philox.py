"""Philox 4x32-10, the counter-based generator behind every random number in Weft.

Philox (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011) is a
function, not a machine with a state: ten rounds of multiplying and mixing turn a 128-bit counter
and a 64-bit key into four random 32-bit words, called a block. Drawing the next numbers means
using the next counters, and skipping ahead is an addition. Here counters and keys are plain
Python integers, so that their arithmetic needs no thought about words and carries.

This is a hot-path file. A round works on the two rows ``(c0, c2)`` and ``(c1, c3)`` at once, in
place, in pieces of 16384 blocks that stay in cache, and that threads share; a million words take
about 7 ms on one core (pieces of 1024 blocks: 23 ms). Up to eight blocks plain Python integers are
quicker than array calls (about 7 us a block against 100 us for the calls). Machine code gives the
same words in a tenth of that, and a few of them in 3 us, once it is loaded.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from weft._src.core.crew import crew
from weft._src.core.machine_jobs import MachineJob

Words: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.uint32]]
Lanes: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]

ROUNDS = 10
WORDS_PER_BLOCK = 4

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)  # golden ratio and sqrt(3) - 1, as 32-bit fractions
_LOW32 = 0xFFFFFFFF
_LOW64 = 0xFFFFFFFFFFFFFFFF
_LOW128 = (1 << 128) - 1

_MULTIPLIER_ROWS = np.array(MULTIPLIERS, np.uint64).reshape(2, 1)
_MASK = np.uint64(_LOW32)
_HALF = np.uint64(32)

_PIECE = 16384  # blocks per pass: three (2, 16384) buffers of uint64 are 768 KB
_FEW = 8  # up to so many blocks the scalar form is faster
_SHARED = 4  # pieces that several threads share: a quarter of a million words and more

_words_job = MachineJob("philox_words", ("out", "low", "high", "key"))
_words_at_job = MachineJob("philox_at", ("out", "offsets", "low", "high", "key"))
_NUMPY_TAKES, _CALLS_TAKE, _PYTHON_TAKES = 3e-8, 1e-4, 7e-6  # seconds: a block, all calls; a block


def advance(counter: int, blocks: int) -> int:
    """The counter `blocks` blocks further on, modulo 2**128.

    >>> advance(5, 3)
    8
    >>> advance((1 << 128) - 1, 1)
    0
    """
    return (counter + blocks) & _LOW128


def philox_block(key: int, counter: int) -> tuple[int, int, int, int]:
    """The four 32-bit words of one block, as Python integers.

    >>> [f"{word:08x}" for word in philox_block(0, 0)]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    m0, m1 = MULTIPLIERS
    step0, step1 = KEY_STEPS
    k0, k1 = key & _LOW32, (key >> 32) & _LOW32
    c0, c1 = counter & _LOW32, (counter >> 32) & _LOW32
    c2, c3 = (counter >> 64) & _LOW32, (counter >> 96) & _LOW32
    for _ in range(ROUNDS):
        p0, p1 = m0 * c0, m1 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & _LOW32, (p0 >> 32) ^ c3 ^ k1, p0 & _LOW32
        k0, k1 = (k0 + step0) & _LOW32, (k1 + step1) & _LOW32
    return c0, c1, c2, c3


def philox_words(key: int, counter: int, blocks: int) -> Words:
    """The words of `blocks` consecutive blocks, from `counter` on; shape (4 * blocks,).

    The counter carries over all its 128 bits and wraps around at 2**128.

    >>> philox_words(0, 0, 2).tolist()[:4] == list(philox_block(0, 0))
    True
    >>> philox_words(7, 1, 2).tolist() == philox_words(7, 0, 3).tolist()[4:]
    True
    """
    out = np.empty((blocks, WORDS_PER_BLOCK), np.uint32)
    run = _words_job.after(_seconds_for(blocks))
    if run is not None:
        run((out, *_signed_words(key, counter)), blocks, _PIECE)
        return out.reshape(-1)
    if blocks <= _FEW:
        for i in range(blocks):
            out[i] = philox_block(key, counter + i)
        return out.reshape(-1)
    keys = _key_rows(key)
    steps = np.arange(min(blocks, _PIECE), dtype=np.uint64)
    pieces = _pieces(counter, blocks)

    def work(number: int) -> None:
        begin, n = pieces[number]
        here = advance(counter, begin)
        piece = np.empty((3, 2, n), np.uint64)
        np.add(steps[:n], np.uint64(here & _LOW64), out=piece[0, 0])
        _mix(piece, np.uint64(here >> 64), keys, out[begin : begin + n])

    if len(pieces) >= _SHARED:
        crew.share(work, len(pieces))
    else:
        for number in range(len(pieces)):
            work(number)
    return out.reshape(-1)


def _seconds_for(blocks: int) -> float:
    """What so many blocks take without machine code."""
    few = blocks <= _FEW
    return blocks * _PYTHON_TAKES if few else _CALLS_TAKE + blocks * _NUMPY_TAKES


def _pieces(counter: int, blocks: int) -> list[tuple[int, int]]:
    """The first block, and the number, of pieces: one ends where the low half of counters wraps."""
    found, done = [], 0
    while done < blocks:
        low = advance(counter, done) & _LOW64
        n = min(_PIECE, blocks - done, _LOW64 + 1 - low)
        found.append((done, n))
        done += n
    return found


def philox_at(key: int, counter: int, offsets: Lanes) -> Words:
    """The words of the blocks at `counter + offset` for each of `offsets`; shape (n, 4).

    >>> blocks = philox_at(7, 100, np.array([0, 256], np.uint64))
    >>> blocks.tolist() == [list(philox_block(7, 100)), list(philox_block(7, 356))]
    True
    """
    blocks = offsets.shape[0]
    out = np.empty((blocks, WORDS_PER_BLOCK), np.uint32)
    run = _words_at_job.after(_seconds_for(blocks))
    if run is not None:
        offsets = np.ascontiguousarray(offsets, np.uint64)
        run((out, offsets, *_signed_words(key, counter)), blocks, _PIECE)
        return out
    if blocks <= _FEW:
        for i, offset in enumerate(offsets.tolist()):
            out[i] = philox_block(key, counter + offset)
        return out
    keys = _key_rows(key)
    buffers = np.empty((3, 2, min(blocks, _PIECE)), np.uint64)
    start = np.uint64(counter & _LOW64)
    highs = np.array([counter >> 64, advance(counter, 1 << 64) >> 64], np.uint64)
    for begin in range(0, blocks, _PIECE):
        some = offsets[begin : begin + _PIECE]
        piece = buffers[:, :, : some.shape[0]]
        low = np.add(some, start, out=piece[0, 0])
        high = highs[(low < start).astype(np.intp)]
        _mix(piece, high, keys, out[begin : begin + _PIECE])
    return out


def _signed_words(key: int, counter: int) -> list[int]:
    """The low and high half of a counter and the key, as int64 holds them."""
    halves = [counter & _LOW64, counter >> 64 & _LOW64, key & _LOW64]
    return [half - (half >> 63 << 64) for half in halves]


def _key_rows(key: int) -> list[Lanes]:
    """The round keys, each as a column that broadcasts over the two rows of lanes."""
    k0, k1 = key & _LOW32, (key >> 32) & _LOW32
    step0, step1 = KEY_STEPS
    rows = [((k0 + r * step0) & _LOW32, (k1 + r * step1) & _LOW32) for r in range(ROUNDS)]
    return list(np.array(rows, np.uint64).reshape(ROUNDS, 2, 1))


def _mix(buffers: Lanes, high: Lanes | np.uint64, keys: list[Lanes], out: Words) -> None:
    """Run the rounds over counters whose low halves stand in `buffers[0, 0]`; write to `out`.

    Each lane holds a 32-bit word in a uint64. The rows of `right` may carry rubbish above it (they
    are whole products); it is masked away once, after the exclusive-ors, which saves two calls.
    """
    left, right, spare = buffers
    np.right_shift(left[0], _HALF, out=right[0])
    np.bitwise_and(left[0], _MASK, out=left[0])
    left[1] = high & _MASK
    right[1] = high >> _HALF
    for key in keys:
        product = np.multiply(left, _MULTIPLIER_ROWS, out=spare)[::-1]
        np.right_shift(product, _HALF, out=left)
        np.bitwise_xor(left, right, out=left)
        np.bitwise_xor(left, key, out=left)
        np.bitwise_and(left, _MASK, out=left)
        right, spare = product, right
    # Storing into uint32 keeps the low words.
    out[:, 0::2] = left.T
    out[:, 1::2] = right.T
