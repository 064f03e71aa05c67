"""What is checked in says nothing of the machine it was written on."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Put together here, so that this file does not contain them itself.
FORBIDDEN = [
    "/".join(parts)
    for parts in (
        ("", "work", ""),
        ("", "opt", "venvs"),
        ("", "opt", "pypi"),
        ("", "opt", "wheels"),
        ("", "root", ""),
        ("..", "shared"),
    )
] + [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"))]


def tracked_files() -> list[Path]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    # A file may be deleted in the working tree and still be in the index.
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_tracked_file_names_a_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)} contains {text!r}"
        for path in tracked_files()
        for text in FORBIDDEN
        if text.encode() in path.read_bytes()
    ]
    assert not found, "\n".join(found)
