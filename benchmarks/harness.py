"""Timing, peers in other environments, and the table at the end.

Absolute times say little on shared machines; every row is a ratio of two times from the same run.
Peers live in virtual environments of their own: `--peer tensorflow=PATH/bin/python`.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any


def best_time(fn: Callable[[], Any], *, seconds: float = 0.2, repeat: int = 5) -> float:
    """Seconds per call: the best of several rounds, each long enough to be measured."""
    timer = timeit.Timer(fn)
    number, elapsed = timer.autorange()
    number = max(1, int(number * seconds / repeat / max(elapsed, 1e-9)))
    return min(timer.repeat(repeat, number)) / number


REST = 0.05  # seconds between turns, after which the threads of the one before no longer spin


def in_turns(timers: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The best time of each: on a shared machine a slow second must not hit only one of them."""
    times: dict[str, list[float]] = {who: [] for who in timers}
    for _ in range(rounds):
        for who, timer in timers.items():
            time.sleep(REST)
            times[who].append(timer())
    return {who: min(found) for who, found in times.items()}


def timer_of(
    fn: Callable[[], Any], seconds: float, clock: str = "perf_counter"
) -> Callable[[], float]:
    """Times so many calls that they take about so long, and gives the time of one.

    `clock` is one of the module `time`.
    """
    number = max(1, int(seconds / max(timeit.timeit(fn, number=1), 1e-7)))
    timer = getattr(time, clock)
    return lambda: timeit.timeit(fn, timer=timer, number=number) / number


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
        """Seconds per run of a statement in a peer's environment; None if it is not given.

        The best of nine rounds of a fifth of a second.
        """
        with self.session(peer, setup) as session:
            if session is None:
                return None
            timer = session.timer(statement, 0.2)
            return min([timer() for _ in range(9)])

    @contextmanager
    def session(self, peer: str, setup: str) -> Iterator[Session | None]:
        """A process of the peer's interpreter that has run the setup; None if there is none."""
        python = self.interpreters.get(peer)
        if python is None:
            yield None
            return
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                [python, "-c", _SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=errors, text=True, bufsize=1,
            )  # fmt: skip
            with process:
                session = Session(process, errors)
                session.ask(setup)
                yield session

    @contextmanager
    def sessions(self, setups: dict[str, str], threads: int) -> Iterator[dict[str, Session]]:
        """A process for each library that is here, Weft's among them.

        THREADS in a setup is their number; with one, times are those of the processor.
        """
        here = Peers({"weft": sys.executable, **self.interpreters})
        with contextlib.ExitStack() as stack:
            found: dict[str, Session] = {}
            for who, setup in setups.items():
                text = setup.replace("THREADS", str(threads))
                session = stack.enter_context(here.session(who, text))
                if session is not None:
                    session.clock = "process_time" if threads == 1 else "perf_counter"
                    found[who] = session
            yield found


_SERVE = """
import json, os, sys, time, timeit
os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
answers = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1)  # what programs print is no answer
exec(json.loads(sys.stdin.readline()))
print('null', file=answers, flush=True)
for line in sys.stdin:
    statement, number, clock = json.loads(line)
    took = timeit.timeit(statement, timer=getattr(time, clock), number=number, globals=globals())
    print(took, file=answers, flush=True)
"""


@dataclass
class Session:
    """A process of a peer that times statements when asked to, so that one can take turns."""

    process: subprocess.Popen[str]
    errors: IO[str]
    clock: str = "perf_counter"  # of the module `time`

    def ask(self, question: Any) -> Any:
        """Sends a setup or a statement, waits for the answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(question) + "\n")
        answer = self.process.stdout.readline()
        if not answer:
            self.errors.seek(0)
            raise RuntimeError(f"A peer failed at {question!r}:\n{self.errors.read()}")
        return json.loads(answer)

    def time(self, statement: str, number: int) -> float:
        """Seconds per run, over so many of them."""
        return float(self.ask([statement, number, self.clock])) / number

    def peak_memory(self) -> float:
        """The most megabytes that the process has had at once; NaN where nobody says."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        except OSError:
            return math.nan
        found = re.search(r"VmHWM:\s*(\d+) kB", status)
        return int(found[1]) / 1024 if found else math.nan

    def timer(self, statement: str, seconds: float) -> Callable[[], float]:
        """Like `timer_of`, of a statement that has run once before."""
        self.time(statement, 1)
        number = max(1, int(seconds / max(self.time(statement, 1), 1e-7)))
        return lambda: self.time(statement, number)


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
