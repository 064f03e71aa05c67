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
from benchmarks.gradients import prepared, saved_source
from benchmarks.harness import Peers, Row, best_time, in_turns, microseconds, timer_of
from benchmarks.peers import pytensor_programs
from benchmarks.programs import (
    DENSE,
    IMPORTS,
    MANY,
    MILLION,
    MLP,
    NLL,
    RNN,
    SCALAR,
    TRANSFORMER,
    WHILE,
    Program,
)
from weft._src.execution.background import worker
from weft._src.execution.native.machine import cache

# the program, least ratio
WORKLOADS = [
    (NLL, 3.0), (MLP, 3.0), (SCALAR, 1.5), (WHILE, 2.0), (MILLION, 1.0), (RNN, 1.0), (MANY, 3.0),
    (TRANSFORMER, 1.0),
]  # fmt: skip
_ROUNDS, _SECONDS = 9, 0.1  # of each workload


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


def _against_best(peers: Peers, program: Program, bound: float) -> Row:
    label = program.title
    mine = warmed_up(label, program.body("weft"), program.tf.statement)
    timers = {"Weft": timer_of(mine, _SECONDS)}
    with contextlib.ExitStack() as stack:
        for peer, (setup, statement) in _peers_texts(program).items():
            session = stack.enter_context(peers.session(peer, setup))
            if session is not None:
                timers[peer] = session.timer(statement, _SECONDS)
        times = in_turns(timers, _ROUNDS)
    ours = times.pop("Weft")
    ratio = min(times.values()) / ours if times else None
    shown = ", ".join(f"{peer} {microseconds(t)}" for peer, t in times.items())
    return Row(f"best peer / {label}", ratio, f">= {bound}", f"{microseconds(ours)}; {shown}")


def _peers_texts(program: Program) -> dict[str, tuple[str, str]]:
    """A setup and a statement for each peer that has them."""
    texts = {
        peer: (saved_source(program.body(peer), IMPORTS[peer]), program.text(peer).statement)
        for peer in ("tensorflow", "jax", "torch")
    }
    in_pytensor = pytensor_programs.PROGRAMS.get(program.key)
    return texts if in_pytensor is None else texts | {"pytensor": in_pytensor}


def _dense() -> Row:
    """A product that BLAS dominates: nothing may be lost."""
    call = warmed_up("dense", DENSE.body("weft"), DENSE.tf.statement)
    rng = np.random.default_rng(0)
    x, w, b = [rng.normal(size=s).astype("float32") for s in ((128, 1024), (1024, 4096), (4096,))]
    plain = timer_of(lambda: np.maximum(x @ w + b, np.float32(0)), _SECONDS)
    mine, numpy = in_turns({"Weft": timer_of(call, _SECONDS), "NumPy": plain}, _ROUNDS).values()
    detail = f"{microseconds(mine)}; NumPy {microseconds(numpy)}"
    return Row(f"NumPy / {DENSE.title}", numpy / mine, ">= 1", detail)


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
