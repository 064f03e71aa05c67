"""Elementwise functions of one variable."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from scipy import special

import weft as tf
from support.op_cases import Case, c64, check_case, f32, f64, i32

INF, NAN = np.inf, np.nan

# The function, the same in NumPy, and a range in which it is smooth.
SMOOTH = [
    (tf.exp, np.exp, -2, 2),
    (tf.math.expm1, np.expm1, -2, 2),
    (tf.math.log, np.log, 0.5, 2),
    (tf.math.log1p, np.log1p, -0.5, 2),
    (tf.sqrt, np.sqrt, 0.5, 2),
    (tf.math.rsqrt, lambda x: 1 / np.sqrt(x), 0.5, 2),
    (tf.math.reciprocal, lambda x: 1 / x, 0.5, 2),
    (tf.square, np.square, -2, 2),
    (tf.sin, np.sin, -2, 2),
    (tf.cos, np.cos, -2, 2),
    (tf.tan, np.tan, -1, 1),
    (tf.asin, np.arcsin, -0.8, 0.8),
    (tf.acos, np.arccos, -0.8, 0.8),
    (tf.atan, np.arctan, -2, 2),
    (tf.sinh, np.sinh, -2, 2),
    (tf.cosh, np.cosh, -2, 2),
    (tf.tanh, np.tanh, -2, 2),
    (tf.asinh, np.arcsinh, -2, 2),
    (tf.acosh, np.arccosh, 1.5, 2),
    (tf.atanh, np.arctanh, -0.8, 0.8),
    (tf.sigmoid, special.expit, -2, 2),
    (tf.abs, np.abs, 0.5, 2),
    (tf.sign, np.sign, 0.5, 2),
    (tf.negative, np.negative, -2, 2),
]
REAL_ONLY = [
    (tf.math.erf, special.erf, -2, 2),
    (tf.math.erfc, special.erfc, -2, 2),
    (tf.math.erfinv, special.erfinv, -0.8, 0.8),
    (tf.math.ndtri, special.ndtri, 0.1, 0.9),
    (tf.math.erfcinv, special.erfcinv, 0.2, 1.8),
    (tf.math.lgamma, special.gammaln, 0.5, 3),
    (tf.math.digamma, special.digamma, 0.5, 3),
    (tf.math.softplus, lambda x: np.logaddexp(x, 0), -2, 2),
    (tf.math.log_sigmoid, lambda x: -np.logaddexp(-x, 0), -2, 2),
]
ROUNDING = [
    (tf.floor, np.floor),
    (tf.math.ceil, np.ceil),
    (tf.round, np.rint),
    (tf.math.rint, np.rint),
]
QUESTIONS = [
    (tf.math.is_nan, np.isnan),
    (tf.math.is_inf, np.isinf),
    (tf.math.is_finite, np.isfinite),
]
WHOLE = [(tf.abs, np.abs), (tf.sign, np.sign), (tf.square, np.square)]
_HALVES = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, INF, NAN])
CASES = [
    *[
        Case(fn, [f32(2, 3, low=low, high=high)], {}, ref, rtol=2e-5)
        for fn, ref, low, high in SMOOTH + REAL_ONLY
    ],
    *[
        Case(fn, [c64(2, 3, low=0.3, high=0.7)], {}, ref, rtol=1e-4, label=f"{fn.__name__} complex")
        for fn, ref, _, _ in SMOOTH
        if fn not in (tf.sigmoid, tf.sign)
    ],
    Case(tf.sign, [c64(2, 3)], {}, lambda x: x / np.abs(x), label="sign complex"),
    Case(tf.sigmoid, [c64(2, 3)], {}, lambda x: 1 / (1 + np.exp(-x)), label="sigmoid complex"),
    *[Case(fn, [f32(2, 3, low=-9, high=9)], {}, ref, grad=False) for fn, ref in ROUNDING],
    *[
        Case(fn, [_HALVES], {}, ref, grad=False, label=f"{fn.__name__} halves")
        for fn, ref in ROUNDING
    ],
    *[Case(fn, [np.float32([0, INF, -INF, NAN])], {}, ref, grad=False) for fn, ref in QUESTIONS],
    *[Case(fn, [i32(2, 3)], {}, ref) for fn, ref in WHOLE],
    Case(tf.exp, [f32()], {}, np.exp),
    Case(tf.exp, [f32(0, 3)], {}, np.exp),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
@pytest.mark.parametrize("row", SMOOTH + REAL_ONLY, ids=lambda row: row[0].__name__)
def test_other_float_dtypes(row: tuple, dtype: type) -> None:
    fn, ref, low, high = row
    x = np.linspace(low, high, 7).astype(dtype)
    out = fn(x)
    assert out.dtype == dtype
    wide = ref(x.astype(np.float64))
    tolerance = {np.float16: 2e-3, np.float64: 1e-12}.get(dtype, 1.6e-2)
    np.testing.assert_allclose(out.numpy().astype(float), wide, tolerance, tolerance)


def test_stable_where_the_formula_is_not() -> None:
    x = tf.constant([-100.0, -20.0, 1e-8, 20.0, 100.0])
    np.testing.assert_allclose(tf.math.softplus(x), np.logaddexp(x.numpy(), 0), rtol=1e-6)
    np.testing.assert_allclose(tf.math.log_sigmoid(x), -np.logaddexp(-x.numpy(), 0), rtol=1e-6)
    np.testing.assert_allclose(tf.math.log1p(1e-8), 1e-8, rtol=1e-6)
    np.testing.assert_allclose(tf.math.expm1(1e-8), 1e-8, rtol=1e-6)
    np.testing.assert_allclose(tf.math.erfc(5.0), special.erfc(5.0), rtol=1e-5)
    np.testing.assert_array_equal(tf.sigmoid([-INF, -1000.0, 1000.0, INF]), [0, 0, 1, 1])


def test_the_absolute_value_of_the_smallest_integer_wraps() -> None:
    assert tf.abs(tf.constant([-128], tf.int8)).numpy().tolist() == [-128]


def test_rounding_integers_returns_them() -> None:
    x = tf.constant([1, 2])
    assert tf.round(x) is x


@pytest.mark.parametrize(
    ("fn", "x", "expected"),
    [
        # (as TensorFlow 2.21)
        (tf.abs, 0.0, 0.0),
        (tf.sign, 0.0, 0.0),
        (tf.sqrt, 0.0, INF),
        (tf.math.log, 0.0, INF),
        (tf.math.reciprocal, 0.0, -INF),
        (tf.math.rsqrt, 0.0, -INF),
        (tf.asin, 1.0, INF),
        (tf.acosh, 1.0, INF),
        (tf.math.softplus, -INF, 0.0),
        (tf.sign, complex(0), 0.0),
        (tf.abs, complex(0), 0.0),
    ],
)
def test_gradients_at_rough_points(fn: object, x: object, expected: float) -> None:
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fn(x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), expected)


@pytest.mark.parametrize("fn", [tf.exp, tf.sin, tf.sigmoid, tf.math.erf, tf.floor])
def test_integers_are_refused(fn: object) -> None:
    with pytest.raises(TypeError, match="x has dtype int32, expected one of .* tf.cast"):
        fn(tf.constant([1]))


def test_float64_row() -> None:
    check_case(Case(tf.math.erf, [f64(2, 3)], {}, special.erf))


@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (5, 11, 601)])
def test_erf_of_float32_is_as_exact_as_its_type(shape: tuple[int, ...]) -> None:
    x = np.linspace(-5, 5, math.prod(shape)).astype(np.float32).reshape(shape)
    expected = special.erf(x.astype(np.float64))
    found = tf.math.erf(x).numpy()
    assert found.shape == shape
    assert np.all(np.abs(found - expected) <= 8 * np.spacing(np.abs(expected).astype(np.float32)))
    strided = tf.math.erf(tf.transpose(x)).numpy()
    np.testing.assert_array_equal(strided, found.T)


def test_erf_at_the_edges() -> None:
    x = np.tile(np.float32([np.nan, np.inf, -np.inf, -0.0, 1e-40, 3.9199]), 3)
    found = tf.math.erf(x).numpy()[-6:]
    np.testing.assert_array_equal(found[:4], np.float32([np.nan, 1, -1, -0.0]))
    assert np.signbit(found[3])
    np.testing.assert_allclose(found[4:], [1.1283792e-40, 1.0], rtol=1e-4)
