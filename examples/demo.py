"""The main job in miniature: a program run eagerly, then as `tf.function`, seen from all sides.

Run with `make demo`, or `python examples/demo.py`.
"""

from __future__ import annotations

import logging
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import weft as tf


def negative_log_likelihood(x: tf.Tensor, mean: Any, log_scale: Any) -> tf.Tensor:
    """Of a Gaussian, up to a constant."""
    z = (x - mean) * tf.exp(-log_scale)
    return tf.reduce_mean(0.5 * tf.square(z)) + log_scale


class Fit:
    """A Gaussian fitted by gradient descent."""

    def __init__(self) -> None:
        self.mean = tf.Variable(0.0, name="mean")
        self.log_scale = tf.Variable(0.0, name="log_scale")

    def eager_step(self, x: tf.Tensor) -> tf.Tensor:
        """One step of gradient descent, as plain Python."""
        variables = [self.mean, self.log_scale]
        with tf.GradientTape() as tape:
            loss = negative_log_likelihood(x, self.mean, self.log_scale)
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.1 * gradient)
        return loss

    step = tf.function(eager_step)


@tf.function
def collatz_length(n: tf.Tensor) -> tf.Tensor:
    """Python control flow on tensors: how many steps until 1 (at most 1000)."""
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
        if steps >= 1000:
            return -1
    return steps


def title(text: str) -> None:
    """A heading."""
    print(f"\n\033[1m{text}\033[0m\n{'-' * len(text)}")


def microseconds(fn: Callable[[], Any]) -> float:
    """The best of a few rounds."""
    return min(timeit.repeat(fn, number=200, repeat=5)) / 200 * 1e6


def main() -> None:
    """Tells the story from top to bottom."""
    logging.basicConfig(format="%(levelname)s: %(message)s")
    rng = np.random.default_rng(7)
    data = tf.constant(rng.normal(2.0, 1.5, size=10_000).astype(np.float32))
    fit = Fit()

    title("1. Eagerly: every line runs at once")
    print(f"loss {fit.eager_step(data):.4f} after the first step: mean {float(fit.mean):.3f}")

    title("2. As tf.function: the same Python, traced once into a graph")
    for i in range(101):
        loss = fit.step(data)
        if i % 25 == 0:
            scale = float(tf.exp(fit.log_scale))
            print(f"step {i:3}  loss {loss:.4f}  mean {float(fit.mean):.3f}  scale {scale:.3f}")
    concrete = fit.step.get_concrete_function(data)
    print(f"\n{concrete}\n\n{concrete.graph}")

    title("3. The graph as generated NumPy code")
    print(concrete.graph.plan.source)

    title("4. What it costs")
    eager = microseconds(lambda: fit.eager_step(data))
    traced = microseconds(lambda: fit.step(data))
    print(f"eager step {eager:8.1f} us\ngraph step {traced:8.1f} us   {eager / traced:.1f}x faster")

    title("5. Control flow becomes part of the graph")
    print("Collatz lengths:", [int(collatz_length(tf.constant(n))) for n in (1, 6, 27, 97)])
    print(f"traced {collatz_length.experimental_get_tracing_count()} time for all of them")

    title("6. Every trace is explained")
    for n in range(5):
        fit.step(data[: 100 * (n + 1)])
    print()
    print(tf.explain(fit.step))

    title("7. When something is wrong, the message speaks of your line")
    for wrong in (bad_shapes, bad_at_run_time):
        try:
            wrong(tf.constant([1.0, 2.0]))
        except ValueError as error:
            print(f"{type(error).__name__}: {error}\n")


@tf.function
def bad_shapes(x: tf.Tensor) -> tf.Tensor:
    """Wrong for every tensor of its shape: found while tracing."""
    return x + tf.zeros([3])


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def bad_at_run_time(x: tf.Tensor) -> tf.Tensor:
    """Wrong for this length only: found when it runs."""
    return tf.reshape(x, [-1, 4]) * 2.0


if __name__ == "__main__":
    main()
