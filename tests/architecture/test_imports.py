"""`import weft` stays light: libraries that only some programs need are loaded when used."""

import subprocess
import sys

HEAVY = [
    "IPython",
    "PIL",
    "attr",
    "attrs",
    "jax",
    "keras",
    "llvmlite",
    "re2",
    "tensorboard",
    "tensorflow",
    "torch",
]


def test_import_does_not_load_heavy_libraries() -> None:
    program = f"import sys, weft; print(*(name for name in {HEAVY} if name in sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.split() == []
