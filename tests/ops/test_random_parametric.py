"""Gamma, Poisson and binomial numbers, and single places of a permutation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import weft as tf

R = tf.random
SEED = [1, 2]
COUNT = 20_000


def check_counts(drawn, distribution) -> None:
    """Chi-squared over a dozen classes of about equal probability."""
    edges = np.unique(distribution.ppf(np.linspace(0.05, 0.95, 12)))
    expected = np.diff(np.concatenate([[0], distribution.cdf(edges), [1]])) * len(drawn)
    found = np.histogram(drawn, np.concatenate([[-np.inf], edges + 0.5, [np.inf]]))[0]
    kept = expected > 5
    scale = found[kept].sum() / expected[kept].sum()
    assert stats.chisquare(found[kept], expected[kept] * scale).pvalue > 1e-4


@pytest.mark.parametrize("alpha", [0.05, 0.7, 1.0, 3.5, 400.0])
def test_gamma_is_gamma(alpha: float) -> None:
    drawn = R.stateless_gamma([COUNT], SEED, alpha, dtype=tf.float64).numpy()
    assert stats.kstest(drawn, stats.gamma(alpha).cdf).pvalue > 1e-4
    halves = R.stateless_gamma([COUNT], SEED, alpha, beta=2.0, dtype=tf.float64)
    np.testing.assert_allclose(halves, drawn / 2)


@pytest.mark.parametrize("lam", [0.1, 3.0, 9.9, 10.0, 70.0, 1e5])
def test_poisson_is_poisson(lam: float) -> None:
    drawn = R.stateless_poisson([COUNT], SEED, lam, dtype=tf.int64).numpy()
    check_counts(drawn, stats.poisson(lam))


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.3), (20, 0.1), (20, 0.9), (100, 0.5), (1000, 0.7), (10**6, 1e-6)]
)
def test_binomial_is_binomial(n: int, p: float) -> None:
    drawn = R.stateless_binomial([COUNT], SEED, float(n), p, output_dtype=tf.int64).numpy()
    assert drawn.min() >= 0
    assert drawn.max() <= n
    check_counts(drawn, stats.binom(n, p))


def test_numbers_do_not_depend_on_their_neighbours() -> None:
    alone = R.stateless_gamma([3], SEED, [2.0, 0.1, 50.0])
    together = R.stateless_gamma([3], SEED, [2.0, 7.0, 50.0])
    assert (alone == together).numpy().tolist() == [True, False, True]


def test_shapes_and_dtypes() -> None:
    assert R.gamma([2], [[1.0], [2.0]], beta=[1.0, 2.0, 3.0]).shape == (2, 2, 3)
    assert R.gamma([], 1.0, dtype=tf.float16).dtype is tf.float16
    assert R.poisson([4], [1.0, 2.0], dtype=tf.int32).shape == (4, 2)
    assert R.poisson([2], 3).dtype is tf.float32
    assert R.stateless_gamma([2, 3], SEED, [1.0, 2.0, 3.0], beta=[[1.0], [2.0]]).shape == (2, 3)
    assert R.stateless_binomial([0, 2], SEED, [1.0, 2.0], 0.5).shape == (0, 2)
    assert R.Generator.from_seed(1).binomial([2, 3], [5.0, 6.0, 7.0], 0.5).shape == (2, 3)
    assert R.stateless_binomial([2], SEED, 10, 0.5).dtype is tf.int32


def test_seeds_determine_the_numbers() -> None:
    for draw in (
        lambda: R.stateless_gamma([5], SEED, 2.0),
        lambda: R.stateless_poisson([5], SEED, 30.0),
        lambda: R.stateless_binomial([5], SEED, 30.0, 0.4),
        lambda: R.Generator.from_seed(3).binomial([5], 30.0, 0.4),
    ):
        np.testing.assert_array_equal(draw(), draw())
    for draw in (lambda: R.gamma([5], 2.0, seed=1), lambda: R.poisson([5], 9.0, seed=1)):
        R.set_seed(5)
        first, second = draw(), draw()
        R.set_seed(5)
        np.testing.assert_array_equal(draw(), first)
        assert (first != second).numpy().any()
    assert R.stateless_gamma([5], [1, 3], 2.0)[0] != R.stateless_gamma([5], SEED, 2.0)[0]


def test_traced_with_unknown_sizes() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32), tf.TensorSpec(None)])
    def draw(shape, rates):
        return R.stateless_gamma(shape, SEED, rates), R.stateless_poisson(shape, SEED, rates)

    rates = tf.constant([2.0, 0.5, 40.0])
    gammas, counts = draw(tf.constant([4, 3]), rates)
    np.testing.assert_array_equal(gammas, R.stateless_gamma([4, 3], SEED, rates))
    np.testing.assert_array_equal(counts, R.stateless_poisson([4, 3], SEED, rates))


def test_draws_move_with_alpha() -> None:
    alpha = tf.constant([0.5, 2.0, 30.0], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(alpha)
        drawn = R.stateless_gamma([4, 3], SEED, alpha, dtype=tf.float64)
    place = stats.gamma(alpha.numpy()).cdf(drawn.numpy())
    step = 1e-6
    ahead = stats.gamma(alpha.numpy() + step).ppf(place)
    expected = ((ahead - drawn.numpy()) / step).sum(0)
    np.testing.assert_allclose(tape.gradient(drawn, alpha), expected, 1e-3)


def test_ends_of_the_parameters() -> None:
    assert np.isnan(R.stateless_gamma([2], SEED, [-1.0, np.nan])).all()
    assert R.stateless_gamma([1], SEED, 0.0).numpy() == np.finfo(np.float32).tiny
    assert R.stateless_poisson([2], SEED, [0.0, -1.0]).numpy().tolist() == [0, 0]
    ends = R.stateless_binomial([4], SEED, [10.0, 10.0, 10.0, -3.0], [0.0, 1.0, 1.5, 0.5])
    assert ends.numpy().tolist() == [0, 10, 10, 0]


@pytest.mark.parametrize("largest", [0, 1, 2, 6, 100])
def test_indices_are_permuted(largest: int) -> None:
    places = R.experimental.index_shuffle(tf.range(largest + 1), SEED, largest).numpy()
    assert sorted(places.tolist()) == list(range(largest + 1))


def test_index_shuffle_of_single_numbers() -> None:
    shuffle = R.experimental.index_shuffle
    whole = shuffle(tf.range(10), SEED, 9).numpy()
    assert [int(shuffle(i, SEED, 9)) for i in range(10)] == whole.tolist()
    assert shuffle(tf.constant(2**40, tf.int64), SEED, 2**41).dtype is tf.int64
    pairs = shuffle([0, 1], [[1, 2], [3, 4]], [9, 5]).numpy()
    assert pairs.tolist() == [int(shuffle(0, [1, 2], 9)), int(shuffle(1, [3, 4], 5))]
    assert whole.tolist() != shuffle(tf.range(10), [1, 3], 9).numpy().tolist()


def test_index_shuffle_is_even() -> None:
    seeds = np.stack([np.arange(6000), np.zeros(6000)], 1).astype(np.int64)
    places = R.experimental.index_shuffle(np.zeros(6000, np.int64), seeds, 5).numpy()
    assert stats.chisquare(np.bincount(places, minlength=6)).pvalue > 1e-4


def test_errors() -> None:
    shuffle = R.experimental.index_shuffle
    for call, text in [
        (lambda: R.stateless_gamma([2, 3], SEED, [1.0, 2.0]), "gamma: shapes"),
        (lambda: R.stateless_poisson([3], SEED, [[1.0], [2.0]]), "shape must end with the shape"),
        (lambda: R.stateless_poisson([2], SEED, np.nan), "poisson: lam must be finite"),
        (lambda: R.stateless_binomial([2], SEED, 3.0, np.nan), "probs must not be NaN"),
        (lambda: shuffle(10, SEED, 9), "index must be between 0 and max_index"),
        (lambda: shuffle(-1, SEED, 9), "index must be between 0 and max_index"),
        (lambda: shuffle(0, [1, 2, 3], 9), "the last size of seed and 2"),
    ]:
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=text):
            call()
    for call, text in [
        (lambda: R.gamma([2], 1.0, dtype=tf.int32), "random.gamma: dtype must be floating-point"),
        (lambda: R.poisson([2], 1.0, dtype=tf.uint8), "random.poisson: dtype must be one of"),
        (lambda: shuffle(0.0, SEED, 9), "RandomIndexShuffle: index has dtype float32"),
    ]:
        with pytest.raises(TypeError, match=text):
            call()
