"""Fourier transforms of large arrays, which cores share, against NumPy's in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core import xp
from weft._src.ops.spectral import long_lines

rng = np.random.default_rng(3)
# Even and odd factors, equal ones and different ones; a prime, and one with a large prime factor.
LENGTHS = [131_072, 150_000, 177_147, 180_075, 360_000, 131_101, 131_074]


def _close(got: Any, wanted: np.ndarray, dtype: Any) -> None:
    assert got.dtype == dtype
    assert got.shape == wanted.shape
    scale = 2e-14 if np.dtype(dtype) in (np.complex128, np.float64) else 1e-6
    np.testing.assert_allclose(got, wanted, rtol=0, atol=scale * np.abs(wanted).max())


@pytest.mark.parametrize("n", LENGTHS)
def test_a_single_line(n: int) -> None:
    x = rng.normal(size=n).astype(np.float32)
    spectrum = np.fft.rfft(x.astype(np.float64))
    _close(tf.signal.rfft(x).numpy(), spectrum, np.complex64)
    _close(tf.signal.irfft(tf.signal.rfft(x), [n]).numpy(), x.astype(np.float64), np.float32)
    z = (x + 1j * x[::-1]).astype(np.complex64)
    _close(tf.signal.fft(z).numpy(), np.fft.fft(z.astype(np.complex128)), np.complex64)
    _close(tf.signal.ifft(z).numpy(), np.fft.ifft(z.astype(np.complex128)), np.complex64)


@pytest.mark.parametrize("norm", ["backward", "forward", "ortho"])
def test_norms_and_axes_of_size_one(norm: Any) -> None:
    x = rng.normal(size=(1, 150_000, 1))
    got = long_lines.rfft(xp, x, 1, norm)
    _close(got, np.fft.rfft(x, axis=1, norm=norm), np.complex128)
    z = x + 1j * x[:, ::-1]
    for inverse, function in ((False, np.fft.fft), (True, np.fft.ifft)):
        got = long_lines.fftn(xp, z, (1,), norm, inverse=inverse)
        _close(got, function(z, axis=1, norm=norm), np.complex128)


def test_many_lines_and_several_axes() -> None:
    x = rng.normal(size=(3, 240, 125)).astype(np.float32)
    wide = x.astype(np.float64)
    _close(tf.signal.rfft(x).numpy(), np.fft.rfft(wide), np.complex64)
    _close(tf.signal.rfft2d(x).numpy(), np.fft.rfft2(wide), np.complex64)
    _close(tf.signal.fft2d(x.astype(np.complex64)).numpy(), np.fft.fft2(wide), np.complex64)


def test_the_input_is_left_as_it_was() -> None:
    x = rng.normal(size=150_000).astype(np.complex64)
    before = x.copy()
    tf.signal.fft(x)
    np.testing.assert_array_equal(x, before)


def test_which_lines_are_done_in_two_steps() -> None:
    def factors(n: int) -> Any:
        return long_lines._factors_of_line(xp.scipy_fft, np.empty(n), 0)

    assert [factors(n) for n in LENGTHS] == [
        (256, 512), (375, 400), (243, 729), (343, 525), (600, 600), None, None,
    ]  # fmt: skip
    assert factors(131_072 // 2) is None
    assert long_lines._factors_of_line(xp.scipy_fft, np.empty((2, 131_072)), 1) is None
