"""Fourier and cosine transforms, frames, windows, short-time spectra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import fft as scipy_fft, signal as scipy_signal

import weft as tf
from support.op_cases import Case, c64, check_case, f32, i32

S = tf.signal


def last(n):
    return tuple(range(-n, 0))


def frames(x, length, step):
    count = max((x.shape[-1] - length) // step + 1, 0)
    pieces = [x[..., i * step : i * step + length] for i in range(count)]
    return np.stack(pieces, -2) if pieces else np.zeros((*x.shape[:-1], 0, length), x.dtype)


def added(x, step):
    *lead, count, length = x.shape
    out = np.zeros((*lead, (count - 1) * step + length), x.dtype)
    for i in range(count):
        out[..., i * step : i * step + length] += x[..., i, :]
    return out


close = {"rtol": 1e-4, "atol": 1e-5}

CASES = [
    *[
        Case(fn, [c64(2, 3, 4)], {}, lambda x, e=e, n=n: e(x, axes=last(n)), **close)
        for n, fn, e in [
            (1, S.fft, np.fft.fftn),
            (2, S.fft2d, np.fft.fftn),
            (3, S.fft3d, np.fft.fftn),
            (1, S.ifft, np.fft.ifftn),
            (2, S.ifft2d, np.fft.ifftn),
            (3, S.ifft3d, np.fft.ifftn),
        ]
    ],
    *[
        Case(fn, [f32(2, 3, size)], {}, lambda x, n=n: np.fft.rfftn(x, axes=last(n)), **close)
        for n, fn in ((1, S.rfft), (2, S.rfft2d), (3, S.rfft3d))
        for size in (4, 5)
    ],
    *[
        Case(fn, [c64(2, 3, 4)], {}, lambda x, n=n: np.fft.irfftn(x, axes=last(n)), **close)
        for n, fn in ((1, S.irfft), (2, S.irfft2d), (3, S.irfft3d))
    ],
    *[
        Case(
            S.rfft,
            [f32(2, 5)],
            {"fft_length": [n]},
            lambda x, n=n: np.fft.rfft(x, n),
            unknown_rank=False,
            **close,
        )
        for n in (3, 8)
    ],
    *[
        Case(
            S.irfft2d,
            [c64(3, 4)],
            {"fft_length": s},
            lambda x, s=s: np.fft.irfftn(x, s, (-2, -1)),
            unknown_rank=False,
            **close,
        )
        for s in ([2, 5], [4, 9])
    ],
    *[
        Case(
            lambda x, fn=fn, norm=norm: fn(x, axes=[2, 0], norm=norm),
            [c64(3, 2, 4)],
            {},
            lambda x, e=e, norm=norm: e(x, axes=(2, 0), norm=norm),
            label=f"{fn.__name__} {norm}",
            **close,
        )
        for fn, e in ((S.fftnd, np.fft.fftn), (S.ifftnd, np.fft.ifftn))
        for norm in (None, "ortho", "forward")
    ],
    *[
        Case(
            lambda x, fn=fn, norm=norm: fn(x, axes=[1, 2], norm=norm),
            [sample],
            {},
            lambda x, e=e, norm=norm: e(x, axes=(1, 2), norm=norm),
            unknown_rank=False,
            label=f"{fn.__name__} {norm}",
            **close,
        )
        for fn, e, sample in [
            (S.rfftnd, np.fft.rfftn, f32(3, 2, 4)),
            (S.irfftnd, np.fft.irfftn, c64(3, 2, 4)),
        ]
        for norm in (None, "ortho", "forward")
    ],
    Case(
        lambda x: S.fftnd(x, [2, 6]),
        [c64(3, 4)],
        {},
        lambda x: np.fft.fftn(x, [2, 6], (0, 1)),
        unknown_rank=False,
        **close,
    ),
    *[
        Case(
            S.dct,
            [f32(2, 5)],
            {"type": kind, "norm": norm},
            lambda x, k=kind, n=norm: scipy_fft.dct(x, k, norm=n),
            **close,
        )
        for kind in (1, 2, 3, 4)
        for norm in (None, "ortho")
        if (kind, norm) != (1, "ortho")
    ],
    Case(S.dct, [f32(2, 5)], {"n": 3}, lambda x: scipy_fft.dct(x[:, :3]), unknown_rank=False),
    Case(
        lambda x: S.idct(S.dct(x, norm="ortho"), norm="ortho"),
        [f32(2, 5)],
        {},
        lambda x: x,
        **close,
    ),
    Case(S.fftshift, [f32(4, 5)], {"axes": [0, 1]}, np.fft.fftshift),
    Case(S.ifftshift, [i32(4, 5)], {"axes": -1}, lambda x: np.fft.ifftshift(x, -1)),
    *[
        Case(
            S.frame,
            [f32(2, 7)],
            {"frame_length": n, "frame_step": step},
            lambda x, n=n, s=step: frames(x, n, s),
        )
        for n, step in ((3, 2), (2, 5), (7, 1))
    ],
    Case(
        S.frame,
        [f32(2, 3)],
        {"frame_length": 4, "frame_step": 1},
        lambda x: frames(x, 4, 1),
        grad=False,
    ),
    Case(
        S.frame,
        [f32(5, 2)],
        {"frame_length": 3, "frame_step": 2, "axis": 0, "pad_end": True, "pad_value": 9},
        lambda x: np.moveaxis(frames(np.pad(x.T, [(0, 0), (0, 2)], constant_values=9), 3, 2), 0, 2),
        unknown_rank=False,
    ),
    *[
        Case(
            S.overlap_and_add,
            [f32(2, 3, 4)],
            {"frame_step": step},
            lambda x, s=step: added(x, s),
        )
        for step in (1, 3, 4, 6)
    ],
    Case(S.overlap_and_add, [i32(3, 4), np.int32(2)], {}, added),
    Case(
        lambda x: S.stft(x, 6, 2),
        [f32(2, 13)],
        {},
        lambda x: np.fft.rfft(frames(x, 6, 2) * np.hanning(7)[:6], 8),
        unknown_rank=False,
        **close,
    ),
    Case(
        lambda x: S.inverse_stft(x, 6, 2, window_fn=None),
        [c64(3, 5)],
        {},
        lambda x: added(np.fft.irfft(x, 8)[:, :6], 2),
        unknown_rank=False,
        **close,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_case(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_windows(length: int) -> None:
    for name in ("hann", "hamming"):
        window = getattr(S, f"{name}_window")
        symmetric = scipy_signal.get_window(name, length, fftbins=False)
        np.testing.assert_allclose(window(length, periodic=False, dtype=tf.float64), symmetric)
        periodic = scipy_signal.get_window(name, length) if length % 2 == 0 else symmetric
        np.testing.assert_allclose(window(length, dtype=tf.float64), periodic)
    np.testing.assert_allclose(S.kaiser_window(length, 3.0), np.kaiser(length, 3.0), 1e-5)
    n = (np.arange(length) + 0.5) / length
    vorbis = np.sin(np.pi / 2 * np.sin(np.pi * n) ** 2)
    np.testing.assert_allclose(S.vorbis_window(length), vorbis, 1e-5)
    if length % 2 == 0:
        derived = scipy_signal.windows.kaiser_bessel_derived(length, 12)
        np.testing.assert_allclose(S.kaiser_bessel_derived_window(length), derived, 1e-4)


def test_windows_of_lengths_that_are_tensors() -> None:
    @tf.function
    def window(length):
        return S.hann_window(length), S.kaiser_window(length, beta=3.0)

    for length in (4, 7):
        hann, kaiser = window(tf.constant(length))
        np.testing.assert_allclose(hann, S.hann_window(length))
        np.testing.assert_allclose(kaiser, S.kaiser_window(length, beta=3.0))


def test_spectra_there_and_back() -> None:
    x = np.random.default_rng(0).normal(size=(2, 64)).astype(np.float32)
    for length, step in ((16, 4), (12, 3)):
        spectra = S.stft(x, length, step)
        window = S.inverse_stft_window_fn(step)
        back = S.inverse_stft(spectra, length, step, window_fn=window).numpy()
        inside = slice(length, back.shape[1] - length)
        np.testing.assert_allclose(back[:, inside], x[:, inside], 1e-3, 1e-5)


def test_lengths_that_are_tensors() -> None:
    x = tf.constant(np.random.default_rng(0).normal(size=(2, 6)).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([1], tf.int32)])
    def spectrum(x, n):
        return S.rfft(x, n), S.irfft(S.rfft(x), n)

    for n in (4, 9):
        there, back = spectrum(x, tf.constant([n]))
        np.testing.assert_allclose(there, np.fft.rfft(x, n), 1e-4, 1e-5)
        np.testing.assert_allclose(back, np.fft.irfft(np.fft.rfft(x), n), 1e-4, 1e-5)


# Recorded from TensorFlow 2.21: linear_to_mel_weight_matrix(4, 9, 8000, 100., 3800.)
MEL = [
    [0, 0, 0, 0], [0.82625, 0.17375, 0, 0], [0, 0.81796, 0.18204, 0], [0, 0.07159, 0.92841, 0],
    [0, 0, 0.47875, 0.52125], [0, 0, 0, 0.98692], [0, 0, 0, 0.56665], [0, 0, 0, 0.19972],
    [0, 0, 0, 0],
]  # fmt: skip


def test_mel_weights() -> None:
    np.testing.assert_allclose(S.linear_to_mel_weight_matrix(4, 9, 8000, 100.0, 3800.0), MEL, 1e-4)
    assert S.linear_to_mel_weight_matrix(dtype=tf.float64).dtype is tf.float64
    mfccs = S.mfccs_from_log_mel_spectrograms(np.arange(6.0, dtype=np.float32))
    np.testing.assert_allclose(mfccs[:2], [8.66025, -4.16256], 1e-4)


def test_dtypes() -> None:
    assert S.rfft(tf.constant([1.0, 2.0], tf.float64)).dtype is tf.complex128
    for transform in (S.rfft, S.rfft2d, S.rfft3d):
        with pytest.raises(ValueError, match="input_tensor must be float32 or float64, got float1"):
            transform(tf.ones([2, 2, 2], tf.float16))
    assert S.irfft(tf.constant([1.0, 2.0], tf.complex128)).dtype is tf.float64
    assert S.fft(tf.constant([1.0, 2.0])).dtype is tf.complex64
    assert S.fft(np.zeros((2, 0), np.complex64)).shape == (2, 0)


def test_errors() -> None:
    x = np.ones((2, 4), np.float32)
    for call, text in [
        (lambda: S.fft3d(x), "fft3d: input must have rank at least 3"),
        (lambda: S.rfft2d(x[0]), "rfft2d: input_tensor must have rank at least 2"),
        (lambda: S.rfft(x, [4, 4]), "fft_length must have 1 numbers, got 2"),
        (lambda: S.rfft(x, [0]), r"fft_length must be positive, got \[0\]"),
        (lambda: S.fftnd(x, axes=[5]), "axes 5 is out of range"),
        (lambda: S.fftnd(x, norm="half"), "norm must be None or one of"),
        (lambda: S.dct(x, type=5), "type must be 1, 2, 3 or 4, got 5"),
        (lambda: S.dct(x, norm="x"), "norm must be None or 'ortho'"),
        (lambda: S.dct(x, type=1, norm="ortho"), "type 1 has no normalisation"),
        (lambda: S.dct(x[:, :1], type=1), "type 1 needs at least two elements"),
        (lambda: S.dct(x, n=0), "n must be positive, got 0"),
        (lambda: S.frame(x, 0, 1), "frame_length must be positive, got 0"),
        (lambda: S.frame(3.0, 1, 1), "signal must have rank at least 1"),
        (lambda: S.overlap_and_add(x[0], 1), "signal must have rank at least 2"),
        (lambda: S.overlap_and_add(x, 0), "frame_step must be positive, got 0"),
        (lambda: S.hann_window(-1), "window_length must not be negative"),
        (lambda: S.hann_window([5]), "window_length must have rank 0"),
        (lambda: S.linear_to_mel_weight_matrix(0), "must be positive, got 0"),
        (lambda: S.linear_to_mel_weight_matrix(upper_edge_hertz=5e3), "above half the sample_rate"),
        (lambda: S.inverse_stft_window_fn(0), "frame_step must be positive"),
    ]:
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=text):
            call()
    for call, text in [
        (lambda: S.fft([1, 2]), "fft: input must be complex"),
        (lambda: S.rfft([1j]), "rfft: input_tensor must be float32 or float64"),
        (lambda: S.dct(np.array([1, 2])), "dct: input must be float32 or float64"),
        (lambda: S.hann_window(5, dtype=tf.int32), "dtype must be floating-point"),
        (lambda: S.inverse_stft(x, 4, 2), "stfts must be complex"),
    ]:
        with pytest.raises(TypeError, match=text):
            call()
    with pytest.raises(NotImplementedError, match="axis must be -1, got 0"):
        S.dct(x, axis=0)


def test_more_digits() -> None:
    x = np.random.default_rng(0).normal(size=(3, 6))
    np.testing.assert_allclose(S.dct(x), scipy_fft.dct(x), 1e-12)
    np.testing.assert_allclose(S.irfft(S.rfft(x)), x, 1e-12)


def test_no_signals_to_overlap() -> None:
    assert S.overlap_and_add(tf.ones([2, 0, 3, 4]), 2).shape == (2, 0, 8)
    assert S.overlap_and_add(tf.ones([2, 0, 4]), 3).shape == (2, 1)  # as in TensorFlow
    assert S.overlap_and_add(tf.ones([2, 0, 4]), 7).shape == (2, 0)
    assert S.overlap_and_add(tf.ones([0, 3, 2]), 6).shape == (0, 14)


def test_lengths_may_be_int64_where_sizes_are_unknown() -> None:
    unknown = [tf.TensorSpec([None, None]), tf.TensorSpec([2], tf.int64)]
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    spectrum = tf.function(S.rfft2d, input_signature=unknown)(x, np.array([2, 6]))
    np.testing.assert_allclose(spectrum, np.fft.rfft2(x, [2, 6]), 1e-5, 1e-5)


@pytest.mark.parametrize("dtype", [tf.int8, tf.uint16, tf.float16, tf.bfloat16, tf.float64])
def test_the_width_of_a_kaiser_window_is_a_tensor_of_any_dtype(dtype: tf.DType) -> None:
    made = tf.signal.kaiser_window(5, beta=tf.cast(3, dtype))
    assert made.dtype is tf.float32
    np.testing.assert_allclose(made, np.kaiser(5, 3.0), 1e-5)


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        (lambda: tf.signal.rfft(tf.zeros([3, 0])), [3, 0]),
        (lambda: tf.signal.irfft(tf.zeros([3, 0], tf.complex64)), [3, 0]),
        (lambda: tf.signal.irfft(tf.zeros([3, 1], tf.complex64)), [3, 0]),
        (lambda: tf.signal.rfft2d(tf.zeros([0, 4])), [0, 3]),
    ],
)
def test_signals_of_no_length(call: Any, shape: list[int]) -> None:
    assert call().shape.as_list() == shape
    assert tf.function(call)().shape.as_list() == shape


def test_gradients_of_signals_of_no_length() -> None:
    x = tf.zeros([3, 0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.abs(tf.signal.rfft(x))
    assert tape.gradient(y, x).shape.as_list() == [3, 0]
