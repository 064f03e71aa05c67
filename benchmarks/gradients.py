"""Gradients: what a tape costs, and steps of training against TensorFlow.

The programs are texts that run in both: only the first line, the import, is another.
"""

from __future__ import annotations

import linecache
from typing import Any

import weft as tf
from benchmarks.harness import Peers, Row, best_time, microseconds
from benchmarks.programs import MLP, NEWTON, NLL, RNN


def run(peers: Peers) -> list[Row]:
    """All rows."""
    return [tape_overhead(), *[_against(peers, *program) for program in PROGRAMS]]


def tape_overhead() -> Row:
    """x * y on scalars, with and without a tape that watches x."""
    x, y = tf.constant(2.0), tf.constant(3.0)

    def chain() -> None:
        for _ in range(1000):
            x * y

    def taped() -> None:
        with tf.GradientTape() as tape:
            tape.watch(x)
            chain()

    # In turns: on a shared machine a slow second must not hit only one of the two.
    times = [(best_time(chain, seconds=0.05), best_time(taped, seconds=0.05)) for _ in range(8)]
    untaped, recorded = min(t for t, _ in times), min(t for _, t in times)
    detail = f"{microseconds(recorded / 1000)} against {microseconds(untaped / 1000)} per op"
    return Row("x * y under a tape / without", recorded / untaped, "<= 1.5", detail)


_MLP_EAGER = (
    MLP.arrays
    + """
weights = [tf.Variable(v) for v in arrays]
x, y = tf.constant(f32(32, 13)), tf.constant(f32(32, 1))
def step():
    with tf.GradientTape() as tape:
        h = x
        for i in range(0, 6, 2):
            h = tf.matmul(h, weights[i]) + weights[i + 1]
            if i < 4:
                h = tf.nn.relu(h)
        loss = tf.reduce_mean(tf.square(h - y))
    for w, g in zip(weights, tape.gradient(loss, weights)):
        w.assign_sub(0.01 * g)
"""
)

PROGRAMS = [
    ("TensorFlow eager / taped step of an MLP, batch of 32", _MLP_EAGER, "step()", 5),
    *[
        (f"tf.function / {program.title}", program.body("weft"), program.tf.statement, bound)
        for program, bound in ((NLL, 4), (MLP, 4), (RNN, 2), (NEWTON, 2))
    ],
]


def _against(peers: Peers, label: str, program: str, statement: str, bound: int) -> Row:
    # Compiled from a file that linecache knows, because functions are converted from their source.
    mine = best_time(prepared(label, program, statement))
    theirs = peers.time("tensorflow", saved_source(program, "import tensorflow as tf"), statement)
    ratio = None if theirs is None else theirs / mine
    detail = f"{microseconds(mine)} (Weft)"
    if theirs is not None:
        detail = f"{microseconds(theirs)} against {detail}"
    return Row(label, ratio, f">= {bound}", detail)


def prepared(label: str, program: str, statement: str) -> Any:
    """A statement of a program for Weft as a function; its source can be found."""
    source = f"import weft as tf\n{program}"
    file = f"<benchmark: {label}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": "benchmark"}
    exec(compile(source, file, "exec"), namespace)
    run_once = eval(f"lambda: {statement}", namespace)
    run_once()
    return run_once


def saved_source(program: str, first_line: str) -> str:
    """A text that runs a program from a file, where AutoGraph finds its source."""
    return (
        "import tempfile, linecache\n"
        f"source = {f'{first_line}{chr(10)}{program}'!r}\n"
        "file = tempfile.NamedTemporaryFile('w', suffix='.py')\n"
        "file.write(source); file.flush()\n"
        "exec(compile(source, file.name, 'exec'))"
    )
