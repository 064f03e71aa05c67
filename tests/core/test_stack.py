"""The growing stack: values that share a buffer without seeing each other's writes."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.core.stack import Stack

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
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(3,\), element 1 got \(2,\)"):
        stack.write(1, np.zeros(2, np.float32))
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
