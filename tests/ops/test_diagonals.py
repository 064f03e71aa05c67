"""Diagonals and bands."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, boolean, c64, check_case, f32, i32


def _band(x: np.ndarray, low: int, high: int) -> np.ndarray:
    x = np.tril(x, high) if high >= 0 else x
    return np.triu(x, -low) if low >= 0 else x


CASES = [
    Case(tf.linalg.diag_part, [f32(2, 3, 4)], {}, lambda x: np.diagonal(x, 0, 1, 2)),
    *[
        Case(tf.linalg.diag_part, [f32(3, 4)], {"k": k}, lambda x, k=k: np.diagonal(x, k))
        for k in (-2, -1, 1, 3)
    ],
    Case(tf.linalg.diag_part, [i32(2, 3, 4)], {"k": (-1, 2), "padding_value": 9}),
    Case(tf.linalg.diag_part, [boolean(2, 3)], {}, np.diagonal),
    Case(tf.linalg.diag_part, [f32(4, 3)], {"k": (-2, 1), "align": "LEFT_RIGHT"}),
    Case(tf.linalg.diag, [f32(3)], {}, np.diag),
    Case(tf.linalg.diag, [c64(3)], {"k": -1}, lambda x: np.diag(x, -1)),
    Case(tf.linalg.diag, [f32(5, 2, 3)], {"k": (0, 1)}),
    Case(tf.linalg.diag, [f32(2)], {"k": 1, "num_rows": 2, "num_cols": 4, "padding_value": 7.0}),
    Case(tf.linalg.set_diag, [f32(2, 3, 4), f32(2, 3)]),
    Case(tf.linalg.set_diag, [f32(3, 4), f32(2, 3)], {"k": (0, 1)}),
    Case(tf.linalg.set_diag, [i32(3, 3), i32(2)], {"k": -1}),
    *[
        Case(
            tf.linalg.band_part,
            [f32(2, 3, 4)],
            {"num_lower": low, "num_upper": high},
            lambda x, low=low, high=high: _band(x, low, high),
        )
        for low, high in [(-1, 0), (0, -1), (0, 0), (1, 2), (-1, -1), (3, 4)]
    ],
    Case(lambda x, n: tf.linalg.band_part(x, n, n), [i32(3, 4), np.int32(1)], grad=False),
    Case(tf.linalg.trace, [f32(2, 3, 4)], {}, lambda x: np.trace(x, 0, 1, 2)),
    Case(tf.linalg.trace, [i32(0, 3)], {}, lambda x: np.int32(0)),
    Case(tf.linalg.tensor_diag, [f32(3)], {}, np.diag),
    Case(tf.linalg.tensor_diag, [f32(2, 3)], {}, lambda x: np.diag(x.ravel()).reshape(2, 3, 2, 3)),
    Case(tf.linalg.tensor_diag_part, [f32(2, 3, 2, 3)], {}, lambda x: np.einsum("abab->ab", x)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def test_stored_form_of_several_diagonals() -> None:
    """As TensorFlow 2.21 stores them."""
    x = tf.constant([[1, 2, 3], [4, 5, 6]])
    assert tf.linalg.diag_part(x, k=(-1, 2)).numpy().tolist() == [[0, 3], [2, 6], [1, 5], [4, 0]]
    left = tf.linalg.diag_part(x, k=(-1, 2), padding_value=9, align="LEFT_LEFT")
    assert left.numpy().tolist() == [[3, 9], [2, 6], [1, 5], [4, 9]]
    band = tf.constant([[1, 2, 0], [3, 4, 5]])
    assert tf.linalg.diag(band, k=(0, 1)).numpy().tolist() == [[3, 2, 0], [0, 4, 0], [0, 0, 5]]
    right = tf.linalg.diag(band, k=(0, 1), align="LEFT_RIGHT")
    assert right.numpy().tolist() == [[3, 1, 0], [0, 4, 2], [0, 0, 5]]
    out = tf.linalg.set_diag(tf.zeros([2, 3]), [[1.0, 2.0], [3.0, 4.0]], k=(0, 1))
    assert out.numpy().tolist() == [[3, 1, 0], [0, 4, 2]]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.linalg.diag_part(tf.ones([3])), r"diag_part: input must have rank at least 2"),
        (lambda: tf.linalg.diag_part(tf.ones([2, 3]), k=5), r"k = 5 is outside of a matrix with 2"),
        (lambda: tf.linalg.diag_part(tf.ones([2, 3]), k=(1, 0)), r"k must be a number or \(lower"),
        (lambda: tf.linalg.diag_part(tf.ones([2, 3]), align="UP"), r"align must be one of RIGHT_L"),
        (lambda: tf.linalg.diag(1.0), r"diag: diagonal must have rank at least 1, got shape \(\)"),
        (lambda: tf.linalg.diag([1.0, 2.0], num_rows=1), r"need 2 rows or 2 columns exactly, got"),
        (lambda: tf.linalg.set_diag(tf.ones([2, 3]), tf.ones([3])), r"must have equal shapes, got"),
        (lambda: tf.linalg.band_part(tf.ones([3]), 0, 0), r"band_part: input must have rank at le"),
        (lambda: tf.linalg.band_part(tf.ones([3, 4]), 5, 0), r"num_lower must not be above 3, "),
        (lambda: tf.linalg.tensor_diag(1.0), r"tensor_diag: diagonal must have rank at least 1"),
        (lambda: tf.linalg.tensor_diag_part(tf.ones([2, 3])), r"halves .* must have equal shapes"),
        (lambda: tf.linalg.tensor_diag_part(tf.ones([2])), r"even rank above 0, got shape \(2,\)"),
    ],
)  # fmt: skip
def test_errors(call: object, text: str) -> None:
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=text):
        call()
