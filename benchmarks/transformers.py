"""Attention, and a GPT-like stack of four layers, beside TensorFlow, JAX and torch.compile.

A ratio is the time of the best peer to Weft's: the libraries take turns, and the best of some short
rounds counts. "Attention" is softmax(q k' / 8 [+ causal mask]) v of 8 heads of 64 numbers, with the
gradients of q, k and v; torch's is `scaled_dot_product_attention`. "Stack" is a training step with
Adam: embedding, four blocks of causal attention and two dense layers, a loss over 1,000 words.
There are always 2,048 tokens (stack: 1,024). `python -m benchmarks.transformers --sizes 128,1024`;
with `--threads 1` processor time is compared, which tells something on a busy machine, too.
"""

from __future__ import annotations

import argparse

from benchmarks.harness import Peers, Row, in_turns, microseconds

ROUNDS, SECONDS = 7, 0.15
SIZES = (128, 256, 512, 1024)
KINDS = ("attention", "causal attention", "attention forward", "stack")
WANTED = 1.2

_ARRAYS = """
import math
import numpy as np
rng = np.random.default_rng(0)
f = lambda *shape: rng.standard_normal(shape, dtype='float32')
heads, width, layers, words = 8, 512, 4, 1000
def blocks(size):
    d = 256
    rows = [f(words, d) * 0.02, f(size, d) * 0.02, f(d, words) / 16]
    for _ in range(layers):
        rows += [f(d, 3 * d) / 16, f(d, d) / 16, f(d, 4 * d) / 16, f(4 * d, d) / 32]
    tokens = rng.integers(0, words, (1024 // size, size + 1))
    return rows, tokens[:, :-1], tokens[:, 1:]
"""
_TF = """
tf.config.threading.set_intra_op_parallelism_threads(THREADS)
def attention(q, k, v, causal):
    scores = tf.matmul(q, k, transpose_b=True) * (1 / math.sqrt(q.shape[-1]))
    if causal:
        mask = tf.linalg.band_part(tf.ones((q.shape[2], q.shape[2])), -1, 0)
        scores += (1.0 - mask) * -1e9
    return tf.matmul(tf.nn.softmax(scores), v)
def norm(x):
    m = tf.reduce_mean(x, -1, keepdims=True)
    v = tf.reduce_mean((x - m) ** 2, -1, keepdims=True)
    return (x - m) * tf.math.rsqrt(v + 1e-5)
def logits(p, x, size):
    d, n = 256, 1024 // size
    cut = lambda t: tf.transpose(tf.reshape(t, (n, size, 4, d // 4)), (0, 2, 1, 3))
    h = tf.gather(p[0], x) + p[1]
    for i in range(layers):
        a, b, c, e = p[3 + 4 * i : 7 + 4 * i]
        q, k, v = tf.split(tf.matmul(norm(h), a), 3, -1)
        o = attention(cut(q), cut(k), cut(v), True)
        h += tf.matmul(tf.reshape(tf.transpose(o, (0, 2, 1, 3)), (n, size, d)), b)
        h += tf.matmul(tf.nn.gelu(tf.matmul(norm(h), c), approximate=True), e)
    return tf.matmul(norm(h), p[2])
def prepare(kind, size):
    global call
    if kind == 'stack':
        rows, x, y = blocks(size)
        x, y = tf.constant(x), tf.constant(y)
        p = [tf.Variable(row) for row in rows]
        state = [(tf.Variable(tf.zeros_like(v)), tf.Variable(tf.zeros_like(v))) for v in p]
        count = tf.Variable(0.0)
        @tf.function(jit_compile=JIT)
        def step(x, y):
            with tf.GradientTape() as tape:
                out = logits(p, x, size)
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, out))
            count.assign_add(1.0)
            rate = 1e-3 * tf.sqrt(1 - 0.999 ** count) / (1 - 0.9 ** count)
            for v, (m, s), g in zip(p, state, tape.gradient(loss, p)):
                g = tf.convert_to_tensor(g)
                m.assign(0.9 * m + 0.1 * g)
                s.assign(0.999 * s + 0.001 * g * g)
                v.assign_sub(rate * m / (tf.sqrt(s) + 1e-8))
            return loss
        call = lambda: step(x, y)
    else:
        shape = (2048 // size, heads, size, width // heads)
        q, k, v, g = [tf.constant(f(*shape)) for _ in range(4)]
        causal = kind.startswith('causal')
        @tf.function(jit_compile=JIT)
        def step(q, k, v, g):
            if 'forward' in kind:
                return attention(q, k, v, causal)
            with tf.GradientTape() as tape:
                tape.watch([q, k, v])
                out = attention(q, k, v, causal)
            return out, tape.gradient(out, [q, k, v], g)
        call = lambda: step(q, k, v, g)
    call()
"""
_JAX = """
import os
if THREADS == 1:
    os.environ['XLA_FLAGS'] = '--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1'
import jax, jax.numpy as jnp
def attention(q, k, v, causal):
    scores = jnp.matmul(q, jnp.swapaxes(k, -1, -2)) * (1 / math.sqrt(q.shape[-1]))
    if causal:
        scores += (1.0 - jnp.tril(jnp.ones((q.shape[2], q.shape[2])))) * -1e9
    return jnp.matmul(jax.nn.softmax(scores), v)
def norm(x):
    m = jnp.mean(x, -1, keepdims=True)
    v = jnp.mean((x - m) ** 2, -1, keepdims=True)
    return (x - m) * jax.lax.rsqrt(v + 1e-5)
def logits(p, x, size):
    d, n = 256, 1024 // size
    cut = lambda t: jnp.transpose(jnp.reshape(t, (n, size, 4, d // 4)), (0, 2, 1, 3))
    h = p[0][x] + p[1]
    for i in range(layers):
        a, b, c, e = p[3 + 4 * i : 7 + 4 * i]
        q, k, v = jnp.split(norm(h) @ a, 3, -1)
        o = attention(cut(q), cut(k), cut(v), True)
        h += jnp.reshape(jnp.transpose(o, (0, 2, 1, 3)), (n, size, d)) @ b
        h += jax.nn.gelu(norm(h) @ c, approximate=True) @ e
    return norm(h) @ p[2]
def prepare(kind, size):
    global call
    if kind == 'stack':
        rows, x, y = blocks(size)
        def loss(p, x, y):
            out = jax.nn.log_softmax(logits(p, x, size))
            return -jnp.mean(jnp.take_along_axis(out, y[..., None], -1))
        def step(p, ms, ss, count, x, y):
            value, gs = jax.value_and_grad(loss)(p, x, y)
            count += 1.0
            rate = 1e-3 * jnp.sqrt(1 - 0.999 ** count) / (1 - 0.9 ** count)
            ms = [0.9 * m + 0.1 * g for m, g in zip(ms, gs)]
            ss = [0.999 * s + 0.001 * g * g for s, g in zip(ss, gs)]
            p = [v - rate * m / (jnp.sqrt(s) + 1e-8) for v, m, s in zip(p, ms, ss)]
            return p, ms, ss, count, value
        step = jax.jit(step, donate_argnums=(0, 1, 2))
        p = [jnp.asarray(row) for row in rows]
        zeros = lambda: [jnp.zeros_like(v) for v in p]
        state = [p, zeros(), zeros(), jnp.float32(0)]
        def call():
            *state[:], value = step(*state, x, y)
            return jax.block_until_ready(value)
    else:
        shape = (2048 // size, heads, size, width // heads)
        q, k, v, g = [jnp.asarray(f(*shape)) for _ in range(4)]
        causal = kind.startswith('causal')
        def step(q, k, v, g):
            if 'forward' in kind:
                return attention(q, k, v, causal)
            out, back = jax.vjp(lambda *x: attention(*x, causal), q, k, v)
            return out, back(g)
        step = jax.jit(step)
        call = lambda: jax.block_until_ready(step(q, k, v, g))
    call()
"""
_TORCH = """
import torch, torch.nn.functional as F
torch.set_num_threads(THREADS)
def attention(q, k, v, causal):
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
def norm(x):
    m = x.mean(-1, keepdim=True)
    v = ((x - m) ** 2).mean(-1, keepdim=True)
    return (x - m) * torch.rsqrt(v + 1e-5)
def logits(p, x, size):
    d, n = 256, 1024 // size
    cut = lambda t: t.reshape(n, size, 4, d // 4).transpose(1, 2)
    h = p[0][x] + p[1]
    for i in range(layers):
        a, b, c, e = p[3 + 4 * i : 7 + 4 * i]
        q, k, v = (norm(h) @ a).chunk(3, -1)
        o = attention(cut(q), cut(k), cut(v), True)
        h = h + o.transpose(1, 2).reshape(n, size, d) @ b
        h = h + F.gelu(norm(h) @ c, approximate='tanh') @ e
    return norm(h) @ p[2]
def prepare(kind, size):
    global call
    torch._dynamo.reset()
    if kind == 'stack':
        rows, x, y = blocks(size)
        x, y = torch.tensor(x), torch.tensor(y)
        p = [torch.tensor(row, requires_grad=True) for row in rows]
        optimizer = torch.optim.Adam(p, 1e-3, foreach=True)
        @torch.compile
        def loss(x, y):
            return F.cross_entropy(logits(p, x, size).reshape(-1, words), y.reshape(-1))
        def call():
            optimizer.zero_grad()
            value = loss(x, y)
            value.backward()
            optimizer.step()
            return value
    else:
        shape = (2048 // size, heads, size, width // heads)
        q, k, v, g = [torch.tensor(f(*shape)) for _ in range(4)]
        causal, back = kind.startswith('causal'), 'forward' not in kind
        forward = torch.compile(lambda q, k, v: attention(q, k, v, causal))
        for x in (q, k, v):
            x.requires_grad_(back)
        def call():
            out = forward(q, k, v)
            return (out, torch.autograd.grad(out, (q, k, v), g)) if back else out
    call()
"""
_SETUPS = {
    "weft": f"import weft as tf{_ARRAYS}{_TF}".replace("JIT", "True"),
    "tensorflow": f"import tensorflow as tf{_ARRAYS}{_TF}".replace("JIT", "None"),
    "jax": f"{_ARRAYS}{_JAX}",
    "torch": f"{_ARRAYS}{_TORCH}",
}


def measure(peers: Peers, kinds: list[str], sizes: list[int], threads: int = 2) -> list[Row]:
    """A row for each kind and length of sequences; printed as they come."""
    rows = []
    with peers.sessions(_SETUPS, threads) as sessions:
        for kind in kinds:
            for size in sizes:
                timers = {}
                for who, session in sessions.items():
                    session.time(f"prepare({kind!r}, {size})", 1)
                    timers[who] = session.timer("call()", SECONDS)
                rows.append(_row(f"{kind}, sequences of {size}", in_turns(timers, ROUNDS)))
                print(rows[-1], flush=True)
    return rows


def _row(name: str, times: dict[str, float]) -> Row:
    ours = times.pop("weft")
    ratio = min(times.values()) / ours if times else None
    shown = ", ".join(f"{who} {microseconds(t)}" for who, t in times.items())
    return Row(f"best peer / {name}", ratio, f">= {WANTED}", f"{microseconds(ours)}; {shown}")


def run(peers: Peers) -> list[Row]:
    """All kinds, of short and long sequences."""
    return measure(peers, list(KINDS), [SIZES[0], SIZES[-1]])


def main() -> None:
    """All rows."""
    from benchmarks.harness import print_table

    parser = argparse.ArgumentParser(prog="python -m benchmarks.transformers", description=__doc__)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    peers = Peers(dict(item.split("=", 1) for item in options.peer))
    sizes = [int(size) for size in options.sizes.split(",")]
    print_table(measure(peers, options.kinds.split(","), sizes, options.threads))


if __name__ == "__main__":
    main()
