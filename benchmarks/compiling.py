"""How long the first call of a compiled function takes, beside `jax.jit`.

Both compile in fresh processes, nothing kept on disk, after something small loaded the compiler.
Tracing counts, running does not: the time is that of the first call minus that of later ones.
"""

from __future__ import annotations

import sys

from benchmarks.gradients import saved_source
from benchmarks.harness import Peers, Row, microseconds
from benchmarks.programs import IMPORTS, MANY, RNN, TRANSFORMER, Program

_ROUNDS, _LATER = 3, 20  # processes of each, and calls after the first
_START = """
import os
os.environ['WEFT_CACHE_DIR'] = ''
import weft as tf
tf.function(lambda x: tf.tanh(x) + 1.0, jit_compile=True)(tf.ones([3]))
"""
_JAX_START = """
import jax, jax.numpy as jnp
jax.jit(lambda x: jnp.tanh(x) + 1.0)(jnp.ones(3)).block_until_ready()
"""
_CHAIN = """
import numpy as np
x = tf.constant(np.linspace(-1, 1, 1000).astype('float32'))
@tf.function
def step(x):
    for i in range(<n>):
        x = tf.tanh(x * 1.1) + tf.sin(x)
    return x
"""
_JAX_CHAIN = """
import jax, jax.numpy as jnp
x = jnp.linspace(-1, 1, 1000, dtype='float32')
@jax.jit
def step(x):
    for i in range(<n>):
        x = jnp.tanh(x * 1.1) + jnp.sin(x)
    return x
"""
_UNROLLED = RNN.body("weft").replace("tf.range(50)", "range(50)")
_SCAN = "h, _ = lax.scan(lambda h, x: (jnp.tanh(x @ w + h @ u + b), None), jnp.zeros((8, 32)), xs)"
_LOOP = """h = jnp.zeros((8, 32))
    for i in range(50):
        h = jnp.tanh(xs[i] @ w + h @ u + b)"""
_JAX_UNROLLED = f"{IMPORTS['jax']}{RNN.body('jax').replace(_SCAN, _LOOP)}"
# Inference of one image; Keras has the same layers for both.
_MOBILENET = """
import numpy as np
model = tf.keras.applications.MobileNetV2(input_shape=(96, 96, 3), weights=None)
x = tf.constant(np.random.default_rng(0).random((1, 96, 96, 3), dtype='float32'))
@tf.function
def step(x):
    return model(x, training=False)
"""
_JAX_MOBILENET = """
import os
os.environ['KERAS_BACKEND'] = 'jax'
import numpy as np, keras
model = keras.applications.MobileNetV2(input_shape=(96, 96, 3), weights=None)
x = jnp.asarray(np.random.default_rng(0).random((1, 96, 96, 3), dtype='float32'))
trained = [v.value for v in model.trainable_variables]
others = [v.value for v in model.non_trainable_variables]
jitted = jax.jit(lambda t, n, x: model.stateless_call(t, n, x, training=False)[0])
step = lambda x: jitted(trained, others, x)
"""


def _in_both(program: Program) -> tuple[str, tuple[str, str], tuple[str, str]]:
    """A program as a workload: program and statement, the same for JAX."""
    theirs = f"{IMPORTS['jax']}{program.body('jax')}", program.jax.statement
    return program.title, (program.body("weft"), program.tf.statement), theirs


# name of the row, program and statement, the same for JAX
_WORKLOADS = [
    *[
        (
            f"{n} steps of tanh and sin, 1,000 numbers",
            (_CHAIN.replace("<n>", str(n)), "step(x)"),
            (_JAX_CHAIN.replace("<n>", str(n)), "step(x).block_until_ready()"),
        )
        for n in (25, 100, 300)
    ],
    _in_both(TRANSFORMER),
    (
        "RNN unrolled, 50 steps, and gradient",
        (_UNROLLED, RNN.tf.statement),
        (_JAX_UNROLLED, RNN.jax.statement),
    ),
    _in_both(MANY),
    (
        "MobileNetV2 of Keras, 96 x 96 pixels",
        (_MOBILENET, "step(x)"),
        (_JAX_MOBILENET, "step(x).block_until_ready()"),
    ),
]


def run(peers: Peers) -> list[Row]:
    """All rows."""
    everyone = Peers({"weft": sys.executable, **peers.interpreters})
    return [_row(everyone, *workload) for workload in _WORKLOADS]


def _row(peers: Peers, label: str, mine: tuple[str, str], theirs: tuple[str, str]) -> Row:
    program, statement = mine
    compiled = program.replace("@tf.function\n", "@tf.function(jit_compile=True)\n")
    setups = {
        "weft": (_START + saved_source(compiled, "import weft as tf"), statement),
        "jax": (_JAX_START + theirs[0], theirs[1]),
    }
    # In turns: on a shared machine a slow second must not hit only one of them.
    rounds = [
        {who: _first_call(peers, who, *setups[who]) for who in setups} for _ in range(_ROUNDS)
    ]
    times = {
        who: tuple(map(min, zip(*found, strict=True)))
        for who in setups
        if (found := [r[who] for r in rounds if r[who] is not None])
    }
    shown = "; ".join(
        f"{who} {microseconds(first)}, then {microseconds(later)}"
        for who, (first, later) in times.items()
    )
    ratio = times["jax"][0] / times["weft"][0] if "jax" in times else None
    return Row(f"jax.jit / compiling: {label}", ratio, ">= 1", shown)


def _first_call(peers: Peers, who: str, setup: str, statement: str) -> tuple[float, float] | None:
    """Seconds by which the first call is longer than later ones, and what those take."""
    with peers.session(who, setup) as session:
        if session is None:
            return None
        first = session.time(statement, 1)
        later = min([session.time(statement, 1) for _ in range(_LATER)])
        return first - later, later
