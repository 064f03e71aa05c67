"""svd, eigh, eig, qr, lu: results against NumPy, gradients of what does not depend on signs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

import weft as tf
from support.op_cases import Case, c64, check_case, f32, f64

L = tf.linalg


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def weighted(u, s, v):
    """A function of all parts that does not change with the signs (phases) of the vectors."""
    weights = tf.cast(tf.range(1, tf.shape(s)[-1] + 1), u.dtype)
    return [tf.matmul(u * weights, v, adjoint_b=True), s]


def svd_parts(x):
    s, u, v = L.svd(x)
    return weighted(u, s, v)


def eigh_parts(x):
    e, v = L.eigh(x)
    return weighted(v, e, v)


def eig_parts(x):
    e, v = L.eig(x)
    order = tf.argsort(tf.math.real(e) + tf.math.imag(e) / 3)
    e, v = tf.gather(e, order, batch_dims=1), tf.gather(v, order, axis=-1, batch_dims=1)
    return [tf.abs(e) ** 2, tf.abs(v) ** 2]


def qr_parts(x):
    q, r = L.qr(x)
    return [tf.matmul(q * q, r), r * r]


def symmetric(x):
    return x + L.adjoint(x)


CASES = [
    *[
        Case(
            lambda x: L.svd(x, compute_uv=False),
            [sample],
            {},
            lambda x: linalg_svd(x),
            label=f"s{i}",
        )
        for i, sample in enumerate([f32(2, 3, 4), f32(4, 3), c64(3, 3), f32(0, 3), f32(2, 3, 0)])
    ],
    *[
        Case(svd_parts, [sample], rtol=1e-4, atol=1e-5, label=f"svd{i}")
        for i, sample in enumerate([f64(2, 3, 3), f64(4, 3), f64(2, 4), c64(3, 2)])
    ],
    Case(
        lambda x: [tf.abs(part) for part in L.svd(x, full_matrices=True)], [f32(4, 3)], grad=False
    ),
    Case(L.eigvalsh, [f32(2, 3, 3)], {}, np.linalg.eigvalsh, rtol=1e-4),
    Case(L.eigvalsh, [c64(3, 3)], {}, np.linalg.eigvalsh, rtol=1e-4),
    Case(eigh_parts, [f64(2, 3, 3)], rtol=1e-4, label="eigh"),
    Case(lambda x: eigh_parts(symmetric(x)), [c64(3, 3)], rtol=1e-4, label="eigh complex"),
    Case(lambda x: tf.abs(L.eigvals(x)) ** 2, [f64(3, 3)], label="eigvals"),
    Case(eig_parts, [f64(2, 3, 3)], second=False, label="eig"),
    Case(eig_parts, [c64(2, 3, 3)], second=False, rtol=1e-4, label="eig complex"),
    *[
        Case(qr_parts, [sample], unknown_rank=False, rtol=1e-4, label=f"qr{i}")
        for i, sample in enumerate([f64(2, 3, 3), f64(4, 3), f64(2, 4)])
    ],
    Case(L.qr, [f32(2, 4, 3)], {}, lambda x: list(np.linalg.qr(x)), grad=False),
    Case(L.qr, [f32(3, 4)], {"full_matrices": True}, lambda x: list(np.linalg.qr(x)), grad=False),
    Case(L.qr, [f32(0, 3)], {}, lambda x: list(np.linalg.qr(x)), grad=False),
    Case(lambda x: L.lu(x)[0], [f64(2, 3, 3)], unknown_rank=False, label="lu"),
    Case(lambda x: L.lu(x)[0], [c64(3, 3)], unknown_rank=False, rtol=1e-4, label="lu complex"),
    Case(lambda x: L.lu_reconstruct(*L.lu(x)), [f32(2, 3, 3)], {}, lambda x: x, unknown_rank=False),
    Case(
        lambda x, y: L.lu_solve(*L.lu(x), y),
        [f64(2, 3, 3), f64(2, 3, 2)],
        {},
        np.linalg.solve,
        unknown_rank=False,
    ),
    Case(
        lambda x: L.lu_matrix_inverse(*L.lu(x)),
        [f64(3, 3)],
        {},
        np.linalg.inv,
        unknown_rank=False,
    ),
]


def linalg_svd(x):
    return np.linalg.svd(x, compute_uv=False)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_case(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(2, 4, 3), (3, 4), (3, 3)])
def test_factors_multiply_to_the_matrix(dtype: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype.startswith("c") else 0)
    x, tolerance = x.astype(dtype), {"float16": 1e-2, "float32": 1e-5}.get(dtype, 1e-5)
    for full in (False, True):
        s, u, v = [part.numpy() for part in L.svd(x, full_matrices=full)]
        k = s.shape[-1]
        assert u.dtype == v.dtype == x.dtype
        product = (u[..., :k] * s[..., None, :].astype(u.dtype)) @ adjoint(v[..., :k])
        np.testing.assert_allclose(product, x, tolerance, tolerance)
        q, r = [part.numpy() for part in L.qr(x, full_matrices=full)]
        np.testing.assert_allclose(q @ r, x, tolerance, tolerance)
        assert (np.tril(r, -1) == 0).all()


def test_eigenvectors() -> None:
    x = np.random.default_rng(1).normal(size=(2, 3, 3)).astype(np.float32)
    e, v = [part.numpy() for part in L.eig(x)]
    assert e.dtype == np.complex64
    np.testing.assert_allclose(x @ v, v * e[:, None], 1e-4, 1e-5)
    np.testing.assert_allclose(np.linalg.norm(v, axis=-2), 1, 1e-5)
    both = x + adjoint(x)
    e, v = [part.numpy() for part in L.eigh(both)]
    np.testing.assert_allclose(both @ v, v * e[:, None], 1e-4, 1e-5)
    assert L.eigh(both.astype(np.complex64))[0].dtype is tf.complex64


def test_only_the_lower_triangle_counts() -> None:
    lower = np.array([[2.0, 9.0], [1.0, 3.0]], np.float32)
    np.testing.assert_allclose(L.eigvalsh(lower), np.linalg.eigvalsh(lower), 1e-6)
    x = tf.constant(lower)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = L.eigvalsh(x)
    assert tape.gradient(y, x)[0, 1] == 0


def test_lu_permutations() -> None:
    x = np.random.default_rng(0).normal(size=(5, 5))
    packed, p = L.lu(x, output_idx_type=tf.int64)
    assert p.dtype is tf.int64
    lower, upper = np.tril(packed, -1) + np.eye(5), np.triu(packed)
    np.testing.assert_allclose(lower @ upper, x[p.numpy()], 1e-12)
    _, rows = linalg.lu_factor(x)
    assert rows.shape == p.shape


def test_nan() -> None:
    bad = np.full((2, 2), np.nan, np.float32)
    assert all(np.isnan(part).all() for part in L.svd(bad))
    for fn in (L.eig, L.eigh, L.eigvals, L.eigvalsh):
        with pytest.raises(tf.errors.InvalidArgumentError, match="NaN or infinity"):
            fn(bad)


def test_errors() -> None:
    wide = np.ones((2, 3), np.float32)
    for fn in (L.eig, L.eigh, L.eigvals, L.eigvalsh, L.lu):
        with pytest.raises(ValueError, match="rows and columns of (tensor|input) must be equal"):
            fn(wide)
    for fn in (L.svd, L.qr):
        with pytest.raises(tf.errors.InvalidArgumentError, match="must have rank at least 2"):
            fn([1.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="lu: a matrix in input is not invert"):
        L.lu(np.zeros((2, 2)))
    with pytest.raises(TypeError, match="output_idx_type must be int32 or int64, got float32"):
        L.lu(np.eye(2), output_idx_type=tf.float32)
    with pytest.raises(TypeError, match="Qr: input has dtype int32"):
        L.qr([[1, 2]])


def test_gradients_that_do_not_exist_say_so() -> None:
    x = tf.constant(np.ones((3, 2), np.float32) + np.eye(3, 2, dtype=np.float32))
    for fn, text in [
        (lambda x: L.qr(x, full_matrices=True)[0], "qr: with full_matrices=True"),
        (lambda x: L.svd(x, full_matrices=True)[1], "svd: the gradient of full_matrices=True"),
    ]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = fn(x)
        with pytest.raises(tf.errors.UnimplementedError, match=text):
            tape.gradient(y, x)


def test_nan_in_one_matrix_of_a_batch_leaves_the_others_alone() -> None:
    batch = np.random.default_rng(3).normal(size=(3, 2, 4))
    alone = [L.svd(batch[i]) for i in range(3)]
    inverses = L.pinv(batch).numpy()
    batch[1, 0, 2] = np.inf
    for k, part in enumerate(L.svd(batch)):
        assert np.isnan(part[1]).all()
        for i in (0, 2):
            np.testing.assert_allclose(part[i], alone[i][k])
    np.testing.assert_allclose(L.pinv(batch).numpy()[[0, 2]], inverses[[0, 2]])
    assert np.isnan(L.pinv(batch)[1]).all()


def test_gradient_of_the_full_svd_of_unknown_shape_is_refused() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None)])
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(L.svd(x, full_matrices=True)[1])
        return tape.gradient(y, x)

    with pytest.raises(NotImplementedError, match="full_matrices=True is only known for square"):
        f(np.eye(2, 3, dtype=np.float32))
