"""fill, zeros, ones and their *_like forms; identity."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, c64, check_case, f32, i32

CASES = [
    Case(tf.fill, [np.array([2, 3]), f32()], {}, lambda s, v: np.full(s, v), label="fill"),
    Case(
        lambda v: tf.fill([2, 3], v), [f32()], {}, lambda v: np.full([2, 3], v), label="fill list"
    ),
    Case(lambda v: tf.fill([], v), [i32()], {}, lambda v: v, label="fill scalar"),
    Case(tf.zeros, [np.array([2, 0, 3])], {}, np.zeros, label="zeros"),
    Case(tf.ones, [np.array([2, 3])], {"dtype": tf.int64}, np.ones, label="ones"),
    Case(tf.zeros_like, [f32(2, 3)], {}, np.zeros_like, grad=False),
    Case(tf.ones_like, [c64(2, 3)], {}, np.ones_like, grad=False),
    Case(tf.zeros_like, [i32(2, 3)], {"dtype": tf.float16}, np.zeros_like),
    Case(tf.identity, [f32(2, 3)], {}, lambda x: x),
    Case(lambda x, y: tf.identity_n([x, y]), [f32(2), i32(3)], {}, lambda x, y: [x, y]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize("dtype", ["bool", "string", "bfloat16", "float16", "uint8", "complex64"])
def test_dtypes(dtype: str) -> None:
    x = tf.zeros([2], dtype)
    assert x.dtype == dtype
    assert x.numpy()[0] == (b"" if dtype == "string" else 0)
    assert tf.zeros_like(x).dtype == dtype
    if dtype != "string":
        assert tf.ones_like(x).numpy()[1] == 1


def test_shapes_may_be_written_in_many_ways() -> None:
    assert tf.zeros(2).shape == (2,)
    assert tf.zeros([]).shape == ()
    assert tf.zeros((2, tf.constant(1))).shape == (2, 1)
    assert tf.zeros(tf.TensorShape([2, 3])).shape == (2, 3)
    assert tf.zeros(np.array([2, 3])).shape == (2, 3)
    assert tf.zeros(tf.constant(2)).shape == (2,)
    assert tf.fill([2], "a").numpy().tolist() == [b"a", b"a"]


def test_errors() -> None:
    with pytest.raises(tf.errors.ShapeError, match=r"fill: dims must not be negative, got \(-1,\)"):
        tf.fill([-1], 1)
    with pytest.raises(tf.errors.ShapeError, match="fill: value must have rank 0"):
        tf.fill([2], [1])
    with pytest.raises(tf.errors.DTypeError, match="dims has dtype float32"):
        tf.fill([2.0], 1)
    with pytest.raises(TypeError, match="strings"):
        tf.ones([2], tf.string)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="GiB"):
        tf.zeros([2**30, 2**30])


def test_a_shape_may_be_a_number_of_numpy() -> None:
    for size in (np.int64(5), np.int32(5), np.array(5)):
        assert tf.zeros(size).shape == tf.ones(size).shape == (5,)
