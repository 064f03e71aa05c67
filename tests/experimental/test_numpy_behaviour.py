"""Tensors with methods, operators and indices of arrays, compared with NumPy itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.experimental.numpy import behaviour

tnp = tf.experimental.numpy


@pytest.fixture
def numpy_behaviour() -> Iterator[None]:
    tnp.experimental_enable_numpy_behavior()
    yield
    behaviour.disable()


ARRAY = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
MASK = np.array([[True, False, True], [False, True, False]])


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.T,
        lambda x: x.astype(np.int8),
        lambda x: x.astype(float),
        lambda x: x.reshape(6, 4),
        lambda x: x.reshape([4, -1], order="F"),
        lambda x: x.ravel(),
        lambda x: x.flatten(),
        lambda x: x.transpose([1, 2, 0]),
        lambda x: x.clip(3, 9),
        lambda x: x.max(1),
        lambda x: x.min(axis=0, keepdims=True),
        lambda x: x.mean(),
        lambda x: x + 1.5,
        lambda x: 1.5 - x,
        lambda x: x * np.float64(2),
        lambda x: x * np.arange(4, dtype=np.int64),
        lambda x: x < 2.5,
        lambda x: x == [0, 5, 2, 7],
        lambda x: x / 2,
        lambda x: x // 2,
        lambda x: (x > 3) + 1,
        lambda x: (x > 3) & (x < 9),
        lambda x: x[0, 0] @ x[0, 1],
        lambda x: x[0, 0] @ np.arange(4.0),
        lambda x: x[[1, 0]],
        lambda x: x[[1, 0], [0, 2]],
        lambda x: x[:, [0, 2]],
        lambda x: x[[0, 1], :, [1, 2]],
        lambda x: x[0, [1, 2]],
        lambda x: x[..., [0, -1]],
        lambda x: x[:, None, [0, 2]],
        lambda x: x[[0, 1], 1:, [0, 3]],
        lambda x: x[1, [0, 2], :2],
        lambda x: x[[[0, 1], [1, 0]]],
        lambda x: x[np.array([[0], [1]]), [0, 2]],
        lambda x: x[MASK],
        lambda x: x[:, [True, False, True]],
        lambda x: x[x > 5],
        lambda x: x[[]],
        lambda x: x[1, -1, ::2],
    ],
)
@pytest.mark.usefixtures("numpy_behaviour")
def test_as_in_numpy(call: Any, wrap: Any) -> None:
    found, wanted = wrap(call)(tf.constant(ARRAY)), call(ARRAY)
    assert found.dtype.as_numpy_dtype == np.asarray(wanted).dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.usefixtures("numpy_behaviour")
def test_what_is_known_of_arrays() -> None:
    x = tf.constant(ARRAY)
    assert (x.size, x.ndim, x.tolist()) == (ARRAY.size, 3, ARRAY.tolist())
    assert x.data is x
    assert float(round(tf.constant(2.567), 1)) == pytest.approx(2.6)
    assert (tf.constant([1.0]) + 1.5).dtype == tf.float32
    assert (tf.Variable([1]) + 1.5).dtype == tf.float64
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.add(tf.constant(1), tf.constant(1.5))


@pytest.mark.usefixtures("numpy_behaviour")
def test_indices_that_are_none() -> None:
    x = tf.constant(ARRAY)
    for key in ([0.5], ([0], [0], [0], [0]), (..., [0], ...)):
        with pytest.raises(IndexError):
            x[key]
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        x[[5]]


@pytest.mark.usefixtures("numpy_behaviour")
def test_gradients_and_unknown_sizes() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def f(x: Any) -> Any:
        return x[[1, 0], [0, 1]].astype(tf.float64) * 2

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_array_equal(y, [6, 4])
    np.testing.assert_array_equal(tape.gradient(y, x), [[0, 2], [2, 0]])


@pytest.mark.usefixtures("numpy_behaviour")
def test_functions_of_weft_compute_as_before() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    assert tf.nn.moments(x, [0])[1].dtype == tf.float32
    assert tf.image.rgb_to_grayscale(tf.ones([2, 2, 3])).dtype == tf.float32
    assert tf.linalg.logdet(x @ tf.transpose(x)).dtype == tf.float32


def test_modes() -> None:
    try:
        tnp.experimental_enable_numpy_behavior(prefer_float32=True)
        assert tnp.array([1.5]).dtype == tf.float32
        assert tnp.array([1]).dtype == tf.int64
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="off")
        assert tnp.array([1.5]).dtype == tf.float64
        assert tf.constant([[1], [2]]).T.shape.as_list() == [1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.constant(1) + tf.constant(1.5)
        with pytest.raises(NotImplementedError, match="Use dtype_conversion_mode='legacy'"):
            tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="all")
        with pytest.raises(ValueError, match="'off'"):
            tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="on")
    finally:
        behaviour.disable()


@pytest.mark.parametrize("name", ["T", "astype", "reshape", "tolist", "size"])
def test_without_it_attributes_say_how_to_get_them(name: str) -> None:
    with pytest.raises(AttributeError, match="experimental_enable_numpy_behavior"):
        getattr(tf.constant([1]), name)
    with pytest.raises(AttributeError, match="experimental_enable_numpy_behavior"):
        tf.function(lambda x: getattr(x, name))(tf.constant([1]))
    assert not hasattr(tf.constant([1]), name)
    with pytest.raises(TypeError, match="indexed with"):
        tf.constant([1, 2])[[0]]


def test_memory() -> None:
    x = tf.constant([[1, 2]])
    # Before 3.12 Python asks objects written in C only.
    view = memoryview(x if sys.version_info >= (3, 12) else np.asarray(x))  # type: ignore[arg-type]
    assert (view.tolist(), view.readonly) == ([[1, 2]], True)
