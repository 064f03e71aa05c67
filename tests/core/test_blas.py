"""The threads of OpenBLAS: one while small matrices are worked on, as many as before afterwards."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.threads import in_threads
from weft._src.core import blas
from weft._src.core.crew import crew


def _blas_of_numpy() -> str:
    return str(np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"])


def _threads() -> list[int]:
    return [read() for read, _ in blas._controls("scipy.linalg" in sys.modules)]


@pytest.fixture(autouse=True)
def _two_threads() -> None:
    if sys.platform != "linux" or "openblas" not in _blas_of_numpy():
        pytest.skip("only OpenBLAS on Linux is told how many threads to use")
    assert _threads(), "the OpenBLAS of this NumPy was not found"
    for _, write in blas._controls("scipy.linalg" in sys.modules):
        write(2)


def test_small_matrices_have_one_thread() -> None:
    with blas.one_thread(60):
        assert set(_threads()) == {1}
    assert set(_threads()) == {2}


def test_the_smallest_are_left_to_openblas() -> None:
    with blas.one_thread(16):
        assert set(_threads()) == {2}


def test_large_ones_have_what_there_is() -> None:
    with blas.one_thread(5000):
        assert set(_threads()) == {2}


def test_the_last_one_restores() -> None:
    first, second = blas.one_thread(30), blas.one_thread(40)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(_threads()) == {1}
    second.__exit__(None, None, None)
    assert set(_threads()) == {2}


def test_errors_restore_too() -> None:
    tf.linalg.cholesky(-tf.eye(20))  # an error inside of the kernel
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.linalg.inv(tf.ones([20, 20]))
    assert set(_threads()) == {2}


def test_calls_from_many_threads() -> None:
    x = np.random.default_rng(0).normal(size=(30, 30))
    wanted = np.linalg.inv(x)
    results = in_threads(lambda _: all(np.allclose(tf.linalg.inv(x), wanted) for _ in range(20)), 4)
    assert results == [True] * 4
    assert set(_threads()) == {2}


def test_products_run_on_one_thread_of_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []
    read, _ = blas._controls("numpy")[0]

    def watched(plain: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            threads.append(read())
            return plain(*args, **kwargs)

        return call

    before = read()
    monkeypatch.setattr(np, "dot", watched(np.dot))
    monkeypatch.setattr(np, "matmul", watched(np.matmul))
    for m, k, n in ((3, 4, 5), (64, 256, 128), (512, 512, 512)):
        x, y = np.ones((m, k), np.float32), np.ones((k, n), np.float32)
        assert (tf.matmul(x, y).numpy() == k).all()
        assert (tf.function(tf.matmul)(x, y).numpy() == k).all()
    assert threads[:4] == [before, before, 1, 1]
    assert len(threads) > 4
    assert set(threads[4:]) == {1}
    assert read() == before


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ((300, 500), (500, 700)), ((1000, 129), (129, 300)), ((40, 1100), (1100, 900)),
        ((9, 200, 130), (9, 130, 170)), ((3, 4, 150, 200), (3, 4, 200, 70)),
        ((5, 200, 300), (300, 400)), ((2000, 6000), (6000, 3)), ((1, 5000), (5000, 6000)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_large_products_are_shared_and_the_same(x: Any, y: Any, dtype: str) -> None:
    rng = np.random.default_rng(0)
    a, b = [rng.normal(size=shape).astype(dtype) for shape in (x, y)]
    a[..., 0, 0] = np.inf  # no warning from any thread
    assert_close = np.testing.assert_allclose
    with np.errstate(all="ignore"):
        expected = np.matmul(a.astype(complex), b.astype(complex))
        expected = expected if dtype == "complex64" else expected.real
    is_finite = np.isfinite(expected)
    found = tf.matmul(a, b).numpy()
    assert_close(found[is_finite], expected[is_finite], rtol=1e-3, atol=1e-2)
    compiled = tf.function(tf.matmul, jit_compile=dtype != "complex64")(a, b).numpy()
    assert_close(compiled[is_finite], expected[is_finite], rtol=1e-3, atol=1e-2)
    assert set(_threads()) == {2}


def test_an_error_on_another_thread_is_raised_here() -> None:
    def work(piece: int) -> None:
        if piece == 3:
            raise ValueError("piece 3")

    with pytest.raises(ValueError, match="piece 3"):
        crew.share(work, 8)
    done: list[int] = []
    crew.share(done.append, 50)
    assert sorted(done) == list(range(50))


def test_many_threads_share_at_once() -> None:
    x = np.random.default_rng(0).normal(size=(600, 600)).astype(np.float32)
    expected = x @ x
    found = in_threads(lambda _: tf.matmul(x, x).numpy(), 4)
    for out in found:
        np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-3)
