"""The growing stack: values that share a buffer without seeing each other's writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core.stack import Stack

F32 = np.dtype(np.float32)


def test_push_and_pop() -> None:
    stack = Stack.reserve(F32, 0)
    for i in range(100):
        stack = stack.push(np.full(2, i, np.float32))
    assert stack.length == 100
    assert stack.to_array()[:, 0].tolist() == list(range(100))
    shorter, last = stack.pop()
    assert last.tolist() == [99, 99]
    assert shorter.length == 99
    assert stack.length == 100


def test_versions_do_not_see_each_other() -> None:
    base = Stack.reserve(F32, 0).push(np.float32(1))
    left, right = base.push(np.float32(2)), base.push(np.float32(3))
    assert left.to_array().tolist() == [1, 2]
    assert right.to_array().tolist() == [1, 3]
    assert base.to_array().tolist() == [1]
    changed = left.write(0, np.float32(9))
    assert left.to_array().tolist() == [1, 2]
    assert changed.to_array().tolist() == [9, 2]


def test_pop_then_push_leaves_the_old_stack() -> None:
    full = Stack.from_array(np.array([1, 2, 3], np.float32))
    other = full.pop()[0].push(np.float32(7))
    assert full.to_array().tolist() == [1, 2, 3]
    assert other.to_array().tolist() == [1, 2, 7]


def test_writes_in_any_order() -> None:
    stack = Stack.reserve(F32, 4)
    for i in (2, 0, 3):
        stack = stack.write(i, np.float32(i + 1))
    assert stack.to_array().tolist() == [1, 0, 3, 4]
    assert stack.read(1) == 0
    assert stack.write(1, np.float32(5)).to_array().tolist() == [1, 5, 3, 4]


def test_pushes_are_amortised() -> None:
    stack = Stack.reserve(F32, 0)
    buffers = set()
    for i in range(1000):
        stack = stack.push(np.float32(i))
        buffers.add(id(stack._buffer))
    assert len(buffers) < 20


def test_misuse() -> None:
    stack = Stack.reserve(F32, 2).write(0, np.zeros(3, np.float32))
    with pytest.raises(tf.errors.OutOfRangeError, match="index 5"):
        stack.read(5)
    ragged = stack.write(1, np.zeros(2, np.float32))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"shape \(3,\), element 1 \(2,\)\. Read"
    ):
        ragged.to_array()
    with pytest.raises(tf.errors.InvalidArgumentError, match="never written, and its shape"):
        ragged.resized(3).read(2)
    with pytest.raises(tf.errors.OutOfRangeError, match="empty"):
        Stack.reserve(F32, 0).pop()
    with pytest.raises(tf.errors.InvalidArgumentError, match="never written"):
        Stack.reserve(F32, 2).read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="size"):
        Stack.reserve(F32, -1)


def test_written_elements() -> None:
    stack = Stack.reserve(F32, 5)
    assert list(stack.written()) == []
    assert list(stack.write(0, np.float32(1)).write(1, np.float32(1)).written()) == [0, 1]
    assert list(stack.write(3, np.float32(1)).write(1, np.float32(1)).written()) == [1, 3]


def test_zeros_without_end() -> None:
    zeros = Stack.zeros()
    rest, top = zeros.push(np.ones(2, np.float32)).pop((2,))
    assert top.tolist() == [1, 1]
    for _ in range(3):
        rest, below = rest.pop((2,))
        assert below.tolist() == [0, 0]
    assert zeros.read(7, (2,)).tolist() == [0, 0]


def test_replaced_elements_leave_older_versions_as_they_were() -> None:
    rng = np.random.default_rng(5)
    first = Stack.from_array(np.arange(12, dtype=np.float32).reshape(6, 2))
    versions = [(first, first.to_array().copy())]
    for step in range(200):
        stack, expected = versions[rng.integers(len(versions)) if step % 3 == 0 else -1]
        i, row = int(rng.integers(6)), rng.normal(size=2).astype(np.float32)
        changed = expected.copy()
        changed[i] = row
        versions.append((stack.write(i, row), changed))
    order = rng.permutation(len(versions))
    for k in order[: len(order) // 2]:
        stack, expected = versions[k]
        for i in rng.permutation(6)[:3]:
            np.testing.assert_array_equal(stack.read(int(i)), expected[i])
    for k in order:
        stack, expected = versions[k]
        np.testing.assert_array_equal(stack.to_array(), expected)


def test_what_was_read_does_not_change() -> None:
    stack = Stack.from_array(np.zeros((3, 2))).write(1, np.ones(2))
    row = stack.read(1)
    newer = stack.write(1, np.full(2, 5.0))
    everything = newer.to_array()
    newest = newer.write(1, np.full(2, 7.0)).write(1, np.full(2, 8.0))
    assert (row.tolist(), everything[1].tolist()) == ([1, 1], [5, 5])
    assert newest.pop()[0].pop()[1].tolist() == [8, 8]
    assert newer.pop()[0].pop()[1].tolist() == [5, 5]


def test_replacing_does_not_copy_everything() -> None:
    stack = Stack.from_array(np.zeros((1000, 2))).write(3, np.ones(2))
    data = stack._buffer.data  # type: ignore[union-attr]
    for i in range(1000):
        stack = stack.write(i, np.full(2, float(i)))
    assert stack._buffer is not None
    assert stack._buffer.data is data
    assert stack.to_array()[:, 0].tolist() == list(range(1000))


@pytest.mark.parametrize("order", [range(9, -1, -1), [5, 4, 6, 3, 7, 8, 2, 9, 0, 1], [7, 2, 9, 0]])
def test_elements_written_in_any_order(order: Any) -> None:
    stack = Stack.reserve(np.dtype(np.float32), 10)
    expected = np.zeros(10, np.float32)
    for i in order:
        stack = stack.write(i, np.float32(i + 1))
        expected[i] = i + 1
        assert [stack.has_written(k) for k in range(10)] == (expected > 0).tolist()
    np.testing.assert_array_equal(stack.to_array(()), expected)
    np.testing.assert_array_equal(stack.resized(7).to_array(()), expected[:7])
    assert sorted(stack.written()) == sorted(order)


def test_elements_of_different_shapes() -> None:
    rng = np.random.default_rng(5)
    versions = [(Stack.reserve(F32, 0), list[np.ndarray]())]
    for step in range(80):
        stack, expected = versions[rng.integers(len(versions)) if step % 4 == 0 else -1]
        row = rng.normal(size=rng.integers(0, 4, rng.integers(0, 3))).astype(np.float32)
        kind = rng.integers(4) if expected else 0
        if kind <= 1:
            versions.append((stack.push(row), [*expected, row]))
        elif kind == 2:
            i = int(rng.integers(len(expected)))
            versions.append((stack.write(i, row), [*expected[:i], row, *expected[i + 1 :]]))
        else:
            rest, last = stack.pop()
            np.testing.assert_array_equal(last, expected[-1])
            versions.append((rest, expected[:-1]))
    for stack, expected in [*versions, *versions[::-1]]:
        assert stack.length == len(expected)
        for i, row in enumerate(expected):
            np.testing.assert_array_equal(stack.read(i), row)


def test_ragged_stacks_keep_copies_and_become_arrays_again() -> None:
    row = np.ones(2, np.float32)
    stack = Stack.reserve(F32, 0).push(np.zeros(3, np.float32)).push(row)
    row[:] = 7
    assert stack.read(1).tolist() == [1, 1]
    assert stack.is_ragged
    assert stack.element_shape is None
    same = stack.write(0, np.zeros(2, np.float32)).resized(3)
    assert same.to_array().tolist() == [[0, 0], [1, 1], [0, 0]]
