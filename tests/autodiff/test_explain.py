"""explain_gradient: the reason for every None, with the user's line where there is one."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

X = tf.constant([1.0, 2.0])
V = tf.Variable([3.0, 4.0], name="weight")


def stopped(x: tf.Tensor) -> tf.Tensor:
    y = tf.stop_gradient(x * 2.0)  # the line
    return tf.sin(y) * y


def stopped_beside_another(x: tf.Tensor) -> tf.Tensor:
    y = tf.stop_gradient(x * 2.0)  # the line
    return V * tf.exp(y + 1.0)


def compared(x: tf.Tensor) -> tf.Tensor:
    return tf.cast(x > 1.5, tf.float32) * 2.0  # the line


def cast(x: tf.Tensor) -> tf.Tensor:
    return tf.cast(tf.cast(x, tf.int32), tf.float32) * 2.0


def argmax(x: tf.Tensor) -> tf.Tensor:
    i = tf.argmax(x)  # the line
    return tf.gather(V, i)


def assigned(x: tf.Tensor) -> tf.Tensor:
    W.assign(x * 2.0)  # the line
    return W * 3.0


def numpy(x: tf.Tensor) -> tf.Tensor:
    return tf.constant(np.sin((x * 2.0).numpy())) * V  # the line


def python_number(x: tf.Tensor) -> tf.Tensor:
    n = float(tf.reduce_sum(x))  # the line
    return V * n


def other(x: tf.Tensor) -> tf.Tensor:
    return V * 2.0


def constant(x: tf.Tensor) -> tf.Tensor:
    return tf.constant([5.0])


W = tf.Variable([0.0, 0.0])

CASES: list[tuple[Callable[..., tf.Tensor], str]] = [
    (stopped, "stop_gradient"),
    (stopped_beside_another, "stop_gradient"),
    (compared, "not differentiable"),
    (cast, "integer"),
    (argmax, "not differentiable"),
    (assigned, "variable overwritten"),
    (numpy, "numpy"),
    (python_number, "numpy"),
    (other, "not connected"),
    (constant, "not connected"),
]


def marked_line(f: Any) -> int | None:
    start = f.__code__.co_firstlineno
    lines = enumerate(inspect.getsource(f).splitlines(), start)
    return next((n for n, line in lines if line.endswith("# the line")), None)


@pytest.mark.parametrize(("f", "reason"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_reasons(f: Callable[..., tf.Tensor], reason: str) -> None:
    for persistent in (True, False):
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(X)
            y = f(X)
        assert tape.gradient(y, X) is None
        why = tf.explain_gradient(tape, y, X)
        assert why.reason == reason
        assert not why.connected
        line = marked_line(f)
        if line is not None:
            assert why.location is not None
            assert why.location.line == line
            assert "# the line" in repr(why)


@pytest.mark.parametrize(("f", "reason"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_reasons_while_tracing(f: Callable[..., tf.Tensor], reason: str) -> None:
    if reason == "numpy":
        return
    reasons: list[Any] = []

    @tf.function
    def traced(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert tape.gradient(y, x) is None
        reasons.append(tf.explain_gradient(tape, y, x))
        return y

    traced(X)
    assert reasons[0].reason == reason
    if reason != "not connected":
        assert reasons[0].location is not None


@pytest.mark.parametrize(("f", "reason"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_reasons_inside_of_a_function(f: Callable[..., tf.Tensor], reason: str) -> None:
    if reason == "numpy":
        return
    traced = tf.function(lambda x: f(x))
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = traced(X)
    assert tape.gradient(y, X) is None
    why = tf.explain_gradient(tape, y, X)
    if reason == "not connected":
        assert not why.connected
        return
    assert why.reason == reason
    line = marked_line(f)
    if line is not None:
        assert why.location is not None
        assert why.location.line == line


def test_not_watched() -> None:
    frozen = tf.Variable(1.0, trainable=False)
    with tf.GradientTape(persistent=True) as tape:
        y = X * frozen
    assert tf.explain_gradient(tape, y, X).reason == "not watched"
    assert "tape.watch" in repr(tf.explain_gradient(tape, y, X))
    assert "not trainable" in repr(tf.explain_gradient(tape, y, frozen))
    assert "'weight:0'" in repr(tf.explain_gradient(tape, y, V))
    assert "not read" in repr(tf.explain_gradient(tape, y, V))
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        y = X * V
    assert "watch_accessed_variables" in repr(tf.explain_gradient(tape, y, V))


def test_values_of_variables_that_left() -> None:
    with tf.GradientTape() as tape:
        y = X * V.numpy()  # the line
    assert tape.gradient(y, V) is None
    why = tf.explain_gradient(tape, y, V)
    assert why.reason == "numpy"
    assert "# the line" in repr(why)


def test_integer_targets() -> None:
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = tf.cast(X * 2.0, tf.int32)
    assert tf.explain_gradient(tape, y, X).reason == "integer"


def test_connected_and_used_up() -> None:
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = X * 2.0
    assert tf.explain_gradient(tape, y, X).connected
    tape.gradient(y, X)
    why = tf.explain_gradient(tape, y, X)
    assert why.reason == "used up"
    assert "persistent=True" in repr(why)


def test_breaks_hold_no_values() -> None:
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = tf.stop_gradient(X * 2.0)
        z = tf.sin(y)
        gone = weakref.ref(y), weakref.ref(z)
        del y, z
        assert gone[0]() is gone[1]() is None
        assert tape.gradient(X * 1.0, X) is not None


def test_refusals() -> None:
    with pytest.raises(TypeError, match="GradientTape"):
        tf.explain_gradient(3, X, X)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the target"):
        tf.explain_gradient(tf.GradientTape(), 3, X)
    with pytest.raises(TypeError, match="the source"):
        tf.explain_gradient(tf.GradientTape(), X, 3)
