"""Sums and means."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, check_case, f32, i32

CASES = [
    Case(
        tf.reduce_sum,
        [f32(2, 3, 4)],
        {"axis": a, "keepdims": k},
        lambda x, a=a, k=k: np.sum(x, a, keepdims=k),
    )
    for a in (None, 0, -1, (0, 2))
    for k in (False, True)
] + [
    Case(tf.reduce_mean, [f32(2, 3, 4)], {"axis": 1}, lambda x: np.mean(x, 1)),
    Case(tf.reduce_sum, [i32(3, 0)], {"axis": 1}, lambda x: np.sum(x, 1)),
]


@pytest.mark.parametrize("shape", [(5003, 7), (61, 83, 5), (20011, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_that_leave_short_rows_are_accurate(shape: tuple[int, ...], keepdims: bool) -> None:
    axes = tuple(range(len(shape) - 1))
    x = np.random.default_rng(0).uniform(1, 2, shape).astype(np.float32)
    got = tf.reduce_sum(x, axes, keepdims).numpy()
    wanted = x.astype(np.float64).sum(axes, keepdims=keepdims)
    assert got.shape == wanted.shape
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, wanted, rtol=1e-6)
    whole = (100 * x).astype(np.int32)
    np.testing.assert_array_equal(
        tf.reduce_sum(whole, axes, keepdims), whole.sum(axes, keepdims=keepdims)
    )
    few = tf.reduce_sum(tf.cast(x, tf.bfloat16), axes, keepdims)
    np.testing.assert_allclose(tf.cast(few, tf.float32), wanted, rtol=1e-2)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)
