"""Philox: the known answers of its authors, and the counter's arithmetic."""

import numpy as np
import pytest

from weft._src.core.random_numbers.philox import (
    _PIECE,
    advance,
    philox_at,
    philox_block,
    philox_words,
)

# From the known-answer file of Random123, the reference implementation of the paper.
KNOWN_ANSWERS = [
    (0, 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (2**64 - 1, 2**128 - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        0x299F31D0_A4093822,
        0x03707344_13198A2E_85A308D3_243F6A88,
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]

# Where the carry passes from one word of the counter to the next.
BOUNDARIES = [2**32, 2**64, 2**96, 2**128, 5 << 64]


@pytest.mark.parametrize(("key", "counter", "words"), KNOWN_ANSWERS)
def test_known_answers(key, counter, words):
    expected = [int(word, 16) for word in words.split()]
    assert list(philox_block(key, counter)) == expected
    # A ninth block makes the array form run.
    assert philox_words(key, advance(counter, -8), 9).tolist()[-4:] == expected


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("blocks", [3, 8, 9, 50])
def test_counter_carries(boundary, blocks):
    key = 0x0123456789ABCDEF
    counter = boundary - 2
    expected = [philox_block(key, advance(counter, i)) for i in range(blocks)]
    assert philox_words(key, counter, blocks).reshape(-1, 4).tolist() == [list(b) for b in expected]
    offsets = np.arange(blocks, dtype=np.uint64)
    assert philox_at(key, counter, offsets).tolist() == [list(b) for b in expected]


def test_pieces_join_without_a_seam():
    key, counter, blocks = 77, 2**64 - _PIECE - 100, 2 * _PIECE + 333
    words = philox_words(key, counter, blocks).reshape(-1, 4)
    seams = [0, _PIECE - 1, _PIECE, _PIECE + 99, _PIECE + 100, 2 * _PIECE + 99, 2 * _PIECE + 100]
    for i in [*seams, blocks - 1]:
        assert words[i].tolist() == list(philox_block(key, counter + i))
    offsets = np.arange(blocks, dtype=np.uint64)
    np.testing.assert_array_equal(philox_at(key, counter, offsets), words)


@pytest.mark.parametrize("blocks", [0, 1, 3, 5, 8, 9, 1025])
def test_fewer_blocks_are_a_prefix_of_more(blocks):
    many = philox_words(3, 10, 2000)
    few = philox_words(3, 10, blocks)
    assert few.dtype == np.uint32
    assert few.shape == (4 * blocks,)
    np.testing.assert_array_equal(few, many[: 4 * blocks])


def test_offsets_may_be_any():
    offsets = np.array([5, 0, 2**40, 2**64 - 1, 5, 7, 8, 9, 10, 11], np.uint64)
    counter = 2**64 - 6
    expected = [list(philox_block(1, counter + offset)) for offset in offsets.tolist()]
    assert philox_at(1, counter, offsets).tolist() == expected
    assert philox_at(1, counter, offsets[:3]).tolist() == expected[:3]
    assert philox_at(1, counter, offsets[:0]).shape == (0, 4)


def test_every_bit_is_balanced():
    words = philox_words(42, 0, 50_000)
    share = np.unpackbits(words.view(np.uint8)).reshape(-1, 32).mean(axis=0)
    assert np.abs(share - 0.5).max() < 0.005  # 4.5 standard deviations
