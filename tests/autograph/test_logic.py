# ruff: noqa: SIM201 - the constructs are what is tested
"""`and`, `or`, `not`, comparisons, `in`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.both_ways import agree, agree_on

PAIRS = [[x, y] for x in (-1, 0, 2) for y in (0, 1, 5)]


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: x > 0 and y > 0,
        lambda x, y: x > 0 or y > 0,
        lambda x, y: not x > 0,
        lambda x, y: not (x > 0 and y > 0) or x == y,
        lambda x, y: x > 0 and y > 0 and x < y,
        lambda x, y: x < y < 3,
        lambda x, y: 0 <= x <= y != 1,
        lambda x, y: x == y,
        lambda x, y: x != y,
        lambda x, y: x in (0, 1, y),
        lambda x, y: x not in [0, 1],
        lambda x, y: x in range(1, 4),
        lambda x, y: (max(y, x)) > 1 and not y == 5,
    ],
)
def test_logic(f: Any) -> None:
    agree_on(f, *PAIRS)


def test_the_second_operand_is_evaluated_only_if_needed() -> None:
    v = tf.Variable(0)

    def f(x: Any) -> Any:
        a = x > 0 and v.assign_add(1) > 1
        b = x > 0 or v.assign_add(10) > 1
        return a, b

    for x in (1, -1):
        agree(f, tf.constant(x), variables=[v])


def test_chained_comparisons_evaluate_operands_once_and_lazily() -> None:
    v = tf.Variable(0)

    def f(x: Any) -> Any:
        return 0 < x < v.assign_add(3) < v.assign_add(1)

    for x in (-1, 1, 5):
        agree(f, tf.constant(x), variables=[v])


def test_division_is_guarded() -> None:
    agree_on(lambda x, y: y != 0 and x // y > 1, [4, 2], [4, 0])


def test_in_a_tensor() -> None:
    def f(x: Any, values: Any) -> Any:
        return x in values, x not in values

    for x in (1, 7):
        agree(f, tf.constant(x), tf.constant([1, 2, 3]))


def test_in_python_containers() -> None:
    def f(x: Any, key: str) -> Any:
        d = {"a": x}
        if key in d:
            return d[key]
        return -x

    agree(f, tf.constant(1), "a")
    agree(f, tf.constant(1), "b")


def test_python_values_keep_pythons_results() -> None:
    def f(x: Any, nothing: Any, empty: Any) -> Any:
        name = nothing or "default"
        first = empty and 1
        return x + len(name) + len(first)

    agree(f, tf.constant(1), None, [])


def test_elementwise_equality() -> None:
    def f(x: Any, y: Any) -> Any:
        return x == y, x != y, tf.reduce_all(x == y)

    agree(f, tf.constant([1, 2, 3]), tf.constant([1, 5, 3]))
    agree(f, tf.constant([1, 2, 3]), np.array([1, 2, 3], np.int32))


def test_is_and_is_not() -> None:
    def f(x: Any, y: Any) -> Any:
        if y is None:
            return x
        if x is not y:
            return y
        return x * y

    agree(f, tf.constant(1), None)
    agree(f, tf.constant(1), tf.constant(3))


def test_conditions_that_mix_python_and_tensors() -> None:
    def f(x: Any, flag: Any) -> Any:
        if flag and x > 0:
            return 1
        if x > 0 or not flag:
            return 2
        return 3

    for flag in (True, False):
        for x in (1, -1):
            agree(f, tf.constant(x), flag)


def test_walrus_inside_conditions() -> None:
    def f(x: Any) -> Any:
        if (y := x * 2) > 4 and (z := y + 1) < 20:
            return y + z
        return y

    agree_on(f, [1], [3], [30])


def test_walrus_in_ternaries_and_calls() -> None:
    def f(x: Any) -> Any:
        a = (y := x + 1) if x > 0 else (y := x - 1)
        return a, y, abs(z := -x) + z

    agree_on(f, [1], [-3])
