"""Input pipelines consumed eagerly, beside tf.data."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

import weft as tf
from benchmarks.harness import Peers, Row, best_time, microseconds

# The same text runs here and in TensorFlow.
_PIPELINES = """
import numpy as np

def steps(x):
    i = tf.constant(0, tf.int64)
    while i * i < x:
        i += 7
    return i

def square(x):
    return x * x

def called(x):
    return tf.py_function(square, [x], tf.int64)

rows = np.arange(10_000 * 8, dtype=np.float32).reshape(10_000, 8)
labels = np.arange(10_000)
numbers = tf.data.Dataset.range(10_000)
pipelines = {
    "vectorised": numbers.map(lambda x: tf.cast(x, tf.float32) * 2.0 + 1.0).batch(32).prefetch(2),
    "while": numbers.map(steps).batch(32).prefetch(2),
    "py_function": numbers.map(called).batch(32).prefetch(2),
    "parallel": numbers.map(steps, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(2),
    "one by one": numbers.map(lambda x: x * 2 + 1),
    "filter": numbers.filter(lambda x: x % 3 == 0).batch(32),
    "shuffle": tf.data.Dataset.from_tensor_slices((rows, labels)).shuffle(10_000).batch(32),
    "small buffer": numbers.shuffle(100).batch(32),
    "records": tf.data.TFRecordDataset(path),
}

def consume(name):
    for _ in pipelines[name]:
        pass
"""

_CASES = [
    ("vectorised", "range -> map(cast, arithmetic) -> batch -> prefetch", ">= 5"),
    ("while", "range -> map(while on data) -> batch -> prefetch", ">= 5"),
    ("parallel", "range -> map(while on data, AUTOTUNE) -> batch -> prefetch", ">= 5"),
    ("py_function", "range -> map(py_function) -> batch -> prefetch", ">= 5"),
    ("one by one", "range -> map(arithmetic), one by one", ">= 1"),
    ("filter", "range -> filter -> batch", ">= 1"),
    ("shuffle", "from_tensor_slices -> shuffle -> batch", ">= 1"),
    ("small buffer", "range -> shuffle(100) -> batch", ">= 1"),
    ("records", "TFRecordDataset, 10,000 records of 200 bytes", ""),
]


def run(peers: Peers) -> list[Row]:
    """All rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "records.tfrecord")
        with tf.io.TFRecordWriter(path) as file:
            for i in range(10_000):
                file.write(np.full(200, i % 256, np.uint8).tobytes())
        scope: dict[str, Any] = {"tf": tf, "path": path}
        # With a file name, so that AutoGraph finds the source.
        source = os.path.join(folder, "pipelines.py")
        with open(source, "w", encoding="utf-8") as text:
            text.write(_PIPELINES)
        exec(compile(_PIPELINES, source, "exec"), scope)
        setup = (
            f"import tensorflow as tf\npath = {path!r}\n"
            f"exec(compile(open({source!r}).read(), {source!r}, 'exec'), globals())"
        )
        return [_row(peers, setup, scope["consume"], *case) for case in _CASES]


def _row(
    peers: Peers, setup: str, consume: Callable[[str], None], name: str, label: str, bound: str
) -> Row:
    consume(name)
    mine = best_time(lambda: consume(name), repeat=3)
    theirs = peers.time("tensorflow", setup + f"\nconsume({name!r})", f"consume({name!r})")
    detail = f"{microseconds(mine)} (Weft)"
    if theirs is None:
        return Row(f"tf.data / {label}", None, bound, detail)
    return Row(
        f"tf.data / {label}", theirs / mine, bound, f"{microseconds(theirs)} against {detail}"
    )
