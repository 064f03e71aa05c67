"""ctc_loss, ctc_greedy_decoder, collapse_repeated; moments, averages and local response."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, check_case, f32, f64

N = tf.nn
LABELS = np.array([[1, 2, 2], [3, 0, 0]], np.int32)
LENGTHS, TIMES = np.array([3, 1], np.int32), np.array([5, 3], np.int32)


def collapsed(path, blank):
    merged = [k for k, _ in itertools.groupby(path)]
    return [k for k in merged if k != blank]


def by_paths(logits, blank=0):
    """The loss as a sum over all paths."""
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    out = []
    for n in range(logits.shape[1]):
        wanted = LABELS[n, : LENGTHS[n]].tolist()
        total = sum(
            np.prod([probabilities[t, n, k] for t, k in enumerate(path)])
            for path in itertools.product(range(logits.shape[2]), repeat=int(TIMES[n]))
            if collapsed(path, blank) == wanted
        )
        out.append(-np.log(total))
    return np.array(out)


def loss(logits, blank=0):
    return N.ctc_loss(LABELS, logits, LENGTHS, TIMES, blank_index=blank)


def neighbours(x, radius):
    n = x.shape[-1]
    return np.stack([x[..., max(i - radius, 0) : i + radius + 1].sum(-1) for i in range(n)], -1)


CASES = [
    Case(loss, [f32(5, 2, 4)], {}, by_paths, second=False, rtol=1e-4),
    Case(loss, [f64(5, 2, 4)], {"blank": 0}, second=False, unknown_rank=False),
    Case(
        lambda x: N.ctc_loss(LABELS, x, LENGTHS, TIMES, logits_time_major=False),
        [f32(2, 5, 4)],
        {},
        lambda x: by_paths(x.swapaxes(0, 1)),
        second=False,
        rtol=1e-4,
    ),
    Case(
        N.collapse_repeated,
        [[[1, 1, 2, 2, 0], [3, 3, 3, 1, 1]], [5, 4]],
        {},
        lambda x, n: [np.array([[1, 2, 0], [3, 1, 0]]), np.array([3, 2])],
        unknown_rank=False,
    ),
    Case(N.compute_average_loss, [f32(5)], {}, lambda x: x.mean()),
    Case(
        N.compute_average_loss,
        [f32(5, 2), f32(5)],
        {"global_batch_size": 20},
        lambda x, w: (x * w[:, None]).sum() / 20,
    ),
    Case(N.scale_regularization_loss, [f32(2, 3)], {}, np.sum),
    Case(
        lambda x: N.sufficient_statistics(x, [0, -1])[:3],
        [f32(2, 3, 4)],
        {},
        lambda x: [np.float32(8), x.sum((0, 2)), (x * x).sum((0, 2))],
    ),
    Case(
        lambda x: N.sufficient_statistics(x, [1], shift=0.5, keepdims=True)[1:3],
        [f32(2, 3)],
        {},
        lambda x: [(x - 0.5).sum(1, keepdims=True), ((x - 0.5) ** 2).sum(1, keepdims=True)],
    ),
    Case(
        lambda x: N.normalize_moments(*N.sufficient_statistics(x, [0], shift=2.0)),
        [f32(5, 3)],
        {},
        lambda x: [x.mean(0), x.var(0)],
        rtol=1e-4,
    ),
    *[
        Case(
            lambda x, w, a=axes, k=keep: N.weighted_moments(x, a, w, k),
            [f32(4, 3), f32(4, 1, low=0.5)],
            {},
            lambda x, w, a=axes, k=keep: [
                np.average(x, a, np.broadcast_to(w, x.shape), keepdims=k),
                np.average(
                    (x - np.average(x, a, np.broadcast_to(w, x.shape), keepdims=True)) ** 2,
                    a,
                    np.broadcast_to(w, x.shape),
                    keepdims=k,
                ),
            ],
            rtol=1e-4,
            label=f"weighted moments {axes}",
        )
        for axes, keep in ((0, False), (1, True), ((0, 1), False))
    ],
    Case(
        N.local_response_normalization,
        [f32(2, 3, 1, 5)],
        {"depth_radius": 1, "bias": 2.0, "alpha": 0.5, "beta": 0.75},
        lambda x: x / (2 + 0.5 * neighbours(x * x, 1)) ** 0.75,
    ),
    Case(
        N.lrn,
        [f32(1, 1, 2, 300)],
        {"depth_radius": 2},
        lambda x: x / np.sqrt(1 + neighbours(x * x, 2)),
        grad=False,
    ),
    Case(N.lrn, [f32(1, 2, 3, 4)], {}, lambda x: x / np.sqrt(1 + (x * x).sum(-1, keepdims=True))),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_case(case: Case) -> None:
    check_case(case)


def gradient(fn, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fn(x)
    return y, tape.gradient(y, x)


def test_labels_that_do_not_fit_into_the_time() -> None:
    logits = np.zeros((3, 2, 3), np.float32)
    y, g = gradient(lambda x: N.ctc_loss([[1, 1], [1, 2]], x, [2, 2], [2, 2]), logits)
    assert np.isinf(y[0])
    assert np.isfinite(y[1])
    assert not g[:, 0].numpy().any()
    assert g[:2, 1].numpy().any()
    assert not g[2, 1].numpy().any()


def test_no_labels_and_no_time() -> None:
    logits = np.log(np.array([[[0.25, 0.75]]], np.float32))
    np.testing.assert_allclose(N.ctc_loss([[1]], logits, [0], [1]), [-np.log(0.25)], 1e-5)
    assert N.ctc_loss([[1]], logits, [0], [0]).numpy().tolist() == [0.0]
    assert N.ctc_loss(np.zeros((1, 0), np.int32), logits, [0], [1]).shape == (1,)


def test_sparse_labels() -> None:
    logits = np.random.default_rng(0).normal(size=(5, 2, 4)).astype(np.float32)
    sparse = SimpleNamespace(
        indices=[[0, 0], [0, 1], [0, 2], [1, 0]], values=[1, 2, 2, 3], dense_shape=[2, 3]
    )
    got = N.ctc_loss(sparse, logits, None, TIMES, blank_index=0)
    np.testing.assert_allclose(got, loss(logits), 1e-6)
    with pytest.raises(ValueError, match="blank_index must be given when labels are sparse"):
        N.ctc_loss(sparse, logits, None, TIMES)


def test_greedy_decoder() -> None:
    best = np.array([[1, 1, 3, 1, 0], [2, 2, 0, 0, 0]]).T
    inputs = np.eye(4, dtype=np.float32)[best] * 2
    (decoded,), scores = N.ctc_greedy_decoder(inputs, [5, 2])
    assert decoded.indices.numpy().tolist() == [[0, 0], [0, 1], [0, 2], [1, 0]]
    assert decoded.values.numpy().tolist() == [1, 1, 0, 2]
    assert decoded.dense_shape.numpy().tolist() == [2, 3]
    assert scores.numpy().tolist() == [[-10.0], [-4.0]]
    (unmerged,), _ = N.ctc_greedy_decoder(inputs, [5, 2], merge_repeated=False, blank_index=0)
    assert unmerged.values.numpy().tolist() == [1, 1, 3, 1, 2, 2]
    traced = tf.function(lambda x: N.ctc_greedy_decoder(x, [5, 2])[0][0].values)
    assert traced(inputs).numpy().tolist() == [1, 1, 0, 2]


def test_errors() -> None:
    logits = np.zeros((3, 1, 3), np.float32)
    for call, text in [
        (lambda: N.ctc_loss([[1]], logits, [1], [4]), "logit_length must be between 0 and 3"),
        (lambda: N.ctc_loss([[1]], logits, [2], [3]), "label_length must be between 0 and 1"),
        (lambda: N.ctc_loss([[5]], logits, [1], [3]), r"labels must be in \[0, 3\), got 5 to 5"),
        (lambda: N.ctc_loss([[1]], logits, [1], [3], blank_index=7), "blank_index 7 is no class"),
        (lambda: N.ctc_loss([[1], [1]], logits, [1], [3]), "batch sizes of logits and labels"),
        (lambda: N.ctc_loss([[1]], logits, None, [3]), "label_length must be given"),
        (lambda: N.compute_average_loss(1.0), "per_example_loss must have rank at least 1"),
        (lambda: N.compute_average_loss([1.0], global_batch_size=-1), "must not be negative"),
        (lambda: N.lrn(logits), "input must have rank 4"),
        (lambda: N.lrn(logits[None], depth_radius=-1), "depth_radius must not be negative"),
        (lambda: N.sufficient_statistics(logits, None), "axes must be given"),
    ]:
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=text):
            call()
    with pytest.raises(tf.errors.FailedPreconditionError, match="sequence_length must be between"):
        N.ctc_greedy_decoder(logits, [4])
    with pytest.raises(TypeError, match="global_batch_size must be an integer"):
        N.compute_average_loss([1.0], global_batch_size=2.0)


def test_the_average_of_no_losses_is_0() -> None:
    assert N.compute_average_loss(tf.zeros([0, 3])).numpy() == 0


def test_the_blank_is_no_label() -> None:
    logits = np.zeros((4, 1, 4), np.float32)
    refused = "labels must not be the blank, 0, within label_length; give the real number"
    for run in (N.ctc_loss, tf.function(N.ctc_loss)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=refused):
            run(tf.constant([[1, 0, 2]]), logits, [3], [4], blank_index=0)
        padded = run(tf.constant([[1, 0, 0]]), logits, [1], [4], blank_index=0)
        np.testing.assert_allclose(padded, run(tf.constant([[1]]), logits, [1], [4], blank_index=0))
    sparse = tf.sparse.SparseTensor([[0, 0], [0, 1]], np.array([3, 1], np.int32), [1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="the blank, 3, within"):
        N.ctc_loss(sparse, logits, None, [4], blank_index=-1)


# --- beams, labels -------------------------------------------------------------------------------

# TensorFlow 2.21: (times, batch, classes), beam width, lengths, and of each path of each row the
# labels and the logarithm of their probability.
BEAMS: list[Any] = json.loads((Path(__file__).parent / "ctc_beams.json").read_text())


@pytest.mark.parametrize("case", range(len(BEAMS)))
@pytest.mark.parametrize("traced", [False, True])
def test_beam_search(case: int, traced: bool) -> None:
    paths, scores, (times, batch, classes, width, count), lengths = BEAMS[case]
    x = np.random.default_rng(case).normal(size=(times, batch, classes)) * 2

    def decode(x: Any, lengths: Any) -> Any:
        return tf.nn.ctc_beam_search_decoder(x, lengths, beam_width=width, top_paths=count)

    run = tf.function(decode) if traced else decode
    decoded, found = run(tf.constant(x.astype(np.float32)), tf.constant(lengths))
    np.testing.assert_allclose(found, scores, rtol=1e-5)
    for sparse, (indices, values, shape) in zip(decoded, paths, strict=True):
        assert sparse.indices.numpy().tolist() == indices
        assert sparse.values.numpy().tolist() == values
        assert sparse.dense_shape.numpy().tolist() == shape


def test_beam_search_against_all_paths() -> None:
    x = np.random.default_rng(7).normal(size=(4, 1, 3))
    likely = x[:, 0] - np.log(np.exp(x[:, 0]).sum(-1, keepdims=True))
    totals: dict[tuple[int, ...], float] = {}
    for path in itertools.product(range(3), repeat=4):
        labels = tuple(k for k, _ in itertools.groupby(path) if k != 2)
        chance = np.exp(sum(likely[t, k] for t, k in enumerate(path)))
        totals[labels] = totals.get(labels, 0.0) + chance
    best = sorted(totals.items(), key=lambda item: -item[1])[:5]
    decoded, scores = tf.nn.ctc_beam_search_decoder(x, [4], beam_width=200, top_paths=5)
    np.testing.assert_allclose(scores[0], np.log([chance for _, chance in best]), rtol=1e-12)
    assert [tuple(path.values.numpy().tolist()) for path in decoded] == [k for k, _ in best]


def test_beam_search_refuses() -> None:
    x = tf.zeros([2, 1, 3])
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"between 0 and 2, got \[5\]"):
        tf.nn.ctc_beam_search_decoder(x, [5])
    with pytest.raises(ValueError, match="between 1 and beam_width, 1, got 3"):
        tf.nn.ctc_beam_search_decoder(x, [2], beam_width=1, top_paths=3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="only 1 sequences of labels"):
        tf.nn.ctc_beam_search_decoder(x, [0], top_paths=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="the batch sizes of inputs and"):
        tf.nn.ctc_beam_search_decoder(x, [1, 1])
    (empty,), scores = tf.nn.ctc_beam_search_decoder(x, [0])
    assert (empty.dense_shape.numpy().tolist(), scores.numpy().tolist()) == ([1, 0], [[0.0]])


@pytest.mark.parametrize("traced", [False, True])
def test_unique_labels(traced: bool) -> None:
    run = tf.function(tf.nn.ctc_unique_labels) if traced else tf.nn.ctc_unique_labels
    unique, places = run(tf.constant([[1, 2, 2, 3], [4, 4, 0, 0]]))
    assert (unique.dtype, places.dtype) == (tf.int64, tf.int32)
    assert unique.numpy().tolist() == [[1, 2, 3, 0], [4, 0, 0, 0]]
    assert places.numpy().tolist() == [[0, 1, 1, 2], [0, 0, 1, 1]]
    for shape in ([2, 0], [0, 3]):
        unique, places = run(tf.zeros(shape, tf.int32))
        assert unique.shape == places.shape == shape
