"""cumsum and cumprod."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, c64, check_case, f32, i32


def scan(accumulate, start, x, axis, exclusive, reverse):
    if reverse:
        return np.flip(scan(accumulate, start, np.flip(x, axis), axis, exclusive, False), axis)
    out = accumulate(x, axis, dtype=x.dtype)
    if not exclusive or not x.shape[axis]:
        return out
    shifted = np.roll(out, 1, axis)
    np.moveaxis(shifted, axis, 0)[0] = start
    return shifted


CASES = [
    Case(
        fn,
        [sample],
        {"axis": a, "exclusive": e, "reverse": r},
        lambda x, np_fn=np_fn, s=s, a=a, e=e, r=r: scan(np_fn, s, x, a, e, r),
    )
    for fn, np_fn, s in ((tf.cumsum, np.cumsum, 0), (tf.math.cumprod, np.cumprod, 1))
    for sample, a, e, r in [
        (f32(2, 3, 4), 1, False, False),
        (f32(2, 3, 4), 0, True, False),
        (f32(2, 3, 4), -1, False, True),
        (f32(2, 3), 1, True, True),
        (i32(2, 3), 0, True, True),
        (f32(0, 3), 0, True, False),
        (f32(1), 0, True, False),
        (c64(4), 0, False, False),
    ]
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def test_facts() -> None:
    assert tf.cumsum(tf.constant([200, 100], tf.uint8)).numpy().tolist() == [200, 44]
    assert tf.cumsum([np.inf, 1.0, 2.0], exclusive=True).numpy().tolist() == [0, np.inf, np.inf]
    assert tf.math.cumprod([0.0, 1.0, 2.0], exclusive=True).numpy().tolist() == [1, 0, 0]
    assert tf.cumsum(tf.ones([4096], tf.bfloat16)).numpy()[-1] == 4096
    assert tf.cumsum([1, 2], axis=tf.constant(0)).numpy().tolist() == [1, 3]


def test_gradient_of_cumprod_is_zero_at_zeros() -> None:
    x = tf.constant([0.0, 1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.cumprod(x)
    assert tape.gradient(y, x).numpy().tolist() == [0, 0, 0]


def test_errors() -> None:
    with pytest.raises(tf.errors.ShapeError, match=r"cumsum: axis 1 .*\[-1, 1\)"):
        tf.cumsum([1, 2], axis=1)
    with pytest.raises(tf.errors.ShapeError, match="cumprod: axis 0 .*scalar"):
        tf.math.cumprod(1)
    with pytest.raises(tf.errors.DTypeError, match="Cumsum: x has dtype bool"):
        tf.cumsum([True])
