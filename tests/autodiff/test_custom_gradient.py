"""tf.custom_gradient, recompute_grad, grad_pass_through: eagerly, in graphs, in control flow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.gradient_programs import PROGRAMS

X = tf.constant(2.0)


@tf.custom_gradient
def wrong_square(x: tf.Tensor) -> Any:
    """x ** 2 with ten times its gradient, which uses a value computed on the way."""
    y = x * x
    half = y / 2.0

    def grad(dy: tf.Tensor) -> tf.Tensor:
        return dy * half / x * 40.0

    return y, grad


def straight(x: tf.Tensor) -> tf.Tensor:
    return wrong_square(x) * 3.0


def nested(x: tf.Tensor) -> tf.Tensor:
    @tf.custom_gradient
    def outer(x: tf.Tensor) -> Any:
        y = wrong_square(x) * tf.sin(x)
        return y, lambda dy: dy * wrong_square(x)

    return outer(x) + wrong_square(x)


def in_branch(x: tf.Tensor) -> tf.Tensor:
    z = x * 2.0
    if x > 0.0:
        y = wrong_square(z) + z
    else:
        y = x
    return y


def in_loop(x: tf.Tensor) -> tf.Tensor:
    y = x
    for i in tf.range(2):
        y = wrong_square(y) + tf.cast(i, tf.float32) * x
    return y


def uses_enclosing(x: tf.Tensor) -> tf.Tensor:
    z = tf.sin(x)

    @tf.custom_gradient
    def f(y: tf.Tensor) -> Any:
        return y * z, lambda dy: dy * z * y

    total = f(x)
    for _ in tf.range(2):
        total = f(total) + z
    return total


def called(x: tf.Tensor) -> tf.Tensor:
    return tf.function(wrong_square)(x) * x


def converted(x: tf.Tensor) -> tf.Tensor:
    @tf.custom_gradient
    def f(x: tf.Tensor) -> Any:
        if x > 0:
            y = x * x
        else:
            y = -x

        def grad(dy: tf.Tensor) -> tf.Tensor:
            if y > 1.0:
                g = dy * y
            else:
                g = dy
            return g

        return y, grad

    return f(x)


USES = [straight, nested, in_branch, in_loop, uses_enclosing, called, converted]


def orders(f: Callable[..., tf.Tensor], x: tf.Tensor) -> list[tf.Tensor]:
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        first = inner.gradient(y, x)
    return [y, first, outer.gradient(first, x, unconnected_gradients="zero")]


def test_known_values() -> None:
    y, first, second = orders(straight, X)
    assert [y.numpy(), first.numpy()] == [12, 120]
    # d/dx of 3 * 20 * y(x) / x with y = x * x: the value on the way counts too
    assert second.numpy() == 60
    assert wrong_square(X).numpy() == 4


@pytest.mark.parametrize("use", USES, ids=lambda f: f.__name__)
def test_same_gradients_everywhere(use: Callable[..., tf.Tensor]) -> None:
    for x in (X, tf.constant(0.7)):
        expected = [t.numpy() for t in orders(use, x)]
        outside = orders(tf.function(use), x)
        inside = tf.function(lambda x: orders(use, x))(x)

        @tf.function
        def by_nodes(x: tf.Tensor) -> Any:
            y = use(x)
            (g,) = tf.gradients(y, x)
            return y, g, tf.gradients(g, x, unconnected_gradients="zero")[0]

        for got in (outside, inside, by_nodes(x)):
            np.testing.assert_allclose([t.numpy() for t in got], expected, rtol=1e-5)


def test_plans_do_not_compute_what_only_the_gradient_uses() -> None:
    f = tf.function(straight)
    f(X)
    source = f.get_concrete_function(X).graph.plan.source
    assert "CustomGradient" not in source
    assert "RealDiv" not in source


def test_variables() -> None:
    v, frozen = tf.Variable(3.0), tf.Variable(5.0, trainable=False)

    @tf.custom_gradient
    def f(x: tf.Tensor) -> Any:
        def grad(dy: tf.Tensor, variables: Any = None) -> Any:
            assert [w is v for w in variables] == [True]
            return dy * 10.0, [dy * 100.0 * v]

        return x * v * frozen, grad

    def run(f: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = f(X)
        return [g.numpy() for g in tape.gradient(y, [X, v])]

    assert run(f) == [10, 300]
    assert run(tf.function(lambda x: f(x))) == [10, 300]
    assert tf.function(lambda: run_in_graph(f, v))()[1].numpy() == 300


def run_in_graph(f: Any, v: tf.Variable) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = f(X)
    return tape.gradient(y, [X, v])


def test_a_variable_as_argument() -> None:
    v = tf.Variable(3.0)
    f = tf.custom_gradient(lambda w: (w * 2.0, lambda dy: dy * 7.0))

    def run() -> Any:
        with tf.GradientTape() as tape:
            y = f(v)
        return tape.gradient(y, v)

    assert run().numpy() == tf.function(run)().numpy() == 7


class Holder:
    """What holds a variable and stands for it, as Keras' variables do."""

    def __init__(self, variable: tf.Variable) -> None:
        self.handle = variable.handle
        self._variable = variable

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> tf.Tensor:
        return self._variable.__tf_tensor__(dtype, name)


@pytest.mark.parametrize("traced", [False, True])
def test_a_holder_of_a_variable_as_argument(traced: bool) -> None:
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def product(x: Any, held: Any) -> Any:
        def grad(dy: tf.Tensor, variables: Any = None) -> Any:
            assert not variables
            return dy * 10.0, dy * 20.0

        return tf.convert_to_tensor(held) * x, grad

    def gradients() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = product(X, Holder(v))
        return tape.gradient(y, [X, v])

    found = (tf.function(gradients) if traced else gradients)()
    assert [g.numpy() for g in found] == [10.0, 20.0]


class Halved:
    """What gives a variable's value in another dtype, as Keras' variables in mixed precision."""

    def __init__(self, variable: tf.Variable) -> None:
        self._variable = variable

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> tf.Tensor:
        return tf.cast(self._variable, tf.float16)


@pytest.mark.parametrize("traced", [False, True])
def test_an_argument_that_casts_a_variable(traced: bool) -> None:
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def product(nest: Any, x: tf.Tensor) -> Any:
        def grad(dy: tf.Tensor, variables: Any = None) -> Any:
            assert not variables
            return {"held": dy * 20.0}, tf.cast(dy, tf.float32) * 10.0

        return tf.convert_to_tensor(nest["held"]) * tf.cast(x, tf.float16), grad

    def gradients() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = product({"held": Halved(v)}, X)
        return tape.gradient(y, [X, v])

    found = (tf.function(gradients) if traced else gradients)()
    assert [g.numpy() for g in found] == [10.0, 20.0]
    assert [g.dtype for g in found] == [tf.float32, tf.float32]


def test_nests_several_results_and_keywords() -> None:
    @tf.custom_gradient
    def f(d: Any, *, k: float = 2.0) -> Any:
        result = {"a": d["x"] * k, "b": [d["y"]]}
        return result, lambda da, db: {"x": da * 7.0 * k, "y": db + 9.0}

    def run(x: tf.Tensor, y: tf.Tensor) -> Any:
        d = {"x": x, "y": y}
        with tf.GradientTape() as tape:
            tape.watch(d)
            out = f(d, k=3.0)["a"]
        return tape.gradient(out, d)

    for g in (run(X, X + 1.0), tf.function(run)(X, X + 1.0)):
        assert g["x"].numpy() == 21
        assert g["y"].numpy() == 9  # an unused result has a gradient of zero


def test_arguments_that_are_no_tensors() -> None:
    @tf.custom_gradient
    def f(x: tf.Tensor, scale: float, mode: str) -> Any:
        assert mode == "fast"
        return x * scale, lambda dy: (dy * 5.0, None, None)

    def run(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, 3.0, "fast")
        return tape.gradient(y, x)

    assert run(X).numpy() == tf.function(run)(X).numpy() == 5


def test_methods() -> None:
    class Layer:
        factor = 4.0

        @tf.custom_gradient
        def call(self, x: tf.Tensor) -> Any:
            return x * 2.0, lambda dy: dy * self.factor

    assert orders(Layer().call, X)[1].numpy() == 4
    assert orders(tf.function(Layer().call), X)[1].numpy() == 4
    assert Layer.call.__name__ == "call"


def test_stops_in_a_gradient_hold_in_the_next() -> None:
    f = tf.custom_gradient(lambda x: (x * x, lambda dy: dy * x * tf.stop_gradient(x)))
    assert orders(f, X)[2].numpy() == 2
    assert orders(tf.function(f), X)[2].numpy() == 2


def test_errors_of_the_gradient_wait_for_it() -> None:
    @tf.custom_gradient
    def f(x: tf.Tensor) -> Any:
        def grad(dy: tf.Tensor) -> tf.Tensor:
            raise NotImplementedError("no gradient yet")

        return x * 2.0, grad

    for g in (f, tf.function(f)):
        assert g(X).numpy() == 4
        with pytest.raises(NotImplementedError, match="no gradient yet"):
            orders(g, X)


def test_refusals() -> None:
    v = tf.Variable(1.0, name="weight")

    def gradient(f: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = f(X)
        return tape.gradient(y, X)

    def too_many(x: tf.Tensor) -> Any:
        return x * 2.0, lambda dy: (dy, dy)

    def bad_variables(x: tf.Tensor) -> Any:
        def grad(dy: tf.Tensor, variables: Any) -> Any:
            return dy, [dy, dy]

        return x * v, grad

    def no_pair(x: tf.Tensor) -> Any:
        return x * v, lambda dy, variables: dy

    rows: list[tuple[Any, type[Exception], str]] = [
        (too_many, ValueError, "too_many must return 1 gradients, one for each argument, got 2"),
        (bad_variables, ValueError, "each of its 1 variables, got 2"),
        (no_pair, ValueError, "must return a pair"),
        (lambda x: (x * v, lambda dy: dy), TypeError, "variables weight.*`variables`"),
        (lambda x: x * 2.0, TypeError, "return y, grad"),
    ]
    for f, kind, text in rows:
        for made in (tf.custom_gradient(f), tf.function(tf.custom_gradient(f))):
            with pytest.raises(kind, match=text):
                gradient(made)
    for decorator in (tf.custom_gradient, tf.recompute_grad, tf.grad_pass_through):
        with pytest.raises(TypeError, match="function"):
            decorator(3)


# --- recompute_grad and grad_pass_through --------------------------------------------------------


def test_recompute_computes_again() -> None:
    v = tf.Variable(3.0)
    calls = []

    def f(x: tf.Tensor) -> tf.Tensor:
        calls.append(1)
        return tf.sin(x) * v

    with tf.GradientTape() as tape:
        tape.watch(X)
        y = tf.recompute_grad(f)(X)
    assert len(calls) == 1
    gx, gv = tape.gradient(y, [X, v])
    assert len(calls) == 2
    np.testing.assert_allclose([gx, gv], [np.cos(2.0) * 3, np.sin(2.0)], rtol=1e-6)


def test_recompute_saves_only_the_arguments() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.exp(tf.sin(tf.exp(x)))

    def saved(f: Any) -> int:
        function = tf.function(f)
        with tf.GradientTape() as tape:
            tape.watch(X)
            function(X)
        return len(tape._records[0][3]) - 1

    assert saved(f) > 1
    assert saved(tf.recompute_grad(f)) == 0


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_recompute_gives_the_same_gradients(program: Callable[..., tf.Tensor]) -> None:
    x = tf.constant(1.1)
    expected = [t.numpy() for t in orders(program, x)]
    again = tf.recompute_grad(program)
    np.testing.assert_allclose([t.numpy() for t in orders(again, x)], expected, rtol=1e-5)
    traced = tf.function(lambda x: again(x))
    np.testing.assert_allclose([t.numpy() for t in orders(traced, x)], expected, rtol=1e-5)


def test_pass_through() -> None:
    v = tf.Variable(3.0)
    f = tf.grad_pass_through(lambda x: tf.round(x * v))

    def run(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x) * 2.0
        return tape.gradient(y, [x, v])

    for gx, gv in (run(X), tf.function(run)(X)):
        assert gx.numpy() == 2
        assert gv is None
