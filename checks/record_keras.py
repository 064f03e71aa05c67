"""Records what Keras does on TensorFlow: losses of ten models, and files of all its formats.

Run it in an environment with TensorFlow and Keras:
`PATH/bin/python checks/record_keras.py`. It writes into tests/keras/recorded.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
RECORDED = ROOT / "tests" / "keras" / "recorded"


def saved_model(keras: Any) -> Any:
    """A small trained model with an optimizer that has state."""
    layers = keras.layers
    inputs = layers.Input((4, 3))
    x = layers.LSTM(3)(layers.LayerNormalization()(inputs))
    x = layers.BatchNormalization()(layers.Dense(5, "relu")(x))
    model = keras.Model(inputs, layers.Dense(2, "softmax")(x))
    model.compile(keras.optimizers.Adam(0.01), "categorical_crossentropy", metrics=["accuracy"])
    x, y = saved_data()
    model.fit(x, y, epochs=2, batch_size=4, verbose=0)
    return model


def saved_data() -> tuple[Any, Any]:
    """What the model is trained with."""
    x = np.random.default_rng(0).normal(size=(12, 4, 3)).astype("float32")
    return x, np.eye(2, dtype="float32")[np.arange(12) % 2]


def main() -> None:
    """Writes the files."""
    import keras

    sys.path.insert(0, str(ROOT / "tests"))
    from support.keras_models import MODELS, losses

    RECORDED.mkdir(exist_ok=True)
    found = {name: losses(keras, name) for name in MODELS}
    (RECORDED / "losses.json").write_text(json.dumps(found, indent=0), encoding="utf-8")
    keras.utils.set_random_seed(5)
    model = saved_model(keras)
    model.save(RECORDED / "model.keras")
    model.save(RECORDED / "model.h5")
    model.save_weights(RECORDED / "model.weights.h5")
    np.save(RECORDED / "predictions.npy", model.predict(saved_data()[0], verbose=0))
    layer = keras.layers.TextVectorization(max_tokens=20, output_sequence_length=5)
    layer.adapt(["a b c", "b c d e", "c c c"])
    text = keras.Sequential([keras.Input((), dtype="string"), layer])
    text.save(RECORDED / "text.keras")


if __name__ == "__main__":
    main()
