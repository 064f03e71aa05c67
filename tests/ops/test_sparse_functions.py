"""Crosses, counts, masks and sampled products of sparse tensors; embeddings of sparse ids."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import InvalidArgumentError

TABLE = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


def letters() -> Any:
    return tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2])


def counted() -> Any:
    return tf.SparseTensor([[0, 0], [0, 1], [0, 2], [1, 1]], [1, 1, 3, 2], [2, 3])


def ids(rows: int = 4) -> Any:
    values = tf.constant([0, 2, 1], tf.int64)
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], values, [rows, 2])


def weights(*values: float) -> Any:
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], list(values), [4, 2])


def shown(x: Any) -> Any:
    if isinstance(x, tf.SparseTensor):
        return [part.numpy().tolist() for part in (x.indices, x.values, x.dense_shape)]
    if isinstance(x, tf.IndexedSlices):
        return [x.indices.numpy().tolist(), x.values.numpy().tolist()]
    if isinstance(x, tuple):
        return [shown(part) for part in x]
    return np.asarray(x).tolist()


SIX = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [1, 3]]
OTHERS = [["d", "e"], ["f", "g"]]
CASES = [
    (letters, lambda x: tf.sparse.cross([x, OTHERS]),
     [SIX, [b"a_X_d", b"a_X_e", b"b_X_f", b"b_X_g", b"c_X_f", b"c_X_g"], [2, 4]]),
    (letters, lambda x: tf.sparse.cross([x, [[1], [2]]], separator="-"),
     [[[0, 0], [1, 0], [1, 1]], [b"a-1", b"b-2", b"c-2"], [2, 2]]),
    # The hashes are those of TensorFlow 2.21.
    (letters, lambda x: tf.sparse.cross_hashed([x, OTHERS]),
     [SIX, [1584069791037555375, 3927666362714511010, 300175262452528982, 2447932153081038706,
            4546572711251652368, 857586637149637889], [2, 4]]),
    (letters, lambda x: tf.sparse.cross_hashed([x, [[1, 2], [3, 4]]], 1000, hash_key=99),
     [SIX, [163, 690, 750, 591, 681, 882], [2, 4]]),
    (counted, lambda x: tf.sparse.bincount(x, axis=-1),
     [[[0, 1], [0, 3], [1, 2]], [2, 1, 1], [2, 4]]),
    (counted, tf.sparse.bincount, [[[1], [2], [3]], [2, 1, 1], [4]]),
    (counted, lambda x: tf.sparse.bincount(x, axis=-1, minlength=6, binary_output=True),
     [[[0, 1], [0, 3], [1, 2]], [1, 1, 1], [2, 6]]),
    (counted, lambda x: tf.sparse.bincount(x, axis=-1, maxlength=2),
     [[[0, 1]], [2], [2, 2]]),
    (counted, lambda x: tf.sparse.bincount(x, axis=-1, weights=tf.cast(x, tf.float32) / 2),
     [[[0, 1], [0, 3], [1, 2]], [1.0, 1.5, 1.0], [2, 4]]),
    (lambda: tf.constant([[1, 1, 3], [0, 2, 2]]), lambda x: tf.sparse.bincount(x, axis=-1),
     [[[0, 1], [0, 3], [1, 0], [1, 2]], [2, 1, 1, 2], [2, 4]]),
    (lambda: tf.constant([1, 1, 3], tf.int64), tf.sparse.bincount, [[[1], [3]], [2, 1], [4]]),
    (lambda: tf.ragged.constant([[1, 2], [], [5]]), lambda x: tf.sparse.bincount(x, axis=-1),
     [[[0, 1], [0, 2], [2, 5]], [1, 1, 1], [3, 6]]),
    (lambda: tf.constant(MATRIX),
     lambda x: tf.sparse.sampled_addmm([[0, 1], [1, 0]], [1.0, 2.0], [2, 2], x, x, 2.0, 3.0),
     [[[0, 1], [1, 0]], [32.0, 49.0], [2, 2]]),
    (lambda: tf.ones([2, 2, 3]),
     lambda x: tf.sparse.sampled_addmm([[[0, 1]], [[1, 0]]], [[1.0], [2.0]], [2, 2], x,
                                       tf.linalg.matrix_transpose(x))[1],
     [[4.0], [5.0]]),
    (ids, lambda x: tf.nn.embedding_lookup_sparse(TABLE, x, None),
     [[3.0, 4.0], [0.0, 0.0], [3.0, 4.0]]),
    (ids, lambda x: tf.nn.embedding_lookup_sparse(TABLE, x, None, "sum"),
     [[6.0, 8.0], [0.0, 0.0], [3.0, 4.0]]),
    (ids, lambda x: tf.nn.embedding_lookup_sparse(TABLE, x, weights(0.5, -0.5, 3.0)),
     [[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]]),
    (ids, lambda x: tf.nn.embedding_lookup_sparse(TABLE, x, weights(3.0, 4.0, 2.0), "sqrtn"),
     [[4.6, 6.0], [0.0, 0.0], [3.0, 4.0]]),
    (lambda: tf.ragged.constant([[0, 2], [], [1]]),
     lambda x: tf.nn.embedding_lookup_sparse(TABLE, x, tf.ragged.constant([[1.0, 3.0], [], [1.0]])),
     [[4.0, 5.0], [0.0, 0.0], [3.0, 4.0]]),
    (ids, lambda x: tf.nn.safe_embedding_lookup_sparse(TABLE, x),
     [[3.0, 4.0], [0.0, 0.0], [3.0, 4.0], [0.0, 0.0]]),
    (ids, lambda x: tf.nn.safe_embedding_lookup_sparse(TABLE, x, default_id=2),
     [[3.0, 4.0], [5.0, 6.0], [3.0, 4.0], [5.0, 6.0]]),
    (ids, lambda x: tf.nn.safe_embedding_lookup_sparse(TABLE, x, weights(1.0, 0.0, -1.0)),
     [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]),
    (lambda: tf.SparseTensor([[0, 0, 0], [0, 1, 0]], tf.constant([0, -2], tf.int64), [2, 2, 1]),
     lambda x: tf.nn.safe_embedding_lookup_sparse(TABLE, x),
     [[[1.0, 2.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CASES)))
def test_functions(number: int) -> None:
    make, fn, expected = CASES[number]
    flat = shown(fn(make()))
    np.testing.assert_equal(_rounded(flat), _rounded(expected))
    np.testing.assert_equal(shown(tf.function(fn)(make())), flat)
    spec = tf.type_spec_from_value(make())
    if isinstance(spec, tf.TensorSpec):
        wide: Any = tf.TensorSpec([None] * spec.rank, spec.dtype)
    elif isinstance(spec, tf.SparseTensorSpec):
        wide = tf.SparseTensorSpec([None] * spec.shape.rank, spec.dtype)
    else:
        wide = tf.RaggedTensorSpec([None, None], spec.dtype)
    np.testing.assert_equal(shown(tf.function(fn, input_signature=[wide])(make())), flat)


def _rounded(x: Any) -> Any:
    if isinstance(x, list):
        return [_rounded(item) for item in x]
    return round(x, 5) if isinstance(x, float) else x


def test_masked_slices() -> None:
    slices = tf.IndexedSlices(tf.constant([[1, 2], [3, 4], [5, 6]]), tf.constant([1, 4, 7]))
    assert shown(tf.sparse.mask(slices, [4, 9])) == [[1, 7], [[1, 2], [5, 6]]]
    assert shown(tf.function(lambda: tf.sparse.mask(slices, [4, 9]))())[0] == [1, 7]


GRADIENTS = [
    lambda x: tf.nn.embedding_lookup_sparse(x, ids(), None) ** 2,
    lambda x: tf.nn.embedding_lookup_sparse(x, ids(), weights(0.5, 2.0, 3.0), "sqrtn") ** 2,
    lambda x: tf.nn.safe_embedding_lookup_sparse(x, ids(), default_id=1) ** 2,
    lambda x: (
        tf.sparse.sampled_addmm(
            [[0, 2], [1, 1]], [1.0, 2.0], [3, 3], x, tf.transpose(x), output_type=tf.float64
        )[1]
        ** 2
    ),
    lambda x: (
        tf.sparse.softmax(
            tf.SparseTensor([[0, 0], [0, 2], [1, 1]], x[:, 0] * x[:, 1], [2, 3])
        ).values
        ** 2
    ),
]


@pytest.mark.parametrize("number", range(len(GRADIENTS)))
def test_gradients(number: int) -> None:
    fn = GRADIENTS[number]
    x = TABLE.astype(np.float64) / 3

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(fn(x))
        return tf.convert_to_tensor(tape.gradient(y, x))

    step = 1e-5
    expected = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        moved = np.zeros_like(x)
        moved[place] = step
        ends = [float(tf.reduce_sum(fn(tf.constant(x + sign * moved)))) for sign in (1, -1)]
        expected[place] = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(gradient(tf.constant(x)), expected, rtol=1e-6, atol=1e-9)
    spec = [tf.TensorSpec([None, 2], tf.float64)]
    traced = tf.function(gradient, input_signature=spec)
    np.testing.assert_allclose(traced(x), expected, rtol=1e-6, atol=1e-9)


WRONG = [
    (lambda: tf.sparse.cross([letters(), [["d"]]]), InvalidArgumentError, "equally many rows"),
    (lambda: tf.sparse.cross([[1.5]]), TypeError, r"sparse\.cross: inputs\[0\] must hold strings"),
    (lambda: tf.sparse.cross([["a"]]), ValueError, "must be a matrix"),
    (lambda: tf.sparse.bincount([1, -1]), InvalidArgumentError, "must not be negative"),
    (lambda: tf.sparse.bincount([1.5]), TypeError, "int32 or int64"),
    (lambda: tf.sparse.bincount([1], axis=1), ValueError, "axis must be"),
    (lambda: tf.sparse.bincount([1], [1.0], binary_output=True), ValueError, "exclude"),
    (lambda: tf.sparse.bincount([1, 2], [1.0]), InvalidArgumentError, "weights = 1 values = 2"),
    (lambda: tf.sparse.mask(TABLE, [1]), TypeError, "IndexedSlices"),
    (lambda: tf.sparse.sampled_addmm([[0, 1]], [1.0], [2, 2], MATRIX, MATRIX[0]), ValueError,
     "mat2 has shape"),
    (lambda: tf.nn.embedding_lookup_sparse(TABLE, ids(), None, "max"), ValueError, "combiner"),
    (lambda: tf.nn.embedding_lookup_sparse(TABLE, [[1]], None), TypeError, "SparseTensor"),
    (lambda: tf.nn.embedding_lookup_sparse(TABLE, weights(1.0, 1.0, 1.0), None), TypeError,
     "sp_ids must hold integers"),
    (lambda: tf.nn.embedding_lookup_sparse(TABLE, ids(), letters_of_one()), InvalidArgumentError,
     "each id must have a weight"),
]  # fmt: skip


def letters_of_one() -> Any:
    return tf.SparseTensor([[0, 0]], [1.0], [4, 2])


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_errors(number: int) -> None:
    fn, error, text = WRONG[number]
    with pytest.raises(error, match=text):
        fn()


def test_tensors_without_any_place() -> None:
    empty = tf.SparseTensor(np.zeros([0, 2], np.int64), np.zeros([0], np.float32), [0, 3])
    assert shown(tf.sparse.reorder(empty)) == shown(empty)
    assert tf.sparse.transpose(empty).shape == (3, 0)
    assert tf.sparse.reshape(empty, [-1]).shape == (0,)
    assert tf.sparse.fill_empty_rows(empty, 1.0)[0].shape == (0, 3)
    assert tf.sparse.bincount([[0, 5]], maxlength=0).values.shape == (0,)


def test_eye_of_sizes_of_any_integer_dtype() -> None:
    rows, columns = tf.constant(3, tf.int32), tf.constant(2, tf.uint8)
    assert shown(tf.sparse.eye(rows, columns)) == shown(tf.sparse.eye(3, 2))
    with pytest.raises(TypeError, match=r"sparse\.eye: num_columns must be an integer, got 2\.5"):
        tf.sparse.eye(3, 2.5)


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(
        ValueError, match=r"the shape of the tensor and size .* got \(2,\) and \(1,\)"
    ):
        tf.sparse.slice(letters(), [0, 0], [3])
    with pytest.raises(ValueError, match="sparse.segment_mean: segment_ids must have rank 1"):
        tf.sparse.segment_mean([1.0, 2.0], [0], 1, num_segments=5)


@pytest.mark.parametrize("segments", [None, 2])
def test_means_of_segments_are_of_floating_numbers(segments: Any) -> None:
    for function in (tf.sparse.segment_mean, tf.sparse.segment_sqrt_n):
        text = rf"sparse\.{function.__name__}: data has dtype int32, expected one of bfloat16"
        with pytest.raises(tf.errors.DTypeError, match=text):
            function([[1, 2], [3, 4]], [0, 1], [0, 0], num_segments=segments)
    total = tf.sparse.segment_sum([[1, 2], [3, 4]], [0, 1], [0, 0], num_segments=segments)
    assert total.dtype is tf.int32


def test_sizes_of_an_identity_matrix() -> None:
    with pytest.raises(ValueError, match=r"sparse\.eye: num_columns must not be negative, got -1"):
        tf.sparse.eye(2, -1)
    with pytest.raises(TypeError, match=r"sparse\.eye: num_rows must be an integer, got \[2\]"):
        tf.sparse.eye([2])


def test_empty_rows_are_filled_in_the_order_of_rows() -> None:
    sp = tf.SparseTensor([[3, 0], [0, 1], [3, 2], [0, 0]], [1.0, 2.0, 3.0, 4.0], [5, 3])
    filled, empty = tf.sparse.fill_empty_rows(sp, 9.0)
    assert filled.indices.numpy().tolist() == [
        [0, 1], [0, 0], [1, 0], [2, 0], [3, 0], [3, 2], [4, 0],
    ]  # fmt: skip
    assert filled.values.numpy().tolist() == [2.0, 4.0, 9.0, 9.0, 1.0, 3.0, 9.0]
    assert empty.numpy().tolist() == [False, True, True, False, True]
    none = tf.SparseTensor(np.zeros([0, 2], np.int64), np.zeros([0], np.float32), [2, 0])
    assert tf.sparse.fill_empty_rows(none, 9.0)[0].indices.numpy().tolist() == [[0, 0], [1, 0]]


def test_elements_that_are_counted() -> None:
    sp = tf.SparseTensor([[0, 1], [1, 0]], [1, 2], [2, 3])
    weights = sp.with_values([0.5, 2.0])
    np.testing.assert_array_equal(tf.math.bincount(sp), [0, 1, 1])
    np.testing.assert_array_equal(tf.math.bincount(sp, axis=-1), [[0, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(tf.math.bincount(sp, weights, axis=-1), [[0, 0.5, 0], [0, 0, 2]])
    binary = tf.math.bincount(sp, axis=-1, minlength=4, binary_output=True, dtype=tf.float32)
    np.testing.assert_array_equal(binary, [[0, 1, 0, 0], [0, 0, 1, 0]])
    line = tf.SparseTensor([[0], [1]], [1, 2], [5])
    np.testing.assert_array_equal(tf.math.bincount(line, axis=-1), [0, 1, 1])
    traced = tf.function(lambda x: tf.math.bincount(x, axis=-1))
    spec = tf.SparseTensorSpec([None, None], tf.int32)
    np.testing.assert_array_equal(traced.get_concrete_function(spec)(sp), [[0, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda sp, _: tf.sparse.reshape(sp, [0, -1]), "-1 cannot be worked out beside"),
        (lambda sp, _: tf.sparse.slice(sp, [0, 0], [-1, 1]), "size must not be negative"),
        (lambda sp, other: tf.sparse.bincount(sp, other, axis=-1), "the same indices"),
        (lambda sp, other: tf.math.bincount(sp, other, axis=-1), "the same indices"),
        (lambda sp, other: tf.sparse.map_values(tf.add, sp, other), "the same indices"),
        (lambda sp, _: tf.sparse.bincount(sp, _wide(), axis=-1), "the same dense_shape"),
        (lambda sp, _: tf.sparse.map_values(tf.add, sp, _wide()), "the same dense_shape"),
    ],
)
def test_what_does_not_fit(call: Any, match: str) -> None:
    sp = tf.SparseTensor([[0, 1], [1, 0]], [1, 2], [2, 3])
    other = tf.SparseTensor([[0, 1], [1, 1]], [1, 2], [2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        call(sp, other)


def _wide() -> Any:
    return tf.SparseTensor([[0, 1], [1, 0]], [1, 2], [2, 4])


def test_weights_of_another_kind() -> None:
    sp = tf.SparseTensor([[0, 1], [1, 0]], [1, 2], [2, 3])
    with pytest.raises(ValueError, match="both a tf.SparseTensor or none"):
        tf.sparse.bincount(sp, [[1.0, 2.0]], axis=-1)
    ragged = tf.ragged.constant([[1, 2], [2]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="rows of equal lengths"):
        tf.sparse.bincount(ragged, tf.ragged.constant([[1.0], [2.0, 1.0]]), axis=-1)


def test_map_values_finds_sparse_tensors_in_nests() -> None:
    sp = tf.SparseTensor([[0, 1], [1, 0]], [1, 2], [2, 3])
    made = tf.sparse.map_values(lambda a, b: a * b["x"], sp, {"x": sp})
    assert made.values.numpy().tolist() == [1, 4]
