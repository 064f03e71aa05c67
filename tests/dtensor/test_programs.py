"""Tensors and variables that several devices have together, in a process with four devices."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support import dtensor_programs


@pytest.fixture(scope="module")
def results() -> dict[str, str | None]:
    command = [sys.executable, str(Path(dtensor_programs.__file__))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout, done.stderr
    found: dict[str, str | None] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("name", sorted(dtensor_programs.PROGRAMS))
def test_program(name: str, results: dict[str, str | None]) -> None:
    assert results[name] is None, results[name]
