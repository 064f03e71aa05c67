"""Results of raw ops are TensorFlow's (see `support.raw_calls`): eagerly, and in graphs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.raw_calls import CALLS, FILE, KEYS, Call, made
from weft._src.raw_ops.signatures import signature_of

RECORDED = json.loads(FILE.read_text())
ALL = list(zip(KEYS, CALLS, strict=True))


def compared(key: str, found: list[np.ndarray]) -> None:
    expected = RECORDED[key]
    assert len(found) == len(expected)
    for value, (dtype, shape, flat) in zip(found, expected, strict=True):
        assert (value.dtype.name, list(value.shape)) == (dtype, shape)
        if dtype == "object":
            assert [item.decode("latin1") for item in value.ravel()] == flat
        elif value.dtype.kind == "f":
            wanted = np.array(flat, dtype).reshape(shape)
            np.testing.assert_allclose(value, wanted, rtol=2e-4, atol=2e-5)
        else:
            assert value.ravel().tolist() == flat


@pytest.mark.parametrize(("key", "call"), ALL, ids=KEYS)
def test_eagerly(key: str, call: Call) -> None:
    compared(key, made(tf, call))


def _inputs(call: Call) -> set[str]:
    """The arguments that are tensors in a graph, and not attributes."""
    signature = signature_of(call.op)
    inputs = {signature.names[x.name] for x in signature.inputs}
    return inputs - {*call.static, *call.variables}


# Vectors that are as long as a tensor has axes.
OF_AXES = {
    *"begin end strides shape shapes a_shape b_shape sp_shape set2_shape sparse_shape".split(),
    *"dense_shape input_sizes filter_sizes image_size input_shape size input_start".split(),
}


def _specs(name: str, value: Any, known: bool) -> Any:
    known = known or name in OF_AXES

    def spec(x: tf.Tensor) -> tf.TensorSpec:
        return tf.TensorSpec(x.shape if known else [None] * x.ndim, x.dtype)

    return tf.nest.map_structure(spec, value)


def traced(call: Call, known: bool) -> Any:
    """How a call is made in a function that gets the inputs as arguments."""

    def run(op: Any, arguments: dict[str, Any], handles: dict[str, Any]) -> Any:
        fed = {name: arguments[name] for name in arguments if name in _inputs(call)}
        fixed = {name: value for name, value in arguments.items() if name not in fed}
        specs = {name: _specs(name, value, known) for name, value in fed.items()}
        function = tf.function(lambda given: op(**given, **fixed, **handles), autograph=False)
        return function.get_concrete_function(specs)(fed)

    return run


@pytest.mark.parametrize(("key", "call"), ALL, ids=KEYS)
def test_in_graphs(key: str, call: Call) -> None:
    compared(key, made(tf, call, traced(call, known=True)))


@pytest.mark.parametrize(("key", "call"), ALL, ids=KEYS)
def test_with_unknown_sizes(key: str, call: Call) -> None:
    compared(key, made(tf, call, traced(call, known=False)))


def test_every_result_is_compared() -> None:
    assert set(RECORDED) == set(KEYS)
