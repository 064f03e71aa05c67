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
        (S.dct, [3, None], "the size of its axis -1 must be known"),
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
