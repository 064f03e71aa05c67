"""Rows of ragged tensors on arrays are those that the ops give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.ops.ragged import dense, row_arrays, rows

LENGTHS = {
    "some": [3, 0, 5, 1, 0],
    "equal": [2, 2, 2],
    "empty ones": [0, 0],
    "one": [4],
    "none": [],
}
VALUES: dict[str, Callable[[int], Any]] = {
    "numbers": lambda n: np.arange(1, n + 1, dtype=np.float32),
    "rows": lambda n: np.arange(2 * n, dtype=np.int64).reshape(n, 2),
    "strings": lambda n: np.array([b"x" * i for i in range(n)] or np.zeros(0, object), object),
    "flags": lambda n: np.ones(n, bool),
}


def splits_of(lengths: list[int], dtype: Any) -> np.ndarray:
    return np.cumsum([0, *lengths]).astype(dtype)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_rows_are_those_of_the_ops(lengths: list[int], dtype: Any) -> None:
    splits = splits_of(lengths, dtype)
    ids = row_arrays.rowids(splits)
    wanted = rows.rowids.__wrapped__(tf.constant(splits)).numpy()  # type: ignore[attr-defined]
    np.testing.assert_array_equal(ids, wanted)
    assert ids.dtype == wanted.dtype == dtype
    orders = [[], [0], [0, 0], list(range(len(lengths)))[::-1] * 2] if lengths else [[]]
    for indices in [np.array(order, dtype) for order in orders]:
        found = row_arrays.picked(splits, indices)
        plain: Any = rows.picked.__wrapped__  # type: ignore[attr-defined]
        for x, y in zip(found, plain(tf.constant(splits), tf.constant(indices)), strict=True):
            np.testing.assert_array_equal(x, y)
            assert x.dtype == y.numpy().dtype == dtype


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_padded_rows_are_those_of_the_ops(lengths: list[int], kind: str) -> None:
    splits, values = splits_of(lengths, np.int64), VALUES[kind](sum(lengths))
    default = np.array(b"-", object) if kind == "strings" else np.array(0, values.dtype)
    if kind == "numbers":
        default = np.array(np.nan, np.float32)
    found = row_arrays.padded(values, splits, default)
    plain: Any = dense._padded.__wrapped__  # type: ignore[attr-defined]
    wanted = plain(*[tf.constant(x) for x in (values, splits, default)]).numpy()
    np.testing.assert_array_equal(found, wanted)
    assert found.dtype == wanted.dtype
    made = tf.RaggedTensor.from_row_splits(values, splits).to_tensor(tf.constant(default))
    np.testing.assert_array_equal(made, wanted)


WRONG = {
    "falling": [0, 3, 1, 4],
    "begins later": [1, 2, 4],
    "negative": [0, -1, 4],
    "too many": [0, 10**12],
    "no splits": [],
}


@pytest.mark.parametrize("splits", WRONG.values(), ids=WRONG)
def test_splits_that_are_wrong_are_left_to_the_ops(splits: list[int]) -> None:
    array, values = np.array(splits, np.int64), np.arange(4.0)
    assert row_arrays.rowids(array) is NotImplemented
    assert row_arrays.padded(values, array, np.array(0.0)) is NotImplemented
    if len(splits) != 2:
        assert row_arrays.picked(array, np.array([0])) is NotImplemented


@pytest.mark.parametrize("indices", [[2], [-1], [[0]]])
def test_indices_that_are_wrong_are_left_to_the_ops(indices: Any) -> None:
    assert row_arrays.picked(np.array([0, 1, 3]), np.array(indices)) is NotImplemented


def test_more_values_than_splits_can_count() -> None:
    splits = np.array([0, 2**30], np.int32)
    assert row_arrays.picked(splits, np.zeros(3, np.int32)) is NotImplemented


def test_other_values_than_splits_say() -> None:
    splits = np.array([0, 1, 3])
    for count in (2, 4):
        assert row_arrays.padded(np.zeros(count), splits, np.array(0.0)) is NotImplemented


def test_gradients_go_through_the_ops() -> None:
    values = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(values)
        padded = tf.RaggedTensor.from_row_lengths(values, [2, 0, 1]).to_tensor()
        y = tf.reduce_sum(padded * padded)
    np.testing.assert_array_equal(tape.gradient(y, values), [2.0, 4.0, 6.0])
