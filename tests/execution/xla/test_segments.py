"""What XLA has no form of runs on NumPy, between programs, in the order of the function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.xla_programs import check_program, plan_of
from weft.errors import UnimplementedError

RNG = np.random.default_rng(2)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def test_shapes_that_depend_on_data() -> None:
    def body(x: tf.Tensor) -> tf.Tensor:
        y = tf.exp(x) * 2.0
        kept = tf.boolean_mask(y, y > 2.0)
        return tf.reduce_sum(kept) + tf.reduce_mean(y)

    plan = check_program(body, normal(5, 4), segments=True)
    assert plan.versions[0].segments >= 1


def test_strings() -> None:
    def body(x: tf.Tensor) -> tf.Tensor:
        names = tf.strings.as_string(tf.cast(100.0 * tf.exp(x), tf.int32))
        return x * tf.cast(tf.strings.length(names), tf.float32) + tf.tanh(x)

    check_program(body, normal(5), segments=True)


def test_the_order_of_effects(capfd: pytest.CaptureFixture[str]) -> None:
    v = tf.Variable(1.0)
    seen: list[float] = []

    @tf.function
    def body(x: tf.Tensor) -> tf.Tensor:
        v.assign_add(x)
        tf.print("v is", v.read_value())
        tf.py_function(lambda: seen.append(float(v.numpy())), [], [])
        v.assign(v * 10.0)
        return v + tf.exp(x)

    body(tf.constant(2.0))
    body(tf.constant(0.0))
    assert seen == [3.0, 30.0]
    assert capfd.readouterr().err.split() == ["v", "is", "3", "v", "is", "30"]
    assert v.numpy() == 300.0


def test_a_loop_with_something_for_the_host() -> None:
    seen: list[int] = []

    @tf.function
    def body(x: tf.Tensor) -> tf.Tensor:
        for i in tf.range(3):
            x = tf.sin(x) * 2.0
            tf.py_function(lambda n: seen.append(int(n)), [i], [])
        return x

    x = np.float32(0.3)
    wanted = x
    for _ in range(3):
        wanted = np.sin(wanted) * 2
    np.testing.assert_allclose(body(tf.constant(x)), wanted, rtol=1e-5)
    assert seen == [0, 1, 2]


def test_other_shapes_get_segments_of_their_own() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def body(x: tf.Tensor) -> tf.Tensor:
        return tf.size(tf.where(tf.exp(x) > 1.0)) + tf.size(x)

    for n in (3, 5, 3):
        assert body(tf.ones([n])).numpy() == 2 * n
    assert len(plan_of(body, tf.ones([3])).versions) == 2


def test_one_program_or_an_error() -> None:
    @tf.function(jit_compile=True)
    def body(x: tf.Tensor) -> tf.Tensor:
        return tf.size(tf.where(x > 1.0))

    with pytest.raises(UnimplementedError, match="cannot be one program of XLA, Where gives a res"):
        body(tf.ones([3]))


def test_datasets_tables_and_generators() -> None:
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], [1.0, 2.0]), 0.0
    )

    def total(keys: Any) -> Any:
        return tf.reduce_sum(table.lookup(keys) * 2.0 + 1.0)

    assert tf.function(total)(tf.constant(["a", "b", "c"])).numpy() == 9.0

    @tf.function
    def over_a_dataset() -> tf.Tensor:
        sum_ = tf.constant(0.0)
        for x in tf.data.Dataset.range(4):
            sum_ += tf.cast(x, tf.float32) ** 2
        return sum_

    assert over_a_dataset().numpy() == 14.0


def test_without_jax_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        UnimplementedError, match=r"needs the package jax.*pip install 'weft\[xla\]'"
    ):
        tf.function(lambda x: x + 1)(tf.constant(1))
