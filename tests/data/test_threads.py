"""Threads of pipelines: they overlap, keep order, hand errors on, and end."""

from __future__ import annotations

import gc
import threading
import time
from typing import Any

import pytest

import weft as tf
from support.threads import in_threads

D = tf.data.Dataset


def called(function: Any) -> Any:
    return lambda x: tf.py_function(function, [x], tf.int64)


def threads_of_pipelines() -> int:
    return len([t for t in threading.enumerate() if t.name == "weft.data"])


def wait_until(condition: Any, seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_parallel_calls_overlap_and_keep_order() -> None:
    both = threading.Barrier(2, timeout=20)

    def meet(x: Any) -> Any:
        both.wait()  # passes only if two calls run at once
        time.sleep(0.002 * (4 - int(x) % 4))
        return x

    dataset = D.range(8).map(called(meet), num_parallel_calls=2)
    assert [int(x) for x in dataset] == list(range(8))


def test_order_may_be_given_up() -> None:
    last_done = threading.Event()

    def wait_for_the_last(x: Any) -> Any:
        if int(x) == 0:
            assert last_done.wait(20)
            time.sleep(0.05)
        if int(x) == 1:
            last_done.set()
        return x

    dataset = D.range(2).map(called(wait_for_the_last), num_parallel_calls=2, deterministic=False)
    assert [int(x) for x in dataset] == [1, 0]
    options = tf.data.Options()
    options.deterministic = False
    last_done.clear()
    dataset = D.range(2).map(called(wait_for_the_last), num_parallel_calls=2)
    assert [int(x) for x in dataset.with_options(options)] == [1, 0]


def test_prefetch_runs_ahead_and_no_further_than_its_buffer() -> None:
    made: list[int] = []

    def note(x: Any) -> Any:
        made.append(int(x))
        time.sleep(0.001)
        return x

    iterator = iter(D.range(100).map(called(note)).prefetch(3))
    assert next(iterator).numpy() == 0
    assert wait_until(lambda: len(made) >= 4)
    time.sleep(0.05)
    assert len(made) <= 5


def test_elements_that_are_made_quickly_need_no_thread() -> None:
    iterator = iter(D.range(10_000).map(lambda x: x + 1).batch(10).prefetch(2))
    assert sum(int(batch[0]) for batch in iterator) > 0
    assert wait_until(lambda: threads_of_pipelines() == 0)


@pytest.mark.parametrize("parallel", [None, 3])
def test_errors_arrive_where_they_belong(parallel: int | None) -> None:
    def fail_at_five(x: Any) -> Any:
        if int(x) == 5:
            raise RuntimeError("five")
        return x

    dataset = D.range(9).map(called(fail_at_five), num_parallel_calls=parallel).prefetch(2)
    iterator = iter(dataset)
    assert [int(next(iterator)) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(RuntimeError, match="five"):
        next(iterator)
    assert [int(x) for x in iterator] == [6, 7, 8]


def slow(x: Any) -> Any:
    time.sleep(0.002)
    return x


def test_threads_end_with_the_iterator() -> None:
    dataset = D.range(1000).map(called(slow), num_parallel_calls=2).prefetch(2)
    iterator = iter(dataset)
    next(iterator)
    assert threads_of_pipelines() > 0
    del iterator
    gc.collect()
    assert wait_until(lambda: threads_of_pipelines() == 0)
    for _ in dataset:
        break
    gc.collect()
    assert wait_until(lambda: threads_of_pipelines() == 0)


def test_an_interrupt_leaves_the_iterator_usable() -> None:
    dataset = D.range(20).map(called(slow)).prefetch(2)
    iterator = iter(dataset)
    try:
        for x in iterator:
            if int(x) == 3:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert [int(x) for x in iterator] == list(range(4, 20))
    assert wait_until(lambda: threads_of_pipelines() == 0)


def test_positions_while_threads_run() -> None:
    dataset = D.range(30).map(called(slow), num_parallel_calls=3).prefetch(3)
    iterator = iter(dataset)
    assert [int(next(iterator)) for _ in range(7)] == list(range(7))
    position = iterator.save_position()
    assert [int(x) for x in iterator] == list(range(7, 30))
    iterator.restore_position(position)
    assert [int(x) for x in iterator] == list(range(7, 30))


def test_one_iterator_in_several_threads_gives_each_element_once() -> None:
    iterator = iter(D.range(2000).map(lambda x: x * 1))
    got: list[int] = []

    def take(_: int) -> None:
        got.extend(int(x) for x in iterator)

    in_threads(take, 3)
    assert sorted(got) == list(range(2000))


def test_interleave_reads_in_parallel() -> None:
    both = threading.Barrier(2, timeout=20)

    def meet(x: Any) -> Any:
        both.wait()
        return x

    dataset = D.range(2).interleave(
        lambda i: D.range(3).map(called(meet)).map(lambda x: 10 * i + x),
        cycle_length=2,
        num_parallel_calls=2,
    )
    assert [int(x) for x in dataset] == [0, 10, 1, 11, 2, 12]


def test_no_thread_waits_for_variables_that_the_consumer_has_locked() -> None:
    step = tf.Variable(0, dtype=tf.int64)

    def prepared(x: Any) -> Any:
        return tf.py_function(slow, [x], tf.int64) + 0 * step

    @tf.function
    def train(dataset: Any) -> Any:
        total = tf.constant(0, tf.int64)
        for x in dataset:
            step.assign_add(1)
            total += x
        return total

    rows = D.range(40)
    for dataset in (rows.map(prepared).prefetch(2), rows.map(prepared, num_parallel_calls=2),
                    rows.flat_map(lambda i: rows.take(1).map(prepared)).prefetch(2)):  # fmt: skip
        thread = threading.Thread(target=train, args=(dataset,), daemon=True)
        thread.start()
        thread.join(20)
        assert not thread.is_alive()
    assert step.numpy() == 120
