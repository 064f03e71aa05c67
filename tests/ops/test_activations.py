"""Activation functions."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from scipy import special

import weft as tf
from support.op_cases import Case, check_case, f32, f64, i32

INF, NAN = np.inf, np.nan
SCALE, SCALE_ALPHA = 1.0507009873554805, 1.7580993408473768


def _selu(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0, SCALE_ALPHA * np.expm1(x), SCALE * x)


def _gelu(x: np.ndarray) -> np.ndarray:
    return x * special.ndtr(x)


def _gelu_tanh(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


ROWS = [
    (tf.nn.relu, {}, lambda x: np.maximum(x, 0)),
    (tf.nn.relu6, {}, lambda x: np.clip(x, 0, 6)),
    (tf.nn.leaky_relu, {}, lambda x: np.where(x > 0, x, 0.2 * x)),
    (tf.nn.leaky_relu, {"alpha": 0.3}, lambda x: np.where(x > 0, x, 0.3 * x)),
    (tf.nn.elu, {}, lambda x: np.where(x < 0, np.expm1(x), x)),
    (tf.nn.selu, {}, _selu),
    (tf.nn.softsign, {}, lambda x: x / (1 + np.abs(x))),
    (tf.nn.softplus, {}, lambda x: np.logaddexp(x, 0)),
    (tf.nn.silu, {}, lambda x: x * special.expit(x)),
    (tf.nn.silu, {"beta": 2.0}, lambda x: x * special.expit(2 * x)),
    (tf.nn.gelu, {}, _gelu),
    (tf.nn.gelu, {"approximate": True}, _gelu_tanh),
    (tf.nn.crelu, {}, lambda x: np.maximum(np.concatenate([x, -x], -1), 0)),
    (tf.nn.crelu, {"axis": 0}, lambda x: np.maximum(np.concatenate([x, -x], 0), 0)),
]
CASES = [
    *[Case(fn, [f32(2, 3, low=-3, high=3)], attrs, ref) for fn, attrs, ref in ROWS],
    Case(tf.nn.relu6, [f64(2, 3, low=4, high=8)], {}, lambda x: np.clip(x, 0, 6)),
    Case(tf.nn.relu, [i32(2, 3)], {}, lambda x: np.maximum(x, 0)),
    Case(tf.nn.leaky_relu, [i32(2, 3)], {}, lambda x: np.where(x > 0, x, np.float32(0.2) * x)),
    Case(tf.nn.relu, [f32()], {}, lambda x: np.maximum(x, 0)),
    Case(tf.nn.relu, [f32(0, 3)], {}, lambda x: x),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].__name__)
def test_narrow_floats(row: tuple, dtype: type) -> None:
    fn, attrs, ref = row
    x = np.linspace(-3, 3, 8).astype(dtype)
    out = fn(x, **attrs)
    assert out.dtype == dtype
    tolerance = 4e-3 if dtype is np.float16 else 2e-2
    np.testing.assert_allclose(
        out.numpy().astype(float), ref(x.astype(float)), tolerance, tolerance
    )


@pytest.mark.parametrize(
    ("fn", "points", "values", "gradients"),
    [
        # (as TensorFlow 2.21)
        (tf.nn.relu, [0.0, -0.0, INF, NAN], [0, 0, INF, NAN], [0, 0, 1, 0]),
        (tf.nn.relu6, [0.0, 6.0, INF, NAN], [0, 6, 6, NAN], [0, 0, 0, 0]),
        (tf.nn.leaky_relu, [0.0, -INF, INF], [0, -INF, INF], [np.float32(0.2), np.float32(0.2), 1]),
        (tf.nn.elu, [0.0, -INF, INF, NAN], [0, -1, INF, NAN], [1, 0, 1, 1]),
        (tf.nn.selu, [0.0, INF], [0, INF], [np.float32(SCALE)] * 2),
        (tf.nn.softsign, [0.0, INF], [0, NAN], [1, 0]),
        (tf.nn.silu, [0.0, INF, -INF], [0, INF, NAN], [0.5, NAN, NAN]),
    ],
)
def test_rough_points(fn: object, points: list, values: list, gradients: list) -> None:
    x = tf.constant(points)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fn(x)
    np.testing.assert_array_equal(y, values)
    np.testing.assert_array_equal(tape.gradient(y, x), gradients)


def test_large_values_do_not_overflow() -> None:
    x = tf.constant([-1000.0, 1000.0])
    for fn in (tf.nn.elu, tf.nn.selu, tf.nn.softplus, tf.nn.gelu, tf.nn.silu):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = fn(x)
        assert np.isfinite(y.numpy()).all()
        assert np.isfinite(tape.gradient(y, x).numpy()).all()


def test_names_and_errors() -> None:
    assert tf.nn.swish is tf.nn.silu
    with pytest.raises(TypeError, match="gelu: features must be floating, got int32"):
        tf.nn.gelu([1])
    with pytest.raises(TypeError, match="Relu: x has dtype string, expected one of"):
        tf.nn.relu("a")
    with pytest.raises(TypeError, match="Elu: x has dtype int32, expected one of"):
        tf.nn.elu([1])


def test_alpha_is_a_number() -> None:
    with pytest.raises(TypeError, match=r"alpha must be a number. An array of shape \(1,\) is"):
        tf.nn.leaky_relu([1.0], alpha=np.array([0.1]))
    assert tf.nn.leaky_relu([-1.0], alpha=np.array(0.5)).numpy().tolist() == [-0.5]
