"""The threads of OpenBLAS: one while small matrices are worked on, as many as before afterwards."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.threads import in_threads
from weft._src.core import blas


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


def test_large_ones_have_what_there_is() -> None:
    with blas.one_thread(5000):
        assert set(_threads()) == {2}


def test_the_last_one_restores() -> None:
    first, second = blas.one_thread(3), blas.one_thread(4)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(_threads()) == {1}
    second.__exit__(None, None, None)
    assert set(_threads()) == {2}


def test_errors_restore_too() -> None:
    tf.linalg.cholesky([[1.0, 2.0], [2.0, 1.0]])  # an error inside of the kernel
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.linalg.inv([[1.0, 1.0], [1.0, 1.0]])
    assert set(_threads()) == {2}


def test_calls_from_many_threads() -> None:
    x = np.random.default_rng(0).normal(size=(30, 30))
    wanted = np.linalg.inv(x)
    results = in_threads(lambda _: all(np.allclose(tf.linalg.inv(x), wanted) for _ in range(20)), 4)
    assert results == [True] * 4
    assert set(_threads()) == {2}


def test_products_of_some_hundred_rows_run_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []
    read, _ = blas._controls("numpy")[0]
    plain = np.dot

    def watched(x: Any, y: Any) -> Any:
        threads.append(read())
        return plain(x, y)

    before = read()
    monkeypatch.setattr(np, "dot", watched)
    for m, k, n in ((3, 4, 5), (64, 256, 128), (512, 512, 512)):
        x, y = np.ones((m, k), np.float32), np.ones((k, n), np.float32)
        assert (tf.matmul(x, y).numpy() == k).all()
        assert (tf.function(tf.matmul)(x, y).numpy() == k).all()
    assert threads == [before, before, 1, 1, before, before]
    assert read() == before
