"""Tensors and variables that several devices have together, in a process with four devices."""

from __future__ import annotations

import pytest

from support import dtensor_programs
from support.program_tables import told_by


@pytest.fixture(scope="module")
def results() -> dict[str, str | None]:
    return told_by(dtensor_programs)


@pytest.mark.parametrize("name", sorted(dtensor_programs.PROGRAMS))
def test_program(name: str, results: dict[str, str | None]) -> None:
    assert results[name] is None, results[name]
