"""Public functions of all families on 1,000 and 1,000,000 elements, eagerly, against TensorFlow.

The statements stand in `sweep.txt`, and run in both. Rows are those that are slower than
TensorFlow's; the last ones say how many there are.

Some of them, all rows, in many short rounds, as they have to be on a machine that has other work:

    python -m benchmarks.sweep --tensorflow PYTHON --match sets --size 1000000

With `--processor` the processor's time is compared, that of all threads, not the clock's.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import (
    Peers,
    Row,
    Session,
    in_turns,
    microseconds,
    print_table,
    timer_of,
)
from benchmarks.ops import warm_up

SIZES = (1000, 1_000_000)
ROUNDS, SECONDS = 3, 0.05
MANY_ROUNDS, SHORT = 25, 0.004
_SLOWER, _FAR_SLOWER = 1.0, 1.5  # times as long as TensorFlow takes

_SETUP = """
import numpy as np
rng = np.random.default_rng(0)
side = {1000: 40, 1_000_000: 1000}[size]
a, b = [tf.constant(rng.normal(size=size).astype('float32')) for _ in range(2)]
p = tf.constant(rng.random(size).astype('float32') * 4 + 0.1)
u = tf.constant(rng.random(size).astype('float32') * 0.98 + 0.01)
d = tf.cast(a, tf.float64)
m, k = tf.reshape(a, [side, -1]), tf.reshape(b, [-1, side])
i, j = [tf.constant(rng.integers(1, 1000, size).astype('int32')) for _ in range(2)]
l = tf.cast(i, tf.int64)
s = tf.constant(rng.integers(0, 100, size).astype('int32'))
sorted_ids = tf.sort(s)
order = tf.constant(rng.permutation(size).astype('int32'))
t, f = a > 0, b > 0
c = tf.complex(a, b)
square = tf.eye({1000: 31, 1_000_000: 300}[size]) * 5 + 0.1
stack = tf.eye(10) * 5 + tf.reshape(a[:size // 100 * 100], [-1, 10, 10]) * 0.1
image = tf.reshape(a, {1000: [1, 10, 10, 10], 1_000_000: [10, 100, 100, 10]}[size])
rgb = tf.reshape(u[:size // 300 * 300], [-1, 10, 10, 3])
filters = tf.constant(rng.normal(size=(3, 3, 10, 10)).astype('float32'))
w = tf.constant(['w%d' % n for n in rng.integers(0, size, size // 10)])
lines = tf.constant(['%d,%.2f,x%d' % (n, n / 3, n) for n in range(size // 10)])
sentences = tf.constant([' '.join(['word%d' % n] * 6) for n in range(size // 50)])
texts = tf.constant(['gr\\u00fc\\u00dfe %d' % n for n in range(size // 20)])
numbers = tf.strings.as_string(i[:size // 10])
ragged = tf.RaggedTensor.from_row_lengths(a[:size // 10 * 10], [5, 15] * (size // 20))
sparse = tf.sparse.from_dense(tf.where(m > 1.5, m, tf.zeros_like(m)))
sets = [tf.reshape(s[:size // 50 * 50], [-1, 50]), tf.reshape(s[::-1][:size // 50 * 50], [-1, 50])]
"""

STATEMENTS = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()


def run(peers: Peers) -> list[Row]:
    """A row for each statement that takes longer than TensorFlow's, and how many do."""
    rows: list[Row] = []
    totals: list[Row] = []
    for size in SIZES:
        setup = f"size = {size}\n{_SETUP}"
        with peers.session("tensorflow", f"import tensorflow as tf\n{setup}") as tensorflow:
            if tensorflow is None:
                continue
            ratios = _ratios(f"import weft as tf\n{setup}", tensorflow, size)
        slower = [row for row in ratios if (row.ratio or 0.0) > _SLOWER]
        rows += sorted(slower, key=lambda row: row.ratio or 0.0)
        far = sum((row.ratio or 0.0) > _FAR_SLOWER for row in slower)
        share = 100 * len(slower) / len(ratios)
        label = f"functions of {size:,}"
        totals.append(Row(f"{label} slower than TensorFlow's, %", share, "<= 3"))
        totals.append(Row(f"{label} that take 1.5 times as long", float(far), "<= 0"))
    return rows + totals


def _ratios(setup: str, tensorflow: Session, size: int) -> list[Row]:
    return list(_rows(setup, tensorflow, size, STATEMENTS, ROUNDS, SECONDS))


def _rows(
    setup: str,
    tensorflow: Session,
    size: int,
    statements: Sequence[str],
    rounds: int,
    seconds: float,
) -> Iterator[Row]:
    namespace: dict[str, Any] = {}
    exec(setup, namespace)
    for statement in statements:
        ours = eval(f"lambda: {statement}", namespace)
        warm_up(ours)
        timers = {"Weft": timer_of(ours, seconds, tensorflow.clock)}
        timers["TensorFlow"] = tensorflow.timer(statement, seconds)
        times = in_turns(timers, rounds)
        detail = ", ".join([f"{microseconds(t)} ({who})" for who, t in times.items()])
        ratio = times["Weft"] / times["TensorFlow"]
        yield Row(f"{statement} of {size:,}", ratio, "<= 1.5", detail)


def main() -> None:
    """The statements that match a pattern, the slowest last."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep", description=__doc__)
    parser.add_argument("--tensorflow", required=True, help="its interpreter")
    parser.add_argument("--match", default="", help="a pattern that statements contain")
    parser.add_argument("--size", type=int, choices=SIZES, default=SIZES[-1])
    parser.add_argument("--processor", action="store_true", help="compare the processor's time")
    options = parser.parse_args()
    chosen = [statement for statement in STATEMENTS if re.search(options.match, statement)]
    setup = f"size = {options.size}\n{_SETUP}"
    peers = Peers({"tensorflow": options.tensorflow})
    with peers.session("tensorflow", f"import tensorflow as tf\n{setup}") as tensorflow:
        assert tensorflow is not None
        if options.processor:
            tensorflow.clock = "process_time"
        ours = f"import weft as tf\n{setup}"
        rows = list(_rows(ours, tensorflow, options.size, chosen, MANY_ROUNDS, SHORT))
    print_table(sorted(rows, key=lambda row: row.ratio or 0.0))


if __name__ == "__main__":
    main()
