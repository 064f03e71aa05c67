"""The main job in miniature: a program run eagerly, then as a graph, with its gradient.

Run with `make demo`, or `python examples/demo.py`.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import weft as tf
from weft.execution.numpy.plan import NumpyPlan
from weft.graph.passes import optimize
from weft.graph.tracing import trace


def negative_log_likelihood(x: tf.Tensor, mean: Any, log_scale: Any) -> tf.Tensor:
    """Of a Gaussian, up to a constant."""
    z = (x - mean) * tf.exp(-log_scale)
    return tf.reduce_mean(0.5 * tf.square(z)) + log_scale


def loss_and_gradient(x: tf.Tensor, mean: tf.Variable, log_scale: tf.Variable) -> Any:
    """What a training step computes."""
    with tf.GradientTape() as tape:
        loss = negative_log_likelihood(x, mean, log_scale)
    return loss, tape.gradient(loss, [mean, log_scale])


def title(text: str) -> None:
    """A heading."""
    print(f"\n\033[1m{text}\033[0m\n{'-' * len(text)}")


def microseconds(fn: Callable[[], Any]) -> float:
    """The best of a few rounds."""
    return min(timeit.repeat(fn, number=200, repeat=5)) / 200 * 1e6


def main() -> None:
    """Tells the story from top to bottom."""
    rng = np.random.default_rng(7)
    data = tf.constant(rng.normal(2.0, 1.5, size=10_000).astype(np.float32))
    mean, log_scale = tf.Variable(0.0, name="mean"), tf.Variable(0.0, name="log_scale")

    title("1. Eagerly: every line runs at once")
    loss, (g_mean, g_scale) = loss_and_gradient(data, mean, log_scale)
    print(f"loss      {loss:.4f}\ngradients {g_mean:.4f} and {g_scale:.4f}")

    title("2. The same Python, traced once into a graph")

    def step(x: tf.Tensor) -> Any:
        loss, gradients = loss_and_gradient(x, mean, log_scale)
        for variable, gradient in zip((mean, log_scale), gradients, strict=True):
            variable.assign_sub(0.1 * gradient)
        return loss

    graph = trace(step, [tf.TensorSpec([None], tf.float32)])
    better = optimize(graph)
    print(better)
    print(f"\n{len(graph.nodes)} nodes traced, {len(better.nodes)} after the passes")

    title("3. The graph as generated NumPy code (one plan for every length of x)")
    plan = NumpyPlan(better)
    print(plan.source)

    title("4. Running it: gradient descent on the graph")
    captured = [tensor._value for tensor, _ in better.captures]
    for i in range(101):
        (loss_value,) = plan(data.numpy(), *captured)
        if i % 25 == 0:
            scale = float(tf.exp(log_scale))
            print(f"step {i:3}  loss {loss_value:.4f}  mean {float(mean):.3f}  scale {scale:.3f}")

    title("5. What it costs")
    array = data.numpy()
    eager = microseconds(lambda: step(data))
    compiled = microseconds(lambda: plan(array, *captured))
    print(f"eager step {eager:8.1f} us\ngraph step {compiled:8.1f} us   {eager / compiled:.1f}x faster")

    title("6. When something is wrong, the message speaks of your line")
    for wrong in (lambda: trace(lambda x: x + tf.zeros([3]), [tf.TensorSpec([2])]), no_rows):
        try:
            wrong()
        except ValueError as error:
            print(f"{type(error).__name__}: {error}\n")


def no_rows() -> None:
    """Fails while the graph runs: only then the sizes are known."""
    plan = NumpyPlan(trace(lambda x: tf.reshape(x, [-1, 4]) * 2.0, [tf.TensorSpec([None])]))
    plan(np.ones(6, np.float32))


if __name__ == "__main__":
    main()
