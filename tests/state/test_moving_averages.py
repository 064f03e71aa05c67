"""`tf.train.ExponentialMovingAverage`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft as tf


def test_averages() -> None:
    v = tf.Variable(1.0, name="v")
    ema = tf.train.ExponentialMovingAverage(0.9)
    assert ema.average(v) is None
    assert ema.average_name(v) == "v/ExponentialMovingAverage"
    ema.apply([v])
    v.assign(2.0)
    ema.apply([v])
    np.testing.assert_allclose(ema.average(v), 1.1, rtol=1e-6)
    assert list(ema.variables_to_restore([v])) == [ema.average_name(v)]
    assert list(ema.variables_to_restore().values()) == [v]


def test_a_number_of_updates_limits_the_decay() -> None:
    v = tf.Variable(2.0)
    ema = tf.train.ExponentialMovingAverage(0.9, num_updates=3, zero_debias=True)
    ema.apply([v])
    v.assign(3.0)
    ema.apply([v])
    np.testing.assert_allclose(ema.average(v), 2.6923077, rtol=1e-6)


def test_functions() -> None:
    v = tf.Variable([1.0, 3.0])
    ema = tf.train.ExponentialMovingAverage(0.5)

    @tf.function
    def step() -> None:
        v.assign_add([2.0, 2.0])
        ema.apply([v])

    for _ in range(3):
        step()
    # It begins with the value before the first call, as variables of functions do.
    expected = np.array([1.0, 3.0])
    for i in range(1, 4):
        expected += 0.5 * (np.array([1.0, 3.0]) + 2 * i - expected)
    np.testing.assert_allclose(ema.average(v), expected)


def test_checkpoints(tmp_path: Path) -> None:
    v = tf.Variable(1.0)
    ema = tf.train.ExponentialMovingAverage(0.9)
    ema.apply([v])
    path = tf.train.Checkpoint(ema=ema).save(str(tmp_path / "c"))
    ema.average(v).assign(7.0)
    tf.train.Checkpoint(ema=ema).restore(path).assert_existing_objects_matched()
    assert ema.average(v).numpy() == 1.0


def test_refusals() -> None:
    ema = tf.train.ExponentialMovingAverage(0.9)
    ema.apply()
    with pytest.raises(TypeError, match="must hold variables"):
        ema.apply([tf.constant(1.0)])
    with pytest.raises(TypeError, match="expected float16"):
        ema.apply([tf.Variable(1)])
