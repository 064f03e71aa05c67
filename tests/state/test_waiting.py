"""Threads that wait for variables: what would never end is an error, what takes long is told."""

from __future__ import annotations

import _thread
import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import weft as tf
from support.threads import in_threads
from weft._src.core import holding

Work = Callable[[], Any]


def _joined(work: Work) -> None:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except tf.errors.AbortedError as e:
            errors.append(e)

    thread = threading.Thread(target=run, name="inner")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def _through_a_future(work: Work) -> None:
    with ThreadPoolExecutor(1, thread_name_prefix="inner") as executor:
        executor.submit(work).result()


def _through_a_queue(work: Work) -> None:
    results: queue.Queue[Any] = queue.Queue()

    def run() -> None:
        try:
            results.put(work())
        except tf.errors.AbortedError as e:
            results.put(e)

    threading.Thread(target=run, name="inner").start()
    found = results.get()
    if isinstance(found, Exception):
        raise found


def _at_the_end_of_an_executor(work: Work) -> None:
    with ThreadPoolExecutor(1, thread_name_prefix="inner") as executor:
        future = executor.submit(work)
    future.result()


def _through_another_thread(work: Work) -> None:
    _joined(lambda: _through_a_future(work))


WAYS = [
    _joined,
    _through_a_future,
    _through_a_queue,
    _at_the_end_of_an_executor,
    _through_another_thread,
]


@pytest.mark.parametrize("how", ["numpy", "native"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
def test_a_thread_that_its_caller_waits_for(
    way: Callable[[Work], None], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tf.config, "execution", how)
    counter = tf.Variable(1.0, name="counter")

    @tf.function
    def step(x: Any) -> Any:
        counter.assign_add(x)
        tf.py_function(lambda: way(lambda: counter.assign(5.0)), [], [])
        return counter * 2.0

    with pytest.raises(tf.errors.AbortedError) as caught:
        step(tf.constant(1.0))
    text = str(caught.value)
    assert "needs the variable 'counter', which a call of step in the thread" in text
    assert f"the thread {threading.current_thread().name!r}" in text
    assert "The thread 'inner" in text
    assert "test_waiting.py:" in text
    assert "let the thread return a value" in text
    # Nothing is left locked.
    counter.assign(3.0)
    assert float(counter) == 3.0


@pytest.mark.parametrize(
    "use",
    [lambda v: v.read_value(), lambda v: tf.function(lambda: v.assign_add(1.0))()],
    ids=["read", "another function"],
)
def test_reading_and_calling_wait_too(use: Callable[[Any], Any]) -> None:
    v = tf.Variable(1.0, name="counter")

    @tf.function
    def step() -> Any:
        v.assign_add(1.0)
        tf.py_function(lambda: _joined(lambda: use(v)), [], [])

    with pytest.raises(tf.errors.AbortedError, match="needs the variable 'counter'"):
        step()


def test_machine_code_that_only_reads_holds_what_it_reads() -> None:
    v = tf.Variable([1.0, 2.0, 3.0], name="weights")
    read = tf.function(lambda x: tf.reduce_sum(x * v), jit_compile=True)
    read(tf.ones([3]))

    @tf.function
    def step() -> Any:
        v.assign_add([1.0, 1.0, 1.0])
        tf.py_function(lambda: _joined(lambda: read(tf.ones([3]))), [], [])

    with pytest.raises(tf.errors.AbortedError, match="needs the variable 'weights'"):
        step()


def test_critical_sections() -> None:
    section = tf.CriticalSection("ledger")

    def inside() -> Any:
        _joined(lambda: section.execute(lambda: tf.constant(1)))
        return tf.constant(2)

    with pytest.raises(tf.errors.AbortedError, match="needs the critical section 'ledger', which "):
        section.execute(inside)
    assert int(section.execute(lambda: tf.constant(3))) == 3


def test_two_calls_that_want_what_the_other_holds() -> None:
    a, b = tf.Variable(1.0, name="a"), tf.Variable(1.0, name="b")
    both_hold = threading.Barrier(2, timeout=30)

    def call(mine: Any, other: Any) -> Any:
        def want_the_other() -> None:
            both_hold.wait()
            other.assign(7.0)

        @tf.function
        def step() -> None:
            mine.assign_add(1.0)
            tf.py_function(want_the_other, [], [])

        return step

    with ThreadPoolExecutor(2) as executor:
        futures = [executor.submit(call(a, b)), executor.submit(call(b, a))]
        errors = [future.exception() for future in futures]
    failed = [e for e in errors if e is not None]
    assert failed, "both would have waited for ever"
    assert all(isinstance(e, tf.errors.AbortedError) for e in failed)


def test_waits_that_end_are_no_errors() -> None:
    v = tf.Variable(0.0)
    seen: list[bool] = []

    def wait_a_little() -> None:
        thread = threading.Thread(target=lambda: v.assign_add(10.0))
        thread.start()
        thread.join(timeout=0.3)  # it gives up: then the call ends, and the thread goes on
        seen.append(thread.is_alive())
        threads.append(thread)

    threads: list[threading.Thread] = []

    @tf.function
    def step() -> None:
        v.assign_add(1.0)
        tf.py_function(wait_a_little, [], [])

    step()
    threads[0].join()
    assert seen == [True]
    assert float(v) == 11.0


def test_threads_that_only_take_turns() -> None:
    v = tf.Variable(0.0)

    @tf.function
    def step() -> None:
        v.assign_add(1.0)
        tf.py_function(lambda: time.sleep(0.002), [], [])

    def work(_number: int) -> None:
        for _ in range(10):
            step()
            v.assign_add(1.0)

    in_threads(work)
    assert float(v) == 80.0


def test_a_long_wait_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(holding, "_WARN_AFTER", 0.1)
    v = tf.Variable(0.0, name="slow")

    def sleep_in_the_call() -> None:
        threading.Thread(target=lambda: v.assign_add(1.0), name="patient").start()
        time.sleep(1.5)

    @tf.function
    def step() -> None:
        v.assign_add(1.0)
        tf.py_function(sleep_in_the_call, [], [])

    with caplog.at_level(logging.WARNING, "weft"):
        step()
        while float(v) < 2.0:
            time.sleep(0.01)
    (text,) = [r.getMessage() for r in caplog.records if "has waited for" in r.getMessage()]
    assert "The thread 'patient' has waited for 0 seconds for the variable 'slow', which" in text
    assert f"which a call of step in the thread {threading.current_thread().name!r} holds" in text
    mine, theirs = text.split("\nThe thread ")[1:]
    assert "v.assign_add(1.0)" in mine
    assert "time.sleep(1.5)" in theirs


def test_waiting_can_be_interrupted() -> None:
    v = tf.Variable(0.0)
    entered, leave = threading.Event(), threading.Event()

    def stay() -> None:
        entered.set()
        leave.wait(30)

    @tf.function
    def step() -> None:
        v.assign_add(1.0)
        tf.py_function(stay, [], [])

    holder = threading.Thread(target=step)
    holder.start()
    entered.wait(30)
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            v.assign(2.0)
    finally:
        leave.set()
        holder.join()
    assert float(v) == 1.0
