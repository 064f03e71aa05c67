"""Candidate samplers, and losses computed with a sample of the classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, check_case, f32

CLASSES = tf.constant([[1, 5], [2, 2], [7, 1]], tf.int64)
UNIGRAMS = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
R = tf.random


def draw(kind: str, count: int, unique: bool, seed: int | None = None) -> Any:
    if kind == "fixed":
        return R.fixed_unigram_candidate_sampler(
            CLASSES, 2, count, unique, 8, unigrams=UNIGRAMS, seed=seed
        )
    sampler = R.uniform_candidate_sampler if kind == "uniform" else R.log_uniform_candidate_sampler
    return sampler(CLASSES, 2, count, unique, 8, seed=seed)


PROBABILITIES = {
    "uniform": np.full(8, 1 / 8),
    "log": np.log(np.arange(2, 10) / np.arange(1, 9)) / np.log(9),
    "fixed": np.array(UNIGRAMS) / sum(UNIGRAMS),
}


@pytest.mark.parametrize("kind", PROBABILITIES)
def test_numbers_follow_the_distribution(kind: str) -> None:
    tf.random.set_seed(3)
    found = draw(kind, 40000, False)
    likely = PROBABILITIES[kind]
    share = np.bincount(found.sampled_candidates.numpy(), minlength=8) / 40000
    np.testing.assert_allclose(share, likely, atol=5 * np.sqrt(0.25 / 40000))
    expected = 40000 * likely
    np.testing.assert_allclose(found.true_expected_count, expected[CLASSES.numpy()], rtol=1e-5)
    sampled = expected[found.sampled_candidates.numpy()]
    np.testing.assert_allclose(found.sampled_expected_count, sampled, rtol=1e-5)


@pytest.mark.parametrize("kind", PROBABILITIES)
@pytest.mark.parametrize("count", [2, 6, 8])
def test_different_candidates(kind: str, count: int) -> None:
    tf.random.set_seed(5)
    totals = np.zeros(8)
    promised = np.zeros(8)
    for _ in range(400):
        found = draw(kind, count, True)
        candidates = found.sampled_candidates.numpy()
        assert len(set(candidates.tolist())) == count
        totals[candidates] += 1
        promised[CLASSES.numpy()] += found.true_expected_count.numpy()
    if count == 8:
        assert (totals == 400).all()
    else:  # about as often as promised
        for k in (1, 2, 5, 7):
            assert promised[k] == pytest.approx(totals[k], rel=0.35)


def test_expected_counts_of_different_ones() -> None:
    """1 - (1 - p)^tries, the same tries for all classes; TensorFlow's are of this form."""
    tf.random.set_seed(1)
    for _ in range(20):
        found = draw("fixed", 4, True)
        likely = PROBABILITIES["fixed"][CLASSES.numpy()]
        count = found.true_expected_count.numpy().astype(np.float64)
        if np.allclose(count, 4 * likely, rtol=1e-5):
            continue  # four draws were enough
        tries = np.log1p(-count) / np.log1p(-likely)
        assert np.allclose(tries, np.round(tries), atol=1e-3)
        assert np.ptp(np.round(tries)) == 0


def test_seeds_and_functions() -> None:
    tf.random.set_seed(7)
    first = draw("log", 5, True, seed=1).sampled_candidates.numpy()
    second = draw("log", 5, True, seed=1).sampled_candidates.numpy()
    tf.random.set_seed(7)
    again = draw("log", 5, True, seed=1).sampled_candidates.numpy()
    assert first.tolist() == again.tolist() != second.tolist()

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.int64)])
    def traced(classes: Any) -> Any:
        return R.uniform_candidate_sampler(classes, 2, 5, False, 1000)

    runs = [traced(CLASSES) for _ in range(2)]
    assert runs[0].true_expected_count.shape == (3, 2)
    assert (
        runs[0].sampled_candidates.numpy().tolist() != runs[1].sampled_candidates.numpy().tolist()
    )


def test_all_candidates() -> None:
    found = tf.nn.all_candidate_sampler(CLASSES, 2, 8, False)
    assert found.sampled_candidates.numpy().tolist() == list(range(8))
    assert found.true_expected_count.numpy().tolist() == [[1, 1]] * 3


def test_weights(tmp_path: Path) -> None:
    def expected(classes: Any, count: int, range_max: int, **more: Any) -> Any:
        found = R.fixed_unigram_candidate_sampler(classes, 2, count, False, range_max, **more)
        return found.true_expected_count.numpy()

    bent = expected(CLASSES, 4, 8, unigrams=UNIGRAMS, distortion=0.75)
    np.testing.assert_allclose(bent[0], [0.2799788, 0.63821363], rtol=1e-6)
    reserved = expected(CLASSES, 4, 8, unigrams=UNIGRAMS[:7], num_reserved_ids=1)
    np.testing.assert_allclose(reserved[0], [0.14285715, 0.71428573], rtol=1e-6)
    few = tf.constant([[1, 3], [2, 2]], tf.int64)
    part = expected(few, 3, 4, unigrams=UNIGRAMS, num_shards=2, shard=1)
    np.testing.assert_allclose(part, [[0.6, 1.2], [0.9, 0.9]], rtol=1e-6)
    path = tmp_path / "words.csv"
    path.write_text('a,1\n"b, c",2\nd,5\n')
    np.testing.assert_allclose(expected([[2, 0]], 3, 3, vocab_file=path), [[1.875, 0.375]])


def test_weights_that_would_never_be_drawn() -> None:
    weights = [1.0, 1e-30, 1.0]
    found = R.fixed_unigram_candidate_sampler([[0]], 1, 3, True, 3, unigrams=weights)
    assert sorted(found.sampled_candidates.numpy().tolist()) == [0, 1, 2]
    np.testing.assert_allclose(found.true_expected_count, [[1.0]])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: R.uniform_candidate_sampler(CLASSES, 2, 9, True, 8), ValueError, None),
        (lambda: R.uniform_candidate_sampler([[8]], 1, 2, True, 8), None, "less than 8, got 8"),
        (lambda: R.uniform_candidate_sampler(CLASSES, 1, 2, True, 8), None, "columns of true"),
        (lambda: R.fixed_unigram_candidate_sampler([[0]], 1, 1, True, 3), ValueError, "either"),
        (
            lambda: R.fixed_unigram_candidate_sampler([[0]], 1, 1, True, 3, unigrams=[1.0]),
            None,
            "1 weights, range_max is 3",
        ),
        (
            lambda: R.fixed_unigram_candidate_sampler([[0]], 1, 2, True, 2, unigrams=[1.0, 0.0]),
            None,
            "weight above 0",
        ),
        (
            lambda: R.fixed_unigram_candidate_sampler([[0]], 1, 1, True, 1, vocab_file="/no/file"),
            None,
            "cannot be read",
        ),
    ],
)
def test_refusals(call: Any, error: Any, text: Any) -> None:
    if text is None:
        error, text = None, "no 9 different candidates"
    with pytest.raises(error or tf.errors.InvalidArgumentError, match=text):
        call()


def test_accidental_hits_of_candidates_that_come_twice() -> None:
    """The last of them counts: what TensorFlow gives."""
    for true, drawn, wanted in (
        ([[1], [5]], [5, 2, 1, 5], [[0, 1], [2, 3]]),
        ([[1, 5]], [5, 5, 1, 1, 5], [[0, 0], [3, 4]]),
        ([[5, 5]], [5, 1], [[0, 0], [0, 0]]),
    ):
        found = tf.nn.compute_accidental_hits(true, drawn, len(true[0]))
        assert [found.indices.numpy().tolist(), found.ids.numpy().tolist()] == wanted


def test_accidental_hits() -> None:
    found = tf.nn.compute_accidental_hits(CLASSES, tf.constant([2, 1, 9, 5], tf.int64), 2)
    assert found.indices.numpy().tolist() == [0, 0, 1, 1, 2]
    assert found.ids.numpy().tolist() == [1, 3, 0, 0, 1]
    assert found.weights.numpy().tolist() == [np.finfo(np.float32).min] * 5


# --- losses, with what TensorFlow gives ----------------------------------------------------------

WEIGHTS = np.arange(12, dtype=np.float32).reshape(6, 2) / 10
BIASES = np.arange(6, dtype=np.float32) / 7
LABELS = np.array([[1], [3], [0]])
PAIRS = np.array([[1, 2], [3, 3], [0, 5]])
INPUTS = np.array([[1, 2], [3, 4], [-1, 0.5]], np.float32)
EXPECTED = np.array([[0.5, 0.1], [0.25, 0.2], [0.75, 0.9]], np.float32)
SAMPLED = (np.array([3, 0, 5, 2]), np.array([0.1, 0.2, 0.3, 0.4], np.float32))


def loss(function: Any, weights: Any = WEIGHTS, labels: Any = LABELS, **more: Any) -> Any:
    count = labels.shape[1]
    values = (SAMPLED[0], EXPECTED[:, :count], SAMPLED[1])
    found = function(
        weights, BIASES, labels, INPUTS, 4, 6, num_true=count, sampled_values=values, **more
    )
    return found.numpy()


@pytest.mark.parametrize(
    ("function", "labels", "removed", "expected"),
    [
        (tf.nn.nce_loss, LABELS, False, [14.676697, 23.201225, 7.960661]),
        (tf.nn.nce_loss, LABELS, True, [14.676697, 15.869412, 6.127063]),
        (tf.nn.nce_loss, PAIRS, False, [17.50721, 29.72897, 8.839632]),
        (tf.nn.sampled_softmax_loss, LABELS, True, [4.0849733, 2.9643307, 2.6857545]),
        (tf.nn.sampled_softmax_loss, LABELS, False, [4.0849733, 3.0856519, 2.9133973]),
        (tf.nn.sampled_softmax_loss, PAIRS, True, [3.0333486, 2.9152582, 2.5180564]),
    ],
)
def test_losses(function: Any, labels: Any, removed: bool, expected: list[float]) -> None:
    found = loss(function, labels=labels, remove_accidental_hits=removed)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_weights_in_parts() -> None:
    parts = [WEIGHTS[::2], WEIGHTS[1::2]]
    found = loss(tf.nn.sampled_softmax_loss, parts, remove_accidental_hits=False)
    np.testing.assert_allclose(found, [3.3302824, 5.8281054, 2.9925933], rtol=1e-6)


def test_a_sample_is_drawn() -> None:
    tf.random.set_seed(2)
    for function in (tf.nn.nce_loss, tf.nn.sampled_softmax_loss):
        found = function(WEIGHTS, BIASES, LABELS, INPUTS, 4, 6)
        assert found.shape == (3,)
        assert np.isfinite(found.numpy()).all()


def sampled_losses(weights: Any, biases: Any, inputs: Any) -> Any:
    values = (SAMPLED[0], tf.cast(EXPECTED[:, :1], inputs.dtype), tf.cast(SAMPLED[1], inputs.dtype))
    more = {"num_sampled": 4, "num_classes": 6, "sampled_values": values}
    return [
        tf.nn.nce_loss(weights, biases, LABELS, inputs, **more),
        tf.nn.sampled_softmax_loss(weights, biases, LABELS, inputs, **more),
    ]


def test_losses_in_every_mode() -> None:
    check_case(Case(sampled_losses, [f32(6, 2), f32(6), f32(3, 2)], second=False))


def test_normal_numbers_between_bounds() -> None:
    draw = R.stateless_parameterized_truncated_normal
    x = draw(
        [4000, 3], [1, 2], [0.0, 5.0, -1.0], [1.0, 0.5, 2.0], [-1.0, 6.0, -2.0], [1.0, 9.0, 0.0]
    )
    x = x.numpy()
    assert (x.min(0) >= [-1, 6, -2]).all()
    assert (x.max(0) <= [1, 9, 0]).all()
    np.testing.assert_allclose(x.mean(0), [0.0, 6.187, -1.0], atol=0.04)
    again = tf.function(draw)([4000, 3], [1, 2], minvals=-1.0, maxvals=1.0)
    np.testing.assert_allclose(again[:, 0].numpy().std(), 0.54, atol=0.03)
    assert draw([2], [1, 2], tf.constant(0.0, tf.float64)).dtype == tf.float64
    with pytest.raises(tf.errors.InvalidArgumentError, match="above maxvals"):
        draw([2], [1, 2], minvals=3.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="positive"):
        draw([2], [1, 2], stddevs=0.0)


# --- a sampler that learns -----------------------------------------------------------------------


@pytest.mark.parametrize("traced", [False, True])
def test_learned_candidates(traced: bool) -> None:
    def sample(true: Any) -> Any:
        return tf.nn.learned_unigram_candidate_sampler(true, 2, 3, False, 5, seed=int(traced))

    call = tf.function(sample) if traced else sample
    true = tf.constant([[0, 1], [0, 3]], tf.int64)
    weights = np.ones(5)
    for _ in range(3):
        sampled, of_true, of_sampled = call(true)
        likely = weights / weights.sum() * 3
        np.testing.assert_allclose(of_true, likely[true.numpy()], 1e-6)
        np.testing.assert_allclose(of_sampled, likely[sampled.numpy()], 1e-6)
        np.add.at(weights, true.numpy().ravel(), 1)


def test_learned_candidates_are_drawn_by_what_was_seen() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 1], tf.int64)])
    def sample(true: Any) -> Any:
        return tf.random.learned_unigram_candidate_sampler(true, 1, 50, False, 10)[0]

    sample(tf.fill([5000, 1], tf.constant(7, tf.int64)))
    drawn = sample(tf.constant([[7]], tf.int64)).numpy()
    assert (drawn == 7).sum() > 40
    unique = tf.nn.learned_unigram_candidate_sampler([[1]], 1, 4, True, 4)
    assert sorted(unique.sampled_candidates.numpy().tolist()) == [0, 1, 2, 3]


def test_learned_candidates_refuse_other_classes() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="less than 4, got 9"):
        tf.nn.learned_unigram_candidate_sampler([[9]], 1, 2, False, 4, seed=77)
    found = tf.nn.learned_unigram_candidate_sampler([[1]], 1, 2, False, 4, seed=77)
    assert found.true_expected_count.numpy() == 0.5  # nothing was counted
    with pytest.raises(tf.errors.ShapeError, match="range_max must be positive"):
        tf.nn.learned_unigram_candidate_sampler([[1]], 1, 2, False, 0)
