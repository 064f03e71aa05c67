"""Datasets whose elements hold ragged and sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import DataLossError, InvalidArgumentError

D = tf.data.Dataset
ROWS = [[1, 2], [], [3, 4, 5]]
NESTED = [[[1, 2], [3]], [], [[4, 5, 6]]]
TABLE = [[0, 5], [6, 0], [0, 0], [7, 8]]


def rt() -> Any:
    return tf.ragged.constant(ROWS)


def nested() -> Any:
    return tf.ragged.constant(NESTED)


def sparse() -> Any:
    return tf.sparse.from_dense(TABLE)


def lengths(stop: int = 4) -> Any:
    return D.range(stop).map(tf.range)


def listed(x: Any) -> Any:
    if isinstance(x, (tuple, list)):
        return [listed(part) for part in x]
    if isinstance(x, dict):
        return {key: listed(part) for key, part in x.items()}
    if isinstance(x, tf.SparseTensor):
        return tf.sparse.to_dense(x).numpy().tolist()
    return x.to_list() if isinstance(x, tf.RaggedTensor) else np.asarray(x).tolist()


def ragged_spec(shape: Any, ragged_rank: int, dtype: Any = tf.int32, splits: Any = tf.int64) -> Any:
    return tf.RaggedTensorSpec(shape, dtype, ragged_rank, splits)


# The dataset, the type of its elements, the elements, and how many are known to be there.
CASES = [
    (lambda: D.from_tensor_slices(rt()), ragged_spec([None], 0), ROWS, 3),
    (lambda: D.from_tensor_slices(nested()), ragged_spec([None, None], 1), NESTED, 3),
    (
        lambda: D.from_tensor_slices((rt(), [7, 8, 9])),
        (ragged_spec([None], 0), tf.TensorSpec([], tf.int32)),
        [[[1, 2], 7], [[], 8], [[3, 4, 5], 9]],
        3,
    ),
    (
        lambda: D.from_tensor_slices({"a": nested(), "b": rt()}),
        {"a": ragged_spec([None, None], 1), "b": ragged_spec([None], 0)},
        [{"a": a, "b": b} for a, b in zip(NESTED, ROWS, strict=True)],
        3,
    ),
    (lambda: D.from_tensor_slices(sparse()), tf.SparseTensorSpec([2], tf.int32), TABLE, 4),
    (
        lambda: D.from_tensor_slices(sparse()).batch(3),
        tf.SparseTensorSpec([None, 2], tf.int32),
        [TABLE[:3], TABLE[3:]],
        2,
    ),
    (lambda: D.from_tensors(rt()).batch(2), ragged_spec([None, 3, None], 2), [[ROWS]], 1),
    (
        lambda: D.from_tensors(rt()).repeat(3).batch(2, drop_remainder=True),
        ragged_spec([2, 3, None], 2),
        [[ROWS, ROWS]],
        1,
    ),
    (lambda: D.from_tensor_slices(rt()).batch(2), ragged_spec([None, None], 1),
     [ROWS[:2], ROWS[2:]], 2),
    (lambda: D.from_tensor_slices(nested()).batch(2), ragged_spec([None, None, None], 2),
     [NESTED[:2], NESTED[2:]], 2),
    (lambda: D.from_tensor_slices(nested()).batch(2).unbatch(), ragged_spec([None, None], 1),
     NESTED, -2),
    (lambda: D.from_tensors(rt()).unbatch(), ragged_spec([None], 0), ROWS, -2),
    (lambda: D.from_tensors(sparse()).unbatch(), tf.SparseTensorSpec([2], tf.int32), TABLE, -2),
    (lambda: D.from_tensor_slices(nested()).batch(3).rebatch(2), ragged_spec([None] * 3, 2),
     [NESTED[:2], NESTED[2:]], -2),
    (lambda: D.from_tensor_slices(rt()).map(lambda r: r * 2), tf.TensorSpec([None], tf.int32),
     [[2, 4], [], [6, 8, 10]], 3),
    (lambda: D.from_tensor_slices(nested()).map(lambda r: r + 1), ragged_spec([None, None], 1),
     [[[2, 3], [4]], [], [[5, 6, 7]]], 3),
    (lambda: D.from_tensor_slices(rt()).filter(lambda r: tf.size(r) > 0), ragged_spec([None], 0),
     ROWS[::2], -2),
    (lambda: D.from_tensor_slices(rt()).cache().repeat(2).prefetch(2), ragged_spec([None], 0),
     ROWS + ROWS, 6),
    (lambda: D.from_tensor_slices(["a b", "c"]).map(tf.strings.split).ragged_batch(2),
     ragged_spec([None, None], 1, tf.string), [[[b"a", b"b"], [b"c"]]], 1),
    (lambda: lengths().ragged_batch(3), ragged_spec([None, None], 1, tf.int64),
     [[[], [0], [0, 1]], [[0, 1, 2]]], 2),
    (lambda: lengths().ragged_batch(3, drop_remainder=True, row_splits_dtype=tf.int32),
     ragged_spec([3, None], 1, tf.int64, tf.int32), [[[], [0], [0, 1]]], 1),
    (lambda: D.range(3).map(lambda n: tf.fill([n, 2], n)).ragged_batch(3),
     ragged_spec([None, None, 2], 1, tf.int64), [[[], [[1, 1]], [[2, 2], [2, 2]]]], 1),
    (lambda: D.range(3).map(lambda n: tf.fill([2, n], n)).ragged_batch(3),
     ragged_spec([None, 2, None], 2, tf.int64), [[[[], []], [[1], [1]], [[2, 2], [2, 2]]]], 1),
    (lambda: D.range(3).map(lambda n: (n, tf.range(n))).ragged_batch(2),
     (tf.TensorSpec([None], tf.int64), ragged_spec([None, None], 1, tf.int64)),
     [[[0, 1], [[], [0]]], [[2], [[0, 1]]]], 2),
    (lambda: D.from_tensor_slices(nested()).ragged_batch(3), ragged_spec([None, None, None], 2),
     [NESTED], 1),
    (lambda: D.range(4).ragged_batch(3), tf.TensorSpec([None], tf.int64), [[0, 1, 2], [3]], 2),
    (lambda: lengths(3).map(lambda r: r + 1).sparse_batch(2, [4]),
     tf.SparseTensorSpec([None, 4], tf.int64), [[[0] * 4, [1, 0, 0, 0]], [[1, 2, 0, 0]]], 2),
    (lambda: lengths(3).map(lambda r: r + 1).sparse_batch(3, [None]),
     tf.SparseTensorSpec([None, None], tf.int64), [[[0, 0], [1, 0], [1, 2]]], 1),
    (lambda: D.from_tensor_slices(nested()).map(lambda r: r.to_tensor()).padded_batch(3),
     tf.TensorSpec([None, None, None], tf.int32),
     [[[[1, 2, 0], [3, 0, 0]], [[0] * 3] * 2, [[4, 5, 6], [0] * 3]]], 1),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CASES)))
def test_elements(number: int) -> None:
    make, spec, expected, count = CASES[number]
    dataset = make()
    assert dataset.element_spec == spec
    assert [listed(element) for element in dataset] == expected
    assert int(dataset.cardinality()) == count
    made = tf.function(make)()
    assert [listed(element) for element in made] == expected


def test_types_hold_the_elements() -> None:
    for make in (
        lambda: D.from_tensors(rt()).repeat(3).batch(2),
        lambda: lengths().ragged_batch(2),
    ):
        dataset = make()
        total = tf.function(tf.reduce_sum, input_signature=[dataset.element_spec])
        assert [int(total(x)) for x in dataset] == [int(tf.reduce_sum(x)) for x in dataset]


@tf.function
def summed(dataset: Any) -> Any:
    total = 0
    for row in dataset:
        total += tf.reduce_sum(row)
    return total


def test_loops_and_folds() -> None:
    rows = D.from_tensor_slices(nested())
    assert int(summed(rows)) == 21
    assert int(rows.reduce(0, lambda total, row: total + tf.reduce_sum(row))) == 21
    assert int(summed(D.from_tensor_slices(rt()).batch(2))) == 15


def test_a_position_can_be_saved() -> None:
    iterator = iter(D.from_tensor_slices(nested()).batch(2).unbatch())
    next(iterator)
    position = iterator.save_position()
    assert [listed(x) for x in iterator] == NESTED[1:]
    iterator.restore_position(position)
    assert [listed(x) for x in iterator] == NESTED[1:]


def test_sparse_rows_out_of_order() -> None:
    sp = tf.SparseTensor([[2, 0], [0, 1], [2, 1], [0, 0]], [1, 2, 3, 4], [3, 2])
    rows = list(D.from_tensor_slices(sp))
    assert [row.values.numpy().tolist() for row in rows] == [[2, 4], [], [1, 3]]
    assert [row.indices.numpy().tolist() for row in rows] == [[[1], [0]], [], [[0], [1]]]


def test_older_forms() -> None:
    ragged = tf.data.experimental.dense_to_ragged_batch(2)
    assert [listed(x) for x in lengths().apply(ragged)] == [[[], [0]], [[0, 1], [0, 1, 2]]]
    made = tf.data.experimental.dense_to_sparse_batch(2, [3])
    assert [x.dense_shape.numpy().tolist() for x in lengths(3).apply(made)] == [[2, 3], [1, 3]]


WRONG = [
    (lambda: D.from_tensor_slices((rt(), [1, 2])), ValueError, "same first size"),
    (lambda: list(D.from_tensors((rt(), [1, 2])).unbatch()), ValueError, r"number of rows.*3, 2"),
    (lambda: D.from_tensors(rt()).padded_batch(2), TypeError, "RaggedTensorSpec.*cannot be padded"),
    (lambda: D.from_tensors(sparse()).padded_batch(2), TypeError, "SparseTensorSpec"),
    (lambda: list(lengths().sparse_batch(2, [2])), DataLossError, r"\(3,\).*larger"),
    (lambda: lengths().sparse_batch(2, [2, 2]), ValueError, "row_shape"),
    (lambda: D.from_tensors(rt()).sparse_batch(2, [2]), TypeError, "must be tensors"),
    (lambda: lengths().ragged_batch(2, row_splits_dtype=tf.int8), ValueError, "int32 or int64"),
    (lambda: list(lengths().ragged_batch(0)), InvalidArgumentError, "ragged_batch: batch_size"),
    (lambda: D.from_tensor_slices(nested()).batch(2).rebatch([1, 2]), TypeError, "one batch_size"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_errors(number: int) -> None:
    make, error, text = WRONG[number]
    with pytest.raises(error, match=text):
        make()
