"""`tf.device` on devices of jax, in a process that has several of them."""

from __future__ import annotations

import pytest

from support import device_programs
from support.program_tables import told_by


@pytest.fixture(scope="module")
def results() -> dict[str, str | None]:
    return told_by(device_programs)


@pytest.mark.parametrize("name", sorted(device_programs.PROGRAMS))
def test_program(name: str, results: dict[str, str | None]) -> None:
    assert results[name] is None, results[name]
