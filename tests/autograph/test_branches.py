"""`if`, ternaries, `match`: on Python values and on tensors, eager and traced."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf
from support.both_ways import agree, agree_on


def test_if_without_else() -> None:
    def f(x: Any) -> Any:
        y = x
        if x > 2:
            y = x * 10
        return y

    agree_on(f, [1], [3])


def test_if_else() -> None:
    def f(x: Any) -> Any:
        if x > 2:
            y = x * 10
        else:
            y = -x
        return y

    agree_on(f, [1], [3])


def test_elif_chains() -> None:
    def f(x: Any) -> Any:
        if x < 0:
            y = -1
        elif x == 0:
            y = 0
        elif x < 10:
            y = 1
        else:
            y = 2
        return y

    agree_on(f, [-3], [0], [5], [50])


def test_nested_branches_that_change_several_variables() -> None:
    def f(x: Any, y: Any) -> Any:
        a, b = x, y
        if x > y:
            a = a + 1
            if a > 2 * y:
                b = b - a
            else:
                a, b = b, a
        elif x == y:
            b = 0
        return a, b

    agree_on(f, [1, 2], [2, 2], [3, 2], [9, 2])


def test_effects_of_the_branch_not_taken_do_not_happen() -> None:
    v, w = tf.Variable(1), tf.Variable(2)

    def f(x: Any) -> Any:
        if x > 0:
            v.assign_add(x)
            tf.print("positive", x)
        else:
            w.assign(v * 3)
            tf.print("not positive", x)
        return v + w

    for x in (3, -3):
        agree(f, tf.constant(x), variables=[v, w])


def test_python_conditions_run_while_tracing() -> None:
    ran: list[str] = []

    def f(x: Any, flag: bool) -> Any:
        if flag:
            ran.append("yes")
            return x
        ran.append("no")
        return -x

    assert tf.function(f)(tf.constant(1), True).numpy() == 1
    assert ran == ["yes"]


def test_tests_of_conditions_have_their_effects_once() -> None:
    v = tf.Variable(0)

    def f(x: Any) -> Any:
        if v.assign_add(1) > x:
            return v * 10
        elif v.assign_add(1) > x:
            return v * 100
        return v * 1000

    for x in (0, 1, 2):
        agree(f, tf.constant(x), variables=[v])


def test_ternary() -> None:
    agree_on(lambda x: x * 2 if x > 1 else (-x if x < 0 else 7), [3], [-3], [0])


def test_ternary_evaluates_one_side() -> None:
    v = tf.Variable(1)

    def f(x: Any) -> Any:
        y = v.assign_add(5) if x > 0 else v.assign_sub(3)
        return y + x

    agree(f, tf.constant(1), variables=[v])
    agree(f, tf.constant(-1), variables=[v])


def test_branches_may_return_nests() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            out = {"a": x, "b": (x + 1, [x + 2])}
        else:
            out = {"a": x * 3, "b": (x - 1, [x - 2])}
        return out

    agree_on(f, [1], [-1])


def test_a_number_takes_the_dtype_of_the_other_branch() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            y = tf.constant(2.5)
        else:
            y = 0
        return y

    assert tf.function(f)(tf.constant(-1)).dtype == tf.float32
    agree(f, tf.constant(1))


def test_strings_in_branches() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            s = "positive"
        else:
            s = "not"
        return s

    agree_on(f, [1], [-1])


def test_a_branch_that_does_nothing() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            pass
        else:
            x = -x
        return x

    agree_on(f, [1], [-1])


def test_match_on_values() -> None:
    def f(x: Any) -> Any:
        match x:
            case 1:
                y = 10
            case 2 | 3:
                y = x * 20
            case _:
                y = -1
        return y

    agree_on(f, [1], [2], [3], [4])


def test_match_with_guards_and_returns() -> None:
    def f(x: Any, y: Any) -> Any:
        match x:
            case 1 if y > 0:
                return 10
            case 1:
                return 20
        return 30

    agree_on(f, [1, 1], [1, -1], [2, 0])


def test_match_with_captures_and_guards() -> None:
    def f(x: Any) -> Any:
        match x:
            case 0:
                return 100
            case n if n > 3:
                return n + 1
            case n:
                return n - 1

    agree_on(f, [0], [5], [2])


def test_match_on_structures_runs_as_python() -> None:
    def f(x: Any, command: Any) -> Any:
        match command:
            case ("scale", k):
                if x > 0:
                    x = x * k
            case {"shift": d}:
                x = x + d
            case _:
                x = tf.zeros_like(x)
        return x

    for command in (("scale", 3), {"shift": 2}, "other"):
        for x in (2, -2):
            agree(f, tf.constant(x), command)


def test_a_condition_must_be_a_bool() -> None:
    @tf.function
    def f(x: Any) -> Any:
        if x:
            return 1
        return 2

    with pytest.raises(ValueError, match="scalar bool.*int32"):
        f(tf.constant(1))
    with pytest.raises(ValueError, match="reduce_any"):
        f(tf.constant([True, False]))


def test_what_is_defined_in_one_branch_only() -> None:
    def unused(x: Any) -> Any:
        if x > 0:
            t = x * 2
            y = t
        else:
            y = x
        return y

    agree_on(unused, [1], [-1])

    @tf.function
    def used(x: Any) -> Any:
        if x > 0:
            y = x
        return y

    with pytest.raises(ValueError, match="'y' must also be defined in the else branch"):
        used(tf.constant(1))


def test_branches_of_different_kinds() -> None:
    @tf.function
    def none(x: Any) -> Any:
        if x > 0:
            y = None
        else:
            y = x
        return y

    with pytest.raises(TypeError, match="'y'.*None in the if branch"):
        none(tf.constant(1))

    @tf.function
    def dtypes(x: Any) -> Any:
        if x > 0:
            y = x
        else:
            y = tf.constant(1.5)
        return y

    with pytest.raises(TypeError, match="'y' has dtype int32 in the if branch .* and float32"):
        dtypes(tf.constant(1))


def test_a_mismatch_that_nobody_uses_is_no_error() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            y: Any = "text"
            z = 1
        else:
            y = {"a": 3}
            z = 2
        del y
        return z

    agree_on(f, [1], [-1])


def test_the_graph_holds_a_conditional() -> None:
    @tf.function
    def f(x: Any) -> Any:
        if x > 0:
            x = -x
        return x

    nodes = f.get_concrete_function(tf.TensorSpec([], tf.int32)).graph.as_graph_def().node
    assert "cond" in [node.name for node in nodes]


def test_lists_of_different_lengths_are_told_apart() -> None:
    f = tf.function(lambda x: [0] if x > 0 else [0, 1])
    with pytest.raises(TypeError, match="list of length 1 in the first, list of length 2 in the"):
        f(tf.constant(3))
