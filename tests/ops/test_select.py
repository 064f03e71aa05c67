"""where with three arguments, clip_by_value, add_n."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, boolean, c64, check_case, f32, i32


def add_n(*xs):
    return tf.add_n(list(xs))


CASES = [
    Case(tf.where, [boolean(2, 3), f32(2, 3), f32(2, 3)], {}, np.where),
    Case(tf.where, [boolean(3), f32(2, 1), f32()], {}, np.where),
    Case(tf.where, [boolean(), f32(2), f32(3, 1)], {}, np.where),
    Case(tf.where, [boolean(2, 1), i32(3), i32()], {}, np.where),
    Case(tf.where, [boolean(2), c64(2), c64(2)], {}, np.where),
    Case(lambda x: tf.clip_by_value(x, -1, 1.0), [f32(3, 4)], {}, lambda x: np.clip(x, -1, 1)),
    Case(tf.clip_by_value, [i32(7), np.int32(-2), np.int32(3)], {}, np.clip, label="clip ints"),
    Case(
        tf.clip_by_value,
        [f32(2, 3), f32(3, low=-2, high=0), f32(2, 1, low=0.5, high=2)],
        {},
        lambda x, a, b: np.maximum(np.minimum(x, b), a),
        unknown_shapes=False,
    ),
    Case(add_n, [f32(2, 3)] * 3, {}, lambda x, y, z: x + y + z),
    Case(add_n, [i32(3)], {}, lambda x: x),
    Case(add_n, [f32()] * 2, {}, lambda x, y: x + y),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def gradients(fn, *values):
    tensors = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        y = fn(*tensors)
    return [None if g is None else g.numpy().tolist() for g in tape.gradient(y, tensors)]


def test_gradients_at_the_edges_of_clip_by_value() -> None:
    x = [1.0, 2.0, 5.0, 7.0, 9.0, float("nan")]
    assert gradients(tf.clip_by_value, x, 2.0, 7.0) == [[0, 1, 1, 1, 0, 0], 2.0, 1.0]
    swapped = gradients(tf.clip_by_value, [1.0, 2.0, 5.0], [1.0, 3.0, 3.0], [1.0, 2.0, 2.0])
    assert swapped == [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    assert tf.clip_by_value([1.0, 5.0, 9.0], 7.0, 2.0).numpy().tolist() == [7, 7, 7]


def test_infinite_gradients_do_not_leak_through_where() -> None:
    got = gradients(
        lambda x, y: tf.where([True, False], x, y) * float("inf"), [1.0, 2.0], [1.0, 2.0]
    )
    assert got == [[float("inf"), 0.0], [0.0, float("inf")]]


def test_errors() -> None:
    with pytest.raises(tf.errors.ShapeError, match=r"where: shapes \(2,\) and \(3,\)"):
        tf.where([True, False], [1, 2, 3], 0)
    with pytest.raises(TypeError, match="condition has dtype int32, expected one of bool"):
        tf.where([1, 0], 1, 2)
    with pytest.raises(TypeError, match=r"float32|2\.0"):
        tf.where([True], 1, 2.0)
    with pytest.raises(ValueError, match="both"):
        tf.where([True], 1)
    with pytest.raises(tf.errors.ShapeError, match=r"clip_by_value: .*\(\).*\(3,\)"):
        tf.clip_by_value(1.0, [2.0, 3.0, 4.0], 7)
    with pytest.raises(
        tf.errors.ShapeError, match=r"add_n: inputs\[0\] and inputs\[1\].*\(2,\) and \(1,\)"
    ):
        tf.add_n([[1, 2], [3]])
    with pytest.raises(tf.errors.DTypeError, match=r"inputs\[1\] has dtype float32"):
        tf.add_n([1, 2.0])
    with pytest.raises(ValueError, match="at least one"):
        tf.add_n([])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint64", "float16", "bool"])
def test_large_tensors(dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, y = [rng.integers(0, 9, (300, 200)).astype(dtype) for _ in range(2)]
    if dtype.startswith("f"):
        x[0, :3], y[1, :3] = [np.nan, -0.0, np.inf], [np.nan, np.inf, -0.0]
    condition = rng.uniform(size=x.shape) < 0.5
    for a, b in ((x, y), (x[:, ::-1], y), (x, np.asfortranarray(y)), (x, y[0])):
        got = tf.where(condition, a, b)
        np.testing.assert_array_equal(got, np.where(condition, a, b))
        assert got.dtype == dtype
    signs = np.signbit(tf.where(condition, x, y).numpy().astype(np.float64))
    np.testing.assert_array_equal(signs, np.signbit(np.where(condition, x, y).astype(np.float64)))
