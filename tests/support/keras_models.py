"""Ten small models, each with data, an optimizer and a loss: the same text runs on both libraries.

`checks/record_keras.py` trains them with TensorFlow and keeps the losses; the tests train them with
Weft. Everything that is random depends on the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

STEPS = 50
BATCH = 8

Setup = tuple[Any, Any, Any]  # a compiled model, inputs, targets


def _numbers(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def dense(keras: Any) -> Setup:
    """A network of dense layers with Adam."""
    layers = keras.layers
    model = keras.Sequential([layers.Dense(16, "relu"), layers.Dense(16, "gelu"), layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.01), "mse")
    x = _numbers(1, 40, 13)
    return model, x, x[:, :1] * 2 - x[:, 1:2]


def convolutions(keras: Any) -> Setup:
    """Convolutions, pooling and batch normalisation with momentum."""
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Conv2D(4, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.SeparableConv2D(6, 3),
            layers.GlobalAveragePooling2D(),
            layers.Dense(3, "softmax"),
        ]
    )
    model.compile(keras.optimizers.SGD(0.05, momentum=0.9), "sparse_categorical_crossentropy")
    return model, _numbers(2, 40, 12, 11, 2), np.arange(40) % 3


def lstm(keras: Any) -> Setup:
    """An LSTM over sequences with RMSprop."""
    layers = keras.layers
    model = keras.Sequential(
        [layers.LSTM(7, return_sequences=True), layers.LSTM(5), layers.Dense(1)]
    )
    model.compile(keras.optimizers.RMSprop(0.01), "mae")
    x = _numbers(3, 40, 9, 4)
    return model, x, x.sum((1, 2))[:, None]


def gru(keras: Any) -> Setup:
    """Words, a bidirectional GRU, two classes."""
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Embedding(20, 6, mask_zero=True),
            layers.Bidirectional(layers.GRU(4)),
            layers.Dense(1, "sigmoid"),
        ]
    )
    model.compile(keras.optimizers.Nadam(0.01), "binary_crossentropy")
    words = np.random.default_rng(4).integers(0, 20, (40, 7))
    return model, words, (words.sum(1) % 2)[:, None].astype("float32")


def attention(keras: Any) -> Setup:
    """A transformer block with AdamW."""
    layers = keras.layers
    inputs = layers.Input((6, 8))
    found = layers.MultiHeadAttention(2, 4)(inputs, inputs, use_causal_mask=True)
    x = layers.LayerNormalization()(inputs + found)
    x = layers.LayerNormalization()(x + layers.Dense(8)(layers.Dense(16, "swish")(x)))
    model = keras.Model(inputs, layers.Dense(1)(layers.Flatten()(x)))
    model.compile(keras.optimizers.AdamW(0.005), "huber")
    x = _numbers(5, 40, 6, 8)
    return model, x, x[:, 0, :1]


def dropout(keras: Any) -> Setup:
    """Dropout and noise: random numbers in every step."""
    layers = keras.layers
    model = keras.Sequential(
        [layers.Dense(20, "relu"), layers.Dropout(0.3), layers.GaussianNoise(0.1), layers.Dense(1)]
    )
    model.compile(keras.optimizers.Adagrad(0.05), "mse")
    x = _numbers(6, 40, 5)
    return model, x, x[:, :1]


def regularized(keras: Any) -> Setup:
    """Penalties, constraints and clipped gradients on a schedule."""
    layers, regularizers = keras.layers, keras.regularizers
    model = keras.Sequential(
        [
            layers.Dense(9, "selu", kernel_regularizer=regularizers.L1L2(0.001, 0.01)),
            layers.Dense(4, "elu", kernel_constraint=keras.constraints.MaxNorm(1.0)),
            layers.Dense(1, activity_regularizer=regularizers.L2(0.01)),
        ]
    )
    rate = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.8)
    model.compile(keras.optimizers.SGD(rate, nesterov=True, momentum=0.5, clipnorm=0.5), "log_cosh")
    x = _numbers(7, 40, 6)
    return model, x, np.tanh(x[:, 2:3])


def two_inputs(keras: Any) -> Setup:
    """Two inputs, two outputs, two losses."""
    layers = keras.layers
    a, b = layers.Input((4,), name="a"), layers.Input((3,), name="b")
    both = layers.Concatenate()([layers.Dense(5, "tanh")(a), layers.Dense(5, "relu")(b)])
    outputs = [layers.Dense(1, name="value")(both), layers.Dense(2, name="kind")(both)]
    model = keras.Model([a, b], outputs)
    kind = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adamax(0.01), ["mse", kind], loss_weights=[1.0, 0.5])
    x = [_numbers(8, 40, 4), _numbers(9, 40, 3)]
    return model, x, [x[0][:, :1], (x[1][:, 0] > 0).astype("int32")]


def decoder(keras: Any) -> Setup:
    """An autoencoder of pictures with transposed convolutions."""
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Conv2D(4, 3, strides=2, padding="same", activation="leaky_relu"),
            layers.DepthwiseConv2D(3, padding="same"),
            layers.UpSampling2D(),
            layers.Conv2DTranspose(1, 3, padding="same", activation="sigmoid"),
        ]
    )
    model.compile(keras.optimizers.Lion(0.003), "binary_crossentropy")
    x = np.random.default_rng(10).uniform(size=(40, 8, 6, 1)).astype("float32")
    return model, x, x


def normalized(keras: Any) -> Setup:
    """Group and unit normalisation, averages over time, Ftrl."""
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Conv1D(6, 3, dilation_rate=2, padding="causal"),
            layers.GroupNormalization(3),
            layers.AveragePooling1D(2),
            layers.SimpleRNN(5),
            layers.UnitNormalization(),
            layers.Dense(1),
        ]
    )
    model.compile(keras.optimizers.Ftrl(0.05), "mean_squared_logarithmic_error")
    x = _numbers(11, 40, 10, 3)
    return model, x, np.abs(x[:, 0, :1])


MODELS: dict[str, Callable[[Any], Setup]] = {
    f.__name__: f
    for f in (
        dense,
        convolutions,
        lstm,
        gru,
        attention,
        dropout,
        regularized,
        two_inputs,
        decoder,
        normalized,
    )
}


def losses(keras: Any, name: str) -> list[float]:
    """The loss of each of the first steps."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(123)
    model, x, y = MODELS[name](keras)
    seen: list[float] = []

    class Note(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            self.model.reset_metrics()  # else the mean over the epoch

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            seen.append(float(logs["loss"]))

    model.fit(x, y, batch_size=BATCH, epochs=STEPS * BATCH // 40, verbose=0, callbacks=[Note()])
    return seen
