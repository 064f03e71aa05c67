"""Threads, interrupts and forks."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time

import pytest

import weft as tf
from support.threads import in_threads


def test_concurrent_first_calls_trace_once() -> None:
    traces = []

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        traces.append(x)
        time.sleep(0.05)
        return x * 2

    results = in_threads(lambda i: int(f(tf.constant(i))), 6)
    assert results == [0, 2, 4, 6, 8, 10]
    assert len(traces) == 1


def test_calls_that_write_variables_are_atomic() -> None:
    v = tf.Variable(0)

    @tf.function
    def increment() -> tf.Tensor:
        now = v.value()
        later = now
        for _ in range(20):  # give other threads a chance to come between
            later = later + 0
        v.assign(later + 1)
        return v.value()

    increment()
    in_threads(lambda i: [increment() for _ in range(200)], 4)
    assert v.numpy() == 801


def test_functions_that_call_each_other_do_not_deadlock() -> None:
    @tf.function
    def f(x: tf.Tensor, n: int) -> tf.Tensor:
        time.sleep(0.02)
        return x if n == 0 else g(x + 1, n - 1)

    @tf.function
    def g(x: tf.Tensor, n: int) -> tf.Tensor:
        time.sleep(0.02)
        return x if n == 0 else f(x * 2, n - 1)

    results = in_threads(lambda i: int((f, g)[i](tf.constant(1), 4)), 2)
    assert results == [10, 7]


def test_traces_in_threads_do_not_mix() -> None:
    def work(i: int) -> float:
        @tf.function
        def f(x: tf.Tensor) -> tf.Tensor:
            y = x
            for _ in range(30):
                y = y + float(i)
            return y

        return float(f(tf.constant(0.0)))

    assert in_threads(work) == [0, 30, 60, 90]


def test_interrupts_are_answered_and_leave_things_usable() -> None:
    v = tf.Variable(0.0)

    @tf.function
    def forever() -> tf.Tensor:
        return tf.while_loop(
            lambda i: i >= 0, lambda i: [i * 0 + tf.cast(v.assign_add(1.0) > 0, tf.int32)], [1]
        )[0]

    start = time.perf_counter()
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        forever()
    assert time.perf_counter() - start < 5
    assert tf.executing_eagerly()
    before = v.numpy()
    v.assign_add(1.0)
    assert v.numpy() == before + 1
    assert tf.function(lambda x: x + 1)(tf.constant(1)).numpy() == 2


def _child(queue: object) -> None:
    queue.put(int(_doubled(tf.constant(21))))  # type: ignore[attr-defined]


_doubled = tf.function(lambda x: x * 2)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_functions_work_after_fork() -> None:
    _doubled(tf.constant(1.0))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_child, args=(queue,))
    process.start()
    assert queue.get(timeout=30) == 42
    process.join(30)
