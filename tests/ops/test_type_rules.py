"""The type rules of ops on arrays: what has passed is remembered, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core import memory
from weft._src.ops import dispatch
from weft._src.ops.registry import find_op


@pytest.fixture
def cross() -> Any:
    op = find_op("Cross")
    assert op.passed is not None
    op.passed.clear()
    return op


def test_what_passed_is_not_asked_again(cross: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    infer = dispatch.infer_from_values
    monkeypatch.setattr(
        dispatch,
        "infer_from_values",
        lambda *given: (asked.append(given[0].name), infer(*given))[1],
    )
    x = tf.constant(np.ones((4, 3), np.float32))
    for _ in range(3):
        tf.linalg.cross(x, x)
    assert asked == ["Cross"]
    tf.linalg.cross(x[:2], x[:2])
    tf.linalg.cross(tf.cast(x, tf.float64), tf.cast(x, tf.float64))
    assert asked == ["Cross"] * 3


def test_wrong_shapes_are_told_behind_right_ones(cross: Any) -> None:
    x = tf.constant(np.ones((4, 3), np.float32))
    for _ in range(2):
        tf.linalg.cross(x, x)
        with pytest.raises(tf.errors.InvalidArgumentError, match="cross"):
            tf.linalg.cross(x[:, :2], x[:, :2])


def test_old_types_make_room(cross: Any) -> None:
    for n in range(3 * dispatch._MOST_PASSED):
        tf.linalg.cross(tf.zeros([n, 3]), tf.zeros([n, 3]))
    assert 0 < len(cross.passed) <= dispatch._MOST_PASSED


def test_large_results_are_always_asked_for(cross: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.limits, "asked_above", 100)
    tf.linalg.cross(tf.zeros([50, 3]), tf.zeros([50, 3]))
    assert not cross.passed
    tf.linalg.cross(tf.zeros([2, 3]), tf.zeros([2, 3]))
    assert len(cross.passed) == 1


def test_attributes_are_part_of_a_type() -> None:
    for axis in (0, 1, 0):
        assert tf.concat([tf.ones([2, 2]), tf.ones([2, 2])], axis).shape == (
            4 - 2 * axis,
            2 + 2 * axis,
        )
    with pytest.raises((TypeError, ValueError)):
        tf.one_hot([1, 2], 3, axis=5)


def test_values_that_decide_are_looked_at() -> None:
    assert find_op("Reshape").passed is None
    for shape in ([2, 3], [3, 2]):
        assert tf.reshape(tf.range(6), shape).shape == shape
