"""`tf.RegisterGradient`, `tf.no_gradient` and `Graph.gradient_override_map`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.ops import named_gradients
from weft._src.ops.registry import NOT_DIFFERENTIABLE, find_op

get_default_graph = tf.compat.v1.get_default_graph


@pytest.fixture(autouse=True)
def nothing_stays_registered() -> Iterator[None]:
    before = dict(named_gradients._registered)
    yield
    for name in set(named_gradients._registered) - set(before):
        del named_gradients._registered[name]
    named_gradients._variants.clear()


def _guided() -> None:
    @tf.RegisterGradient("Guided")
    def guided(op: Any, g: tf.Tensor) -> tf.Tensor:
        assert op.type == "Relu"
        return tf.where((g > 0) & (op.outputs[0] > 0), g, tf.zeros_like(op.inputs[0]))


X = tf.constant([-1.0, 2.0, 3.0])
WEIGHTS = tf.constant([1.0, -5.0, 7.0])


def _relu_with_override(x: Any) -> Any:
    with get_default_graph().gradient_override_map({"Relu": "Guided"}):
        return tf.nn.relu(x)


def test_an_op_of_a_function_with_another_gradient() -> None:
    _guided()

    @tf.function
    def loss(x: Any) -> Any:
        y = _relu_with_override(x)
        return tf.reduce_sum(WEIGHTS * y), tf.reduce_sum(WEIGHTS * tf.nn.relu(x))

    with tf.GradientTape(persistent=True) as tape:
        tape.watch(X)
        guided, usual = loss(X)
    np.testing.assert_array_equal(guided, usual)
    np.testing.assert_array_equal(tape.gradient(guided, X), [0, 0, 7])
    np.testing.assert_array_equal(tape.gradient(usual, X), [0, -5, 7])


def test_a_tape_inside_of_the_function() -> None:
    _guided()

    @tf.function
    def slopes(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(WEIGHTS * _relu_with_override(x))
        return tape.gradient(y, x), tf.gradients(y, x)[0]

    for found in slopes(X):
        np.testing.assert_array_equal(found, [0, 0, 7])


def test_overrides_end_with_their_block_and_add_up() -> None:
    _guided()
    with tf.Graph().as_default() as graph:
        with graph.gradient_override_map({"Relu": "Guided"}):
            with graph.gradient_override_map({"Exp": "Guided"}):
                assert graph.overrides == {"Relu": "Guided", "Exp": "Guided"}
            assert graph.overrides == {"Relu": "Guided"}
        assert not graph.overrides
        assert tf.nn.relu(X).op.op is find_op("Relu")


def test_several_inputs_outputs_and_attributes() -> None:
    @tf.RegisterGradient("Counted")
    def counted(op: Any, *gs: tf.Tensor) -> Any:
        assert len(gs) == 2
        assert (op.get_attr("num"), op.get_attr("T")) == (2, tf.float32)
        with pytest.raises(ValueError, match="Unpack has no attribute 'colour'"):
            op.get_attr("colour")
        return [tf.stack(gs) * 10]

    @tf.function
    def slope(x: Any) -> Any:
        with get_default_graph().gradient_override_map({"Unpack": "Counted"}):
            first, _ = tf.unstack(x)
        return tf.gradients(first, x)[0]

    np.testing.assert_array_equal(slope(tf.constant([1.0, 2.0])), [10, 0])


def test_a_gradient_for_an_op_without_one() -> None:
    floor = find_op("Floor")
    assert floor.vjp is NOT_DIFFERENTIABLE
    try:

        @tf.RegisterGradient("Floor")
        def straight_through(op: Any, g: tf.Tensor) -> tf.Tensor:
            return g * 2

        with tf.GradientTape() as tape:
            tape.watch(X)
            y = tf.floor(X)
        np.testing.assert_array_equal(tape.gradient(y, X), [2, 2, 2])
        traced = tf.function(lambda x: tf.gradients(tf.floor(x), x)[0])
        np.testing.assert_array_equal(traced(X), [2, 2, 2])
    finally:
        floor.vjp = NOT_DIFFERENTIABLE


def test_no_gradient_under_a_name() -> None:
    tf.no_gradient("Nothing")

    @tf.function
    def slope(x: Any) -> Any:
        with get_default_graph().gradient_override_map({"Square": "Nothing"}):
            y = tf.square(x)
        return tf.gradients(y + x, x)[0]

    assert slope(tf.constant(3.0)) == 1


def test_mistakes() -> None:
    _guided()
    with pytest.raises(KeyError, match="a gradient called 'Guided' already"):
        _guided()
    with pytest.raises(KeyError, match="The op Exp has a gradient"):
        tf.RegisterGradient("Exp")(lambda op, g: g)
    with pytest.raises(TypeError, match="op_type must be a string, got 3"):
        tf.RegisterGradient(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a function is expected, got 3"):
        tf.RegisterGradient("Number")(3)  # type: ignore[arg-type]
    tf.RegisterGradient("Two")(lambda op, g: (g, g))
    graph = tf.Graph()
    with pytest.raises(TypeError, match="a dict from types of ops to names"):
        graph.gradient_override_map({"Relu": 3}).__enter__()  # type: ignore[dict-item]
    with graph.as_default(), graph.gradient_override_map({"Relu": "Unheard", "Exp": "Two"}):
        with pytest.raises(LookupError, match="no gradient is called 'Unheard'"):
            tf.nn.relu(X)
        x = tf.constant(1.0)
        with pytest.raises(ValueError, match="'Two' of the op Exp must return 1 gradients"):
            tf.gradients(tf.exp(x), x)
