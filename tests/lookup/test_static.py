"""Static tables: what they find, what they refuse. Numbers of buckets are TensorFlow's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import (
    DTypeError,
    FailedPreconditionError,
    ShapeError,
)

Init = tf.lookup.KeyValueTensorInitializer
Table = tf.lookup.StaticHashTable
Vocabulary = tf.lookup.StaticVocabularyTable

KEYS = {"string": [b"a", b"", b"long \0 key"], "int32": [5, -7, 0], "int64": [5, -(2**62), 0]}
VALUES: dict[str, list[Any]] = {
    "string": [b"x", b"", b"z"],
    "int32": [1, 2, -3],
    "int64": [1, 2**62, -3],
    "float32": [0.5, np.inf, -0.0],
    "float64": [0.1, np.nan, 3.0],
    "bool": [True, False, True],
}
DEFAULTS = {"string": b"?", "bool": False}
OTHER = {"string": b"other", "int32": 99, "int64": 99}


@pytest.mark.parametrize("key_dtype", KEYS)
@pytest.mark.parametrize("value_dtype", VALUES)
def test_all_dtypes(key_dtype: str, value_dtype: str) -> None:
    keys, values = tf.constant(KEYS[key_dtype], key_dtype), VALUES[value_dtype]
    default = DEFAULTS.get(value_dtype, -1)
    table = Table(Init(keys, tf.constant(values, value_dtype)), default)
    asked = tf.constant([*KEYS[key_dtype][::-1], OTHER[key_dtype]], key_dtype)
    found = table.lookup(asked)
    assert (found.dtype.name, table.key_dtype.name) == (value_dtype, key_dtype)
    np.testing.assert_array_equal(found.numpy().tolist(), [*values[::-1], default])
    exported_keys, exported_values = table.export()
    assert exported_keys.numpy().tolist() == KEYS[key_dtype]
    np.testing.assert_array_equal(exported_values.numpy().tolist(), values)
    assert table.size().numpy() == 3


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 5)])
def test_shapes(shape: tuple[int, ...]) -> None:
    table = Table(Init(["a", "b"], [1, 2]), -1)
    keys = np.resize(np.array([b"a", b"b", b"c"], object), shape)
    expected = np.resize(np.array([1, 2, -1], np.int32), shape)
    np.testing.assert_array_equal(table[tf.constant(keys, tf.string)].numpy(), expected)


def test_keys_of_users() -> None:
    table = Table(Init(["a", "b"], [1, 2]), -1)
    assert table["b"].numpy() == 2
    assert table.lookup(["a", "q"]).numpy().tolist() == [1, -1]
    ragged = table.lookup(tf.ragged.constant([["a"], [], ["b", "q"]]))
    assert ragged.to_list() == [[1], [], [2, -1]]
    sparse = table.lookup(tf.sparse.from_dense([["a", ""], ["b", "q"]]))
    assert sparse.indices.numpy().tolist() == [[0, 0], [1, 0], [1, 1]]
    assert sparse.values.numpy().tolist() == [1, 2, -1]
    assert sparse.dense_shape.numpy().tolist() == [2, 2]


def test_properties() -> None:
    table = Table(Init(["a"], [1]), -1, name="words")
    assert (table.name, table.default_value.numpy()) == ("words", -1)
    assert table.resource_handle.dtype is tf.resource
    assert repr(table) == "<StaticHashTable 'words' string -> int32, 1 keys>"
    for use in (iter, lambda t: "a" in t, len):
        with pytest.raises(TypeError):
            use(table)


def test_initializers_of_any_shape() -> None:
    assert Table(Init([["a", "b"]], [[1, 2]]), -1)["b"].numpy() == 2
    assert Table(Init("a", 1), -1)["a"].numpy() == 1
    empty = Table(Init(tf.constant([], tf.string), tf.constant([], tf.int64)), -1)
    assert (empty.size().numpy(), empty["a"].numpy()) == (0, -1)
    assert Init([1], [2], tf.int64, tf.float32).value_dtype is tf.float32


def test_a_key_twice() -> None:
    assert Table(Init(["a", "b", "a"], [1, 2, 1]), -1).size().numpy() == 2
    with pytest.raises(
        FailedPreconditionError, match=r"key b'a' is there with two values, 1 and 2"
    ):
        Table(Init(["a", "a"], [1, 2]), -1)
    with pytest.raises(FailedPreconditionError, match="two values, nan and nan"):
        Table(Init(["a", "a"], [np.nan, float("nan")]), -1.0)


MISTAKES: list[tuple[Any, type[Exception], str]] = [
    (lambda: Init(["a", "b"], [1, 2, 3]), ShapeError, r"need values of shape \(2,\), got .*\(3,\)"),
    (lambda: Init([["a", "b"]], [1, 2]), ShapeError, r"need values of shape \(1, 2\)"),
    (lambda: Init([1.0], [1]), DTypeError, "key_dtype must be one of int32, int64, string, got f"),
    (lambda: Init(["a"], [1j]), DTypeError, "value_dtype must be one of .*, got complex"),
    (lambda: Init(["a"], [1], key_dtype=tf.int64), DTypeError, "Cannot convert"),
    (lambda: None, TypeError, "initializer must be one of tf.lookup"),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistakes_in_initializers(number: int) -> None:
    make, error, text = MISTAKES[number]
    with pytest.raises(error, match=text):
        Table(make(), -1)


def test_mistakes_in_use() -> None:
    table = Table(Init(["a"], [1]), -1)
    with pytest.raises(
        DTypeError, match=r"StaticHashTable.lookup: keys must be string .* got int32"
    ):
        table.lookup(tf.constant([1]))
    with pytest.raises(DTypeError, match="Cannot convert"):
        Table(Init(["a"], [1]), "x")
    with pytest.raises(ShapeError, match=r"default_value must be a scalar, got shape \(2,\)"):
        Table(Init(["a"], [1]), [1, 2])
    with pytest.raises(DTypeError, match="this is from string to int32"):
        Init(["a"], [1]).initialize(Table(Init([1], [1]), -1))
    with pytest.raises(FailedPreconditionError, match="initialised before, with another content"):
        Init(["b"], [1]).initialize(table)
    Init(["a"], [1]).initialize(table)  # the same content: nothing happens


# --- vocabularies --------------------------------------------------------------------------------

WORDS = ["a", "zz", "hello", "", "emu"]
NUMBERS = [10, 11, -5, 123456789, 0]


@pytest.mark.parametrize(
    ("buckets", "of_words", "of_numbers"),
    [
        (1, [0, 2, 2, 2, 2], [0, 2, 2, 2, 2]),
        (3, [0, 3, 3, 4, 2], [0, 3, 2, 4, 3]),
        (7, [0, 3, 7, 8, 7], [0, 6, 2, 5, 4]),
    ],
)
def test_buckets_are_those_of_tensorflow(
    buckets: int, of_words: list[int], of_numbers: list[int]
) -> None:
    ids = tf.constant([0, 1], tf.int64)
    words = Vocabulary(Init(["a", "b"], ids), buckets)
    assert words.lookup(WORDS).numpy().tolist() == of_words
    assert words.size().numpy() == 2 + buckets
    numbers = Vocabulary(Init(tf.constant([10, 20], tf.int64), ids), buckets)
    assert numbers.lookup(NUMBERS).numpy().tolist() == of_numbers


def test_large_numbers_and_many_buckets() -> None:
    init = Init(tf.constant([1, 2], tf.int64), tf.constant([0, 1], tf.int64))
    asked = [-1, -12345678901234, 2**62, 5]
    assert Vocabulary(init, 10)[asked].numpy().tolist() == [2, 3, 5, 3]
    assert Vocabulary(init, 1000003)[asked].numpy().tolist() == [285650, 287718, 35492, 264120]


def test_vocabularies_with_other_ids_and_without_words() -> None:
    table = Vocabulary(Init(["a", "b"], tf.constant([10, 20], tf.int64)), 2)
    assert table[["a", "b", "q", "r", "s"]].numpy().tolist() == [10, 20, 3, 3, 3]
    empty = Vocabulary(None, 5)
    assert empty[["a", "b", "emu"]].numpy().tolist() == [4, 2, 2]
    assert (empty.size().numpy(), empty.key_dtype) == (5, tf.string)
    assert Vocabulary(None, 5, lookup_key_dtype=tf.int32).key_dtype is tf.int32


def test_keys_of_another_integer_dtype() -> None:
    init = Init(tf.constant([1, 2], tf.int64), tf.constant([0, 1], tf.int64))
    table = Vocabulary(init, 3, lookup_key_dtype=tf.int32)
    assert (table.key_dtype, table.value_dtype) == (tf.int32, tf.int64)
    assert table[tf.constant([1, 5])].numpy().tolist() == [0, 3]
    with pytest.raises(DTypeError, match="keys must be int64 .* got int32"):
        Vocabulary(init, 3).lookup(tf.constant([1]))


def test_ragged_and_sparse_words() -> None:
    table = Vocabulary(Init(["a", "b"], tf.constant([0, 1], tf.int64)), 3)
    assert table[tf.ragged.constant([["a"], ["q", "b"]])].to_list() == [[0], [4, 1]]
    assert table[tf.sparse.from_dense([["a", ""], ["b", "q"]])].values.numpy().tolist() == [0, 1, 4]


def test_mistakes_with_vocabularies() -> None:
    ids = tf.constant([0], tf.int64)
    for buckets in (0, -1):
        with pytest.raises(ValueError, match=f"at least 1, got {buckets}. Without buckets use"):
            Vocabulary(Init(["a"], ids), buckets)
    with pytest.raises(TypeError, match="num_oov_buckets must be an integer, got 1.5"):
        Vocabulary(Init(["a"], ids), 1.5)  # type: ignore[arg-type]
    with pytest.raises(DTypeError, match="ids must be int64, got int32"):
        Vocabulary(Init(["a"], [0]), 1)
    with pytest.raises(DTypeError, match="keys must be int64 or string, got int32"):
        Vocabulary(Init([1], ids), 1)
    with pytest.raises(DTypeError, match="int64 does not go with a table of string keys"):
        Vocabulary(Init(["a"], ids), 1, lookup_key_dtype=tf.int64)
