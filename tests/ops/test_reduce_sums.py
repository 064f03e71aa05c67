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


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)
