"""Seeds and generator states: where keys and counters come from.

A *seed* of a stateless op is a pair of integers; it is scrambled into a key and a counter by one
Philox block under a fixed key, so that neighbouring seeds give unrelated numbers.

A stateful op has two seeds, the *global* one and its own. They are the key and the high half of
the counter; the op starts at zero in the low half and moves on by 256 with every number.

A *state* of a generator is three int64 words, ``(counter low, counter high, key)``, used as they
are. A draw of n numbers, whatever their dtype, moves the counter on by 256 n.

>>> key, counter = key_counter_from_seed((1, 2))
>>> hex(key), hex(counter)
('0x908502c96d2f7fba', '0xf7734320619cb60b0000000000000000')
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from weft._src.core.random_numbers import distributions
from weft._src.core.random_numbers.philox import philox_block

State: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
Algorithm: TypeAlias = Literal["philox", "threefry", "auto_select"]

SKIP_PER_SAMPLE = 256  # counters that one number of a generator sets aside
STATE_SIZES: dict[Algorithm, int] = {"philox": 3, "threefry": 2, "auto_select": 3}

DEFAULT_GLOBAL_SEED = 87654321  # where an op has a seed and the program has none

SCRAMBLE_KEY = 0x02461E29_3EC8F720
_LOW32 = 0xFFFFFFFF
_LOW64 = 0xFFFFFFFFFFFFFFFF
_MAX_INT32 = 2**31 - 1


# Stateless seeds ----------------------------------------------------------------------------------


def key_counter_from_seed(seed: Sequence[int]) -> tuple[int, int]:
    """The 64-bit key and 128-bit counter that a stateless op draws from.

    >>> key_counter_from_seed((-1, 5)) == key_counter_from_seed((2**64 - 1, 5))
    True
    """
    first, second = (operator.index(part) & _LOW64 for part in seed)
    word0, word1, word2, word3 = philox_block(SCRAMBLE_KEY, first | second << 64)
    return word0 | word1 << 32, word2 << 64 | word3 << 96


def split_seed(seed: Sequence[int], num: int, dtype: DTypeLike) -> np.ndarray:
    """`num` new seeds from one, shape (num, 2), in the integer type of the seed.

    >>> split_seed((1, 2), 2, np.int32).tolist()
    [[1105988140, 1738052849], [-335576002, 370444179]]
    """
    return distributions.uniform_full_int(*key_counter_from_seed(seed), (num, 2), dtype)


def fold_in_seed(seed: Sequence[int], data: int, dtype: DTypeLike) -> np.ndarray:
    """A new seed, shape (2,), from a seed and a number, in the integer type of the number.

    >>> fold_in_seed((1, 2), 77, np.int32).tolist()
    [1105988140, 77]
    """
    first = distributions.uniform_full_int(*key_counter_from_seed(seed), (), dtype)
    return np.array([first, data], dtype)


# Seeds of stateful ops ----------------------------------------------------------------------------


def key_counter_from_op_seed(global_seed: int, op_seed: int) -> tuple[int, int]:
    """The key and first counter of a stateful op, as TensorFlow's eager and graph ops have them.

    Both seeds are taken modulo 2**31 - 1. As TensorFlow reads two zeros as "no seed", they become
    ``(0, 2**31 - 1)``.

    >>> key_counter_from_op_seed(7, 1) == (7, 1 << 64)
    True
    """
    key, high = global_seed % _MAX_INT32, op_seed % _MAX_INT32
    if key == high == 0:
        high = _MAX_INT32
    return key, high << 64


# Generator states ---------------------------------------------------------------------------------


def create_rng_state(seed: int | ArrayLike, alg: Algorithm = "philox") -> State:
    """The state for a seed: a Python integer, or an array of integers.

    A Python integer fills the state from its low 64 bits upward (sign-extended, higher bits cut
    off). An array of at most three words is put at the end, its front filled with zeros; of a
    longer one the first words count. A NumPy scalar counts as an array of one word.

    >>> create_rng_state(7).tolist(), create_rng_state([1, 2]).tolist()
    ([7, 0, 0], [0, 1, 2])
    """
    size = STATE_SIZES[alg]
    if isinstance(seed, int):
        return np.array([_signed(seed >> 64 * i) for i in range(size)], np.int64)
    words = _int64_words(seed)
    words = words[:size]
    return np.concatenate([np.zeros(size - words.size, np.int64), words])


def state_from_key_counter(key: int, counter: int) -> State:
    """The state of a generator with this key and this 128-bit counter.

    >>> state_from_key_counter(5, (7 << 64) + 6).tolist()
    [6, 7, 5]
    """
    return np.array([_signed(counter), _signed(counter >> 64), _signed(key)], np.int64)


def key_counter_from_state(state: State) -> tuple[int, int]:
    """The key and counter of a generator state.

    >>> key_counter_from_state(np.array([6, 7, 5])) == (5, (7 << 64) + 6)
    True
    """
    low, high, key = (operator.index(word) & _LOW64 for word in state)
    return key, high << 64 | low


def skip(state: State, delta: int) -> State:
    """The state after `delta` more numbers; a negative delta goes back.

    >>> skip(np.array([-1, 0, 9]), 1).tolist()
    [255, 1, 9]
    >>> skip(skip(np.array([256, 0, 9]), 2), -2).tolist()
    [256, 0, 9]
    """
    return advance_state(state, delta * SKIP_PER_SAMPLE)


def advance_state(state: State, blocks: int) -> State:
    """The state with its counter moved by `blocks`, taken modulo 2**64.

    The carry out of the low 64 bits is lost when the high 32 bits of `blocks` are all ones and the
    low 32 bits overflow. This follows TensorFlow; it makes short steps back come out right.

    >>> advance_state(np.array([10, 0, 9]), -3).tolist()
    [7, 0, 9]
    """
    key, counter = key_counter_from_state(state)
    step = blocks & _LOW64
    low, high = counter & _LOW64, counter >> 64
    if step >> 32 == _LOW32 and (low & _LOW32) + (step & _LOW32) > _LOW32:
        low = (low + step) & _LOW64
        return state_from_key_counter(key, high << 64 | low)
    return state_from_key_counter(key, counter + step)


def binomial_delta(batches: int, samples_per_batch: int) -> int:
    """How many numbers a generator skips when it draws from binomial distributions.

    `batches` counts the different pairs of counts and probabilities. To be given to `skip`.

    >>> binomial_delta(1, 1), binomial_delta(3, 2)
    (200, 750)
    """
    return 50 * batches * (samples_per_batch + 3)


def make_seeds(state: State, count: int = 1) -> tuple[np.ndarray, State]:
    """Seeds for stateless ops, int64 of shape (2, count), and the state after them.

    >>> seeds, after = make_seeds(np.array([0, 0, 9]), 2)
    >>> seeds.tolist(), after.tolist()
    ([[-8592026357716074064, -4187215921305284430], [0, 0]], [512, 0, 9])
    """
    keys = distributions.uniform_full_int(*key_counter_from_state(state), (count,), np.int64)
    return np.stack([keys, np.zeros_like(keys)]), skip(state, count)


def split_state(state: State, count: int = 1) -> tuple[list[State], State]:
    """States of `count` independent generators, and the state after making them.

    >>> children, after = split_state(np.array([0, 0, 9]), 1)
    >>> children[0].tolist(), after.tolist()
    ([0, 0, -8592026357716074064], [256, 0, 9])
    """
    seeds, after = make_seeds(state, count)
    return [state_from_key_counter(int(key), 0) for key in seeds[0]], after


def _signed(word: int) -> int:
    """The low 64 bits of an integer, as an int64 has them."""
    word &= _LOW64
    return word - (word >> 63 << 64)


def _int64_words(seed: Any) -> State:
    """An array of integers as flat int64 words; those from 2**63 to 2**64 wrap around."""
    if isinstance(seed, np.ndarray | np.generic):
        if seed.dtype.kind not in "iu":
            raise TypeError(f"Expected seed words that are integers, got {seed.dtype}.")
        return seed.reshape(-1).astype(np.int64)
    # Not through NumPy's own choice of type: it makes floats of [2**63, -1].
    words = [operator.index(word) for word in np.asarray(seed, object).reshape(-1)]
    for word in words:
        if not -(1 << 63) <= word < 1 << 64:
            raise ValueError(f"Expected seed words of at most 64 bits, got {word} in {seed!r}")
    return np.array([_signed(word) for word in words], np.int64)
