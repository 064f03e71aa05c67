"""Timing, peers in other environments, and the table at the end.

Absolute times say little on shared machines; every row is a ratio of two times from the same run.
Peers live in virtual environments of their own: `--peer tensorflow=PATH/bin/python`.
"""

from __future__ import annotations

import json
import subprocess
import timeit
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


def best_time(fn: Callable[[], Any], *, seconds: float = 0.2, repeat: int = 5) -> float:
    """Seconds per call: the best of several rounds, each long enough to be measured."""
    timer = timeit.Timer(fn)
    number, elapsed = timer.autorange()
    number = max(1, int(number * seconds / repeat / max(elapsed, 1e-9)))
    return min(timer.repeat(repeat, number)) / number


@dataclass
class Row:
    """One line of the table: what was compared, the ratio, and the bound it should keep."""

    name: str
    ratio: float | None
    bound: str
    detail: str = ""


@dataclass
class Peers:
    """Where the peers' interpreters are."""

    interpreters: dict[str, str] = field(default_factory=dict)

    def time(self, peer: str, setup: str, statement: str) -> float | None:
        """Seconds per run of a statement in a peer's environment; None if it is not given."""
        times = self.times(peer, setup, [statement])
        return None if times is None else times[0]

    def times(
        self, peer: str, setup: str, statements: list[str], *, seconds: float = 0.2
    ) -> list[float] | None:
        """Seconds per run of each statement, all in one process of the peer's interpreter.

        Each is the best of nine rounds of about so many seconds.
        """
        python = self.interpreters.get(peer)
        if python is None:
            return None
        code = (
            "import os, json, timeit\nos.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'\n"
            f"{setup}\n"
            "times = []\n"
            f"for statement in {statements!r}:\n"
            "    timer = timeit.Timer(statement, globals=globals())\n"
            "    timer.timeit(1)\n"
            f"    n = max(1, int({seconds} / max(timer.timeit(1), 1e-7)))\n"
            "    times.append(min(timer.repeat(9, n)) / n)\n"
            "print(json.dumps(times))\n"
        )
        done = subprocess.run(
            [python, "-c", code], capture_output=True, text=True, check=True, timeout=600
        )
        return [float(t) for t in json.loads(done.stdout.strip().splitlines()[-1])]


def microseconds(seconds: float) -> str:
    """A time for people."""
    return f"{seconds * 1e6:.2f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def print_table(rows: list[Row]) -> None:
    """The results, aligned."""
    width = max(len(row.name) for row in rows)
    print(f"{'':{width}}  ratio    wanted      measured")
    for row in rows:
        ratio = "   -   " if row.ratio is None else f"{row.ratio:6.2f}x"
        print(f"{row.name:{width}}  {ratio}  {row.bound:10}  {row.detail}")
