"""Functions that call themselves, and what else the name of a function means inside of it."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf
from support.both_ways import agree, agree_on


def walk(tree: Any) -> Any:
    """Sums the sizes of the leaves; positive ones count twice."""
    if isinstance(tree, (list, tuple)):
        total = 0.0
        for child in tree:
            total = total + walk(child)
        return total
    if tree > 0:
        return tree * 2.0
    return -tree


def test_a_helper_that_calls_itself_by_its_global_name() -> None:
    tree = [tf.constant(1.0), [tf.constant(2.0), (tf.constant(-3.0), tf.constant(0.5))]]
    assert float(agree(lambda t: walk(t), tree)) == 10.0


@tf.function
def fact(n: Any) -> Any:
    if n <= 1:
        return tf.constant(1)
    return n * fact(n - 1)


def test_a_traced_function_that_calls_itself_with_python_numbers() -> None:
    assert int(fact(10)) == 3628800
    assert fact.experimental_get_tracing_count() == 10  # one for each number


def is_even(n: int) -> bool:
    return True if n == 0 else is_odd(n - 1)


def is_odd(n: int) -> bool:
    return False if n == 0 else is_even(n - 1)


fibonacci = lambda n: n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)  # noqa: E731


def test_helpers_that_call_each_other() -> None:
    agree_on(lambda x: x if is_even(7) else -x, [1])


def test_a_recursive_lambda_that_is_a_global() -> None:
    assert int(agree(lambda x: x * fibonacci(10), tf.constant(2))) == 110


class Tree:
    """A node; the method `walk` has the name of a global that it calls."""

    def __init__(self, *children: Tree) -> None:
        self.children = children

    def depth(self, x: Any) -> Any:
        if not self.children:
            return x
        return tf.reduce_max([child.depth(x + 1) for child in self.children])

    def walk(self, x: Any) -> Any:
        return walk([x, x]) if x > 0 else x


def test_recursive_methods() -> None:
    assert int(agree(Tree(Tree(), Tree(Tree())).depth, tf.constant(0))) == 2


def test_a_method_that_calls_a_global_of_its_own_name() -> None:
    assert float(agree(Tree().walk, tf.constant(1.5))) == 6.0


def test_recursive_closures() -> None:
    def f(x: Any) -> Any:
        def countdown(n: int, y: Any) -> Any:
            if n == 0:
                return y
            return countdown(n - 1, y + 1 if y > 0 else y - 1)

        return countdown(5, x)

    agree_on(f, [1], [-1])


def test_recursion_in_branches_and_loops_of_the_graph() -> None:
    def f(x: Any) -> Any:
        for _ in tf.range(2):
            if x < 10:
                x = x + walk([x, [x]])
        return x

    agree_on(f, [1.0], [-2.0], [20.0])


def test_the_name_is_looked_up_when_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = walk
    leaf = tf.constant(1.0)
    monkeypatch.setitem(globals(), "walk", lambda _tree: 7.0)
    assert float(tf.function(lambda t: kept(t))([leaf, leaf])) == 14.0
    monkeypatch.delitem(globals(), "walk")
    with pytest.raises(NameError, match="name 'walk' is not defined"):
        tf.function(lambda t: kept(t))([leaf])


@tf.function
def _endless(x: Any) -> Any:
    return _endless(x + 1)


def test_recursion_on_tensors_is_refused() -> None:
    with pytest.raises(RecursionError, match="calls itself with the same kinds of arguments"):
        _endless(tf.constant(1))


class Private:
    """Names that start with two underscores mean another thing in a class."""

    __factor = 3

    def __init__(self) -> None:
        self.__level = tf.constant(1.0)
        self.sign = lambda x: self.__level if x > 0 else -self.__level

    def __scaled(self, x: Any) -> Any:
        return x * self.__factor

    def scale(self, x: Any) -> Any:
        if x > 0:
            x = self.__scaled(x)
        return x

    def grow(self, n: Any) -> Any:
        before = self.__level
        for _ in tf.range(n):
            self.__level = self.__level * 2.0

        def level() -> Any:
            __found = before
            if n > 1:
                __found = self.__level
            return __found

        found = level()
        self.__level = before
        return found


def test_private_names_in_functions_of_comprehensions() -> None:
    class __Odd:
        made = tuple([lambda x, i=i: x + i if x > 0 else x - i for i in range(3)])

        def __init__(self) -> None:
            self.__x = 7
            self.made_here = [lambda y: self.__x + y if y > 0 else y for _ in range(1)]

    agree_on(__Odd.made[2], [1], [-1])
    agree_on(__Odd().made_here[0], [1], [-1])


def test_private_names() -> None:
    agree_on(Private().scale, [2], [-2])
    agree_on(Private().sign, [2], [-2])
    agree_on(Private().grow, [1], [3])
