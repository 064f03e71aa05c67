"""GradientTape over straight-line code, eager and traced."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import weft as tf
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.tracing import trace


def test_the_simplest_gradient() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x).numpy() == 6


def test_variables_are_watched_when_read() -> None:
    v, frozen = tf.Variable(2.0), tf.Variable(5.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v * frozen
    assert [w is v for w in tape.watched_variables()] == [True]
    assert tape.gradient(y, v).numpy() == 20


def test_variables_are_not_watched_when_told_so() -> None:
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = v * w
    gw, gv = tape.gradient(y, [w, v])
    assert gw.numpy() == 2
    assert gv is None


def test_sources_of_any_nest() -> None:
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch({"a": x, "b": [y]})
        z = x * y
    grads = tape.gradient(z, {"a": x, "b": [y]})
    assert grads["a"].numpy() == 3
    assert grads["b"][0].numpy() == 2


def test_unconnected() -> None:
    x, y = tf.constant([1.0, 2.0]), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        z = y * y
    assert tape.gradient(z, x) is None
    assert tf.UnconnectedGradients("zero") is tf.UnconnectedGradients.ZERO
    assert tf.UnconnectedGradients.NONE.value == "none"
    zero = tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert zero.numpy().tolist() == [0, 0]
    with pytest.raises(ValueError, match="'none' or 'zero'"):
        tape.gradient(z, x, unconnected_gradients="maybe")


def test_used_once_unless_persistent() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as once, tf.GradientTape(persistent=True) as often:
        once.watch(x)
        often.watch(x)
        y = x * x
    once.gradient(y, x)
    with pytest.raises(RuntimeError, match="persistent=True"):
        once.gradient(y, x)
    assert often.gradient(y, x).numpy() == often.gradient(y, x).numpy() == 4


def test_nested_tapes_give_higher_orders() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        first = inner.gradient(y, x)
    assert first.numpy() == 12
    assert outer.gradient(first, x).numpy() == 12


def test_gradient_inside_the_block_of_a_persistent_tape() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        g = tape.gradient(y, x)
        z = y * 2.0
    assert g.numpy() == 6
    assert tape.gradient(z, x).numpy() == 12


def test_output_gradients_and_several_targets() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * 2.0, x * x
    g = tape.gradient(y, x, output_gradients=tf.constant([10.0, 100.0]))
    assert g.numpy().tolist() == [20, 200]
    assert tape.gradient([y, z], x).numpy().tolist() == [4, 6]
    for targets, given in (([y, z], [y]), (y, [y, y])):
        text = f"must have one item for each target, got {len(given)} for {3 - len(given)}"
        with pytest.raises(ValueError, match=f"gradient: output_gradients {text}"):
            tape.gradient(targets, x, output_gradients=given)


def test_intermediate_tensors_are_sources_too() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * x
    gx, gy = tape.gradient(z, [x, y])
    assert gx.numpy() == 12
    assert gy.numpy() == 2


def test_stop_recording_and_reset() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        with tape.stop_recording():
            y = x * x
        z = x * 3.0
    assert tape.gradient(y, x) is None
    assert tape.gradient(z, x).numpy() == 3
    tape.reset()
    assert tape.gradient(z, x) is None


def test_integers_are_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "weft"), tf.GradientTape() as tape:
        tape.watch(tf.constant(1))
    assert "must be floating" in caplog.text
    assert "int32" in caplog.text


def test_misuse() -> None:
    tape = tf.GradientTape()
    with tape, pytest.raises(ValueError, match="recording already"):
        tape.__enter__()
    with pytest.raises(ValueError, match="'text'"):
        tf.GradientTape().watch("text")
    with pytest.raises(TypeError, match="None"):
        tf.GradientTape().gradient(None, tf.constant(1.0))
    with pytest.raises(ValueError, match="recording"), tf.GradientTape().stop_recording():
        pass


def test_a_value_used_many_times_adds_up() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x + x[0] * 2.0 + tf.stop_gradient(x) * x)
    assert tape.gradient(y, x).numpy().tolist() == [2 + 4 + 1, 4 + 2]


def test_tape_in_a_traced_function() -> None:
    v = tf.Variable([1.0, 2.0])

    def step(x: tf.Tensor) -> object:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(v * x * x)
        return tape.gradient(y, [v, x])

    x = tf.constant([3.0, 4.0])
    eager = [g.numpy().tolist() for g in step(x)]
    for spec in (tf.TensorSpec([2]), tf.TensorSpec([None]), tf.TensorSpec(None)):
        graph = trace(step, [spec])
        values = [x._value, *[t._value for t, _ in graph.captures]]
        assert [g.tolist() for g in NumpyPlan(graph)(*values)] == eager


def test_reading_a_variable_between_assignments() -> None:
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
        v.assign(10.0)
        z = y + v * 3.0
    assert tape.gradient(z, v).numpy() == 2 + 2 + 3


def test_complex_gradients_use_the_conjugate_convention() -> None:
    z = tf.constant(1.0 + 2.0j)
    with tf.GradientTape() as tape:
        tape.watch(z)
        w = z * z
    assert tape.gradient(w, z).numpy() == np.conj(2 * (1 + 2j))


@pytest.mark.parametrize("traced", [False, True])
def test_a_persistent_tape_records_its_own_gradients(
    traced: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def f(x: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x * x
            first = tape.gradient(y, x)
        return [first, tape.gradient(first, x)]

    caplog.set_level("WARNING", logger="weft")  # whatever tests before this one have set
    first, second = (tf.function(f) if traced else f)(tf.constant(2.0))
    assert (first.numpy(), second.numpy()) == (12, 12)
    assert "inside of its `with` block" in caplog.text
