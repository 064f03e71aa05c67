"""Functions on the XLA tier beside the same programs written by hand in JAX.

Both run on the jax that Weft uses, in processes of their own, in turns; the source of functions has
to be found, so the programs are files. A ratio is Weft's time to JAX's.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.harness import Peers, Row, in_turns, microseconds
from benchmarks.programs import CONVNET, DIGITS, IMPORTS, MLP, RNN, SCALAR, Program

ROUNDS, SECONDS = 7, 0.3
# With what is wanted; the last one tells what a call costs.
_WANTED = {DIGITS: "<= 1.25", MLP: "<= 1.25", CONVNET: "<= 1.25", RNN: "<= 1.3", SCALAR: ""}


def run(peers: Peers) -> list[Row]:
    """A row for each program; JAX is the one beside Weft, so no peer is needed."""
    here = Peers({"weft": sys.executable, "jax": sys.executable})
    return [_row(here, program, wanted) for program, wanted in _WANTED.items()]


def _row(here: Peers, program: Program, wanted: str) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        setups = {
            library: _setup(Path(folder) / f"{library}.py", program, library)
            for library in ("weft", "jax")
        }
        with (
            here.session("weft", setups["weft"]) as mine,
            here.session("jax", setups["jax"]) as theirs,
        ):
            assert mine is not None
            assert theirs is not None
            times = in_turns(
                {
                    "weft": mine.timer(program.text("weft").statement, SECONDS),
                    "jax": theirs.timer(program.text("jax").statement, SECONDS),
                },
                ROUNDS,
            )
    shown = ", ".join(f"{who} {microseconds(took)}" for who, took in times.items())
    return Row(f"XLA / {program.title}", times["weft"] / times["jax"], wanted, shown)


def _setup(file: Path, program: Program, library: str) -> str:
    execution = "tf.config.execution = 'xla'\n" if library == "weft" else ""
    file.write_text(f"{IMPORTS[library]}\n{execution}{program.body(library)}\n", encoding="utf-8")
    return f"exec(compile(open({str(file)!r}).read(), {str(file)!r}, 'exec'), globals())"
