"""Sparse tensors: against the same computation on the whole tensors, eagerly and in graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import InvalidArgumentError

DENSE = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [2, 0, 0, -3]], np.float32)
OTHER = np.array([[0, 4, 0, 5], [0, 0, 0, 0], [6, 0, 0, 0]], np.float32)
MATRIX = np.arange(1, 13, dtype=np.float32).reshape(3, 4)


def sp(x: Any = DENSE) -> Any:
    return tf.sparse.from_dense(x)


def whole(x: Any) -> Any:
    return tf.sparse.to_dense(x).numpy() if isinstance(x, tf.SparseTensor) else x.numpy()


S = tf.sparse
CASES = [
    (lambda a: a, DENSE),
    (lambda a: S.to_dense(a, -1.0), np.where(DENSE == 0, -1, DENSE)),
    (lambda a: S.reshape(a, [4, 3]), DENSE.reshape(4, 3)),
    (lambda a: S.reshape(a, [2, -1, 3]), DENSE.reshape(2, 2, 3)),
    (lambda a: S.transpose(a), DENSE.T),
    (
        lambda a: S.transpose(S.reshape(a, [2, 2, 3]), [1, 2, 0]),
        DENSE.reshape(2, 2, 3).transpose(1, 2, 0),
    ),
    (lambda a: S.expand_dims(a, 1), DENSE[:, None]),
    (lambda a: S.expand_dims(a), DENSE[..., None]),
    (lambda a: S.slice(a, [1, 0], [2, 9]), DENSE[1:, :]),
    (lambda a: S.slice(a, [0, 1], [1, 2]), DENSE[:1, 1:3]),
    (lambda a: S.concat(0, [a, a]), np.concatenate([DENSE, DENSE], 0)),
    (lambda a: S.concat(-1, [a, a]), np.concatenate([DENSE, DENSE], 1)),
    (lambda a: S.split(a, 3, axis=1)[0], DENSE[:, :2]),
    (lambda a: S.split(a, 3, axis=1)[2], DENSE[:, 3:]),
    (lambda a: S.retain(a, a.values > 0), np.maximum(DENSE, 0)),
    (lambda a: S.reset_shape(a, [4, 5]), np.pad(DENSE, [[0, 1], [0, 1]])),
    (lambda a: S.reset_shape(S.slice(a, [0, 0], [2, 4])), DENSE[:1, :2]),
    (lambda a: S.add(a, S.from_dense(OTHER)), DENSE + OTHER),
    (lambda a: S.add(a, MATRIX), DENSE + MATRIX),
    (lambda a: S.add(MATRIX, a), DENSE + MATRIX),
    (lambda a: S.maximum(a, S.from_dense(OTHER)), np.maximum(DENSE, OTHER)),
    (lambda a: S.minimum(a, S.from_dense(OTHER)), np.minimum(DENSE, OTHER)),
    (lambda a: S.reduce_sum(a), DENSE.sum()),
    (lambda a: S.reduce_sum(a, 1), DENSE.sum(1)),
    (lambda a: S.reduce_sum(a, -2, keepdims=True), DENSE.sum(0, keepdims=True)),
    (lambda a: S.reduce_sum(a, [0, 1]), DENSE.sum()),
    (lambda a: S.reduce_sum(a, 0, output_is_sparse=True), DENSE.sum(0)),
    (lambda a: S.reduce_max(a, 0), [2, 1, 0, -3]),
    (lambda a: S.reduce_max(a, 1, keepdims=True), [[1], [0], [2]]),
    (lambda a: S.sparse_dense_matmul(a, MATRIX.T), DENSE @ MATRIX.T),
    (lambda a: S.sparse_dense_matmul(a, MATRIX, adjoint_b=True), DENSE @ MATRIX.T),
    (lambda a: S.sparse_dense_matmul(a, MATRIX, adjoint_a=True), DENSE.T @ MATRIX),
    (lambda a: S.sparse_dense_matmul(MATRIX.T, a), MATRIX.T @ DENSE),
    (lambda a: S.sparse_dense_matmul(MATRIX, a, adjoint_a=True), MATRIX.T @ DENSE),
    (lambda a: S.map_values(tf.square, a), DENSE**2),
    (lambda a: S.fill_empty_rows(a, 9.0)[0], DENSE + 9 * np.outer([0, 1, 0], [1, 0, 0, 0])),
    (lambda a: S.fill_empty_rows(a, 9.0)[1], [False, True, False]),
    (lambda a: a * MATRIX, DENSE * MATRIX),
    (lambda a: MATRIX[:1] * a, DENSE * MATRIX[:1]),
    (lambda a: a * MATRIX[:, :1], DENSE * MATRIX[:, :1]),
    (lambda a: a / 2.0, DENSE / 2),
    (lambda a: a / MATRIX, DENSE / MATRIX),
    (lambda a: -tf.abs(a), -np.abs(DENSE)),
    (lambda a: tf.cast(a, tf.int32), DENSE.astype(np.int32)),
    (lambda a: tf.sin(a), np.sin(DENSE)),
    (lambda a: tf.zeros_like(a), np.zeros_like(DENSE)),
    (lambda a: tf.shape(a), [3, 4]),
    (lambda a: tf.size(a), 12),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_like_the_whole_tensor(number: int) -> None:
    fn, expected = CASES[number]
    np.testing.assert_allclose(whole(fn(sp())), expected, rtol=1e-6)
    for shape in ([3, 4], [None, None]):
        traced = tf.function(fn, input_signature=[tf.SparseTensorSpec(shape)])
        np.testing.assert_allclose(whole(traced(sp())), expected, rtol=1e-6)


def test_parts_and_specs() -> None:
    x = tf.SparseTensor([[0, 1], [2, 3]], [5, 6], [3, 4])
    assert (x.dtype, x.shape.as_list()) == (tf.int32, [3, 4])
    assert x.indices.dtype is tf.int64
    spec = tf.type_spec_from_value(x)
    assert repr(spec) == "SparseTensorSpec(TensorShape([3, 4]), tf.int32)"
    wider = tf.SparseTensorSpec([None, 4], tf.int32)
    assert spec.is_subtype_of(wider)
    assert not wider.is_subtype_of(spec)
    assert wider.is_compatible_with(x)
    assert spec.most_specific_compatible_type(tf.SparseTensorSpec([5, 4], tf.int32)) == wider


def test_strings_bools_and_empty() -> None:
    words = tf.sparse.from_dense([["", "a"], ["b", ""]])
    assert words.values.numpy().tolist() == [b"a", b"b"]
    assert tf.sparse.to_dense(words).numpy().tolist() == [[b"", b"a"], [b"b", b""]]
    assert tf.sparse.from_dense([True, False, True]).indices.numpy().tolist() == [[0], [2]]
    empty = tf.sparse.from_dense(np.zeros((2, 3), np.float32))
    assert empty.indices.shape == (0, 2)
    for x in (empty, tf.sparse.reorder(empty), tf.sparse.add(empty, empty), empty * 2.0):
        np.testing.assert_array_equal(whole(x), np.zeros((2, 3)))
    np.testing.assert_array_equal(tf.sparse.reduce_sum(empty, 1), [0, 0])
    assert tf.sparse.reset_shape(empty).dense_shape.numpy().tolist() == [0, 0]
    np.testing.assert_array_equal(whole(tf.sparse.eye(2, 3)), np.eye(2, 3))


def test_order_and_thresholds() -> None:
    x = tf.SparseTensor([[2, 0], [0, 1]], [1.0, 2.0], [3, 4])
    with pytest.raises(InvalidArgumentError, match=r"\[0, 1\] is out of order.*tf.sparse.reorder"):
        tf.sparse.to_dense(x)
    assert tf.sparse.to_dense(x, validate_indices=False).numpy()[2, 0] == 1
    assert tf.sparse.reorder(x).values.numpy().tolist() == [2.0, 1.0]
    cancelled = tf.sparse.add(x, tf.sparse.map_values(tf.negative, x))
    assert cancelled.values.numpy().tolist() == [0.0, 0.0]
    assert tf.sparse.add(x, x, threshold=3.0).values.numpy().tolist() == [4.0]
    soft = tf.sparse.softmax(tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1.0, 1.0, 3.0], [2, 3]))
    np.testing.assert_allclose(soft.values, [0.5, 0.5, 1.0])
    rows = tf.sparse.segment_mean(MATRIX, [0, 2, 1], [0, 0, 2], num_segments=3)
    np.testing.assert_allclose(rows, [[5, 6, 7, 8], [0, 0, 0, 0], [5, 6, 7, 8]])
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 2])
    assert tf.sparse.to_indicator(ids, 3).numpy().tolist() == [
        [True, False, True],
        [False, True, False],
    ]


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda: tf.SparseTensor([[0, 1]], [1.0, 2.0], [3, 4]), ValueError, "each value"),
        (lambda: tf.SparseTensor([0, 1], [1.0, 2.0], [3, 4]), ValueError, "rank 2"),
        (lambda: tf.SparseTensor([[0, 1]], [1.0], [3]), ValueError, "columns"),
        (
            lambda: S.to_dense(tf.SparseTensor([[0, 9]], [1], [3, 4])),
            InvalidArgumentError,
            "outside",
        ),
        (lambda: S.to_dense(MATRIX), TypeError, "sp_input must be a tf.SparseTensor"),
        (lambda: S.add(MATRIX, MATRIX), TypeError, "tf.add"),
        (lambda: S.reshape(sp(), [5]), InvalidArgumentError, "as many elements"),
        (lambda: S.reset_shape(sp(), [2, 4]), InvalidArgumentError, "smaller"),
        (lambda: S.concat(0, [sp(), S.transpose(sp())]), InvalidArgumentError, "other axes"),
        (lambda: S.sparse_dense_matmul(sp(), MATRIX), InvalidArgumentError, "inner sizes"),
        (lambda: sp() + sp(), TypeError, r"tf\.sparse\.add"),
        (lambda: sp() * np.ones((2, 4), np.float32), InvalidArgumentError, "broadcast"),
        (lambda: tf.exp(sp()), TypeError, r"exp .op Exp. does not take a SparseTensor.*to_dense"),
        (lambda: tf.transpose(sp()), TypeError, "does not take a SparseTensor"),
        (lambda: 2.0 / sp(), TypeError, "second operand"),
        (lambda: tf.Variable(sp()), TypeError, "does not take a SparseTensor"),
    ],
)
def test_wrong_use(wrong: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()


# --- functions, control flow, tapes ------------------------------------------------------------


def test_one_trace_for_other_numbers_of_elements() -> None:
    f = tf.function(lambda x: x * 2.0)
    f(sp())
    f(sp(OTHER))
    assert f.experimental_get_tracing_count() == 1


@tf.function
def staged(x: Any, n: Any) -> Any:
    for _ in tf.range(n):
        x = x * 2.0
    return tf.cond(n > 1, lambda: x, lambda: tf.sparse.map_values(tf.negative, x))


def test_control_flow() -> None:
    np.testing.assert_array_equal(whole(staged(sp(), tf.constant(3))), 8 * DENSE)
    np.testing.assert_array_equal(whole(staged(sp(), tf.constant(0))), -DENSE)


@pytest.mark.parametrize("traced", [False, True])
def test_gradients(traced: bool) -> None:
    weights = tf.constant(MATRIX)

    def loss(x: Any, w: Any) -> Any:
        product = tf.sparse.sparse_dense_matmul(x, tf.transpose(w))
        return tf.reduce_sum(product**2) + tf.reduce_sum(tf.sparse.to_dense(x) ** 3)

    def gradients(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x.values, w])
            out = loss(x, w)
        return tape.gradient(out, [x, w])

    call = tf.function(gradients) if traced else gradients
    of_x, of_w = call(sp(), weights)
    out = DENSE @ MATRIX.T
    expected = 2 * out @ MATRIX + 3 * DENSE**2
    np.testing.assert_allclose(whole(of_x), np.where(DENSE == 0, 0, expected), rtol=1e-5)
    np.testing.assert_allclose(of_w, 2 * out.T @ DENSE, rtol=1e-5)


def test_gradient_of_the_default() -> None:
    default = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(default)
        out = tf.sparse.to_dense(sp(), default) * MATRIX
    assert tape.gradient(out, default).numpy() == MATRIX[DENSE == 0].sum()


def test_in_datasets_and_ragged() -> None:
    (element,) = tf.data.Dataset.from_tensors(sp()).map(lambda x: x * 2.0)
    np.testing.assert_array_equal(whole(element), 2 * DENSE)
    rows = tf.ragged.constant([[1, 2], [], [3]])
    assert whole(rows.to_sparse()).tolist() == [[1, 2], [0, 0], [3, 0]]
    assert tf.RaggedTensor.from_sparse(rows.to_sparse()).to_list() == rows.to_list()
    deep = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    np.testing.assert_array_equal(whole(deep.to_sparse()), deep.to_tensor())
    with pytest.raises(InvalidArgumentError, match="beginning of their rows"):
        tf.RaggedTensor.from_sparse(sp())


def test_edit_distance_of_sparse_tensors() -> None:
    a = tf.SparseTensor([[0, 0], [0, 1]], ["k", "i"], [1, 2])
    b = tf.SparseTensor([[0, 0], [0, 1]], ["s", "i"], [1, 2])
    assert tf.function(tf.edit_distance)(a, b).numpy().tolist() == [0.5]


def test_gradient_of_the_dense_factor_is_a_tensor() -> None:
    w = tf.Variable(MATRIX.T)
    with tf.GradientTape() as tape:
        out = tf.sparse.sparse_dense_matmul(sp(), w)
    slope = tape.gradient(out, w)
    assert isinstance(slope, tf.Tensor)
    np.testing.assert_allclose(slope, DENSE.T @ np.ones(out.shape))


# --- static shapes, and rows ------------------------------------------------------------------


def test_set_shape() -> None:
    x = sp()
    x.set_shape([None, x.shape[1]])
    with pytest.raises(
        ValueError, match=r"The shape of this sparse tensor is .*, not \(77, None\)"
    ):
        x.set_shape([77, None])

    @tf.function(input_signature=[tf.SparseTensorSpec([None, None])])
    def f(x: Any) -> Any:
        assert x.shape.as_list() == [None, None]
        x.set_shape([None, 4])
        assert x.shape.as_list() == [None, 4]
        assert tf.sparse.to_dense(x).shape.as_list() == [None, 4]
        return tf.sparse.to_dense(x)

    eye = np.eye(3, 4, dtype=np.float32)
    np.testing.assert_array_equal(f(tf.sparse.from_dense(eye)), eye)


def test_static_shapes_in_functions_and_datasets() -> None:
    shapes = []

    def dense(x: Any) -> Any:
        shapes.append(x.shape.as_list())
        return tf.sparse.to_dense(x)

    eye = np.eye(6, 4, dtype=np.float32)
    x = tf.sparse.from_dense(eye)
    np.testing.assert_array_equal(tf.function(dense)(x), eye)
    batches = tf.data.Dataset.from_tensor_slices(x).batch(4).map(dense)
    np.testing.assert_array_equal(np.concatenate(list(batches)), eye)
    assert shapes == [[6, 4], [None, 4]]


def test_a_loop_may_change_the_shape() -> None:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        for _ in tf.range(n):
            x = tf.sparse.concat(0, [x, x])
        return tf.sparse.to_dense(x)

    eye = np.eye(2, 3, dtype=np.float32)
    np.testing.assert_array_equal(
        f(tf.sparse.from_dense(eye), tf.constant(2)), np.tile(eye, (4, 1))
    )


@pytest.mark.parametrize("traced", [False, True])
def test_map_fn(traced: bool) -> None:
    rows = np.array([[0, 5, 0, 7], [0, 0, 0, 0], [1, 0, 0, 2]], np.float32)

    def sums(x: Any) -> Any:
        return tf.map_fn(tf.sparse.reduce_sum, x, fn_output_signature=tf.float32)

    def doubled(x: Any) -> Any:
        return tf.map_fn(lambda row: row * 2.0, x)

    def made(x: Any) -> Any:
        spec = tf.SparseTensorSpec([None], tf.float32)
        return tf.map_fn(tf.sparse.from_dense, x, fn_output_signature=spec)

    run = tf.function if traced else lambda fn: fn
    for array in (rows, rows[:1], rows[1:2]):
        x = tf.sparse.from_dense(array)
        np.testing.assert_array_equal(run(sums)(x), array.sum(1))
        np.testing.assert_array_equal(tf.sparse.to_dense(run(doubled)(x)), 2 * array)
        np.testing.assert_array_equal(tf.sparse.to_dense(run(made)(array)), array)
    backwards = tf.SparseTensor([[2, 0], [0, 1]], [1.0, 5.0], [3, 4])  # in no order
    np.testing.assert_array_equal(run(sums)(backwards), [5, 0, 1])
    deep = tf.sparse.from_dense(np.arange(24.0).reshape(2, 3, 4))
    out = run(lambda x: tf.map_fn(tf.sparse.to_dense, x, fn_output_signature=tf.float64))(deep)
    np.testing.assert_array_equal(out, np.arange(24.0).reshape(2, 3, 4))
    with pytest.raises(TypeError, match="scan does not take a SparseTensor"):
        tf.scan(lambda a, b: a, deep)
