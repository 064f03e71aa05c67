"""Functions of every kind: nested, lambdas, closures, methods, decorators, partials, generators."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import weft as tf
from support.both_ways import agree, agree_on


def test_nested_functions() -> None:
    def f(x: Any, y: Any) -> Any:
        def larger(a: Any, b: Any) -> Any:
            if a > b:
                return a
            return b

        def outer(z: Any) -> Any:
            def inner(w: Any) -> Any:
                return larger(w, y) if w > 0 else z

            return inner(x)

        return larger(x, y) * 10 + outer(y)

    agree_on(f, [1, 2], [2, 1], [-2, -3])


def _sign(x: Any) -> Any:
    if x > 0:
        return 1
    elif x < 0:
        return -1
    return 0


def test_called_functions_are_converted() -> None:
    agree_on(lambda x: _sign(x) * 7 + _sign(-x), [5], [-5], [0])


def test_lambdas() -> None:
    agree_on(lambda x: (lambda y: y if y > 2 else -y)(x * 2), [1], [2])
    first, second = (lambda x: x if x > 0 else -x), (lambda x: x + 1 if x > 0 else x - 1)
    agree_on(first, [1], [-1])
    agree_on(second, [1], [-1])


def test_equal_looking_lambdas_on_one_line() -> None:
    pair = [lambda x: 1 if x > 0 else 2, lambda x: 3 if x > 0 else 4]
    for f in pair:
        agree_on(f, [1], [-1])
    assert [int(tf.function(f)(tf.constant(1))) for f in pair] == [1, 3]


def test_lambdas_over_several_lines() -> None:
    f = lambda x: (  # noqa: E731
        x * 2
        if x > 0
        else x * 3
    )  # fmt: skip
    agree_on(f, [1], [-1])


def test_lambdas_in_loop_headers() -> None:
    def f(x: Any) -> Any:
        total = 0
        for g in [lambda v: v + 1, lambda v: v * 2 if v > 0 else v]:
            total += g(x)
        for h in map(lambda k: lambda v: v * k, [1, 2]):
            total += h(x)
        return total

    agree_on(f, [1], [-1])


def test_lambdas_as_default_arguments() -> None:
    def f(x: Any, g: Any = lambda v: v * 2 if v > 0 else -v) -> Any:
        return g(x)

    agree_on(f, [1], [-1])


def test_lambdas_that_close_over_changing_names() -> None:
    def f(x: Any) -> Any:
        k = 1
        g = lambda v: v + k  # noqa: E731
        if x > 0:
            k = 5
        return g(x)

    agree_on(f, [1], [-1])


def test_nonlocal() -> None:
    def f(x: Any) -> Any:
        count = 0

        def bump(by: Any) -> Any:
            nonlocal count
            if by > 0:
                count = count + by
            return count

        bump(x)
        bump(x + 1)
        return count

    agree_on(f, [3], [-3])


COUNT: Any = 0


def test_global() -> None:
    def f(x: Any) -> Any:
        global COUNT  # noqa: PLW0603
        COUNT = x * 0
        if x > 0:
            COUNT = COUNT + x
        for i in tf.range(3):
            COUNT += i
        return COUNT

    agree_on(f, [3], [-3])


def test_defaults_and_keywords() -> None:
    def f(x: Any, *rest: Any, scale: Any = 2, **others: Any) -> Any:
        total = x * scale
        for value in rest:
            if value > 1:
                total += value
        for name in sorted(others):
            total += others[name]
        return total

    def g(x: Any) -> Any:
        args, named = (x, 1), {"shift": x}
        return f(x, *args, scale=3, **named)

    agree_on(g, [1], [5])


def test_positional_only_and_keyword_only() -> None:
    def f(x: Any, /, y: Any = 3, *, z: Any = 4) -> Any:
        if x > y:
            return x * z
        return x

    agree_on(f, [1], [5])
    agree_on(lambda x: f(x, z=7, y=0), [1], [-1])


def _twice(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        first = function(*args)
        if first > 10:
            return first
        return function(first)

    return wrapper


def test_decorators() -> None:
    @_twice
    def f(x: Any) -> Any:
        if x > 0:
            return x * 2
        return x - 1

    agree_on(f, [1], [9], [-1])

    def g(x: Any) -> Any:
        @_twice
        def inner(y: Any) -> Any:
            return y + 3 if y > 0 else -y

        return inner(x)

    agree_on(g, [1], [9], [-1])


class Base:
    def __init__(self, scale: Any) -> None:
        self.scale = scale

    def apply(self, x: Any) -> Any:
        if x > 0:
            return x * self.scale
        return x

    @property
    def doubled(self) -> Any:
        return self.scale * 2 if self.scale > 1 else self.scale

    @staticmethod
    def half(x: Any) -> Any:
        return x // 2 if x > 0 else x

    @classmethod
    def named(cls, x: Any) -> Any:
        return x + len(cls.__name__) if x > 0 else x


class Derived(Base):
    def apply(self, x: Any) -> Any:
        y = super().apply(x)
        if y > 5:
            y = y + self.doubled
        return self.half(y) + self.named(x)

    def __call__(self, x: Any) -> Any:
        return -x if x > 3 else self.apply(x)

    def apply_often(self, x: Any) -> Any:
        def twice(self: Any, x: Any) -> Any:
            return super().apply(super().apply(x))

        if x > 3:
            x = super().apply(x)
        else:
            for _ in range(2):
                x += super(Derived, self).apply(x)  # noqa: UP008 - both forms
        while x < 20:
            x = super().apply(x) + 1
        return (super().apply(x) if x % 2 == 0 else -x) + twice(self, x)


def test_super_in_branches_and_loops() -> None:
    for scale in (1, 4):
        agree_on(Derived(scale).apply_often, [1], [7], [30], [31])


def test_methods_properties_and_super() -> None:
    for scale in (1, 4):
        thing = Derived(scale)
        agree_on(thing.apply, [1], [7], [-1])
        agree_on(lambda x, thing=thing: thing.apply(x), [1], [7], [-1])


def test_callable_objects() -> None:
    agree_on(Derived(3), [1], [7], [-1])
    thing = Derived(3)
    agree_on(lambda x: thing(x) + 1, [1], [7], [-1])


def test_tf_function_on_a_method() -> None:
    class Model:
        def __init__(self) -> None:
            self.v = tf.Variable(1)

        @tf.function
        def step(self, x: Any) -> Any:
            if x > 0:
                self.v.assign_add(x)
            return self.v.read_value()

    model = Model()
    assert [int(model.step(tf.constant(x))) for x in (2, -2, 3)] == [3, 3, 6]


def test_partials() -> None:
    def f(a: Any, x: Any, b: Any = 0) -> Any:
        return a * x if x > b else b

    agree_on(functools.partial(f, 3), [1], [-1])
    agree_on(lambda x: functools.partial(f, 3, b=2)(x), [1], [5])


def test_generators_run_as_python() -> None:
    def numbers(n: int) -> Iterator[int]:
        i = 0
        while i < n:
            yield i
            i += 1

    def f(x: Any) -> Any:
        for i in numbers(4):
            if x > i:
                x = x - i

        def inner() -> Iterator[Any]:
            for k in range(2):
                yield x + k

        return sum(inner()) + next(numbers(1))

    agree_on(f, [1], [5])


def test_functions_of_the_library_and_of_numpy_are_called_as_they_are() -> None:
    def f(x: Any) -> Any:
        return functools.reduce(lambda a, b: a + b, [x, x, 1])

    agree_on(f, [2])


def test_callables_whose_type_says_nothing_of_its_module() -> None:
    """Functions of some versions of Cython, those of NumPy's random numbers among them."""

    class Compiled:
        def __call__(self, x: Any) -> Any:
            return x + 1

    Compiled.__module__ = property(lambda self: "compiled")  # type: ignore[assignment]
    compiled = Compiled()
    agree_on(lambda x: compiled(x), [2])


def test_functions_passed_as_arguments() -> None:
    def apply(g: Any, x: Any) -> Any:
        return g(x) if x > 0 else x

    agree_on(lambda x: apply(_sign, x) + apply(lambda v: v * 3 if v > 1 else v, x), [1], [2], [-2])


def test_functions_given_to_functions_of_weft() -> None:
    def step(i: Any, total: Any) -> Any:
        if i % 2 == 0:
            total = total + i
        return i + 1, total

    def f(x: Any) -> Any:
        _, total = tf.while_loop(lambda i, _: i < 5 and i < x, step, (0, 0))
        total += tf.cond(x > 2, lambda: _sign(x), lambda: _sign(-x))
        for value in map(_sign, tf.stack([x, -x, x])):
            total += value
        for value in filter(_positive, tf.stack([x, -x, x])):
            total += value * 100
        return total + tf.case([(x > 1, lambda: _sign(x))], default=lambda: 7)

    for x in (0, 1, 3, 9):
        agree(f, tf.constant(x))


def _positive(x: Any) -> Any:
    if x > 0:
        return x < 100
    return False


def test_tf_functions_called_inside() -> None:
    @tf.function
    def inner(x: Any) -> Any:
        if x > 0:
            return x * 2
        return x

    def f(x: Any) -> Any:
        total = 0
        for _ in tf.range(3):
            total += inner(x)
            x = x - 1
        return total

    agree_on(f, [2])


def test_effects_in_called_functions() -> None:
    v = tf.Variable(0)

    def note(x: Any) -> Any:
        if x > 0:
            v.assign_add(x)

    def f(x: Any) -> Any:
        note(x)
        for i in tf.range(2):
            note(x - i)
        return v.read_value()

    agree(f, tf.constant(1), variables=[v])
    agree(f, tf.constant(5), variables=[v])
