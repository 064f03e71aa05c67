"""Runs the tests on every Python that is supported, with the newest and oldest libraries allowed.

Interpreters are looked for in PYTHONS (paths, separated as in PATH), then as python3.12 and so on
in PATH, then among the versions of pyenv. Those that are not found are named and left out. With
arguments, such as `3.12 3.13-oldest`, only these run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENVIRONMENTS = ROOT / ".venv-versions"
OLDEST = ROOT / "checks" / "oldest.txt"
KINDS = ("newest", "oldest")


def supported() -> list[str]:
    """The versions of Python that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = [re.fullmatch(r".*:: (3\.\d+)", line) for line in project["classifiers"]]
    return [match[1] for match in found if match]


def interpreter(version: str) -> str | None:
    """A Python of that version, None if there is none."""
    given = [path for path in os.environ.get("PYTHONS", "").split(os.pathsep) if path]
    on_path = shutil.which(f"python{version}")
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    own = sorted(pyenv.glob(f"{version}.*"), key=lambda path: _numbers(path.name), reverse=True)
    candidates = [
        *given,
        *([on_path] if on_path else []),
        *[str(p / "bin" / "python") for p in own],
    ]
    return next((path for path in candidates if _version(path) == version), None)


def _numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)]


def _version(python: str) -> str | None:
    """Which version an interpreter has, None if it does not run: pyenv's stand-ins may not."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def check(python: str, version: str, kind: str) -> bool:
    """Whether everything passes; types are those of the newest libraries."""
    folder = ENVIRONMENTS / f"{version}-{kind}"
    inside = folder / "bin" / "python"
    install = [str(inside), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    # As newest all that may be upgraded is, also in an environment of last month.
    choice = ["--constraint", str(OLDEST)] if kind == "oldest" else ["--upgrade-strategy", "eager"]
    commands = [
        [*install, "--upgrade", *choice, "--editable", ".[dev]"],
        *([[str(inside), "-m", "mypy", "src/weft"]] if kind == "newest" else []),
        [str(inside), "-m", "pytest", "-q", "-n", "2"],
    ]
    if not inside.exists():
        commands.insert(0, [python, "-m", "venv", str(folder)])
    return all(
        subprocess.run(command, cwd=ROOT, check=False).returncode == 0 for command in commands
    )


def main(wanted: list[str]) -> int:
    """Runs all combinations, or those wanted; returns the exit code."""
    outcomes: dict[str, str] = {}
    for version in supported():
        names = {f"{version}-{kind}": kind for kind in KINDS}
        chosen = [name for name in names if not wanted or version in wanted or name in wanted]
        python = interpreter(version) if chosen else None
        for name in chosen:
            if python is None:
                outcomes[name] = "not run: no such Python; name one in PYTHONS"
                continue
            sys.stdout.write(f"--- {name}: {python}\n")
            sys.stdout.flush()
            outcomes[name] = "passed" if check(python, version, names[name]) else "FAILED"
    sys.stdout.write("".join([f"{name:<12} {outcome}\n" for name, outcome in outcomes.items()]))
    return 0 if "passed" in outcomes.values() and "FAILED" not in outcomes.values() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
