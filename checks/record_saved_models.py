"""Records SavedModels that TensorFlow writes, and what their functions give.

Run it in an environment with TensorFlow: `PATH/bin/python checks/record_saved_models.py`. It writes
into tests/saved_model/recorded, into a folder named after the version. It needs nothing newer than
Python 3.8 and TensorFlow 2.4, so that old versions can be recorded too.
"""

import os
import shutil
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(os.path.dirname(HERE), "tests", "saved_model", "recorded")


def network(tf):
    """Dense layers with a signature, a training step, and a regularizing loss."""
    rows, targets = [tf.TensorSpec([None, n], tf.float32) for n in (3, 2)]

    class Network(tf.Module):
        def __init__(self):
            super().__init__()
            rng = np.random.RandomState(0)
            self.layers = [
                (tf.Variable(rng.randn(3, 5).astype("f")), tf.Variable(np.zeros(5, "f"))),
                (tf.Variable(rng.randn(5, 2).astype("f")), tf.Variable(np.zeros(2, "f"))),
            ]
            self.steps = tf.Variable(0, trainable=False)

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
        def __call__(self, x):
            for w, b in self.layers:
                x = tf.tanh(tf.matmul(x, w) + b)
            return {"out": x, "mean": tf.reduce_mean(x, axis=1)}

        @tf.function(input_signature=[rows, targets])
        def train(self, x, y):
            weights = [v for pair in self.layers for v in pair]
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(x)["out"] - y) ** 2)
            for v, g in zip(weights, tape.gradient(loss, weights)):
                v.assign_sub(0.1 * g)
            self.steps.assign_add(1)
            return loss

    made = Network()
    x = np.linspace(-1, 1, 6).reshape(2, 3).astype("f")
    y = np.ones((2, 2), "f")
    calls = [("__call__", (x,), {}), ("train", (x, y), {}), ("train", (x, y), {})]
    calls += [("serving_default", (), {"x": x})]
    return made, made.__call__, calls


def loops(tf):
    """Loops, branches, arrays, several traces, Python arguments."""
    numbers, count = tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32)

    class Loops(tf.Module):
        @tf.function(input_signature=[numbers, count])
        def powers(self, x, n):
            def body(i, power, found):  # without AutoGraph, whose old versions need old Pythons
                large = tf.reduce_sum(power) > 100.0
                power = tf.cond(large, lambda: power / 2.0, lambda: power) * x
                return i + 1, power, found.write(i, power)

            found = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[None])
            start = (tf.constant(0), tf.ones_like(x), found)
            _, power, found = tf.while_loop(lambda i, *_: i < n, body, start)
            return found.stack(), power

        @tf.function
        def scaled(self, x, factor=2.0, negate=False):
            return -x * factor if negate else x * factor

    made = Loops()
    x = np.array([1.5, 2.0], "f")
    made.scaled(tf.constant(x))
    made.scaled(tf.constant(x), 3.0, negate=True)
    calls = [
        ("powers", (x, np.int32(9)), {}),
        ("scaled", (x,), {}),
        ("scaled", (x, 3.0), {"negate": True}),
    ]
    return made, None, calls


def words(tf):
    """Tables of a file and of tensors, strings."""
    path = "words.txt"  # relative: the model keeps it in the names of its tables
    with open(path, "w") as file:
        file.write("zero\none\ntwo\n")

    class Words(tf.Module):
        def __init__(self):
            super().__init__()
            initializer = tf.lookup.TextFileInitializer(
                path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER,
            )  # fmt: skip
            self.numbers = tf.lookup.StaticHashTable(initializer, -1)
            pairs = tf.lookup.KeyValueTensorInitializer([0, 1], ["even", "odd"], tf.int64)
            self.kinds = tf.lookup.StaticHashTable(pairs, "?")

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, text):
            numbers = self.numbers.lookup(tf.strings.lower(text))
            return numbers, self.kinds.lookup(numbers % 2)

    made = Words()
    return made, None, [("__call__", (np.array([b"TWO", b"one", b"six"]),), {})]


MODELS = {"network": network, "loops": loops, "words": words}


def main():
    """Writes the folders."""
    import tensorflow as tf

    folder = os.path.join(RECORDED, "tensorflow-" + tf.__version__)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.chdir(tempfile.mkdtemp())
    for name, make in MODELS.items():
        made, serving, calls = make(tf)
        path = os.path.join(folder, name)
        options = {} if serving is None else {"signatures": serving}
        tf.saved_model.save(made, path, **options)
        again = tf.saved_model.load(path)
        found = []
        for endpoint, args, kwargs in calls:
            if endpoint == "serving_default":
                function = again.signatures[endpoint]
            else:
                function = again if endpoint == "__call__" else getattr(again, endpoint)
            kwargs = {k: tf.constant(v) if isinstance(v, np.ndarray) else v
                      for k, v in kwargs.items()}  # fmt: skip
            tensors = [tf.constant(a) if isinstance(a, (np.ndarray, np.generic)) else a
                       for a in args]  # fmt: skip
            result = tf.nest.flatten(function(*tensors, **kwargs))
            found.append([np.asarray(x).tolist() for x in result])
        with open(os.path.join(folder, name, "results.txt"), "w") as file:
            file.write(repr(found))
    sys.stdout.write(folder + "\n")


if __name__ == "__main__":
    main()
