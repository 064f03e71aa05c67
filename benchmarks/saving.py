"""Checkpoints of many small variables and of a few large ones, beside TensorFlow's.

Weft makes files last (`fsync`) before it says that they are written, TensorFlow does not.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from typing import Any

from benchmarks.harness import Peers, Row, Session, in_turns, microseconds

ROUNDS = 2  # TensorFlow takes seconds for small variables

_SETUP = """
import numpy as np

small = tf.train.Checkpoint(v=[tf.Variable(float(i)) for i in range(10_000)])
large = tf.train.Checkpoint(v=[tf.Variable(np.ones(1_000_000, "f4")) for _ in range(100)])
later = tf.train.CheckpointOptions(experimental_enable_async_checkpoint=True)
"""

# What is timed, the ratio that is wanted, and what is done after each time without being timed.
STATEMENTS = {
    "10,000 small variables, write": ("small.write(folder + '/s')", "<= 0.5", "None"),
    "10,000 small variables, read": ("small.read(folder + '/s')", "<= 0.5", "None"),
    "10,000 small variables, held up": (
        "small.write(folder + '/t', later)",
        "<= 1",
        "small.sync()",
    ),
    "400 MB, write": ("large.write(folder + '/l')", "<= 1.5", "None"),
    "400 MB, read": ("large.read(folder + '/l')", "<= 1", "None"),
    "400 MB, held up": ("large.write(folder + '/m', later)", "<= 1", "large.sync()"),
}


def run(peers: Peers) -> list[Row]:
    """Rows for writing, reading, and how long writing in the background holds a program up."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        namespace: dict[str, Any] = {"folder": folder}
        exec(f"import weft as tf\n{_SETUP}", namespace)
        setup = f"import tensorflow as tf\nfolder = {other!r}\n{_SETUP}"
        with peers.session("tensorflow", setup) as tensorflow:
            for name, (statement, wanted, after) in STATEMENTS.items():
                timers = {"Weft": _timer(namespace, statement, after)}
                if tensorflow is not None:
                    timers["TensorFlow"] = _peer_timer(tensorflow, statement, after)
                times = in_turns(timers, ROUNDS)
                theirs = times.get("TensorFlow")
                ratio = None if theirs is None else times["Weft"] / theirs
                detail = ", ".join([f"{microseconds(t)} ({who})" for who, t in times.items()])
                rows.append(Row(f"{name} / TensorFlow", ratio, wanted, detail))
    return rows


def _timer(namespace: dict[str, Any], statement: str, after: str) -> Callable[[], float]:
    run, rest = compile(statement, "<run>", "eval"), compile(after, "<rest>", "eval")

    def timed() -> float:
        started = time.perf_counter()
        eval(run, namespace)
        seconds = time.perf_counter() - started
        eval(rest, namespace)
        return seconds

    return timed


def _peer_timer(session: Session, statement: str, after: str) -> Callable[[], float]:
    def timed() -> float:
        seconds = session.time(statement, 1)
        session.time(after, 1)
        return seconds

    return timed
