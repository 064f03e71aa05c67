"""Runs a fuzzer over many seeds: progress, reports, counts."""

from __future__ import annotations

import datetime as dt
import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tqdm import tqdm

Check = Callable[[int], str | None]


@dataclass
class Outcome:
    """How many cases a campaign ran, and the reports of those that failed, by seed."""

    cases: int = 0
    reports: dict[int, str] = field(default_factory=dict)
    inputs: int = 1  # that are run for each case

    def __str__(self) -> str:
        each = f" of {self.inputs} inputs each" if self.inputs > 1 else ""
        return f"{self.cases} cases{each}, {len(self.reports)} disagreements"


def seed_of_today() -> int:
    """The date as a number (20261116 on the 16th of November 2026), with room for many seeds."""
    return int(dt.datetime.now(tz=dt.UTC).strftime("%Y%m%d")) * 10_000_000


def run(check: Check, *, seed: int, count: int, seconds: float | None = None) -> Outcome:
    """Runs a fuzzer for consecutive seeds, until all are done or time is up.

    A report is printed when it is made, since what follows it may end the process.
    """
    logging.getLogger("weft").setLevel(logging.ERROR)
    outcome = Outcome(inputs=getattr(check, "inputs", 1))
    until = None if seconds is None else time.monotonic() + seconds
    with tqdm(total=count, disable=None, file=sys.stderr) as bar:
        for one in range(seed, seed + count):
            report = check(one)
            outcome.cases += 1
            bar.update()
            if report is not None:
                outcome.reports[one] = report
                tqdm.write(report, file=sys.stdout)
                sys.stdout.flush()
            if until is not None and time.monotonic() > until:
                break
    return outcome
