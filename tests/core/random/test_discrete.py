"""Categorical draws and permutations: TensorFlow's, recorded, and their proportions."""

import hashlib

import numpy as np
import pytest

from weft._src.core.random_numbers import discrete
from weft._src.core.random_numbers.discrete import (
    categorical,
    categorical_blocks_used,
    permutation,
    permutation_blocks_used,
)
from weft._src.core.random_numbers.seeds import key_counter_from_seed

SEED_12 = key_counter_from_seed((1, 2))
SEED_34 = key_counter_from_seed((3, 4))


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def test_categorical_equals_tensorflow():
    inf, nan = np.inf, np.nan
    logits = np.float32([[0, 1, 2, -1], [3, -inf, 0.5, nan], [-1, inf, -2, 0]])
    assert categorical(*SEED_12, logits, 11).tolist() == [
        [2, 3, 1, 2, 2, 2, 2, 1, 2, 2, 2],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [3, 3, 2, 3, 3, 3, 3, 3, 3, 3, 3],
    ]
    assert categorical(*SEED_34, logits[:1], 6).tolist() == [[2, 2, 1, 2, 2, 2]]
    spread = np.linspace(-2, 2, 35).reshape(5, 7).astype(np.float32)
    assert digest(categorical(*SEED_12, spread, 101)) == "9232fa6e9aae5fdf"


def test_categorical_without_a_finite_logit_gives_no_class():
    logits = np.full((1, 3), -np.inf, np.float32)
    assert categorical(*SEED_12, logits, 4).tolist() == [[3, 3, 3, 3]]


@pytest.mark.parametrize("at_once", [1, 100, 1 << 16])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_few_classes_are_counted_with_the_results_of_a_search(at_once, dtype, monkeypatch):
    logits = np.random.default_rng(0).normal(size=(23, 9)).astype(np.float32)
    logits[3, 2:5], logits[4], logits[5, 0], logits[6, 1] = -np.inf, -np.inf, np.nan, np.inf
    monkeypatch.setattr(discrete, "_COMPARED_AT_ONCE", at_once)
    counted = categorical(*SEED_34, logits, 7, dtype)
    monkeypatch.setattr(discrete, "_MOST_COMPARED", 0)
    searched = categorical(*SEED_34, logits, 7, dtype)
    np.testing.assert_array_equal(counted, searched)
    assert counted.dtype == searched.dtype == dtype
    assert (counted[4] == 9).all()


def test_categorical_shapes_and_dtypes():
    out = categorical(*SEED_12, np.zeros((2, 3)), 5, np.int32)
    assert out.dtype == np.int32
    assert out.shape == (2, 5)
    assert categorical(*SEED_12, np.zeros((0, 3)), 5).shape == (0, 5)
    assert categorical(*SEED_12, np.zeros((2, 3)), 0).shape == (2, 0)
    with pytest.raises(ValueError, match="num_classes should be positive, got 0"):
        categorical(*SEED_12, np.zeros((2, 0)), 5)


def test_categorical_does_not_change_its_logits():
    logits = np.array([[np.nan, 0.0]])
    categorical(*SEED_12, logits, 5)
    assert np.isnan(logits[0, 0])


def test_categorical_proportions():
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    drawn = categorical(*SEED_12, np.log(weights)[None] + 500, 100_000)
    np.testing.assert_allclose(np.bincount(drawn[0]) / drawn.size, weights, atol=0.006)


def test_permutation_equals_tensorflow():
    assert permutation(*SEED_12, 8).tolist() == [4, 2, 1, 7, 3, 6, 0, 5]
    assert permutation(*SEED_34, 8).tolist() == [3, 0, 2, 7, 1, 5, 6, 4]
    assert permutation(*SEED_12, 13).tolist() == [10, 6, 3, 12, 11, 0, 2, 7, 4, 1, 8, 5, 9]
    assert digest(permutation(*SEED_12, 5000)) == "818748d425fd2f40"


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5, 1025])
def test_permutation_permutes(size):
    out = permutation(*SEED_34, size)
    assert out.dtype == np.int64
    assert sorted(out.tolist()) == list(range(size))


def test_permutations_are_equally_frequent():
    counts: dict[tuple[int, ...], int] = {}
    for i in range(6000):
        order = tuple(permutation(5, i, 3).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert all(850 < count < 1150 for count in counts.values())


def test_blocks_used():
    assert categorical_blocks_used(3, 5) == 8
    assert permutation_blocks_used(1025) == 257
