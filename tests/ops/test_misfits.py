"""Inputs of ops that do not belong together: the same on every tier, and never foreign memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from fuzzing import corpus, misfits
from weft._src.ops.registry import find_op
from weft.errors import ShapeError

SAMPLE = 120


@pytest.mark.parametrize("part", range(4))
def test_ops_with_one_input_of_another_shape(part: int) -> None:
    names = len(corpus.ops())
    for k in range(part, SAMPLE, 4):  # spread over all ops
        assert misfits.check_misfit(k * names // SAMPLE) is None


@pytest.mark.parametrize("jit", [None, True])
def test_labels_with_more_axes_than_logits(jit: bool | None) -> None:
    rng = np.random.default_rng(0)
    logits, labels = [rng.normal(size=s).astype("f") for s in ((3, 4), (2, 3, 4))]

    def loss(labels: Any, logits: Any) -> Any:
        return tf.nn.softmax_cross_entropy_with_logits(labels, logits)

    shifted = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    found = tf.function(loss, jit_compile=jit)(labels, logits)
    np.testing.assert_allclose(found, -(labels * shifted).sum(-1), rtol=1e-5)


def test_pinv_with_a_cutoff_for_each_row_of_more_axes() -> None:
    x = np.random.default_rng(0).normal(size=(3, 5)).astype("f")
    cutoffs = tf.constant([1e-6, 0.9])
    with tf.GradientTape() as tape:
        given = tf.constant(x)
        tape.watch(given)
        out = tf.linalg.pinv(given, cutoffs)
    assert out.shape == (2, 5, 3)
    np.testing.assert_allclose(out[0], np.linalg.pinv(x), rtol=1e-3, atol=1e-5)
    assert tape.gradient(out, given).shape == (3, 5)
    traced = tf.function(lambda x, c: tf.linalg.pinv(x, c))
    np.testing.assert_allclose(traced(x, cutoffs), out, rtol=1e-5)


@pytest.mark.parametrize("traced", [False, True])
def test_a_padding_value_is_a_scalar(traced: bool) -> None:
    def part(x: Any, padding: Any) -> Any:
        return tf.linalg.diag_part(x, k=(-1, 1), padding_value=padding)

    def whole(x: Any, padding: Any) -> Any:
        return tf.linalg.diag(x, padding_value=padding)

    signature = [tf.TensorSpec(None), tf.TensorSpec(None)]
    for function in (part, whole):
        call = tf.function(function, input_signature=signature) if traced else function
        with pytest.raises(ShapeError, match="padding_value"):
            call(tf.ones([3, 4]), tf.ones([4]))
        assert call(tf.ones([3, 4]), tf.constant(0.0)).shape[0] == 3


# Numbers that kernels take out of their arrays: older versions of NumPy do so with any of size 1.
TAKES_NUMBERS = (
    "FractionalPoolingSequence", "IRFFT", "NearestPlaces", "NonMaxSuppressionV5",
    "NonMaxSuppressionWithOverlaps", "PlacingBand", "Range", "ResizeAxis", "ResizeAxisBack",
)  # fmt: skip
TAKES_STATES = (
    "SampleBox", "StatelessMultinomial", "StatelessRandomBinomial", "StatelessRandomGammaV3",
    "StatelessRandomNormalV2", "StatelessRandomPoisson", "StatelessRandomUniformFullIntV2",
    "StatelessRandomUniformIntV2", "StatelessRandomUniformV2", "StatelessShuffle",
    "StatelessTruncatedNormalV2",
)  # fmt: skip


@pytest.mark.parametrize("name", TAKES_STATES)
def test_words_of_a_state_are_numbers(name: str) -> None:
    call = corpus.ops()[name][0]
    states = [i for i, a in enumerate(call.arrays) if a.shape == (3,) and a.dtype == np.int64]
    assert states
    for i in states:
        given = [a.reshape(3, 1) if k == i else a for k, a in enumerate(call.arrays)]
        with pytest.raises(ShapeError, match="state must have"):
            call.function(*map(tf.constant, given))


@pytest.mark.parametrize("name", TAKES_NUMBERS)
def test_an_array_of_one_number_is_no_number(name: str) -> None:
    call = corpus.ops()[name][0]
    numbers = [i for i, a in enumerate(call.arrays) if a.ndim == 0]
    assert numbers
    for i in numbers:
        given = [a.reshape(1) if k == i else a for k, a in enumerate(call.arrays)]
        with pytest.raises(ShapeError, match=r"must have rank 0, got shape \(1,\)"):
            call.function(*map(tf.constant, given))


@pytest.mark.parametrize("traced", [False, True])
def test_multiples_are_a_vector(traced: bool) -> None:
    gradient = find_op("TileGrad")
    run = tf.function(gradient) if traced else gradient
    with pytest.raises(ShapeError, match="multiples must have rank 1"):
        run(tf.constant(1.0), tf.zeros([0, 1], tf.int32), tf.zeros([0], tf.int32))
