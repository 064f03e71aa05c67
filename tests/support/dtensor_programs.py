"""Programs for `tf.experimental.dtensor`, run in a process of their own with four devices.

Run all by `python -m support.dtensor_programs` in tests/: prints as JSON what each raised, or None.
With WEFT_TEST_DEVICES="/GPU:0,/GPU:1,/GPU:2,/GPU:3" they run on others.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

import weft as tf
from support.program_tables import tell

d = tf.experimental.dtensor
DEVICES = os.environ.get("WEFT_TEST_DEVICES", "/CPU:0,/CPU:1,/CPU:2,/CPU:3").split(",")
PROGRAMS: dict[str, Callable[[], None]] = {}
X = np.arange(24, dtype=np.float32).reshape(4, 6) / 10


def program(run: Callable[[], None]) -> Callable[[], None]:
    PROGRAMS[run.__name__] = run
    return run


def grid() -> Any:
    return d.create_mesh([("batch", 2), ("model", 2)], devices=DEVICES)


def laid(value: Any, *specs: str) -> Any:
    return d.relayout(value, d.Layout(specs, grid()))


def specs_of(tensor: Any) -> list[str]:
    found: list[str] = d.fetch_layout(tensor).sharding_specs
    return found


def raised(work: Callable[[], Any], kind: type[Exception]) -> str:
    try:
        work()
    except kind as error:
        return str(error)
    raise AssertionError("nothing was raised")


@program
def parts() -> None:
    x = laid(X, "batch", "model")
    wanted = [X[:2, :3], X[:2, 3:], X[2:, :3], X[2:, 3:]]
    for part, device, array in zip(d.unpack(x), DEVICES, wanted, strict=True):
        np.testing.assert_array_equal(part, array)
        assert part.device.endswith(device[1:])
    np.testing.assert_array_equal(x, X)
    again = d.pack(d.unpack(x), d.fetch_layout(x))
    np.testing.assert_array_equal(again, X)
    assert specs_of(again) == ["batch", "model"]
    whole = d.relayout(x, d.Layout.replicated(grid(), 2))
    assert [p.shape for p in d.unpack(whole)] == [(4, 6)] * 4
    assert specs_of(d.relayout_like(whole, x)) == ["batch", "model"]
    some = d.relayout(x, d.Layout([d.MATCH, d.UNSHARDED], grid()))
    assert specs_of(some) == ["batch", "unsharded"]
    assert 'layout="sharding_specs:batch,unsharded, mesh:' in repr(some)


@program
def ops_of_tensorflow() -> None:
    """Layouts that TensorFlow finds, too."""
    x = laid(X, "batch", "model")
    assert specs_of(x + 1.0) == ["batch", "model"]
    assert specs_of(tf.sin(x) * x) == ["batch", "model"]
    assert specs_of(tf.reduce_sum(x)) == []
    assert specs_of(tf.reduce_sum(x, 0)) == ["model"]
    np.testing.assert_allclose(tf.reduce_sum(x, 0), X.sum(0), rtol=1e-6)
    np.testing.assert_allclose(x @ tf.transpose(x), X @ X.T, rtol=1e-5)
    assert specs_of(x * tf.constant(2.0)) == ["batch", "model"]
    assert d.is_dtensor(x + tf.constant(X))  # a plain tensor is copied to all
    assert bool(tf.reduce_all(x >= 0.0))
    found = tf.where(x > 1.0)  # has no form on devices
    assert not d.is_dtensor(found)
    np.testing.assert_array_equal(found, np.argwhere(X > 1.0))


@program
def functions_and_gradients() -> None:
    x = laid(X, "batch", "model")

    @tf.function
    def f(x: Any) -> Any:
        y = tf.sin(x) ** 2
        for _ in tf.range(2):
            y = y * 2.0
        return d.relayout(y, d.Layout(["model", d.UNSHARDED], grid()))

    out = f(x)
    assert specs_of(out) == ["model", "unsharded"]
    np.testing.assert_allclose(out, 4 * np.sin(X) ** 2, rtol=1e-5)
    plain = f(tf.constant(X))  # the function names a mesh, so it runs there
    assert specs_of(plain) == ["model", "unsharded"]
    assert f.experimental_get_tracing_count() == 1
    for call in (f, f.python_function):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(call(x))
        g = tape.gradient(loss, x)
        assert d.is_dtensor(g)
        np.testing.assert_allclose(g, 4 * np.sin(2 * X), rtol=1e-5)
    captured = tf.function(lambda: tf.reduce_sum(x, 0))
    assert specs_of(captured()) == ["model"]


@program
def errors() -> None:
    x = laid(X, "batch", "model")
    text = raised(lambda: tf.gather(x, 9), tf.errors.InvalidArgumentError)
    assert "gather: index 9 is out of range" in text, text
    function = tf.function(lambda x, i: tf.gather(x, i))
    text = raised(lambda: function(x, tf.constant(9)), tf.errors.InvalidArgumentError)
    assert "gather: index 9 is out of range" in text, text
    text = raised(lambda: x @ x, tf.errors.InvalidArgumentError)
    assert "the inner sizes 6 and 4 differ" in text, text
    other = d.create_mesh([("z", 2)], devices=DEVICES[:2])
    y = d.relayout(X, d.Layout.replicated(other, 2))
    for call in (tf.add, tf.function(tf.add)):
        text = raised(lambda call=call: call(x, y), tf.errors.InvalidArgumentError)
        assert "its inputs belong to different meshes" in text, text
    assert specs_of(d.relayout(x, d.Layout(["z", d.UNSHARDED], other))) == ["z", "unsharded"]
    text = raised(lambda: laid(X[:3], "batch", "model"), tf.errors.InvalidArgumentError)
    assert "axis 0 of a tensor of shape (3, 6) cannot be divided evenly into 2 parts" in text, text
    text = raised(lambda: laid(X, "batch"), tf.errors.InvalidArgumentError)
    assert "has 2 axes, and the layout ['batch'] is for 1" in text, text
    tf.config.set_soft_device_placement(False)
    try:
        text = raised(lambda: tf.where(x > 1.0), tf.errors.InvalidArgumentError)
        assert "Where cannot run on the mesh |batch=2,model=2|" in text, text
    finally:
        tf.config.set_soft_device_placement(True)


@program
def making_them() -> None:
    layout = d.Layout(["batch", "model"], grid())
    zeros = d.call_with_layout(tf.zeros, layout, shape=(4, 6))
    assert [p.shape for p in d.unpack(zeros)] == [(2, 3)] * 4
    seed = (1, 2)
    drawn = d.call_with_layout(tf.random.stateless_uniform, layout, shape=(4, 6), seed=seed)
    np.testing.assert_array_equal(drawn, tf.random.stateless_uniform((4, 6), seed))
    assert d.call_with_layout(tf.ones, None, [3]).shape == (3,)
    data = d.DTensorDataset(
        tf.data.Dataset.from_tensor_slices((X, X[:, 0])),
        mesh=grid(),
        layouts=(
            d.Layout.batch_sharded(grid(), "batch", rank=2),
            d.Layout.batch_sharded(grid(), "batch", rank=1),
        ),
        global_batch_size=2,
        batch_dim="batch",
        prefetch=1,
    )
    batches = list(data)
    assert len(batches) == len(data) == 2
    x, y = batches[1]
    assert (specs_of(x), specs_of(y)) == (["batch", "unsharded"], ["batch"])
    np.testing.assert_array_equal(d.unpack(x)[2], X[3:])
    np.testing.assert_array_equal(y, X[2:, 0])


@program
def variables() -> None:
    x = laid(X, "batch", "model")
    v = d.DVariable(x)
    assert v.layout == d.fetch_layout(x) == d.fetch_layout(v)
    assert d.is_dtensor(v)
    assert specs_of(v.read_value()) == ["batch", "model"]
    v.assign_add(x)
    before = v.read_value()
    v.assign(d.relayout(tf.ones([4, 6]), d.Layout.replicated(grid(), 2)))
    assert specs_of(v.read_value()) == ["batch", "model"]  # its layout stays what it is
    np.testing.assert_array_equal(before, 2 * X)
    np.testing.assert_array_equal(x, X)  # what it was made of is another tensor
    v.assign(X)  # a plain one
    assert [p.shape for p in d.unpack(v)] == [(2, 3)] * 4

    @tf.function
    def step(scale: Any) -> Any:
        v.assign_sub(scale * v)
        return tf.reduce_sum(v)

    assert d.is_dtensor(step(tf.constant(0.5)))
    np.testing.assert_allclose(v.numpy(), X / 2, rtol=1e-6)
    shards = v.handle._value.held.addressable_shards
    assert {shard.data.shape for shard in shards} == {(2, 3)}
    text = raised(lambda: d.DVariable(tf.ones([2])), tf.errors.InvalidArgumentError)
    assert "or a layout must be given" in text, text
    w = d.DVariable(tf.ones([4]), layout=d.Layout(["model"], grid()), dtype=tf.float64)
    assert (w.dtype, specs_of(w)) == (tf.float64, ["model"])


@program
def checkpoints() -> None:
    v = d.DVariable(laid(X, "batch", "model"))
    with tempfile.TemporaryDirectory() as folder:
        path = d.DTensorCheckpoint(grid(), v=v).save(f"{folder}/ckpt")
        other = d.DVariable(laid(0 * X, "model", d.UNSHARDED))
        d.DTensorCheckpoint(grid(), v=other).restore(path).assert_consumed()
        plain = tf.Variable(tf.zeros([4, 6]))
        tf.train.Checkpoint(v=plain).restore(path)
    np.testing.assert_array_equal(other.numpy(), X)
    np.testing.assert_array_equal(plain.numpy(), X)
    assert [p.shape for p in d.unpack(other)] == [(2, 6)] * 4


def mlp(place: Callable[..., Any], variable: Callable[..., Any], steps: int = 20) -> list[Any]:
    """Losses and weights of an MLP; `place` says where tensors are, `variable` makes variables."""
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return rng.normal(size=shape).astype(np.float32) / 3

    x, y = normal(32, 16), normal(32, 4)
    w1 = variable(place(normal(16, 64), d.UNSHARDED, "model"))
    b1 = variable(place(normal(64), "model"))
    w2 = variable(place(normal(64, 4), "model", d.UNSHARDED))
    weights = [w1, b1, w2]

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            out = tf.tanh(x @ w1 + b1) @ w2
            loss = tf.reduce_mean((out - y) ** 2)
        for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(0.5 * g)
        return loss

    inputs = place(x, "batch", d.UNSHARDED), place(y, "batch", d.UNSHARDED)
    losses = [step(*inputs).numpy() for _ in range(steps)]
    return [losses, *weights]


@program
def a_model_divided_among_devices() -> None:
    """An MLP on a 2 x 2 mesh, rows and units divided, equals the one on one device."""
    wanted = mlp(lambda value, *specs: tf.constant(value), tf.Variable)
    found = mlp(laid, d.DVariable)
    assert wanted[0][-1] < 0.8 * wanted[0][0]
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), 1e-5, 1e-5)
    w1 = found[1]
    assert {p.shape for p in d.unpack(w1)} == {tf.TensorShape([16, 32])}
    assert specs_of(w1) == ["unsharded", "model"]


def main() -> None:
    cpu = tf.config.list_physical_devices("CPU")[0]
    names = [tf.config.LogicalDeviceConfiguration()] * 4
    tf.config.set_logical_device_configuration(cpu, names)
    tell(PROGRAMS)


if __name__ == "__main__":
    main()
