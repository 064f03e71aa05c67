"""Runs under TensorFlow: loads what saved_models_in_tensorflow.py wrote, and compares."""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

tf.get_logger().setLevel("ERROR")
# Cases with ops that came after version 2.4, or gradients: it has none of a gradient of a list.
NEWER = {"array_slopes", "random", "recurrent_slopes", "seeded"}


def same(found, wanted, what):
    """Raises if arrays differ."""
    found = np.asarray(found)
    if wanted.dtype.kind == "S":
        equal = found.shape == wanted.shape and found.tolist() == wanted.tolist()
    else:
        equal = found.shape == wanted.shape and np.allclose(found, wanted, 1e-4, 1e-5)
    if not equal:
        raise AssertionError(f"{what}: {found!r} instead of {wanted!r}")


def check(folder, name):
    """One model in all the ways to call it."""
    kept = np.load(os.path.join(folder, f"{name}.npz"))
    inputs = [kept[key] for key in sorted(kept.files) if key.startswith("input_")]
    results = [kept[f"result_{i}"] for i in range(len(kept.files) - len(inputs) - 1)]
    path = os.path.join(folder, name)
    model = tf.saved_model.load(path)
    tensors = [tf.constant(x.tolist() if x.dtype.kind == "S" else x) for x in inputs]
    with tf.GradientTape() as tape:
        found = tf.nest.flatten(model.f(*tensors))
        losses = [tf.reduce_sum(y) for y in found if y.dtype == tf.float32]
        loss = sum(losses, tf.constant(0.0))
    for i, (got, wanted) in enumerate(zip(found, results)):
        same(got.numpy(), wanted, f"result {i}")
    assert len(found) == len(results)
    assert int(model.calls.numpy()) == 1
    if np.isfinite(kept["slope"]):
        same(tape.gradient(loss, model.scale).numpy(), kept["slope"], "gradient")
    model = tf.saved_model.load(path)  # streams of random numbers begin anew
    signature = model.signatures["serving_default"]
    named = signature(**{f"in_{i}": x for i, x in enumerate(tensors)})
    for i, wanted in enumerate(results):
        same(named[f"y{i}"].numpy(), wanted, f"signature {i}")
    with tf.compat.v1.Session(graph=tf.Graph()) as session:
        meta = tf.compat.v1.saved_model.load(session, ["serve"], path)
        signed = meta.signature_def["serving_default"]
        fed = {signed.inputs[f"in_{i}"].name: x for i, x in enumerate(inputs)}
        run = session.run({k: x.name for k, x in signed.outputs.items()}, fed)
        for i, wanted in enumerate(results):
            same(run[f"y{i}"], wanted, f"session {i}")


def main():
    """The number of models that failed."""
    folder = sys.argv[1]
    failed = 0
    names = sorted(name[:-4] for name in os.listdir(folder) if name.endswith(".npz"))
    if tf.__version__.startswith("2.4."):
        names = [name for name in names if name not in NEWER]
    for name in names:
        try:
            check(folder, name)
        except Exception as error:  # noqa: BLE001 - all models are tried
            failed += 1
            print(
                f"TensorFlow {tf.__version__}, {name}: {type(error).__name__}: {str(error)[:600]}"
            )
    print(f"TensorFlow {tf.__version__}: {len(names) - failed} of {len(names)} models agree.")
    return failed


sys.exit(main())
