"""Gradients: what a tape costs, and steps of training against TensorFlow.

The programs are texts that run in both: only the first line, the import, is another.
"""

from __future__ import annotations

import linecache
from typing import Any

import weft as tf
from benchmarks.harness import Peers, Row, best_time, microseconds


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


_MLP = """
import math, numpy as np
rng = np.random.default_rng(0)
sizes = [13, 32, 32, 1]
weights = []
for n, m in zip(sizes, sizes[1:]):
    weights.append(tf.Variable(rng.normal(size=(n, m)).astype('float32') / math.sqrt(n)))
    weights.append(tf.Variable(np.zeros(m, 'float32')))
"""

_MLP_EAGER = (
    _MLP
    + """
x = tf.constant(rng.normal(size=(32, 13)).astype('float32'))
y = tf.constant(rng.normal(size=(32, 1)).astype('float32'))
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

NLL = """
import numpy as np
data = tf.constant(np.random.default_rng(0).normal(size=10000).astype('float32'))
mu, log_sigma = tf.Variable(0.1), tf.Variable(0.2)
@tf.function
def step():
    with tf.GradientTape() as tape:
        z = (data - mu) / tf.exp(log_sigma)
        loss = tf.reduce_mean(0.5 * z * z + log_sigma)
    return loss, tape.gradient(loss, [mu, log_sigma])
step()
"""

ADAM = (
    _MLP
    + """
x = tf.constant(rng.normal(size=(1, 13)).astype('float32'))
y = tf.constant(rng.normal(size=(1, 1)).astype('float32'))
m1 = [tf.Variable(tf.zeros_like(w)) for w in weights]
m2 = [tf.Variable(tf.zeros_like(w)) for w in weights]
count = tf.Variable(0.0)
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        h = x
        for i in range(0, 6, 2):
            h = tf.matmul(h, weights[i]) + weights[i + 1]
            if i < 4:
                h = tf.nn.relu(h)
        loss = tf.reduce_mean(tf.square(h - y))
    grads = tape.gradient(loss, weights)
    count.assign_add(1.0)
    rate = 0.001 * tf.sqrt(1.0 - tf.pow(0.999, count)) / (1.0 - tf.pow(0.9, count))
    for w, g, a, b in zip(weights, grads, m1, m2):
        a.assign(0.9 * a + 0.1 * g)
        b.assign(0.999 * b + 0.001 * g * g)
        w.assign_sub(rate * a / (tf.sqrt(b) + 1e-7))
    return loss
step(x, y)
"""
)

RNN = """
import numpy as np
rng = np.random.default_rng(0)
xs = tf.constant(rng.normal(size=(50, 8, 16)).astype('float32'))
w = tf.Variable(rng.normal(size=(16, 32)).astype('float32') / 4)
u = tf.Variable(rng.normal(size=(32, 32)).astype('float32') / 6)
b = tf.Variable(np.zeros(32, 'float32'))
@tf.function
def step(xs):
    with tf.GradientTape() as tape:
        h = tf.zeros([8, 32])
        for i in tf.range(50):
            h = tf.tanh(tf.matmul(xs[i], w) + tf.matmul(h, u) + b)
        loss = tf.reduce_sum(h * h)
    return loss, tape.gradient(loss, [w, u, b])
step(xs)
"""

_NEWTON = """
import numpy as np
a = tf.constant(np.linspace(1, 50, 100).astype('float32'))
@tf.function
def step(a):
    with tf.GradientTape() as tape:
        tape.watch(a)
        x = a
        while tf.reduce_max(tf.abs(x * x - a)) > 1e-3:
            x = 0.5 * (x + a / x)
        loss = tf.reduce_sum(x)
    return tape.gradient(loss, a)
step(a)
"""

PROGRAMS = [
    ("TensorFlow eager / taped step of an MLP, batch of 32", _MLP_EAGER, "step()", 5),
    ("tf.function / Gaussian NLL and gradient, 10,000 points", NLL, "step()", 4),
    ("tf.function / MLP 13-32-32-1, one sample, Adam step", ADAM, "step(x, y)", 4),
    ("tf.function / RNN of 50 steps and gradient", RNN, "step(xs)", 2),
    ("tf.function / Newton iteration on 100 numbers and gradient", _NEWTON, "step(a)", 2),
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
