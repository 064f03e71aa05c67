"""Programs for `tf.device`, run in a process of their own, since jax makes its devices once.

Run all by `python -m support.device_programs` in tests/: prints as JSON what each raised, or None.
The devices are names of the CPU, each a device of jax's. With WEFT_TEST_DEVICES="/GPU:0,/GPU:1" the
same programs run on others.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

import weft as tf
from support.program_tables import tell

ONE, TWO = os.environ.get("WEFT_TEST_DEVICES", "/CPU:1,/CPU:2").split(",")
PROGRAMS: dict[str, Callable[[], None]] = {}


def program(run: Callable[[], None]) -> Callable[[], None]:
    PROGRAMS[run.__name__] = run
    return run


def is_on(x: Any, name: str) -> bool:
    """Whether a tensor says that it is on a device, and is."""
    full = f"/job:localhost/replica:0/task:0/device{name.replace('/', ':')}"
    (device,) = x.held.devices()
    kind, number = name.strip("/").split(":")
    return bool(x.device == full and device.platform == kind.lower() and device.id == int(number))


def raised(work: Callable[[], Any], kind: type[Exception]) -> str:
    try:
        work()
    except kind as error:
        return str(error)
    raise AssertionError("nothing was raised")


X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]], np.float32)


@program
def ops() -> None:
    with tf.device(ONE):
        x = tf.constant(X)
        y = tf.reshape(tf.matmul(x, x, transpose_b=True) + 1.0, [4])
        parts = tf.split(x, 3, axis=1)
    assert all(is_on(t, ONE) for t in (x, y, *parts))
    np.testing.assert_allclose(y.numpy(), (X @ X.T + 1).reshape(4), rtol=1e-6)
    with tf.device(TWO):
        moved = tf.identity(y)
        assert is_on(moved, TWO)
        assert is_on(x + y[0], TWO)
    np.testing.assert_array_equal(moved, y)
    assert (y + 1.0).device == tf.constant(1.0).device  # outside of scopes the host computes


@program
def errors_are_those_of_the_host() -> None:
    with tf.device(ONE):
        x = tf.constant(X)
        text = raised(lambda: tf.gather(x, 7), tf.errors.InvalidArgumentError)
        assert "gather: index 7 is out of range" in text, text
        text = raised(lambda: x @ x, tf.errors.InvalidArgumentError)
        assert "the inner sizes 3 and 2 differ" in text, text
        function = tf.function(lambda i: tf.gather(x, i))
        text = raised(lambda: function(tf.constant(9)), tf.errors.InvalidArgumentError)
        assert "gather: index 9 is out of range" in text, text


@program
def gradients() -> None:
    with tf.device(ONE):
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.sin(x) ** 2)
        eager = tape.gradient(y, x)
        function = tf.function(lambda x: tf.reduce_sum(tf.sin(x) ** 2))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        traced = tape.gradient(y, x)
    for g in (eager, traced):
        assert is_on(g, ONE)
        np.testing.assert_allclose(g, np.sin(2 * X), rtol=1e-5)


@program
def functions_run_where_they_are_called() -> None:
    function = tf.function(lambda x: tf.tanh(x) * 2.0)
    host = function(tf.constant(X))
    for name in (ONE, TWO):
        with tf.device(name):
            out = function(tf.constant(X))
        assert is_on(out, name)
        np.testing.assert_allclose(out, host, rtol=1e-6)
    assert function.experimental_get_tracing_count() == 1


@program
def functions_place_what_is_in_them() -> None:
    @tf.function
    def function(x: tf.Tensor) -> tf.Tensor:
        y = tf.sin(x)
        with tf.device(TWO):
            z = tf.exp(y) * 2.0
            assert z.device == f"/device{TWO.replace('/', ':')}"
        with tf.device("/CPU:0"):
            q = z + 1.0
        return q * x

    wanted = (np.exp(np.sin(X)) * 2 + 1) * X
    np.testing.assert_allclose(function(tf.constant(X)), wanted, rtol=1e-5)
    with tf.device(ONE):
        out = function(tf.constant(X))
    assert is_on(out, ONE)
    np.testing.assert_allclose(out, wanted, rtol=1e-5)


@program
def loops_branches_and_calls() -> None:
    @tf.function
    def inner(x: tf.Tensor) -> tf.Tensor:
        return x * 3.0

    @tf.function
    def function(x: tf.Tensor) -> tf.Tensor:
        for i in tf.range(4):
            with tf.device(ONE):
                x = inner(x)
            if i == 2:
                with tf.device(TWO):
                    x = x - 1.0
            x = x + 1.0
        return x

    wanted = X
    for i in range(4):
        wanted = wanted * 3 - (i == 2) + 1
    np.testing.assert_allclose(function(tf.constant(X)), wanted, rtol=1e-6)
    with tf.device(TWO):
        out = function(tf.constant(X))
    assert is_on(out, TWO)
    np.testing.assert_allclose(out, wanted, rtol=1e-6)


@program
def variables() -> None:
    with tf.device(ONE):
        v = tf.Variable(X)
        other = tf.Variable(2.0)
    assert v.device.lower().endswith(ONE.lower().strip("/"))

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        v.assign_sub(0.5 * x)
        return tf.reduce_sum(v) * other

    out = step(tf.constant(X))  # outside of scopes: where the variables are
    np.testing.assert_allclose(out, X.sum(), rtol=1e-6)
    (device,) = v.handle._value.held.devices()
    assert device.id == int(ONE[-1])
    with tf.device(TWO):
        out = step(tf.constant(X))
        assert is_on(out, TWO)
        assert is_on(v.read_value(), TWO)
        v.assign_add(X)
    np.testing.assert_allclose(v.numpy(), X, rtol=1e-6)
    assert v.device.lower().endswith(ONE.lower().strip("/"))
    v.assign(2 * X)  # by the host
    np.testing.assert_allclose(step(tf.constant(X)), 2 * 1.5 * X.sum(), rtol=1e-6)


@program
def what_has_no_form_there_runs_on_the_host() -> None:
    with tf.device(ONE):
        x = tf.constant(X)
        found = tf.where(x > 2.5)
        assert found.device.endswith("CPU:0")
        assert tf.strings.length(tf.strings.as_string(tf.constant(12))).numpy() == 2
        assert is_on(tf.random.normal([2]) + 1.0, ONE)
        function = tf.function(lambda x: tf.reduce_sum(tf.boolean_mask(x * 2.0, x > 2.5)) + 1.0)
        assert is_on(function(x), ONE)
        assert function(x).numpy() == 2 * 19.0 + 1.0


@program
def nobody_stands_in_if_that_is_not_wanted() -> None:
    tf.config.set_soft_device_placement(False)
    try:
        with tf.device(ONE):
            x = tf.constant(X)
            text = raised(lambda: tf.where(x > 2.5), tf.errors.InvalidArgumentError)
            assert "Where cannot run on /job:localhost" in text, text
            assert "tf.config.set_soft_device_placement(True)" in text, text
            function = tf.function(lambda x: tf.size(tf.where(x > 2.5)))
            text = raised(lambda: function(x), tf.errors.InvalidArgumentError)
            assert "Where cannot run on /job:localhost" in text, text
            assert is_on(tf.random.uniform([2]), ONE)  # the stream is the host's everywhere
    finally:
        tf.config.set_soft_device_placement(True)


@program
def arrays_of_other_libraries() -> None:
    import jax

    with tf.device(ONE):
        x = tf.constant(X) * 1.0
    shared = jax.dlpack.from_dlpack(x)
    assert shared.unsafe_buffer_pointer() == x.held.unsafe_buffer_pointer()
    again = tf.experimental.dlpack.from_dlpack(x.held)
    assert is_on(again, ONE)
    assert again.held.unsafe_buffer_pointer() == x.held.unsafe_buffer_pointer()
    here = tf.experimental.dlpack.from_dlpack(jax.device_put(X, jax.devices("cpu")[0]))
    assert here.device.endswith("CPU:0")
    np.testing.assert_array_equal(here, X)
    np.testing.assert_array_equal(memoryview(np.asarray(x)), X)


@program
def large_values_are_not_copied() -> None:
    v = tf.Variable(np.ones([1000, 50], np.float32))
    total = tf.function(lambda: tf.reduce_sum(v))
    assert total().numpy() == 50_000.0
    cell = v.handle._value
    if cell.held.devices().pop().platform == "cpu":
        assert cell.held.unsafe_buffer_pointer() == cell.data.ctypes.data
    before = v.read_value()
    v.assign_add(tf.ones([1000, 50]))  # into new memory, as the old one is shared
    assert (total().numpy(), before.numpy().sum()) == (100_000.0, 50_000.0)


@program
def keras_models() -> None:
    """A model is trained where it was made, without a scope around `fit`."""
    keras = tf.keras
    x = np.random.default_rng(0).normal(size=(32, 4)).astype(np.float32)

    def losses(name: str) -> list[float]:
        keras.utils.set_random_seed(3)
        with tf.device(name):
            model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2)])
            model.compile("adam", "mse")
        found = model.fit(x, x[:, :2], batch_size=8, epochs=2, verbose=0, shuffle=False)
        kernel = model.trainable_variables[0].value
        assert kernel.device.endswith(name[1:])
        if name == ONE:
            (device,) = kernel.handle._value.held.devices()
            assert device.id == int(ONE[-1])
        history: list[float] = found.history["loss"]
        return history

    np.testing.assert_allclose(losses(ONE), losses("/CPU:0"), rtol=1e-6)


@program
def replicas_on_chosen_devices() -> None:
    if ONE == TWO:  # there is one GPU only
        return
    strategy = tf.distribute.MirroredStrategy([TWO, ONE])
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])

    @tf.function
    def train() -> tf.Tensor:
        def step() -> tf.Tensor:
            v.assign_add(tf.distribute.get_replica_context().all_reduce("SUM", tf.ones([2])))
            return v.read_value()

        return strategy.run(step)

    train()
    np.testing.assert_array_equal(v.numpy(), [3.0, 4.0])
    devices = [device.id for device in v.handle._value.held.sharding.device_set]
    assert sorted(devices) == sorted([int(ONE[-1]), int(TWO[-1])])


def main() -> None:
    tf.config.execution = "xla"
    cpu = tf.config.list_physical_devices("CPU")[0]
    names = [tf.config.LogicalDeviceConfiguration()] * 3
    tf.config.set_logical_device_configuration(cpu, names)
    with tf.device(ONE):  # before jax has looked for devices
        tf.constant(1)
    tell(PROGRAMS)


if __name__ == "__main__":
    main()
