"""Tables of programs that are run in a process of their own: what each raised, or None."""

from __future__ import annotations

import json
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

TESTS = Path(__file__).parents[1]


def tell(programs: dict[str, Callable[[], None]]) -> None:
    """Runs all of them, and prints what each raised as a line of JSON."""
    found: dict[str, str | None] = {}
    for name, run in programs.items():
        try:
            run()
            found[name] = None
        except Exception:  # noqa: BLE001 - told to the test
            found[name] = traceback.format_exc()
    print(json.dumps(found))


def told_by(module: ModuleType) -> dict[str, str | None]:
    """What the programs of a module raised, whose main function tells it."""
    command = [sys.executable, "-m", module.__name__]
    done = subprocess.run(
        command, cwd=TESTS, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout, done.stderr
    found: dict[str, str | None] = json.loads(done.stdout.splitlines()[-1])
    return found
