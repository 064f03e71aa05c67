# ruff: noqa: C416, C420 - the constructs are what is tested
"""Assignments of all forms, slices, comprehensions, `with`, `try`, f-strings, annotations."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

import weft as tf
from support.both_ways import agree, agree_on


def test_augmented_assignment() -> None:
    def f(x: Any, y: Any) -> Any:
        if x > 0:
            x += y
            x *= 2
            x -= 1
        else:
            x //= 2
            y %= 3
        x **= 2
        return x, y

    agree_on(f, [3, 2], [-5, 7])


def test_tuple_and_starred_assignment() -> None:
    def f(x: Any) -> Any:
        a, *rest = [x, x + 1, x + 2]
        if x > 0:
            a, (b, c) = x * 2, (rest[0], rest[1])
            *first, last = (a, b, c)
        else:
            [b, c] = rest
            first, last = [c, b], a
        p = q = first[0]
        return a, b, c, last, p, q

    agree_on(f, [1], [-1])


def test_unpacking_tensors() -> None:
    def f(x: Any) -> Any:
        a, b, c = x
        if a > b:
            a, b = b, a
        return a, b, c

    agree(f, tf.constant([3, 2, 1]))
    agree(f, tf.constant([1, 2, 3]))


def test_swap_in_a_loop() -> None:
    def f(n: Any) -> Any:
        a, b = 0, 1
        for _ in tf.range(n):
            a, b = b, a + b
        return a, b

    agree_on(f, [0], [1], [10])


def test_annotated_assignment() -> None:
    def f(x: Any) -> Any:
        y: int = x
        z: undefined_name  # noqa: F821, F842 - never evaluated
        if x > 0:
            y: int = x + 1
        return y

    agree_on(f, [1], [-1])


def test_slices() -> None:
    def f(x: Any, n: Any) -> Any:
        total = tf.reduce_sum(x[1:3]) + x[-1]
        for i in tf.range(n):
            if i > 1:
                total += tf.reduce_sum(x[:i]) + x[i]
        return total, x[::2], x[n:]

    agree(f, tf.range(7), tf.constant(4))


def test_item_assignment_of_tensors_is_refused() -> None:
    def f(x: Any) -> Any:
        x[0] = 1
        return x

    assert isinstance(agree(f, tf.constant([1, 2])), TypeError)


def test_comprehensions() -> None:
    def f(x: Any, n: int) -> Any:
        values = [x * i for i in range(n) if i % 2 == 0]
        table = {i: v + 1 for i, v in enumerate(values)}
        chosen = [v if v > 2 else -v for v in values]
        pairs = [(i, j) for i in range(2) for j in range(i + 1)]
        return tf.stack(values), table, chosen, sum(a * b for a, b in pairs)

    agree(f, tf.constant(2), 5)
    agree(f, 2, 5)


def test_set_and_dict_values() -> None:
    def f(x: Any) -> Any:
        names = {c for c in "aab"}
        d = {name: x for name in sorted(names)}
        if x > 0:
            d = {name: x * 2 for name in sorted(names)}
        return d

    agree_on(f, [1], [-1])


def test_with() -> None:
    def f(x: Any) -> Any:
        with tf.name_scope("a"), tf.name_scope("b") as name:
            if x > 0:
                y = x * 2
            else:
                y = x * 3
        return y, len(name)

    assert tf.function(f)(tf.constant(2))[0].numpy() == 4
    assert tf.function(f)(tf.constant(-2))[0].numpy() == -6


def test_user_defined_context_managers() -> None:
    @contextlib.contextmanager
    def noted(name: str) -> Iterator[str]:
        print("enter", name)
        yield name * 2
        print("leave", name)

    def f(x: Any) -> Any:
        with noted("a") as name:
            if x > 0:
                x = x + len(name)
        return x

    agree(f, tf.constant(1), calls=1)
    agree(f, tf.constant(-1), calls=1)


def test_try_except() -> None:
    def f(x: Any, key: str) -> Any:
        table = {"a": 10}
        try:
            y = x + table[key]
            if x > 0:
                y = y * 2
        except KeyError as e:
            y = x - len(str(e))
        else:
            y = y + 1
        finally:
            print("done")
        return y

    for key in ("a", "b"):
        for x in (1, -1):
            agree(f, tf.constant(x), key, calls=1)
            agree(f, x, key, calls=1)


def test_try_inside_a_loop() -> None:
    def f(n: Any, keys: Any) -> Any:
        total = 0
        for i in tf.range(n):
            for key in keys:
                try:
                    total += {"a": i}[key]
                except KeyError:
                    total += 100
        return total

    agree(f, tf.constant(3), ["a", "b"])


def test_exceptions_of_called_functions_are_caught_while_tracing() -> None:
    def fail(x: Any) -> Any:
        raise ValueError("no")

    def f(x: Any) -> Any:
        try:
            return fail(x)
        except ValueError:
            return x * 2

    agree(f, tf.constant(3))


def test_f_strings() -> None:
    def f(x: Any, n: int) -> Any:
        name = f"{n:03d}-{'yes' if n > 2 else 'no'}"
        return x + len(name), name

    agree(f, tf.constant(1), 3)
    agree(f, tf.constant(1), 1)


def test_prints() -> None:
    def f(x: Any) -> Any:
        print("tracing")
        return x

    agree(f, tf.constant(1), calls=1)

    def g(x: Any) -> Any:
        tf.print("x is", x)
        if x > 0:
            tf.print("positive")
        return x

    agree(g, tf.constant(1))
    agree(g, tf.constant(-1))


def test_del() -> None:
    def f(x: Any) -> Any:
        y = x * 2
        del y
        if x > 0:
            z = x
            del z
        return x

    agree_on(f, [1], [-1])


def test_imports_and_classes_inside() -> None:
    def f(x: Any) -> Any:
        import math

        class Scale:
            by = 3

            def __call__(self, value: Any) -> Any:
                return value * self.by if value > 0 else value

        return Scale()(x) + math.floor(2.5)

    agree_on(f, [1], [-1])


def test_docstring_and_pass() -> None:
    def f(x: Any) -> Any:
        """What it does."""
        if x > 0:
            """Nothing."""
        return x

    agree_on(f, [1], [-1])
    assert tf.function(f).__doc__ == "What it does."


def test_variables_used_before_they_are_defined() -> None:
    def f(x: Any) -> Any:
        if x is None:
            y = 1
        return y

    error = agree(f, tf.constant(1))
    assert isinstance(error, UnboundLocalError)
    with pytest.raises(UnboundLocalError, match="'?y'?"):
        tf.function(f)(tf.constant(1))


_count = 0


def test_global_statements_in_blocks() -> None:
    @tf.function
    def f(x: Any) -> Any:
        for _ in range(3):
            global _count  # noqa: PLW0603 - what is tested
            _count = _count + 1
        if x > 0:
            x = x + 1
        return x + _count

    assert int(f(tf.constant(1))) == 5
    assert _count == 3
