"""Story 9: the regression of story 6 with a model, a loss, an optimizer and a metric of Keras."""

from __future__ import annotations

from typing import Any

from regression import houses
from telling import Story, run_alone
from tqdm import tqdm

import weft as tf

TITLE = "9. The same regression with Keras, as one writes it for TensorFlow"


class Training:
    """A model of Keras with what trains it, in a loop of the user's own."""

    def __init__(self) -> None:
        tf.keras.utils.set_random_seed(3)
        self.model = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(32, activation="relu"),
                tf.keras.layers.Dense(32, activation="relu"),
                tf.keras.layers.Dense(1),
            ]
        )
        self.loss_fn = tf.keras.losses.MeanSquaredError()
        self.optimizer = tf.keras.optimizers.Adam()
        self.metric = tf.metrics.Mean()

    def eager_step(self, x: Any, y: Any) -> None:
        """One house, as in the document this comes from."""
        with tf.GradientTape() as tape:
            logits = self.model(tf.expand_dims(x, axis=0))
            loss = self.loss_fn(y, logits)
        grads = tape.gradient(loss, self.model.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_weights, strict=True))
        self.metric.update_state(loss)

    step = tf.function(eager_step)

    def epoch(self, step: Any, x: Any, y: Any, label: str) -> float:
        """The mean loss of an epoch."""
        self.metric.reset_state()
        for row, price in tqdm(zip(x, y, strict=True), total=len(x), desc=label, leave=False):
            step(row, price)
        return float(self.metric.result())


def tell(story: Story) -> None:
    """Trains house by house, eagerly and as a function, and then with `fit`."""
    x, y = houses()
    story.say(
        "512 made-up houses, 13 features: a Keras model in a loop with a GradientTape, house by "
        "house, first eagerly and then as a function."
    )
    eager, traced = Training(), Training()
    first = eager.epoch(eager.eager_step, x[:64], y[:64], "eager")
    losses = [traced.epoch(traced.step, x, y, "function") for _ in range(5)]
    story.show(
        f"eagerly, 64 houses: {first:.4f}\n"
        f"function, 5 epochs: {', '.join(f'{loss:.4f}' for loss in losses)}"
    )
    story.traces(traced.step)
    story.compare("Keras MLP 13-32-32-1, one house", Training().eager_step, x[0], y[0])
    story.say("And with compile and fit, in batches of 32:")
    model = Training().model
    model.compile("adam", "mse", metrics=["mae"])
    history = model.fit(x, y, batch_size=32, epochs=30, validation_split=0.2, verbose=0).history
    story.show(
        "\n".join(
            f"{name:<9} {values[0]:.4f} -> {values[-1]:.4f}" for name, values in history.items()
        )
    )


if __name__ == "__main__":
    run_alone(tell, TITLE)
