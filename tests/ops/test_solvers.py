"""Inverses, determinants, linear equations, Cholesky factors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, Sample, c64, check_case, f32, f64

_EYE = {n: np.eye(n) * 5 for n in (1, 2, 3, 4, 40)}


def _far_from_singular(function: object) -> object:
    def call(x: tf.Tensor, *rest: tf.Tensor) -> tf.Tensor:
        n = x.shape[-1] or int(tf.shape(x)[-1])
        return function(x + tf.cast(_EYE[n], x.dtype), *rest)

    return call


def _positive_definite(function: object) -> object:
    def call(x: tf.Tensor, *rest: tf.Tensor) -> tf.Tensor:
        return function(tf.matmul(x, x, adjoint_b=True) + tf.cast(_EYE[3], x.dtype), *rest)

    return call


def _regular(name: str, *inputs: Sample, expect: object, **attrs: object) -> Case:
    function = getattr(tf.linalg, name)
    return Case(
        _far_from_singular(lambda *xs: function(*xs, **attrs)),
        inputs,
        {},
        lambda x, *rest: expect(x + _EYE[x.shape[-1]].astype(x.dtype), *rest),
        label=f"{name} {[s.shape for s in inputs]} {np.dtype(inputs[0].dtype)} {attrs}",
        unknown_shapes=False,
        rtol=1e-4,
        atol=1e-5,
    )


def _triangular(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.linalg.solve(np.tril(a), b)


CASES = [
    _regular("inv", f32(3, 3), expect=np.linalg.inv),
    _regular("inv", c64(2, 3, 3), expect=np.linalg.inv),
    _regular("inv", c64(2, 2), expect=lambda x: np.conj(np.linalg.inv(x)).T, adjoint=True),
    _regular("det", f32(2, 3, 3), expect=np.linalg.det),
    _regular("det", c64(3, 3), expect=np.linalg.det),
    _regular("solve", f32(3, 3), f32(3, 2), expect=np.linalg.solve),
    _regular("solve", f32(4, 3, 3), f32(4, 3, 2), expect=np.linalg.solve),
    _regular(
        "solve",
        c64(3, 3),
        c64(3, 2),
        expect=lambda a, b: np.linalg.solve(np.conj(a).T, b),
        adjoint=True,
    ),
    _regular("triangular_solve", f32(3, 3), f32(3, 2), expect=_triangular),
    _regular("triangular_solve", f32(2, 1, 3, 3), f32(4, 3, 2), expect=_triangular),
    _regular(
        "triangular_solve",
        c64(3, 3),
        c64(3, 2),
        expect=lambda a, b: np.linalg.solve(np.conj(np.triu(a)).T, b),
        lower=False,
        adjoint=True,
    ),
    Case(
        lambda x: tuple(tf.linalg.slogdet(x + 5 * np.eye(3)))[1],
        [f64(2, 3, 3)],
        {},
        lambda x: np.linalg.slogdet(x + 5 * np.eye(3))[1],
        label="slogdet",
    ),
    Case(_positive_definite(tf.linalg.cholesky), [f64(2, 3, 4)], label="cholesky"),
    Case(_positive_definite(tf.linalg.cholesky), [c64(3, 4)], label="cholesky, complex"),
    Case(_positive_definite(tf.linalg.logdet), [f64(2, 3, 4)], label="logdet"),
    Case(tf.linalg.cholesky_solve, [f64(3, 3, low=1, high=2), f64(3, 2)]),
    *[
        Case(getattr(tf.linalg, name), [f32(2, 0, 0)], {}, getattr(np.linalg, name), grad=False)
        for name in ("inv", "det", "cholesky")
    ],
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize("name", ["inv", "det", "cholesky"])
def test_unknown_shapes(name: str) -> None:
    x = np.array([[[4.0, 1.0], [1.0, 3.0]]])
    check_case(Case(getattr(tf.linalg, name), [x], grad=False))
    check_case(Case(tf.linalg.solve, [x, np.ones((1, 2, 3))], grad=False))
    check_case(Case(tf.linalg.triangular_solve, [x, np.ones((1, 2, 3))], grad=False))


NO_FACTOR = np.array(
    [
        [[1.0, 2.0], [2.0, 1.0]],
        [[4.0, 2.0], [2.0, 5.0]],
        [[0.0, 0.0], [0.0, 0.0]],
        [[np.nan, 0.0], [0.0, 1.0]],
        [[1.0, np.nan], [0.0, 1.0]],  # above the diagonal nothing counts
        [[1.0, 0.0], [np.inf, 1.0]],
    ]
)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "complex64", "complex128"])
def test_cholesky_is_nan_where_there_is_no_factor(dtype: str) -> None:
    """Alone among the matrices of a batch, and zero above the diagonal; as TensorFlow 2.21."""
    x = tf.constant(NO_FACTOR.astype(dtype))
    lower = np.array([[np.nan, 0], [np.nan, np.nan]])
    wanted = np.stack([lower, [[2, 0], [1, 2]], lower, lower, np.eye(2), lower])
    for run in (tf.linalg.cholesky, tf.function(tf.linalg.cholesky)):
        got = run(x).numpy()
        np.testing.assert_array_equal(got.real, wanted)
        assert np.isnan(tf.linalg.cholesky(x[0]).numpy()).sum() == 3
        np.testing.assert_array_equal(run(tf.reshape(x, [2, 3, 2, 2])), got.reshape(2, 3, 2, 2))


def test_what_uses_cholesky_is_nan_for_the_same_matrices() -> None:
    x = tf.constant(NO_FACTOR)
    broken = np.array([True, False, True, True, False, True])
    np.testing.assert_array_equal(np.isnan(tf.linalg.logdet(x)), broken)
    solved = tf.linalg.cholesky_solve(tf.linalg.cholesky(x), tf.ones([6, 2, 1], tf.float64))
    np.testing.assert_array_equal(np.isnan(solved.numpy()).any((1, 2)), broken)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.linalg.cholesky(x)
    g = tape.gradient(y, x).numpy()
    np.testing.assert_array_equal(np.isnan(g).any((1, 2)), broken)
    np.testing.assert_allclose(g[1], [[0.1875, 0.125], [0.125, 0.25]])


def test_cholesky_reads_the_lower_triangle() -> None:
    out = tf.linalg.cholesky([[1.0, 9.0], [2.0, 9.0]])
    np.testing.assert_allclose(out, [[1, 0], [2, np.sqrt(5)]], rtol=1e-6)


@pytest.mark.parametrize("lower", [True, False])
def test_large_triangular_systems(lower: bool) -> None:
    rng = np.random.default_rng(7)
    a = rng.normal(size=(40, 40)) + _EYE[40] * 4
    b = rng.normal(size=(40, 3))
    out = tf.linalg.triangular_solve(a, b, lower=lower)
    part = np.tril(a) if lower else np.triu(a)
    np.testing.assert_allclose(part @ out.numpy(), b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize(
    ("batch_a", "batch_b", "n", "m"),
    [((3,), (3,), 20, 2), ((2, 1), (3,), 7, 1), ((50,), (50,), 4, 3), ((), (30,), 5, 2),
     ((0,), (0,), 3, 2), ((), (), 0, 2), ((), (), 3, 0)],
)  # fmt: skip
def test_batches_of_triangular_systems(
    batch_a: Any, batch_b: Any, n: int, m: int, lower: bool, dtype: Any
) -> None:
    """Few large systems are BLAS's, many small ones are solved row by row for all."""
    rng = np.random.default_rng(8)
    a = (rng.normal(size=(*batch_a, n, n)) + 4 * np.eye(n)).astype(dtype)
    b = rng.normal(size=(*batch_b, n, m)).astype(dtype)
    if dtype in (np.complex64, np.complex128):
        a, b = a * dtype(1 + 0.5j), b * dtype(1 - 2j)
    part = np.tril(a) if lower else np.triu(a)
    if n > 1:  # never looked at
        a[(..., 0, n - 1) if lower else (..., n - 1, 0)] = np.nan
    out = tf.linalg.triangular_solve(a, b, lower=lower).numpy()
    assert out.dtype == dtype
    tolerance = 1e-4 if dtype in (np.float32, np.complex64) else 1e-10
    wanted = np.broadcast_to(b, np.broadcast_shapes((*batch_a, 1, 1), b.shape))
    np.testing.assert_allclose(part @ out, wanted, rtol=tolerance, atol=tolerance)


def test_zero_on_the_diagonal_of_a_triangular_matrix() -> None:
    out = tf.linalg.triangular_solve([[0.0, 2.0], [2.0, 5.0]], [[1.0], [1.0]])
    assert out.numpy().tolist() == [[np.inf], [-np.inf]]


def test_half_precision_is_computed_in_float32() -> None:
    x = tf.constant([[2.0, 0.0], [0.0, 4.0]], tf.float16)
    assert tf.linalg.inv(x).dtype is tf.float16
    assert tf.linalg.inv(x).numpy().tolist() == [[0.5, 0.0], [0.0, 0.25]]


def test_slogdet_names_its_parts() -> None:
    out = tf.linalg.slogdet([[1.0, 0.0], [0.0, -np.e]])
    assert float(out.sign) == -1.0
    np.testing.assert_allclose(out.log_abs_determinant, 1.0, rtol=1e-6)


_SINGULAR = [[1.0, 2.0], [2.0, 4.0]]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.linalg.inv(_SINGULAR), "inv: a matrix in input is singular"),
        (lambda: tf.linalg.solve(_SINGULAR, tf.ones([2, 1])), "solve: a matrix is singular"),
        (lambda: tf.linalg.inv(tf.ones([2, 3])), "inv: rows and columns of input must be equal, g"),
        (lambda: tf.linalg.det(tf.ones([2])), r"det: input must have rank at least 2, got shape"),
        (lambda: tf.linalg.cholesky(tf.ones([2, 3])), "cholesky: rows and columns of input must"),
        (lambda: tf.linalg.solve(tf.ones([2, 2]), tf.ones([3, 1])), "solve: batches and rows of"),
        (lambda: tf.linalg.solve(tf.ones([2, 2]), tf.ones([2])), "solve: rhs must have rank at le"),
        (lambda: tf.linalg.solve(tf.ones([3, 2, 2]), tf.ones([2, 1])), "solve: batches and rows"),
        (
            lambda: tf.linalg.triangular_solve(tf.ones([2, 2]), tf.ones([3, 1])),
            "triangular_solve: the rows of matrix and rhs must be equal, got 2 and 3",
        ),
        (lambda: tf.linalg.inv([[1]]), "MatrixInverse: input has dtype int32, expected one of"),
    ],
)
def test_errors(call: object, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        call()


def test_determinants_of_matrices_with_nan() -> None:
    batch = np.array([[[0, 0], [np.nan, 0]], [[2, 0], [0, 3]]], np.float32)
    np.testing.assert_array_equal(tf.linalg.det(batch), [np.nan, 6])
    sign, logarithm = tf.linalg.slogdet(batch)
    np.testing.assert_array_equal(sign, [np.nan, 1])
    np.testing.assert_allclose(logarithm, [np.nan, np.log(6)], rtol=1e-6)
