"""Shapes that turn out not to fit: machine code is not made for them, and NumPy tells why."""

from __future__ import annotations

import math
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


@pytest.mark.parametrize("signature", [None, [tf.TensorSpec([None, None])]], ids=["known", "any"])
@pytest.mark.parametrize(
    "size",
    [
        lambda n: n // 2,
        lambda n: n % 5 + 1,
        lambda n: tf.maximum(-n, tf.minimum(n, 3)),
        lambda n: tf.where(n > 2, 3, 4),
        lambda n: tf.cast(tf.cast(n, tf.float32) * 0.5, tf.int32),
        lambda n: tf.size(tf.zeros([tf.where(n > 2, 3, 4) // 2])),
    ],
    ids=["quotient", "rest", "extremes", "choice", "float", "twice"],
)
def test_sizes_that_are_computed(size: Callable[..., Any], signature: Any) -> None:
    """What follows from the sizes of the inputs is known when these are."""
    jitted = tf.function(
        lambda x: tf.ones([size(tf.shape(x)[0])]) * tf.reduce_sum(x),
        jit_compile=True,
        input_signature=signature,
    )
    for shape in ((4, 3), (7, 2)):
        wanted = int(size(tf.constant(shape[0])))
        assert jitted(tf.ones(shape)).numpy().tolist() == [shape[0] * shape[1]] * wanted
    assert tf.explain(jitted).traces[0]["tier"] == "native"


def _in_a_loop(x: Any) -> Any:
    inner, total = tf.shape(x)[1:], tf.zeros_like(x)
    for i in tf.range(3):
        row = tf.reshape(tf.one_hot(i, tf.size(x[0])), inner)
        total += tf.broadcast_to(row, tf.shape(x)) * x
    return total


def _in_a_branch(x: Any) -> Any:
    inner = tf.shape(x)[1:]
    if tf.reduce_sum(x) > 0:
        y = tf.ones(inner) * x
    else:
        y = -tf.reshape(tf.range(tf.cast(tf.size(x[0]), tf.float32)), inner) * x
    return y


def _in_a_loop_in_a_loop(x: Any) -> Any:
    inner = tf.shape(x)[1:]
    for _ in tf.range(2):
        for i in tf.range(3):
            x = x + tf.reshape(tf.one_hot(i, tf.size(x[0])), inner)
    return x


@pytest.mark.parametrize("function", [_in_a_loop, _in_a_branch, _in_a_loop_in_a_loop])
def test_sizes_that_nested_graphs_are_given(function: Callable[..., Any]) -> None:
    jitted = tf.function(
        function, jit_compile=True, input_signature=[tf.TensorSpec([None, None, None])]
    )
    for shape in ((4, 3, 2), (2, 5, 1)):
        for sign in (1, -1):
            x = sign * np.arange(1, 1 + math.prod(shape), dtype=np.float32).reshape(shape)
            np.testing.assert_array_equal(jitted(x), function(tf.constant(x)))
    assert tf.explain(jitted).traces[0]["tier"] == "native"


def test_jacobians_are_compiled_as_a_whole() -> None:
    w = tf.constant(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4))

    @tf.function(jit_compile=True)
    def jacobian(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.tanh(x @ w)
        return tape.batch_jacobian(y, x)

    x = np.linspace(-0.5, 0.5, 6, dtype=np.float32).reshape(2, 3)
    slope = 1 - np.tanh(x @ w) ** 2
    np.testing.assert_allclose(jacobian(x), slope[:, :, None] * w.numpy().T, rtol=1e-6)


def test_what_is_said_of_a_shape_is_not_relied_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "native")

    @tf.function
    def widened(x: tf.Tensor, shape: tf.Tensor) -> tf.Tensor:
        y = tf.reshape(x, shape)
        y.set_shape([2, 4])  # there are six elements
        return y * 2.0

    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot reshape"):
        widened(tf.range(6.0), tf.constant([2, 3]))
