"""Functions of which only parts can be compiled: native segments with NumPy between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.both_ways import agree


@pytest.fixture(autouse=True)
def _native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "native")


def account(function: Any) -> str:
    return str(tf.explain(function).traces[-1]["native"])


def plan_of(function: Any, *args: Any) -> Any:
    return function.get_concrete_function(*args).graph.plan


X = tf.constant([1.0, -2.0, 3.0, 0.5])


def test_prints_and_effects_stay_in_order() -> None:
    v = tf.Variable([1.0, 2.0], name="v")

    def function(x: Any) -> Any:
        y = tf.square(x) * 2.0 + x
        tf.print("first", tf.shape(y), v)
        v.assign_add(y[:2] * tf.abs(y[1:3]))
        tf.print("second", v)
        for i in tf.range(3):
            v.assign(v * 0.5 + 1.0)
            tf.print("loop", i, v)
        tf.print("third", v)
        return y * v[0], tf.reduce_sum(v)

    agree(function, tf.constant([0.0, 1.0, 2.0]), variables=[v])


def test_what_runs_where() -> None:
    @tf.function
    def function(x: Any) -> Any:
        y = tf.sin(x) * 2.0 + x
        inverse = tf.linalg.inv(tf.linalg.diag(tf.abs(y) + 1.0))
        return tf.reduce_sum(inverse * inverse, 1) + tf.tanh(y)

    function(X)
    plan = plan_of(function, X)
    assert plan.tier == "native"
    assert plan.compiled[0].segments == 2
    text = account(function)
    assert "2 segments" in text
    assert "MatrixInverse has no native form" in text
    assert "test_segments.py" in text


@pytest.mark.parametrize("dims", [[4], [None]], ids=["known", "unknown"])
def test_data_dependent_shapes(dims: list[int | None]) -> None:
    def function(x: Any) -> Any:
        y = tf.square(x) + x * 0.5
        kept = tf.boolean_mask(y, y > 1.0)
        places = tf.where(x > 0.0)
        return kept * 2.0, tf.reduce_sum(kept), places, tf.unique(tf.round(y))[0]

    traced = tf.function(function, input_signature=[tf.TensorSpec(dims)])
    for x in (X, -X, X * 0.0, X):
        for a, b in zip(traced(x), function(x), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)


def test_strings() -> None:
    def function(x: Any, name: Any) -> Any:
        y = x * 2.0 - 1.0
        total = tf.reduce_sum(y * y)
        return tf.strings.join([name, tf.strings.as_string(total, precision=2)], ":"), y + total

    for a, b in zip(tf.function(function)(X, "sum"), function(X, "sum"), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_python_callbacks_see_what_came_before() -> None:
    v = tf.Variable(0.0)
    seen: list[float] = []

    @tf.function
    def function(x: Any) -> Any:
        v.assign_add(tf.reduce_sum(x) * 2.0)
        y = tf.py_function(lambda a: seen.append(float(v)) or a + 1.0, [x * 3.0], tf.float32)
        v.assign(v * 10.0 + 1.0)
        return tf.ensure_shape(y, [4]) * 2.0 + v

    start = 0.0
    for k in range(1, 4):
        out = function(X)
        start += 2 * 2.5
        assert seen[-1] == start
        start = start * 10 + 1
        np.testing.assert_allclose(out, (X.numpy() * 3 + 1) * 2 + start, rtol=1e-6)
        assert len(seen) == k


def test_a_failed_assertion_comes_before_assignments_that_follow_it() -> None:
    v = tf.Variable([0.0, 0.0])

    def function(x: Any) -> Any:
        v.assign_add([1.0, 1.0])
        tf.debugging.assert_positive(tf.reduce_sum(x) * 2.0, message="too small")
        v.assign_add(x[:2] * 10.0)
        matrix = tf.linalg.inv(tf.linalg.diag(x))
        v.assign(v * 2.0 + matrix[0, 0])
        return tf.reduce_sum(x) * 3.0

    for x, wanted in (
        ([1.0, 2.0, 3.0], None),
        ([-1.0, -2.0, -3.0], "small"),
        ([9.0, 0.0, 1.0], "inv: a matrix"),
    ):
        agree(function, tf.constant(x), variables=[v], calls=1)
        if wanted is not None:
            with pytest.raises(tf.errors.InvalidArgumentError, match=wanted):
                tf.function(function)(tf.constant(x))


def test_segments_inside_loops_and_branches() -> None:
    v = tf.Variable([0.0, 0.0, 0.0, 0.0])

    def function(x: Any, n: Any) -> Any:
        total = tf.zeros([4])
        for i in tf.range(n):  # a range of a length that is not known
            total += tf.square(x) * tf.cast(i, tf.float32) + tf.abs(total)
            if i % 2 == 0:
                tf.print("even", i)
                total = tf.sort(total * 2.0 - x)
            v.assign_add(total * 0.5 - 1.0)
        return total

    agree(function, X, tf.constant(4), variables=[v])


def test_gradients_through_what_has_no_native_form() -> None:
    def function(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            m = tf.linalg.diag(tf.exp(x) + 1.0) + 0.1
            y = tf.linalg.logdet(m @ tf.transpose(m)) * 2.0
        return y, tape.gradient(y, x)

    traced = tf.function(function)
    for a, b in zip(traced(X), function(X), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4)


def test_a_loop_gradient_with_rows_picked_one_by_one() -> None:
    def function(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.constant(0.0)
            for i in tf.range(4):
                y = tf.tanh(y + tf.gather(x, i) * 2.0)
        return y, tf.convert_to_tensor(tape.gradient(y, x))

    agree(function, X)


def test_errors_in_a_segment_are_the_users() -> None:
    v = tf.Variable([0.0, 0.0])

    @tf.function
    def function(x: Any, i: Any) -> Any:
        y = tf.exp(x) * 2.0
        tf.print("before")
        v.assign_add(y[:2])
        return tf.gather(y, i) + tf.reduce_sum(y)

    function(X, tf.constant(1))
    state = v.numpy()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"index 9 is out of range") as caught:
        function(X, tf.constant(9))
    assert "test_segments.py" in str(caught.value)
    # The segment with the gather comes first, and so nothing has happened.
    np.testing.assert_array_equal(v.numpy(), state)


def test_nothing_to_compile_is_no_error() -> None:
    function = tf.function(lambda x: tf.strings.upper(x))
    assert function(tf.constant("a")).numpy() == b"A"
    assert plan_of(function, tf.constant("a")).tier == "numpy"
    assert "not compiled" in account(function)


def test_an_assertion_comes_before_what_would_fail_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tf.config, "execution", "native")

    @tf.function
    def pick(x: Any, i: Any) -> Any:
        y = tf.sin(x) * 2.0
        tf.debugging.assert_less(i, 3, message="only three of them")
        return tf.gather(y, i) + 1.0

    x = tf.constant([1.0, 2.0, 3.0])
    np.testing.assert_allclose(pick(x, tf.constant(2)), np.sin(3.0) * 2 + 1, rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="only three of them"):
        pick(x, tf.constant(3))
