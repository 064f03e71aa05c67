"""bincount, histograms, confusion_matrix, in_top_k, approx_max_k, edit_distance, sobol_sample."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, check_case, f32, i32, i64

small = i32(7, low=0, high=5)


def rows_counted(x, bins):
    return np.stack([np.bincount(row, minlength=bins)[:bins] for row in x])


CASES = [
    Case(tf.math.bincount, [small], {}, np.bincount),
    Case(tf.math.bincount, [i64(2, 3, low=0)], {}, lambda x: np.bincount(x.ravel())),
    Case(tf.math.bincount, [small], {"minlength": 9}, lambda x: np.bincount(x, minlength=9)),
    Case(tf.math.bincount, [small], {"maxlength": 2}, lambda x: np.bincount(x)[:2]),
    Case(
        tf.math.bincount,
        [i32(3, 7, low=0, high=5)],
        {"axis": -1, "minlength": 6},
        lambda x: rows_counted(x, 6),
    ),
    Case(
        tf.math.bincount,
        [i32(3, 7, low=0, high=5)],
        {"axis": -1, "binary_output": True, "maxlength": 3, "minlength": 3},
        lambda x: rows_counted(x, 3) > 0,
        rtol=0,
        grad=False,
        label="binary",
    ),
    Case(tf.math.bincount, [small, f32(7)], {}, lambda x, w: np.bincount(x, w), grad=False),
    Case(tf.math.bincount, [np.zeros(0, np.int32)], {}, lambda x: x, grad=False),
    Case(tf.math.bincount, [np.int32(2)], {}, lambda x: np.array([0, 0, 1]), grad=False),
    Case(
        lambda x: tf.histogram_fixed_width(x, [-1.0, 1.0], nbins=4),
        [f32(3, 5)],
        {},
        lambda x: np.histogram(np.clip(x, -1, 1), 4, (-1, 1))[0],
        grad=False,
    ),
    Case(
        lambda x: tf.histogram_fixed_width_bins(x, [-1.0, 1.0], nbins=4, dtype=tf.int64),
        [f32(3, 5)],
        {},
        lambda x: np.clip(np.floor((x + 1) * 2), 0, 3),
        grad=False,
    ),
    Case(
        tf.math.confusion_matrix,
        [[1, 2, 2, 0], [2, 2, 2, 0]],
        {},
        lambda y, p: np.array([[1, 0, 0], [0, 0, 1], [0, 0, 2]]),
        grad=False,
        unknown_rank=False,
    ),
    Case(
        lambda y, p, w: tf.math.confusion_matrix(y, p, 3, w, tf.float32),
        [[1, 2], [2, 1], np.array([0.5, 2.0], np.float32)],
        {},
        lambda y, p, w: np.array([[0, 0, 0], [0, 0, 0.5], [0, 2, 0]]),
        grad=False,
        unknown_rank=False,
    ),
    Case(
        lambda x: tf.math.in_top_k([0, 1, 9, 2], x, 2),
        [f32(4, 3)],
        {},
        lambda x: np.array(
            [t < 3 and (row > row[t]).sum() < 2 for t, row in zip((0, 1, 9, 2), x, strict=True)]
        ),
        grad=False,
    ),
    Case(
        tf.math.approx_max_k,
        [f32(3, 5)],
        {"k": 2},
        lambda x: [-np.sort(-x, 1)[:, :2], np.argsort(-x, 1)[:, :2]],
    ),
    Case(
        tf.math.approx_min_k,
        [f32(3, 5, 2)],
        {"k": 2, "reduction_dimension": 1},
        lambda x: [np.sort(x, 1)[:, :2], np.argsort(x, 1)[:, :2]],
        unknown_rank=False,
    ),
    Case(tf.math.is_non_decreasing, [[[1, 1], [1, 3]]], {}, lambda x: True),
    Case(tf.math.is_strictly_increasing, [[[1, 1], [1, 3]]], {}, lambda x: False),
    Case(tf.math.is_strictly_increasing, [np.float32(1)], {}, lambda x: True, grad=False),
    Case(tf.math.accumulate_n, [f32(2, 3, 4)], {}, lambda x: x.sum(0), unknown_shapes=False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_case(case: Case) -> None:
    check_case(case)


def test_bincount_dtypes() -> None:
    assert tf.math.bincount([1], dtype=tf.float64).dtype is tf.float64
    assert tf.math.bincount([1], weights=[2.0]).dtype is tf.float32


def test_rows_that_are_not_finite_are_not_in_the_top() -> None:
    rows = [[np.nan, 1.0], [np.inf, 1.0], [1.0, 2.0]]
    assert tf.math.in_top_k([1, 0, 1], rows, 1).numpy().tolist() == [False, False, True]


def test_errors() -> None:
    for call, text in [
        (lambda: tf.math.bincount([-1, 1]), "bincount: arr must not be negative, got -1"),
        (lambda: tf.math.bincount([1, 2], weights=[1.0]), "arr and weights must have equal shapes"),
        (lambda: tf.math.bincount([1], axis=1), "axis must be None, 0 or -1, got 1"),
        (lambda: tf.math.bincount([1], [1.0], binary_output=True), "exclude each other"),
        (lambda: tf.math.bincount([[[1]]], axis=-1), "rank 2 at most"),
        (lambda: tf.histogram_fixed_width([np.nan], [0.0, 1.0]), "must not contain NaN"),
        (lambda: tf.histogram_fixed_width([1.0], [1.0, 0.0]), "value_range must ascend"),
        (lambda: tf.histogram_fixed_width([1.0], [0.0, 1.0], 0), "nbins must be positive, got 0"),
        (lambda: tf.histogram_fixed_width_bins([1.0], [1.0, 0.0]), "value_range must ascend"),
        (lambda: tf.math.confusion_matrix([-1], [0]), "labels must not be negative"),
        (lambda: tf.math.confusion_matrix([1], [3], 3), "predictions must be less than num_class"),
        (lambda: tf.math.confusion_matrix([[1, 2]], [0]), "labels must have rank 1"),
        (lambda: tf.math.in_top_k([0, 1], [[1.0]], 1), "numbers of predictions and targets"),
        (lambda: tf.math.approx_max_k([1.0], 1, recall_target=2.0), r"must be in \(0, 1\]"),
        (lambda: tf.math.sobol_sample(0, 3), "sobol_sample: dim must be between 1 and"),
        (lambda: tf.math.accumulate_n([[1.0, 2.0]], shape=[3]), "inputs and shape must have equal"),
    ]:
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=text):
            call()
    for call, text in [
        (lambda: tf.math.confusion_matrix([1.0], [0]), "labels must be whole numbers"),
        (lambda: tf.math.approx_max_k([1], 1), "operand must be floating-point"),
        (lambda: tf.math.is_non_decreasing(["a"]), "x must be numeric"),
        (lambda: tf.math.accumulate_n([[1.0]], tensor_dtype=tf.int32), "tensor_dtype is int32"),
        (lambda: tf.edit_distance([[1]], [[1]]), "hypothesis must be a sparse tensor"),
    ]:
        with pytest.raises(TypeError, match=text):
            call()


def test_sobol_points() -> None:
    points = tf.math.sobol_sample(3, 4).numpy().tolist()
    assert points == [[0.5] * 3, [0.75, 0.25, 0.25], [0.25, 0.75, 0.75], [0.375, 0.375, 0.625]]
    later = tf.math.sobol_sample(2, 2, skip=5, dtype=tf.float64)
    assert later.numpy().tolist() == [[0.625, 0.125], [0.125, 0.625]]

    @tf.function
    def traced(n):
        return tf.math.sobol_sample(2, n)

    assert traced(tf.constant(3)).shape == (3, 2)


def sparse(indices, values, shape):
    return SimpleNamespace(indices=np.array(indices), values=values, dense_shape=shape)


def test_edit_distance() -> None:
    hypothesis = sparse([[0, 0, 0], [1, 0, 0]], ["a", "b"], [2, 1, 1])
    truth = sparse([[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]], ["a", "b", "c", "a"], [2, 2, 2])
    assert tf.edit_distance(hypothesis, truth).numpy().tolist() == [[np.inf, 1.0], [0.5, 1.0]]
    plain = tf.edit_distance(hypothesis, truth, normalize=False)
    assert plain.numpy().tolist() == [[1.0, 1.0], [1.0, 1.0]]
    kitten = sparse([[0, i] for i in range(6)], list("kitten"), [1, 6])
    sitting = sparse([[0, i] for i in range(7)], list("sitting"), [1, 7])
    assert tf.edit_distance(kitten, sitting, normalize=False).numpy() == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="lies outside of shape"):
        tf.edit_distance(sparse([[0, 5]], [1], [1, 2]), sparse([[0, 0]], [1], [1, 1]))
    with pytest.raises(ValueError, match="one rank, at least 2"):
        tf.edit_distance(sparse([[0]], [1], [1]), sparse([[0]], [1], [1]))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: tf.math.confusion_matrix([1, 5], [2, 0], num_classes=3),
            r"confusion_matrix: labels must be less than num_classes at \[1\]: labels = \[1 5\]",
        ),
        (
            lambda: tf.math.confusion_matrix([1], [-2]),
            r"confusion_matrix: predictions must not be negative at \[0\]: predictions = \[-2\]",
        ),
        (
            lambda: tf.histogram_fixed_width_bins([1.0], [0.0, 1.0], nbins=0),
            r"histogram_fixed_width_bins: nbins must be positive: nbins = 0",
        ),
        (
            lambda: tf.histogram_fixed_width_bins([1.0], [1.0, 1.0]),
            r"histogram_fixed_width_bins: value_range must ascend: value_range = \[1 1\]",
        ),
        (
            lambda: tf.nn.compute_average_loss([1.0], global_batch_size=-1),
            r"compute_average_loss: global_batch_size must not be negative: global_batch_size = -1",
        ),
    ],
)
def test_numbers_out_of_range(call: object, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"^{text}"):
        call()


def test_bincount_of_floats() -> None:
    assert tf.math.bincount([1.0, 2.9, 2.0]).numpy().tolist() == [0, 1, 2]
    assert tf.math.bincount(tf.constant([1.0, 2.5])).dtype is tf.int32
