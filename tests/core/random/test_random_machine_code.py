"""Random numbers by machine code are those of NumPy, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft._src.core.flags import flags
from weft._src.core.random_numbers import discrete, distributions, philox

STATES = [
    (0, 0, 9),
    (2**64 - 1, 2**128 - 5, 1000),
    (123456789123456789, 2**64 - 7, 70_001),
    (2**63 + 5, 2**127 + 2**63 - 2, 33),
    (7, 2**96 + 11, 100),
    (2**63, 2**128 - 2, 8),
    (5, 2**64 - 1, 2),
    (9, 3, 0),
]


@pytest.fixture(params=["", "end", "start"], autouse=True)
def guards(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "guard_pages", request.param)


def _on_both(monkeypatch: pytest.MonkeyPatch, make: Any) -> tuple[np.ndarray, np.ndarray]:
    out = []
    for tier in ("numpy", "native"):
        monkeypatch.setattr(flags, "execution", tier)
        out.append(make())
    return out[0], out[1]


@pytest.mark.parametrize(("key", "counter", "blocks"), STATES)
def test_words(key: int, counter: int, blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = _on_both(monkeypatch, lambda: philox.philox_words(key, counter, blocks))
    np.testing.assert_array_equal(one, other)
    offsets = np.random.default_rng(0).integers(0, 2**64 - 1, blocks, np.uint64, endpoint=True)
    one, other = _on_both(monkeypatch, lambda: philox.philox_at(key, counter, offsets))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "int64", "complex128", "object"])
def test_shuffling(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def shuffled(size: int) -> np.ndarray:
        x = np.arange(size).astype(dtype)
        discrete.shuffle(9, 5, x)
        return x

    for size in (0, 1, 2, 3, 1000, 40_003):
        one, other = _on_both(monkeypatch, lambda size=size: shuffled(size))
        np.testing.assert_array_equal(one, other)
        order = discrete.permutation(9, 5, size)
        assert order.dtype == np.int64
        np.testing.assert_array_equal(one, np.arange(size).astype(dtype)[order])


def test_normal_numbers_do_not_depend_on_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = {}
    for size in (1 << 20, 100):
        monkeypatch.setattr(distributions, "_PAIRS_AT_ONCE", size)
        numbers[size] = distributions.normal(3, 4, (2001,), np.float32)
    np.testing.assert_array_equal(numbers[100], numbers[1 << 20])
