"""Thirty ops on 1,000 and 1,000,000 elements: eagerly, against NumPy or SciPy called directly, and
against TensorFlow.

The statements are texts that run in both; NumPy's are beside them. A statement of NumPy is None
where there is no one call for it.
"""

from __future__ import annotations

import math
import time
import timeit
from collections.abc import Callable
from typing import Any

from benchmarks.harness import Peers, Row, microseconds
from weft.execution.background import worker

SIZES = (1000, 1_000_000)
ROUNDS = 9
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


def run(peers: Peers) -> list[Row]:
    """A row for each op on a million elements, and what is asked of all of them together."""
    rows: list[Row] = []
    slower: dict[int, list[str]] = {size: [] for size in SIZES}
    for size in SIZES:
        mine, direct = _times(size)
        theirs = _tensorflow(peers, size)
        for n, (name, _, _) in enumerate(OPS):
            detail = f"{microseconds(mine[n])} (Weft)"
            if direct[n] is not None:
                detail += f", {microseconds(direct[n])} (NumPy)"
            if theirs is not None:
                detail += f", {microseconds(theirs[n])} (TensorFlow)"
                if mine[n] > theirs[n]:
                    slower[size].append(name)
            ratio = None if direct[n] is None else mine[n] / direct[n]
            bound = "<= 1.2" if size == SIZES[-1] else ""
            rows.append(Row(f"{name} of {size:,} / NumPy", ratio, bound, detail))
    for size in SIZES if theirs is not None else ():
        names = ", ".join(slower[size]) or "none"
        label = f"ops of {size:,} slower than TensorFlow's"
        rows.append(Row(label, float(len(slower[size])), "<= 3", names))
    return rows


def _times(size: int) -> tuple[list[float], list[Any]]:
    namespace: dict[str, Any] = {"size": size}
    exec(f"import weft as tf\nfrom scipy import special\n{_ARRAYS}{_TENSORS}", namespace)
    mine, direct = [], []
    for _, statement, numpy in OPS:
        ours = eval(f"lambda: {statement}", namespace)
        plain = None if numpy is None else eval(f"lambda: {numpy}", namespace)
        _warm_up(ours)
        # In turns: on a shared machine a slow second must not hit only one of the two.
        count = max(1, int(0.01 / max(timeit.timeit(ours, number=1), 1e-7)))
        rounds = [
            [math.inf if fn is None else timeit.timeit(fn, number=count) / count for fn in pair]
            for pair in [(ours, plain)] * ROUNDS
        ]
        best = [min(column) for column in zip(*rounds, strict=True)]
        mine.append(best[0])
        direct.append(None if plain is None else best[1])
    return mine, direct


def _warm_up(statement: Callable[[], Any]) -> None:
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


def _tensorflow(peers: Peers, size: int) -> list[float] | None:
    setup = f"import tensorflow as tf\nsize = {size}\n{_ARRAYS}{_TENSORS}"
    return peers.times("tensorflow", setup, [statement for _, statement, _ in OPS], seconds=0.01)
