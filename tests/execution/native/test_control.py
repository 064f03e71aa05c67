"""Branches and loops as machine code, with loop variables and tf.Variables in every place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check, check_program, compile_native


def _collatz(n: Any) -> Any:
    steps = tf.constant(0)
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps, n


@pytest.mark.parametrize("n", [1, 7, 27])
def test_a_branch_in_a_loop(n: int) -> None:
    check_program(_collatz, np.int32(n))


def _early_exits(x: Any) -> Any:
    total = tf.zeros_like(x)
    for i in tf.range(20):
        if i == 3:
            continue
        total += x * tf.cast(i, tf.float32)
        if tf.reduce_sum(total) > 50.0:
            return total, i
        if i > 10:
            break
    return total * 2.0, tf.constant(-1)


@pytest.mark.parametrize("scale", [10.0, 0.01, 1.0, -1.0])
def test_early_exits(scale: float) -> None:
    check_program(_early_exits, np.float32([1, 2, 3]) * np.float32(scale))


def _nested(x: Any) -> Any:
    i = tf.constant(0)
    while i < 4:
        j = tf.constant(0)
        inner = tf.zeros_like(x)
        while j < i:
            inner += x[j] * tf.cast(i, tf.float32)
            j += 1
        if tf.reduce_max(inner) > 5.0:
            if i == 3:
                x = x - inner
            else:
                x = x - 1.0
        x = x + inner
        i += 1
    return x, i


def test_nested_loops_and_branches() -> None:
    check_program(_nested, np.float32([1, 2, 3, 4]))


def test_loop_variables_that_change_places() -> None:
    """All new values are computed from the old ones before any is stored."""

    def rotate(a: Any, b: Any, c: Any) -> Any:
        for _ in tf.range(5):
            a, b, c = b, c, a + b * 2
        return a, b, c

    vectors = [np.arange(4, dtype=np.int32) + 10 * k for k in range(3)]
    check_program(rotate, *vectors)
    check(
        lambda x, y: tf.while_loop(lambda i, x, y: i < 3, lambda i, x, y: (i + 1, y, x), (0, x, y)),
        vectors[0],
        vectors[1],
    )

    def fibonacci(n: Any) -> Any:
        a, b = tf.constant(0), tf.constant(1)
        while n > 0:
            a, b, n = b, a + b, n - 1
        return a

    check_program(fibonacci, np.int32(30))


def test_a_loop_variable_moved_in_place() -> None:
    """Elements are read from other places than the one written: a copy is needed."""

    def shift(x: Any) -> Any:
        for _ in tf.range(3):
            x = tf.concat([x[1:], x[:1] * 2.0], 0)
        y = x
        for _ in tf.range(2):
            y = tf.reverse(y, [0]) + y
        return x, y, tf.cumsum(y)

    check_program(shift, np.arange(1, 7, dtype=np.float32))


@pytest.mark.parametrize("most", [0, 1, 4, 100])
def test_maximum_iterations(most: int) -> None:
    def loop(x: Any) -> Any:
        return tf.while_loop(
            lambda i, x: i < 10, lambda i, x: (i + 1, x * 2.0), (0, x), maximum_iterations=most
        )

    check(loop, np.float32([1, 3]))


def test_loops_that_do_not_run() -> None:
    def never(x: Any) -> Any:
        while tf.reduce_sum(x) < 0.0:
            x = x * 2.0
        return x

    check_program(never, np.float32([1, 2]))
    check_program(never, np.zeros(0, np.float32))


def test_cases() -> None:
    def choose(i: Any, x: Any) -> Any:
        return tf.switch_case(
            i, [lambda: x + 1.0, lambda: x * x, lambda: tf.reverse(x, [0])], default=lambda: -x
        )

    compiled, values = compile_native(choose, np.int32(0), np.float32([1, 2, 3]))
    for i in (0, 1, 2, 3, -1, 100):
        (got,) = compiled(np.array(i, np.int32), values[1])
        wanted = choose(tf.constant(i), tf.constant([1.0, 2.0, 3.0]))
        np.testing.assert_array_equal(got, wanted.numpy())


def test_only_the_branch_that_is_taken_can_fail() -> None:
    def careful(x: Any, y: Any) -> Any:
        return tf.cond(y != 0, lambda: x // y, lambda: x)

    compiled, _ = compile_native(careful, np.int32(7), np.int32(2))
    assert compiled(np.array(7, np.int32), np.array(2, np.int32))[0] == 3
    assert compiled(np.array(7, np.int32), np.array(0, np.int32))[0] == 7


def test_a_check_in_a_loop_is_found_in_its_iteration() -> None:
    def walk(x: Any, i: Any) -> Any:
        total = tf.constant(0)
        while i >= 0:
            total += x[i]
            i -= 2
        return total

    compiled, values = compile_native(
        tf.autograph.to_graph(walk), np.arange(5, dtype=np.int32), np.int32(4)
    )
    assert compiled(*values)[0] == 6
    assert compiled(values[0], np.array(8, np.int32)) is None


# --- variables --------------------------------------------------------------------------------


@pytest.fixture
def v() -> tf.Variable:
    return tf.Variable([1.0, 2.0, 3.0], name="v")


def test_variables_around_a_loop(v: tf.Variable) -> None:
    def function(x: Any) -> Any:
        before = v + 0.0
        v.assign_add(x)
        between = v.read_value()
        for i in tf.range(3):
            v.assign(v * 2.0 - x)
            if i == 1:
                v.assign_sub(tf.ones_like(x))
        after = v.read_value()
        v.assign_add(before)
        return before, between, after, v.read_value()

    check_program(function, np.float32([1, 0, -1]), variables=[v])


def test_variables_only_inside_a_branch(v: tf.Variable) -> None:
    def function(x: Any) -> Any:
        old = v.read_value()
        if tf.reduce_sum(x) > 0.0:
            v.assign(x)
            new = v * 2.0
        else:
            new = v + 1.0
        return old, new, v.read_value()

    check_program(function, np.float32([1, 0, 1]), variables=[v])
    v.assign([1.0, 2.0, 3.0])
    check_program(function, np.float32([-1, 0, -1]), variables=[v])


def test_a_variable_read_by_a_loop_and_written_after(v: tf.Variable) -> None:
    def function(x: Any) -> Any:
        total = tf.zeros_like(x)
        for _ in tf.range(4):
            total += v * x
        v.assign(total)
        later = tf.zeros_like(x)
        for _ in tf.range(2):
            later += v
        return total, later

    check_program(function, np.float32([1, 2, -1]), variables=[v])


def test_two_variables_exchange_their_values(v: tf.Variable) -> None:
    w = tf.Variable([10.0, 20.0, 30.0], name="w")

    def straight() -> Any:
        a, b = v.read_value(), w.read_value()
        v.assign(b)
        w.assign(a + 1.0)
        return v + w

    def in_a_loop(n: Any) -> Any:
        while n > 0:
            n -= 1
            a, b = v.read_value(), w.read_value()
            v.assign(b)
            w.assign(a)
        return v - w

    check_program(straight, variables=[v, w])
    check_program(in_a_loop, np.int32(3), variables=[v, w])


def test_variables_in_nested_loops_and_conditions(v: tf.Variable) -> None:
    count = tf.Variable(0, name="count")

    def function(x: Any) -> Any:
        while tf.reduce_sum(v) < 100.0:
            for i in tf.range(2):
                if i == 0:
                    v.assign_add(x)
                else:
                    v.assign(tf.reverse(v, [0]))
                count.assign_add(1)
        return v.read_value(), count.read_value()

    check_program(function, np.float32([4, 5, 6]), variables=[v, count])


def _descending(n: Any, step: Any) -> Any:
    total = tf.zeros_like(n)
    for i in tf.range(n, 0, step):
        if i == 4:
            continue
        total += i
    return total


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(("n", "step"), [(0, 3), (7, -1), (10, -3), (9, -3), (-5, 2)])
def test_loops_over_ranges_whose_length_is_data(n: int, step: int, dtype: Any) -> None:
    check_program(_descending, dtype(n), dtype(step))


@pytest.mark.parametrize(("n", "step"), [(3, 1), (-3, -1), (3, 0)])
def test_ranges_that_lead_nowhere_fail_as_they_do_on_numpy(n: int, step: int) -> None:
    texts = []
    for jit in (True, False):
        function = tf.function(_descending, jit_compile=jit)
        with pytest.raises(ValueError, match="range: ") as caught:
            function(tf.constant(n), tf.constant(step))
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def _sines(x: Any, n: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for i in tf.range(n):
            y = tf.sin(y) * tf.cast(i + 1, tf.float32)
    return tape.gradient(y, x)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_gradients_of_loops_whose_length_is_data(n: int) -> None:
    check_program(_sines, np.float32([0.5, 0.2, -3.0]), np.int32(n), rtol=1e-5)


def test_checks_of_constants_are_made_once() -> None:
    """What cannot fail may stand behind an assignment in a loop."""
    v = tf.Variable([1, 2, 3])
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    def function(n: Any) -> Any:
        for i in tf.range(n):
            v.assign(v * 3 // 2 + i % 5)
            table.assign(tf.linalg.band_part(table, 1, 0) + tf.gather(table, 1))
            v.assign_add(tf.random.stateless_uniform([3], [1, 2], 0, 9, tf.int32))
        return tf.reduce_sum(v), tf.reduce_sum(table)

    check_program(function, np.int32(4), variables=[v, table])
