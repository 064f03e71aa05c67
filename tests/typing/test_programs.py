"""Programs of users under a strict type checker: what types say, and which mistakes they find."""

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checks.annotations import all_parameters

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROGRAMS = sorted((HERE / "programs").glob("*.py"))
MISTAKES = sorted((HERE / "mistakes").glob("*.py"))

Error = tuple[str, int, str]  # the file, the line, the kind


def reported(files: list[Path], cache: Path) -> tuple[set[Error], str]:
    """The errors that mypy finds in files, as users run it: without the settings of Weft."""
    options = ["--strict", "--config-file=", "--follow-imports=silent", f"--cache-dir={cache}"]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *map(str, files)],
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in (0, 1), run.stdout + run.stderr
    found = re.findall(r"^(.*?):(\d+): error: .*\[([\w-]+)\]$", run.stdout, re.MULTILINE)
    return {(Path(file).name, int(line), kind) for file, line, kind in found}, run.stdout


def expected(files: list[Path]) -> set[Error]:
    """The errors that comments announce."""
    return {
        (file.name, number, match[1])
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if (match := re.search(r"# expect: ([\w-]+)$", line))
    }


# One run for all files: most of the time goes into reading Weft itself.
def test_types_are_precise_and_mistakes_are_found(pytestconfig: pytest.Config) -> None:
    files = [*PROGRAMS, *MISTAKES]
    assert pytestconfig.cache is not None
    errors, output = reported(files, pytestconfig.cache.mkdir("mypy-programs"))
    announced = expected(files)
    assert len(announced) >= 12
    assert errors == announced, output


def pyright(*options: str) -> dict[str, Any]:
    """What the other checker says; its settings come from pyrightconfig.json in this folder."""
    run = subprocess.run(
        [sys.executable, "-m", "basedpyright", "--outputjson", "--project", str(HERE), *options],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in (0, 1), run.stdout + run.stderr
    return json.loads(run.stdout)  # type: ignore[no-any-return]


def test_pyright_finds_the_same_types_and_mistakes() -> None:
    said = [x for x in pyright()["generalDiagnostics"] if x["severity"] == "error"]
    found = {(Path(x["file"]).name, x["range"]["start"]["line"] + 1) for x in said}
    announced = {(name, line) for name, line, _ in expected([*PROGRAMS, *MISTAKES])}
    assert found == announced, said


def test_public_names_have_known_types() -> None:
    report = pyright("--verifytypes", "weft", "--ignoreexternal")
    assert report["typeCompleteness"]["completenessScore"] > 0.9


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_run(program: Path) -> None:
    runpy.run_path(str(program))


def test_few_parameters_say_nothing_of_their_type() -> None:
    found = all_parameters()
    vague = [p for p in found if p.is_vague]
    assert len(found) > 10_000
    assert len(vague) / len(found) < 0.105, "python checks/annotations.py shows where they are"
