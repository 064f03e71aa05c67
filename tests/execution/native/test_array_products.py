"""Products of arrays by tiles, where OpenBLAS has shorter vectors than the processor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core import blas, machine_offers, processors
from weft._src.core.machine_jobs import by_numpy
from weft._src.execution import bounds
from weft._src.execution.background import Job, worker
from weft._src.execution.native import array_tiles
from weft._src.execution.native.product_kernels import ProductKernels

rng = np.random.default_rng(8)

SIZES = [(300, 200, 130), (127, 1024, 70), (700, 96, 129), (113, 40, 1100), (17, 600, 500)]


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    return rng.normal(size=shape).astype(dtype)


def by_tiles(a: Any, b: Any) -> Any:
    kernels = ProductKernels()
    for _ in range(3):
        out = kernels.product(a, b)
        if out is not None:
            return out
        worker.wait()  # what is missing is being loaded
    return None


@pytest.mark.parametrize("turned", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("m", "k", "n"), SIZES)
def test_the_products_of_numpy(m: int, k: int, n: int, dtype: Any, turned: bool) -> None:
    a, b = normal(m, k, dtype=dtype), normal(k, n, dtype=dtype)
    given = np.ascontiguousarray(a.T).T if turned else a
    out = by_tiles(given, b)
    tolerance = 1e-4 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(out, a @ b, rtol=tolerance, atol=10 * tolerance)
    assert out.dtype == dtype
    assert out.flags.c_contiguous


@pytest.mark.parametrize(("at_work", "is_idle"), [(False, False), (False, True), (True, False)])
def test_tiles_are_awaited_where_no_processor_is_idle(
    at_work: bool, is_idle: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[Any] = []
    awaited: list[Any] = []
    monkeypatch.setattr(array_tiles, "is_one_idle", lambda: is_idle)
    monkeypatch.setattr(array_tiles, "_asked", set())
    monkeypatch.setattr(array_tiles, "_load", loaded.append)
    monkeypatch.setattr(worker, "is_at_work", at_work)
    monkeypatch.setattr(worker, "submit", Job)
    monkeypatch.setattr(worker, "finish", lambda job: (awaited.append(job), job.run()))
    array_tiles._ask_for(["weft_this", "weft_that"])
    array_tiles._ask_for(["weft_this"])  # once
    assert bool(awaited) == (not at_work and not is_idle)
    assert loaded == [["weft_this", "weft_that"]] * len(awaited)


def test_what_tiles_leave_machine_code_to_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    second = bounds.threads_per_op() * 1e9 * 32  # multiplications, with short vectors
    for is_short, kernels, part, bound in (
        (True, None, 0.8, 0.4),  # without OpenBLAS products take half the time
        (True, ProductKernels(), 0.4, 0.4),  # which NumPy has as well
        (True, ProductKernels(), 1.0, 0.6),
        (False, None, 0.4, 0.4),
    ):
        monkeypatch.setattr(blas, "has_short_vectors", lambda found=is_short: found)
        monkeypatch.setattr(bounds, "vector_bytes", lambda: 64)
        monkeypatch.setattr(blas.offer, "kernels", kernels)
        best = 1.0 if part < 1.0 else 0.4
        assert bounds.part_in_products(0.8 * second, best) == pytest.approx(part)
        assert bounds.bound_part(0.8 * second, best) == pytest.approx(bound)
    assert bounds.bound_part(0.0, 1.0) == 0.0


def test_nan_and_infinity_stay_in_their_rows_and_columns() -> None:
    a, b = normal(70, 90), normal(90, 50)
    a[3, 4], b[5, 49] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(by_tiles(a, b), a @ b, rtol=1e-4, atol=1e-4)


def test_what_is_left_to_numpy() -> None:
    a, b = normal(60, 80), normal(80, 90)
    every_other = normal(60, 160)[:, ::2]
    assert by_tiles(a[:15], b) is None  # few rows
    assert by_tiles(every_other, b) is None
    assert by_tiles(a, np.ascontiguousarray(b.T).T) is None
    assert by_tiles(a, b[:79]) is None  # which is an error
    assert by_tiles(normal(80), b) is None


@pytest.fixture(name="asked")
def _asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is asked of machine code, on a processor that OpenBLAS does not know."""
    asked: list[Any] = []

    class Watched(ProductKernels):
        def product(self, a: Any, b: Any) -> Any:
            asked.append(a.shape)
            return by_tiles(a, b)

    monkeypatch.setattr(blas, "has_short_vectors", lambda: True)
    monkeypatch.setattr(blas.offer, "kernels", Watched())
    return asked


def test_large_products_are_asked_for(asked: list[Any]) -> None:
    x, y = normal(300, 200), normal(200, 130)
    found = tf.matmul(x, y)
    assert asked == [(300, 200)]
    np.testing.assert_allclose(found, x @ y, rtol=1e-4, atol=1e-3)
    asked.clear()
    np.testing.assert_allclose(tf.matmul(x.T.copy(), y, transpose_a=True), x @ y, atol=1e-3)
    assert asked == [(300, 200)]
    asked.clear()
    tf.matmul(x[:40], y)
    tf.matmul(np.ones((300, 200), np.int32), np.ones((200, 130), np.int32))
    with by_numpy():
        tf.matmul(x, y)
    assert not asked


def test_nobody_is_asked_where_blas_knows_the_processor(
    asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blas, "has_short_vectors", lambda: False)
    tf.matmul(normal(300, 200), normal(200, 130))
    assert not asked


def test_wrong_shapes_are_told_as_ever(asked: list[Any]) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="100.*101"):
        tf.matmul(normal(300, 100), normal(101, 300))
    assert asked == [(300, 100)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="200.*201"):
        tf.matmul(normal(300, 200), normal(201, 130))  # so large that the type rule comes first


@pytest.mark.parametrize(
    ("core", "processor", "is_short"),
    [("Haswell", 64, True), ("Zen", 64, True), ("SkylakeX", 64, False), ("Haswell", 32, False),
     ("Nehalem", 32, True), ("Something", 64, False)],
)  # fmt: skip
def test_vectors_of_blas(
    core: str, processor: int, is_short: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Function:
        def __call__(self) -> bytes:
            return core.encode()

    monkeypatch.setattr(blas, "functions_of_numpy", lambda name: [Function()])
    monkeypatch.setattr(blas, "vector_bytes", lambda: processor)
    assert blas.has_short_vectors.__wrapped__() is is_short


def test_vectors_of_this_processor_are_those_of_llvm() -> None:
    from weft._src.execution.native.machine import llvm

    assert processors.vector_bytes() in (llvm.vector_bytes(), 16)


@pytest.mark.parametrize(("is_loaded", "is_idle"), [(0, 1), (1, 0), (1, 1)])
def test_kernels_come_sooner_where_that_costs_nothing(
    is_loaded: int, is_idle: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(machine_offers, "_SPENT", 1e9)
    monkeypatch.setattr(machine_offers, "_SPENT_BESIDE", -1.0)
    monkeypatch.setattr(machine_offers, "is_one_idle", lambda: bool(is_idle))
    monkeypatch.setattr(machine_offers._Compiler, "is_loaded", bool(is_loaded))
    offer: machine_offers.Offer[Any] = machine_offers.Offer()
    offer.install(asked.append)
    offer.attempted(lambda kernels: None, lambda: np.zeros(3))
    assert bool(asked) == (is_loaded and is_idle)
