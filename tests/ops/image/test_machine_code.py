"""Resizing by machine code gives NumPy's bits, whatever the sizes are, and stays in its arrays."""

from __future__ import annotations

import numpy as np
import pytest

from weft._src.core import machine_jobs, xp
from weft._src.core.flags import flags
from weft._src.ops.image import kernels, resampling

SHAPES = [
    ((50, 64, 3), 0),
    ((50, 64, 3), 1),
    ((9, 30, 4), 1),
    ((9, 30, 1), 1),
    ((3, 40, 30, 3), 2),
    ((3, 40, 30, 5), 1),
    ((1, 300, 3), 1),
    ((700,), 0),
]


@pytest.fixture(params=["", "end", "start"])
def guards(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "guard_pages", request.param)


@pytest.mark.usefixtures("guards")
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("kind", ["linear", "cubic", "lanczos3", "area"])
def test_sums_have_the_same_bits(dtype: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "execution", "native")
    rng = np.random.default_rng(0)
    for shape, axis in SHAPES:
        x = (rng.random(shape) * 255 - (dtype == "float32") * 100).astype(dtype)
        for wanted in (1, 13, 160):
            starts, weights, back_starts, back_weights = kernels.resizing(
                kind=kind, size=shape[axis], wanted=wanted
            )
            by_numpy = resampling._banded_sum(xp, x, starts, weights, axis)
            by_code = resampling.banded_sum(xp, x, starts, weights, axis)
            assert by_code.tobytes() == by_numpy.tobytes(), (shape, axis, wanted)
            by_numpy = resampling._banded_sum(xp, by_code, back_starts, back_weights, axis)
            back = resampling.banded_sum(xp, by_code, back_starts, back_weights, axis)
            assert back.tobytes() == by_numpy.tobytes(), (shape, axis, wanted)


def test_threads_share_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "execution", "native")
    monkeypatch.setattr(resampling, "_TERMS_AT_ONCE", 2000)
    x = np.random.default_rng(0).random((500, 30, 3), np.float32)
    starts, weights, _, _ = kernels.resizing(kind="lanczos3", size=30, wanted=40)
    by_numpy = resampling._banded_sum(xp, x, starts, weights, 1)
    for _ in range(50):
        by_code = resampling.banded_sum(xp, x, starts, weights, 1)
        assert by_code.tobytes() == by_numpy.tobytes()


def test_zeros_keep_numpys_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "execution", "native")
    x = np.full((300, 2, 3), -0.0, np.float32)
    starts, weights, _, _ = kernels.resizing(kind="linear", size=2, wanted=5)
    by_numpy = resampling._banded_sum(xp, x, starts, weights, 1)
    assert resampling.banded_sum(xp, x, starts, weights, 1).tobytes() == by_numpy.tobytes()


def test_strided_images(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "execution", "native")
    x = np.arange(60 * 80 * 3, dtype=np.float32).reshape(60, 80, 3).transpose(1, 0, 2)
    starts, weights, _, _ = kernels.resizing(kind="linear", size=80, wanted=33)
    by_code = resampling.banded_sum(xp, x, starts, weights, 0)
    assert by_code.tobytes() == resampling._banded_sum(xp, x, starts, weights, 0).tobytes()


def test_functions_come_after_numpy_has_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(machine_jobs, "jobs", {})
    job = machine_jobs.MachineJob("anything", ())
    monkeypatch.setattr(machine_jobs, "_loaders", [lambda job, waits: asked.append(waits)])
    monkeypatch.setattr(flags, "execution", "auto")
    costly = machine_jobs.MachineJob("costly", ())
    assert costly.after(0.2) is None
    assert asked == [True], "that is worth waiting for"
    asked.clear()
    for expected in ([], [False], [False]):  # it is asked once
        assert job.after(0.015) is None
        assert asked == expected
    job.take(lambda words, count, piece: None)
    assert job.after(0.0) is not None
    with machine_jobs.by_numpy():
        assert job.after(1.0) is None
    monkeypatch.setattr(flags, "execution", "numpy")
    assert job.after(1.0) is None
