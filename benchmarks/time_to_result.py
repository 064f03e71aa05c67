"""Seconds until call N has returned, in default mode: Weft, TensorFlow, JAX and torch.compile.

`python -m benchmarks.time_to_result [--peer tensorflow=PATH/bin/python ...]`

Fourteen programs, each called in a tight loop in a fresh process with empty caches, several times,
library after library. The clock starts before the first call, when data, tensors and functions are
there; or before the import of the library, and then all but making the data in NumPy counts.
"""

from __future__ import annotations

import argparse
import os
import platform
from pathlib import Path
from typing import Any

from benchmarks.curves.checking import checked
from benchmarks.curves.measuring import (
    MARKS,
    Curves,
    interpreters,
    load,
    measured,
    neighbour,
    save,
    warm_up,
)
from benchmarks.curves.picture import picture
from benchmarks.curves.tables import Marks, program_table, row, summary
from benchmarks.harness import Peers, Row
from benchmarks.programs import IMPORTS, PROGRAMS, Program

_ROUNDS, _LIMIT = 3, 20.0
_SHORT_LIMIT = 10.0  # seconds, and one round, as one group among others


def run(peers: Peers) -> list[Row]:
    """A row for each program: the worst of its cells, of one short round."""
    pythons = interpreters(peers.interpreters)
    warm_up(pythons)
    found = [
        measured(program, pythons, rounds=1, marks=MARKS, limit=_SHORT_LIMIT)
        for program in PROGRAMS
    ]
    return [row(curves, MARKS) for curves in found]


def main() -> None:
    """Measures, or reads what was measured, and tells it."""
    options = _parser().parse_args()
    pythons = interpreters(dict(options.peer))
    programs = {n: program for n, program in enumerate(PROGRAMS, 1) if n in options.programs}
    if options.check:
        _check(programs, pythons)
        return
    found, calls = _loaded(options) if options.load else _measure(programs, pythons, options)
    print(summary(found, calls))
    for path, with_import in ((options.picture, False), (options.picture_with_import, True)):
        if path:
            Path(path).write_text(picture(found, calls, with_import), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.time_to_result",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--peer", type=_peer, action="append", default=[], metavar="NAME=PYTHON",
        help="the interpreter of an environment with tensorflow, jax or torch")  # fmt: skip
    add("--programs", type=_numbers, default=tuple(range(1, len(PROGRAMS) + 1)), metavar="3,5",
        help="just some of the programs, by number")  # fmt: skip
    add("--calls", type=_numbers, metavar="1,10,100",
        help="numbers of calls until which the time is taken")  # fmt: skip
    add("--rounds", type=int, default=_ROUNDS, help="processes of each program and library")
    add("--limit", type=float, default=_LIMIT, metavar="SECONDS",
        help="of calls in one process; what is beyond is extrapolated, marked by ~")  # fmt: skip
    add("--busy", action="store_true", help="with a neighbour that takes one core all the time")
    add("--check", action="store_true", help="only compare what the libraries compute")
    add("--json", metavar="FILE", help="where to store all that was measured")
    add("--load", metavar="FILE", help="tell and draw what is stored instead of measuring")
    add("--picture", metavar="FILE", help="where to draw the curves, as SVG")
    add("--picture-with-import", metavar="FILE", help="the same, with the time of the import")
    return parser


def _peer(text: str) -> tuple[str, str]:
    name, _, python = text.partition("=")
    if name not in IMPORTS or not python:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=PYTHON, of {', '.join(IMPORTS)}")
    return name, python


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(sorted(int(part) for part in text.split(",")))


def _check(programs: dict[int, Program], pythons: dict[str, str]) -> None:
    """Compares results; the exit status tells whether all are the same."""
    failed = False
    for n, program in programs.items():
        wrong = checked(program, pythons)
        failed |= bool(wrong)
        told = [f"{library} has {why}" for library, why in wrong.items()] or ["the same in all"]
        print(f"{n}. {program.title}: {'; '.join(told)}", flush=True)
    raise SystemExit(failed)


def _measure(
    programs: dict[int, Program], pythons: dict[str, str], options: argparse.Namespace
) -> tuple[list[Curves], Marks]:
    """Measures program after program; what there is is told and stored after each."""
    found: list[Curves] = []
    calls = options.calls or MARKS
    warm_up(pythons)
    with neighbour(options.busy):
        for program in programs.values():
            curves = measured(
                program, pythons, rounds=options.rounds, marks=calls, limit=options.limit
            )
            found.append(curves)
            print(program_table(curves, calls), end="\n\n", flush=True)
            if options.json:
                save(options.json, found, _about(options, calls))
    return found, calls


def _loaded(options: argparse.Namespace) -> tuple[list[Curves], Marks]:
    """What was measured before, as far as it is wanted."""
    stored, about = load(options.load)
    calls = options.calls or tuple(about["calls"])
    found = [curves for curves in stored if curves.number in options.programs]
    for curves in found:
        print(program_table(curves, calls), end="\n\n")
    return found, calls


def _about(options: argparse.Namespace, calls: Marks) -> dict[str, Any]:
    """What numbers depend on, but for the versions, which each run tells."""
    return {
        "calls": calls,
        "rounds": options.rounds,
        "limit": options.limit,
        "busy": options.busy,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
    }


if __name__ == "__main__":
    main()
