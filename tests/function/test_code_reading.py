"""What code reads from around itself, and whether it acts on Python, as its bytecode tells."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import pytest

import weft as tf
from weft._src.function.code_reading import FREE, GLOBAL, LOCAL, Name, action_of, facts_of

LIMIT = 3
seen: list[Any] = []


class Config:
    """Something with attributes."""

    rate = 0.5


config = Config()


def reads(function: Any) -> set[Name]:
    return set(facts_of(function.__code__).reads)


def test_globals_and_attributes() -> None:
    def f(x: Any) -> Any:
        return [x * config.rate for _ in range(LIMIT)]

    found = reads(f)
    assert {Name(GLOBAL, "LIMIT"), Name(GLOBAL, "config", "rate")} <= found


def test_closures_also_of_functions_inside() -> None:
    scale, shift = 2.0, 1.0

    def f(x: Any) -> Any:
        own = 3.0

        def inner(y: Any) -> Any:
            return y * scale + own

        return inner(x) + (lambda: shift)()

    found = reads(f)
    assert {Name(FREE, "scale"), Name(FREE, "shift")} <= found
    assert Name(FREE, "own") not in found


def test_parameters() -> None:
    def method(self: Any, x: Any, y: Any) -> Any:
        return self.rate * x + y * self.shift

    found = reads(method)
    assert {Name(LOCAL, "self", "rate"), Name(LOCAL, "self", "shift")} <= found


def clean(x: Any, n: int) -> Any:
    parts = [x + tf.random.uniform([2])] * n
    parts.append(tf.exp(x))
    best = max(float(len(parts)), 1.0) * tf.math.log(tf.ones([]))
    return tf.add_n(parts) * best * config.rate


def appends(x: Any) -> Any:
    seen.append(x)
    return x


def prints(x: Any) -> Any:
    print(x)
    return x


def sets_an_item(x: Any) -> Any:
    x[0] = 1
    return x


def sets_an_attribute(x: Any) -> Any:
    config.rate = 0.5
    return x


def sets_a_global(x: Any) -> Any:
    global LIMIT  # noqa: PLW0603
    LIMIT = 3
    return x


def draws(x: Any) -> Any:
    return x * random.random()


def looks_at_the_clock(x: Any) -> Any:
    return x * time.time()


def appends_deeply(self: Any, x: Any) -> Any:
    self.history.items.append(x)
    return x


def appends_to_a_result(x: Any) -> Any:
    globals()["seen"].append(x)
    return x


class Tracker:
    """Notes that it was made."""

    def __init__(self) -> None:
        seen.append(self)


def makes_an_object(x: Any) -> Any:
    Tracker()
    return x


def changes_an_argument(x: list[Any]) -> Any:
    x.append(1)
    return x


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (appends, "calls seen.append"),
        (prints, "calls print"),
        (sets_an_item, "sets an item"),
        (sets_an_attribute, "sets .rate"),
        (sets_a_global, "sets LIMIT"),
        (draws, "uses random"),
        (looks_at_the_clock, "uses time"),
        (changes_an_argument, "calls x.append"),
        (makes_an_object, "makes a Tracker"),
        (appends_deeply, "calls self.history.items.append"),
        (appends_to_a_result, "calls a result.append"),
    ],
)
def test_actions(function: Callable[..., Any], what: str) -> None:
    found = action_of(function, as_it_is=False)  # type: ignore[arg-type]
    assert found is not None
    assert found[0] == what


def test_no_actions() -> None:
    assert action_of(clean, as_it_is=False) is None  # type: ignore[arg-type]


def calls_another(x: Any) -> Any:
    return clean(x, 2)


def test_functions_that_nobody_is_told_of() -> None:
    assert action_of(calls_another, as_it_is=False) is None  # type: ignore[arg-type]
    assert action_of(calls_another, as_it_is=True) == (  # type: ignore[arg-type]
        "calls clean",
        calls_another.__code__.co_firstlineno + 1,
    )
