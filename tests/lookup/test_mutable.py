"""Tables whose content changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import DTypeError, InvalidArgumentError, ShapeError

Mutable = tf.lookup.experimental.MutableHashTable
Dense = tf.lookup.experimental.DenseHashTable


def dense(key_dtype: Any = tf.string, value_dtype: Any = tf.int64, default: Any = -1) -> Any:
    reserved = ("", "$") if key_dtype is tf.string else (100, 101)
    return Dense(key_dtype, value_dtype, default, *reserved)


@pytest.fixture(params=["mutable", "dense"])
def table(request: pytest.FixtureRequest) -> Any:
    return Mutable(tf.string, tf.int64, -1) if request.param == "mutable" else dense()


def listed(pair: Any) -> list[Any]:
    return [x.numpy().tolist() for x in pair]


def test_insert_and_remove(table: Any) -> None:
    assert table.insert(["a", "b", "a"], [1, 2, 3]) is None
    assert listed(table.export()) == [[b"a", b"b"], [3, 2]]
    table.insert("z", 9)
    table.insert([["b", "c"]], [[20, 30]])
    assert table.lookup(["a", "z", "c", "q"]).numpy().tolist() == [3, 9, 30, -1]
    assert table.remove(["a", "not there", "a"]) is None
    table.remove("z")
    assert listed(table.export()) == [[b"b", b"c"], [20, 30]]
    table.insert(
        ["n", "m", "o"], [5, 6, 7]
    )  # in the rows of those that were removed, and a new one
    assert listed(table.export()) == [[b"b", b"c", b"n", b"m", b"o"], [20, 30, 5, 6, 7]]
    assert table.size().numpy() == 5
    table.insert([], [])
    assert table["n"].numpy() == 5


def test_what_was_found_stays() -> None:
    table = Mutable(tf.int32, tf.float32, 0.0)
    table.insert([1, 2], [1.0, 2.0])
    before = table.lookup([1, 2])
    keys, values = table.export()
    table.insert([1, 2, 3], [5.0, 6.0, 7.0])
    assert before.numpy().tolist() == values.numpy().tolist() == [1.0, 2.0]
    assert keys.numpy().tolist() == [1, 2]


def test_content_moves_to_another_table(table: Any) -> None:
    table.insert([f"key {i}" for i in range(50)], np.arange(50))
    other = Mutable(tf.string, tf.int64, -1)
    other.insert(*table.export())
    assert listed(other.export()) == listed(table.export())


def test_like_a_dictionary() -> None:
    rng = np.random.default_rng(3)
    table, known = Mutable(tf.int64, tf.int64, -1), {}
    for _ in range(60):
        keys = rng.integers(0, 40, rng.integers(0, 9))
        if rng.random() < 0.4:
            table.remove(keys)
            for key in keys.tolist():
                known.pop(key, None)
        else:
            values = rng.integers(0, 1000, len(keys))
            table.insert(keys, values)
            known.update(zip(keys.tolist(), values.tolist(), strict=True))
        expected = [known.get(key, -1) for key in range(40)]
        assert table.lookup(np.arange(40)).numpy().tolist() == expected
        assert listed(table.export()) == [list(known), list(known.values())]


@pytest.mark.parametrize("kind", ["mutable", "dense"])
def test_values_that_are_vectors(kind: str) -> None:
    default = [-1.0, -2.0]
    make = Mutable(tf.string, tf.float32, default) if kind == "mutable" else None
    table: Any = make or dense(value_dtype=tf.float32, default=default)
    table.insert(["a", "b"], [[1, 2], [3, 4]])
    assert table[[["a", "q", "b"]]].numpy().tolist() == [[[1, 2], [-1, -2], [3, 4]]]
    assert table["b"].numpy().tolist() == [3, 4]
    ragged = table.lookup(tf.ragged.constant([["b"], ["q", "b"]]))
    assert ragged.to_list() == [[[3, 4]], [[-1, -2], [3, 4]]]
    with pytest.raises(ShapeError, match="vectors cannot be elements of a sparse tensor"):
        table.lookup(tf.sparse.from_dense([["b"]]))
    with pytest.raises(
        ShapeError, match=r"shape \(1,\) need values of shape \(1, 2\), got .*\(2,\)"
    ):
        table.insert(["a"], [1.0, 2.0])
    table.remove(["a"])
    assert listed(table.export()) == [[b"b"], [[3, 4]]]


def test_defaults_of_a_call() -> None:
    table = Mutable(tf.string, tf.int64, -1)
    table.insert(["b"], [2])
    assert table.lookup(["b", "q"], dynamic_default_values=7).numpy().tolist() == [2, 7]
    assert table.lookup(["b", "q"], [7, 8]).numpy().tolist() == [2, 8]
    assert table.lookup(["b", "q"]).numpy().tolist() == [2, -1]
    rows = Mutable(tf.string, tf.float32, [-1.0, -2.0])
    assert rows.lookup(["q", "r"], [[1, 2], [3, 4]]).numpy().tolist() == [[1, 2], [3, 4]]
    assert rows.lookup(["q", "r"], [8.0, 9.0]).numpy().tolist() == [[8, 9], [8, 9]]
    with pytest.raises(ShapeError, match=r"or be one for each of the keys of \(2,\), got \(3,\)"):
        table.lookup(["b", "q"], [1, 2, 3])
    with pytest.raises(DTypeError, match="dynamic_default_values must be int64 .* got int32"):
        table.lookup(["b"], tf.constant([1]))


def test_defaults_keep_their_bits() -> None:
    table = Mutable(tf.string, tf.float64, 0.0)
    for default in (0.0, -0.0, np.nan, 0.0):
        found = table.lookup(["q"], default).numpy()
        assert found.tobytes() == np.array([default]).tobytes()


def test_defaults_that_are_strings() -> None:
    table = Mutable(tf.int32, tf.string, "?")
    table.insert([1], ["one"])
    assert table.lookup([1, 2]).numpy().tolist() == [b"one", b"?"]
    assert table.lookup([1, 2], "no").numpy().tolist() == [b"one", b"no"]
    assert table.lookup([3, 2], ["no", "never"]).numpy().tolist() == [b"no", b"never"]
    table.remove([1])
    assert table[[1]].numpy().tolist() == [b"?"]


def test_mistakes(table: Any) -> None:
    name = type(table).__name__
    with pytest.raises(ShapeError, match=r"keys of shape \(2,\) need values of shape \(2,\)"):
        table.insert(["a", "b"], [1])
    with pytest.raises(DTypeError, match=f"{name}.insert: keys must be string .* got int32"):
        table.insert(tf.constant([1]), [1])
    with pytest.raises(DTypeError, match=f"{name}.insert: values must be int64 .* got int32"):
        table.insert(["a"], tf.constant([1]))
    with pytest.raises(DTypeError, match=f"{name}.remove: keys must be string .* got int32"):
        table.remove(tf.constant([1]))
    with pytest.raises(TypeError, match="RaggedTensor"):
        table.insert(tf.ragged.constant([["a"]]), [[1]])
    assert table.size().numpy() == 0


def test_mistakes_in_making_one() -> None:
    with pytest.raises(DTypeError, match="key_dtype must be one of .*, got float32"):
        Mutable(tf.float32, tf.int64, -1)
    with pytest.raises(ShapeError, match=r"a value must be a scalar or a vector, got .*\(1, 2\)"):
        Mutable(tf.string, tf.int64, [[1, 2]])
    with pytest.raises(DTypeError, match="Cannot convert"):
        Mutable(tf.string, tf.int64, "x")


# --- dense ones ----------------------------------------------------------------------------------


def test_keys_that_nobody_may_use() -> None:
    table = dense()
    table.insert(["a", "b"], [1, 2])
    for key, what in (("", "empty_key, b''"), ("$", r"deleted_key, b'\$'")):
        for use in (table.lookup, table.remove, lambda k: table.insert(k, [1] * len(k))):
            with pytest.raises(InvalidArgumentError, match=what + ", must not be among the keys"):
                use(["c", key])
    assert table.size().numpy() == 2  # nothing was inserted
    table.erase(["a"])
    table.insert_or_assign(["b", "c"], [20, 30])
    assert table[["a", "b", "c"]].numpy().tolist() == [-1, 20, 30]


def test_keys_that_are_vectors() -> None:
    table = Dense(tf.int64, tf.int64, -1, empty_key=[0, 0], deleted_key=[-1, -1])
    table.insert([[1, 2], [3, 4]], [1, 2])
    assert table[[[1, 2], [3, 5]]].numpy().tolist() == [1, -1]
    assert table[[3, 4]].numpy() == 2
    table.remove([[1, 2]])
    assert listed(table.export()) == [[[3, 4]], [2]]
    with pytest.raises(InvalidArgumentError, match=r"empty_key, \[0, 0\]"):
        table.lookup([[1, 2], [0, 0]])
    with pytest.raises(ShapeError, match=r"a key has shape \(2,\), and keys of shape \(1, 3\)"):
        table.lookup([[1, 2, 3]])
    words = Dense(tf.string, tf.int64, -1, ["", ""], ["$", "$"])
    words.insert([["a", "b"], ["", "c"]], [1, 2])
    assert words[[["", "c"], ["a", "c"]]].numpy().tolist() == [2, -1]
    assert listed(words.export()) == [[[b"a", b"b"], [b"", b"c"]], [1, 2]]


def test_mistakes_in_making_a_dense_one() -> None:
    with pytest.raises(InvalidArgumentError, match="must differ, both are 5"):
        Dense(tf.int64, tf.int64, -1, 5, 5)
    for buckets in (3, 0, -4, 1):
        with pytest.raises(InvalidArgumentError, match=f"power of 2 and at least 4, got {buckets}"):
            Dense(tf.int64, tf.int64, -1, 5, 6, initial_num_buckets=buckets)
    assert Dense(tf.int64, tf.int64, -1, 5, 6, initial_num_buckets=4).size().numpy() == 0
    with pytest.raises(ShapeError, match=r"must have one shape, got \(\) and \(2,\)"):
        Dense(tf.int64, tf.int64, -1, 5, [6, 7])
