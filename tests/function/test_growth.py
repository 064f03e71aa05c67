"""Tracing, passes and plans: four times the program is four times the work, and not more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import weft as tf
from support.work import lines_run
from weft._src.function import history
from weft._src.raw_ops import making

X = tf.ones([3])
Program = Callable[[Any], Any]


def _chain(n: int) -> Program:
    def f(x: Any) -> Any:
        for _ in range(n):
            x = x * 1.1 + 1.0
        return x

    return f


def _captures(n: int) -> Program:
    captured = [tf.constant([float(i), 1.0, 2.0]) for i in range(n)]

    def f(x: Any) -> Any:
        for c in captured:
            x = x + c
        return x

    return f


def _variables(n: int) -> Program:
    variables = [tf.Variable(float(i)) for i in range(n)]

    def f(x: Any) -> Any:
        for v in variables:
            v.assign_add(1.0)
            x = x + v
        return x

    return f


def _branches(n: int) -> Program:
    def f(x: Any) -> Any:
        for i in range(n):
            if x[0] > float(i):
                x = x + 1.0
            else:
                x = x - 1.0
        return x

    return f


def _loops(n: int) -> Program:
    def f(x: Any) -> Any:
        for _ in range(n):
            for _ in tf.range(2):
                x = x + 1.0
        return x

    return f


def _calls(n: int) -> Program:
    inner = [tf.function(lambda x, i=i: x * float(i)) for i in range(n)]

    def f(x: Any) -> Any:
        for g in inner:
            x = g(x)
        return x

    return f


def _depth(n: int) -> Program:
    f = tf.function(lambda x: x + 1.0)
    for _ in range(n):
        f = tf.function(lambda x, g=f: g(x) * 1.5)
    return f


def _gradients(n: int) -> Program:
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(n):
                y = tf.sin(y)
        return tape.gradient(y, x)

    return f


PROGRAMS = [_chain, _captures, _variables, _branches, _loops, _calls, _depth, _gradients]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__.strip("_"))
def test_work_grows_with_the_program(program: Callable[[int], Program]) -> None:
    def work(n: int) -> int:
        f = program(n)
        return lines_run(lambda: tf.function(f)(X))

    work(2)  # what is made once
    n = 60 if program is _branches else 12
    few, many = work(n), work(4 * n)
    assert many < 4.4 * few, (few, many)


def test_calls_of_a_large_function_do_not_look_through_it() -> None:
    def work(size: int) -> int:
        inner = tf.function(_chain(size))
        inner.get_concrete_function(X)

        def f(x: Any) -> Any:
            for _ in range(10):
                x = inner(x)
            return x

        return lines_run(lambda: tf.function(f).get_concrete_function(X))

    work(2)
    assert work(400) < 2 * work(40)


KINDS: dict[str, Callable[[int], tuple[Any, ...]]] = {
    "values": lambda i: (X, i),
    "shapes": lambda i: (tf.ones([i % 5 + 1, i // 5 + 1]), 1),
    "unknown sizes and values": lambda i: (tf.TensorSpec([None, 3], tf.float32), i),
    "both": lambda i: (tf.ones([i + 1]), i),
    "lists": lambda i: ([X, i], {"a": i % 3}),
}


@pytest.mark.parametrize("options", [{}, {"reduce_retracing": True}], ids=["plain", "relaxed"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_trace_is_no_more_work_than_the_first_ones(
    kind: str, options: dict[str, Any]
) -> None:
    f = tf.function(lambda x, k: (x, k), **options)
    make = KINDS[kind]

    def work(start: int) -> int:
        arguments = [make(i) for i in range(start, start + 10)]
        return lines_run(lambda: [f.get_concrete_function(*a) for a in arguments])

    early = work(30)
    for i in range(40, 240):
        f.get_concrete_function(*make(i))
    assert work(240) < 1.3 * early


def test_the_nearest_trace_is_found_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    f = tf.function(lambda x, k, flag: x)
    for i in range(100):
        f.get_concrete_function(tf.ones([i + 1]), i, flag=True)
    compared = []
    measure = history.distance
    monkeypatch.setattr(
        history, "distance", lambda old, new: compared.append(old) or measure(old, new)
    )
    # Long ago there was one that differs in a single argument, and one that differs in its dtype.
    f.get_concrete_function(tf.ones([8]), 7, flag=False)
    assert tf.explain(f).traces[-1]["why"] == "the value of 'flag' was True and is now False"
    f.get_concrete_function(tf.ones([9], tf.int32), 8, flag=True)
    assert tf.explain(f).traces[-1]["why"] == "the dtype of 'x' was float32 and is now int32"
    assert len(compared) < 60


def test_many_traces_are_bounded_and_still_explained() -> None:
    f = tf.function(lambda x, k: x, max_traces=8)
    for i in range(100):
        f.get_concrete_function(X, i)
    traces = tf.explain(f).traces
    assert len(traces) == 8
    assert traces[-1]["why"] == "the value of 'k' was 98 and is now 99"
    assert len(f._history._index) < 100


def test_a_raw_op_is_made_without_a_list_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "names", lambda: pytest.fail("all names were listed"))
    assert making.make("Atan") is not None
    assert making.make("NoSuchOp") is None
    assert making.make("SumToShape") is None
