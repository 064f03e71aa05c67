"""Story 6: a regression on 13 features with a small network, Adam and a metric, all `tf.Module`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from telling import Story, run_alone

import weft as tf

try:
    from tqdm import tqdm
except ImportError:  # an extra: without it there is no progress bar

    def tqdm(iterable: Iterable[Any], **_: Any) -> Iterable[Any]:
        """The iterable as it is."""
        return iterable


TITLE = "6. A regression on 13 features, with modules of our own"
FEATURES = 13


class Dense(tf.Module):
    """A layer: x W + b, and an activation."""

    def __init__(self, inputs: int, outputs: int, activation: Any = None, name: Any = None) -> None:
        super().__init__(name=name)
        limit = (6.0 / (inputs + outputs)) ** 0.5
        start = tf.random.uniform([inputs, outputs], -limit, limit, seed=inputs)
        self.w = tf.Variable(start, name="w")
        self.b = tf.Variable(tf.zeros([outputs]), name="b")
        self.activation = activation or tf.identity

    @tf.Module.with_name_scope
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return self.activation(tf.matmul(x, self.w) + self.b)


class Network(tf.Module):
    """Two hidden layers."""

    def __init__(self, name: str = "network") -> None:
        super().__init__(name=name)
        with self.name_scope:
            self.layers = [
                Dense(FEATURES, 32, tf.nn.relu, name="first"),
                Dense(32, 32, tf.nn.relu, name="second"),
                Dense(32, 1, name="out"),
            ]

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x[:, 0]


class Adam(tf.Module):
    """The optimizer of Kingma and Ba: steps scaled by running means of gradients and squares."""

    def __init__(self, variables: Any, rate: float = 3e-3) -> None:
        super().__init__(name="adam")
        self.rate, self.beta1, self.beta2 = rate, 0.9, 0.999
        self.steps = tf.Variable(0.0, trainable=False, name="steps")
        self.means = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]
        self.squares = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]
        self.variables_to_train = list(variables)

    @tf.Module.with_name_scope
    def apply(self, gradients: Any) -> None:
        """Moves the variables."""
        t = self.steps.assign_add(1.0)
        rate = self.rate * tf.sqrt(1 - self.beta2**t) / (1 - self.beta1**t)
        slots = zip(self.variables_to_train, gradients, self.means, self.squares, strict=True)
        for variable, gradient, mean, square in slots:
            mean.assign(self.beta1 * mean + (1 - self.beta1) * gradient)
            square.assign(self.beta2 * square + (1 - self.beta2) * gradient * gradient)
            variable.assign_sub(rate * mean / (tf.sqrt(square) + 1e-7))


class Mean(tf.Module):
    """A metric: the mean of what it was told since the last reset."""

    def __init__(self) -> None:
        super().__init__(name="mean")
        self.total = tf.Variable(0.0, trainable=False)
        self.count = tf.Variable(0.0, trainable=False)

    def update(self, value: tf.Tensor) -> None:
        """Takes one more value into account."""
        self.total.assign_add(value)
        self.count.assign_add(1.0)

    def result_and_reset(self) -> float:
        """The mean so far; begins anew."""
        mean = float(self.total / self.count)
        self.total.assign(0.0)
        self.count.assign(0.0)
        return mean


class Training:
    """A network, its optimizer and its metric."""

    def __init__(self) -> None:
        tf.random.set_seed(3)
        self.network = Network()
        self.adam = Adam(self.network.trainable_variables)
        self.loss = Mean()

    def eager_step(self, x: tf.Tensor, y: tf.Tensor) -> None:
        """One batch."""
        with tf.GradientTape() as tape, tf.name_scope("loss"):
            loss = tf.reduce_mean(tf.square(self.network(x) - y))
        self.adam.apply(tape.gradient(loss, self.network.trainable_variables))
        self.loss.update(loss)

    step = tf.function(eager_step)

    def run(self, step: Callable[..., None], data: Any, epochs: int, label: str) -> list[float]:
        """The mean loss of each epoch."""
        losses = []
        for _ in tqdm(range(epochs), desc=label, leave=False):
            for x, y in data:
                step(x, y)
            losses.append(self.loss.result_and_reset())
        return losses


def houses(count: int = 512) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Made-up houses: 13 features, and a price that depends on them in a crooked way."""
    rng = np.random.default_rng(13)
    x = rng.normal(size=(count, FEATURES)).astype(np.float32)
    price = 2.0 + x[:, 0] - 0.5 * x[:, 5] + np.maximum(x[:, 7], 0) * x[:, 12] + np.sin(2 * x[:, 2])
    return x, (price + 0.1 * rng.normal(size=count)).astype(np.float32)


def tell(story: Story) -> None:
    """Trains twice, eagerly and as a function, and compares."""
    x, y = houses()
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512, seed=1).batch(32).cache()
    story.say(
        "512 made-up houses with 13 features; a network 13-32-32-1, Adam and a mean written as "
        "tf.Module. The same step runs eagerly and as a function."
    )
    eager, traced = Training(), Training()
    losses = {
        "eager": eager.run(eager.eager_step, data, 3, "eager"),
        "function": traced.run(traced.step, data, 40, "function"),
    }
    story.show(
        "\n".join(
            f"{name:<9} mean loss of the epochs 1-3: {', '.join(f'{v:.4f}' for v in values[:3])}"
            for name, values in losses.items()
        )
        + f"\nfunction  after 40 epochs: {losses['function'][-1]:.4f}"
    )
    batch, prices = tf.constant(x[:32]), tf.constant(y[:32])
    story.graph(tf.function(traced.network).get_concrete_function(batch), "the network")
    story.traces(traced.step)
    story.compare("MLP 13-32-32-1, batch of 32", Training().eager_step, batch, prices)
    story.compare("MLP 13-32-32-1, one sample", Training().eager_step, batch[:1], prices[:1])


if __name__ == "__main__":
    run_alone(tell, TITLE)
