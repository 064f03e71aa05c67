"""Jacobians and batches of them: shapes, values and refusals, eagerly and in graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

X = tf.constant([1.0, 2.0])
Z = tf.constant([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]])


def everything(x: tf.Tensor, z: tf.Tensor) -> list[Any]:
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, z])
        y = x * x
        w = tf.matmul(z * z, tf.ones([3, 4]) * z[0, 0]) * z[:, :1]
        none = z[:0]
    return [
        tape.jacobian(y, x),
        tape.jacobian(y, {"a": x, "b": (z,)}),
        tape.jacobian(y, z, unconnected_gradients="zero"),
        tape.jacobian(w, z),
        tape.jacobian(w, z, experimental_use_pfor=False),
        tape.jacobian(w[0, 0], z),
        tape.jacobian(none, z),
        tape.batch_jacobian(w, z),
        tape.batch_jacobian(z, z),
        tape.batch_jacobian(tf.ones([2, 4]), z),
    ]


def test_shapes_and_values() -> None:
    xx, of_nest, zero, wz, looped, inner, _, batch, eye, unconnected = everything(X, Z)
    assert xx.numpy().tolist() == [[2, 0], [0, 4]]
    assert of_nest["a"].numpy().tolist() == [[2, 0], [0, 4]]
    assert of_nest["b"] == (None,)
    assert zero.numpy().tolist() == np.zeros((2, 2, 3)).tolist()
    assert wz.shape == (2, 4, 2, 3)
    np.testing.assert_array_equal(wz, looped)
    assert inner is None  # sliced after the tape stopped
    assert batch.shape == (2, 4, 3)
    # Row 1 depends on z[0, 0] too, which the batched one leaves out.
    np.testing.assert_array_equal(batch.numpy()[1], wz.numpy()[1, :, 1])
    assert eye.numpy().tolist() == [np.eye(3).tolist()] * 2
    assert unconnected.numpy().tolist() == np.zeros((2, 4, 3)).tolist()


def test_empty_target() -> None:
    jacobian = everything(X, Z)[6]
    assert jacobian.shape == (0, 3, 2, 3)


@pytest.mark.parametrize("shapes", [([2], [2, 3]), ([None], [None, None]), (None, None)])
def test_the_same_in_graphs(shapes: Any) -> None:
    signature = [tf.TensorSpec(shape) for shape in shapes]
    expected = tf.nest.flatten(everything(X, Z))
    got = tf.nest.flatten(tf.function(everything, input_signature=signature)(X, Z))
    for a, b in zip(expected, got, strict=True):
        if a is None:
            assert b is None
        else:
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b)


def test_static_shape_in_graphs() -> None:
    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.matmul(x, x, transpose_b=True)
        j = tape.jacobian(y, x)
        assert j.shape == (2, 2, 2, 3)
        return j

    assert f(Z).shape == (2, 2, 2, 3)


def test_through_variables_functions_and_loops() -> None:
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def f() -> tf.Tensor:
        y = v * 1.0
        for _ in tf.range(2):
            y = y * v
        return y

    with tf.GradientTape() as tape:
        y = f()
    assert tape.jacobian(y, v).numpy().tolist() == np.diag([3.0, 12.0, 27.0]).tolist()


def test_hessian_as_jacobian_of_a_gradient() -> None:
    def hessian(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(x**3) + x[0] * x[1]
            g = inner.gradient(y, x)
        return outer.jacobian(g, x)

    assert hessian(X).numpy().tolist() == [[6, 1], [1, 12]]
    assert tf.function(hessian)(X).numpy().tolist() == [[6, 1], [1, 12]]


def test_gradient_of_a_jacobian() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x**3
            total = tf.reduce_sum(inner.jacobian(y, x))
        return outer.gradient(total, x)

    assert f(X).numpy().tolist() == [6, 12]
    assert tf.function(f)(X).numpy().tolist() == [6, 12]


def test_used_once() -> None:
    def recorded() -> tuple[tf.GradientTape, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(Z)
            return tape, Z * Z

    tape, y = recorded()
    tape.jacobian(y, Z)
    with pytest.raises(RuntimeError, match="only once"):
        tape.jacobian(y, Z)
    for method in ("jacobian", "batch_jacobian"):
        tape, y = recorded()
        with pytest.raises(RuntimeError, match=f"{method}.*persistent=True"):
            getattr(tape, method)(y, Z, experimental_use_pfor=False)


def test_refusals() -> None:
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(Z)
        y = Z * Z
    with pytest.raises(TypeError, match="one tensor"):
        tape.jacobian([y], Z)
    with pytest.raises(TypeError, match="floating, got int32"):
        tape.jacobian(tf.constant([1]), Z)
    with pytest.raises(ValueError, match=r"source must have at least two axes.*\(2,\)"):
        tape.batch_jacobian(y, X)
    with pytest.raises(ValueError, match="target must have at least two axes"):
        tape.batch_jacobian(y[0], Z)
    with pytest.raises(ValueError, match="first axes of one size"):
        tape.batch_jacobian(tf.ones([3, 3]), Z)
    with pytest.raises(ValueError, match="'none' or 'zero'"):
        tape.jacobian(y, Z, unconnected_gradients="maybe")
