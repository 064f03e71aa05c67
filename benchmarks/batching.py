"""Functions over rows: what the batching transform does, beside TensorFlow's, in default mode."""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Peers, Row, in_turns, microseconds, timer_of

ROUNDS, SECONDS = 7, 0.15

# One program for both: each name of CASES is a function of no arguments that runs a tf.function.
_PROGRAM = """
import numpy as np
rng = np.random.default_rng(0)


def made(*shape):
    return tf.constant(rng.normal(size=shape).astype(np.float32))


rows, rows8 = made(1000, 16), made(64, 8)
square = made(200, 8, 8)
positive = tf.matmul(square, square, transpose_b=True) + tf.eye(8)
right = made(200, 8, 3)
point, weights = made(64), made(256, 64)
images, labels = made(128, 64), tf.constant(rng.integers(0, 10, 128))
w1, b1, w2, b2 = made(64, 32), made(32), made(32, 10), made(10)
tables, places = made(500, 40), tf.constant(rng.integers(0, 40, (500, 6)))


@tf.function
def simple(x):
    return tf.vectorized_map(lambda r: tf.reduce_sum(tf.tanh(r) * r) + r[0], x)


@tf.function
def jacobian(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.tanh(tf.linalg.matvec(weights, tf.sin(x)))
    return tape.jacobian(y, x)


@tf.function
def batch_jacobian(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.tanh(x @ w1) ** 2
    return tape.batch_jacobian(y, x)


def loss_of(pair):
    x, label = pair
    with tf.GradientTape() as tape:
        tape.watch([w1, b1, w2, b2])
        hidden = tf.nn.relu(x[None] @ w1 + b1)
        logits = hidden @ w2 + b2
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(label[None], logits)
    return tape.gradient(loss, [w1, b1, w2, b2])


@tf.function
def per_example(x, y):
    return tf.vectorized_map(loss_of, (x, y))


def newton(x):
    return tf.while_loop(
        lambda v, i: (tf.reduce_max(tf.abs(v * v - tf.abs(x))) > 1e-3) & (i < 50),
        lambda v, i: (0.5 * (v + tf.abs(x) / v), i + 1),
        (tf.ones_like(x), 0),
    )[0]


@tf.function
def loop(x):
    return tf.vectorized_map(newton, x)


@tf.function
def cholesky(a):
    return tf.vectorized_map(tf.linalg.cholesky, a)


@tf.function
def solve(a, b):
    return tf.vectorized_map(lambda p: tf.linalg.solve(p[0], p[1]), (a, b))


@tf.function
def gather(t, i):
    return tf.vectorized_map(lambda p: tf.gather(p[0], p[1]), (t, i))


@tf.function
def mapped(x):
    return tf.map_fn(lambda r: tf.nn.softmax(r) * tf.reduce_max(r), x)


@tf.function
def hessian(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.tanh(tf.linalg.matvec(weights, x)) ** 2)
        g = inner.gradient(y, x)
    return outer.jacobian(g, x)
"""

CASES = {
    "vectorized_map, 1,000 rows": "simple(rows)",
    "jacobian of 256 outputs": "jacobian(point)",
    "batch_jacobian, 128 x 32": "batch_jacobian(images)",
    "hessian of 64": "hessian(point)",
    "gradients per example, MLP": "per_example(images, labels)",
    "batched while": "loop(rows8)",
    "200 choleskys": "cholesky(positive)",
    "200 systems": "solve(positive, right)",
    "gather, places per row": "gather(tables, places)",
    "map_fn, 1,000 rows": "mapped(rows)",
}


def run(peers: Peers) -> list[Row]:
    """A row for each case: the time beside TensorFlow's."""
    namespace: dict[str, Any] = {}
    exec(f"import weft as tf\n{_PROGRAM}", namespace)
    rows = []
    with peers.session("tensorflow", f"import tensorflow as tf\n{_PROGRAM}") as tensorflow:
        for name, statement in CASES.items():
            timers = {"Weft": timer_of(eval(f"lambda: {statement}", namespace), SECONDS)}
            if tensorflow is not None:
                timers["TensorFlow"] = tensorflow.timer(statement, SECONDS)
            times = in_turns(timers, ROUNDS)
            theirs = times.get("TensorFlow")
            ratio = None if theirs is None else times["Weft"] / theirs
            detail = ", ".join([f"{microseconds(t)} ({who})" for who, t in times.items()])
            rows.append(Row(f"{name} / TensorFlow", ratio, "<= 0.5", detail))
    return rows
