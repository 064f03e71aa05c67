"""Calls of traced functions: against jax.jit, against tf.function, and how the cost grows."""

from __future__ import annotations

import logging

import weft as tf
from benchmarks.harness import Peers, Row, best_time, in_turns, microseconds


def run(peers: Peers) -> list[Row]:
    """All rows."""
    return [*calls(peers), retrace(peers), *growth(), *captured_values()]


_JAX = """
import jax, jax.numpy as jnp
x = jnp.float32(1.0)
scalar = jax.jit(lambda x: x + 1.0)
nested = jax.jit(lambda d, flag: d['a'][0] + d['b'][2]['d'], static_argnames='flag')
static = jax.jit(lambda x, n: x * n, static_argnums=1)
d = {'a': [x, x], 'b': (x, x, {'c': x, 'd': x})}
scalar(x); nested(d, flag=True); static(x, 3)
"""


def calls(peers: Peers) -> list[Row]:
    """A scalar, a nest of six tensors with a flag, a Python int; cached."""
    x = tf.constant(1.0)
    d = {"a": [x, x], "b": (x, x, {"c": x, "d": x})}
    scalar = tf.function(lambda x: x + 1.0)
    nested = tf.function(lambda d, flag: d["a"][0] + d["b"][2]["d"])
    static = tf.function(lambda x, n: x * n)
    cases = [
        ("x + 1.0 on a scalar", "scalar(x)", lambda: scalar(x)),
        ("six nested tensors and a flag", "nested(d, flag=True)", lambda: nested(d, flag=True)),
        ("a Python int", "static(x, 3)", lambda: static(x, 3)),
    ]
    rows = []
    for label, statement, ours in cases:
        ours()
        mine = best_time(ours)
        theirs = peers.time("jax", _JAX, statement)
        detail = f"{microseconds(mine)} (Weft)"
        ratio = None if theirs is None else theirs / mine
        if theirs is not None:
            detail = f"{microseconds(theirs)} against {detail}"
        rows.append(Row(f"jax.jit / call with {label}", ratio, ">= 1", detail))
    return rows


_TENSORFLOW = """
import tensorflow as tf
x = tf.constant(1.0)
"""


def retrace(peers: Peers) -> Row:
    """Tracing a trivial function anew."""
    x = tf.constant(1.0)
    ours = best_time(lambda: tf.function(lambda x: x + 1.0)(x))
    theirs = peers.time("tensorflow", _TENSORFLOW, "tf.function(lambda x: x + 1.0)(x)")
    ratio = None if theirs is None else theirs / ours
    detail = f"{microseconds(ours)} (Weft)"
    if theirs is not None:
        detail = f"{microseconds(theirs)} against {detail}"
    return Row("tf.function / trace and first call of x + 1.0", ratio, ">= 10", detail)


def growth() -> list[Row]:
    """The cost of a call with many traces held, and with many variables captured."""
    logging.getLogger("weft").setLevel(logging.ERROR)  # a thousand traces, on purpose
    x = tf.constant(1.0)
    few, many = (tf.function(lambda x: x + 1.0) for _ in range(2))
    few(x)
    many(x)
    for n in range(999):
        many(tf.zeros([n]))
    one, thousand = best_time(lambda: few(x)), best_time(lambda: many(x))
    rows = [
        Row(
            "call with 1,000 traces / with one",
            thousand / one,
            "~ 1",
            f"{microseconds(thousand)} against {microseconds(one)}",
        )
    ]
    variables = [tf.Variable(float(i)) for i in range(500)]
    single = tf.function(lambda x: x + variables[0])
    unused = tf.function(lambda x: [v.value() for v in variables] and x + variables[0])
    single(x)
    unused(x)
    one, all_of_them = best_time(lambda: single(x)), best_time(lambda: unused(x))
    rows.append(
        Row(
            "call capturing 500 variables / one",
            all_of_them / one,
            "small",
            f"{microseconds(all_of_them)} against {microseconds(one)}",
        )
    )
    return rows


SCALE, SHIFT = 2.0, 1.0


def captured_values() -> list[Row]:
    """What it costs to look whether globals that a trace has read are still what they were."""
    x = tf.constant(1.0)
    plain = tf.function(lambda x: x * 2.0 + 1.0)
    watched = tf.function(lambda x: x * SCALE + SHIFT)
    guarded = tf.function(lambda x: x * SCALE + SHIFT, guard=True)
    tier, tf.config.execution = tf.config.execution, "numpy"  # one tier for all three
    for f in (plain, watched, guarded):
        for _ in range(200):
            f(x)
    tf.config.execution = tier
    times = in_turns(
        {
            "plain": lambda: best_time(lambda: plain(x), repeat=1),
            "watched": lambda: best_time(lambda: watched(x), repeat=1),
            "guarded": lambda: best_time(lambda: guarded(x), repeat=1),
        },
        rounds=10,
    )
    return [
        Row(
            f"call of a function that reads two globals, {what} / none",
            times[name] / times["plain"],
            target,
            f"{microseconds(times[name])} against {microseconds(times['plain'])}",
        )
        for name, what, target in (
            ("watched", "watched", "at most 0.1 us more"),
            ("guarded", "guard=True", "small"),
        )
    ]
