"""The 64-bit fingerprint of FarmHash."""

from __future__ import annotations

import numpy as np
import pytest

from weft._src.core import farmhash

# Recorded from TensorFlow 2.21: tf.fingerprint of bytes(range(n)), of every branch of the hash.
KNOWN = {
    0: 0x9AE16A3B2F90404F,
    1: 0xBE6056EDF5E94B54,
    3: 0x94A13D22E9EBA49A,
    4: 0x82BFFD898958E540,
    7: 0xA2E0BFF20DB0A6A1,
    8: 0xAD5A13E1E8E93B98,
    16: 0x0EFD25A0A34156D4,
    17: 0xBBB6A6F8F20D1F1C,
    32: 0x1A9D8199972CDF49,
    33: 0xE8756EC1CB75524E,
    64: 0xF58504BB53DECC4B,
    65: 0xC6A3282C3E793DBE,
    128: 0x1C484C95F0EA5DD3,
    129: 0xCE8BA3741121083E,
    300: 0xAA66CE5F3E21DA23,
}


@pytest.mark.parametrize("length", KNOWN)
def test_known_fingerprints(length: int) -> None:
    text = bytes([i % 256 for i in range(length)])
    assert farmhash.fingerprints([text]).tolist() == [KNOWN[length]]


def test_strings_of_mixed_lengths_keep_their_places() -> None:
    texts = [b"x" * n for n in (3, 70, 0, 3, 20, 70)]
    together = farmhash.fingerprints(texts)
    assert together.tolist() == [int(farmhash.fingerprints([t])[0]) for t in texts]
    assert together[0] == together[3] != together[1]


def test_rows_that_are_not_contiguous() -> None:
    rows = np.arange(200, dtype=np.uint8).reshape(2, 100)
    expected = farmhash.fingerprint_rows(np.ascontiguousarray(rows[:, ::2]))
    np.testing.assert_array_equal(farmhash.fingerprint_rows(rows[:, ::2]), expected)


def test_many_strings() -> None:
    texts = [b"%d" % (3**n) for n in range(60)] * 40
    few = [int(farmhash.fingerprints([text])[0]) for text in texts[:60]]
    assert farmhash.fingerprints(texts).tolist() == few * 40
