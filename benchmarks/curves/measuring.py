"""Programs in fresh processes with empty caches, library after library."""

from __future__ import annotations

import compileall
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import weft
from benchmarks.curves import clock
from benchmarks.harness import REST
from benchmarks.programs import IMPORTS, PROGRAMS, SCALAR, Program

MARKS = (1, 10, 100, 1_000, 10_000)
_CLOCK = Path(clock.__file__).read_text(encoding="utf-8")
_PATIENCE = 120.0  # seconds beyond the limit, for import and compiling: then a process is ended
_DROPPED = ("PYTHONDONTWRITEBYTECODE", "JAX_COMPILATION_CACHE_DIR")
_ABOUT = {"weft": "tf.explain(step).traces"}  # what is also asked when all calls were made


@dataclass(frozen=True)
class Cell:
    """Seconds until a call has returned; computed from the calls before if not measured."""

    seconds: float
    measured: bool


@dataclass
class Run:
    """What one process has told."""

    import_seconds: float
    setup_seconds: float
    reached: dict[int, float]
    done: int
    elapsed: float
    per_call: float
    version: str = ""
    about: Any = None
    peak: float = 0.0  # bytes at the most, above those after the import
    most: float = 0.0  # bytes at the most
    own: float = 0.0  # as `peak`, without pages of libraries, which processes share
    warnings: str = ""

    def cell(self, mark: int, with_import: bool) -> Cell:
        """Seconds until call number `mark` has returned."""
        start = self.import_seconds + self.setup_seconds if with_import else 0.0
        if mark in self.reached:
            return Cell(start + self.reached[mark], measured=True)
        later = (mark - self.done) * self.per_call
        return Cell(start + self.elapsed + later, measured=False)


@dataclass
class Curves:
    """A program in each of the libraries, several times; and why it failed, where it did."""

    number: int
    key: str
    title: str
    runs: dict[str, list[Run]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def cell(self, library: str, mark: int, with_import: bool) -> Cell | None:
        """The median of all runs; None if there is none."""
        cells = [run.cell(mark, with_import) for run in self.runs.get(library, [])]
        if not cells:
            return None
        median = statistics.median([c.seconds for c in cells])
        return Cell(median, all(c.measured for c in cells))

    def ratio(self, mark: int, with_import: bool) -> float | None:
        """The time of the best peer to Weft's; None without peers."""
        cells = {library: self.cell(library, mark, with_import) for library in self.runs}
        mine = cells.pop("weft", None)
        theirs = [c.seconds for c in cells.values() if c is not None]
        return min(theirs) / mine.seconds if mine is not None and theirs else None

    def peak(self, library: str) -> float | None:
        """Bytes that a library needed at the most, above those after its import."""
        return self._median([run.peak for run in self.runs.get(library, []) if run.peak])

    def most(self, library: str) -> float | None:
        """Bytes that a library needed at the most, with all that it had after its import."""
        return self._median([run.most for run in self.runs.get(library, []) if run.most])

    def own(self, library: str) -> float | None:
        """As `peak`, but for pages of libraries as they lie on disk, which processes share."""
        return self._median([run.own for run in self.runs.get(library, []) if run.own])

    @staticmethod
    def _median(found: list[float]) -> float | None:
        return statistics.median(found) if found else None


def measured(
    program: Program, pythons: dict[str, str], *, rounds: int, marks: tuple[int, ...], limit: float
) -> Curves:
    """Times a program in all libraries, in turns: a slow second must not hit only one of them."""
    number = PROGRAMS.index(program) + 1
    curves = Curves(number, program.key, program.title, {library: [] for library in pythons})
    for _ in range(rounds):
        for library, python in pythons.items():
            if library in curves.failures:
                continue
            time.sleep(REST)
            try:
                told = timed(program, library, python, marks, limit)
            except RuntimeError as e:
                curves.failures[library] = str(e)
            else:
                curves.runs[library].append(told)
    return curves


def timed(program: Program, library: str, python: str, marks: tuple[int, ...], limit: float) -> Run:
    """One process."""
    job = _job(program, library) | {"marks": marks, "limit": limit}
    told = _ask(python, job, limit + _PATIENCE)
    told["import_seconds"], told["setup_seconds"] = told.pop("import"), told.pop("setup")
    return _run_of(told)


def results(program: Program, library: str, python: str) -> list[list[float]]:
    """What a program computes, in short."""
    return _ask(python, _job(program, library) | {"check": True}, 600)["results"]


def interpreters(peers: dict[str, str]) -> dict[str, str]:
    """The interpreter of each library, Weft's first: this one."""
    return {"weft": sys.executable, **{p: python for p, python in peers.items() if p in IMPORTS}}


def warm_up(pythons: dict[str, str]) -> None:
    """Runs something in each library, so that the first one measured finds its files in memory.

    Peers were compiled to bytecode when they were installed; Weft is, here, if it is a checkout.
    """
    compileall.compile_dir(Path(weft.__file__).parent, quiet=2)
    for library, python in pythons.items():
        timed(SCALAR, library, python, (1,), 60)


def _job(program: Program, library: str) -> dict[str, Any]:
    text = program.text(library)
    return {
        "library": library,
        "import": IMPORTS[library],
        "data": program.arrays,
        "setup": text.setup,
        "statement": text.statement,
        "state": program.state,
        "check": False,
        "about": _ABOUT.get(library, "None"),
    }


def _ask(python: str, job: dict[str, Any], patience: float) -> dict[str, Any]:
    """Starts a process, gives it a job, and waits for the answer."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        # In a file, where AutoGraph finds the source.
        file = Path(folder, "program.py")
        file.write_text(job["setup"], encoding="utf-8")
        caches = {"WEFT_CACHE_DIR": f"{folder}/weft", "TORCHINDUCTOR_CACHE_DIR": f"{folder}/torch"}
        for path in caches.values():
            Path(path).mkdir()
        process = subprocess.Popen(
            [python, "-c", _CLOCK], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=folder,
            env=_environment() | caches,
        )  # fmt: skip
        try:
            out, errors = process.communicate(json.dumps(job | {"file": str(file)}), patience)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"nothing after {patience:.0f} s") from None
        finally:
            with contextlib.suppress(ProcessLookupError):  # with those it has started
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode:
        raise RuntimeError(errors)
    return json.loads(out) | {"warnings": errors}


def _environment() -> dict[str, str]:
    """That of this process; packages are byte-compiled, as they are when they are installed."""
    kept = {k: v for k, v in os.environ.items() if k not in _DROPPED}
    paths = [os.path.abspath(p) for p in kept.get("PYTHONPATH", "").split(os.pathsep) if p]
    return kept | {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": os.pathsep.join(paths)}


@contextlib.contextmanager
def neighbour(busy: bool) -> Iterator[None]:
    """Another process that takes one core all the time, if so wanted."""
    if not busy:
        yield
        return
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def save(path: str, curves: list[Curves], about: dict[str, Any]) -> None:
    """Everything that was measured, as JSON."""
    text = json.dumps({"about": about, "programs": [asdict(c) for c in curves]}, indent=1)
    Path(path).write_text(text + "\n", encoding="utf-8")


def load(path: str) -> tuple[list[Curves], dict[str, Any]]:
    """What `save` has stored."""
    stored = json.loads(Path(path).read_text(encoding="utf-8"))
    return [_curves_of(told) for told in stored["programs"]], stored["about"]


def _curves_of(told: dict[str, Any]) -> Curves:
    runs = {library: [_run_of(run) for run in runs] for library, runs in told["runs"].items()}
    return Curves(**told | {"runs": runs})


def _run_of(told: dict[str, Any]) -> Run:
    """JSON has only texts as keys."""
    return Run(**told | {"reached": {int(n): s for n, s in told["reached"].items()}})
