"""Keras' quantized layers: float8 with scales that are learnt, int8 and packed int4.

The numbers are what Keras 3.15.1 gives on TensorFlow 2.21 for the same seeds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import keras

# What Keras itself says, on TensorFlow too.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

X = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
Y = (X @ np.arange(8, dtype=np.float32)[:, None]).astype(np.float32)


def _models(count: int) -> list[Any]:
    keras.utils.set_random_seed(1)
    return [
        keras.Sequential(
            [
                keras.layers.Input([8]),
                keras.layers.Dense(16, activation="relu"),
                keras.layers.Dense(1),
            ]
        )
        for _ in range(count)
    ]


def _quantized(model: Any, mode: str) -> Any:
    for layer in model.layers:  # the model would warn of its input layer
        layer.quantize(mode)
    return model


def test_training_in_float8() -> None:
    (model,) = _models(1)
    _quantized(model, "float8").compile("adam", "mse")
    history = model.fit(X, Y, epochs=2, verbose=0).history
    np.testing.assert_allclose(history["loss"], [182.39947509765625, 182.2479248046875], 1e-5)
    scale, amax = model.layers[0].inputs_scale, model.layers[0].inputs_amax_history
    assert float(scale.numpy()) != 1.0
    assert amax.numpy().max() > 0


@pytest.mark.parametrize("mode", ["int8", "int4"])
def test_layers_with_few_bits(mode: str) -> None:
    _, second, third = _models(3)
    wanted = {"int8": [0.20582575, -0.6681521], "int4": [1.1172659, -0.4718312]}
    model = _quantized({"int8": second, "int4": third}[mode], mode)
    got = model.predict(X[:2], verbose=0).ravel()
    assert model.layers[0]._kernel.dtype == "int8"
    np.testing.assert_allclose(got, wanted[mode], 1e-4, 1e-5)


@pytest.mark.parametrize("axis", [None, -1])
def test_fake_quantizers(axis: int | None) -> None:
    ends = (-1.0, 1.0) if axis is None else ([-1.0] * 8, [1.0] * 8)
    function = keras.quantizers.fake_quant_with_min_max_vars
    got = function(X[:2], *ends, num_bits=4, axis=axis).numpy()[0]
    wanted = [0.13333334, -0.13333334, 0.6666667, 0.13333334, -0.53333336, 0.40000004, 1.0666667,
              0.9333334]  # fmt: skip
    np.testing.assert_allclose(got, wanted, 1e-6)
