"""`assert` and `raise`: while tracing on Python values, when the graph runs on tensors."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf
from support.both_ways import agree, agree_on


class OwnError(Exception):
    def __init__(self, code: int, text: str) -> None:
        super().__init__(code, text)


def test_assert() -> None:
    def f(x: Any) -> Any:
        assert x > 0, "x must be positive"
        return x * 2

    agree_on(f, [1], [-1])
    traced = tf.function(f)
    assert traced(tf.constant(1)).numpy() == 2
    with pytest.raises(AssertionError, match="x must be positive"):
        traced(tf.constant(-1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must be positive"):
        traced(tf.constant(-1))
    assert traced(tf.constant(1)).numpy() == 2


def test_assert_without_message_and_in_branches() -> None:
    def f(x: Any, flag: bool) -> Any:
        assert x < 100
        if x > 10:
            assert x % 2 == 0, "even numbers only"
            assert flag, "no flag"
        return x

    for x in (1, 11, 12, 200):
        agree(f, tf.constant(x), True)
        agree(f, x, True)
    for x in (1, 12):
        agree(f, tf.constant(x), False)


def test_assert_in_a_loop() -> None:
    def f(n: Any) -> Any:
        for i in tf.range(n):
            assert i < 3, "too far"
        return n

    agree_on(f, [2], [9])


def test_raise_of_python_values_happens_while_tracing() -> None:
    def f(x: Any, n: int) -> Any:
        if n > 1:
            raise ValueError("n is too large")
        return x

    agree(f, tf.constant(1), 1)
    assert isinstance(agree(f, tf.constant(1), 2), ValueError)


@pytest.mark.parametrize("error", [ValueError("no"), OwnError(3, "no"), KeyError("no")])
def test_raise_under_a_tensor_condition(error: Exception) -> None:
    def f(x: Any) -> Any:
        if x > 0:
            raise error
        return x * 2

    agree_on(f, [1], [-1])
    traced = tf.function(f)
    assert traced(tf.constant(-3)).numpy() == -6
    for _ in range(2):
        with pytest.raises(type(error), match="no"):
            traced(tf.constant(1))


def test_raise_of_a_class_and_with_a_cause() -> None:
    def f(x: Any) -> Any:
        if x > 5:
            raise RuntimeError
        if x > 0:
            raise ValueError("no") from KeyError("why")
        return x

    agree_on(f, [9], [1], [-1])
    with pytest.raises(ValueError, match="no") as caught:
        tf.function(f)(tf.constant(1))
    assert isinstance(caught.value.__cause__, KeyError)


def test_raise_in_else_and_the_value_defined_on_the_other_path() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            y = x * 2
        else:
            raise ValueError("not positive")
        return y

    agree_on(f, [1], [-1])


def test_raise_in_loops_and_called_functions() -> None:
    def check(x: Any) -> Any:
        if x > 3:
            raise ValueError("too large")
        return x

    def f(n: Any) -> Any:
        total = 0
        for i in tf.range(n):
            total += check(i)
        while total > 100:
            raise RuntimeError("never")
        return total

    agree_on(f, [2], [9])


def test_effects_before_a_failure_have_happened() -> None:
    v = tf.Variable(0)

    def f(x: Any) -> Any:
        v.assign_add(1)
        if x > 0:
            v.assign_add(10)
            raise ValueError("no")
        v.assign_add(100)
        return v.read_value()

    agree(f, tf.constant(1), variables=[v])
    agree(f, tf.constant(-1), variables=[v])


def test_reraise() -> None:
    def f(x: Any) -> Any:
        try:
            return x + {}["missing"]
        except KeyError as e:
            raise ValueError("wrapped") from e

    error = agree(f, tf.constant(1))
    assert isinstance(error, ValueError)

    def bare(x: Any) -> Any:
        try:
            return x + {}["missing"]
        except KeyError:
            raise

    assert isinstance(agree(bare, tf.constant(1)), KeyError)


def test_assert_without_a_message() -> None:
    def static(x: Any) -> Any:
        assert x.shape.rank == 0
        return x

    def staged(x: Any) -> Any:
        assert x > 0
        return x

    with pytest.raises(AssertionError) as info:
        tf.function(static)(tf.constant([1]))
    assert info.value.args == ()
    with pytest.raises(AssertionError, match="assertion failed: the condition is False"):
        tf.function(staged)(tf.constant(-1))


def test_a_name_of_an_enclosing_function_changed_in_a_staged_branch() -> None:
    @tf.function
    def f(x: Any) -> Any:
        total = x

        def add() -> None:
            nonlocal total
            total = total + 1

        if x > 0:
            add()
        return total

    with pytest.raises(tf.errors.InaccessibleTensorError, match="belongs to the graph 'if branch'"):
        f(tf.constant(1))
