"""`bad_indices_policy`, and indices of 16 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_indices_out_of_range_are_left_out(wrap: Any) -> None:
    gather = wrap(lambda x, i: tf.gather_nd(x, i, bad_indices_policy="IGNORE"))
    x = tf.constant([[1, 2], [3, 4]])
    np.testing.assert_array_equal(gather(x, [[0, 1], [-1, 0], [1, 1], [0, 5]]), [2, 0, 4, 0])
    np.testing.assert_array_equal(gather(x, [[1], [5]]), [[3, 4], [0, 0]])
    np.testing.assert_array_equal(gather(tf.constant(["a", "b"]), [[5], [1]]), [b"", b"b"])
    scatter = wrap(lambda i, u: tf.scatter_nd(i, u, [3], bad_indices_policy="IGNORE"))
    np.testing.assert_array_equal(scatter([[5], [1]], [7, 8]), [0, 8, 0])
    add = wrap(lambda x, i, u: tf.tensor_scatter_nd_add(x, i, u, bad_indices_policy="IGNORE"))
    np.testing.assert_array_equal(add([1, 2, 3], [[[5]], [[1]]], [[7], [8]]), [1, 10, 3])


def test_unknown_sizes_and_gradients() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec(None, tf.int32)])
    def gather(x: Any, i: Any) -> Any:
        return tf.gather_nd(x, i, bad_indices_policy="IGNORE")

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(gather(x, [[1], [7]]), [[3, 4], [0, 0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = gather(x, [[1, 0], [7, 0], [0, 0]])
    np.testing.assert_array_equal(tape.gradient(y, x), [[1, 0], [1, 0]])


def test_raw_ops_and_policies_that_are_none() -> None:
    raw = tf.raw_ops.GatherNd(params=[1, 2], indices=[[5], [1]], bad_indices_policy="IGNORE")
    np.testing.assert_array_equal(raw, [0, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        tf.gather_nd([1], [[5]], bad_indices_policy="ERROR")
    with pytest.raises(ValueError, match="'IGNORE', got 'SKIP'"):
        tf.scatter_nd([[0]], [1], [2], bad_indices_policy="SKIP")


def test_indices_of_16_bits() -> None:
    np.testing.assert_array_equal(tf.gather_nd([1, 2, 3], np.array([[2], [0]], np.int16)), [3, 1])
    ids = tf.constant([0, 0, 1], tf.int16)
    np.testing.assert_array_equal(tf.math.unsorted_segment_sum([1, 2, 3], ids, 2), [3, 3])
    np.testing.assert_array_equal(tf.math.unsorted_segment_mean([1.0, 2.0, 3.0], ids, 2), [1.5, 3])
    assert int(tf.constant([1, 2, 3])[tf.constant(1, tf.int16)]) == 2
