"""What fails says the same as on NumPy, and leaves variables as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.xla_programs import plan_of
from weft.errors import InvalidArgumentError

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)
INT = tf.int32


def cases() -> list[Any]:
    """Functions of a small integer, which is right (1) or wrong."""
    x = tf.constant(MATRIX)
    return [
        pytest.param(lambda i: tf.gather(x, [0, i]), 9, "gather: index 9", id="gather"),
        pytest.param(lambda i: x[i], 4, "index 4 is out of range", id="index"),
        pytest.param(lambda i: tf.gather_nd(x, [[0, i]]), -1, "out of range", id="gather_nd"),
        pytest.param(
            lambda i: tf.scatter_nd([[i]], [1.0], [3]), 3, "out of range", id="scatter_nd"
        ),
        pytest.param(lambda i: tf.constant([5, 6]) // (i - 1 + 1), 0, "by zero", id="division"),
        pytest.param(lambda i: 7 % i, 0, "by zero", id="modulo"),
        pytest.param(lambda i: tf.pow(2, i), -1, "negative", id="pow"),
        pytest.param(
            lambda i: tf.nn.sparse_softmax_cross_entropy_with_logits([i], x[:1]),
            3,
            "labels",
            id="labels",
        ),
        pytest.param(
            lambda i: tf.math.unsorted_segment_sum(x, [0, i, 0, 1], 2), 2, "2", id="segments"
        ),
        pytest.param(
            lambda i: tf.math.bincount([0, i], minlength=3, maxlength=3), -2, "neg", id="bins"
        ),
        pytest.param(
            lambda i: tf.debugging.assert_positive(i, "positive?"), 0, "positive?", id="assert"
        ),
        pytest.param(
            lambda i: tf.debugging.check_numerics(tf.math.log(tf.cast(i, tf.float32)), "log"),
            0,
            "Inf",
            id="check_numerics",
        ),
        pytest.param(
            lambda i: tf.linalg.inv(tf.cast([[i, 0], [0, 1]], tf.float32)), 0, "singular", id="inv"
        ),
    ]


@pytest.mark.parametrize(("function", "wrong", "text"), cases())
@pytest.mark.parametrize("place", ["alone", "in a branch", "in a loop"])
def test_checks(function: Callable[..., Any], wrong: int, text: str, place: str) -> None:
    v = tf.Variable(1.0)

    def number(i: tf.Tensor) -> tf.Tensor:
        out = function(i)
        return 0.0 if out is None else tf.reduce_sum(tf.cast(out, tf.float32))

    @tf.function
    def checked(i: tf.Tensor) -> tf.Tensor:
        total = tf.constant(0.0)
        v.assign_add(1.0)
        if place == "in a branch":
            if i != 77:
                total = total + number(i)
        elif place == "in a loop":
            for _ in tf.range(2):
                total += number(i)
        else:
            total += number(i)
        v.assign_add(1.0)
        return total

    checked(tf.constant(1))
    assert v.numpy() == 3.0
    tf.config.execution = "numpy"
    on_numpy = tf.function(function)
    with pytest.raises(InvalidArgumentError) as expected:
        on_numpy(tf.constant(wrong))
    tf.config.execution = "xla"
    with pytest.raises(InvalidArgumentError) as raised:
        checked(tf.constant(wrong))
    assert text in str(raised.value)
    assert str(raised.value).splitlines()[0] == str(expected.value).splitlines()[0]
    # NumPy has run the call: what stands before the failure was done, as eagerly, and no more.
    assert v.numpy() == 4.0
    assert plan_of(checked, tf.constant(1)).left_out is None
    checked(tf.constant(1))  # and it goes on


def test_raise_in_a_branch() -> None:
    @tf.function
    def positive(x: tf.Tensor) -> tf.Tensor:
        if x < 0.0:
            raise ValueError("negative")
        return tf.sqrt(x)

    assert positive(tf.constant(4.0)).numpy() == 2.0
    with pytest.raises(ValueError, match="negative"):
        positive(tf.constant(-4.0))


@pytest.mark.parametrize("where", ["before", "between", "after"])
def test_values_that_are_stored_and_used_again(where: str) -> None:
    """The old value is chosen where one is stored, so later ones are made of that; and kept."""
    start = np.arange(6, dtype=np.float32).reshape(2, 3)
    v, w = tf.Variable(start), tf.Variable(10 * start)
    rows = tf.constant(MATRIX)

    @tf.function
    def step(i: tf.Tensor) -> tf.Tensor:
        picked = tf.gather(rows, i)[0] if where == "before" else 1.0
        v.assign(v * 2.0 + picked)
        if where == "between":
            picked = tf.gather(rows, i)[0]
        w.assign_sub(v + picked)
        v.assign(v + w)
        if where == "after":
            picked = tf.gather(rows, i)[0]
        return tf.reduce_sum(v) + picked

    tf.config.execution = "numpy"
    expected = step(tf.constant(2)).numpy(), v.numpy(), w.numpy()
    tf.config.execution = "xla"
    v.assign(start)
    w.assign(10 * start)
    on_xla = tf.function(step.python_function)
    got = on_xla(tf.constant(2)).numpy(), v.numpy(), w.numpy()
    for x, y in zip(got, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)
    program = plan_of(on_xla, tf.constant(2)).program
    before = v.numpy(), w.numpy()
    out, failed = program._run(program_values(on_xla, 4))
    assert out is None
    assert failed[0]
    np.testing.assert_array_equal(v.numpy(), before[0])
    np.testing.assert_array_equal(w.numpy(), before[1])


def program_values(function: Any, number: int) -> list[Any]:
    """What the program of a function is given, for an integer as argument."""
    concrete = function.get_concrete_function(tf.constant(number))
    return [np.asarray(number, np.int32), *concrete._captured_values]
