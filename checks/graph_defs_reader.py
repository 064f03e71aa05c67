"""Runs under TensorFlow: imports what graph_defs_in_tensorflow.py wrote, and writes it again."""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from google.protobuf import text_format

tf.get_logger().setLevel("ERROR")
# Cases with ops that came after version 2.4.
NEWER = {"seeded"}


def check(folder, name):
    """One graph, from both files."""
    path = os.path.join(folder, name)
    kept = np.load(path + ".npz")
    with open(path + ".names") as file:
        outputs = file.read().split("\n")
    binary, text = tf.compat.v1.GraphDef(), tf.compat.v1.GraphDef()
    with open(path + ".pb", "rb") as file:
        binary.ParseFromString(file.read())
    with open(path + ".pbtxt") as file:
        text_format.Parse(file.read(), text)
    for definition in (binary, text):
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(definition, name="")
            fed = {key + ":0": kept[key] for key in kept.files if key.startswith("in_")}
            with tf.compat.v1.Session() as session:
                found = session.run(outputs, fed)
        for i, got in enumerate(found):
            wanted = kept["result_" + str(i)]
            if wanted.dtype.kind == "S":
                same = np.asarray(got).astype("S").tolist() == wanted.tolist()
            else:
                same = np.shape(got) == wanted.shape and np.allclose(got, wanted, 1e-4, 1e-5)
            if not same:
                raise AssertionError(f"result {i}: {got!r} instead of {wanted!r}")
        with open(path + ".back.pb", "wb") as file:
            file.write(graph.as_graph_def().SerializeToString())


def main():
    """The number of graphs that failed."""
    folder = sys.argv[1]
    failed = 0
    names = sorted(name[:-4] for name in os.listdir(folder) if name.endswith(".npz"))
    if tf.__version__.startswith("2.4."):
        names = [name for name in names if name not in NEWER]
    for name in names:
        try:
            check(folder, name)
        except Exception as error:  # noqa: BLE001 - all graphs are tried
            failed += 1
            print(
                f"TensorFlow {tf.__version__}, {name}: {type(error).__name__}: {str(error)[:600]}"
            )
    print(f"TensorFlow {tf.__version__}: {len(names) - failed} of {len(names)} graphs agree.")
    return failed


sys.exit(main())
