"""Calls like the one before are recognised, and nothing else is."""

from __future__ import annotations

import collections
import gc
import itertools
import weakref
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.function.keys import VALUES
from weft._src.function.matching import FIRST_REPEATS, matcher_of

VARIABLE, OTHER_VARIABLE = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0])


class Named(dict):
    """A dictionary that is not exactly one."""


Pair = collections.namedtuple("Pair", "a b")

VALUES_OF_ALL_KINDS: list[Any] = [
    tf.constant(1.0), tf.constant([1.0]), tf.constant([2.0]), tf.constant([1]), tf.ones([2, 3]),
    tf.ones([3, 2]), tf.constant("a"), np.ones(1, np.float32), np.ones(1), VARIABLE, OTHER_VARIABLE,
    None, True, False, 0, 1, 2, 0.0, -0.0, 1.0, 1.5, float("nan"), "a", "b", b"a", 1j,
    [], [1], [1, 2], (1,), (1, 2), (), [tf.constant(1.0)], [tf.constant(1.0), 1], {}, {"a": 1},
    {"a": 1, "b": tf.ones([2])}, {"b": tf.ones([2]), "a": 1}, {"a": 1, "c": tf.ones([2])},
    {"a": 1, "b": tf.ones([3])}, {1: 1}, {"a": {"b": [1, (tf.ones([2]),)]}}, Named(a=1), Pair(1, 2),
    tf.float32, tf.TensorShape([1]), len,
]  # fmt: skip


def encoded(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
    leaves: list[Any] = []
    key = tuple([VALUES.encode(value, leaves) for value in args])
    named = tuple([(name, VALUES.encode(kwargs[name], leaves)) for name in sorted(kwargs)])
    return (key, named), leaves


def test_what_matches_has_the_same_key_and_leaves() -> None:
    matched = 0
    for one, other in itertools.product(VALUES_OF_ALL_KINDS, repeat=2):
        for args, kwargs in [((one,), {}), ((1, [one]), {}), ((), {"k": one})]:
            match = matcher_of(args, kwargs)
            if match is None:
                continue
            given = tuple([[other] if type(a) is list else other if a is one else a for a in args])
            named = dict.fromkeys(kwargs, other)
            found = match(given, named)
            key, leaves = encoded(given, named)
            is_same = encoded(args, kwargs)[0] == key
            if found is not None:
                matched += 1
                assert is_same, (args, given)
                assert len(found) == len(leaves)
                for a, b in zip(found, leaves, strict=True):
                    assert a is b or (a.dtype == b.dtype and np.array_equal(a, b))
            elif one is other:
                assert isinstance(one, float) or not is_same
    assert matched > 100


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((1, 2), {}), ((1,), {"a": 1}), ((1,), {"b": 2}), ((), {"a": 1, "b": 2})],
)
def test_another_number_of_arguments_does_not_match(args: Any, kwargs: Any) -> None:
    match = matcher_of((1,), {"b": 1})
    assert match is not None
    assert match(args, kwargs) is None
    assert match((1,), {"b": 1}) == []


def test_kinds_that_only_keys_know_have_no_matcher() -> None:
    for value in [0.0, float("nan"), Named(a=1), Pair(1, 2), tf.float32, len, {1: 1}, 1j]:
        assert matcher_of((value,), {}) is None


def test_a_function_tells_calls_apart_after_many_of_one_kind() -> None:
    traced = []

    @tf.function
    def f(d: dict[str, Any], flag: Any = 1, *, scale: float = 1.0) -> Any:
        traced.append(flag)
        out = d["x"] * tf.cast(scale, d["x"].dtype)
        return out + 1 if flag is True else out + 2

    x = tf.constant([1.0, 2.0])
    for _ in range(2 * FIRST_REPEATS):
        assert f({"x": x}, scale=3.0).numpy().tolist() == [5.0, 8.0]
    assert f._expected is not None
    assert traced == [1]
    assert f({"x": x}, True, scale=3.0).numpy().tolist() == [4.0, 7.0]
    assert f({"x": tf.constant([1, 2])}, scale=3.0).numpy().tolist() == [5, 8]
    assert f({"x": tf.constant(1.0)}, scale=3.0).numpy() == 5.0
    assert f({"x": x}, scale=4.0).numpy().tolist() == [6.0, 10.0]
    assert f({"x": x, "y": x}, scale=3.0).numpy().tolist() == [5.0, 8.0]
    assert traced == [1, True, 1, 1, 1, 1]
    assert f({"x": x}, scale=3.0).numpy().tolist() == [5.0, 8.0]
    assert len(traced) == 6
    assert f.cache_info()["calls"] == 2 * FIRST_REPEATS + 6


def test_another_kind_takes_over_when_it_comes_often() -> None:
    f = tf.function(lambda x: x + 1)
    for value in (tf.constant(1.0), tf.constant(2), tf.constant([3.0])):
        for _ in range(8 * FIRST_REPEATS):
            f(value)
        assert f._expected is not None
        assert f._expected[0]((value,), {}) is not None


def test_a_variable_is_told_from_another_and_not_kept_alive() -> None:
    f = tf.function(lambda v: v.assign_add(1.0))
    one, other = tf.Variable(0.0), tf.Variable(10.0)
    for _ in range(2 * FIRST_REPEATS):
        f(one)
    assert f._expected is not None
    f(other)
    assert one.numpy() == 2 * FIRST_REPEATS
    assert other.numpy() == 11.0
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None
    f(other)
    assert other.numpy() == 12.0


def test_clearing_the_cache_forgets_what_is_expected() -> None:
    f = tf.function(lambda x: x + 1)
    for _ in range(2 * FIRST_REPEATS):
        f(tf.constant(1.0))
    f.clear_cache()
    assert f._expected is None
    assert f(tf.constant(1.0)).numpy() == 2.0


@pytest.mark.parametrize(
    ("default", "expected"),
    [(tf.constant(2.0), 3.0), (tf.Variable(3.0), 4.0), (np.float32(4.0), 5.0), (np.ones(1), 2.0)],
)
def test_defaults_that_are_tensors_go_into_the_graph(default: Any, expected: float) -> None:
    traced = []

    def add(x: Any, y: Any = default, *, z: Any = default) -> Any:
        traced.append(1)
        return tf.cast(x, tf.float32) + tf.cast(y, tf.float32) + 0.0 * tf.cast(z, tf.float32)

    f = tf.function(add)
    x = tf.constant(1.0)
    for _ in range(2 * FIRST_REPEATS):
        assert f(x).numpy() == expected
        assert f(x, z=tf.constant(5.0)).numpy() == expected
        assert f(y=tf.constant(7.0), x=x).numpy() == 8.0
    assert len(traced) <= 4


def test_a_default_that_somebody_changes_is_looked_at_in_every_call() -> None:
    numbers = [1]
    f = tf.function(lambda x, more=numbers: x + sum(more))
    for _ in range(2 * FIRST_REPEATS):
        assert f(tf.constant(1)).numpy() == 2
    numbers.append(5)
    assert f(tf.constant(1)).numpy() == 7


def test_defaults_behind_starred_arguments() -> None:
    v = tf.Variable(10.0)

    def f(x: Any, *more: Any, v: Any = v, **named: Any) -> Any:
        return x + 2 * sum(more, 0.0) + 3 * v + 5 * named["a"] + 7 * named["b"]

    traced = tf.function(f)
    numbers = [tf.constant(float(n)) for n in (1, 2, 3, 4, 5)]
    for _ in range(2 * FIRST_REPEATS):
        for count in (1, 2, 3):
            given = numbers[:count]
            named = {"b": numbers[3], "a": numbers[4]}
            assert traced(*given, **named).numpy() == f(*given, **named).numpy()
