"""Runs a fuzzer over many seeds: progress, reports, counts."""

from __future__ import annotations

import datetime as dt
import logging
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tqdm import tqdm

import weft as tf

Check = Callable[[int], str | None]

# For one case: beyond that it hangs. Work counts by the time of processors (of which a busy machine
# gives less); what waits for ever uses none.
_MOST_SECONDS = {"of work": 60, "by the clock": 600}
_KEPT_AFTER = 500  # cases
_MOST_BYTES = 4 << 30  # more than the process has at the start: nothing huge is made in earnest


class TookTooLong(BaseException):
    """A case hangs."""


@dataclass
class Outcome:
    """How many cases a campaign ran, and the reports of those that failed, by seed."""

    cases: int = 0
    reports: dict[int, str] = field(default_factory=dict)
    inputs: int = 1  # that are run for each case

    def __str__(self) -> str:
        each = f" of {self.inputs} inputs each" if self.inputs > 1 else ""
        return f"{self.cases} cases{each}, {len(self.reports)} disagreements"

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(self.cases + other.cases, self.reports | other.reports, self.inputs)


def seed_of_today() -> int:
    """The date as a number (20261116 on the 16th of November 2026), with room for many seeds."""
    return int(dt.datetime.now(tz=dt.UTC).strftime("%Y%m%d")) * 10_000_000


@contextmanager
def limits() -> Iterator[None]:
    """Bounded memory, so that what is asked for by mistake is refused and not made."""
    with open("/proc/self/statm") as file:
        in_use = int(file.read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (in_use + _MOST_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextmanager
def all_frames() -> Iterator[None]:
    """Tracebacks show the frames of Weft, too: there the mistakes are that are looked for."""
    was_filtering = tf.debugging.is_traceback_filtering_enabled()
    tf.debugging.disable_traceback_filtering()
    try:
        yield
    finally:
        if was_filtering:
            tf.debugging.enable_traceback_filtering()


def _within_time(check: Check, seed: int) -> str | None:
    def stop(number: int, _: Any) -> None:
        kind = "of work" if number == signal.SIGPROF else "by the clock"
        raise TookTooLong(f"seed {seed} takes longer than {_MOST_SECONDS[kind]} s {kind}")

    before = {number: signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, _MOST_SECONDS["of work"])
    signal.setitimer(signal.ITIMER_REAL, _MOST_SECONDS["by the clock"])
    try:
        return check(seed)
    except TookTooLong:
        return f"--- {traceback.format_exc()}"
    except Exception:  # noqa: BLE001 - a finding like any other
        return f"--- seed {seed}:\n{traceback.format_exc()}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _quiet() -> Iterator[None]:
    """Warnings are not what is looked for; afterwards they are logged as before."""
    logger = logging.getLogger("weft")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def run(
    check: Check,
    seeds: Collection[int],
    *,
    seconds: float | None = None,
    keep: Callable[[], None] | None = None,
) -> Outcome:
    """Runs a fuzzer for some seeds, until all are done or time is up.

    A report is printed when it is made, since what follows it may end the process; for the same
    reason `keep` is called now and then, and at the end.
    """
    outcome = Outcome(inputs=getattr(check, "inputs", 1))
    until = None if seconds is None else time.monotonic() + seconds
    bar = tqdm(total=len(seeds), disable=None, file=sys.stderr)
    with _quiet(), limits(), all_frames(), bar:
        for one in seeds:
            report = _within_time(check, one)
            outcome.cases += 1
            bar.update()
            if report is not None:
                outcome.reports[one] = report
                tqdm.write(report, file=sys.stdout)
                sys.stdout.flush()
            if keep is not None and outcome.cases % _KEPT_AFTER == 0:
                keep()
            if until is not None and time.monotonic() > until:
                break
    if keep is not None:
        keep()
    return outcome
