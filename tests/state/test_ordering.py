"""control_dependencies, group, device, get_logger, CriticalSection."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

import weft as tf
from support.threads import in_threads


def test_control_dependencies_and_group_keep_program_order() -> None:
    v = tf.Variable(1.0)

    def steps() -> tf.Tensor:
        change = v.assign_add(1.0)
        with tf.control_dependencies([change, None, tf.no_op()]):
            doubled = v * 2.0
        with tf.control_dependencies(None):
            pass
        with tf.control_dependencies([lambda: v.assign_add(10.0)]):
            last = v.read_value()
        assert tf.group(v.assign(0.0), [doubled], name="all") is None
        return doubled + last

    assert steps().numpy() == 16
    assert v.numpy() == 0
    v.assign(1.0)
    assert tf.function(steps)().numpy() == 16
    assert v.numpy() == 0
    with pytest.raises(TypeError, match="list of tensors and ops"):
        tf.control_dependencies(tf.constant(1))
    with pytest.raises(ValueError, match="group does not take the arguments"):
        tf.group(v, names="x")


def test_exceptions_pass() -> None:
    with pytest.raises(KeyError), tf.control_dependencies([]), tf.device("/cpu:0"):
        raise KeyError


@pytest.mark.parametrize(
    "name",
    [
        None, "", "/cpu:0", "CPU:0", "/GPU:1", "/device:TPU:0", "gpu", "/job:localhost/task:0",
        "/job:localhost/replica:0/task:0/device:CPU:0", "/device:GPU:*",
    ],
)  # fmt: skip
def test_devices_are_accepted(name: str | None) -> None:
    def f(x: Any) -> Any:
        with tf.device(name):
            return tf.add(x, 1)

    assert f(1).numpy() == tf.function(f)(tf.constant(1)).numpy() == 2


def test_wrong_devices() -> None:
    with pytest.raises(ValueError, match="'blah' is no device"):
        tf.device("blah")
    with pytest.raises(ValueError, match="must be a string, got 3"):
        tf.device(3)
    with pytest.raises(RuntimeError, match="not a function"):
        tf.device(lambda op: "/cpu:0")


def test_logger() -> None:
    assert tf.get_logger() is logging.getLogger("weft")


# --- critical sections --------------------------------------------------------------------------


def test_results() -> None:
    section = tf.CriticalSection(name="mine")
    assert section.name == "mine"
    assert section.execute(lambda: 3).numpy() == 3
    assert section.execute(lambda: None) is None
    a, b = tf.function(lambda x: section.execute(lambda: (x, x + 1)))(tf.constant(1))
    assert (a.numpy(), b.numpy()) == (1, 2)
    with pytest.raises(TypeError, match="must be callable, got 3"):
        section.execute(3)
    with pytest.raises(ValueError, match="inside of itself"):
        section.execute(lambda: section.execute(lambda: 1))
    with pytest.raises(KeyError):
        section.execute(lambda: {}["x"])
    assert section.execute(lambda: 4).numpy() == 4


class Watch:
    """Counts how many threads are inside at the same time."""

    def __init__(self) -> None:
        self.inside = self.most = self.calls = 0

    def visit(self) -> None:
        self.inside += 1
        self.calls += 1
        self.most = max(self.most, self.inside)
        time.sleep(0.002)
        self.inside -= 1


def visiting(watch: Watch, section: tf.CriticalSection) -> Any:
    def body() -> tf.Tensor:
        def note() -> int:
            watch.visit()
            return 1

        return tf.py_function(note, [], tf.int32)

    return lambda: section.execute(body)


def test_one_thread_at_a_time() -> None:
    watch, section = Watch(), tf.CriticalSection()
    eager = visiting(watch, section)
    traced = tf.function(visiting(watch, section))

    @tf.function
    def nested(n: tf.Tensor) -> tf.Tensor:
        return tf.cond(n > 0, traced, lambda: tf.constant(0))

    def taped() -> None:
        with tf.GradientTape():
            traced()

    def work(_: int) -> None:
        for _ in range(3):
            for run in (eager, traced, taped, lambda: nested(tf.constant(1))):
                run()

    in_threads(work)
    assert watch.calls == 48
    assert watch.most == 1


def test_shared_names_share_the_lock() -> None:
    watch = Watch()
    one, two = tf.CriticalSection(shared_name="s"), tf.CriticalSection(shared_name="s")
    first, second = visiting(watch, one), tf.function(visiting(watch, two))
    in_threads(lambda _: [(first(), second()) for _ in range(5)])
    assert watch.most == 1


def test_calls_under_a_tape_are_atomic_too() -> None:
    v = tf.Variable(0)

    @tf.function
    def step() -> None:
        value = v.read_value()
        tf.py_function(lambda: time.sleep(0.001), [], [])
        v.assign(value + 1)

    def work(_: int) -> None:
        for _ in range(5):
            with tf.GradientTape():
                step()
            step()

    in_threads(work)
    assert v.numpy() == 40
