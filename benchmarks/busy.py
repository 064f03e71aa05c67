"""Small products of matrices with nothing else to do, and beside processes that take every core.

Threads of BLAS that spin while they wait made seconds of milliseconds where anything else ran. A
row is the time beside busy neighbours to the time without, medians of rounds in turns, for each way
to run the same function. On two cores a fair share beside two neighbours is half of a processor.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
import time

from benchmarks.curves.measuring import neighbour
from benchmarks.harness import Peers, Row, Session, microseconds
from weft._src.core.processors import processors

_ROUNDS, _CALLS = 7, 10
_SETUP = """
import numpy as np
import weft as tf
rng = np.random.default_rng(0)
x = tf.constant(rng.standard_normal((32, 256), dtype='float32'))
w = [tf.constant(rng.standard_normal((256, 512), dtype='float32')) for _ in range(50)]
def products(x):
    total = tf.zeros([32, 512])
    for matrix in w:
        total += tf.matmul(x, matrix)
    return total
"""
_WAYS = {
    "eagerly": "step = products",
    "as a NumPy plan": "tf.config.execution = 'numpy'; step = tf.function(products)",
    "as machine code": "step = tf.function(products, jit_compile=True)",
}


def run(peers: Peers) -> list[Row]:
    """A row for each way to run them."""
    return [_row(way, setup) for way, setup in _WAYS.items()]


def _row(way: str, setup: str) -> Row:
    here = Peers({"weft": sys.executable})
    with here.session("weft", f"{_SETUP}\n{setup}\nstep(x)") as session:
        assert session is not None
        idle: list[float] = []
        busy: list[float] = []
        for _ in range(_ROUNDS):
            idle.append(_median(session))
            with contextlib.ExitStack() as stack:
                for _ in range(processors()):
                    stack.enter_context(neighbour(busy=True))
                time.sleep(0.3)  # until they run
                busy.append(_median(session))
    alone, beside = statistics.median(idle), statistics.median(busy)
    name = f"beside busy neighbours / idle: 50 products 32x256 by 256x512, {way}"
    detail = f"{microseconds(alone)}, beside {processors()} neighbours {microseconds(beside)}"
    return Row(name, beside / alone, "<= 3", detail)


def _median(session: Session) -> float:
    return statistics.median([session.time("step(x)", 1) for _ in range(_CALLS)])
