"""Builds a wheel, installs it into an empty environment and uses it there, away from the checkout.

    python checks/wheel.py

What an installed library lacks, a checkout hides: files that are not packaged, and dependencies
that are not declared.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]

_PROGRAM = """
import importlib.metadata
import pathlib
import weft as tf

assert tf.__version__ == importlib.metadata.version("weft"), tf.__version__
assert (pathlib.Path(tf.__file__).parent / "py.typed").exists()


@tf.function(jit_compile=True)
def halved(x):
    while tf.reduce_max(x) > 1.0:
        x = x / 2.0
    return x


print(halved(tf.constant([3.0, 8.0])).numpy(), tf.explain(halved).traces[0]["tier"])
print(tf.raw_ops.AddV2(x=1, y=2).numpy(), len(tf.raw_ops.__all__))
"""
_EXPECTED = ["[0.375 1.   ] native", "3"]


def build(folder: Path) -> Path:
    """The wheel of the checkout."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def problems_of(wheel: Path) -> list[str]:
    """What is in the wheel and should not be, or the other way round."""
    names = zipfile.ZipFile(wheel).namelist()
    foreign = [n for n in names if not n.startswith(("weft/", "weft-"))]
    found = [f"{name} does not belong into a wheel" for name in foreign]
    tracked = subprocess.run(
        ["git", "ls-files", "src/weft"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    missing = {line.removeprefix("src/") for line in tracked.stdout.split()} - set(names)
    return [*found, *[f"{name} is missing" for name in sorted(missing)]]


def used(wheel: Path, folder: Path) -> list[str]:
    """What the program prints in an environment that has the wheel and what it asks for."""
    python = folder / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", str(wheel)], check=True)
    program = folder / "program.py"
    program.write_text(_PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [str(python), str(program)], cwd=folder, check=True, capture_output=True, text=True
    )
    subprocess.run([str(python.with_name("weft")), "doctor"], cwd=folder, check=True)
    return done.stdout.splitlines()


def main() -> int:
    """Says what is wrong; 1 if anything is."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        wheel = build(folder)
        found = problems_of(wheel)
        printed = used(wheel, folder)
    if printed[0] != _EXPECTED[0] or not printed[1].startswith(_EXPECTED[1]):
        found.append(f"the program printed {printed}")
    print("\n".join(found) or f"{wheel.name} works in an empty environment")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
