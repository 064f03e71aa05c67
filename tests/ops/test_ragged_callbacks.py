"""`tf.py_function` and `tf.custom_gradient` with ragged and sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

RAGGED = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
SPEC = tf.RaggedTensorSpec([None, None], tf.float32)
MODES = pytest.mark.parametrize("mode", [lambda f: f, tf.function], ids=["eager", "traced"])


@MODES
def test_callbacks_take_and_give_them(mode: Any) -> None:
    def double(x: Any) -> Any:
        return tf.py_function(lambda x: x * 2, [x], SPEC)

    def both(x: Any, y: Any) -> Any:
        out = [tf.SparseTensorSpec([None, None], tf.float32), tf.float32]
        return tf.py_function(lambda x, y: (x.to_sparse(), tf.reduce_sum(x) + y), [x, y], out)

    assert mode(double)(RAGGED).to_list() == [[2.0, 4.0], [], [6.0]]
    sparse, total = mode(both)(RAGGED, tf.constant(10.0))
    assert isinstance(sparse, tf.SparseTensor)
    np.testing.assert_array_equal(tf.sparse.to_dense(sparse), [[1, 2], [0, 0], [3, 0]])
    assert total.numpy() == 16.0


@MODES
def test_gradients_of_callbacks(mode: Any) -> None:
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.py_function(lambda x: x * x, [x], SPEC))
        return tape.gradient(y, x)

    assert mode(slope)(RAGGED).to_list() == [[2.0, 4.0], [], [6.0]]


@MODES
def test_results_that_were_not_declared(mode: Any) -> None:
    call = mode(lambda x: tf.py_function(lambda x: x.to_tensor(), [x], SPEC))
    with pytest.raises(tf.errors.InvalidArgumentError, match="result 0 was declared as Ragged"):
        call(RAGGED)
    wrong = mode(lambda x: tf.py_function(lambda x: tf.cast(x, tf.int32), [x], SPEC))
    with pytest.raises(tf.errors.InvalidArgumentError, match="got RaggedTensorSpec"):
        wrong(RAGGED)
    with pytest.raises(TypeError, match="tf.py_function gives ragged and sparse tensors"):
        tf.numpy_function(lambda x: x, [1.0], SPEC)


@MODES
def test_custom_gradients(mode: Any) -> None:
    @tf.custom_gradient
    def f(x: Any, y: Any) -> Any:
        def grad(g: Any, h: Any) -> Any:
            assert isinstance(g, tf.RaggedTensor)
            return g * 10, h * 3

        return (x * 2, y + 1), grad

    def slopes(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            first, second = f(x, y)
            total = tf.reduce_sum(first * first) + second
        return first, tape.gradient(total, [x, y])

    first, (of_x, of_y) = mode(slopes)(RAGGED, tf.constant(5.0))
    assert first.to_list() == [[2.0, 4.0], [], [6.0]]
    assert of_x.to_list() == [[40.0, 80.0], [], [120.0]]
    assert of_y.numpy() == 3.0


class _Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor


@pytest.mark.parametrize("traced", [False, True])
def test_callbacks_of_extension_types(traced: bool) -> None:
    def doubled(x: _Masked) -> Any:
        spec = _Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool))
        twice = tf.py_function(lambda m: _Masked(m.values * 2.0, m.mask), [x], spec)
        return twice.values, tf.py_function(lambda m: m.values, [x], tf.float32)

    found = (tf.function(doubled) if traced else doubled)(_Masked([1.0, 2.0], [True, False]))
    np.testing.assert_array_equal(found[0], [2.0, 4.0])
    np.testing.assert_array_equal(found[1], [1.0, 2.0])


def test_identity_and_stop_gradient_of_extension_types() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        passed = tf.identity(_Masked(x, [True, False])).values * 3.0
        stopped = tf.stop_gradient(_Masked(x, [True, False])).values * 3.0
    np.testing.assert_array_equal(tape.gradient(passed, x), [3.0, 3.0])
    assert tape.gradient(stopped, x) is None
    with pytest.raises(ValueError, match="Cannot convert"):
        tf.identity(object())
