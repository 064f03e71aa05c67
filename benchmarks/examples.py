"""`tf.train.Example`s built, and a thousand of them parsed, beside TensorFlow's."""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Peers, Row, in_turns, microseconds, timer_of

ROUNDS, SECONDS = 7, 0.1

# A dozen features: scalars of each kind, lists of 100 floats, lists of any length.
_SETUP = """
import random
rng = random.Random(0)
train = tf.train
def ints(values): return train.Feature(int64_list=train.Int64List(value=values))
def floats(values): return train.Feature(float_list=train.FloatList(value=values))
def texts(values): return train.Feature(bytes_list=train.BytesList(value=values))
vector = [rng.random() for _ in range(100)]
words = [b"some", b"words", b"here"]
numbers = [rng.randrange(1 << 20) for _ in range(30)]
def build(count):
    return train.Example(features=train.Features(feature={
        "label": ints([3]), "id": ints([123456789]), "count": ints([200]),
        "weight": floats([0.5]), "score": floats([1.25]),
        "name": texts([b"a name"]), "image": texts([b"x" * 200]),
        "vector": floats(vector), "other": floats(vector),
        "ids": ints(numbers[: 5 * count]), "words": texts(words[:count]),
        "rows": ints(numbers[:count]),
    }))
data = [build(rng.randrange(4)).SerializeToString() for _ in range(1000)]
fixed, any_length = tf.io.FixedLenFeature, tf.io.VarLenFeature
features = {
    "label": fixed([], tf.int64), "id": fixed([], tf.int64), "count": fixed([], tf.int64),
    "weight": fixed([], tf.float32), "score": fixed([], tf.float32),
    "name": fixed([], tf.string), "image": fixed([], tf.string),
    "vector": fixed([100], tf.float32), "other": fixed([100], tf.float32),
    "ids": any_length(tf.int64), "words": any_length(tf.string),
    "rows": tf.io.RaggedFeature(tf.int64),
}
many, one = tf.constant(data), tf.constant(data[0])
parse = tf.function(lambda x: tf.io.parse_example(x, features))
parse_single = tf.function(lambda x: tf.io.parse_single_example(x, features))
dataset = tf.data.Dataset.from_tensor_slices(data)
single = dataset.map(lambda x: tf.io.parse_single_example(x, features))
dense = {key: spec for key, spec in features.items() if key not in ("ids", "words", "rows")}
together = dataset.map(lambda x: tf.io.parse_single_example(x, dense)).batch(250)
batched = dataset.batch(250).map(lambda x: tf.io.parse_example(x, features))
for _ in range(5):
    tf.io.parse_example(many, features)  # what is compiled is compiled
"""

# What is measured, and how many times TensorFlow's time it may take.
STATEMENTS = {
    "build(3).SerializeToString()": 3,
    "train.Example.FromString(data[0])": None,
    "tf.io.parse_example(many, features)": 1,
    "parse(many)": 1,
    "tf.io.parse_single_example(one, features)": 1,
    "parse_single(one)": 1,
    "for _ in single: pass": 1,
    "for _ in together: pass": 1,
    "for _ in batched: pass": 1,
}


def run(peers: Peers) -> list[Row]:
    """Rows for building, for parsing a batch and a single one, and for parsing in a pipeline."""
    rows = []
    namespace: dict[str, Any] = {}
    exec(f"import weft as tf\n{_SETUP}", namespace)
    with peers.session("tensorflow", f"import tensorflow as tf\n{_SETUP}") as tensorflow:
        for statement, bound in STATEMENTS.items():
            exec(f"def run():\n    {statement}", namespace)
            timers = {"Weft": timer_of(namespace["run"], SECONDS)}
            if tensorflow is not None:
                timers["TensorFlow"] = tensorflow.timer(statement, SECONDS)
            times = in_turns(timers, ROUNDS)
            theirs = times.get("TensorFlow")
            ratio = None if theirs is None else times["Weft"] / theirs
            detail = ", ".join([f"{microseconds(t)} ({who})" for who, t in times.items()])
            wanted = "" if bound is None else f"<= {bound}"
            rows.append(Row(f"{statement} / TensorFlow", ratio, wanted, detail))
    return rows
