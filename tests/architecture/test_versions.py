"""What the project says about versions agrees with itself; `checks/versions.py` finds Pythons."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from weft._src.execution.native.machine import support

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def script() -> Any:
    spec = importlib.util.spec_from_file_location("versions", ROOT / "checks" / "versions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    bounds = dict(line.split(">=") for line in PROJECT["dependencies"])
    lines = (ROOT / "checks" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    oldest = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert oldest.keys() == bounds.keys()
    for name, bound in bounds.items():
        assert oldest[name].removesuffix(".0") == bound.removesuffix(".0")


def test_the_tools_have_exact_versions() -> None:
    for line in PROJECT["optional-dependencies"]["dev"]:
        assert re.fullmatch(r"[\w-]+==[\d.]+(; python_version (<|>=) '[\d.]+')?", line)


def test_machine_code_knows_every_python_that_is_supported() -> None:
    known = [f"{major}.{minor}" for major, minor in support.KNOWN_PYTHONS]
    assert script().supported() == known
    assert PROJECT["requires-python"] == f">={known[0]}"


def test_interpreters_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    versions = script()
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.delenv("PYTHONS", raising=False)
    assert versions.interpreter(own) is None
    broken = tmp_path / f"python{own}"  # as pyenv's, for a version that is not there
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)
    assert versions.interpreter(own) is None
    home = tmp_path / "versions" / f"{own}.7" / "bin"
    home.mkdir(parents=True)
    (home / "python").symlink_to(sys.executable)
    assert versions.interpreter(own) == str(home / "python")
    monkeypatch.setenv("PYTHONS", os.pathsep.join(["/nowhere/python", sys.executable]))
    assert versions.interpreter(own) == sys.executable
    assert versions.interpreter("2.1") is None


def test_the_outcome_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    versions = script()
    monkeypatch.setattr(versions, "supported", lambda: ["3.1", "3.2"])
    monkeypatch.setattr(versions, "interpreter", lambda v: "python" if v == "3.1" else None)
    monkeypatch.setattr(versions, "check", lambda python, version, kind: kind == "newest")
    assert versions.main([]) == 1
    out = capsys.readouterr().out
    assert "3.1-newest   passed\n3.1-oldest   FAILED\n3.2-newest   not run: no such Python" in out
    assert versions.main(["3.1-newest"]) == 0
    assert versions.main(["3.2"]) == 1  # nothing was run
