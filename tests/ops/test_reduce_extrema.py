"""reduce_max, reduce_min, reduce_prod, reduce_all, reduce_any, count_nonzero."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, boolean, c64, check_case, f32, i32

AXES = [(None, False), (0, True), (-1, False), ((0, 2), False), ((0, 2), True), ((), False)]


def reductions(fn, expect, sample, **kwargs):
    return [
        Case(
            fn,
            [sample],
            {"axis": a, "keepdims": k},
            lambda x, a=a, k=k: expect(x, axis=a, keepdims=k),
            **kwargs,
        )
        for a, k in AXES
    ]


CASES = [
    *reductions(tf.reduce_max, np.max, f32(2, 3, 4)),
    *reductions(tf.reduce_min, np.min, f32(2, 3, 4)),
    *reductions(tf.reduce_prod, np.prod, f32(2, 3, 4)),
    *reductions(tf.reduce_all, np.all, boolean(2, 3, 4)),
    *reductions(tf.reduce_any, np.any, boolean(2, 3, 4)),
    *reductions(
        tf.math.count_nonzero, lambda x, **k: np.sum(x != 0, **k), i32(2, 3, 4, low=-1, high=2)
    ),
    Case(tf.reduce_max, [i32(3, 4)], {"axis": 1}, lambda x: x.max(1)),
    Case(tf.reduce_prod, [i32(3, 4)], {"axis": 1}, lambda x: x.prod(1)),
    Case(tf.reduce_prod, [c64(3, 2)], {"axis": 0}, lambda x: x.prod(0)),
    Case(tf.reduce_prod, [f32(2, 0)], {"axis": 1}, lambda x: x.prod(1)),
    Case(tf.reduce_prod, [f32(0, 2)], {"axis": 1}, lambda x: x.prod(1)),
    Case(tf.reduce_max, [f32()], {}, lambda x: x),
    Case(tf.reduce_min, [f32(3, 0)], {"axis": 0}, lambda x: np.zeros(0)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def gradient(fn, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fn(x)
    return tape.gradient(y, x).numpy()


def test_of_nothing() -> None:
    assert tf.reduce_max(tf.zeros([0, 2]), 0).numpy().tolist() == [-np.inf, -np.inf]
    assert tf.reduce_min(tf.zeros([0, 2]), 0).numpy().tolist() == [np.inf, np.inf]
    assert tf.reduce_max(tf.zeros([0], tf.int32)).numpy() == -(2**31)
    assert tf.reduce_min(tf.zeros([0], tf.uint8)).numpy() == 255
    assert tf.reduce_max(tf.zeros([0], tf.bfloat16)).numpy() == -np.inf
    assert tf.reduce_all(tf.zeros([0], tf.bool)).numpy()
    assert not tf.reduce_any(tf.zeros([0], tf.bool)).numpy()


def test_nan_wins() -> None:
    for x in ([np.nan, 1.0], [1.0, np.nan]):
        assert np.isnan(tf.reduce_max(x).numpy())
        assert np.isnan(tf.reduce_min(x).numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "uint16", "int64"])
def test_dtypes(dtype: str) -> None:
    x = tf.constant([3, 1, 2], dtype)
    for fn, value in ((tf.reduce_max, 3), (tf.reduce_min, 1), (tf.reduce_prod, 6)):
        assert fn(x).dtype == dtype
        assert fn(x).numpy() == value


def test_equal_elements_share_the_gradient() -> None:
    assert gradient(tf.reduce_max, [1.0, 1.0, 0.0]).tolist() == [0.5, 0.5, 0]
    got = gradient(lambda x: tf.reduce_min(x, 0), [[0.0, 1.0], [0.0, 0.0]])
    assert got.tolist() == [[0.5, 0], [0.5, 1]]
    assert np.isnan(gradient(tf.reduce_max, [np.nan, 1.0])).all()


def test_gradient_of_a_product_with_zeros() -> None:
    assert gradient(tf.reduce_prod, [0.0, 2.0, 3.0]).tolist() == [6, 0, 0]
    assert gradient(tf.reduce_prod, [0.0, 0.0, 3.0]).tolist() == [0, 0, 0]


def test_count_nonzero_of_everything() -> None:
    assert tf.math.count_nonzero(["", "a"]).numpy() == 1
    assert tf.math.count_nonzero([True, False]).numpy() == 1
    assert tf.math.count_nonzero([0.0, np.nan], dtype=tf.int32).dtype == tf.int32
    assert tf.math.count_nonzero([0j, 1j]).dtype == tf.int64


def test_errors() -> None:
    with pytest.raises(tf.errors.ShapeError, match=r"reduce_max: axis 2 .*\[-2, 2\)"):
        tf.reduce_max([[1, 2]], axis=2)
    with pytest.raises(
        tf.errors.ShapeError, match=r"reduce_prod: axis \(0, -2\) names an axis twice"
    ):
        tf.reduce_prod([[1, 2]], axis=[0, -2])
    with pytest.raises(tf.errors.DTypeError, match="Max: input_tensor has dtype complex128"):
        tf.reduce_max(tf.constant([1j]))
    with pytest.raises(tf.errors.DTypeError, match="All: input has dtype int32"):
        tf.reduce_all([1, 0])
