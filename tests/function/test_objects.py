"""Objects of the user as arguments: their `__eq__` sees what it expects, and they may die."""

from __future__ import annotations

import gc
import re
from typing import Any

import pytest

import weft as tf


class Point:
    """Equal by value; the comparison looks into the other one."""

    def __init__(self, x: int) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return bool(self.x == other.x)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.x)


class Other:
    """A class whose comparison looks for something that points do not have."""

    x = 7

    def __eq__(self, other: object) -> bool:
        return bool(self.name == other.name)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return 12345


class Unhashable:
    """Without a hash, as every class is that defines only `__eq__`."""

    def __init__(self, x: int) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return bool(self.x == other.x)  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def times(self, y: Any) -> Any:
        return y * self.x


def _scaled() -> Any:
    return tf.function(lambda point, y: y * point.x)


def test_equal_objects_share_a_trace_while_they_live() -> None:
    f, kept = _scaled(), Point(2)
    assert int(f(kept, tf.constant(3))) == 6
    assert int(f(Point(2), tf.constant(3))) == 6
    assert f.experimental_get_tracing_count() == 1


def test_an_object_is_not_compared_with_one_that_is_gone() -> None:
    f = _scaled()
    for expected_traces in (1, 2, 3):
        assert int(f(Point(2), tf.constant(3))) == 6
        assert f.experimental_get_tracing_count() == expected_traces
        gc.collect()


@pytest.mark.parametrize("wrap", [lambda p: [p], lambda p: {"k": (p,)}], ids=["list", "dict"])
def test_objects_that_are_gone_in_containers(wrap: Any) -> None:
    f = tf.function(lambda nest, y: y * tf.nest.flatten(nest)[0].x)
    assert int(f(wrap(Point(2)), tf.constant(3))) == 6
    gc.collect()
    assert int(f(wrap(Point(2)), tf.constant(3))) == 6


def test_objects_are_compared_only_if_their_hashes_are_equal() -> None:
    f, point, other = _scaled(), Point(2), Other()
    assert int(f(point, tf.constant(3))) == 6
    assert int(f(other, tf.constant(3))) == 21
    assert int(f(point, tf.constant(3))) == 6


def test_retraces_for_objects_that_are_gone_are_explained() -> None:
    f = _scaled()
    f(Point(2), tf.constant(3))
    gc.collect()
    f(Point(2), tf.constant(3))
    why = tf.explain(f).traces[1]["why"]
    assert re.match(
        r"'point' was <.*Point object at .*>, which is gone, and is now <.*Point ob", why
    )


def test_a_concrete_function_of_an_object_that_is_gone() -> None:
    f, point = _scaled(), Point(2)
    concrete = f.get_concrete_function(point, tf.constant(3))
    assert int(concrete(Point(2), tf.constant(4))) == 8
    del point
    gc.collect()
    assert int(concrete(y=tf.constant(4))) == 8
    for wrong in (Point(2), None, Unhashable(2)):
        with pytest.raises(TypeError, match="'point' was traced as <.*, which is gone, and is f"):
            concrete(wrong, tf.constant(4))


def test_a_concrete_function_knows_a_nan_again() -> None:
    f = tf.function(lambda x, y: y * x)
    concrete = f.get_concrete_function(float("nan"), tf.constant(3.0))
    assert str(concrete(float("nan"), tf.constant(4.0)).numpy()) == "nan"


def test_bound_methods_are_told_apart_by_their_instance() -> None:
    f = tf.function(lambda method, y: method(y))
    first, second = Unhashable(2), Unhashable(2)
    for instance, expected_traces in [(first, 1), (second, 2), (first, 2), (second, 2)]:
        assert int(f(instance.times, tf.constant(3))) == 6
        assert f.experimental_get_tracing_count() == expected_traces
    known = f.get_concrete_function(first.times, tf.constant(3))
    assert f.get_concrete_function(first.times, tf.constant(3)) is known


def test_a_bound_method_of_an_instance_that_is_gone() -> None:
    f = tf.function(lambda method, y: method(y))
    for x in (2, 5, 9):
        assert int(f(Unhashable(x).times, tf.constant(3))) == 3 * x
        gc.collect()
