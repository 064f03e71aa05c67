"""Shapes that turn out not to fit: machine code is not made for them, and NumPy tells why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

MISFITS: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda x: tf.reshape(x, [6]) * 2.0,
    "ensure_shape": lambda x: tf.ensure_shape(x, [6]) * 2.0,
    "broadcast_to": lambda x: tf.broadcast_to(x, [6]) * 2.0,
    "add": lambda x: (x + tf.ones([6])) * 2.0,
    "where": lambda x: tf.where(x > 0.0, tf.ones([6]), tf.zeros([6])) * 2.0,
    "matvec": lambda x: tf.linalg.matvec(tf.ones([2, 6]), x) * 2.0,
    "concat": lambda x: tf.reduce_sum(tf.concat([x[None], tf.ones([1, 6])], 0)),
    "stack": lambda x: tf.stack([x, tf.ones([6])]) * 2.0,
    "bias_add": lambda x: tf.nn.bias_add(tf.ones([2, 6]), x) * 2.0,
    "slice": lambda x: tf.slice(x, [0], [6]) * 2.0,
    "index": lambda x: x[5] * 2.0,
    "split": lambda x: tf.add_n(tf.split(x, [3, 3])) * 2.0,
    "unstack": lambda x: tf.unstack(x, 6)[5] * 2.0,
    "scatter": lambda x: tf.tensor_scatter_nd_update(
        tf.ones([6]), [[0], [1], [2], [3], [4], [5]], x
    ),
    "in a loop": lambda x: tf.while_loop(
        lambda i, y: i < 2, lambda i, y: (i + 1, y + tf.reshape(x, [6])), (0, tf.zeros([6]))
    )[1],
}


@pytest.mark.parametrize("jit", [True, None], ids=["jit", "native"])
@pytest.mark.parametrize("name", MISFITS)
def test_misfits_are_errors(
    name: str, jit: bool | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tf.config, "execution", "native")
    function = tf.function(MISFITS[name], input_signature=[tf.TensorSpec([None])], jit_compile=jit)
    for _ in range(2):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=r"5"):
            function(tf.ones([5]))
    good = tf.constant(np.arange(6, dtype=np.float32))
    np.testing.assert_allclose(function(good), MISFITS[name](good), rtol=1e-6)
    assert tf.explain(function).traces[0]["tier"] == "native"  # the errors have done no harm
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=r"5"):
        function(tf.ones([5]))
    assert not caplog.records


def test_updates_of_a_variable_of_unknown_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "native")
    v = tf.Variable(np.zeros((3, 2), np.float32), shape=tf.TensorShape(None))

    @tf.function
    def add(updates: Any) -> None:
        v.scatter_add(tf.IndexedSlices(updates, tf.constant([0, 2])))

    for wrong in ([1.0, 2.0], [[1.0, 2.0, 3.0]] * 2):
        with pytest.raises(ValueError, match="updates must be a scalar or have shape"):
            add(tf.constant(wrong))
    assert not v.numpy().any()


def test_a_branch_that_would_not_fit_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "native")

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def function(x: Any) -> Any:
        if tf.size(x) == 6:
            return tf.reduce_sum(tf.reshape(x, [2, 3]) * 2.0)
        return tf.reduce_sum(x)

    for _ in range(6):
        assert float(function(tf.ones([5]))) == 5
        assert float(function(tf.ones([6]))) == 12


def test_shapes_that_do_not_fit_are_errors_in_verification(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "verify")
    function = tf.function(MISFITS["reshape"], input_signature=[tf.TensorSpec([None])])
    with pytest.raises(ValueError, match="cannot take shape"):
        function(tf.ones([5]))
