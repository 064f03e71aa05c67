"""Functions whose ops several of TensorFlow's stand for: saved with these, loaded, the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

S, I = tf.signal, tf.image
IMAGE, ROWS, LINE = [2, 6, 5, 3], [3, 8], [16]


def _ctc(x: Any, blank: int) -> Any:
    """Rows that fit, do not fit, have no labels; with [batch, time] as the first axes of `x`."""
    labels = tf.constant([[1, 1, 7], [3, 7, 4], [5, 6, 7]]) % 7 + (0 if blank < 0 else 1)
    labels += tf.cast(labels == blank, tf.int32)
    times = x[:, :3] + tf.reshape(tf.range(3.0), [3, 1])
    times = tf.concat([times, -times, times * 0.5], 0)
    lengths, sizes = tf.constant([2, 3, 0]), tf.minimum(tf.constant([3, 2, 3]), tf.shape(times)[0])
    found = tf.nn.ctc_loss(labels, times, lengths, sizes, blank_index=blank)
    return tf.concat([found, tf.nn.ctc_loss(labels, times, [2, 1, 0], sizes, blank_index=blank)], 0)


def _gradient(loss: Any, x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = loss(x, 0)
        sums = tf.where(tf.math.is_finite(found), found * tf.range(1.0, 7.0), 0.0)
    return tape.gradient(sums, x)


def _learned(x: Any) -> Any:
    true = tf.cast(x[:, None], tf.int64)
    return tf.random.learned_unigram_candidate_sampler(true, 1, 3, True, 9).sampled_expected_count


CASES: dict[str, tuple[Callable[..., Any], list[int | None]]] = {
    "fft": (lambda x: tf.math.real(S.fft(tf.cast(x, tf.complex64))), [None, 8]),
    "ifft2d": (lambda x: tf.math.imag(S.ifft2d(tf.cast(x, tf.complex64))), ROWS),
    "rfft": (lambda x: tf.abs(S.rfft(x)), [None]),
    "rfft2d": (lambda x: tf.abs(S.rfft2d(x)), ROWS),
    "irfft2d": (lambda x: S.irfft2d(S.rfft2d(x)), ROWS),
    "stft": (lambda x: tf.abs(S.stft(x, 4, 2)), [None]),
    "inverse_stft": (lambda x: S.inverse_stft(S.stft(x, 4, 2), 4, 2), [None]),
    "dct": (lambda x: S.dct(x, norm="ortho"), [None, 8]),
    "idct": (S.idct, ROWS),
    "dct of a line": (lambda x: S.dct(x, type=1), LINE),
    "dct of any length": (S.dct, [None]),
    "dct, scaled": (lambda x: S.dct(x, norm="ortho"), [3, None]),
    "dct 1": (lambda x: S.dct(x, type=1), [None]),
    "dct 3": (lambda x: S.dct(x, type=3), [None, None]),
    "idct, scaled": (lambda x: S.idct(x, norm="ortho"), [None]),
    "dct 4": (lambda x: S.dct(x, type=4), [None]),
    "dct 4, scaled": (lambda x: S.dct(x, type=4, norm="ortho"), [None]),
    "eigh_tridiagonal": (lambda x: tf.linalg.eigh_tridiagonal(x, x[:, 1:]), [None, None]),
    "ctc": (lambda x: _ctc(x, 0), [None, None, None]),
    "ctc, another blank": (lambda x: _ctc(x, 2), [2, 3, 8]),
    "ctc, the last blank": (lambda x: _ctc(x, -1), [2, 3, 8]),
    "ctc, gradient": (lambda x: _gradient(_ctc, x), [2, None, None]),
    "tile, gradient": (
        lambda x: _gradient(lambda y, _: tf.reduce_sum(tf.tile(y, [2, 3]), 1)[:6], x),
        [None, None],
    ),
    "mfccs": (S.mfccs_from_log_mel_spectrograms, [None, 8]),
    "mdct": (lambda x: S.inverse_mdct(S.mdct(x, 4)), LINE),
    "overlap_and_add": (lambda x: S.overlap_and_add(x, 3), [2, None, 8]),
    "nearest": (lambda x: I.resize(x, [3, 9], "nearest"), [None, None, None, 3]),
    "bilinear": (lambda x: I.resize(x, [3, 9]), [None, None, None, 3]),
    "antialias": (lambda x: I.resize(x, [3, 2], antialias=True), IMAGE),
    "area": (lambda x: I.resize(x, [4, 9], "area"), IMAGE),
    "lanczos3": (lambda x: I.resize(x, [4, 9], "lanczos3"), IMAGE),
    "gaussian": (lambda x: I.resize(x, [4, 9], "gaussian"), IMAGE),
    "mitchellcubic": (lambda x: I.resize(x, [4, 9], "mitchellcubic", antialias=True), IMAGE),
    "suppression": (lambda x: I.non_max_suppression(x, tf.range(6.0), 4, 0.3), [6, 4]),
    "combined_suppression": (
        lambda x: I.combined_non_max_suppression(x[None, :, None], tf.ones([1, 6, 2]), 2, 3)[1],
        [6, 4],
    ),
    "argmax_pool": (
        lambda x: tf.nn.max_pool_with_argmax(x, 2, 2, "SAME", include_batch_in_index=True)[1],
        IMAGE,
    ),
    "dilation": (
        lambda x: tf.nn.dilation2d(
            x, tf.ones([2, 3, 3]), [1, 2, 1, 1], "SAME", "NHWC", [1, 1, 2, 1]
        ),
        IMAGE,
    ),
    "depthwise, dilated": (
        lambda x: tf.nn.depthwise_conv2d(
            x, tf.reshape(tf.range(36.0), [2, 3, 3, 2]), [1, 1, 1, 1], "SAME", dilations=[3, 2]
        ),
        IMAGE,
    ),
    "normalization": (lambda x: tf.nn.local_response_normalization(x, 1), IMAGE),
    "fake_quant": (lambda x: tf.quantization.fake_quant_with_min_max_args(x, -1, 1, 4), [None]),
    "fake_quant of channels": (
        lambda x: tf.quantization.fake_quant_with_min_max_vars_per_channel(
            x, -tf.ones(8), tf.ones(8)
        ),
        [None, 8],
    ),
    "pinv": (lambda x: tf.linalg.pinv(x, rcond=[0.3, 1e-6]), [2, 3, 4]),
    "abs of complex numbers": (lambda x: tf.abs(tf.complex(x, x)), [None]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_saved_and_loaded(tmp_path: Path, case: str) -> None:
    function, shape = CASES[case]
    module = tf.Module()
    module.f = tf.function(function, input_signature=[tf.TensorSpec(shape)])
    sizes = {1: LINE, 2: ROWS, 3: [2, 3, 8], 4: IMAGE}[len(shape)]
    known = [size if size is not None else other for size, other in zip(shape, sizes, strict=True)]
    x = tf.constant(np.random.default_rng(1).normal(size=known).astype(np.float32))
    tf.saved_model.save(module, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    wanted = module.f(x)
    np.testing.assert_allclose(loaded.f(x), wanted, rtol=1e-4, atol=1e-5)


def test_bytes_of_strings(tmp_path: Path) -> None:
    module = tf.Module()
    spec = tf.TensorSpec([None], tf.string)
    module.f = tf.function(lambda x: tf.strings.bytes_split(x).to_tensor(), input_signature=[spec])
    tf.saved_model.save(module, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    texts = tf.constant(["ab", "", "c"])
    np.testing.assert_array_equal(loaded.f(texts), module.f(texts))


@pytest.mark.parametrize(
    ("function", "shape", "match"),
    [
        (tf.linalg.expm, [3, 3], "no op for the exponential"),
        (S.dct, None, "the rank of its input must be known"),
        (lambda x: _learned(x), [2], "the weights of learned_unigram.* must be constants"),
        (lambda x: I.resize(x, [3, 3], "area"), [1, None, 4, 3], "must be known"),
    ],
)
def test_what_cannot_be_written_says_why(
    tmp_path: Path, function: Any, shape: Any, match: str
) -> None:
    module = tf.Module()
    module.f = tf.function(function, input_signature=[tf.TensorSpec(shape)])
    with pytest.raises(tf.errors.UnimplementedError, match=match):
        tf.saved_model.save(module, str(tmp_path / "model"))


def test_texts_with_values(tmp_path: Path) -> None:
    module = tf.Module()
    module.f = tf.function(
        lambda x: tf.strings.format("{} and {}", (x, tf.constant("t"))),
        input_signature=[tf.TensorSpec([None])],
    )
    tf.saved_model.save(module, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    x = tf.range(9.0)
    assert loaded.f(x).numpy() == module.f(x).numpy() == b'[0 1 2 ... 6 7 8] and "t"'


SAMPLERS: dict[str, Callable[..., Any]] = {
    "uniform": lambda x, unique: tf.random.uniform_candidate_sampler(x, 2, 5, unique, 9),
    "log_uniform": lambda x, unique: tf.random.log_uniform_candidate_sampler(x, 2, 5, unique, 9),
    "all": lambda x, unique: tf.random.all_candidate_sampler(x, 2, 5, unique),
    "fixed": lambda x, unique: tf.random.fixed_unigram_candidate_sampler(
        x, 2, 5, unique, 9, unigrams=list(range(1, 10))
    ),
}


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("kind", SAMPLERS)
def test_candidates(tmp_path: Path, kind: str, unique: bool) -> None:
    module = tf.Module()
    spec = tf.TensorSpec([None, 2], tf.int64)
    module.f = tf.function(lambda x: SAMPLERS[kind](x, unique), input_signature=[spec])
    tf.saved_model.save(module, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    x = tf.constant([[0, 3], [1, 4]], tf.int64)
    sampled, true_count, sampled_count = loaded.f(x)
    assert len(set(sampled.numpy().tolist()) | {None}) == 6 or not (unique or kind == "all")
    assert sampled.shape == sampled_count.shape == [5]
    assert set(sampled.numpy().tolist()) <= set(range(9))
    if not unique:  # else it depends on how many draws it took
        np.testing.assert_allclose(true_count, module.f(x)[1], rtol=1e-6)


@pytest.mark.parametrize("pseudo_random", [False, True])
@pytest.mark.parametrize("pool", [tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool])
def test_fractional_pooling(tmp_path: Path, pool: Any, pseudo_random: bool) -> None:
    module = tf.Module()
    module.f = tf.function(
        lambda x: pool(x, [1.0, 1.44, 1.73, 1.0], pseudo_random),
        input_signature=[tf.TensorSpec([None, None, None, 2])],
    )
    tf.saved_model.save(module, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    seen = set()
    for _ in range(20):
        rows, columns = loaded.f(tf.zeros([1, 13, 17, 2]))[1:]
        for ends, size, count in ((rows, 13, 9), (columns, 17, 9)):
            steps = np.diff(ends).tolist()
            assert (int(ends[0]), int(ends[-1]), len(steps)) == (0, size, count)
            assert set(steps) <= {1, 2}
            seen.add(tuple(steps))
    assert len(seen) > 4
