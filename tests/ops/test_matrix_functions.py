"""expm, logm, sqrtm, pinv, matrix_rank, lstsq, tridiagonal matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

import weft as tf
from support.op_cases import Case, c64, check_case, f32, f64

L = tf.linalg
BIG = {"low": 3.0, "high": 4.0}


def each_matrix(fn):
    return lambda x: np.stack([fn(m) for m in x]) if x.ndim > 2 else fn(x)


def definite(x):
    """A function of all matrices whose values have positive eigenvalues."""
    return L.matmul(x, x, adjoint_b=True) + L.eye(3, dtype=x.dtype)


def whole(diagonals):
    """The matrix of three compact diagonals."""
    above, main, below = diagonals
    return np.diag(above[:-1], 1) + np.diag(main) + np.diag(below[1:], -1)


CASES = [
    Case(L.expm, [f32(2, 3, 3)], {}, each_matrix(linalg.expm), rtol=1e-4),
    Case(L.expm, [c64(3, 3)], {}, linalg.expm, rtol=1e-4),
    Case(L.expm, [f32(2, 0, 0)], {}, lambda x: x),
    Case(lambda x: L.logm(definite(x)), [f64(2, 3, 3)], label="logm"),
    Case(lambda x: L.sqrtm(definite(x)), [f64(2, 3, 3)], label="sqrtm"),
    Case(lambda x: L.sqrtm(definite(x)), [c64(3, 3)], rtol=1e-4, label="sqrtm complex"),
    *[
        Case(L.pinv, [sample], {}, np.linalg.pinv, rtol=1e-3, atol=1e-4)
        for sample in (f32(2, 4, 3), f32(3, 4), f32(3, 3), c64(3, 2), f32(0, 3))
    ],
    Case(L.pinv, [f32(4, 3)], {"rcond": 0.5}, lambda x: np.linalg.pinv(x, 0.5), grad=False),
    Case(L.matrix_rank, [f32(2, 4, 3)], {}, np.linalg.matrix_rank, grad=False),
    Case(L.matrix_rank, [np.ones((3, 2))], {}, lambda x: 1, grad=False),
    Case(L.matrix_rank, [f32(4, 3)], {"tol": 100.0}, lambda x: 0, grad=False),
    *[
        Case(L.lstsq, samples, {}, lambda a, b: np.linalg.pinv(a) @ b, rtol=1e-3, atol=1e-4)
        for samples in ([f32(5, 3), f32(5, 2)], [f32(2, 3, 4), f32(2, 3, 1)])
    ],
    Case(
        L.lstsq,
        [f64(5, 3), f64(5, 2)],
        {"l2_regularizer": 0.5},
        lambda a, b: np.linalg.solve(a.T @ a + 0.5 * np.eye(3), a.T @ b),
    ),
    Case(
        L.tridiagonal_matmul,
        [f64(3, 5), f64(5, 2)],
        {},
        lambda d, x: whole(d) @ x,
        unknown_rank=False,
    ),
    Case(L.tridiagonal_matmul, [c64(2, 3, 4), c64(2, 4, 1)], unknown_rank=False),
    Case(
        lambda x: L.tridiagonal_solve(x + DOMINANT, RIGHT),
        [f64(3, 4)],
        {},
        lambda d: np.linalg.solve(whole(d + DOMINANT), RIGHT),
        unknown_rank=False,
    ),
    Case(
        lambda d, b: L.tridiagonal_solve(d + tf.cast(DOMINANT, d.dtype), b),
        [c64(2, 3, 4), c64(2, 4, 3)],
        unknown_rank=False,
        rtol=1e-4,
    ),
    Case(lambda d, b: L.tridiagonal_solve(d, b), [f64(3, 1, **BIG), f64(1, 2)], unknown_rank=False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_case(case: Case) -> None:
    check_case(case)


def test_roots_and_logarithms_undo() -> None:
    x = np.array([[5.0, 1.0], [1.0, 3.0]])
    root, logarithm = L.sqrtm(x), L.logm(x)
    np.testing.assert_allclose(root @ root, x, 1e-12)
    np.testing.assert_allclose(L.expm(logarithm), x, 1e-12)
    single = L.logm(x.astype(np.complex64))
    assert single.dtype is tf.complex64
    np.testing.assert_allclose(L.expm(single), x, 1e-5)


def test_real_matrices_without_a_real_result() -> None:
    x = -np.eye(2, dtype=np.float32)
    assert np.isnan(L.sqrtm(x)).all()
    assert np.isnan(L.logm(x)).all()
    np.testing.assert_allclose(L.sqrtm(x.astype(np.complex64)), 1j * np.eye(2), 1e-6)
    assert np.isnan(L.expm(np.full((2, 2), np.nan))).all()


def test_least_squares_of_deficient_rank_is_the_shortest() -> None:
    ones = np.ones((3, 2), np.float32)
    np.testing.assert_allclose(L.lstsq(ones, ones[:, :1]), [[0.5], [0.5]], 1e-5)
    slow = L.lstsq(ones, ones[:, :1], l2_regularizer=3.0, fast=False)
    np.testing.assert_allclose(slow, [[0.5], [0.5]], 1e-5)


DOMINANT = np.array([[0.0], [5.0], [0.0]])
RIGHT = np.array([1.0, -2.0, 0.5, 3.0])


def test_formats_of_diagonals() -> None:
    diagonals = np.arange(12.0).reshape(3, 4) + DOMINANT
    above, main, below = diagonals
    expected = np.linalg.solve(whole(diagonals), RIGHT)
    for given, form in [
        (diagonals, "compact"),
        ((above, main, below), "sequence"),
        ((above[:-1], main, below[1:]), "sequence"),
        (whole(diagonals), "matrix"),
    ]:
        np.testing.assert_allclose(L.tridiagonal_solve(given, RIGHT, form), expected, 1e-10)
        product = L.tridiagonal_matmul(given, expected[:, None], form)
        np.testing.assert_allclose(product, RIGHT[:, None], 1e-10)
    turned = L.tridiagonal_solve(diagonals, RIGHT[None], transpose_rhs=True)
    np.testing.assert_allclose(turned, expected[:, None], 1e-10)


def test_errors() -> None:
    wide, band = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    for fn in (L.expm, L.logm, L.sqrtm):
        with pytest.raises(ValueError, match="rows and columns of input must be equal"):
            fn(wide)
    for call, text in [
        (lambda: L.pinv([1.0]), "pinv: a must have rank at least 2"),
        (lambda: L.matrix_rank([1.0]), "matrix_rank: a must have rank at least 2"),
        (lambda: L.lstsq(wide, np.ones((3, 1), np.float32)), "the rows of matrix and rhs"),
        (lambda: L.lstsq(wide, wide, l2_regularizer=-1.0), "l2_regularizer must not be negative"),
        (lambda: L.tridiagonal_matmul(band, [[1.0]] * 3), "size of the matrix and the rows of rhs"),
        (lambda: L.tridiagonal_solve(wide, [1.0] * 3), "number of diagonals and must be equal"),
        (lambda: L.tridiagonal_solve(band, [1.0] * 4, "packed"), "must be 'compact', 'sequence'"),
        (lambda: L.tridiagonal_solve(band * 0, [1.0] * 4), "a matrix is singular"),
        (lambda: L.tridiagonal_solve([band], [1.0] * 4, "sequence"), "sequence of three tensors"),
    ]:
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=text):
            call()
    with pytest.raises(NotImplementedError, match="perturb_singular=True is not available"):
        L.tridiagonal_solve(band, [1.0] * 4, perturb_singular=True)
    with pytest.raises(TypeError, match="a must be floating-point or complex, got dtype int32"):
        L.pinv([[1]])


def test_a_negative_regularizer_is_no_matter_of_shapes() -> None:
    with pytest.raises(ValueError, match="l2_regularizer must not be negative, got -1") as caught:
        tf.linalg.lstsq(tf.ones([2, 2]), tf.ones([2, 1]), l2_regularizer=-1.0)
    assert not isinstance(caught.value, tf.errors.ShapeError)


@pytest.mark.parametrize("corner", [np.inf, np.nan, 0.0])
def test_matrices_without_a_logarithm(corner: float) -> None:
    found = tf.linalg.logm(np.array([[corner, 0], [0, 1]], np.complex64)).numpy()
    assert np.isnan(found.real).all()
    assert np.isnan(found.imag).all()


def test_logarithms_of_small_and_large_numbers() -> None:
    x = np.diag([1e-300, 1e300]).astype(np.complex128)
    np.testing.assert_allclose(tf.linalg.logm(x), np.diag(np.log([1e-300, 1e300])), atol=1e-9)
