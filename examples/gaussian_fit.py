"""Story 1: a timing decorator, and a Gaussian fitted eagerly and as a function."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from telling import Story, run_alone

import weft as tf

TITLE = "1. A Gaussian, fitted eagerly and as a function"


def timed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Prints how long each call takes."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        result = function(*args, **kwargs)
        kind = "function" if hasattr(function, "get_concrete_function") else "eager"
        print(f"{function.__name__} ({kind}) took {1e3 * (time.perf_counter() - start):.2f} ms")
        return result

    return wrapper


class Normal(tf.Module):
    """A normal distribution whose location and scale can be trained."""

    def __init__(self, loc: float, scale: float, name: str | None = None) -> None:
        super().__init__(name=name)
        self.loc = tf.Variable(loc, name="loc")
        self.log_scale = tf.Variable(math.log(scale), name="log_scale")

    @property
    def scale(self) -> tf.Tensor:
        """The standard deviation, which is positive whatever the variable holds."""
        return tf.exp(self.log_scale)

    @tf.Module.with_name_scope
    def log_prob(self, x: tf.Tensor) -> tf.Tensor:
        """The logarithm of the density."""
        z = (x - self.loc) * tf.exp(-self.log_scale)
        return -0.5 * tf.square(z) - self.log_scale - 0.5 * math.log(2 * math.pi)

    def sample(self, shape: Any, seed: int | None = None) -> tf.Tensor:
        """Random numbers of this distribution."""
        return self.loc + self.scale * tf.random.normal(shape, seed=seed)


class Fit:
    """Maximum likelihood by gradient descent."""

    def __init__(self, distribution: Normal, rate: float = 0.1) -> None:
        self.distribution = distribution
        self.rate = rate

    def eager_step(self, x: tf.Tensor) -> tf.Tensor:
        """One step downhill; gives the mean negative log likelihood before it."""
        variables = self.distribution.trainable_variables
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self.distribution.log_prob(x))
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(self.rate * gradient)
        return loss

    step = tf.function(eager_step)


def tell(story: Story) -> None:
    """Fits 10,000 points drawn from a normal distribution."""
    tf.random.set_seed(7)
    truth = Normal(2.0, 1.5, name="truth")
    x = truth.sample([10_000], seed=1)
    story.say(
        "Ten thousand samples of a normal distribution with location 2 and scale 1.5. A second "
        "distribution starts at 0 and 1; its variables follow the gradient of the likelihood."
    )
    model = Normal(0.0, 1.0, name="model")
    fit = Fit(model)
    story.show("\n".join(f"{v.name} = {float(v):.3f}" for v in model.trainable_variables))
    eager_step, function_step = timed(fit.eager_step), timed(fit.step)
    with story.listening("the same step, timed by a decorator; the second line includes tracing"):
        eager_step(x)
        function_step(x)
        function_step(x)
    for _ in range(150):
        loss = fit.step(x)
    story.show(
        f"after 150 more steps: loss {float(loss):.4f}, location {float(model.loc):.3f}, scale "
        f"{float(model.scale):.3f}; the samples have {np.mean(x):.3f} and {np.std(x):.3f}"
    )
    story.graph(fit.step.get_concrete_function(x), "one step of the fit")
    story.compare("Gaussian fit, 10,000 points", Fit(Normal(0.0, 1.0)).eager_step, x)
    story.compare("Gaussian fit, 100 points", Fit(Normal(0.0, 1.0)).eager_step, x[:100])


if __name__ == "__main__":
    run_alone(tell, TITLE)
