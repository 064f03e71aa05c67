"""Thirty ops on 1,000 and 1,000,000 elements: eagerly, against NumPy or SciPy called directly, and
against TensorFlow.

The statements are texts that run in both; NumPy's are beside them. A statement of NumPy is None
where there is no one call for it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.harness import Peers, Row, Session, in_turns, microseconds, timer_of
from weft._src.execution.background import worker

SIZES = (1000, 1_000_000)
ROUNDS, SECONDS = 7, 0.1  # of each op
WARM_UP = 0.1  # seconds
TRIALS = (12, 110)  # calls after which it is decided which tier is faster, long and short ones

_ARRAYS = """
import numpy as np
rng = np.random.default_rng(0)
side = {1000: 40, 1_000_000: 1000}[size]
a, b = [rng.normal(size=size).astype('float32') for _ in range(2)]
p = np.abs(a) + 0.5
m, k = a.reshape(side, -1), rng.normal(size=(size // side, side)).astype('float32')
i = rng.integers(0, size, size).astype('int32')
s = rng.integers(0, 100, size).astype('int32')
image = a.reshape({1000: (1, 10, 10, 10), 1_000_000: (10, 100, 100, 10)}[size])
filters = rng.normal(size=(3, 3, 10, 10)).astype('float32')
"""

_TENSORS = """
ta, tb, tp, tm, tk, ti, ts = [tf.constant(x) for x in (a, b, p, m, k, i, s)]
timage, tfilters = tf.constant(image), tf.constant(filters)
"""

# What it is, the statement for Weft and TensorFlow, the same with NumPy or SciPy.
OPS: list[tuple[str, str, str | None]] = [
    ("add", "ta + tb", "a + b"),
    ("multiply", "ta * tb", "a * b"),
    ("divide", "ta / tp", "a / p"),
    ("maximum", "tf.maximum(ta, tb)", "np.maximum(a, b)"),
    ("pow", "tf.pow(tp, 2.5)", "np.power(p, np.float32(2.5))"),
    ("exp", "tf.exp(ta)", "np.exp(a)"),
    ("log", "tf.math.log(tp)", "np.log(p)"),
    ("sqrt", "tf.sqrt(tp)", "np.sqrt(p)"),
    ("tanh", "tf.tanh(ta)", "np.tanh(a)"),
    ("sigmoid", "tf.sigmoid(ta)", "special.expit(a)"),
    ("lgamma", "tf.math.lgamma(tp)", "special.gammaln(p)"),
    ("relu", "tf.nn.relu(ta)", "np.maximum(a, 0)"),
    ("greater", "ta > tb", "a > b"),
    ("where", "tf.where(ta > 0, ta, tb)", "np.where(a > 0, a, b)"),
    ("cast", "tf.cast(ta, tf.int32)", "a.astype(np.int32)"),
    ("reduce_sum", "tf.reduce_sum(ta)", "np.sum(a)"),
    ("reduce_mean, rows", "tf.reduce_mean(tm, axis=1)", "np.mean(m, axis=1)"),
    ("reduce_max, columns", "tf.reduce_max(tm, axis=0)", "np.max(m, axis=0)"),
    ("argmax, rows", "tf.argmax(tm, axis=1)", "np.argmax(m, axis=1)"),
    ("softmax, rows", "tf.nn.softmax(tm)", "special.softmax(m, axis=1)"),
    ("cumsum", "tf.cumsum(ta)", "np.cumsum(a)"),
    ("sort", "tf.sort(ta)", "np.sort(a)"),
    ("top_k of 10", "tf.math.top_k(ta, 10)", "np.argsort(a[np.argpartition(-a, 10)[:10]])"),
    ("matmul", "tf.matmul(tm, tk)", "m @ k"),
    ("transpose and add", "tf.transpose(tm) + tk", "m.T + k"),
    ("concat", "tf.concat([ta, tb], 0)", "np.concatenate([a, b])"),
    ("gather", "tf.gather(ta, ti)", "np.take(a, i)"),
    ("unsorted_segment_sum", "tf.math.unsorted_segment_sum(ta, ts, 100)", "np.bincount(s, a)"),
    ("rfft", "tf.signal.rfft(ta)", "np.fft.rfft(a)"),
    ("conv2d, 3 by 3", "tf.nn.conv2d(timage, tfilters, 1, 'SAME')", None),
]
NAMES = [name for name, _, _ in OPS]


def run(peers: Peers) -> list[Row]:
    """A row for each op and size, and what is asked of all of them together."""
    rows: list[Row] = []
    totals: list[Row] = []
    for size in SIZES:
        with peers.session("tensorflow", _setup("tensorflow", size)) as tensorflow:
            found = list(_times(size, tensorflow))
        slower = []
        for name, times in zip(NAMES, found, strict=True):
            detail = ", ".join([f"{microseconds(t)} ({who})" for who, t in times.items()])
            ratio = times["Weft"] / times["NumPy"] if "NumPy" in times else None
            bound = "<= 1.2" if size == SIZES[-1] else ""
            rows.append(Row(f"{name} of {size:,} / NumPy", ratio, bound, detail))
            if times["Weft"] > times.get("TensorFlow", math.inf):
                slower.append(name)
        if tensorflow is not None:
            label = f"ops of {size:,} slower than TensorFlow's"
            totals.append(Row(label, float(len(slower)), "<= 3", ", ".join(slower) or "none"))
    return rows + totals


def _setup(module: str, size: int) -> str:
    return f"import {module} as tf\nsize = {size}\n{_ARRAYS}{_TENSORS}"


def _times(size: int, tensorflow: Session | None) -> Iterator[dict[str, float]]:
    """Seconds per call of each op: Weft's, NumPy's and TensorFlow's."""
    namespace: dict[str, Any] = {}
    exec(f"from scipy import special\n{_setup('weft', size)}", namespace)
    for _, statement, numpy in OPS:
        ours = eval(f"lambda: {statement}", namespace)
        warm_up(ours)
        timers = {"Weft": timer_of(ours, SECONDS)}
        if numpy is not None:
            timers["NumPy"] = timer_of(eval(f"lambda: {numpy}", namespace), SECONDS)
        if tensorflow is not None:
            timers["TensorFlow"] = tensorflow.timer(statement, SECONDS)
        yield in_turns(timers, ROUNDS)


def warm_up(statement: Callable[[], Any]) -> None:
    """Until what is compiled in the background is, and has been tried."""
    until = time.perf_counter() + WARM_UP
    while time.perf_counter() < until:
        statement()
    worker.wait()
    until = time.perf_counter() + WARM_UP
    for i in range(TRIALS[1]):
        if i >= TRIALS[0] and time.perf_counter() > until:
            break
        statement()
