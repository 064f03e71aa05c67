# ruff: noqa: PERF401, PERF402 - the constructs are what is tested
"""Lists that grow in graph loops; `self.x`, `d["k"]`, `a.b[i]` as state of branches and loops."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf
from support.both_ways import agree, agree_on


def test_a_list_grown_in_a_loop() -> None:
    def f(n: Any) -> Any:
        values = []
        for i in tf.range(n):
            values.append(i * i)
        return tf.stack(values)

    agree(f, tf.constant(1))
    agree(f, tf.constant(4))


def test_a_grown_list_leaves_a_function_as_a_list() -> None:
    def f(n: Any) -> Any:
        rows = []
        for i in tf.range(n):
            rows.append(tf.fill([2], i))
        return rows, {"again": rows}

    for n in (0, 1, 3):
        agree(f, tf.constant(n))
        rows, _ = tf.function(f)(tf.constant(n))
        assert type(rows) is list
        assert len(rows) == n


def test_reading_a_grown_list() -> None:
    def f(n: Any) -> Any:
        values = []
        for i in tf.range(n):
            values.append(i * 3)
        total = 0
        for value in values:
            total += value
        return values[0], values[-1], values[n - 1], len(values), total, tf.stack(values[1:])

    agree(f, tf.constant(2))
    agree(f, tf.constant(5))


def test_reading_inside_the_loop() -> None:
    def f(n: Any) -> Any:
        values = [tf.constant(1), tf.constant(1)]
        for _ in tf.range(n):
            values.append(values[-1] + values[-2])
        return values[-1], len(values)

    agree(f, tf.constant(0))
    agree(f, tf.constant(6))


def test_a_list_grown_in_while_with_conditions() -> None:
    def f(n: Any) -> Any:
        i = 0
        even, odd = [], [tf.constant(-1)]
        while i < n:
            if i % 2 == 0:
                even.append(tf.cast(i, tf.float32))
            else:
                odd.append(i)
            i += 1
        return tf.stack(even), tf.stack(odd)

    agree(f, tf.constant(1))
    agree(f, tf.constant(5))


def test_a_list_grown_in_a_branch() -> None:
    def f(x: Any) -> Any:
        values = [x]
        if x > 0:
            values.append(x * 2)
        return tf.stack(values), len(values)

    agree_on(f, [1], [-1])


def test_lists_of_rows() -> None:
    def f(x: Any) -> Any:
        rows = []
        for row in x:
            rows.append(row * 2.0)
        return tf.concat([tf.stack(rows), x], 0)

    agree(f, tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))


def test_lists_outside_of_tensor_control_flow_stay_lists() -> None:
    def f(x: Any) -> Any:
        values = []
        for i in range(3):
            values.append(x * i)
        values.extend([x, x])
        values.insert(0, x + 1)
        last = values.pop()
        return values, last, len(values)

    agree_on(f, [2])


def test_extend_and_pop_in_graphs() -> None:
    def grow(n: Any) -> Any:
        values = [n]
        for i in tf.range(n):
            values.extend([i, i * 2])
            if i > 1:
                last = values.pop()
                values.append(last + 100)
        return tf.stack(values), len(values)

    def shorten(n: Any) -> Any:
        values = [n, n + 1, n + 2]
        if n > 0:
            values.pop()
        while len(values) > n:
            taken = values.pop()
            n += taken
        return n, len(values)

    for n in (0, 1, 4):
        agree(grow, tf.constant(n))
    for n in (1, 2, 7):
        agree(shorten, tf.constant(n))


def test_other_changes_of_lists_in_branches() -> None:
    def f(x: Any) -> Any:
        values = [x, x + 1]
        if x > 0:
            values.reverse()
            values[0] = values[0] * 2
        else:
            values.insert(0, x * 3)
            values.remove(values[0])
        return values

    names: list[str] = []

    def g(x: Any) -> Any:
        names = ["a"]
        if x > 0:
            names.append("b")
            x = x + len(names)
        return x

    agree_on(g, [1], [-1])
    agree(lambda x: f(x)[1], tf.constant(1))
    assert names == []


def test_changes_that_graphs_do_not_have() -> None:
    @tf.function
    def f(n: Any) -> Any:
        values = [n]
        for i in tf.range(n):
            values.append(i)
            values.insert(0, i)
        return tf.stack(values)

    with pytest.raises(TypeError, match="append, extend and pop, but not insert"):
        f(tf.constant(2))


def test_lists_in_lists_of_calls() -> None:
    def collect(values: Any, n: Any) -> Any:
        out = []
        for v in values:
            out.append(v + n)
        return out

    def f(x: Any, n: Any) -> Any:
        return tf.reduce_sum(tf.stack(collect(x, n)))

    agree(f, tf.constant([1, 2, 3]), tf.constant(1))


def test_elements_of_another_dtype_are_refused() -> None:
    @tf.function
    def f(n: Any) -> Any:
        values = [tf.constant(1.5)]
        for i in tf.range(n):
            values.append(i)
        return tf.stack(values)

    with pytest.raises(TypeError, match="float32.*int32"):
        f(tf.constant(2))


class Box:
    def __init__(self, x: Any = 0) -> None:
        self.x = x
        self.items = [x, x]
        self.table = {"k": x}

    def bump(self, n: Any) -> Any:
        if n > 0:
            self.x = self.x + n
        else:
            self.x = -n
        return self.x


def test_attributes_in_branches_and_loops() -> None:
    def f(n: Any) -> Any:
        box = Box(tf.constant(1))
        if n > 2:
            box.x = n
        while box.x < 10:
            box.x = box.x + 3
        for i in tf.range(n):
            box.x += i
        return box.x

    agree_on(f, [0], [4])


def test_self() -> None:
    def f(n: Any) -> Any:
        box = Box(n * 0)
        box.bump(n)
        box.bump(n + 1)
        return box.x

    agree_on(f, [3], [-3])


def test_items_of_dicts_and_lists() -> None:
    def f(n: Any) -> Any:
        d = {"k": n, "other": 5}
        values = [n, n + 1]
        if n > 0:
            d["k"] = n * 2
            values[0] = n * 3
        for i in tf.range(3):
            d["k"] += i
            values[1] = values[1] - i
        return d, values

    agree_on(f, [1], [-1])


def test_items_of_attributes() -> None:
    def f(n: Any) -> Any:
        box, i = Box(n), 1
        if n > 0:
            box.items[0] = n + 10
            box.items[i] = n + 20
            box.table["k"] = n + 30
        while box.items[0] < 100:
            box.items[0] = box.items[0] * 2 + 7
        return box.items, box.table

    agree_on(f, [1], [-1])


def test_a_key_added_in_both_branches() -> None:
    def f(n: Any) -> Any:
        d = {}
        if n > 0:
            d["k"] = n
        else:
            d["k"] = -n
        return d["k"]

    agree_on(f, [1], [-1])


def test_an_attribute_that_holds_none() -> None:
    class Lazy:
        v: Any = None

    lazy = Lazy()

    @tf.function
    def f(x: Any) -> Any:
        if lazy.v is None:
            lazy.v = tf.Variable(10)
        if x > 0:
            lazy.v.assign_add(x)
        return lazy.v.read_value()

    assert [int(f(tf.constant(x))) for x in (1, -1, 2)] == [11, 11, 13]


def test_objects_as_loop_state_of_nested_loops() -> None:
    def f(n: Any) -> Any:
        box = Box(n * 0)
        for i in tf.range(n):
            for j in tf.range(i):
                box.x = box.x + j
                if box.x > 8:
                    break
        return box.x

    agree_on(f, [0], [3], [6])
