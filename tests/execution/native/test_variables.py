"""Variables that machine code reads and writes where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check_program, compile_native

LARGE = 3000  # elements: more bytes than are copied by a read, so that buffers are shared


def jit(function: Any) -> Any:
    return tf.function(function, jit_compile=True)


def tier_of(function: Any) -> str:
    return str(tf.explain(function).traces[-1]["tier"])


@pytest.mark.parametrize("n", [3, LARGE])
def test_a_value_that_was_read_stays(n: int) -> None:
    v = tf.Variable(tf.zeros([n]))

    @jit
    def add(x: Any) -> Any:
        v.assign_add(x)
        return v * 1.0

    before = v.read_value()
    results = [add(tf.ones([n])) for _ in range(3)]
    kept = v.read_value()
    add(tf.ones([n]))
    assert before.numpy().max() == 0
    assert kept.numpy().min() == kept.numpy().max() == 3
    assert [float(r[0]) for r in results] == [1, 2, 3]
    assert v.numpy()[-1] == 4
    assert tier_of(add) == "native"


@pytest.mark.parametrize("n", [3, LARGE])
def test_the_array_of_a_variable_is_not_changed_behind_the_users_back(n: int) -> None:
    v = tf.Variable(tf.zeros([n]))
    step = jit(lambda: v.assign_add(tf.ones([n])))
    array = v.numpy()
    step()
    assert array.max() == 0
    assert v.numpy().min() == 1


def test_updates_happen_in_place() -> None:
    v = tf.Variable(tf.zeros([LARGE]))
    step = jit(lambda x: v.assign_add(x))
    step(tf.ones([LARGE]))
    address = v.handle._value.data.ctypes.data
    step(tf.ones([LARGE]))
    # The result of the first call is a copy: nobody shares the buffer, and it stays.
    assert v.handle._value.data.ctypes.data == address


def test_the_same_variable_passed_twice() -> None:
    @jit
    def move(a: Any, b: Any) -> Any:
        a.assign_add(b * 10.0)
        b.assign_sub([1.0, 1.0])
        return a + b

    for one, two in (([1.0, 2.0], [3.0, 4.0]), ([5.0, 6.0], [7.0, 8.0])):
        a, b = tf.Variable(one), tf.Variable(two)
        wanted_a, wanted_b = np.add(one, np.multiply(two, 10)), np.subtract(two, 1)
        np.testing.assert_array_equal(move(a, b), wanted_a + wanted_b)
        np.testing.assert_array_equal(a, wanted_a)
        np.testing.assert_array_equal(b, wanted_b)
    v = tf.Variable([1.0, 2.0])
    np.testing.assert_array_equal(move(v, v), [20.0, 42.0])
    np.testing.assert_array_equal(v, [10.0, 21.0])


def test_a_captured_variable_that_is_also_passed() -> None:
    v = tf.Variable([1.0, 2.0])

    @jit
    def move(a: Any) -> Any:
        a.assign([5.0, 5.0])
        v.assign_add([1.0, 2.0])
        return a + v

    np.testing.assert_array_equal(move(tf.Variable([0.0, 0.0])), [7.0, 9.0])
    np.testing.assert_array_equal(move(v), [12.0, 14.0])
    np.testing.assert_array_equal(v, [6.0, 7.0])


def test_results_are_owned() -> None:
    v = tf.Variable([1.0, 2.0])
    read = jit(lambda: (v.read_value(), v.read_value()))
    first, second = read()
    v.assign([5.0, 6.0])
    np.testing.assert_array_equal(first, [1.0, 2.0])
    assert not np.shares_memory(first._value, second._value)


@pytest.mark.parametrize("dtype", [tf.float32, tf.int64, tf.float16])
def test_scattered_updates(dtype: Any) -> None:
    v = tf.Variable(tf.cast([[1, 2], [3, 4], [5, 6]], dtype))

    def function(rows: Any, updates: Any) -> Any:
        v.scatter_add(tf.IndexedSlices(updates, rows))
        middle = v.read_value()
        v.scatter_sub(tf.IndexedSlices(updates * 2, rows))
        v.scatter_update(tf.IndexedSlices(updates[:1], rows[:1]))
        v.scatter_max(tf.IndexedSlices(updates, rows))
        return middle, tf.gather(v, rows)

    rows, updates = np.array([2, 0, 2], np.int32), np.arange(6).reshape(3, 2)
    check_program(function, rows, updates.astype(dtype.numpy_dtype), variables=[v])


def test_all_dtypes_are_assigned() -> None:
    for dtype in (tf.bool, tf.int8, tf.uint16, tf.int32, tf.uint64, tf.float16, tf.bfloat16):
        v = tf.Variable(tf.zeros([3], dtype))
        value = np.array([1, 0, 1]).astype(dtype.numpy_dtype)
        compiled, values = compile_native(lambda x, v=v: [v.assign(x)], value)
        compiled(*values)
        np.testing.assert_array_equal(v.numpy(), value)


def test_an_optimizer_step() -> None:
    rng = np.random.default_rng(0)
    weights = [tf.Variable(rng.normal(size=s).astype(np.float32)) for s in ((3, 4), (4,), (4, 1))]
    moments = [tf.Variable(tf.zeros_like(w)) for w in weights]

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            hidden = tf.tanh(x @ weights[0] + weights[1])
            loss = tf.reduce_mean(tf.square(hidden @ weights[2] - y))
        for w, m, g in zip(weights, moments, tape.gradient(loss, weights), strict=True):
            m.assign(0.9 * m + 0.1 * g)
            w.assign_sub(0.1 * m / (tf.sqrt(tf.abs(m)) + 1e-3))
        return loss

    x = rng.normal(size=(5, 3)).astype(np.float32)
    check_program(step, x, x[:, :1], variables=[*weights, *moments], rtol=2e-3)


def test_many_variables_in_one_function() -> None:
    variables = [tf.Variable(tf.fill([2], float(i))) for i in range(60)]

    def step(x: Any) -> None:
        for v in variables:
            v.assign(v * 2.0 + x)

    check_program(step, np.float32([1, 2]), variables=variables)


def test_a_variable_of_another_shape_gets_code_of_its_own() -> None:
    double = jit(lambda v: v.assign(v * 2.0))
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([[1.0], [2.0], [3.0]])
    double(a), double(b), double(a)
    np.testing.assert_array_equal(a, [4.0, 8.0])
    np.testing.assert_array_equal(b, [[2.0], [4.0], [6.0]])


def test_a_variable_whose_shape_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "native")
    v = tf.Variable([1.0, 2.0], shape=[None])
    total = tf.function(lambda x: tf.reduce_sum(v * v) + tf.reduce_sum(tf.exp(x) * x))
    x = tf.zeros([2])
    assert float(total(x)) == 5
    v.assign([1.0, 2.0, 3.0])
    assert float(total(x)) == 14
    assert float(total(x)) == 14


def test_a_variable_without_a_value() -> None:
    v = tf.Variable([1.0, 2.0], name="empty")
    double = jit(lambda x: v.assign_add(x))
    double(tf.ones([2]))
    v.handle._value.data = None  # as before initialisation
    with pytest.raises(tf.errors.FailedPreconditionError, match="empty"):
        double(tf.ones([2]))


def test_assignments_give_eager_readers_new_versions() -> None:
    """A constant is handed on by assign, not a view of the variable."""
    v = tf.Variable([1.0, 2.0])
    results = [jit(lambda x: v.assign(x))(tf.constant([k, k + 1.0])) for k in (1.0, 5.0)]
    v.assign([0.0, 0.0])
    np.testing.assert_array_equal(results[0], [1.0, 2.0])
    np.testing.assert_array_equal(results[1], [5.0, 6.0])


def test_variables_of_unknown_shape() -> None:
    """Code is made for the shapes they have at the call."""
    rows = tf.Variable(np.ones((3, 2), np.float32), shape=[None, 2])
    anything = tf.Variable(1.0, shape=tf.TensorShape(None))

    @jit
    def step(x: Any) -> Any:
        for _ in tf.range(2):
            x = x + tf.reduce_sum(rows) + tf.cast(tf.shape(rows)[0], tf.float32)
        rows.assign_add(tf.ones_like(rows))
        rows.scatter_add(tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0])))
        return x * anything

    assert step(tf.constant(1.0)).numpy() == 19.0
    assert rows.numpy().tolist() == [[3.0, 3.0], [2.0, 2.0], [2.0, 2.0]]
    rows.assign(np.ones((5, 2), np.float32))
    anything.assign([1.0, 2.0])
    assert step(tf.constant(1.0)).numpy().tolist() == [31.0, 62.0]
    assert tier_of(step) == "native"


def test_a_variable_that_changes_its_shape_is_not_taken_for_what_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def grow(v: Any) -> Any:
        v.assign(tf.concat([v, v], 0))
        return tf.shape(v)[0] * 10, tf.reduce_sum(v)

    v = tf.Variable([1.0], shape=[None])
    with pytest.raises(tf.errors.UnimplementedError, match="depends on data"):
        jit(lambda: grow(v))()
    monkeypatch.setattr(tf.config, "execution", "native")
    other = tf.function(lambda: grow(v))
    for n in (2, 4, 8):
        assert [float(t) for t in other()] == [10 * n, n]

    def doubled() -> Any:
        tf.numpy_function(lambda: v.assign(tf.concat([v, v], 0)).numpy(), [], tf.float32)
        return tf.shape(v)[0] * 10 + tf.cast(tf.reduce_sum(v), tf.int32)

    by_callback = tf.function(doubled)
    for n in (16, 32, 64):
        assert int(by_callback()) == 11 * n
