"""Tracing: long chains of ops against jax.jit, and how the cost of a trace grows."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable
from typing import Any

import weft as tf
from benchmarks.harness import Peers, Row, in_turns, microseconds

_SHORT, _LONG = 1_000, 20_000

# One line for both: `tf` is Weft's `tf` or `jax.numpy`.
_CHAINS = {
    "x * 1.1 + 1.0": "x * 1.1 + 1.0",
    "tf.sin(x)": "tf.sin(x)",
}

_JAX = """
import jax, jax.numpy as tf
x = tf.ones(8)
def chain(step, n):
    def f(x):
        for _ in range(n):
            x = step(x)
        return x
    jax.clear_caches()
    return jax.jit(f).lower(x)
"""


def run(peers: Peers) -> list[Row]:
    """All rows."""
    return [*chains(peers), *many_traces()]


def _traced(step: Callable[[Any], Any], n: int) -> None:
    def f(x: Any) -> Any:
        for _ in range(n):
            x = step(x)
        return x

    tf.function(f, autograph=False).get_concrete_function(tf.TensorSpec([8], tf.float32))


def _seconds(action: Callable[..., Any], *args: Any) -> float:
    start = time.perf_counter()
    action(*args)
    return time.perf_counter() - start


def chains(peers: Peers) -> list[Row]:
    """Tracing a chain; the peer traces and lowers it."""
    rows = []
    for label, text in _CHAINS.items():
        step = eval(f"lambda x: {text}", {"tf": tf})
        with peers.session("jax", _JAX) as session:
            ours = {}
            for n in (_SHORT, _LONG):
                timers: dict[str, Callable[[], float]] = {
                    "weft": functools.partial(_seconds, _traced, step, n)
                }
                if session is not None:
                    statement = f"chain(lambda x: {text}, {n})"
                    timers["jax"] = functools.partial(session.time, statement, 1)
                found = in_turns(timers, 3)
                ours[n] = found["weft"]
                rows.append(_against_jax(f"chain of {n:,} times {label}", found))
        growth = ours[_LONG] / ours[_SHORT] / (_LONG / _SHORT)
        detail = (
            f"{microseconds(ours[_LONG] / _LONG)} against {microseconds(ours[_SHORT] / _SHORT)}"
        )
        rows.append(Row(f"each {label} in {_LONG:,} / in {_SHORT:,}", growth, "~ 1", detail))
    return rows


def _against_jax(label: str, found: dict[str, float]) -> Row:
    mine, theirs = found["weft"], found.get("jax")
    detail = f"{microseconds(mine)} (Weft)"
    if theirs is None:
        return Row(f"jax.jit / trace of a {label}", None, ">= 1", detail)
    detail = f"{microseconds(theirs)} against {detail}"
    return Row(f"jax.jit / trace of a {label}", theirs / mine, ">= 1", detail)


def many_traces() -> list[Row]:
    """A trace of a function that has many already, against one of the first."""
    logging.getLogger("weft").setLevel(logging.ERROR)  # hundreds of traces, on purpose
    rows = []
    for label, make in {
        "values": lambda i: (tf.zeros([3]), i),
        "shapes": lambda i: (tf.zeros([i % 30 + 1, i // 30 + 1]), 0),
    }.items():
        f = tf.function(lambda x, n: tf.reduce_sum(x * 2.0 + 1.0) * float(n))
        times = []
        for i in range(800):
            arguments = make(i)
            times.append(_seconds(f.get_concrete_function, *arguments))
        early, late = sorted(times[1:100])[49], sorted(times[-100:])[49]
        detail = f"{microseconds(late)} against {microseconds(early)}"
        rows.append(
            Row(f"trace after 700 for other {label} / first ones", late / early, "~ 1", detail)
        )
    return rows
