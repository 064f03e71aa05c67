"""ForwardAccumulator: against reverse mode, alone, over and under it, eagerly and in graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.gradient_programs import PROGRAMS, nested

X = tf.constant(2.0)
Program = Callable[[tf.Tensor], tf.Tensor]


def jvp(f: Program) -> Program:
    def along(x: tf.Tensor) -> tf.Tensor:
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
            y = f(x)
        return acc.jvp(y, unconnected_gradients="zero")

    return along


def gradient(f: Program) -> Program:
    def of(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x, unconnected_gradients="zero")

    return of


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_agrees_with_reverse_mode(program: Program) -> None:
    x = tf.constant(1.1)
    first, second = gradient(program)(x), gradient(gradient(program))(x)
    for f in (program, tf.function(program)):
        np.testing.assert_allclose(jvp(f)(x), first, rtol=1e-4)
        if program is nested:  # seconds of tracing
            continue
        np.testing.assert_allclose(jvp(gradient(f))(x), second, rtol=1e-4)
        np.testing.assert_allclose(gradient(jvp(f))(x), second, rtol=1e-4)
        np.testing.assert_allclose(jvp(jvp(f))(x), second, rtol=1e-4)
    np.testing.assert_allclose(tf.function(jvp(program))(x), first, rtol=1e-4)
    if program is nested:
        return
    np.testing.assert_allclose(tf.function(jvp(gradient(program)))(x), second, rtol=1e-4)
    np.testing.assert_allclose(tf.function(gradient(jvp(program)))(x), second, rtol=1e-4)


OPS: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
    ("matmul", tf.matmul, (np.ones((2, 3)), np.arange(12.0).reshape(3, 4))),
    ("broadcast", lambda x, y: x * y + y, (np.ones((2, 1)), np.arange(3.0))),
    ("reduce_max", lambda x: tf.reduce_max(x, 0), (np.arange(6.0).reshape(2, 3),)),
    ("gather", lambda x: tf.gather(x, [1, 0, 1]), (np.arange(6.0).reshape(3, 2),)),
    ("concat", lambda x, y: tf.concat([x, y], 0), (np.ones((2, 3)), np.ones((1, 3)))),
    ("softmax", tf.nn.softmax, (np.arange(6.0).reshape(2, 3),)),
    ("cumsum", tf.cumsum, (np.arange(4.0),)),
    ("cholesky", lambda x: tf.linalg.cholesky(x + tf.transpose(x)),
     (np.array([[4.0, 1.0], [1.0, 3.0]]),)),
    ("top_k", lambda x: tf.math.top_k(x, 2).values, (np.array([3.0, 1.0, 2.0]),)),
    ("where", lambda x: tf.where(x > 1.5, x * x, x), (np.arange(4.0),)),
    ("split", lambda x: tf.split(x, 2)[1] ** 2, (np.arange(4.0),)),
    ("conv2d", lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"),
     (np.ones((1, 3, 4, 2)), np.arange(24.0).reshape(2, 2, 2, 3))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "f", "arrays"), OPS, ids=[row[0] for row in OPS])
def test_against_differences(name: str, f: Callable[..., Any], arrays: tuple[Any, ...]) -> None:
    rng = np.random.default_rng(len(name))
    directions = [rng.normal(size=a.shape) for a in arrays]
    primals = [tf.constant(a) for a in arrays]
    with tf.autodiff.ForwardAccumulator(primals, [tf.constant(d) for d in directions]) as acc:
        y = f(*primals)
    h = 1e-6
    plus, minus = (
        f(*[tf.constant(a + s * d) for a, d in zip(arrays, directions, strict=True)]).numpy()
        for s in (h, -h)
    )
    np.testing.assert_allclose(acc.jvp(y), (plus - minus) / (2 * h), rtol=1e-6, atol=1e-6)


def test_results_and_unconnected() -> None:
    c = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(X, 3.0) as acc:
        y = X * X
        z = c * 2.0
        i = tf.cast(X, tf.int32)
    assert acc.jvp(y).numpy() == 12
    assert acc.jvp(X).numpy() == 3
    assert acc.jvp(z) is None
    assert acc.jvp(i) is None
    assert acc.jvp(z, unconnected_gradients=tf.UnconnectedGradients.ZERO).numpy().tolist() == [0, 0]
    of_nest = acc.jvp([y, {"a": X, "b": z}])
    assert of_nest[0].numpy() == 12
    assert of_nest[1]["b"] is None


def test_variables_and_nests() -> None:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    tangents = {"v": tf.constant([1.0, 0.0]), "w": 10.0}
    with tf.autodiff.ForwardAccumulator({"v": v, "w": w}, tangents) as acc:
        y = v * w
    assert acc.jvp(y).numpy().tolist() == [13, 20]
    assert acc.jvp(w).numpy() == 10


def test_hessian_vector_product() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x**3) + x[0] * x[1]
        g = tape.gradient(y, x)
    assert acc.jvp(g).numpy().tolist() == [6, 1]


def test_complex_numbers() -> None:
    z = tf.constant(1.0 + 2.0j, tf.complex64)
    with tf.autodiff.ForwardAccumulator(z, tf.constant(0.5 - 1.0j, tf.complex64)) as acc:
        w, r = z * z, tf.abs(z)
    np.testing.assert_allclose(acc.jvp(w), 2 * (1 + 2j) * (0.5 - 1j), rtol=1e-6)
    np.testing.assert_allclose(acc.jvp(r), (0.5 - 2) / np.sqrt(5), rtol=1e-6)


def test_custom_gradients() -> None:
    f = tf.custom_gradient(lambda x: (x * x, lambda dy: dy * x * 10.0))
    assert jvp(f)(X).numpy() == 20
    assert jvp(tf.function(f))(X).numpy() == 20


def test_refusals() -> None:
    accumulator = tf.autodiff.ForwardAccumulator
    with pytest.raises(ValueError, match=r"expected \(\), got \(2,\)"):
        accumulator(X, tf.constant([1.0, 2.0]))
    with pytest.raises(TypeError, match="floating, got int32"):
        accumulator(tf.constant(1), tf.constant(1))
    with pytest.raises(ValueError, match="int32"):
        accumulator(X, tf.constant(1))
    with pytest.raises((ValueError, TypeError), match="structure"):
        accumulator([X], X)
    with pytest.raises(TypeError, match="'text'"):
        accumulator("text", 1.0)
    acc = accumulator(X, 1.0)
    with acc, pytest.raises(ValueError, match="recording already"):
        acc.__enter__()
    with pytest.raises(ValueError, match="'none' or 'zero'"):
        acc.jvp(X, unconnected_gradients="maybe")
