"""exp of complex numbers, by functions of real ones: NumPy's values, the special ones as well."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core import xp
from weft._src.core.flags import flags
from weft._src.ops.elementwise import complex_exp

PARTS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    np.inf,
    -np.inf,
    np.nan,
    89.0,
    -104.0,
    1e-40,
    100.0,
    710.0,
    1.5707963,
]


def _numbers(dtype: Any) -> np.ndarray:
    special = np.array([complex(a, b) for a in PARTS for b in PARTS])
    rng = np.random.default_rng(0)
    usual = rng.normal(size=4_007) * 10 + 1j * rng.normal(size=4_007) * 1000
    return np.concatenate([special, usual]).astype(dtype)


def _check(found: np.ndarray, x: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        wanted = np.exp(x)
    rtol = 1e-6 if x.dtype == np.complex64 else 1e-14
    for a, b in ((found.real, wanted.real), (found.imag, wanted.imag)):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=np.finfo(a.dtype).tiny)


@pytest.mark.parametrize("guards", ["", "end", "start"])
@pytest.mark.parametrize("tier", ["numpy", "native"])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_values(tier: str, dtype: Any, guards: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "execution", tier)
    monkeypatch.setattr(flags, "guard_pages", guards)
    monkeypatch.setattr(complex_exp, "_PIECE", 1000)  # shared by threads
    x = _numbers(dtype)
    with np.errstate(all="ignore"):
        for n in (1, 63, 64, 65, 71, len(x)):
            _check(complex_exp.kernel(xp, x[:n]), x[:n])
        _check(complex_exp.kernel(xp, x[::-3]), x[::-3])
    _check(tf.exp(x).numpy(), x)


def test_gradients_and_graphs() -> None:
    x = tf.constant(np.linspace(-1, 1, 200) * (1 + 2j))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.exp(x)
    np.testing.assert_allclose(tape.gradient(y, x), np.conj(np.exp(x.numpy())))
    np.testing.assert_array_equal(tf.function(tf.exp)(x), y)
    assert tf.exp(tf.constant(0j)).numpy() == 1
