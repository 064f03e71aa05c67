"""`tf.queue`: what TensorFlow's queues do, eagerly, in functions and between threads."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import weft as tf

Q = tf.queue


def test_elements_with_names() -> None:
    queue = Q.FIFOQueue(3, [tf.int32, tf.float32], shapes=[[], [2]], names=["a", "b"], name="q")
    queue.enqueue({"a": 1, "b": [1.0, 2.0]})
    assert (queue.size().numpy(), queue.name, queue.names) == (1, "q", ["a", "b"])
    assert queue.dtypes == [tf.int32, tf.float32]
    assert queue.shapes == [tf.TensorShape([]), tf.TensorShape([2])]
    found = queue.dequeue()
    assert found["a"].numpy() == 1
    assert found["b"].numpy().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="dict with the names"):
        queue.enqueue([1, [1.0, 2.0]])


def test_order_and_closing() -> None:
    queue = Q.FIFOQueue(5, [tf.int32], [[]])
    queue.enqueue_many([[1, 2, 3]])
    assert not queue.is_closed()
    queue.close()
    assert queue.is_closed()
    with pytest.raises(tf.errors.CancelledError, match="closed"):
        queue.enqueue(4)
    assert queue.dequeue().numpy() == 1
    with pytest.raises(tf.errors.OutOfRangeError, match="3 were asked for, it has 2"):
        queue.dequeue_many(3)
    assert queue.dequeue_up_to(3).numpy().tolist() == [2, 3]
    with pytest.raises(tf.errors.OutOfRangeError):
        queue.dequeue()
    with pytest.raises(tf.errors.OutOfRangeError):
        queue.dequeue_up_to(1)


def test_shapes() -> None:
    queue = Q.FIFOQueue(3, [tf.int32], [[]])
    with pytest.raises(tf.errors.ShapeError, match="elements of shape"):
        queue.enqueue([[1, 2]])
    with pytest.raises(ValueError, match="must have 1 components, got 2"):
        queue.enqueue([1, 2])
    with pytest.raises((TypeError, ValueError)):
        queue.enqueue(["a"])
    open_queue = Q.FIFOQueue(3, [tf.int32])
    open_queue.enqueue([[1, 2]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="know the shapes"):
        open_queue.dequeue_many(1)
    assert open_queue.dequeue().numpy().tolist() == [1, 2]
    pairs = Q.FIFOQueue(3, [tf.int32, tf.string], [[], []])
    with pytest.raises(tf.errors.ShapeError, match="different numbers"):
        pairs.enqueue_many([[1, 2], ["a"]])
    assert queue.dequeue_many(0).shape == (0,)


def test_padding() -> None:
    queue = Q.PaddingFIFOQueue(5, [tf.int32, tf.string], [[None, 2], []])
    queue.enqueue([[[1, 2]], "a"])
    queue.enqueue([[[3, 4], [5, 6]], "b"])
    numbers, words = queue.dequeue_many(2)
    assert numbers.numpy().tolist() == [[[1, 2], [0, 0]], [[3, 4], [5, 6]]]
    assert words.numpy().tolist() == [b"a", b"b"]
    with pytest.raises(ValueError, match="known ranks"):
        Q.PaddingFIFOQueue(5, [tf.int32], [None])


def test_priorities() -> None:
    queue = Q.PriorityQueue(9, [tf.string], [[]])
    for priority, word in ((3, "c"), (1, "a"), (3, "d"), (2, "b")):
        queue.enqueue((priority, word))
    priorities, words = queue.dequeue_many(4)
    assert priorities.dtype == tf.int64
    assert priorities.numpy().tolist() == [1, 2, 3, 3]
    assert words.numpy().tolist() == [b"a", b"b", b"c", b"d"]


def test_shuffling() -> None:
    def order(seed: int) -> list[int]:
        queue = Q.RandomShuffleQueue(100, 2, [tf.int32], [[]], seed=seed)
        queue.enqueue_many([list(range(50))])
        out = [int(queue.dequeue()) for _ in range(48)]
        queue.close()
        return out + queue.dequeue_up_to(9).numpy().tolist()

    assert sorted(order(1)) == list(range(50))
    assert order(1) == order(1) != order(2)
    assert order(1) != list(range(50))
    with pytest.raises(ValueError, match="less than capacity"):
        Q.RandomShuffleQueue(3, 3, [tf.int32])


def test_functions() -> None:
    queue = Q.FIFOQueue(10, [tf.int32], [[]])

    @tf.function
    def work(n: Any) -> Any:
        for i in tf.range(n):
            queue.enqueue(i * i)
        first = queue.dequeue()
        return first, queue.dequeue_many(2), queue.size()

    first, more, size = work(tf.constant(5))
    assert (first.numpy(), more.numpy().tolist(), size.numpy()) == (0, [1, 4], 2)
    assert work.get_concrete_function(tf.TensorSpec([], tf.int32)).structured_outputs[1].shape == (
        2,
    )


def test_threads_wait_for_each_other() -> None:
    queue = Q.FIFOQueue(2, [tf.int32], [[]])

    @tf.function
    def fill() -> None:
        for i in tf.range(50):
            queue.enqueue(i)

    thread = threading.Thread(target=fill)
    thread.start()
    take = tf.function(lambda: queue.dequeue_many(5))
    found = np.concatenate([take().numpy() for _ in range(10)])
    thread.join(10)
    assert found.tolist() == list(range(50))


def test_those_who_wait_can_be_cancelled() -> None:
    queue = Q.FIFOQueue(1, [tf.int32], [[]])
    queue.enqueue(1)
    errors: list[Exception] = []

    def put() -> None:
        try:
            queue.enqueue(2)
        except tf.errors.CancelledError as error:
            errors.append(error)

    thread = threading.Thread(target=put)
    thread.start()
    queue.close(cancel_pending_enqueues=True)
    thread.join(10)
    assert len(errors) == 1


def test_one_of_several() -> None:
    queues = [Q.FIFOQueue(1, [tf.int32]), Q.FIFOQueue(1, [tf.int32])]
    assert Q.QueueBase.from_list(1, queues) is queues[1]
    with pytest.raises(ValueError, match=r"not in \[0, 2\)"):
        Q.QueueBase.from_list(2, queues)
    for capacity in (0, -2):
        with pytest.raises(ValueError, match="capacity must be positive"):
            Q.FIFOQueue(capacity, [tf.int32])
