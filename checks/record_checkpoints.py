"""Records checkpoints that TensorFlow writes, and what is in them.

Run it in an environment with TensorFlow and Keras: `PATH/bin/python checks/record_checkpoints.py`.
It writes into tests/saving/recorded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

RECORDED = Path(__file__).parents[1] / "tests" / "saving" / "recorded"
DTYPES = (
    *("float16", "bfloat16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32"),
    *("int64", "uint64", "complex64", "complex128", "bool"),
)


class Pair(NamedTuple):
    """A named tuple, whose parts are children twice: by name and by number."""

    x: Any
    y: Any


def module(tf: Any, factor: float) -> Any:
    """A module with everything a checkpoint can hold, its numbers times a factor."""
    made = tf.Module()
    made.numbers = [
        tf.Variable(1.0 * factor, name="first"),
        {"a/b.c": tf.Variable(2.0 * factor)},
        3,
    ]
    made.pair = Pair(tf.Variable([3.0 * factor, 4.0 * factor]), "text")
    made.both = (tf.Variable(5.0 * factor), tf.Variable(6.0 * factor))
    made.inner = tf.Module()
    made.inner.v = tf.Variable([[7.0 * factor]])
    made.again = made.inner
    made.kinds = {name: tf.Variable(tf.cast([factor, 2 * factor, 0], name)) for name in DTYPES}
    made.words = tf.Variable(["a", "", "words" * int(10 * factor)])
    made.empty = tf.Variable(tf.zeros([0, 3]))
    made.generator = tf.random.Generator.from_seed(int(7 * factor))
    made.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    made.dense = tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.float32, -1.0, 0, -1, initial_num_buckets=4
    )
    if factor:
        made.table.insert(["one", "two"], [1, 2])
        made.dense.insert([3, 4, 5], [0.5, 0.25, 0.125])
    return made


def main() -> None:
    """Writes the files."""
    import tensorflow as tf

    import keras

    RECORDED.mkdir(parents=True, exist_ok=True)
    made = module(tf, 1.0)
    tf.train.Checkpoint(made).write(str(RECORDED / "module"))
    iterator = iter(tf.data.Dataset.range(3))
    checkpoint = tf.train.Checkpoint(inner=made.inner, step=tf.Variable(5), iterator=iterator)
    checkpoint.save(str(RECORDED / "saved"))
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(3)])
    model.compile("adam", "mse")
    model.fit(tf.ones([4, 2]), tf.ones([4, 3]), verbose=0)
    tf.train.Checkpoint(model=model, optimizer=model.optimizer).write(str(RECORDED / "keras"))
    (RECORDED / "checkpoint").unlink()
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        v = tf.compat.v1.get_variable("scope/v", initializer=[1.0, 2.0])
        tf.compat.v1.get_variable("w", initializer=3)
        session.run(tf.compat.v1.global_variables_initializer())
        saver = tf.compat.v1.train.Saver([v])
        saver.save(session, str(RECORDED / "named"), write_meta_graph=False, write_state=False)
    record_parts(tf)


def record_parts(tf: Any) -> None:
    """Tensors that were written in parts: by a Saver into one file, and into several by hand."""
    v1 = tf.compat.v1
    values = parts(tf)
    with tf.Graph().as_default(), v1.Session() as session:
        made = [
            v1.get_variable(
                name,
                initializer=tf.constant(values[name].numpy()),
                partitioner=v1.fixed_size_partitioner(number, axis=axis),
            )
            for name, number, axis in (("scope/v", 3, 0), ("w", 2, 1))
        ]
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver(made)
        saver.save(session, str(RECORDED / "sliced"), write_meta_graph=False, write_state=False)
    pieces = [f"{RECORDED}/piece{i}" for i in range(2)]
    for i, (start, size) in enumerate(((0, 3), (3, 4))):
        tf.raw_ops.SaveV2(
            prefix=pieces[i],
            tensor_names=["scope/v", "words", f"own{i}"],
            shape_and_slices=[f"7 5 {start},{size}:-", f"2 2 -:{i},1", ""],
            tensors=[
                values["scope/v"][start : start + size],
                values["words"][:, i : i + 1],
                tf.constant([i]),
            ],
        )
    tf.raw_ops.MergeV2Checkpoints(
        checkpoint_prefixes=pieces, destination_prefix=str(RECORDED / "sharded")
    )


def parts(tf: Any) -> dict[str, Any]:
    """What is written in parts."""
    return {
        "scope/v": tf.reshape(tf.range(35.0), [7, 5]),
        "w": tf.reshape(tf.range(300, dtype=tf.int64), [2, 150]),
        "words": tf.constant([["a", ""], ["words" * 30, "é"]]),
    }


if __name__ == "__main__":
    main()
