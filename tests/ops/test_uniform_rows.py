"""Ragged tensors all of whose rows of an axis have one length: it is part of their shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf


def _pairs() -> Any:
    return tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1, 2], [3], [4], []]), 2)


def test_the_length_is_known() -> None:
    pairs = _pairs()
    assert pairs.shape.as_list() == [2, 2, None]
    assert int(pairs.uniform_row_length) == 2
    assert pairs.values.uniform_row_length is None
    assert tf.ragged.constant([[1], [2]]).uniform_row_length is None
    assert tf.RaggedTensor.from_tensor(np.zeros([2, 3, 4]), ragged_rank=2).shape == (2, 3, 4)
    assert tf.RaggedTensor.from_tensor(np.zeros([2, 3]), lengths=[1, 2]).uniform_row_length is None


@pytest.mark.parametrize(
    ("change", "shape"),
    [
        (lambda x: x + 1, [2, 2, None]),
        (lambda x: x[1:], [1, 2, None]),
        (lambda x: x[:, 1:], [2, 1, None]),
        (lambda x: x[:, ::-1], [2, 2, None]),
        (lambda x: x[:, tf.newaxis], [2, 1, 2, None]),
        (lambda x: x[0], [2, None]),
        (lambda x: tf.expand_dims(x, 0), [1, 2, 2, None]),
        (lambda x: tf.expand_dims(x, 1), [2, 1, 2, None]),
        (lambda x: tf.expand_dims(x, 2), [2, 2, 1, None]),
        (lambda x: tf.expand_dims(x, -1), [2, 2, None, 1]),
        (lambda x: x.merge_dims(0, 1), [4, None]),
        (lambda x: x.with_row_splits_dtype(tf.int32), [2, 2, None]),
        (lambda x: tf.reduce_sum(x, 2), [2, 2]),
        (lambda x: tf.concat([x, x], 1), [2, None, None]),
    ],
)
def test_shapes_of_what_is_made_of_them(change: Any, shape: list[int | None]) -> None:
    made = change(_pairs())
    assert made.shape.as_list() == shape
    plain = change(tf.ragged.constant([[[1, 2], [3]], [[4], []]]))
    assert made.to_list() == (plain.to_list() if hasattr(plain, "to_list") else plain)


def test_functions_loops_and_datasets_keep_it() -> None:
    seen = []

    @tf.function
    def twice(x: Any) -> Any:
        seen.append(x.shape.as_list())
        for _ in tf.range(2):
            x = x * 2
        return x

    out = twice(_pairs())
    assert seen == [[2, 2, None]]
    assert out.shape.as_list() == [2, 2, None]
    assert out.to_list() == [[[4, 8], [12]], [[16], []]]
    rows = tf.data.Dataset.from_tensor_slices(_pairs())
    assert rows.element_spec.shape.as_list() == [2, None]
    assert rows.batch(2).element_spec.shape.as_list() == [None, 2, None]
    assert next(iter(rows.batch(2))).to_list() == _pairs().to_list()


def test_lengths_that_are_not_known_while_tracing() -> None:
    @tf.function
    def make(x: Any, n: Any) -> Any:
        made = tf.RaggedTensor.from_uniform_row_length(x, n)
        assert made.shape.as_list() == [None, None]
        assert made.uniform_row_length is not None
        return made, made.uniform_row_length

    spec = make.get_concrete_function(tf.TensorSpec([None]), tf.TensorSpec([], tf.int64))
    made, length = spec(tf.range(6.0), tf.constant(3, tf.int64))
    assert made.to_list() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert int(length) == 3
    empty, _ = spec(tf.zeros([0]), tf.constant(0, tf.int64))
    assert empty.to_list() == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="uniform_row_length times nrows"):
        spec(tf.range(5.0), tf.constant(3, tf.int64))


def test_a_signature_that_names_a_length_holds_rows_to_it() -> None:
    @tf.function(input_signature=[tf.RaggedTensorSpec([None, 2, None], tf.int32)])
    def total(x: Any) -> Any:
        assert x.shape.as_list() == [None, 2, None]
        return tf.reduce_sum(x)

    assert int(total(tf.ragged.constant([[[1, 2], [3]], [[4], [5]]]))) == 15
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must have length 2.*\[2 3\]"):
        total(tf.ragged.constant([[[1, 2], [3]], [[4], [5], [6]]]))
    with pytest.raises(TypeError, match="argument 'x'"):
        total(tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1], [2], [3]]), 3))


def test_specs() -> None:
    spec = tf.type_spec_from_value(_pairs())
    wide = tf.RaggedTensorSpec([None, None, None], tf.int32)
    assert spec == tf.RaggedTensorSpec([2, 2, None], tf.int32)
    assert spec.is_subtype_of(wide)
    assert not wide.is_subtype_of(spec)
    assert not tf.RaggedTensorSpec([None, 3, None], tf.int32).is_compatible_with(_pairs())


def test_rows_and_tensors() -> None:
    rows = tf.RaggedTensor.from_uniform_row_length(tf.range(6), 2)
    assert (rows + [10, 20]).to_list() == [[10, 21], [12, 23], [14, 25]]
    assert (rows + [[1], [2], [3]]).to_list() == [[1, 2], [4, 5], [7, 8]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="rows of equal lengths"):
        rows + [1, 2, 3]


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda f: f([1, 2, 3], 2), "3 values do not fill 1 rows of length 2"),
        (lambda f: f([1, 2, 3], 3, nrows=2), "3 values do not fill 2 rows"),
        (lambda f: f([1, 2, 3, 4], [2]), r"must be a scalar, got shape \(1,\)"),
        (lambda f: f([1, 2, 3, 4], -2), "must not be negative"),
    ],
)
def test_lengths_that_do_not_fit(call: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        call(tf.RaggedTensor.from_uniform_row_length)


def test_rows_of_length_0() -> None:
    assert tf.RaggedTensor.from_uniform_row_length([], 0, nrows=3).to_list() == [[], [], []]
    assert tf.RaggedTensor.from_uniform_row_length([], 0).shape.as_list() == [0, 0]
