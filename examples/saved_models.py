"""Story 10: a model trained in TensorFlow, served by Weft; and one trained in Weft, for TensorFlow.

TensorFlow is not needed: what it wrote and computed is in examples/recorded, made by
checks/record_demo_models.py.
"""

from __future__ import annotations

import json
import shutil
import timeit
from pathlib import Path

import numpy as np
from telling import Story, run_alone

import weft as tf

TITLE = "10. To and from TensorFlow"
RECORDED = Path(__file__).resolve().parent / "recorded"
WRITTEN = Path(__file__).resolve().parents[1] / "demo" / "line"


def tell(story: Story) -> None:
    """Loads a model of TensorFlow, and writes one for it."""
    kept = json.loads((RECORDED / "results.json").read_text(encoding="utf-8"))
    _served(story, kept["sentiment"])
    _written(story, kept["line"])


def _served(story: Story, there: dict[str, list[float]]) -> None:
    story.say(
        "Trained in TensorFlow, served by Weft. Keras on TensorFlow has learnt which texts praise, "
        "and exported the model with the table of its words. Weft loads it, without TensorFlow."
    )
    texts = tf.constant(there["texts"])
    started = timeit.default_timer()
    model = tf.saved_model.load(RECORDED / "sentiment")
    found = model.serve(texts)
    seconds = timeit.default_timer() - started
    lines = [
        f"{float(ours):.4f}  {theirs:.4f}  {text}"
        for ours, theirs, text in zip(found[:, 0], there["results"], there["texts"], strict=True)
    ]
    story.show("\n".join(["Weft    TensorFlow", *lines]), "how much they praise")
    assert np.allclose(found[:, 0], there["results"], atol=1e-5)
    call = min(timeit.repeat(lambda: model.serve(texts), number=20, repeat=10)) / 20
    story.show(
        f"from the files to the first result {seconds * 1e3:.0f} ms, a call {call * 1e6:.0f} us; "
        f"when it was recorded, TensorFlow {there['version']} took "
        f"{there['load_seconds']} s and {there['microseconds']} us"
    )


class Line(tf.Module):
    """A small network that follows a curve."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.inner = tf.Variable(rng.normal(size=(1, 12)).astype("f"))
        self.bias = tf.Variable(rng.normal(size=12).astype("f"))
        self.outer = tf.Variable(rng.normal(size=(12, 1)).astype("f") / 3)

    @tf.function(input_signature=[tf.TensorSpec([None, 1], name="x")])
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.tanh(x @ self.inner + self.bias) @ self.outer

    @tf.function(input_signature=[tf.TensorSpec([None, 1]), tf.TensorSpec([None, 1])])
    def train(self, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        """One step."""
        weights = [self.inner, self.bias, self.outer]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x) - y) ** 2)
        for weight, slope in zip(weights, tape.gradient(loss, weights), strict=True):
            weight.assign_sub(0.1 * slope)
        return loss


def _written(story: Story, there: dict[str, list[float]]) -> None:
    story.say(
        "Trained in Weft, written for TensorFlow. The functions of a module, its variables and "
        "its training step become a SavedModel of TensorFlow's own ops."
    )
    module = Line()
    x = np.linspace(-3, 3, 64, dtype="f")[:, None]
    first = float(module.train(x, np.sin(x)))
    for _ in range(1500):
        loss = module.train(x, np.sin(x))
    shutil.rmtree(WRITTEN, ignore_errors=True)
    tf.saved_model.save(module, WRITTEN, signatures=module.__call__)
    size = sum(path.stat().st_size for path in WRITTEN.rglob("*") if path.is_file())
    story.show(
        f"mean loss {first:.3f} -> {float(loss):.4f}, saved in {size:,} bytes\n\n"
        "    import tensorflow as tf\n"
        '    model = tf.saved_model.load("demo/line")\n'
        "    model(tf.constant([[2.0]])), model.train(x, y)\n"
    )
    points = tf.constant(there["x"])
    again = tf.saved_model.load(WRITTEN)
    with tf.GradientTape() as tape:
        tape.watch(points)
        found = again(points)
    slope = tape.gradient(found, points)
    rows = zip(there["x"], found.numpy(), there["y"], slope.numpy(), there["slope"], strict=True)
    story.show(
        "\n".join(
            [
                f"x = {at[0]:4.1f}   Weft {y[0]:7.4f}, slope {dy[0]:7.4f}   "
                f"TensorFlow {ty[0]:7.4f}, slope {tdy[0]:7.4f}"
                for at, y, ty, dy, tdy in rows
            ]
        ),
        f"the loaded model here, and as TensorFlow {there['version']} has loaded it",
    )
    assert np.allclose(found, there["y"], atol=1e-3)


if __name__ == "__main__":
    run_alone(tell, TITLE)
