"""Distributions of TensorFlow Probability, and where they are looked at.

A program of its own: `python distributions.py weft|tensorflow FILE` writes log_prob, its gradient
and the mean of samples of each, eagerly and in a function. `checks/record_probability.py` has
TensorFlow write what is recorded.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any


def distributions(tfp: Any) -> dict[str, tuple[Callable[[], Any], Any]]:
    """How each is made, and a value of it."""
    d, b = tfp.distributions, tfp.bijectors
    matrix = [[1.0, 0.0], [0.5, 2.0]]
    kernel = tfp.math.psd_kernels.ExponentiatedQuadratic
    return {
        "Normal": (lambda: d.Normal([0.0, 1.0], [1.0, 2.0]), [0.5, 1.5]),
        "LogNormal": (lambda: d.LogNormal(0.0, 1.0), 1.3),
        "StudentT": (lambda: d.StudentT(5.0, 0.0, 1.0), 0.7),
        "Cauchy": (lambda: d.Cauchy(0.0, 1.0), 0.7),
        "Laplace": (lambda: d.Laplace(0.0, 1.0), 0.7),
        "Logistic": (lambda: d.Logistic(0.0, 1.0), 0.7),
        "Gumbel": (lambda: d.Gumbel(0.0, 1.0), 0.7),
        "Exponential": (lambda: d.Exponential(1.5), 0.7),
        "Gamma": (lambda: d.Gamma(2.0, 1.5), 0.7),
        "InverseGamma": (lambda: d.InverseGamma(4.0, 1.5), 0.7),
        "Beta": (lambda: d.Beta(2.0, 1.5), 0.7),
        "Kumaraswamy": (lambda: d.Kumaraswamy(2.0, 1.5), 0.7),
        "Dirichlet": (lambda: d.Dirichlet([1.0, 2.0, 3.0]), [0.2, 0.3, 0.5]),
        "Bernoulli": (lambda: d.Bernoulli(logits=[0.3, -1.0]), [1.0, 0.0]),
        "Binomial": (lambda: d.Binomial(5.0, probs=0.3), 2.0),
        "Categorical": (lambda: d.Categorical(logits=[0.1, 0.2, 0.7]), 1),
        "OneHotCategorical": (lambda: d.OneHotCategorical([0.1, 0.2, 0.7]), [0.0, 1.0, 0.0]),
        "Multinomial": (lambda: d.Multinomial(5.0, probs=[0.2, 0.3, 0.5]), [1.0, 2.0, 2.0]),
        "Poisson": (lambda: d.Poisson(2.0), 3.0),
        "NegativeBinomial": (lambda: d.NegativeBinomial(5.0, probs=0.3), 2.0),
        "Geometric": (lambda: d.Geometric(probs=0.3), 2.0),
        "Uniform": (lambda: d.Uniform(0.0, 2.0), 0.7),
        "HalfNormal": (lambda: d.HalfNormal(1.0), 0.7),
        "HalfCauchy": (lambda: d.HalfCauchy(0.0, 1.0), 0.7),
        "Weibull": (lambda: d.Weibull(2.0, 1.5), 0.7),
        "Pareto": (lambda: d.Pareto(4.0, 0.5), 0.7),
        "VonMises": (lambda: d.VonMises(0.0, 1.5), 0.7),
        "Chi2": (lambda: d.Chi2(3.0), 0.7),
        "Chi": (lambda: d.Chi(3.0), 0.7),
        "Triangular": (lambda: d.Triangular(0.0, 2.0, 1.0), 0.7),
        "TruncatedNormal": (lambda: d.TruncatedNormal(0.0, 1.0, -1.0, 2.0), 0.7),
        "InverseGaussian": (lambda: d.InverseGaussian(2.0, 1.5), 0.7),
        "MultivariateNormalDiag": (
            lambda: d.MultivariateNormalDiag([0.0, 1.0], [1.0, 2.0]),
            [0.5, 1.5],
        ),
        "MultivariateNormalTriL": (
            lambda: d.MultivariateNormalTriL([0.0, 1.0], matrix),
            [0.5, 1.5],
        ),
        "MultivariateNormalFullCovariance": (
            lambda: d.MultivariateNormalFullCovariance([0.0, 1.0], [[1.0, 0.2], [0.2, 2.0]]),
            [0.5, 1.5],
        ),
        "MultivariateNormalDiagPlusLowRank": (
            lambda: d.MultivariateNormalDiagPlusLowRank([0.0, 1.0], [1.0, 2.0], [[1.0], [0.5]]),
            [0.5, 1.5],
        ),
        "WishartTriL": (lambda: d.WishartTriL(3.0, matrix), [[2.0, 0.3], [0.3, 1.0]]),
        "LKJ": (lambda: d.LKJ(2, 1.5), [[1.0, 0.3], [0.3, 1.0]]),
        "MixtureSameFamily": (
            lambda: d.MixtureSameFamily(
                d.Categorical(probs=[0.3, 0.7]), d.Normal([-1.0, 1.0], [0.5, 0.5])
            ),
            0.4,
        ),
        "Independent": (lambda: d.Independent(d.Normal([0.0, 1.0], 1.0), 1), [0.5, 1.5]),
        "TransformedDistribution": (
            lambda: d.TransformedDistribution(d.Normal(0.0, 1.0), b.Softplus()),
            0.7,
        ),
        "Moyal": (lambda: d.Moyal(0.0, 1.0), 0.7),
        "SinhArcsinh": (lambda: d.SinhArcsinh(0.0, 1.0, 0.2, 1.1), 0.7),
        "Zipf": (lambda: d.Zipf(4.5), 3.0),
        "RelaxedBernoulli": (lambda: d.RelaxedBernoulli(0.5, logits=0.3), 0.4),
        "ExpGamma": (lambda: d.ExpGamma(2.0, 1.5), 0.3),
        "GaussianProcess": (
            lambda: d.GaussianProcess(
                kernel(), [[0.0], [0.3], [0.7], [1.0]], observation_noise_variance=0.1
            ),
            [0.1, 0.2, 0.3, 0.4],
        ),
        "HiddenMarkovModel": (
            lambda: d.HiddenMarkovModel(
                d.Categorical(probs=[0.8, 0.2]),
                d.Categorical(probs=[[0.7, 0.3], [0.2, 0.8]]),
                d.Normal([0.0, 15.0], [5.0, 10.0]),
                3,
            ),
            [1.0, 2.0, 14.0],
        ),
    }


def looked_at(tf: Any, distribution: Any, x: Any, traced: bool) -> dict[str, Any]:
    """log_prob, its gradient by the value, and the mean of samples."""

    def both(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(distribution.log_prob(x))
        gradient = tape.gradient(y, x) if x.dtype.is_floating else None
        return y, tf.zeros_like(y) if gradient is None else gradient

    y, gradient = (tf.function(both) if traced else both)(tf.constant(x))
    samples = tf.cast(distribution.sample(3000, seed=1), tf.float64)
    return {
        "log_prob": y.numpy().tolist(),
        "gradient": gradient.numpy().tolist(),
        "mean": float(tf.reduce_mean(samples)),
        "deviation": float(tf.math.reduce_std(samples)),
    }


def main() -> None:
    """Writes what was looked at."""
    library, file = sys.argv[1:]
    if library == "weft":
        import weft

        weft.install_as_tensorflow()
    import tensorflow as tf
    import tensorflow_probability as tfp

    found = {
        f"{name}, {'traced' if traced else 'eagerly'}": looked_at(tf, make(), x, traced)
        for name, (make, x) in distributions(tfp).items()
        for traced in (False, True)
    }
    with open(file, "w", encoding="utf-8") as out:
        json.dump(found, out, indent=1)


if __name__ == "__main__":
    main()
