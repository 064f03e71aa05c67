"""Biases, moments, batch normalisation, embeddings."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, boolean, check_case, f32, f64, i32


def _bias(x: np.ndarray, b: np.ndarray) -> np.ndarray:
    return x + b.reshape(-1, *[1] * (x.ndim - 2))


CASES = [
    Case(tf.nn.bias_add, [f32(2, 3), f32(3)], {}, np.add),
    Case(tf.nn.bias_add, [f32(2, 4, 5, 3), f32(3)], {"data_format": "NHWC"}, np.add),
    Case(tf.nn.bias_add, [f32(2, 3, 4, 5), f32(3)], {"data_format": "NCHW"}, _bias),
    Case(tf.nn.bias_add, [i32(2, 3), i32(3)], {}, np.add),
    *[
        Case(
            tf.nn.moments,
            [f32(2, 3, 4)],
            {"axes": a, "keepdims": k},
            lambda x, a=a, k=k: (np.mean(x, a, keepdims=k), np.var(x, a, keepdims=k)),
        )
        for a in (0, (0, 1), (0, 1, 2), -1)
        for k in (False, True)
    ],
    Case(
        lambda *xs: tf.nn.batch_normalization(*xs, 1e-3),
        [f32(2, 3), f32(3), f32(3, low=0.5), f32(3), f32(3)],
        {},
        lambda x, m, v, o, s: (x - m) / np.sqrt(v + 1e-3) * s + o,
        label="batch_normalization",
    ),
    Case(
        lambda x, m, v: tf.nn.batch_normalization(x, m, v, None, None, 1e-3),
        [f32(2, 3), f32(3), f32(3, low=0.5)],
        {},
        lambda x, m, v: (x - m) / np.sqrt(v + 1e-3),
        label="batch_normalization without offset and scale",
    ),
    Case(tf.nn.zero_fraction, [i32(5, 6, low=0, high=3)], {}, lambda x: np.mean(x == 0)),
    Case(tf.nn.zero_fraction, [boolean(5, 6)], {}, lambda x: np.mean(~x)),
    Case(tf.nn.embedding_lookup, [f32(5, 3), np.array([[4, 0], [1, 1]])], {}, lambda p, i: p[i]),
    Case(tf.nn.embedding_lookup, [f32(5, 3), np.int32(2)], {}, lambda p, i: p[i]),
    Case(
        tf.nn.embedding_lookup,
        [f64(5, 3), np.array([4, 0, 1])],
        {"max_norm": 0.5},
        lambda p, i: p[i] / np.maximum(np.linalg.norm(p[i], 2, -1, True) / 0.5, 1),
        unknown_shapes=False,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def test_moments_of_half_precision_are_computed_in_float32() -> None:
    x = tf.constant(np.full(3000, 100.0, np.float16))
    mean, variance = tf.nn.moments(x, 0)
    assert mean.dtype is tf.float16
    assert float(mean) == 100.0
    assert float(variance) == 0.0


def test_several_tables_count_as_one() -> None:
    tables = [tf.constant([[1.0], [2.0]]), tf.constant([[3.0], [4.0]])]
    assert tf.nn.embedding_lookup(tables, [3, 0]).numpy().tolist() == [[4.0], [1.0]]
    assert tf.nn.embedding_lookup(tables[:1], [1]).numpy().tolist() == [[2.0]]


def test_the_zero_fraction_of_nothing_is_not_a_number() -> None:
    assert np.isnan(tf.nn.zero_fraction(tf.zeros([0])).numpy())


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.nn.bias_add(tf.ones([2, 3]), tf.ones([2])), r"size of bias and of axis 1"),
        (lambda: tf.nn.bias_add(tf.ones([2]), tf.ones([2])), r"value must have rank at least 2,"),
        (lambda: tf.nn.bias_add(tf.ones([2, 3]), tf.ones([3, 1])), r"bias must have rank 1, got"),
        (lambda: tf.nn.bias_add(tf.ones([2, 3]), tf.ones([3]), "CN"), r"must be 'N...C"),
        (lambda: tf.nn.embedding_lookup(tf.ones([3, 2]), [3]), r"3"),
    ],
)  # fmt: skip
def test_errors(call: object, text: str) -> None:
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=text):
        call()


def test_the_zero_of_strings_is_empty() -> None:
    assert tf.nn.zero_fraction(["a", "", "b", ""]).numpy() == 0.5


def test_moments_of_no_weight_are_0() -> None:
    for rows in (0, 2):
        mean, variance = tf.nn.weighted_moments(tf.ones([rows, 3]), [0], tf.zeros([rows, 3]))
        np.testing.assert_array_equal(mean, [0, 0, 0])
        np.testing.assert_array_equal(variance, [0, 0, 0])
