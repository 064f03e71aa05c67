"""The foundations: eager ops, import, the NumPy plan, tracing."""

from __future__ import annotations

import os
import subprocess
import sys
import timeit
from typing import Any

import numpy as np

import weft as tf
from benchmarks.harness import Peers, Row, best_time, microseconds
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.passes import optimize
from weft._src.graph.tracing import trace


def run(peers: Peers) -> list[Row]:
    """All rows."""
    return [*eager_add(), import_time(), numpy_plan(), tracing(peers)]


def eager_add() -> list[Row]:
    """x + y on tensors against np.add on the same arrays."""
    rows = []
    for label, shape in (("0-d", ()), ("100 floats", (100,))):
        a = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        x, y = tf.constant(a), tf.constant(a)
        left, right = np.asarray(x), np.asarray(y)
        ours = best_time(lambda x=x, y=y: x + y)
        theirs = best_time(lambda a=left, b=right: np.add(a, b))
        detail = f"{microseconds(ours)} against {microseconds(theirs)}"
        rows.append(Row(f"eager x + y, {label} / np.add", ours / theirs, "<= 8", detail))
    return rows


def import_time() -> Row:
    """`import weft` against importing what it stands on, in turns: start-up times drift."""
    statements = ("import weft", "import numpy, scipy.special")
    runs = [[_import_seconds(statement) for statement in statements] for _ in range(15)]
    ours, theirs = (min(column) for column in zip(*runs, strict=True))
    detail = f"{microseconds(ours)} against {microseconds(theirs)}"
    return Row("import weft / numpy, scipy.special", ours / theirs, "<= 1.5", detail)


def _import_seconds(statement: str) -> float:
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    # Installed packages are byte-compiled; the first run of each does it here.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, env=environment
    )
    return float(done.stdout)


def _fifty_ops(xp: Any, x: Any, w: Any, b: Any) -> Any:
    """Five dense layers of ten ops each, in a namespace that both NumPy and Weft offer."""
    for _ in range(5):
        h = xp.matmul(x, w) + b
        h = xp.tanh(h)
        h = h * 0.5 + x
        h = xp.maximum(h, -1.0)
        h = xp.minimum(h, 1.0)
        h = h - xp.exp(h) * 0.01
        x = xp.square(h)
    return x


def numpy_plan() -> Row:
    """The plan of a 50-op graph against the same code written by hand in NumPy."""
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=s).astype(np.float32) * 0.1 for s in ((64, 64), (64, 64), (64,))]
    graph = optimize(
        trace(lambda x, w, b: _fifty_ops(tf, x, w, b), [tf.TensorSpec(a.shape) for a in arrays])
    )
    plan = NumpyPlan(graph)
    np.testing.assert_allclose(plan(*arrays)[0], _fifty_ops(np, *arrays), rtol=1e-4, atol=1e-5)
    ours = best_time(lambda: plan(*arrays))
    theirs = best_time(lambda: _fifty_ops(np, *arrays))
    detail = f"{microseconds(ours)} against {microseconds(theirs)}, {len(graph.nodes)} nodes"
    return Row("NumPy plan of 50 ops / by hand", ours / theirs, "<= 1.3", detail)


_TWO_THOUSAND = """
def chain(x):
    for _ in range(1000):
        x = tf.tanh(x) + x
    return x
"""


def tracing(peers: Peers) -> Row:
    """Tracing 2,000 ops against tf.function."""
    namespace: dict[str, Any] = {"tf": tf}
    exec(_TWO_THOUSAND, namespace)
    spec = tf.TensorSpec([3])
    ours = min(timeit.repeat(lambda: trace(namespace["chain"], [spec]), number=1, repeat=5))
    theirs = peers.time(
        "tensorflow",
        f"import tensorflow as tf\n{_TWO_THOUSAND}\nspec = tf.TensorSpec([3])",
        "tf.function(chain, autograph=False).get_concrete_function(spec)",
    )
    if theirs is None:
        return Row(
            "tf.function / tracing 2,000 ops", None, ">= 10", f"{microseconds(ours)}, no peer"
        )
    detail = f"{microseconds(theirs)} against {microseconds(ours)}"
    return Row("tf.function / tracing 2,000 ops", theirs / ours, ">= 10", detail)
