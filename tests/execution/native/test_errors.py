"""Errors of compiled functions: the same as the NumPy tier's, and nothing half done."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf


def here(text: str) -> str:
    """The place in this file where a line of code stands, as errors name it."""
    with open(__file__, encoding="utf-8") as file:
        (number,) = [i for i, line in enumerate(file, 1) if line.strip().startswith(text)]
    return f"test_errors.py:{number}"


@pytest.mark.parametrize(
    ("function", "op"),
    [
        (lambda x: tf.linalg.svd(x * 2.0), "Svd"),
        (lambda x: tf.boolean_mask(x, x > 0.0), "Where"),
        (lambda x: tf.strings.as_string(x), "AsString"),
        (lambda x: tf.numpy_function(lambda a: a, [x], tf.float32), "PyFunc"),
    ],
    ids=["svd", "boolean_mask", "strings", "callback"],
)
def test_what_cannot_be_compiled_is_named(function: Callable[..., Any], op: str) -> None:
    jitted = tf.function(function, jit_compile=True)
    with pytest.raises(tf.errors.UnimplementedError, match=f"{op} has no native form") as caught:
        jitted(tf.ones([3, 3]))
    assert "jit_compile=True: <lambda> cannot be compiled" in str(caught.value)
    assert "test_errors.py" in str(caught.value)
    assert "Leave jit_compile out" in str(caught.value)
    tf.function(function)(tf.ones([3, 3]))  # the advice is good


def test_the_line_is_that_of_the_node() -> None:
    @tf.function(jit_compile=True)
    def deeper(x: Any) -> Any:
        y = x * 2.0
        for _ in tf.range(3):
            if tf.reduce_sum(y) > 0.0:
                tf.print("a print deep inside", y)
            y += 1.0
        return y

    with pytest.raises(tf.errors.UnimplementedError) as caught:
        deeper(tf.ones([3]))
    message = str(caught.value)
    assert "PrintV2 has no native form ('while/cond/PrintV2'" in message
    assert here('tf.print("a print deep inside"') in message


def _failing() -> dict[str, tuple[Callable[..., Any], list[Any], list[Any]]]:
    x = tf.constant([1, 2, 3])
    return {
        "division": (lambda x, y: x // y, [x, tf.constant([1, 2, 1])], [x, tf.constant([1, 0, 1])]),
        "remainder": (lambda x, y: x % y, [x, tf.constant(2)], [x, tf.constant(0)]),
        "gather": (tf.gather, [x, tf.constant([0, 2])], [x, tf.constant([0, 3])]),
        "gather_nd": (tf.gather_nd, [x, tf.constant([[0]])], [x, tf.constant([[-1]])]),
        "index": (lambda x, i: x[i], [x, tf.constant(-3)], [x, tf.constant(-4)]),
        "scatter": (
            lambda x, i: tf.tensor_scatter_nd_add(x, i, [5]),
            [x, tf.constant([[2]])],
            [x, tf.constant([[3]])],
        ),
        "in a loop": (
            lambda x, n: tf.while_loop(
                lambda i, s: i <= n, lambda i, s: (i + 1, s + tf.gather(x, i)), (0, 0)
            ),
            [x, tf.constant(2)],
            [x, tf.constant(3)],
        ),
        "in a branch": (
            lambda x, n: tf.cond(n > 5, lambda: x // (n - n), lambda: x),
            [x, tf.constant(1)],
            [x, tf.constant(6)],
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", _failing())
def test_failed_checks_raise_what_numpy_raises(name: str) -> None:
    function, good, bad = _failing()[name]
    errors = []
    for jit in (False, True):
        v = tf.Variable([1.0, 2.0])

        def run(*args: Any, v: tf.Variable = v) -> Any:
            result = function(*args)
            v.assign_add([1.0, 1.0])
            return result

        traced = tf.function(run, jit_compile=jit)
        traced(*good)
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            traced(*bad)
        errors.append((type(caught.value), str(caught.value)))
        assert v.numpy().tolist() == [2.0, 3.0]  # the call that failed has left it alone
        traced(*good)
        assert v.numpy().tolist() == [3.0, 4.0]
    assert errors[0] == errors[1]
    assert re.search(r"test_errors\.py\", line \d+", errors[0][1])


def test_an_assignment_before_the_failure_is_as_on_numpy() -> None:
    states = []
    for jit in (False, True):
        v = tf.Variable([1.0, 2.0])

        @tf.function(jit_compile=jit)
        def function(i: Any, v: tf.Variable = v) -> Any:
            v.assign_add([1.0, 1.0])
            return tf.gather(v, i)

        function(tf.constant(1))
        with pytest.raises(tf.errors.InvalidArgumentError, match="index 2 is out of range"):
            function(tf.constant(2))
        states.append(v.numpy().tolist())
    assert states[0] == states[1]


def test_locks_are_free_after_an_error() -> None:
    v = tf.Variable([1, 2])
    function = tf.function(lambda i: v[i] + v.assign_add([1, 1])[0], jit_compile=True)
    function(tf.constant(0))
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.constant(5))
    done = threading.Event()
    other = threading.Thread(target=lambda: (v.assign([0, 0]), done.set()), daemon=True)
    other.start()
    assert done.wait(5)
    np.testing.assert_array_equal(v, [0, 0])


@pytest.mark.parametrize("reads", [False, True])
def test_a_result_too_large_for_memory_is_an_error_of_the_user(reads: bool) -> None:
    v = tf.Variable(1.0)

    @tf.function(jit_compile=True)
    def table(x: tf.Tensor) -> tf.Tensor:
        return tf.fill([2**30, 2**30], x + (v if reads else 1.0))

    for _ in range(2):
        with pytest.raises(
            tf.errors.ResourceExhaustedError, match="Fill: a result of shape"
        ) as caught:
            table(tf.constant(2.0))
        assert "test_errors.py" in str(caught.value)
    v.assign(3.0)  # nothing is locked
