"""`return` anywhere: in branches, loops, `with`, `try`, on some paths only."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf
from support.both_ways import agree, agree_on


def test_early_returns() -> None:
    def f(x: Any) -> Any:
        if x < 0:
            return -1
        if x == 0:
            return 0
        x = x * 2
        if x > 10:
            if x > 100:
                return 100
            x = x + 1
        return x

    agree_on(f, [-1], [0], [3], [6], [200])


def test_return_in_both_branches() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            return x
        else:
            return -x

    agree_on(f, [1], [-1])


def test_return_in_loops() -> None:
    def f(n: Any, wanted: Any) -> Any:
        for i in tf.range(n):
            if i * i > wanted:
                return i
        return -1

    agree_on(f, [0, 4], [2, 4], [9, 4])


def test_return_in_nested_loops() -> None:
    def f(n: Any, wanted: Any) -> Any:
        k = 0
        for i in tf.range(n):
            j = tf.constant(0)
            while j < n:
                k += 1
                if i * j == wanted:
                    return i, j, k
                j += 1
            if k > 30:
                break
        return -1, -1, k

    agree_on(f, [0, 4], [4, 6], [4, 100], [9, 1])


def test_return_in_the_else_of_a_loop() -> None:
    def f(n: Any) -> Any:
        for i in tf.range(n):
            if i == 3:
                break
        else:
            return -1
        return n

    agree_on(f, [2], [7])


def test_return_inside_with() -> None:
    def f(x: Any) -> Any:
        with tf.name_scope("inside"):
            if x > 0:
                return x * 2
        return x * 3

    agree_on(f, [1], [-1])


def test_return_inside_try() -> None:
    def f(x: Any) -> Any:
        try:
            if x > 0:
                return x * 2
        finally:
            print("left")
        return x * 3

    for x in (1, -1):
        assert tf.function(f)(tf.constant(x)).numpy() == f(x)


def test_functions_that_return_nothing() -> None:
    v = tf.Variable(0)

    def f(x: Any) -> Any:
        if x > 0:
            v.assign(x)
            return
        v.assign(-x)

    for x in (1, -2):
        assert agree(f, tf.constant(x), variables=[v]) is None


def test_bare_return_in_a_loop() -> None:
    v = tf.Variable(0)

    def f(n: Any) -> Any:
        for i in tf.range(n):
            v.assign_add(i)
            if v > 3:
                return

    for n in (0, 2, 9):
        agree(f, tf.constant(n), variables=[v])


def test_return_of_nests_and_python_values() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            return {"a": x, "b": 1.5}
        return {"a": -x, "b": 2.5}

    agree_on(f, [1], [-1])


def test_code_after_a_return_is_not_run() -> None:
    v = tf.Variable(0)

    def f(x: Any) -> Any:
        if x > 0:
            return x
        v.assign(7)
        return x - 1

    for x in (1, -1):
        agree(f, tf.constant(x), variables=[v])


def test_a_tensor_on_some_paths_only() -> None:
    @tf.function
    def f(x: Any) -> Any:
        if x > 0:
            return x
        return None

    with pytest.raises(TypeError, match="The return value"):
        f(tf.constant(1))


def test_recursion_that_ends_in_python() -> None:
    def factorial(n: int, x: Any) -> Any:
        if n <= 1:
            return x
        return n * factorial(n - 1, x)

    agree(factorial, 5, tf.constant(2))
