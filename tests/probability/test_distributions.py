"""TensorFlow Probability, unmodified, on Weft: what it computes is what it does on TensorFlow."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
RECORDED: dict[str, Any] = json.loads((HERE / "recorded" / "distributions.json").read_text())


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """In a process of its own, in which Weft is called tensorflow."""
    file = tmp_path_factory.mktemp("probability") / "found.json"
    subprocess.run([sys.executable, HERE / "distributions.py", "weft", file], check=True)
    return dict(json.loads(file.read_text()))


@pytest.mark.parametrize("name", RECORDED)
def test_distribution(name: str, found: dict[str, Any]) -> None:
    ours, theirs = found[name], RECORDED[name]
    np.testing.assert_allclose(ours["log_prob"], theirs["log_prob"], 1e-4, 1e-5)
    np.testing.assert_allclose(ours["gradient"], theirs["gradient"], 1e-3, 1e-4)
    if name.split(",")[0] not in ("Cauchy", "HalfCauchy"):  # which have no mean
        # Of 3,000 samples each: five times what both may be off.
        tolerance = 5 * 2**0.5 * theirs["deviation"] / 3000**0.5
        assert abs(ours["mean"] - theirs["mean"]) < tolerance


def run(program: str) -> str:
    begin = "import weft\nweft.install_as_tensorflow()\nimport tensorflow as tf\n"
    begin += "import tensorflow_probability as tfp\ntfd, tfb = tfp.distributions, tfp.bijectors\n"
    done = subprocess.run(
        [sys.executable, "-c", begin + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_distribution_with_variables_is_fitted() -> None:
    out = run(
        """
        x = tf.random.stateless_normal([2000], [1, 2], mean=2.0, stddev=0.5)
        scale = tfp.util.TransformedVariable(1.0, tfb.Softplus(), name="scale")
        normal = tfd.Normal(loc=tf.Variable(0.0, name="loc"), scale=scale)
        optimizer = tf.keras.optimizers.Adam(0.1)

        @tf.function
        def loss_and_gradients(distribution, x):
            with tf.GradientTape() as tape:
                tape.watch(distribution.trainable_variables)
                loss = -tf.reduce_mean(distribution.log_prob(x))
            return loss, tape.gradient(loss, distribution.trainable_variables)

        for _ in range(200):
            loss, gradients = loss_and_gradients(normal, x)
            optimizer.apply_gradients(zip(gradients, normal.trainable_variables))
        print(len(normal.trainable_variables), weft.explain(loss_and_gradients).traces[0]["calls"])
        print(round(float(normal.loc), 1), round(float(tf.convert_to_tensor(normal.scale)), 1))
        """
    )
    assert out == "2 200\n2.0 0.5\n"


def test_chains_and_optimizers() -> None:
    out = run(
        """
        target = tfd.MultivariateNormalDiag([1.0, -1.0], [1.0, 2.0]).log_prob
        hmc = tfp.mcmc.HamiltonianMonteCarlo(target, num_leapfrog_steps=3, step_size=0.7)
        nuts = tfp.mcmc.NoUTurnSampler(target, step_size=0.7, max_tree_depth=4)

        @tf.function
        def chain(kernel, steps):
            return tfp.mcmc.sample_chain(
                steps, current_state=tf.zeros([20, 2]), kernel=kernel, num_burnin_steps=50,
                trace_fn=None, seed=3,
            )

        for kernel in (hmc, nuts):
            samples = tf.reshape(chain(kernel, 100), [-1, 2])
            print(abs(tf.reduce_mean(samples, 0).numpy() - [1, -1]).max() < 0.4)

        def value_and_gradient(x):
            return tfp.math.value_and_gradient(lambda x: tf.reduce_sum((x - [1.0, 2.0]) ** 2), x)

        found = tfp.optimizer.lbfgs_minimize(value_and_gradient, tf.zeros(2))
        print(bool(found.converged), found.position.numpy().round(3).tolist())
        """
    )
    assert out == "True\nTrue\nTrue [1.0, 2.0]\n"
