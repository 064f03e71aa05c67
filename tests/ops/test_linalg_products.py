"""Matrix products and transposes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, Sample, c64, check_case, f32, f64, i32, i64


def _swap(x: np.ndarray) -> np.ndarray:
    return np.swapaxes(x, -1, -2)


CASES = [
    Case(tf.matmul, [f32(2, 3), f32(3, 4)], {}, np.matmul),
    Case(tf.matmul, [f64(5, 2, 3), f64(3, 4)], {}, np.matmul),
    Case(tf.matmul, [f32(6, 1, 2, 3), f32(5, 3, 4)], {}, np.matmul),
    Case(tf.matmul, [c64(2, 3), c64(3, 4)], {}, np.matmul),
    Case(tf.matmul, [i32(2, 3), i32(3, 4)], {}, np.matmul),
    Case(tf.matmul, [i64(5, 2, 3), i64(5, 3, 4)], {}, np.matmul),
    Case(tf.matmul, [f32(2, 0), f32(0, 4)], {}, np.matmul, label="empty inner size"),
    Case(tf.matmul, [f32(0, 3), f32(3, 4)], {}, np.matmul),
    *[
        Case(
            tf.matmul,
            [c64(*((2, 4, 3) if a else (2, 3, 4))), c64(*((5, 4) if b else (4, 5)))],
            {flag: True for flag in (a, b) if flag},
            lambda x, y, a=a, b=b: np.matmul(_flag(x, a), _flag(y, b)),
        )
        for a in (None, "transpose_a", "adjoint_a")
        for b in (None, "transpose_b", "adjoint_b")
    ],
    Case(tf.linalg.matvec, [f32(2, 3), f32(3)], {}, np.matmul),
    Case(tf.linalg.matvec, [f32(5, 3, 2), f32(3)], {"transpose_a": True}, lambda a, b: b @ a),
    Case(tf.linalg.matrix_transpose, [f32(2, 3, 4)], {}, _swap),
    Case(tf.linalg.adjoint, [c64(2, 3)], {}, lambda x: np.conj(x.T)),
    Case(tf.linalg.cross, [f32(4, 3), f32(4, 3)], {}, np.cross),
    Case(tf.linalg.cross, [i32(3), i32(3)], {}, np.cross),
]


def _flag(x: np.ndarray, flag: str | None) -> np.ndarray:
    if flag is None:
        return x
    return _swap(np.conj(x) if flag.startswith("adjoint") else x)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_floats_add_in_float32(dtype: type) -> None:
    n = 4096
    x = tf.constant(np.full((1, n), 1.0, dtype))
    out = tf.matmul(x, x, transpose_b=True)
    assert out.dtype == dtype
    assert float(out[0, 0]) == n  # sums in float16 would stop at 2048, in bfloat16 at 256
    y = tf.constant(np.full((2, 3, 4), 0.5, dtype))
    check_case(Case(tf.matmul, [y.numpy(), Sample((4, 5), dtype)], grad=False, rtol=1e-2))


def test_integers_wrap() -> None:
    x = tf.constant([[2**20]])
    assert tf.matmul(x, x).numpy().tolist() == [[0]]


def test_hints_and_output_type() -> None:
    x = tf.constant([[100]], tf.int8)
    out = tf.matmul(x, x, output_type=tf.int32)
    assert out.dtype is tf.int32
    assert int(out[0, 0]) == 10000
    y = tf.constant([[2.0]])
    hints = {"a_is_sparse": True, "b_is_sparse": True, "grad_a": True, "grad_b": True}
    assert float(tf.matmul(y, y, **hints)[0, 0]) == 4.0


def test_operator_takes_arrays_on_either_side() -> None:
    x = tf.constant([[1.0, 2.0]])
    assert (x @ np.array([[3.0], [4.0]])).numpy().tolist() == [[11.0]]
    assert (np.array([[3.0], [4.0]], np.float32) @ x).shape == (2, 2)


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        ((2, 3), (2, 3), r"matmul: a has shape \(2, 3\) and b has shape \(2, 3\): the inner sizes"),
        ((3,), (3, 2), r"matmul: a must have rank at least 2, got shape \(3,\)"),
        ((2, 2, 3), (3, 3, 2), r"matmul: shapes \(2,\) and \(3,\) cannot be broadcast together"),
    ],
)
def test_shape_errors(a: tuple[int, ...], b: tuple[int, ...], text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tf.matmul(tf.ones(a), tf.ones(b))
    with pytest.raises(ValueError, match=text):
        tf.matmul(tf.ones(a), tf.ones(b))


def test_other_errors() -> None:
    x = tf.ones([2, 2])
    with pytest.raises(ValueError, match="matmul: transpose and adjoint of the same tensor"):
        tf.matmul(x, x, transpose_a=True, adjoint_a=True)
    with pytest.raises(TypeError, match="MatMul: a has dtype float32, but b has dtype float64"):
        tf.matmul(x, tf.cast(x, tf.float64))
    with pytest.raises(TypeError, match="MatMul: a has dtype bool, expected one of"):
        tf.matmul(x > 0, x > 0)
    with pytest.raises(ValueError, match=r"matrix_transpose: a must have rank at least 2, got"):
        tf.linalg.matrix_transpose([1.0])
    with pytest.raises(ValueError, match=r"cross: a and b must have equal shapes"):
        tf.linalg.cross(tf.ones([2, 3]), tf.ones([3]))
    with pytest.raises(ValueError, match=r"cross: the size of the last axis and 3 must be equal"):
        tf.linalg.cross(tf.ones([2]), tf.ones([2]))
