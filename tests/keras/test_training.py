"""compile, fit, evaluate and predict with every kind of input, and what happens around them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft import keras

# What Keras itself says, on TensorFlow too.
pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning",
    "ignore:.shuffle=True. was passed:UserWarning",
    "ignore:Model doesn't support .jit_compile:UserWarning",
)

layers = keras.layers
ROWS, FEATURES = 22, 5


def data() -> tuple[Any, Any]:
    x = np.random.default_rng(3).normal(size=(ROWS, FEATURES)).astype("float32")
    return x, (x @ np.arange(FEATURES, dtype="float32")[:, None] + 1.0).astype("float32")


def model(**options: Any) -> Any:
    made = keras.Sequential([layers.Input((FEATURES,)), layers.Dense(4, "tanh"), layers.Dense(1)])
    made.compile(**({"optimizer": keras.optimizers.Adam(0.05), "loss": "mse"} | options))
    return made


def weights_after(fit: Any) -> list[Any]:
    keras.utils.set_random_seed(7)
    made = model()
    fit(made)
    return made.get_weights()


def assert_same(a: list[Any], b: list[Any]) -> None:
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def test_training_learns() -> None:
    x, y = data()
    history = model().fit(x, y, epochs=60, batch_size=8, verbose=0)
    losses = history.history["loss"]
    assert losses[-1] < 0.2 * losses[0]


def in_batches(x: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    while True:
        for start in range(0, ROWS, 8):
            yield x[start : start + 8], y[start : start + 8]


class Sequence(keras.utils.PyDataset):
    def __init__(self) -> None:
        super().__init__()
        self.x, self.y = data()

    def __len__(self) -> int:
        return 3

    def __getitem__(self, i: int) -> tuple[Any, Any]:
        return self.x[8 * i : 8 * i + 8], self.y[8 * i : 8 * i + 8]


def test_all_kinds_of_input_train_the_same_model() -> None:
    import pandas as pd

    x, y = data()
    plain = {"epochs": 2, "verbose": 0, "shuffle": False}
    by_batches = {"epochs": 2, "verbose": 0, "steps_per_epoch": 3}
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
    expected = weights_after(lambda m: m.fit(x, y, batch_size=8, **plain))
    frame = pd.DataFrame(x, columns=list("abcde"))
    for fit in (
        lambda m: m.fit(tf.constant(x), tf.constant(y), batch_size=8, **plain),
        lambda m: m.fit(x.tolist() and x, y, batch_size=8, **plain),
        lambda m: m.fit(frame, pd.Series(y[:, 0]), batch_size=8, **plain),
        lambda m: m.fit(dataset, epochs=2, verbose=0),
        lambda m: m.fit(in_batches(x, y), **by_batches),
        lambda m: m.fit(Sequence(), epochs=2, verbose=0, shuffle=False),
        lambda m: [m.train_on_batch(*b) for _ in range(2) for b in dataset],
    ):
        assert_same(weights_after(fit), expected)


def test_several_steps_in_one_execution() -> None:
    x, y = data()
    keras.utils.set_random_seed(7)
    one = model()
    one.fit(x, y, batch_size=4, epochs=2, verbose=0, shuffle=False)
    keras.utils.set_random_seed(7)
    several = model(steps_per_execution=4)
    history = several.fit(x, y, batch_size=4, epochs=2, verbose=0, shuffle=False)
    assert_same(several.get_weights(), one.get_weights())
    assert len(history.history["loss"]) == 2
    np.testing.assert_allclose(several.predict(x, 4, 0), one.predict(x, 4, 0), rtol=1e-5, atol=1e-6)


def test_eagerly_and_compiled() -> None:
    x, y = data()
    expected = weights_after(lambda m: m.fit(x, y, batch_size=8, epochs=2, verbose=0))
    for options in ({"run_eagerly": True}, {"jit_compile": True}):
        keras.utils.set_random_seed(7)
        made = model(**options)
        made.fit(x, y, batch_size=8, epochs=2, verbose=0)
        assert_same(made.get_weights(), expected)


def test_shuffled_epochs_see_every_row_once() -> None:
    seen: list[Any] = []

    class Watching(keras.Model):
        def train_step(self, rows: Any) -> Any:
            tf.py_function(lambda r: seen.append(r.numpy()), [rows[0]], [])
            return {"loss": tf.constant(0.0)}

    made = Watching()
    made.compile()
    x = np.arange(ROWS, dtype="float32")
    made.fit(x, x, batch_size=6, epochs=2, verbose=0)
    first, second = np.concatenate(seen[:4]), np.concatenate(seen[4:])
    assert sorted(first) == sorted(second) == list(x)
    assert list(first) != list(x)


def test_the_order_of_rows_is_that_of_tensorflow() -> None:
    seen: list[Any] = []

    class Watching(keras.Model):
        def train_step(self, rows: Any) -> Any:
            tf.py_function(lambda r: seen.append(r.numpy()), [rows[0]], [])
            return {"loss": tf.constant(0.0)}

    made = Watching()
    made.compile()
    x = np.arange(12, dtype="float32")
    made.fit(x, x, batch_size=5, verbose=0)
    assert np.concatenate(seen).tolist() == [9, 7, 6, 8, 1, 4, 5, 0, 3, 2, 10, 11]


def test_validation_weights_and_metrics() -> None:
    x, y = data()
    made = model(metrics=["mae", keras.metrics.RootMeanSquaredError()], weighted_metrics=["mse"])
    history = made.fit(
        x, y, sample_weight=np.linspace(0, 1, ROWS), validation_split=0.25, epochs=2, verbose=0
    ).history
    names = ["loss", "mae", "mse", "root_mean_squared_error"]
    assert sorted(history) == sorted([*names, *[f"val_{name}" for name in names]])
    found = made.evaluate(x, y, verbose=0, return_dict=True)
    error = made.predict(x, verbose=0) - y
    np.testing.assert_allclose(found["loss"], np.mean(error**2), rtol=1e-5)
    np.testing.assert_allclose(found["mae"], np.mean(np.abs(error)), rtol=1e-5)
    np.testing.assert_allclose(
        found["root_mean_squared_error"], np.sqrt(np.mean(error**2)), rtol=1e-5
    )


def test_classes_weights_and_metrics_of_classification() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3)).astype("float32")
    y = (x[:, 0] > 0).astype("int32")
    made = keras.Sequential([layers.Dense(8, "relu"), layers.Dense(1, "sigmoid")])
    metrics = [
        "accuracy",
        keras.metrics.AUC(),
        keras.metrics.Precision(),
        keras.metrics.Recall(),
        keras.metrics.F1Score(threshold=0.5),
    ]
    made.compile(keras.optimizers.Adam(0.05), "binary_crossentropy", metrics=metrics)
    made.fit(x, y[:, None], epochs=30, class_weight={0: 1.0, 1: 2.0}, verbose=0)
    found = made.evaluate(x, y[:, None], verbose=0, return_dict=True)
    assert found["accuracy"] > 0.9
    assert found["auc"] > 0.9


def test_sparse_and_ragged_input() -> None:
    dense = np.eye(6, dtype="float32")
    sparse = tf.sparse.from_dense(dense)
    made = keras.Sequential([layers.Input((6,), sparse=True), layers.Dense(2)])
    made.compile("sgd", "mse")
    y = np.ones((6, 2), "float32")
    made.fit(tf.data.Dataset.from_tensor_slices((sparse, y)).batch(3), verbose=0)
    np.testing.assert_allclose(
        made.predict(sparse, verbose=0), dense @ made.layers[0].kernel + made.layers[0].bias, 1e-5
    )
    ragged = tf.ragged.constant([[1, 2], [3], [4, 1, 2]])
    lengths = keras.Sequential([layers.Lambda(lambda r: tf.cast(r.row_lengths(), tf.float32))])
    assert lengths(ragged).numpy().tolist() == [2.0, 1.0, 3.0]


@pytest.mark.parametrize(
    "name",
    "SGD Adam AdamW Adamax Nadam RMSprop Adagrad Adadelta Ftrl Lion Adafactor Lamb Muon".split(),
)
def test_optimizers(name: str) -> None:
    x, y = data()
    made = model(optimizer=getattr(keras.optimizers, name)(0.01), loss="mse")
    losses = made.fit(x, y, epochs=12, batch_size=8, verbose=0).history["loss"]
    assert np.all(np.isfinite(losses))
    assert losses[-1] < losses[0]


def test_schedules_clipping_and_averages() -> None:
    x, y = data()
    schedule = keras.optimizers.schedules.CosineDecay(0.1, 20)
    optimizer = keras.optimizers.Adam(
        schedule, clipnorm=1.0, use_ema=True, ema_overwrite_frequency=3, weight_decay=1e-3
    )
    made = model(optimizer=optimizer)
    made.fit(x, y, epochs=4, batch_size=8, verbose=0)
    assert int(optimizer.iterations) == 12
    np.testing.assert_allclose(float(optimizer.learning_rate), float(schedule(12)), rtol=1e-5)


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision(policy: str) -> None:
    x, y = data()
    keras.mixed_precision.set_global_policy(policy)
    try:
        made = model()
        losses = made.fit(x, y, epochs=8, batch_size=8, verbose=0).history["loss"]
        assert made.layers[0].compute_dtype == policy.removeprefix("mixed_")
        assert made.layers[0].kernel.dtype == "float32"
    finally:
        keras.mixed_precision.set_global_policy("float32")
    assert losses[-1] < losses[0]


def test_callbacks(tmp_path: Path) -> None:
    x, y = data()
    made = model()
    best = tmp_path / "best.keras"
    made.fit(
        x,
        y,
        epochs=6,
        verbose=0,
        validation_data=(x, y),
        callbacks=[
            keras.callbacks.ModelCheckpoint(best, save_best_only=True),
            keras.callbacks.EarlyStopping(patience=2),
            keras.callbacks.ReduceLROnPlateau(patience=1),
            keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.9),
            keras.callbacks.CSVLogger(tmp_path / "log.csv"),
            keras.callbacks.BackupAndRestore(tmp_path / "backup"),
            keras.callbacks.TerminateOnNaN(),
        ],
    )
    assert (tmp_path / "log.csv").read_text().splitlines()[0].startswith("epoch,")
    found = keras.models.load_model(best)
    assert found.evaluate(x, y, verbose=0) >= 0


def test_tensorboard_reads_what_the_callback_writes(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    x, y = data()
    board = keras.callbacks.TensorBoard(tmp_path, histogram_freq=1, update_freq="batch")
    model(metrics=["mae"]).fit(x, y, epochs=3, batch_size=8, verbose=0, callbacks=[board])
    events = EventAccumulator(str(tmp_path / "train")).Reload()
    names = events.Tags()["tensors"]
    assert {"epoch_loss", "epoch_mae", "epoch_learning_rate", "keras"} <= set(names)
    assert len(events.Tensors("epoch_loss")) == 3
    assert any("histogram" in name for name in names)


def test_losses_of_layers_regularizers_and_constraints() -> None:
    x, y = data()

    class Penalty(layers.Layer):
        def call(self, x: Any) -> Any:
            self.add_loss(0.5 * keras.ops.mean(x**2))
            return x

    made = keras.Sequential(
        [
            Penalty(),
            layers.Dense(
                3, kernel_regularizer=keras.regularizers.L2(0.1), kernel_constraint="non_neg"
            ),
            layers.Dense(1),
        ]
    )
    made.compile("sgd", "mse")
    made.fit(x, y, epochs=2, verbose=0)
    kernel = made.layers[1].kernel.numpy()
    assert (kernel >= 0).all()
    error = np.mean((made.predict(x, verbose=0) - y) ** 2)
    expected = error + 0.5 * np.mean(x**2) + 0.1 * np.sum(kernel**2)
    np.testing.assert_allclose(made.evaluate(x, y, batch_size=ROWS, verbose=0), expected, 1e-5)


def test_a_step_of_the_users_own() -> None:
    class Custom(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = layers.Dense(1)
            self.seen = keras.metrics.Mean(name="seen")

        def call(self, x: Any) -> Any:
            return self.dense(x)

        def train_step(self, rows: Any) -> Any:
            x, y = rows
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
            found = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(found, self.trainable_variables, strict=True))
            self.seen.update_state(loss)
            return {"seen": self.seen.result()}

        @property
        def metrics(self) -> list[Any]:
            return [self.seen]

    x, y = data()
    made = Custom()
    made.compile(keras.optimizers.SGD(0.05))
    found = made.fit(x, y, epochs=15, batch_size=8, verbose=0).history["seen"]
    assert found[-1] < found[0]


def test_loops_with_a_tape() -> None:
    x, y = data()
    made = model()
    optimizer = keras.optimizers.SGD(0.05)
    loss_of = keras.losses.MeanSquaredError()

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(y, made(x, training=True))
        found = tape.gradient(loss, made.trainable_weights)
        optimizer.apply(found, made.trainable_weights)
        return loss

    losses = [float(step(x, y)) for _ in range(20)]
    assert losses[-1] < losses[0]
    assert int(optimizer.iterations) == 20


def test_keras_ops_in_functions() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return keras.ops.softmax(keras.ops.matmul(x, keras.ops.transpose(x)), axis=-1)

    x = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
    product = x @ x.T
    e = np.exp(product - product.max(-1, keepdims=True))
    np.testing.assert_allclose(f(x), e / e.sum(-1, keepdims=True), rtol=1e-5)


def test_a_stateful_rnn_remembers() -> None:
    layer = layers.LSTM(3, stateful=True)
    x = np.ones((2, 4, 5), "float32")
    first = layer(x).numpy()
    second = layer(x).numpy()
    assert not np.allclose(first, second)
    layer.reset_state()
    np.testing.assert_allclose(layer(x), first, rtol=1e-5)


def test_masks_reach_the_layers_behind() -> None:
    made = keras.Sequential([layers.Embedding(10, 4, mask_zero=True), layers.GRU(3)])
    short = made(np.array([[5, 6, 0, 0]]))
    np.testing.assert_allclose(short, made(np.array([[5, 6]])), rtol=1e-5, atol=1e-6)


def test_two_models_in_two_threads() -> None:
    x, y = data()
    expected = weights_after(
        lambda m: m.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=0)
    )
    start = [weights_after(lambda m: None) for _ in range(2)]
    models = [model(), model()]
    for made, weights in zip(models, start, strict=True):
        made.set_weights(weights)
    threads = [
        threading.Thread(
            target=lambda m=m: m.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=0)
        )
        for m in models
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for made in models:
        assert_same(made.get_weights(), expected)


def test_an_interrupt_leaves_the_model_usable() -> None:
    x, y = data()

    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 1:
                raise KeyboardInterrupt

    made = model()
    with pytest.raises(KeyboardInterrupt):
        made.fit(x, y, batch_size=8, verbose=0, callbacks=[Stop()])
    assert len(made.fit(x, y, batch_size=8, epochs=2, verbose=0).history["loss"]) == 2
