"""`tf.device` on the host: names, scopes, devices that are not there. What TensorFlow 2.21 says."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.execution.xla import runtime
from weft.errors import InvalidArgumentError

HERE = "/job:localhost/replica:0/task:0"


@pytest.fixture(autouse=True)
def _three_names_of_the_cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(runtime, "count_gpus", lambda: 0)
    cpu = tf.config.list_physical_devices("CPU")[0]
    one = tf.config.LogicalDeviceConfiguration()
    tf.config.set_logical_device_configuration(cpu, [one] * 3)
    yield
    tf.config.set_logical_device_configuration(cpu, [one])
    tf.config.set_soft_device_placement(True)


def device_of(x: Any) -> str:
    assert x.device.startswith(HERE)
    return str(x.device.removeprefix(f"{HERE}/device:"))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("CPU:1", "CPU:1"),
        ("/cpu:1", "CPU:1"),
        ("/device:CPU:2", "CPU:2"),
        (f"{HERE}/device:CPU:1", "CPU:1"),
        (tf.DeviceSpec(device_type="CPU", device_index=2), "CPU:2"),
        ("/CPU:*", "CPU:0"),
        ("cpu", "CPU:0"),
        ("", "CPU:0"),
        (None, "CPU:0"),
        ("/job:localhost", "CPU:0"),
        ("/replica:0", "CPU:0"),
        ("/GPU:0", "CPU:0"),
        ("/gpu:*", "CPU:0"),
        ("/CPU:9", "CPU:0"),
        ("/device:FOO:0", "CPU:0"),
    ],
)
def test_names(name: Any, wanted: str) -> None:
    with tf.device(name):
        x = tf.constant([1.0, 2.0])
        v = tf.Variable(x)
        found = [x, x + 1, tf.zeros([2]), tf.split(x, 2)[1], tf.constant("a"), v, v.read_value()]
        found.append(tf.function(lambda y: y * 2)(x))
    assert [device_of(y) for y in found] == [wanted] * 8
    assert [device_of(y) for y in (x + 1, v.read_value(), tf.identity(x))] == ["CPU:0"] * 3
    assert device_of(v) == wanted
    np.testing.assert_array_equal(v + x, [2.0, 4.0])


def test_logical_devices_are_names() -> None:
    with tf.device(tf.config.list_logical_devices()[1]):
        assert device_of(tf.constant(1)) == "CPU:1"


def test_scopes_in_scopes() -> None:
    with tf.device("CPU:1"):
        for name, wanted in {"/job:localhost": 1, "": 1, "/CPU:2": 2, None: 0}.items():
            with tf.device(name):
                assert device_of(tf.constant(1.0)) == f"CPU:{wanted}"
        assert device_of(tf.constant(1.0)) == "CPU:1"
    scope = tf.device("CPU:2")
    with scope, scope:
        pass
    with pytest.raises(KeyError), scope:
        raise KeyError
    assert device_of(tf.constant(1.0)) == "CPU:0"


def test_a_scope_is_of_its_thread() -> None:
    found: list[str] = []
    with tf.device("CPU:1"):
        thread = threading.Thread(target=lambda: found.append(device_of(tf.constant(1))))
        thread.start()
        thread.join()
    assert found == ["CPU:0"]


def test_functions() -> None:
    devices: list[str] = []

    @tf.function
    def f(x: Any) -> Any:
        with tf.device("CPU:2"):
            y = x + 1
        devices.extend([y.device, y.op.device, (x * 2).device])
        return y

    assert device_of(f(tf.constant(1.0))) == "CPU:0"
    with tf.device("CPU:1"):
        assert device_of(f(tf.constant(1.0))) == "CPU:1"
    assert devices == ["/device:CPU:2", "/device:CPU:2", ""]
    assert f.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("kind", ["loop", "call", "branch"])
def test_nested_graphs_stand_in_the_scope_around_them(kind: str) -> None:
    devices: list[str] = []

    def body(x: Any) -> Any:
        y = x + 1.0
        devices.append(y.device)
        return y

    @tf.function
    def f(x: Any) -> Any:
        with tf.device("CPU:1"):
            if kind == "loop":
                return tf.while_loop(lambda x: x < 3.0, lambda x: (body(x),), [x])
            if kind == "call":
                return tf.function(body)(x)
            return tf.cond(x > 0.0, lambda: body(x), lambda: x)

    f(tf.constant(1.0))
    # A function leaves open where it runs: its call says so.
    assert set(devices) == ({""} if kind == "call" else {"/device:CPU:1"})


def test_gradients_and_mixed_devices() -> None:
    with tf.device("CPU:1"):
        x = tf.constant([1.0, 2.0])
    y = tf.constant([3.0, 4.0])
    with tf.device("CPU:2"), tf.GradientTape() as tape:
        tape.watch([x, y])
        z = tf.reduce_sum(x * y * y)
        g = tape.gradient(z, [x, y])
    assert [device_of(t) for t in (z, *g)] == ["CPU:2"] * 3
    np.testing.assert_array_equal(g[0], [9.0, 16.0])
    np.testing.assert_array_equal(g[1], [6.0, 16.0])


def test_composites_in_a_scope() -> None:
    with tf.device("CPU:1"):
        ragged = tf.ragged.constant([[1, 2], [3]]) + 1
        sparse = tf.sparse.from_dense([[0.0, 1.0]])
        assert tf.sparse.reduce_sum(sparse).numpy() == 1.0
    assert ragged.to_list() == [[2, 3], [4]]


def test_what_is_no_name() -> None:
    for wrong in ("foo", "/FOO:0", "/cpu:x", "/job:a/job:b"):
        with pytest.raises(ValueError, match="is no device; names look like"):
            tf.device(wrong)


@pytest.mark.parametrize("name", ["/job:worker/task:0/CPU:0", "/task:1/CPU:1"])
def test_other_machines(name: str) -> None:
    with tf.device(name), pytest.raises(InvalidArgumentError, match="there is no device /"):
        tf.zeros([2])


@pytest.mark.parametrize("name", ["/GPU:0", "/CPU:9"])
def test_devices_that_are_not_there(name: str) -> None:
    tf.config.set_soft_device_placement(False)
    text = f"there is no device /device:{name[1:]}; there are /device:CPU:0, /device:CPU:1"
    with tf.device(name):
        for wrong in (lambda: tf.zeros([2]), lambda: tf.constant(1.0), lambda: tf.Variable(1.0)):
            with pytest.raises(InvalidArgumentError, match=text):
                wrong()

    @tf.function
    def f(x: Any) -> Any:
        with tf.device(name):
            return x + 1

    with pytest.raises(InvalidArgumentError, match=text):
        f(tf.constant(1.0))
    with tf.device("/CPU:1"):
        assert device_of(tf.zeros([2])) == "CPU:1"
