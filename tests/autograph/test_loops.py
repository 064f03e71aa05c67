"""`while` and `for`, with `break`, `continue`, `else`, and everything that can be iterated over."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import weft as tf
from support.both_ways import agree, agree_on


def test_while() -> None:
    def f(n: Any) -> Any:
        i, total = 0, 0
        while i < n:
            total = total + i
            i += 1
        return i, total

    agree_on(f, [0], [1], [5])


def test_while_with_break_and_continue() -> None:
    def f(n: Any) -> Any:
        i = n * 0
        total = 0
        while i < n:
            i += 1
            if i % 2 == 0:
                continue
            if total > 10:
                break
            total += i
        return i, total

    agree_on(f, [0], [3], [20])


def test_for_over_range() -> None:
    def f(n: Any) -> Any:
        total = 0
        for i in range(n):
            total += i
        return total

    agree_on(f, [0], [1], [5])


def test_for_over_range_with_start_and_step() -> None:
    def f(a: Any, b: Any, c: Any) -> Any:
        total, last = 0, -1
        for i in range(a, b, c):
            total += i * i
            last = i
        return total, last

    agree_on(f, [1, 10, 3], [10, 1, -2], [3, 3, 1])


def test_for_over_tf_range_with_break_and_continue() -> None:
    def f(n: Any) -> Any:
        total = 0
        for i in tf.range(n):
            if i == 2:
                continue
            if i > 5:
                break
            total += i
        return total

    agree_on(f, [0], [3], [20])


def test_nested_loops_with_jumps_of_their_own() -> None:
    def f(n: Any) -> Any:
        total = 0
        for i in tf.range(n):
            if i == 1:
                continue
            for j in tf.range(n):
                if j > i:
                    break
                if j == 2:
                    continue
                total += 10 * i + j
            else:
                total -= 1
            if total > 200:
                break
        return total

    agree_on(f, [0], [2], [4], [9])


def test_for_over_a_tensor_matrix() -> None:
    def f(rows: Any) -> Any:
        total = tf.zeros([3])
        for row in rows:
            total += row * 2
        return total

    agree(f, tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    agree(f, tf.zeros([0, 3]))


def test_for_over_a_tensor_of_unknown_length() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def f(x: Any) -> Any:
        total = 0
        for value in x:
            total += value
        return total

    assert [f(tf.range(n)).numpy() for n in (0, 1, 5)] == [0, 0, 10]


def test_for_over_a_tensor_array() -> None:
    def f(n: Any) -> Any:
        array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            array = array.write(i, i * i)
        total = 0
        for i in tf.range(array.size()):
            total += array.read(i)
        return total, array.stack()

    agree_on(f, [1], [4])


def test_for_statements_over_tensor_arrays() -> None:
    def f(n: Any) -> Any:
        array = tf.TensorArray(tf.int32, size=3)
        for i in tf.range(3):
            array = array.write(i, i * n)
        total = 0
        for value in array:
            total += value
        return total

    agree_on(f, [1], [4])


def test_gradients_through_loops_and_branches() -> None:
    def f(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for i in tf.range(n):
                if i % 2 == 0:
                    y = y * x
                else:
                    y = y + x
        return y, tape.gradient(y, x)

    agree(f, tf.constant(1.5), tf.constant(4))


def test_for_with_targets() -> None:
    def f(x: Any) -> Any:
        total = 0
        for a, (b, c) in [(x, (1, 2)), (2, (x, 3))]:
            total += a * b + c
        for row in tf.constant([[1, 2], [3, 4]]):
            p, q = row[0], row[1]
            total += p * q
        return total

    agree_on(f, [5])


def test_for_else_and_while_else() -> None:
    def f(n: Any, wanted: Any) -> Any:
        where = -1
        for i in tf.range(n):
            if i == wanted:
                where = i
                break
        else:
            where = 100
        k = 0 * n
        while k < n:
            if k > wanted:
                break
            k += 1
        else:
            where += 1000
        return where, k

    agree_on(f, [0, 1], [3, 1], [3, 9])


def test_else_without_break() -> None:
    def f(n: Any) -> Any:
        total = 0
        for i in tf.range(n):
            total += i
        total += 100
        return total

    agree_on(f, [0], [3])


def test_loops_that_stay_python_unroll() -> None:
    ran: list[int] = []

    @tf.function
    def f(x: Any) -> Any:
        for i in range(3):
            ran.append(i)
            if x > i:
                x = x - i
        return x

    assert f(tf.constant(5)).numpy() == 2
    f(tf.constant(6))
    assert ran == [0, 1, 2]


def test_the_value_of_the_loop_variable_after_the_loop() -> None:
    def f(n: Any) -> Any:
        for i in tf.range(n):
            last = i * 2
        return i, last

    agree_on(f, [1], [4])
    with pytest.raises(tf.errors.InvalidArgumentError, match="'i' is first defined in a loop"):
        tf.function(f)(tf.constant(0))


def test_effects_in_loops() -> None:
    v = tf.Variable(0)

    def f(n: Any) -> Any:
        for i in tf.range(n):
            v.assign_add(i)
            tf.print("i", i, "v", v)
            if v > 5:
                break
        return v.read_value()

    for n in (0, 2, 10):
        agree(f, tf.constant(n), variables=[v])


def test_effects_of_the_test_happen_once_per_iteration() -> None:
    v = tf.Variable(0)

    def f(n: Any) -> Any:
        total = 0
        while v.assign_add(1) < n:
            tf.print("round", v)
            total += v
        return total

    for n in (0, 1, 4):
        agree(f, tf.constant(n), variables=[v])


def test_effects_of_the_test_with_break() -> None:
    v = tf.Variable(0)

    def f(n: Any) -> Any:
        total = 0
        while v.assign_add(1) < n:
            if v == 3:
                break
            total += v
        return total, v.read_value()

    for n in (0, 2, 9):
        agree(f, tf.constant(n), variables=[v])


def test_walrus_in_while_tests() -> None:
    def f(n: Any) -> Any:
        total = 0
        while (k := n - total) > 2:
            total += 1
        return total, k

    agree_on(f, [1], [7])


def test_python_while_whose_test_prints() -> None:
    asked: list[int] = []

    def more(i: int) -> bool:
        asked.append(i)
        return i < 3

    @tf.function
    def f(x: Any) -> Any:
        i = 0
        while more(i):
            x = x + i
            i += 1
        return x

    assert f(tf.constant(1)).numpy() == 4
    assert asked == [0, 1, 2, 3]


def test_a_tensor_leaves_an_endless_loop() -> None:
    def doubled(x: Any) -> Any:
        steps = 0
        while True:
            steps += 1
            x = x * 2
            if x % 3 == 0:
                continue
            if x > 100:
                break
        return x, steps

    def returned(x: Any) -> Any:
        while True:
            x = x * 2
            if x > 100:
                return x + 1

    for f in (doubled, returned):
        staged = tf.function(f)
        for value in (7, 400):
            assert _plain(staged(tf.constant(value))) == _plain(f(value))


def _plain(result: Any) -> Any:
    return [int(x) for x in result] if isinstance(result, tuple) else int(result)


def test_a_tensor_leaves_a_loop_over_python_values() -> None:
    def broken(x: Any) -> Any:
        total = 0
        for i in range(5):
            if x > i * 10:
                total += i
            else:
                break
        else:
            total = -1
        return total

    def nested(x: Any) -> Any:
        for i in range(3):
            for j in range(3):
                if x == i * 10 + j:
                    return i * 3 + j
        return -1

    def counted(x: Any) -> Any:
        i = 0
        while i < 5:
            if x < i * 10:
                break
            i += 1
        return i

    for f in (broken, nested, counted):
        staged = tf.function(f)
        for value in (-1, 0, 5, 12, 22, 35, 100):
            assert int(staged(tf.constant(value))) == f(value)
        assert staged.experimental_get_tracing_count() == 1


def test_what_follows_the_last_iteration_does_not_happen() -> None:
    count = tf.Variable(0)

    @tf.function
    def f(n: Any) -> None:
        for _ in range(10):
            count.assign_add(1)
            if count >= n:
                break

    f(tf.constant(3))
    assert int(count) == 3


def test_gradients_of_loops_that_a_tensor_leaves() -> None:
    def powers(x: Any) -> Any:
        y = x
        for _ in range(4):
            y = y * x
            if y > 20.0:
                break
        return y

    def endless(x: Any) -> Any:
        y = x
        while True:
            y = y * x
            if y > 20.0:
                return y

    for f in (powers, endless):
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.function(f)(x)
        assert float(y) == 27.0
        assert float(tape.gradient(y, x)) == 27.0


def test_python_values_without_an_end() -> None:
    @tf.function
    def f(x: Any) -> Any:
        for i in itertools.count():
            x = x + i
            if x > 5:
                break
        return x

    with pytest.raises(NotImplementedError, match="more than 1000 iterations"):
        f(tf.constant(0))
    with pytest.raises(TypeError, match=r"tf\.range"):
        f(tf.constant(0))


def test_dtype_changes_are_refused() -> None:
    @tf.function
    def f(n: Any) -> Any:
        x = tf.constant(1.0)
        for i in tf.range(n):
            x = i
        return x

    with pytest.raises(TypeError, match="'x' has dtype float32 before the loop, but dtype int32"):
        f(tf.constant(2))
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant(2))


def test_shape_changes_need_an_invariant() -> None:
    def grow(n: Any) -> Any:
        x = tf.zeros([1])
        for _i in tf.range(n):
            x = tf.concat([x, x], 0)
        return x

    with pytest.raises(ValueError, match=r"'x' has shape \(1,\) before.*set_loop_options"):
        tf.function(grow)(tf.constant(2))

    def said(n: Any) -> Any:
        x = tf.zeros([1])
        for _i in tf.range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(x, [None])])
            x = tf.concat([x, x], 0)
        return x

    agree_on(said, [0], [3])


def test_shape_invariants_of_while() -> None:
    def f(n: Any) -> Any:
        x = tf.zeros([1, 2])
        i = 0 * n
        while i < n:
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None, 2]))], parallel_iterations=3
            )
            x = tf.concat([x, x + 1], 0)
            i += 1
        return x

    agree_on(f, [0], [3])


def test_maximum_iterations() -> None:
    @tf.function
    def f(n: Any, most: Any) -> Any:
        i = tf.constant(0)
        while i < n:
            tf.autograph.experimental.set_loop_options(maximum_iterations=most)
            i += 1
        return i

    assert f(tf.constant(10), 4).numpy() == 4
    assert f(tf.constant(2), 4).numpy() == 2
    assert f(tf.constant(10), tf.constant(3)).numpy() == 3


def test_none_before_and_a_tensor_after() -> None:
    @tf.function
    def f(n: Any) -> Any:
        best = None
        for i in tf.range(n):
            best = i
        return best

    with pytest.raises(TypeError, match="'best' is None before"):
        f(tf.constant(2))


def test_structures_must_not_change() -> None:
    @tf.function
    def f(n: Any) -> Any:
        x: Any = (n, n)
        for i in tf.range(n):
            x = (i, i, i)
        return x

    with pytest.raises(TypeError, match="'x' has another structure"):
        f(tf.constant(2))


def test_the_graph_holds_a_while() -> None:
    @tf.function
    def f(n: Any) -> Any:
        i = 0
        while i < n:
            i += 1
        return i

    nodes = f.get_concrete_function(tf.TensorSpec([], tf.int32)).graph.as_graph_def().node
    assert "while" in [node.name for node in nodes]
