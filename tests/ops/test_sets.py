"""tf.sets: recorded facts of TensorFlow, eagerly and in graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import InvalidArgumentError

A = np.array([[1, 2, 2], [3, 9, 4]])
B = np.array([[2, 3], [9, 9]])
S = tf.sets


def sparse() -> Any:
    return tf.sparse.from_dense(np.array([[2, 0, 3], [9, 0, 0]]))


def parts(x: Any) -> Any:
    if not isinstance(x, tf.SparseTensor):
        return x.numpy().tolist()
    return [part.numpy().tolist() for part in (x.indices, x.values, x.dense_shape)]


CASES = [
    (lambda: S.intersection(A, B), [[[0, 0], [1, 0]], [2, 9], [2, 1]]),
    (
        lambda: S.union(A, B),
        [[[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]], [1, 2, 3, 3, 4, 9], [2, 3]],
    ),
    (lambda: S.difference(A, B), [[[0, 0], [1, 0], [1, 1]], [1, 3, 4], [2, 2]]),
    (lambda: S.difference(A, B, aminusb=False), [[[0, 0]], [3], [2, 1]]),
    (lambda: S.intersection(A, sparse()), [[[0, 0], [1, 0]], [2, 9], [2, 1]]),
    (
        lambda: S.intersection(sparse(), sparse()),
        [[[0, 0], [0, 1], [1, 0]], [2, 3, 9], [2, 2]],
    ),
    (lambda: S.intersection([["a", "b"]], [["b", "c"]]), [[[0, 0]], [b"b"], [1, 1]]),
    (lambda: S.intersection([[1, 2]], [[3]]), [[], [], [1, 0]]),
    (lambda: S.union(np.zeros([0, 2], int), np.zeros([0, 3], int)), [[], [], [0, 0]]),
    (lambda: S.size(sparse()), [2, 1]),
    (lambda: S.size(tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [7, 7, 4], [2, 3])), [1, 1]),
    (lambda: S.size(tf.sparse.from_dense(np.arange(12).reshape(2, 2, 3) % 4)), [[2, 2], [2, 3]]),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_sets(number: int) -> None:
    fn, expected = CASES[number]
    assert parts(fn()) == expected
    assert parts(tf.function(fn)()) == expected


def test_three_axes_and_unknown_sizes() -> None:
    a, b = np.arange(12).reshape(2, 2, 3) % 4, np.arange(8).reshape(2, 2, 2) % 3
    spec = tf.TensorSpec([None, None, None], tf.int64)
    f = tf.function(S.union, input_signature=[spec, spec])
    found = tf.sparse.to_dense(f(a, b), default_value=-1).numpy()
    rows = [sorted({*x, *y}) for x, y in zip(a.reshape(4, 3), b.reshape(4, 2), strict=True)]
    assert [[v for v in row if v >= 0] for row in found.reshape(4, -1).tolist()] == rows


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda: S.union([[1]], [[1], [2]]), ValueError, "all but the last axis"),
        (lambda: S.intersection([1, 2], [2, 3]), ValueError, "rank 2 or more"),
        (lambda: S.union([[1.0]], [[1.0]]), TypeError, "sets.union: a must be one of"),
        (lambda: S.union(np.int32([[1]]), np.int64([[1]])), TypeError, "one dtype"),
        (lambda: S.size(A), TypeError, "tf.SparseTensor"),
        (
            lambda: S.size(tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 2])),
            InvalidArgumentError,
            "out of order",
        ),
    ],
)
def test_wrong_use(wrong: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()


def test_the_size_of_a_single_set() -> None:
    assert tf.sets.size(tf.SparseTensor([[0], [1], [2]], [7, 7, 8], [5])).numpy() == 2


def test_many_rows_of_rank_3() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.integers(-3, 9, (2, 4, 5, 6)), rng.integers(-3, 9, (2, 4, 5, 3))
    for function, combine in (
        (tf.sets.intersection, set.intersection),
        (tf.sets.union, set.union),
        (tf.sets.difference, set.difference),
    ):
        found = tf.sparse.to_dense(function(a[0], b[0]), default_value=99).numpy()
        for i, j in np.ndindex(4, 5):
            expected = sorted(combine(set(a[0, i, j].tolist()), set(b[0, i, j].tolist())))
            assert [x for x in found[i, j].tolist() if x != 99] == expected


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (40, 7), (2, 3, 4), (0, 3), (3, 0)])
def test_tensors_give_what_sparse_tensors_give(dtype: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    info = np.iinfo(dtype)
    for low, high in ((0, 5), (0, 100), (int(info.min), int(info.max))):
        a = rng.integers(low, high, shape, dtype=dtype)
        b = rng.integers(low, high, (*shape[:-1], 6), dtype=dtype)
        places = [tf.where(tf.ones(x.shape, tf.bool)) for x in (a, b)]
        sparse = [tf.SparseTensor(at, x.reshape(-1), x.shape) for at, x in zip(places, (a, b))]
        for function in (tf.sets.intersection, tf.sets.union, tf.sets.difference):
            found, expected = function(a, b), function(*sparse)
            for name in ("indices", "values", "dense_shape"):
                one, other = getattr(found, name), getattr(expected, name)
                assert one.dtype == other.dtype
                np.testing.assert_array_equal(one, other)
