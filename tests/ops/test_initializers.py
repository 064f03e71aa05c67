"""Initialisers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize(
    ("make", "shape", "dtype", "expected"),
    [
        (tf.zeros_initializer(), [2], tf.bool, [False, False]),
        (tf.zeros_initializer(), 3, "int8", [0, 0, 0]),
        (tf.ones_initializer(), (2, 1), np.float64, [[1.0], [1.0]]),
        (tf.constant_initializer(3), [2], tf.float64, [3.0, 3.0]),
        (tf.constant_initializer([1, 2, 3, 4]), [2, 2], tf.int32, [[1, 2], [3, 4]]),
        (tf.constant_initializer("a"), [2], tf.string, [b"a", b"a"]),
        (tf.random_uniform_initializer(0, 10, seed=1), [3], tf.int32, [9, 4, 0]),
    ],
)
def test_values(make: Any, shape: Any, dtype: Any, expected: Any) -> None:
    out = make(shape, dtype)
    assert out.dtype == dtype
    assert out.numpy().tolist() == expected


def test_default_dtypes() -> None:
    assert tf.zeros_initializer()([1]).dtype is tf.float32
    assert tf.constant_initializer(3)([1]).dtype is tf.int32
    assert tf.constant_initializer(np.eye(2))([2, 2]).dtype is tf.float64


def test_a_seed_gives_the_same_numbers_at_every_call() -> None:
    normal = tf.random_normal_initializer(seed=1)
    recorded = np.float32([0.006332515, -0.02465083, 0.03155954])
    for _ in range(2):
        assert np.allclose(normal([3]), recorded, rtol=5e-7)
    assert tf.random_uniform_initializer(seed=5)([2]).numpy().tolist() == [
        -0.04381467029452324,
        0.03316691145300865,
    ]


def test_without_a_seed_the_global_one_counts() -> None:
    tf.random.set_seed(7)
    a = tf.random_normal_initializer()([3])
    tf.random.set_seed(7)
    assert np.array_equal(a, tf.random.normal([3], stddev=0.05))
    tf.random.set_seed(None)


def test_configurations() -> None:
    for make in (
        tf.zeros_initializer(),
        tf.constant_initializer(3),
        tf.random_normal_initializer(1.0, 2.0, 3),
        tf.random_uniform_initializer(1.0, 2.0, 3),
    ):
        twin = type(make).from_config(make.get_config())
        assert twin.get_config() == make.get_config()
        assert np.array_equal(twin([2]), make([2]))


def test_partitions() -> None:
    assert tf.zeros_initializer()([4], partition_shape=[1]).shape == [1]
    with pytest.raises(ValueError, match="support_partition=True"):
        tf.constant_initializer(3)([2], partition_shape=[1])
    with pytest.raises(TypeError, match="got 'layout'"):
        tf.ones_initializer()([2], layout=None)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: tf.zeros_initializer()([2], tf.string), ValueError, "got string"),
        (lambda: tf.random_normal_initializer()([2], tf.int32), ValueError, "got int32"),
        (lambda: tf.random_uniform_initializer()([2], tf.int32), TypeError, "-0.05"),
        (lambda: tf.constant_initializer({}), TypeError, "got {}"),
        (lambda: tf.constant_initializer([1, 2, 3])([2]), TypeError, "3 elements"),
    ],
)
def test_errors(call: Any, error: type[BaseException], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
