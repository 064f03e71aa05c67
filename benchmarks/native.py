"""The native tier against TensorFlow, JAX, torch.compile and PyTensor, in one run.

Ratios are the time of the best peer to Weft's. The programs for Weft run on TensorFlow as they are.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import weft as tf
from benchmarks.gradients import ADAM, NLL, RNN, prepared, saved_source
from benchmarks.harness import Peers, Row, best_time, in_turns, microseconds, timer_of
from benchmarks.peers import jax_programs, pytensor_programs, torch_programs
from weft._src.execution.background import worker
from weft._src.execution.native.machine import cache

_SCALAR = "step = tf.function(lambda x: x + 1.0); x = tf.constant(2.0)"
_DENSE = """
import numpy as np
rng = np.random.default_rng(0)
f32 = lambda *shape: tf.constant(rng.normal(size=shape).astype('float32'))
x, w, b = f32(128, 1024), f32(1024, 4096), f32(4096)
step = tf.function(lambda x: tf.nn.relu(x @ w + b))
"""
_LOOP = """
x = tf.ones([16])
@tf.function
def step(x):
    i = tf.constant(0)
    while i < 1000:
        x = tf.tanh(x) * 1.01
        i += 1
    return x
"""
_MILLION = """
import numpy as np
x = tf.constant(np.random.default_rng(0).normal(size=1000000).astype('float32'))
@tf.function
def step(x):
    return tf.reduce_sum(tf.exp(x) * tf.sin(x) + tf.tanh(x) * tf.math.log(tf.abs(x) + 1.0))
"""
MANY = """
variables = [tf.Variable(tf.ones([7])) for _ in range(300)]
scale = tf.constant(1e-6)
@tf.function
def step(scale):
    for v in variables:
        v.assign_sub(scale * v * 0.1)
"""
TRANSFORMER = """
import numpy as np
rng = np.random.default_rng(0)
f32 = lambda *shape: rng.normal(size=shape).astype('float32')
d, heads = 128, 4
x = tf.constant(f32(4, 128, d))
p = [f32(d, 3 * d) / 11, f32(d, d) / 11, f32(d, 4 * d) / 11, f32(4 * d, d) / 22]
p = [tf.Variable(v) for v in p]
def norm(x):
    m = tf.reduce_mean(x, -1, keepdims=True)
    v = tf.reduce_mean((x - m) ** 2, -1, keepdims=True)
    return (x - m) * tf.math.rsqrt(v + 1e-5)
def cut(t):
    return tf.transpose(tf.reshape(t, (4, 128, heads, d // heads)), (0, 2, 1, 3))
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        q, k, v = tf.split(tf.matmul(norm(x), p[0]), 3, -1)
        q, k, v = cut(q), cut(k), cut(v)
        a = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 5.656854, -1)
        o = tf.reshape(tf.transpose(tf.matmul(a, v), (0, 2, 1, 3)), (4, 128, d))
        h = x + tf.matmul(o, p[1])
        h = h + tf.matmul(tf.nn.relu(tf.matmul(norm(h), p[2])), p[3])
        loss = tf.reduce_mean(h * h)
    return loss, tape.gradient(loss, p)
"""

# name of the row, key of the peers' programs, program, statement, least ratio
WORKLOADS = [
    ("Gaussian NLL and gradient, 10,000 points", "W1", NLL, "step()", 3.0),
    ("MLP, one sample, Adam step", "W3", ADAM, "step(x, y)", 3.0),
    ("call of x + 1 on a scalar", "W4", _SCALAR, "step(x)", 1.5),
    ("while loop, 1000 steps of tanh on 16", "W7", _LOOP, "step(x)", 2.0),
    ("four functions and a sum, 1M", "W8", _MILLION, "step(x)", 1.0),
    ("RNN of 50 steps and gradient", "W9", RNN, "step(xs)", 1.0),
    ("300 small variables updated", "300 variables", MANY, "step(scale)", 3.0),
    ("transformer block, forward and backward", "transformer", TRANSFORMER, "step(x)", 1.0),
]
_ROUNDS, _SECONDS = 9, 0.1  # of each workload
_PEERS = {
    "jax": jax_programs.PROGRAMS,
    "torch": torch_programs.PROGRAMS,
    "pytensor": pytensor_programs.PROGRAMS,
}


def run(peers: Peers) -> list[Row]:
    """All rows."""
    rows = [_against_best(peers, *workload) for workload in WORKLOADS]
    return [*rows, _dense(), _first_call(peers), *_growth()]


def warmed_up(label: str, program: str, statement: str) -> Any:
    """The statement as a function, on the tier it ends up on."""
    call = prepared(f"native: {label}", program, statement)
    for seconds in (2.0, 0.5):
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            call()
        worker.wait()
    return call


def _against_best(
    peers: Peers, label: str, key: str, program: str, statement: str, bound: float
) -> Row:
    setups = {"tensorflow": (saved_source(program, "import tensorflow as tf"), statement)}
    setups |= {peer: programs[key] for peer, programs in _PEERS.items() if key in programs}
    timers = {"Weft": timer_of(warmed_up(label, program, statement), _SECONDS)}
    with contextlib.ExitStack() as stack:
        for peer, (setup, theirs) in setups.items():
            session = stack.enter_context(peers.session(peer, setup))
            if session is not None:
                timers[peer] = session.timer(theirs, _SECONDS)
        times = in_turns(timers, _ROUNDS)
    mine = times.pop("Weft")
    ratio = min(times.values()) / mine if times else None
    shown = ", ".join(f"{peer} {microseconds(t)}" for peer, t in times.items())
    return Row(f"best peer / {label}", ratio, f">= {bound}", f"{microseconds(mine)}; {shown}")


def _dense() -> Row:
    """A product that BLAS dominates: nothing may be lost."""
    call = warmed_up("dense", _DENSE, "step(x)")
    rng = np.random.default_rng(0)
    x, w, b = [rng.normal(size=s).astype("float32") for s in ((128, 1024), (1024, 4096), (4096,))]
    plain = timer_of(lambda: np.maximum(x @ w + b, np.float32(0)), _SECONDS)
    mine, numpy = in_turns({"Weft": timer_of(call, _SECONDS), "NumPy": plain}, _ROUNDS).values()
    detail = f"{microseconds(mine)}; NumPy {microseconds(numpy)}"
    return Row("NumPy / dense layer 128x1024 -> 4096, relu", numpy / mine, ">= 1", detail)


def _first_call(peers: Peers) -> Row:
    """Trace and run something new."""
    x = tf.constant(np.ones(100, "float32"))

    def first() -> None:
        tf.function(lambda x: tf.reduce_sum(tf.tanh(x) * 2.0 + 1.0))(x)

    mine = best_time(first)
    setup = "import jax, jax.numpy as jnp\nx = jnp.ones(100)"
    theirs = peers.time("jax", setup, "jax.jit(lambda x: jnp.sum(jnp.tanh(x) * 2.0 + 1.0))(x)")
    ratio = None if theirs is None else theirs / mine
    detail = f"{microseconds(mine)}; " + ("" if theirs is None else microseconds(theirs))
    return Row("jax.jit / first call", ratio, ">= 5", detail)


def _updating(variables: list[tf.Variable]) -> Any:
    @tf.function(jit_compile=True)
    def update() -> None:
        for v in variables:
            v.assign(v * 0.999)

    return update


@contextlib.contextmanager
def _no_cache() -> Iterator[None]:
    """Nothing compiled before may help."""
    before = os.environ.get("WEFT_CACHE_DIR")
    os.environ["WEFT_CACHE_DIR"] = ""
    cache.folder.cache_clear()
    try:
        yield
    finally:
        cache.folder.cache_clear()
        if before is None:
            del os.environ["WEFT_CACHE_DIR"]
        else:
            os.environ["WEFT_CACHE_DIR"] = before


def _growth() -> list[Row]:
    """How compile time and call overhead grow."""
    rows = []
    per_node: list[float] = []
    for n in (50, 500, 5000):

        def chain(x: Any, n: int = n) -> Any:
            for i in range(n // 2):
                x = tf.tanh(x) * (1.0 + 0.001 * i)
            return x

        f = tf.function(chain, jit_compile=True)
        x = tf.ones([8])
        f.get_concrete_function(x)
        with _no_cache():
            started = time.perf_counter()
            f(x)
            per_node.append((time.perf_counter() - started) / n)
    shown = ", ".join(f"{t * 1e3:.2f}" for t in per_node)
    ratio = per_node[-1] / per_node[1]
    rows.append(Row("compile ms per node, 5000 / 500 nodes", ratio, "~ 1", f"{shown} ms"))
    calls = []
    for n in (10, 100, 1000):
        variables = [tf.Variable(tf.ones([2])) for _ in range(n)]

        update = _updating(variables)
        update()
        calls.append(best_time(update) / n)
    shown = ", ".join(f"{t * 1e9:.0f}" for t in calls)
    rows.append(Row("call per variable, 1000 / 10", calls[-1] / calls[0], "<= 1", f"{shown} ns"))
    return rows
