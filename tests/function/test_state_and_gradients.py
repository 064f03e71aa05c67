"""Variables, effects, nested functions and gradients of traced functions."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import weft as tf


def test_automatic_control_dependencies() -> None:
    a, b = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def f(x: object, y: object) -> tf.Tensor:
        a.assign(y * b)
        b.assign_add(x * a)
        return a + b

    assert f(1.0, 2.0).numpy() == 10


def test_effects_happen_in_every_call(capsys: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def f(x: object) -> None:
        print("traced with", x)
        tf.print("executed with", x, output_stream=sys.stdout)

    f(1)
    f(1)
    f(2)
    assert capsys.readouterr().out.splitlines() == [
        "traced with 1",
        "executed with 1",
        "executed with 1",
        "traced with 2",
        "executed with 2",
    ]


def test_py_function_in_a_function() -> None:
    external = []

    @tf.function
    def f(x: object) -> None:
        tf.py_function(external.append, inp=[x], Tout=[])

    for _ in range(3):
        f(1)
    assert [t.numpy() for t in external] == [1, 1, 1]


def test_variables_created_on_the_first_call() -> None:
    class C:
        v = None

    obj = C()

    @tf.function
    def g(x: object) -> tf.Tensor:
        if obj.v is None:
            obj.v = tf.Variable(1.0)
        return obj.v.assign_add(x)

    assert g(1.0).numpy() == 2
    assert g(2.0).numpy() == 4


def test_initial_values_may_depend_on_arguments_and_other_variables() -> None:
    state: list[tf.Variable] = []

    @tf.function
    def fn(x: tf.Tensor) -> tf.Tensor:
        if not state:
            state.append(tf.Variable(2.0 * x))
            state.append(tf.Variable(state[0] * 3.0))
        return state[0] * x * state[1]

    assert fn(tf.constant(1.0)).numpy() == 12
    assert fn(tf.constant(3.0)).numpy() == 36


def test_a_new_variable_in_every_call_is_refused_with_its_line() -> None:
    @tf.function
    def f(x: object) -> object:
        v = tf.Variable(1.0)  # here
        return v.assign_add(x)

    with pytest.raises(ValueError, match="not its first") as e:
        f(1.0)
    assert "# here" in str(e.value)


def test_variables_created_in_a_later_trace_are_refused() -> None:
    made = []

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        if x.dtype is tf.float64:
            made.append(tf.Variable(1.0))
        return x

    f(tf.constant(1.0))
    with pytest.raises(ValueError, match="not its first"):
        f(tf.constant(1.0, tf.float64))


def test_functions_own_the_variables_they_create() -> None:
    @tf.function
    def f(x: tf.Tensor, holder: list[object] = []) -> tf.Tensor:  # noqa: B006
        if not holder:
            holder.append(tf.Variable(5.0))
        return x * holder[0]

    made: list[object] = []

    def g(x: tf.Tensor) -> tf.Tensor:
        if not made:
            made.append(tf.Variable(5.0))
        return x * made[0]

    traced = tf.function(g)
    assert traced(tf.constant(2.0)).numpy() == 10
    made.clear()
    made.append(None)
    assert traced(tf.constant(3.0)).numpy() == 15
    del f


def test_initial_values_from_functions() -> None:
    made: list[tf.Variable] = []

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        if not made:
            made.append(tf.Variable(lambda: tf.ones([2]) * 3.0))
            made.append(tf.Variable(lambda: x * 2.0))
        return made[0] * made[1]

    assert f(tf.constant(2.0)).numpy().tolist() == [12, 12]


def test_concrete_functions_of_functions_that_create_variables() -> None:
    made: list[tf.Variable] = []

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        if not made:
            made.append(tf.Variable(2.0))
        return x * made[0]

    assert f.get_concrete_function(tf.TensorSpec([]))(tf.constant(4.0)).numpy() == 8


def test_variables_as_arguments() -> None:
    traces = []

    @tf.function
    def f(v: tf.Variable, w: tf.Variable) -> tf.Tensor:
        traces.append(v)
        v.assign_add(1.0)
        return w * 1.0

    a, b = tf.Variable(1.0), tf.Variable(10.0)
    assert f(a, b).numpy() == 10
    assert f(b, a).numpy() == 2
    assert (a.numpy(), b.numpy()) == (2, 11)
    assert len(traces) == 1
    assert f(a, a).numpy() == 3  # the same variable twice is another case
    assert len(traces) == 2


def test_while_loop_on_a_variable_argument() -> None:
    @tf.function
    def f(v: tf.Variable) -> tf.Tensor:
        tf.while_loop(
            lambda i: i < 3, lambda i: [i + 0 * tf.cast(v.assign_add(1.0), tf.int32) + 1], [0]
        )
        return v.value()

    assert f(tf.Variable(1.0)).numpy() == 4


# --- functions in functions ----------------------------------------------------------------------


def test_functions_call_functions() -> None:
    @tf.function
    def add(a: tf.Tensor, b: object) -> tf.Tensor:
        return a + b

    @tf.function
    def dense(x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        return add(tf.matmul(x, w), b)

    out = dense(tf.ones([3, 2]), tf.ones([2, 4]), tf.ones([4]))
    assert (out.numpy() == 3).all()
    graph = dense.get_concrete_function(tf.ones([3, 2]), tf.ones([2, 4]), tf.ones([4])).graph
    assert any(n.op.name == "PartitionedCall" for n in graph.nodes)


def test_closures_over_the_enclosing_trace() -> None:
    @tf.function
    def outer(x: tf.Tensor) -> tf.Tensor:
        y = x * 2.0

        @tf.function
        def inner(z: tf.Tensor) -> tf.Tensor:
            return y + z

        return inner(x) + inner(y)

    assert outer(tf.constant(1.0)).numpy() == 3 + 4
    assert outer(tf.constant(2.0)).numpy() == 6 + 8

    kept = {}

    @tf.function
    def shared(x: tf.Tensor) -> tf.Tensor:
        y = x + 1.0
        kept.setdefault("f", tf.function(lambda z: z * kept["y"]))
        kept["y"] = y
        return kept["f"](x)

    assert shared(tf.constant(2.0)).numpy() == 6
    assert shared(tf.constant([2.0, 3.0])).numpy().tolist() == [6, 12]  # another trace, another y


def test_functions_as_arguments() -> None:
    @tf.function
    def apply(f: object, x: tf.Tensor) -> tf.Tensor:
        return f(x)

    square = tf.function(lambda x: x * x)
    assert apply(square, tf.constant(3.0)).numpy() == 9
    assert apply(tf.abs, tf.constant(-3.0)).numpy() == 3


def test_leaked_tensors_are_named() -> None:
    kept = []

    @tf.function
    def leaky(x: tf.Tensor) -> tf.Tensor:
        kept.append(x + 1)  # leaks
        return x

    leaky(tf.constant(1))
    for use in (
        lambda: kept[0] + 1,
        tf.function(lambda: kept[0] + 1),
        lambda: leaky(kept[0]),
        lambda: leaky(x=kept[0]),
        lambda: tf.Variable(kept[0]),
    ):
        with pytest.raises(TypeError, match="leaky.*made at .*test_state_and_gradients"):
            use()


# --- gradients ------------------------------------------------------------------------------------


def test_gradient_of_a_call() -> None:
    v = tf.Variable(2.0)
    square = tf.function(lambda x: x * x * v)
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = square(x)
    gx, gv = tape.gradient(y, [x, v])
    assert gx.numpy() == 12
    assert gv.numpy() == 9


def test_gradients_of_nested_calls_to_second_order() -> None:
    w = tf.Variable(np.array([[0.1, 0.2], [0.3, 0.4]], np.float32))
    inner = tf.function(lambda x: tf.tanh(x @ w))

    def model(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(inner(x) ** 2)

    def second(f: object) -> list[list[float]]:
        x = tf.constant([[1.0, -0.5]])
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                y = f(x)  # type: ignore[operator]
            g = tape.gradient(y, w)
            s = tf.reduce_sum(g * g)
        return outer.gradient(s, w).numpy()

    expected = second(lambda x: tf.reduce_sum(tf.tanh(x @ w) ** 2))
    np.testing.assert_allclose(second(tf.function(model)), expected, rtol=1e-5)
    np.testing.assert_allclose(second(model), expected, rtol=1e-5)


def test_tape_and_training_step_inside_a_function() -> None:
    w, b = tf.Variable(tf.zeros([3, 1])), tf.Variable(0.0)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 3)).astype(np.float32)
    y = x @ np.array([[1.0], [2.0], [3.0]], np.float32) + 0.5

    @tf.function
    def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ w + b - y))
        for variable, g in zip([w, b], tape.gradient(loss, [w, b]), strict=True):
            variable.assign_sub(0.1 * g)
        return loss

    losses = [float(step(x, y)) for _ in range(200)]
    assert losses[-1] < 1e-4 < losses[0]
    np.testing.assert_allclose(w.numpy()[:, 0], [1, 2, 3], atol=0.05)


def test_effects_run_once_under_a_tape() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        y = x * v
        v.assign_add(1.0)
        return y * v

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert y.numpy() == 6
    assert v.numpy() == 2
    assert tape.gradient(y, x).numpy() == 2
    assert v.numpy() == 2


# --- gradients of variables that are arguments ----------------------------------------------------


def test_a_tape_in_a_function_watches_variables_that_are_arguments() -> None:
    @tf.function
    def slope(v: tf.Variable) -> Any:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v**3)
        assert tape.watched_variables() == (v,)
        return tape.gradient(y, v)

    np.testing.assert_allclose(slope(tf.Variable([1.0, 2.0])), [3.0, 12.0])
    assert tf.function(lambda v: slope(v))(tf.Variable([3.0])).numpy() == 27
    with pytest.raises(AssertionError):
        slope(tf.Variable([1.0, 2.0], trainable=False))  # not watched, so not in the list


def test_gradient_of_one_variable_given_as_two_arguments() -> None:
    @tf.function
    def slopes(a: tf.Variable, b: tf.Variable) -> Any:
        with tf.GradientTape() as tape:
            y = a * a * b
        return tape.gradient(y, [a, b])

    v, w = tf.Variable(3.0), tf.Variable(5.0)
    assert [g.numpy() for g in slopes(v, w)] == [30, 9]
    assert [g.numpy() for g in slopes(v, v)] == [27, 27]


def test_a_variable_that_is_an_argument_and_in_the_closure_is_one_variable() -> None:
    v, w = tf.Variable(3.0), tf.Variable(5.0)

    @tf.function
    def slope(a: tf.Variable) -> Any:
        with tf.GradientTape() as tape:
            y = a * v
        return tape.gradient(y, a)

    @tf.function
    def through(a: tf.Variable) -> Any:
        return slope(a)

    for f in (slope, through, slope):
        assert f(v).numpy() == 6
        assert f(w).numpy() == 3
    assert slope.experimental_get_tracing_count() == 2  # for v, and for all others
    assert slope(tf.Variable(7.0)).numpy() == 3
    assert slope.experimental_get_tracing_count() == 2


def test_variables_of_a_captured_model_as_arguments() -> None:
    w = tf.Variable([1.0, 0.0])

    @tf.function
    def step(x: tf.Tensor, variables: list[tf.Variable]) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x * w - 1.0) ** 2)  # only by its own name
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(0.1 * g)  # a g of None could not be multiplied
        return loss

    @tf.function
    def twice(variables: list[tf.Variable]) -> Any:
        step(tf.constant([2.0, 3.0]), variables)
        return step(tf.constant([2.0, 3.0]), variables)

    assert twice([w]).numpy() == pytest.approx(0.68)
    np.testing.assert_allclose(w, [0.52, 0.12], rtol=1e-5)
    assert step.experimental_get_tracing_count() == 1


def test_initial_values_from_arguments_cannot_be_computed_twice() -> None:
    v, made = tf.Variable(3.0), []

    @tf.function
    def f(a: tf.Variable, x: tf.Tensor) -> Any:
        if not made:
            made.append(tf.Variable(x * 2.0))
        return a + v + made[0]

    with pytest.raises(ValueError, match=r"f .*'Variable:0' as an argument and by itself"):
        f(v, tf.constant(1.0))
