"""Functions for arrays of any size: each has a text, each text is one of a kernel, and compiles."""

from __future__ import annotations

import importlib
import logging

import pytest

from weft._src.core import machine_jobs
from weft._src.core.machine_jobs import MachineJob
from weft._src.execution.native import array_jobs
from weft._src.execution.native.written_loops import with_loops

for module in (
    "core.random_numbers.discrete", "core.random_numbers.philox", "ops.arrays.partitions",
    "ops.elementwise.complex_exp", "ops.image.resampling",
):  # fmt: skip
    importlib.import_module(f"weft._src.{module}")


def test_every_text_belongs_to_a_kernel() -> None:
    assert set(array_jobs.TEXTS) == set(machine_jobs.jobs)


@pytest.mark.parametrize("name", sorted(array_jobs.TEXTS))
def test_texts_compile(name: str, caplog: pytest.LogCaptureFixture) -> None:
    job = MachineJob.__new__(MachineJob)
    job.name, job.words = name, machine_jobs.jobs[name].words
    job._function = None
    with caplog.at_level(logging.WARNING, "weft"):
        array_jobs.load(job)
    assert not caplog.records
    assert job._function is not None


def test_a_text_that_is_wrong_leaves_the_work_to_numpy(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(array_jobs.TEXTS, "wrong", lambda: "define nothing")
    job = MachineJob.__new__(MachineJob)
    job.name, job.words, job._function = "wrong", (), None
    array_jobs.load(job)
    assert job._function is None
    assert "worked on without machine code (wrong)" in caplog.text


def test_loops_that_do_not_end() -> None:
    with pytest.raises(AssertionError, match="has no end"):
        with_loops("entry:\nfor %i < 5")
