"""Keras' LSTM and GRU, forward and backward, beside Keras on TensorFlow, torch and JAX.

A ratio is the time of the best peer to Weft's: the libraries take turns, and the best of some short
rounds counts. Weft and TensorFlow run Keras' layer with a tape around it, torch `nn.LSTM`, JAX a
scan over the same cell. With `--threads 1` processor time is compared.
"""

from __future__ import annotations

import argparse

from benchmarks.harness import Peers, Row, in_turns, microseconds

ROUNDS, SECONDS, WANTED = 7, 0.1, 3.0
KINDS = ("LSTM", "GRU")
SIZES = {"small": (32, 20, 8, 32), "medium": (32, 50, 64, 128), "large": (64, 100, 128, 256)}

_ARRAYS = """
import numpy as np
rng = np.random.default_rng(0)
f = lambda *shape: rng.standard_normal(shape, dtype='float32') * 0.1
"""
_KERAS = """
def prepare(kind, batch, steps, features, units):
    global call
    layer = getattr(keras.layers, kind)(units, return_sequences=True)
    x = tf.constant(f(batch, steps, features))
    layer(x)
    @tf.function(jit_compile=JIT)
    def step(x):
        with tf.GradientTape() as tape:
            y = layer(x)
            loss = tf.reduce_sum(y * y)
        return loss, tape.gradient(loss, layer.trainable_variables)
    call = lambda: step(x)
    call()
"""
_TORCH = """
import torch
torch.set_num_threads(THREADS)
def prepare(kind, batch, steps, features, units):
    global call
    layer = getattr(torch.nn, kind)(features, units, batch_first=True)
    x, weights = torch.tensor(f(batch, steps, features)), list(layer.parameters())
    def call():
        y, _ = layer(x)
        loss = (y * y).sum()
        return loss, torch.autograd.grad(loss, weights)
    call()
"""
_JAX = """
import os
if THREADS == 1:
    os.environ['XLA_FLAGS'] = '--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1'
import jax, jax.numpy as jnp
def prepare(kind, batch, steps, features, units):
    global call
    gates = 4 if kind == 'LSTM' else 3
    w = [jnp.asarray(f(*s)) for s in ((features, gates * units), (units, gates * units))]
    w += [jnp.zeros((2, gates * units))]
    x = jnp.asarray(f(steps, batch, features))
    def lstm(w, carry, z):
        h, c = carry
        i, g, a, o = jnp.split(z + h @ w[1], 4, -1)
        c = jax.nn.sigmoid(g) * c + jax.nn.sigmoid(i) * jnp.tanh(a)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    def gru(w, carry, z):
        h, c = carry
        inner = h @ w[1] + w[2][1]
        a, b, d = jnp.split(z, 3, -1)
        e, g, k = jnp.split(inner, 3, -1)
        u, r = jax.nn.sigmoid(a + e), jax.nn.sigmoid(b + g)
        h = u * h + (1 - u) * jnp.tanh(d + r * k)
        return (h, c), h
    def loss(w, x):
        cell, zero = lstm if kind == 'LSTM' else gru, jnp.zeros((batch, units))
        _, y = jax.lax.scan(lambda c, z: cell(w, c, z), (zero, zero), x @ w[0] + w[2][0])
        return jnp.sum(y * y)
    step = jax.jit(jax.value_and_grad(loss))
    call = lambda: jax.block_until_ready(step(w, x))
    call()
"""
_THREADS = "tf.config.threading.set_intra_op_parallelism_threads(THREADS)\n"
_SETUPS = {
    "weft": f"import weft as tf\nfrom weft import keras\n{_THREADS}{_ARRAYS}{_KERAS}".replace(
        "JIT", "True"
    ),
    "tensorflow": f"import tensorflow as tf\nimport keras\n{_THREADS}{_ARRAYS}{_KERAS}".replace(
        "JIT", "None"
    ),
    "torch": f"{_ARRAYS}{_TORCH}",
    "jax": f"{_ARRAYS}{_JAX}",
}


def measure(peers: Peers, kinds: list[str], sizes: list[str], threads: int = 2) -> list[Row]:
    """A row for each kind and size; printed as they come."""
    rows = []
    with peers.sessions(_SETUPS, threads) as sessions:
        for kind in kinds:
            for size in sizes:
                timers = {}
                for who, session in sessions.items():
                    session.time(f"prepare({kind!r}, *{SIZES[size]})", 1)
                    timers[who] = session.timer("call()", SECONDS)
                batch, steps, features, units = SIZES[size]
                name = f"{kind} of {units}, {steps} steps of {batch} x {features}"
                rows.append(_row(name, in_turns(timers, ROUNDS)))
                print(rows[-1], flush=True)
    return rows


def _row(name: str, times: dict[str, float]) -> Row:
    ours = times.pop("weft")
    ratio = min(times.values()) / ours if times else None
    shown = ", ".join(f"{who} {microseconds(t)}" for who, t in times.items())
    return Row(f"best peer / {name}", ratio, f">= {WANTED}", f"{microseconds(ours)}; {shown}")


def run(peers: Peers) -> list[Row]:
    """All kinds and sizes."""
    return measure(peers, list(KINDS), list(SIZES))


def main() -> None:
    """All rows."""
    from benchmarks.harness import print_table

    parser = argparse.ArgumentParser(prog="python -m benchmarks.recurrent", description=__doc__)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    peers = Peers(dict(item.split("=", 1) for item in options.peer))
    rows = measure(peers, options.kinds.split(","), options.sizes.split(","), options.threads)
    print_table(rows)


if __name__ == "__main__":
    main()
