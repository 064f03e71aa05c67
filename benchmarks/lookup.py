"""A million keys in tables of a hundred thousand, beside TensorFlow's."""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Peers, Row, in_turns, microseconds, timer_of

ROUNDS, SECONDS = 9, 0.1

# Nine of ten keys are in the table.
_TABLES = """
import numpy as np

rng = np.random.default_rng(0)
count, asked = 100_000, 1_000_000
ids = tf.range(count, dtype=tf.int64)
numbers = rng.permutation(10_000_000)[:count].astype(np.int64) * 97
picked = rng.integers(0, count, asked)
is_known = rng.random(asked) < 0.9
int_keys = tf.constant(np.where(is_known, numbers[picked], rng.integers(0, 1 << 40, asked)))
words = [f"word{number:x}" for number in numbers.tolist()]
string_keys = tf.constant(
    [words[i] if known else f"other{i}" for i, known in zip(picked.tolist(), is_known.tolist())])
few = string_keys[:3]

new_static = lambda keys: tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(keys, ids), -1)

def new_mutable(dtype, keys):
    table = tf.lookup.experimental.MutableHashTable(dtype, tf.int64, -1)
    table.insert(keys, ids)
    return table

def new_dense(dtype, keys, empty, deleted):
    table = tf.lookup.experimental.DenseHashTable(dtype, tf.int64, -1, empty, deleted)
    table.insert(keys, ids)
    return table

words, numbers = tf.constant(words), tf.constant(numbers)
static_strings, static_ints = new_static(words), new_static(numbers)
vocabulary = tf.lookup.StaticVocabularyTable(
    tf.lookup.KeyValueTensorInitializer(words, ids), 10)
mutable_strings, mutable_ints = new_mutable(tf.string, words), new_mutable(tf.int64, numbers)
dense_strings = new_dense(tf.string, words, "", "$")
dense_ints = new_dense(tf.int64, numbers, -1, -2)
"""

# With the ratio that is wanted.
STATEMENTS = {
    "static_strings.lookup(string_keys)": "<= 1",
    "static_ints.lookup(int_keys)": "<= 1",
    "vocabulary.lookup(string_keys)": "<= 1",
    "mutable_strings.lookup(string_keys)": "<= 1",
    "mutable_ints.lookup(int_keys)": "<= 1",
    "dense_strings.lookup(string_keys)": "<= 1",
    "dense_ints.lookup(int_keys)": "<= 1",
    "static_strings.lookup(few)": "<= 1",
    "new_static(words)": "<= 4",
    "new_static(numbers)": "<= 4",
    "new_mutable(tf.int64, numbers)": "<= 4",
}


def run(peers: Peers) -> list[Row]:
    """Rows for each kind of table: many keys, few keys, and making it."""
    rows = []
    namespace: dict[str, Any] = {}
    exec(f"import weft as tf\n{_TABLES}", namespace)
    with peers.session("tensorflow", f"import tensorflow as tf\n{_TABLES}") as tensorflow:
        for statement, wanted in STATEMENTS.items():
            timers = {"Weft": timer_of(eval(f"lambda: {statement}", namespace), SECONDS)}
            if tensorflow is not None:
                timers["TensorFlow"] = tensorflow.timer(statement, SECONDS)
            times = in_turns(timers, ROUNDS)
            theirs = times.get("TensorFlow")
            ratio = None if theirs is None else times["Weft"] / theirs
            detail = ", ".join([f"{microseconds(t)} ({who})" for who, t in times.items()])
            rows.append(Row(f"{statement} / TensorFlow", ratio, wanted, detail))
    return rows
