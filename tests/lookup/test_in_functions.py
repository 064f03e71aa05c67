"""Tables in functions, branches, loops and datasets, on every tier, and in threads."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.threads import in_threads
from weft.errors import AbortedError, DTypeError, InvalidArgumentError, ShapeError

Init = tf.lookup.KeyValueTensorInitializer
Mutable = tf.lookup.experimental.MutableHashTable
KEYS, VALUES = ["a", "b", "c"], [1.0, 2.0, 3.0]


def static() -> Any:
    return tf.lookup.StaticHashTable(Init(KEYS, VALUES), -1.0)


def mutable() -> Any:
    table = Mutable(tf.string, tf.float32, -1.0)
    table.insert(KEYS, VALUES)
    return table


@pytest.fixture(params=["numpy", "native", "verify", "auto"])
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(tf.config, "execution", request.param)
    return str(request.param)


# --- reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [static, mutable])
def test_lookups_between_machine_code(make: Any, tier: str) -> None:
    table, v = make(), tf.Variable(2.0)

    @tf.function
    def f(x: tf.Tensor, keys: tf.Tensor) -> Any:
        found = table.lookup(keys)
        return tf.exp(x) + found * v, table.size(), found

    for _ in range(3):
        x = tf.constant([0.0, 1.0])
        out, size, found = f(x, tf.constant(["b", "q"]))
        np.testing.assert_allclose(out.numpy(), np.exp(x) + [4.0, -2.0], rtol=1e-6)
        assert (size.numpy(), found.numpy().tolist()) == (3, [2.0, -1.0])


@pytest.mark.parametrize("spec", [[None], None, [2], []])
def test_shapes_that_are_not_known(spec: Any) -> None:
    table, rows = static(), Mutable(tf.string, tf.int64, [7, 8, 9])

    @tf.function(input_signature=[tf.TensorSpec(spec, tf.string)])
    def f(keys: tf.Tensor) -> Any:
        return table.lookup(keys), rows.lookup(keys)

    keys = tf.constant("b") if spec == [] else tf.constant(["b", "q"])
    one, three = f(keys)
    assert one.shape == keys.shape
    assert three.shape == (*keys.shape, 3)
    one, three = f.get_concrete_function().structured_outputs
    rank = None if spec is None else len(spec)
    assert one.shape.rank == rank
    assert three.shape.as_list() == [*spec, 3] if rank is not None else three.shape.rank is None


def test_ragged_and_sparse_arguments() -> None:
    table = static()
    f = tf.function(table.lookup)
    assert f(tf.ragged.constant([["a"], ["q", "b"]])).to_list() == [[1.0], [-1.0, 2.0]]
    assert f(tf.sparse.from_dense([["a", ""]])).values.numpy().tolist() == [1.0]


def test_defaults_that_are_computed(tier: str) -> None:
    table, rows = mutable(), Mutable(tf.string, tf.float32, [0.0, 0.0])

    @tf.function
    def f(x: tf.Tensor) -> Any:
        default = x * 2.0
        found = table.lookup(["q", "b"], default)
        return found + default, rows.lookup(["q"], tf.stack([default, x]))

    for number in (1.0, 5.0, -3.0, 1.0):
        one, two = f(tf.constant(number))
        assert one.numpy().tolist() == [4 * number, 2.0 + 2 * number]
        assert two.numpy().tolist() == [[2 * number, number]]


def test_branches_loops_and_nested_functions(tier: str) -> None:
    table = mutable()

    @tf.function
    def inner(key: tf.Tensor) -> tf.Tensor:
        return table[key]

    @tf.function
    def f(keys: tf.Tensor) -> Any:
        total = 0.0
        for key in keys:
            if table[key] < 0.0:
                table.insert(key, tf.cast(table.size(), tf.float32) + 1.0)
            total += inner(key)
        return total, table.size()

    total, size = f(tf.constant(["a", "x", "y", "x"]))
    assert (total.numpy(), size.numpy()) == (1.0 + 4.0 + 5.0 + 4.0, 5)
    total, size = f(tf.constant(["y", "z"]))
    assert (total.numpy(), size.numpy()) == (5.0 + 6.0, 6)


def test_reads_and_writes_keep_their_order(tier: str) -> None:
    table = Mutable(tf.int64, tf.int64, -1)
    key = tf.constant([1], tf.int64)

    @tf.function
    def f(value: tf.Tensor) -> Any:
        table.insert(key, value)
        first = table.lookup(key)
        table.insert(key, value + 1)
        second = table.lookup(key)
        exported = table.export()
        table.remove(key)
        return first, second, table.lookup(key), exported, table.size()

    first, second, third, exported, size = f(tf.constant([5], tf.int64))
    found = [first, second, third, *exported]
    assert [x.numpy().tolist() for x in found] == [[5], [6], [-1], [1], [6]]
    assert size.numpy() == 0


def test_a_write_that_nobody_asks_about_runs() -> None:
    table = Mutable(tf.string, tf.int64, -1)

    @tf.function
    def f(key: tf.Tensor) -> None:
        table.insert(key, 3)

    f(tf.constant("a"))
    assert table["a"].numpy() == 3
    tf.function(lambda: table.remove(["a"]))()
    assert table.size().numpy() == 0


def test_tables_are_arguments() -> None:
    f = tf.function(lambda table, keys: table[keys])
    assert f(static(), tf.constant(["a"])).numpy().tolist() == [1.0]
    other = tf.lookup.StaticHashTable(Init(["a"], [9.0]), -1.0)
    assert f(other, tf.constant(["a"])).numpy().tolist() == [9.0]


def test_tables_made_while_tracing() -> None:
    @tf.function
    def f(x: tf.Tensor) -> Any:
        fixed = tf.lookup.StaticHashTable(Init(["a", "b"], tf.constant([1, 2])), -1)
        table = Mutable(tf.string, tf.int64, -1)
        table.insert(x, [1, 2])
        return fixed[x], table.size()

    found, size = f(tf.constant(["a", "q"]))
    assert (found.numpy().tolist(), size.numpy()) == ([1, -1], 2)
    assert f(tf.constant(["c", "d"]))[1].numpy() == 4  # one table for all calls, as in TensorFlow

    @tf.function
    def g(keys: tf.Tensor) -> tf.Tensor:
        return tf.lookup.StaticHashTable(Init(keys, [1, 2]), -1)["a"]

    with pytest.raises(ValueError, match="keys must be known while tracing"):
        g(tf.constant(["a", "b"]))


def test_gradients_end_there() -> None:
    table = tf.lookup.StaticHashTable(Init([1, 2], [2.0, 3.0]), -1.0)
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = table[tf.cast(x, tf.int32)] * x
    assert tape.gradient(y, x).numpy() == 3.0
    with tf.GradientTape() as tape:
        z = table[tf.cast(x, tf.int32)]
    assert tape.gradient(z, x) is None


def test_errors_while_tracing_and_running() -> None:
    table = mutable()
    with pytest.raises(DTypeError, match="keys must be string like those of the table, got int32"):
        tf.function(table.lookup)(tf.constant([1]))
    with pytest.raises(ShapeError, match="the keys, with the shape of a value, and the values"):
        tf.function(table.insert)(tf.constant(["a", "b"]), tf.constant([1.0, 2.0, 3.0]))
    unknown = tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.float32)
    insert = tf.function(table.insert, input_signature=unknown)
    with pytest.raises(ShapeError, match=r"shape \(2,\) need values of shape \(2,\), got"):
        insert(tf.constant(["a", "b"]), tf.constant([1.0, 2.0, 3.0]))
    dense = tf.lookup.experimental.DenseHashTable(tf.int32, tf.int32, 0, -1, -2)
    with pytest.raises(InvalidArgumentError, match="empty_key, -1, must not be"):
        tf.function(dense.lookup)(tf.constant([-1]))


def test_modules() -> None:
    class Model(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.words = mutable(), static()
            self.w = tf.Variable(2.0)

        @tf.function
        def __call__(self, keys: tf.Tensor) -> tf.Tensor:
            return self.words[keys] * self.w

    model = Model()
    assert [len(model.variables), len(model.submodules)] == [1, 0]
    assert model(tf.constant(["b"])).numpy().tolist() == [4.0]


# --- rows and datasets ---------------------------------------------------------------------------

VOCABULARY = tf.lookup.StaticVocabularyTable(Init(["a", "b"], tf.constant([0, 1], tf.int64)), 3)


@pytest.mark.parametrize("batch", [1, 4])
def test_datasets(batch: int) -> None:
    table, rows = static(), Mutable(tf.string, tf.int64, [7, 8])
    words = tf.data.Dataset.from_tensor_slices(["a", "q", "c", "b", "emu"])
    mapped = words.map(lambda x: (table[x], rows[x], VOCABULARY[x])).batch(batch)
    found = [np.concatenate(column) for column in zip(*mapped, strict=True)]
    expected = [[1.0, -1.0, 3.0, 2.0, -1.0], [[7, 8]] * 5, [0, 4, 3, 1, 2]]
    assert [x.tolist() for x in found] == expected
    parallel = words.map(table.lookup, num_parallel_calls=2).filter(lambda x: x > 0.0)
    assert list(parallel.as_numpy_iterator()) == [1.0, 3.0, 2.0]


def test_a_dataset_that_fills_a_table() -> None:
    table = Mutable(tf.int64, tf.int64, -1)

    @tf.function
    def count(x: tf.Tensor) -> tf.Tensor:
        table.insert(x, table.lookup(x, dynamic_default_values=0) + 1)
        return table[x]

    numbers = tf.data.Dataset.from_tensor_slices(np.array([3, 4, 3, 3])).map(count)
    assert [x.numpy().tolist() for x in numbers.batch(3)] == [[1, 1, 2], [3]]


def test_a_function_reads_what_its_dataset_reads() -> None:
    """A call that writes a table holds its lock, and the threads of its dataset only read."""
    table = Mutable(tf.int64, tf.int64, -1)

    @tf.function
    def f() -> tf.Tensor:
        found = tf.constant(0, tf.int64)
        for x in tf.data.Dataset.range(5).map(table.lookup, num_parallel_calls=2).prefetch(2):
            table.insert(found, x)
            found += x
        return found

    assert f().numpy() == -5


def test_vectorized_map() -> None:
    table, rows = static(), mutable()
    keys = tf.constant([["a", "q"], ["b", "c"], ["q", "q"]])

    def row(x: tf.Tensor) -> Any:
        return table[x], rows.lookup(x, dynamic_default_values=[8.0, 9.0]), VOCABULARY[x]

    found = tf.vectorized_map(row, keys, fallback_to_while_loop=True)
    expected = [[1.0, -1.0], [2.0, 3.0], [-1.0, -1.0]]
    assert found[0].numpy().tolist() == expected
    assert found[1].numpy().tolist() == [[1.0, 9.0], [2.0, 3.0], [8.0, 9.0]]
    assert found[2].numpy().tolist() == [[0, 4], [1, 3], [4, 4]]


# --- threads -------------------------------------------------------------------------------------


def test_inserts_while_others_look_up() -> None:
    """Values of one insert are seen together: a pair of keys always has equal values."""
    table = Mutable(tf.int64, tf.int64, 0)
    filler = np.arange(10, 500)
    table.insert(filler, filler)
    done = threading.Event()

    def work(number: int) -> int:
        if number < 2:
            for i in range(150):
                table.insert([1, 2], [i, i])
                table.insert([1000 * (number + 1) + i], [i])
                table.remove([1000 * (number + 1) + i])
            done.set()
            return 0
        bad = 0
        while not done.is_set():
            first, second = table.lookup([1, 2]).numpy().tolist()
            known = table.lookup(filler).numpy()
            bad += first != second or known.tolist() != filler.tolist()
        return bad

    assert in_threads(work, 4) == [0, 0, 0, 0]
    assert table.size().numpy() == len(filler) + 2


def test_calls_that_write_are_atomic() -> None:
    table = Mutable(tf.string, tf.int64, 0)

    @tf.function
    def increment(key: tf.Tensor) -> None:
        table.insert(key, table[key] + 1)

    def work(number: int) -> None:
        for _ in range(100):
            increment(tf.constant("n"))

    in_threads(work, 4)
    assert table["n"].numpy() == 400


def test_a_thread_that_would_wait_for_ever_is_told() -> None:
    table = Mutable(tf.string, tf.int64, 0)
    told: list[BaseException] = []

    def insert() -> None:
        try:
            table.insert("a", 1)
        except AbortedError as error:
            told.append(error)

    def call() -> np.ndarray:
        thread = threading.Thread(target=insert)
        thread.start()
        thread.join()
        return np.array(0)

    @tf.function
    def f() -> Any:
        table.insert("b", 2)
        return tf.numpy_function(call, [], tf.int64)

    f()
    assert "the table 'MutableHashTable'" in str(told[0])
