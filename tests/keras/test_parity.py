"""Keras on Weft trains as on TensorFlow, and reads and writes the same files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import weft as tf
from checks.record_keras import saved_data, saved_model
from support.keras_models import MODELS, losses
from weft import keras

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning",
    "ignore:.shuffle=True. was passed:UserWarning",
)

RECORDED = Path(__file__).parent / "recorded"
LOSSES = json.loads((RECORDED / "losses.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", MODELS)
def test_losses_are_those_of_tensorflow(name: str) -> None:
    found = losses(keras, name)
    assert len(found) == 50
    np.testing.assert_allclose(found, LOSSES[name], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("file", ["model.keras", "model.h5"])
def test_models_of_tensorflow_are_read(file: str) -> None:
    x, y = saved_data()
    model = keras.models.load_model(RECORDED / file)
    expected = np.load(RECORDED / "predictions.npy")
    np.testing.assert_allclose(model.predict(x, verbose=0), expected, rtol=1e-4, atol=1e-6)
    assert int(model.optimizer.iterations) == 6
    if file.endswith(".keras"):  # from the older format Keras restores no optimizer that goes on
        model.fit(x, y, verbose=0)


def test_weights_of_tensorflow_are_read() -> None:
    model = saved_model(keras)
    model.load_weights(RECORDED / "model.weights.h5")
    found = model.predict(saved_data()[0], verbose=0)
    np.testing.assert_allclose(found, np.load(RECORDED / "predictions.npy"), rtol=1e-4, atol=1e-6)


def test_a_vocabulary_of_tensorflow_is_read() -> None:
    model = keras.models.load_model(RECORDED / "text.keras")
    assert model(tf.constant(["c b x"])).numpy().tolist() == [[2, 3, 1, 0, 0]]


@pytest.mark.parametrize("name", ["m.keras", "m.h5"])
def test_models_round_trip(name: str, tmp_path: Path) -> None:
    model = saved_model(keras)
    model.save(tmp_path / name)
    again = keras.models.load_model(tmp_path / name)
    x, y = saved_data()
    np.testing.assert_allclose(again.predict(x, verbose=0), model.predict(x, verbose=0), 1e-6)
    if name.endswith(".h5"):
        return
    # The state of the optimizer came along: both go on in the same way.
    for made in (model, again):
        made.fit(x, y, shuffle=False, epochs=2, verbose=0)
    np.testing.assert_allclose(again.predict(x, verbose=0), model.predict(x, verbose=0), 1e-5)


def test_a_subclassed_model_that_fit_builds_saves_its_weights(tmp_path: Path) -> None:
    @keras.saving.register_keras_serializable()
    class Net(keras.Model):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.first = keras.layers.Dense(4, "relu")
            self.last = keras.layers.Dense(2)

        def call(self, x: Any) -> Any:
            return self.last(self.first(tf.reshape(x, [tf.shape(x)[0], -1])))

    x, y = saved_data()
    model = Net()
    model.compile("sgd", "mse")
    model.fit(x, y, verbose=0)
    model.save(tmp_path / "net.keras")
    again = keras.models.load_model(tmp_path / "net.keras")
    np.testing.assert_allclose(again.predict(x, verbose=0), model.predict(x, verbose=0), 1e-6)


def _two_layers(units: int) -> keras.Model:
    return keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dense(units)],
    )


def test_a_file_of_weights_holds_each_layer_once(tmp_path: Path) -> None:
    _two_layers(5).save_weights(tmp_path / "two.weights.h5")
    with h5py.File(tmp_path / "two.weights.h5") as file:
        assert sorted(file) == ["layers", "vars"]
        assert sorted(file["layers"]) == ["dense", "dense_1"]


def test_weights_of_another_shape_are_named(tmp_path: Path) -> None:
    _two_layers(5).save_weights(tmp_path / "two.weights.h5")
    with pytest.raises(ValueError, match=r"variable.shape=\(4, 6\), Received: .*\(4, 5\)"):
        _two_layers(6).load_weights(tmp_path / "two.weights.h5")
