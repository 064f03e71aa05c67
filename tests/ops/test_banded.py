"""Banded triangular matrices, eigenvalues of tridiagonal ones, MDCT, isotonic regression, pools."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, c64, check_case, f32

L = tf.linalg


def banded(bands: Any, lower: bool) -> Any:
    count, n = bands.shape[-2:]
    out = np.zeros((*bands.shape[:-2], n, n), bands.dtype)
    for k in range(count):
        offset = -k if lower else count - 1 - k
        for i in range(n):
            if 0 <= i + offset < n:
                out[..., i, i + offset] = bands[..., k, i]
    return out


def solved(lower: bool, adjoint: bool) -> Any:
    def solve(bands: Any, rhs: Any) -> Any:
        matrix = banded(bands, lower)
        return np.linalg.solve(np.conj(np.swapaxes(matrix, -1, -2)) if adjoint else matrix, rhs)

    return solve


CASES = [
    *[
        Case(
            L.banded_triangular_solve,
            [bands, rhs],
            {"lower": lower, "adjoint": adjoint},
            solved(lower, adjoint),
            unknown_shapes=False,
            rtol=1e-4,
            label=f"banded{i}{lower}{adjoint}",
        )
        for i, (bands, rhs) in enumerate(
            [
                (f32(2, 4, low=1, high=2), f32(4, 3)),
                (f32(3, 5, low=1, high=2), f32(2, 5, 1)),
                (f32(2, 1, 4, low=1, high=2), f32(2, 4, 3)),
                (c64(2, 4, low=1, high=2), c64(4, 3)),
            ]
        )
        for lower in (True, False)
        for adjoint in (True, False)
    ],
    Case(L.banded_triangular_solve, [f32(2, 4, low=1, high=2), f32(4, 3)], grad=False),
    Case(
        L.eigh_tridiagonal,
        [f32(4), f32(3)],
        {},
        lambda a, b: np.linalg.eigvalsh(np.diag(a) + np.diag(b, 1) + np.diag(b, -1)),
    ),
    Case(L.eigh_tridiagonal, [f32(2, 4), f32(2, 3)]),
    Case(L.eigh_tridiagonal, [f32(1), f32(0)], {}, lambda a, b: a),
    Case(lambda a, b: L.eigh_tridiagonal(tf.cast(tf.math.real(a), a.dtype), b), [c64(4), c64(3)]),
    Case(lambda a, b: projections(a, b), [f32(4), f32(3)], label="vectors"),
    Case(lambda a, b: projections(a, b), [f32(3), f32(2)], label="vectors3"),
    Case(tf.signal.mdct, [f32(2, 16)], {"frame_length": 8}),
    Case(tf.signal.mdct, [f32(17)], {"frame_length": 8, "pad_end": True}, unknown_rank=False),
    Case(tf.signal.inverse_mdct, [f32(2, 3, 4)], unknown_shapes=False),
    Case(lambda x: tf.nn.isotonic_regression(x)[0], [f32(2, 3, 5)], {}),
    Case(
        lambda x: tf.nn.isotonic_regression(x, decreasing=False, axis=1)[0],
        [f32(2, 5, 3)],
        {},
        unknown_rank=False,
    ),
    Case(tf.nn.isotonic_regression, [f32(2, 0)], {}, grad=False),
    *[
        Case(
            lambda x, pool=pool, overlapping=overlapping: pool(
                x, [1.0, 2.0, 2.0, 1.0], overlapping=overlapping
            )[0],
            [f32(2, 4, 6, 3)],
            {},
            unknown_rank=False,
            second=False,
            label=f"{pool.__name__}{overlapping}",
        )
        for pool in (tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool)
        for overlapping in (False, True)
    ],
]


def projections(alpha: Any, beta: Any) -> Any:
    """What does not change with the signs of the eigenvectors."""
    values, vectors = L.eigh_tridiagonal(alpha, beta, eigvals_only=False)
    weights = tf.cast(tf.range(1, tf.shape(values)[-1] + 1), vectors.dtype)
    return [tf.matmul(vectors * weights, vectors, adjoint_b=True), values]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    check_case(case)


def test_rows_of_tensorflow() -> None:
    bands, rhs = [[9.0, 2, 3, 4], [5, 6, 7, 8]], [[1.0], [2], [3], [4]]
    for attrs, expected in (
        ({}, [0.11111111, 0.6666666, -0.5555555, 2.1111112]),
        ({"lower": False}, [-0.27142853, 0.26190475, 0.21428572, 0.5]),
        ({"adjoint": True}, [-4.4444447, 6.833333, -1.6666666, 1.0]),
    ):
        found = L.banded_triangular_solve(bands, rhs, **attrs).numpy().ravel()
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="singular"):
        L.banded_triangular_solve([[0.0, 1.0]], [[1.0], [1.0]])
    with pytest.raises(tf.errors.ShapeError, match="more diagonals"):
        L.banded_triangular_solve(tf.ones([3, 2]), tf.ones([2, 1]))


def test_selected_eigenvalues() -> None:
    alpha, beta = [1.0, 2.0, 3.0, 4.0], [0.5, 0.25, 0.125]
    every = [0.7886733, 2.1446197, 3.050821, 4.0158863]
    by_number = L.eigh_tridiagonal(alpha, beta, select="i", select_range=(1, 2))
    by_value = L.eigh_tridiagonal(alpha, beta, select="v", select_range=(1.5, 3.5))
    np.testing.assert_allclose(by_number, every[1:3], rtol=1e-6)
    np.testing.assert_allclose(by_value, every[1:3], rtol=1e-6)
    values, vectors = L.eigh_tridiagonal(
        tf.constant([1.0, 2, 3], tf.complex64),
        tf.constant([0.5j, 0.25 + 1j], tf.complex64),
        eigvals_only=False,
        select="i",
        select_range=(0, 1),
    )
    np.testing.assert_allclose(values, [0.70118034, 1.6260324], rtol=1e-5)
    matrix = np.array([[1, -0.5j, 0], [0.5j, 2, 0.25 - 1j], [0, 0.25 + 1j, 3]])
    np.testing.assert_allclose(
        matrix @ vectors.numpy(), vectors * tf.cast(values, tf.complex64), atol=1e-5
    )
    for attrs, text in (({"select": "z"}, "select must be"), ({"select": "i"}, "must be a pair")):
        with pytest.raises(ValueError, match=text):
            L.eigh_tridiagonal(alpha, beta, **attrs)
    with pytest.raises(tf.errors.ShapeError, match="one element less"):
        L.eigh_tridiagonal(alpha, [0.5, 0.25])


def test_mdct_of_tensorflow() -> None:
    x = tf.range(16.0)
    plain = tf.signal.mdct(x, 8)
    np.testing.assert_allclose(plain[0], [-25.334255, -2.9630427, -2.7058969, -0.33893824], 1e-5)
    normed = tf.signal.mdct(x, 8, norm="ortho")
    np.testing.assert_allclose(normed[1], [-16.898067, -0.37930477, -1.6469477, -0.24831161], 1e-4)
    bare = tf.signal.mdct(tf.range(17.0), 8, pad_end=True, window_fn=None)
    assert bare.shape == (5, 4)
    np.testing.assert_allclose(bare[0], [-30.82505, -4.952923, 4.61122, 3.4671645], 1e-5)
    for norm, window in ((None, tf.signal.vorbis_window), ("ortho", None)):
        back = tf.signal.inverse_mdct(tf.signal.mdct(x, 8, window, norm=norm), window, norm=norm)
        np.testing.assert_allclose(back[4:12], x[4:12], rtol=1e-5)
    np.testing.assert_allclose(
        tf.signal.inverse_mdct(plain, None)[:4],
        [-2.1175303, -0.9216665, 0.9216665, 2.1175303],
        1e-5,
    )
    with pytest.raises(ValueError, match="multiple of 4"):
        tf.signal.mdct(x, 6)


def test_isotonic_regression_of_tensorflow() -> None:
    out, blocks = tf.nn.isotonic_regression([[3.0, 1, 2, 5, 4], [1, 2, 3, 4, 5]])
    assert out.numpy().tolist() == [[3.0] * 5] * 2
    assert blocks.numpy().tolist() == [[0, 1, 1, 1, 1], [0] * 5]
    out, blocks = tf.nn.isotonic_regression([[3, 1, 2, 5, 4], [1, 2, 3, 4, 5]], decreasing=False)
    assert out.dtype == tf.float64
    assert out.numpy().tolist() == [[2, 2, 2, 4.5, 4.5], [1, 2, 3, 4, 5]]
    assert blocks.numpy().tolist() == [[0, 0, 1, 2, 2], [0, 1, 2, 3, 4]]


def pooled(x: Any, rows: Any, columns: Any, overlapping: bool, function: Any) -> Any:
    """Windows one by one."""
    more = int(overlapping)
    return np.array(
        [
            [
                function(x[:, r0 : r1 + more, c0 : c1 + more], axis=(1, 2))
                for c0, c1 in itertools.pairwise(columns)
            ]
            for r0, r1 in itertools.pairwise(rows)
        ]
    ).transpose(2, 0, 1, 3)


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pseudo_random", [False, True])
@pytest.mark.parametrize("ratio", [1.0, 1.4, 1.7, 2.6, 3.0])
def test_fractional_pools(ratio: float, pseudo_random: bool, overlapping: bool) -> None:
    x = np.random.default_rng(0).normal(size=(2, 5, 11, 3)).astype(np.float32)
    for function, plain in (
        (tf.nn.fractional_max_pool, np.max),
        (tf.nn.fractional_avg_pool, np.mean),
    ):
        out, rows, columns = function(x, [1.0, ratio, 1.3, 1.0], pseudo_random, overlapping)
        assert out.shape == (2, int(5 / ratio), 8, 3)
        for ends, size in ((rows.numpy(), 5), (columns.numpy(), 11)):
            steps = np.diff(ends)
            assert (ends[0], ends[-1]) == (0, size)
            assert set(steps.tolist()) <= {size // len(steps), size // len(steps) + 1}
        expected = pooled(x, rows.numpy(), columns.numpy(), overlapping, plain)
        np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)


def test_fractional_pools_are_drawn() -> None:
    x = tf.zeros([1, 40, 3, 1])

    @tf.function(input_signature=[tf.TensorSpec([None, None, None, None])])
    def rows(x: Any) -> Any:
        return tf.nn.fractional_max_pool(x, [1.0, 1.5, 1.0, 1.0])[1]

    assert len({tuple(rows(x).numpy().tolist()) for _ in range(60)}) > 1
    tf.random.set_seed(1)
    first = tf.nn.fractional_max_pool(x, 1.5, seed=3)[1].numpy()
    tf.random.set_seed(1)
    assert tf.nn.fractional_max_pool(x, 1.5, seed=3)[1].numpy().tolist() == first.tolist()
    whole = tf.reshape(tf.range(70), [2, 5, 7, 1])
    out, rows_of, columns = tf.nn.fractional_avg_pool(whole, [1.0, 2.4, 1.7, 1.0])
    plain = pooled(whole.numpy(), rows_of.numpy(), columns.numpy(), False, np.mean)
    assert out.numpy().tolist() == plain.astype(np.int32).tolist()


@pytest.mark.parametrize(
    ("ratio", "error", "text"),
    [
        ([0.4], tf.errors.InvalidArgumentError, "less than 1"),
        ([2.0, 1.0, 1.0, 1.0], tf.errors.UnsupportedError, "batch and channels"),
        ([1.0] * 3, ValueError, "one, two or four"),
        (2.0, TypeError, "pooling_ratio must be a list of four, got 2.0"),
        ([9.0], tf.errors.InvalidArgumentError, "leaves nothing"),
    ],
)
def test_ratios_that_do_not_fit(ratio: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        tf.nn.fractional_avg_pool(tf.ones([1, 4, 5, 1]), ratio)


# --- convolutions, with what TensorFlow gives ----------------------------------------------------


def test_convolutions_of_tensorflow() -> None:
    x = tf.reshape(tf.range(70.0), [2, 5, 7, 1])
    turned = tf.nn.atrous_conv2d_transpose(x, tf.ones([2, 3, 2, 1]), [2, 5, 7, 2], 2, "SAME")
    assert turned.numpy()[0, 0, :, 0].tolist() == [16, 18, 27, 30, 33, 22, 24]
    wide = tf.nn.atrous_conv2d_transpose(x, tf.ones([2, 3, 2, 1]), [2, 7, 11, 2], 2, "VALID")
    assert wide.numpy().sum((1, 2)).tolist() == [[3570.0] * 2, [10920.0] * 2]

    def conv(x: Any, n: int, padding: str) -> Any:
        assert n == 2
        return tf.nn.conv2d(x, tf.ones([2, 3, 1, 1]), 1, padding)

    for padding, shape in (("SAME", [2, 3]), ("VALID", None)):
        found = tf.nn.with_space_to_batch(x, [2, 3], padding, conv, filter_shape=shape)
        plain = tf.nn.conv2d(x, tf.ones([2, 3, 1, 1]), 1, padding, dilations=[2, 3])
        np.testing.assert_allclose(found, plain)
    scaled = tf.nn.batch_norm_with_global_normalization(
        tf.range(3.0), [1.0], [2.0], [3.0], [4.0], 0.1, True
    )
    np.testing.assert_allclose(scaled, [0.23973775, 3.0, 5.7602625], rtol=1e-6)


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_gradients_of_depthwise_convolutions(padding: str) -> None:
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=(2, 6, 5, 3)), tf.float32)
    kernel = tf.constant(rng.normal(size=(2, 3, 3, 2)), tf.float32)
    with tf.GradientTape() as tape:
        tape.watch([x, kernel])
        y = tf.nn.depthwise_conv2d(x, kernel, [1, 2, 2, 1], padding)
        weights = tf.constant(rng.normal(size=y.shape), tf.float32)
        total = tf.reduce_sum(y * weights)
    expected = tape.gradient(total, [x, kernel])
    strides = [1, 2, 2, 1]
    for_input = tf.nn.depthwise_conv2d_backprop_input(x.shape, kernel, weights, strides, padding)
    for_filter = tf.nn.depthwise_conv2d_backprop_filter(x, [2, 3, 3, 2], weights, strides, padding)
    np.testing.assert_allclose(for_input, expected[0], rtol=1e-5)
    np.testing.assert_allclose(for_filter, expected[1], rtol=1e-5, atol=1e-6)
    with pytest.raises(tf.errors.ShapeError, match="the result and out_backprop"):
        tf.nn.depthwise_conv2d_backprop_input([2, 9, 9, 3], kernel, weights, strides, padding)


def test_eigenvalues_of_narrow_floats() -> None:
    found = tf.linalg.eigh_tridiagonal(
        tf.constant([1.0, 2.0], tf.float16), tf.constant([0.5], tf.float16)
    )
    assert found.dtype == tf.float16
    np.testing.assert_allclose(found, [0.7929, 2.207], rtol=1e-3)
