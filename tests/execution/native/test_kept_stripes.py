"""Weights that stay the same are rearranged once: results follow whatever changes them."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import compile_native
from weft._src.core.cells import VariableCell
from weft._src.execution.native.front.lowering import graphs
from weft._src.execution.native.loops.stripes import Striping
from weft._src.execution.native.machine.kept_stripes import KeptStripes

rng = np.random.default_rng(11)
SIZES = [(33, 257, 301), (1, 300, 260), (70, 64, 1024), (16, 1024, 96)]


def _matrix(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return rng.normal(size=shape).astype(dtype)


def _close(found: Any, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)


def _stripes_of(function: Any, *inputs: Any) -> int:
    """How many inputs of a function come as stripes as well."""
    return len(compile_native(function, *inputs)[0].translation.stripes)


def jit(function: Any) -> Any:
    return tf.function(function, jit_compile=True)


@pytest.mark.parametrize(("m", "k", "n"), SIZES)
def test_of_variables_captured_tensors_and_constants(m: int, k: int, n: int) -> None:
    x, w = _matrix(m, k), _matrix(k, n)
    v, vt = tf.Variable(w), tf.Variable(w.T.copy())
    captured, turned = tf.constant(w), tf.constant(w.T.copy())

    @jit
    def products(x: Any) -> list[Any]:
        return [
            x @ v,
            x @ captured,
            x @ tf.constant(w),
            tf.matmul(x, vt, transpose_b=True),
            tf.matmul(x, turned, transpose_b=True),
        ]

    for _ in range(3):
        for found in products(x):
            _close(found, x @ w)


def test_which_inputs_are_kept() -> None:
    v, w = tf.Variable(_matrix(80, 600)), tf.constant(_matrix(80, 600))
    x = tf.constant(_matrix(30, 80))
    assert _stripes_of(lambda x: x @ v + x @ w, x) == 2
    assert _stripes_of(lambda x, y: x @ y, x, w) == 0  # an argument may be another one each time

    def trained(x: Any) -> Any:
        y = x @ v
        v.assign_sub(v * 0.1)
        return y

    assert _stripes_of(trained, x) == 0


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "_MOST_KEPT", 700_000)
    large, small = _matrix(400, 600), _matrix(400, 30)
    x = tf.constant(_matrix(20, 400))
    v, w = tf.Variable(large), tf.Variable(small)
    function = lambda x: (x @ v, x @ w)  # noqa: E731
    assert _stripes_of(function, x) == 1  # the large one does not fit
    for found, wanted in zip(jit(function)(x), (large, small), strict=True):
        _close(found, x.numpy() @ wanted)


def test_a_variable_that_changes_between_calls() -> None:
    w, x = _matrix(90, 800), _matrix(40, 90)
    v = tf.Variable(w)
    step = jit(lambda x: x @ v)
    grow = jit(lambda: v.assign_add(tf.ones_like(v)))
    _close(step(x), x @ w)
    changes = [
        lambda: v.assign(w * 2),
        lambda: v.assign_add(tf.ones_like(v)),
        lambda: v.scatter_nd_update([[3, 5]], [7.0]),
        lambda: v[1:3, 4].assign([1.0, 2.0]),
        grow,
        grow,
    ]
    for change in changes:
        for _ in range(2):
            change()
            _close(step(x), x @ v.numpy())
            _close(step(x), x @ v.numpy())


def test_a_variable_that_is_another_one_at_every_call() -> None:
    w, x = _matrix(90, 800), _matrix(40, 90)
    v = tf.Variable(w)
    step = jit(lambda x: x @ v)
    for i in range(140):
        v.assign_add(tf.ones_like(v))
        _close(step(x), x @ (w + i + 1))
    for _ in range(140):
        _close(step(x), x @ (w + 140))


def test_stripes_are_given_up_and_tried_again() -> None:
    how = Striping((70, 90), 32)
    cell = VariableCell(_matrix(70, 90))
    kept = KeptStripes(0, np.dtype(np.float32), (70, 90), how)
    assert kept.of(cell) is kept.of(cell)
    marked = []
    for _ in range(130):
        cell.write(_matrix(70, 90))
        assert not cell.shared
        np.testing.assert_array_equal(kept.of(cell), how.of(cell.data))
        marked.append(cell.shared)
    assert marked[:2] == [True, True]
    assert not any(marked[3:60])
    assert any(marked[60:])
    assert kept.of(None) is None
    assert kept.of(_matrix(70, 91)) is None
    assert kept.of(_matrix(70, 90, dtype=np.float64)) is None


def test_in_loops_and_branches() -> None:
    w, x = _matrix(70, 1000), _matrix(20, 70)
    v, captured = tf.Variable(w), tf.constant(w)

    @jit
    def summed(x: Any, n: Any) -> Any:
        total = tf.zeros([20, 1000])
        for i in tf.range(n):
            total += x @ v if i % 2 == 0 else x @ captured
        return total

    for n in (0, 1, 4):
        _close(summed(x, tf.constant(n)), n * (x @ w))
    v.assign(w * 3)
    _close(summed(x, tf.constant(4)), 8 * (x @ w))


def test_batches_share_a_matrix() -> None:
    w = _matrix(3, 80, 900)
    v = tf.Variable(w)
    x = _matrix(3, 20, 80)
    step = jit(lambda x: (x @ v, x @ v[0]))
    for scale in (1, 2):
        v.assign(scale * w)
        found, shared = step(x)
        _close(found, x @ (scale * w))
        _close(shared, x @ (scale * w[0]))


def test_filters_forward_and_backward() -> None:
    filters, image = _matrix(3, 3, 24, 70), _matrix(2, 9, 11, 24)
    v = tf.Variable(filters)

    def both(x: Any) -> tuple[Any, Any]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.conv2d(x, v, 1, "SAME")
            loss = tf.reduce_sum(y * y)
        return y, tape.gradient(loss, x)

    x = tf.constant(image)
    compiled = jit(both)
    for scale in (1, 3):
        v.assign(scale * filters)
        for _ in range(2):
            for found, wanted in zip(compiled(x), both(x), strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-2)


def test_captured_tensors_with_strides_and_shapes_that_do_not_fit() -> None:
    w = _matrix(900, 80)
    captured = tf.transpose(tf.constant(w))
    step = jit(lambda x: x @ captured)
    for _ in range(3):
        x = _matrix(20, 80)
        _close(step(x), x @ w.T)
    v = tf.Variable(_matrix(80, 900), shape=tf.TensorShape([80, None]))
    free = tf.function(lambda x: x @ v)
    for n in (900, 901, 902, 900):
        v.assign(_matrix(80, n))
        for _ in range(2):
            x = _matrix(20, 80)
            _close(free(x), x @ v.numpy())


def test_calls_of_several_threads_see_one_value_each() -> None:
    v = tf.Variable(tf.ones([64, 2048]))
    x = np.ones((64, 64), np.float32)
    step = jit(lambda x: x @ v)
    step(x)
    wrong: list[Any] = []
    ended = threading.Event()

    def call() -> None:
        while not ended.is_set():
            found = step(x).numpy()
            if found.min() != found.max():
                wrong.append(found)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(60):
        v.assign(tf.fill([64, 2048], float(i)))
    ended.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert float(step(x)[0, 0]) == 64 * 59


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("n", [1, 31, 32, 33, 96])
def test_stripes_of_arrays(n: int, turned: bool) -> None:
    x = _matrix(2, 5, n)
    given = x.swapaxes(1, 2).copy() if turned else x
    how = Striping(given.shape, 32, turned=turned)
    found = how.of(given)
    assert found.shape == how.result_shape == (2, -(-n // 32), 5, 32)
    assert found.size == how.size
    assert found.ctypes.data % 64 == 0
    joined = found.swapaxes(1, 2).reshape(2, 5, -1)
    np.testing.assert_array_equal(joined[..., :n], x)
    assert not joined[..., n:].any()
