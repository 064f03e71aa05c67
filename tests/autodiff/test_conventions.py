"""What gradients are where functions are rough, and for unusual numbers: as in TensorFlow 2.21.

The numbers were recorded from it. Where Weft differs on purpose there is a test below that says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

INF, NAN = float("inf"), float("nan")

# A function of x, the value of x, the gradient of (the sum of) the result, flat.
REAL: list[tuple[str, Any, Any]] = [
    ("tf.nn.relu(x)", [-1.0, -0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 1.0]),
    ("tf.nn.relu6(x)", [-1.0, 0.0, 6.0, 7.0], [0.0, 0.0, 0.0, 0.0]),
    ("tf.nn.leaky_relu(x)", [-1.0, 0.0, 2.0], [0.2, 0.2, 1.0]),
    ("tf.nn.elu(x)", [-1.0, 0.0, 2.0], [0.3678795, 1.0, 1.0]),
    ("tf.nn.selu(x)", [-1.0, 0.0, 2.0], [0.6467686, 1.050701, 1.050701]),
    ("tf.nn.crelu(x)", [-1.0, 0.0, 2.0], [-1.0, 0.0, 1.0]),
    ("tf.abs(x)", [-2.0, -0.0, 0.0, 3.0], [-1.0, 0.0, 0.0, 1.0]),
    ("tf.sign(x)", [-2.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
    ("tf.floor(x)", [1.5, 2.0], None),
    ("tf.round(x)", [1.5, 2.0], None),
    ("tf.math.ceil(x)", [1.5], None),
    ("tf.math.rint(x)", [1.5], None),
    ("tf.sqrt(x)", [0.0, 4.0, -1.0, INF], [INF, 0.25, NAN, 0.0]),
    ("tf.math.rsqrt(x)", [0.0, 4.0], [-INF, -0.0625]),
    ("tf.math.log(x)", [0.0, -1.0, 2.0], [INF, -1.0, 0.5]),
    ("tf.math.log1p(x)", [-1.0, 0.0], [INF, 1.0]),
    ("tf.math.reciprocal(x)", [0.0, 2.0], [-INF, -0.25]),
    ("1.0 / x", [0.0, -0.0, 2.0], [-INF, -INF, -0.25]),
    ("tf.square(x)", [0.0, INF], [0.0, INF]),
    ("x ** 0.0", [0.0, 2.0], [NAN, 0.0]),
    ("x ** 0.5", [0.0, 4.0], [INF, 0.25]),
    ("x ** 1.0", [0.0, 4.0], [1.0, 1.0]),
    ("x ** 2.0", [0.0, -3.0], [0.0, -6.0]),
    ("x ** -1.0", [0.0, 2.0], [-INF, -0.25]),
    ("0.0 ** x", [0.0, 1.0, -1.0], [0.0, 0.0, NAN]),
    ("2.0 ** x", [0.0, 1.0], [0.6931472, 1.386294]),
    ("(-2.0) ** x", [2.0, 3.0], [0.0, -0.0]),
    ("x ** x", [0.0, 1.0, 2.0], [NAN, 1.0, 6.772589]),
    ("tf.maximum(x, 1.0)", [0.0, 1.0, 2.0, NAN], [0.0, 1.0, 1.0, 0.0]),
    ("tf.maximum(1.0, x)", [0.0, 1.0, 2.0], [0.0, 0.0, 1.0]),
    ("tf.minimum(x, 1.0)", [0.0, 1.0, 2.0], [1.0, 1.0, 0.0]),
    ("tf.minimum(1.0, x)", [0.0, 1.0, 2.0], [1.0, 0.0, 0.0]),
    ("tf.maximum(x, x)", [0.0, 1.0], [1.0, 1.0]),
    ("tf.reduce_max(x)", [3.0, 1.0, 3.0], [0.5, 0.0, 0.5]),
    ("tf.reduce_min(x)", [1.0, 1.0, 3.0], [0.5, 0.5, 0.0]),
    ("tf.reduce_max(x, axis=1)", [[1.0, 1.0], [0.0, 2.0]], [0.5, 0.5, 0.0, 1.0]),
    ("tf.reduce_prod(x)", [0.0, 2.0, 3.0], [6.0, 0.0, 0.0]),
    ("tf.reduce_prod(x)", [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
    ("tf.math.cumprod(x)", [2.0, 0.0, 3.0], [1.0, 0.0, 0.0]),
    ("tf.clip_by_value(x, -1.0, 1.0)", [-2.0, -1.0, 0.0, 1.0, 2.0], [0.0, 1.0, 1.0, 1.0, 0.0]),
    ("tf.clip_by_norm(x, 5.0)", [3.0, 4.0], [0.1599999, -0.1200001]),
    ("tf.clip_by_norm(x, 2.0)", [3.0, 4.0], [0.06399998, -0.04800001]),
    ("tf.clip_by_norm(x, 2.0)", [0.0, 0.0], [1.0, 1.0]),
    ("tf.norm(x)", [0.0, 0.0], [NAN, NAN]),
    ("tf.norm(x)", [3.0, 4.0], [0.6, 0.8]),
    ("tf.norm(x, ord=1)", [0.0, -2.0], [0.0, -1.0]),
    ("tf.norm(x, ord=float('inf'))", [2.0, -2.0], [0.5, -0.5]),
    ("tf.math.reduce_euclidean_norm(x)", [0.0, 0.0], [NAN, NAN]),
    ("tf.math.reduce_euclidean_norm(x)", [3.0, 4.0], [0.6, 0.8]),
    ("tf.math.l2_normalize(x)", [0.0, 0.0], [1000000.0, 1000000.0]),
    ("tf.math.l2_normalize(x)", [3.0, 4.0], [0.03199999, -0.024]),
    ("tf.math.reduce_std(x)", [1.0, 1.0], [NAN, NAN]),
    ("tf.math.reduce_std(x)", [1.0, 3.0], [-0.5, 0.5]),
    ("tf.math.reduce_variance(x)", [1.0, 3.0], [-1.0, 1.0]),
    ("tf.reduce_logsumexp(x)", [-INF, 0.0], [0.0, 1.0]),
    ("tf.reduce_logsumexp(x)", [-INF, -INF], [NAN, NAN]),
    ("tf.math.top_k(x, 2).values", [1.0, 3.0, 3.0], [0.0, 1.0, 1.0]),
    ("tf.sort(x)", [2.0, 1.0, 2.0], [1.0, 1.0, 1.0]),
    ("tf.math.divide_no_nan(1.0, x)", [0.0, 2.0], [0.0, -0.25]),
    ("tf.math.divide_no_nan(x, 0.0)", [0.0, 2.0], [0.0, 0.0]),
    ("tf.math.multiply_no_nan(x, 0.0)", [1.0, INF], [0.0, 0.0]),
    ("tf.math.multiply_no_nan(2.0, x)", [0.0, 1.0], [2.0, 2.0]),
    ("tf.math.xlogy(x, 0.0)", [0.0, 1.0], [0.0, -INF]),
    ("tf.math.xlogy(0.0, x)", [0.0, 1.0], [0.0, 0.0]),
    ("tf.math.xlogy(x, x)", [0.0, 2.0], [0.0, 1.693147]),
    ("tf.math.xlog1py(x, -1.0)", [0.0, 1.0], [0.0, -INF]),
    ("tf.math.xdivy(x, 0.0)", [0.0, 1.0], [0.0, INF]),
    ("tf.math.xdivy(0.0, x)", [0.0, 1.0], [0.0, 0.0]),
    ("tf.math.reciprocal_no_nan(x)", [0.0, 2.0], [0.0, -0.25]),
    ("tf.where(x > 0.0, tf.math.log(x), 0.0)", [0.0, 1.0], [NAN, 1.0]),
    ("tf.where(x > 0.0, tf.sqrt(x), 0.0)", [0.0, 4.0], [0.0, 0.25]),
    ("tf.asin(x)", [1.0, 0.5], [INF, 1.154701]),
    ("tf.acos(x)", [-1.0, 0.5], [-INF, -1.154701]),
    ("tf.atanh(x)", [1.0, 0.0], [INF, 1.0]),
    ("tf.acosh(x)", [1.0, 2.0], [INF, 0.5773503]),
    ("tf.atan2(x, 0.0)", [0.0, 1.0], [NAN, 0.0]),
    ("tf.atan2(0.0, x)", [0.0, 1.0, -1.0], [NAN, -0.0, -0.0]),
    ("tf.math.mod(x, 2.0)", [3.0, 4.0], [1.0, 1.0]),
    ("tf.math.floormod(5.0, x)", [2.0, 3.0], [-2.0, -1.0]),
    ("tf.math.floordiv(x, 2.0)", [3.0], None),
    ("tf.math.softplus(x)", [-100.0, 0.0, 100.0], [0.0, 0.5, 1.0]),
    ("tf.math.log_sigmoid(x)", [-100.0, 0.0, 100.0], [1.0, 0.5, 0.0]),
    ("tf.sigmoid(x)", [-1000.0, 0.0, 1000.0], [0.0, 0.25, 0.0]),
    ("tf.tanh(x)", [-100.0, 0.0], [0.0, 1.0]),
    ("tf.nn.softmax(x)", [1000.0, 0.0], [0.0, 0.0]),
    ("tf.nn.log_softmax(x)", [1000.0, 0.0], [-1.0, 1.0]),
    ("tf.math.erf(x)", [0.0, 10.0], [1.128379, 0.0]),
    ("tf.math.erfinv(x)", [0.0, 1.0], [0.886227, INF]),
    ("tf.math.digamma(x)", [1.0], [1.644934]),
    ("tf.math.softsign(x)", [-1.0, 0.0, 1.0], [0.25, 1.0, 0.25]),
    ("tf.nn.silu(x)", [0.0, -1.0], [0.5, 0.07232948]),
    ("tf.nn.gelu(x)", [0.0, -1.0], [0.5, -0.08331549]),
    (
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=[0.0, 1.0], logits=x)",
        [0.0, 0.0],
        [0.5, -0.5],
    ),
    (
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=x)",
        [[0.0, 0.0]],
        [-0.5, 0.5],
    ),
    (
        "tf.nn.softmax_cross_entropy_with_logits(labels=[[0.5, 0.5]], logits=x)",
        [[1.0, 2.0]],
        [-0.2310586, 0.2310586],
    ),
    ("tf.nn.max_pool1d(x, 2, 1, 'VALID')", [[[1.0], [1.0], [0.0]]], [1.0, 1.0, 0.0]),
    ("tf.nn.max_pool2d(x, 2, 1, 'SAME')", [[[[1.0], [1.0]], [[1.0], [0.0]]]], [1.0, 1.0, 1.0, 1.0]),
    ("tf.gather(x, [0, 0, 2])", [1.0, 2.0, 3.0], [2.0, 0.0, 1.0]),
    ("tf.tensor_scatter_nd_max(x, [[0], [1]], [1.0, 5.0])", [1.0, 2.0, 3.0], [0.5, 0.0, 1.0]),
    ("tf.tensor_scatter_nd_update(x, [[0], [0]], [1.0, 5.0])", [1.0, 2.0], [0.0, 1.0]),
    ("tf.cumsum(x, exclusive=True, reverse=True)", [1.0, 2.0, 3.0], [0.0, 1.0, 2.0]),
    ("tf.linalg.det(x)", [[1.0, 2.0], [3.0, 4.0]], [4.0, -3.0, -2.0, 1.0]),
    (
        "tf.linalg.cholesky(x)",
        [[4.0, 1.0], [1.0, 3.0]],
        [0.2063445, 0.1746222, 0.1746222, 0.3015113],
    ),
    ("tf.math.nextafter(x, 1.0)", [0.0], [1.0]),
    ("tf.math.squared_difference(x, 1.0)", [1.0, 3.0], [0.0, 4.0]),
    ("tf.cast(x, tf.float64)", [1.0], [1.0]),
    ("tf.cast(tf.cast(x, tf.int32), tf.float32)", [1.5], None),
    ("tf.saturate_cast(x, tf.float16)", [1.0, 1000000.0], [1.0, 0.0]),
    ("tf.ensure_shape(x, [2])", [1.0, 2.0], [1.0, 1.0]),
    ("tf.zeros_like(x)", [1.0], None),
    ("tf.ones_like(x)", [1.0], None),
    ("tf.stop_gradient(x)", [1.0], None),
    ("tf.reduce_sum(x)", [], []),
    ("tf.reduce_max(x)", [], []),
    ("tf.reduce_mean(x)", [], []),
    ("tf.reduce_prod(x)", [], []),
    ("tf.concat([x, [1.0]], 0)", [], []),
    ("tf.nn.softmax(x)", [], []),
    ("tf.matmul(tf.reshape(x, [0, 2]), [[1.0], [2.0]])", [], []),
    ("tf.norm(x)", [], []),
]

COMPLEX: list[tuple[str, Any, Any]] = [
    ("tf.abs(x)", [(1 + 2j), (-0 - 0.5j)], [(0.4472136 + 0.8944272j), -1j]),
    ("tf.math.real(x)", [(1 + 2j), (-0 - 0.5j)], [(1 + 0j), (1 + 0j)]),
    ("tf.math.imag(x)", [(1 + 2j), (-0 - 0.5j)], [1j, 1j]),
    ("tf.math.conj(x)", [(1 + 2j), (-0 - 0.5j)], [(1 - 0j), (1 - 0j)]),
    ("tf.math.angle(x)", [(1 + 2j), (-0 - 0.5j)], [(-0.4 + 0.2j), (2 + 0j)]),
    ("x * x", [(1 + 2j), (-0 - 0.5j)], [(2 - 4j), (-0 + 1j)]),
    ("x / (2 + 1j)", [(1 + 2j), (-0 - 0.5j)], [(0.4 + 0.2j), (0.4 + 0.2j)]),
    ("(1 + 1j) / x", [(1 + 2j), (-0 - 0.5j)], [(-0.04 - 0.28j), (4 - 4j)]),
    ("tf.exp(x)", [(1 + 2j), (-0 - 0.5j)], [(-1.131204 - 2.471727j), (0.8775826 + 0.4794255j)]),
    ("tf.sqrt(x)", [(1 + 2j), (-0 - 0.5j)], [(0.2844322 + 0.1757888j), (0.5 - 0.5j)]),
    ("tf.math.log(x)", [(1 + 2j), (-0 - 0.5j)], [(0.2 + 0.4j), -2j]),
    ("tf.sin(x)", [(1 + 2j), (-0 - 0.5j)], [(2.032723 + 3.051898j), (1.127626 + 0j)]),
    ("tf.tanh(x)", [(1 + 2j), (-0 - 0.5j)], [(-0.3020015 - 0.568103j), (1.298446 + 0j)]),
    ("tf.square(x)", [(1 + 2j), (-0 - 0.5j)], [(2 - 4j), (-0 + 1j)]),
    ("x ** (2 + 0j)", [(1 + 2j), (-0 - 0.5j)], [(2 - 4j), (-4.371139e-08 + 1j)]),
    ("tf.reduce_sum(x * x)", [(1 + 2j), (-0 - 0.5j)], [(2 - 4j), (-0 + 1j)]),
    ("tf.reduce_prod(x)", [(1 + 2j), (-0 - 0.5j)], [0.5j, (1 - 2j)]),
    ("tf.math.reciprocal(x)", [(1 + 2j), (-0 - 0.5j)], [(0.12 - 0.16j), (4 + 0j)]),
    ("tf.cast(x, tf.float32)", [(1 + 2j), (-0 - 0.5j)], [(1 + 0j), (1 + 0j)]),
    ("tf.sign(x)", [(1 + 2j), (-0 - 0.5j)], [(0.3577709 - 0.1788854j), (2 + 0j)]),
    ("tf.linalg.norm(x)", [(1 + 2j), (-0 - 0.5j)], [(0.4364358 + 0.8728715j), -0.2182179j]),
    ("tf.math.squared_difference(x, 1j)", [(1 + 2j), (-0 - 0.5j)], [(2 + 2j), -3j]),
    (
        "tf.complex(tf.math.real(x), 2.0 * tf.math.imag(x))",
        [(1 + 2j), (-0 - 0.5j)],
        [(1 + 0j), (1 + 0j)],
    ),
    (
        "tf.linalg.matvec(tf.constant([[1j, 2], [3, 4j]], tf.complex64), x)",
        [(1 + 2j), (-0 - 0.5j)],
        [(3 - 1j), (2 - 4j)],
    ),
    ("tf.sigmoid(x)", [(1 + 2j), (-0 - 0.5j)], [(0.1408888 + 0.4207183j), (0.2662999 + 0j)]),
    ("tf.math.rsqrt(x)", [(1 + 2j), (-0 - 0.5j)], [(0.01342907 - 0.1489306j), (1 + 1j)]),
    (
        "tf.math.expm1(x)",
        [(1 + 2j), (-0 - 0.5j)],
        [(-1.131204 - 2.471727j), (0.8775826 + 0.4794255j)],
    ),
    ("tf.math.log1p(x)", [(1 + 2j), (-0 - 0.5j)], [(0.25 + 0.25j), (0.8 - 0.4j)]),
    ("tf.atan(x)", [(1 + 2j), (-0 - 0.5j)], [(-0.1 + 0.2j), (1.333333 + 0j)]),
    ("tf.cumsum(x)", [(1 + 2j), (-0 - 0.5j)], [(2 + 0j), (1 + 0j)]),
    (
        "tf.pow(x, x)",
        [(1 + 2j), (-0 - 0.5j)],
        [(-0.5130809 + 0.06460791j), (0.3748594 + 0.6260802j)],
    ),
    ("tf.abs(x)", [0j], [0j]),
    ("tf.math.real(x)", [0j], [(1 + 0j)]),
    ("tf.math.imag(x)", [0j], [1j]),
    ("tf.math.conj(x)", [0j], [(1 - 0j)]),
    ("tf.math.log(x)", [0j], [complex(INF, NAN)]),
    ("tf.sign(x)", [0j], [0j]),
]

# At [0.5, 1.5, 2.0].
FLOAT16: list[tuple[str, Any]] = [
    ("tf.reduce_sum(x * x)", [1.0, 3.0, 4.0]),
    ("tf.reduce_mean(x)", [0.333251953125, 0.333251953125, 0.333251953125]),
    ("tf.exp(x)", [1.6484375, 4.48046875, 7.390625]),
    ("tf.nn.softmax(x)", [5.9545040130615234e-05, 0.00016176700592041016, 0.00026679039001464844]),
    ("tf.sqrt(x)", [0.70703125, 0.408203125, 0.353515625]),
    ("tf.matmul(x[None], x[:, None])", [1.0, 3.0, 4.0]),
    ("tf.tanh(x)", [0.7861328125, 0.1806640625, 0.07080078125]),
    ("tf.reduce_max(x)", [0.0, 0.0, 1.0]),
    ("tf.norm(x)", [0.1961669921875, 0.58837890625, 0.78466796875]),
    ("tf.nn.relu(x)", [1.0, 1.0, 1.0]),
    ("tf.sigmoid(x)", [0.2349853515625, 0.1492919921875, 0.10491943359375]),
    ("tf.math.softplus(x)", [0.62255859375, 0.8173828125, 0.880859375]),
    ("tf.nn.gelu(x)", [0.8671875, 1.126953125, 1.0849609375]),
    ("tf.reduce_logsumexp(x)", [0.1219482421875, 0.331298828125, 0.54638671875]),
    ("tf.math.reduce_std(x)", [-0.445556640625, 0.08905029296875, 0.3564453125]),
    ("x ** 3.0", [0.75, 6.75, 12.0]),
    ("tf.nn.log_softmax(x)", [0.634765625, 0.005859375, -0.638671875]),
    ("tf.cumsum(x)", [3.0, 2.0, 1.0]),
]

BFLOAT16: list[tuple[str, Any]] = [
    ("tf.reduce_sum(x * x)", [1.0, 3.0, 4.0]),
    ("tf.reduce_mean(x)", [0.333984375, 0.333984375, 0.333984375]),
    ("tf.exp(x)", [1.6484375, 4.46875, 7.375]),
    ("tf.nn.softmax(x)", [0.0, 0.0, 0.0]),
    ("tf.sqrt(x)", [0.70703125, 0.408203125, 0.353515625]),
    ("tf.matmul(x[None], x[:, None])", [1.0, 3.0, 4.0]),
    ("tf.tanh(x)", [0.78515625, 0.1796875, 0.0703125]),
    ("tf.reduce_max(x)", [0.0, 0.0, 1.0]),
    ("tf.norm(x)", [0.1962890625, 0.58984375, 0.78515625]),
    ("tf.nn.relu(x)", [1.0, 1.0, 1.0]),
    ("tf.sigmoid(x)", [0.2353515625, 0.1494140625, 0.1064453125]),
    ("tf.math.softplus(x)", [0.62109375, 0.81640625, 0.87890625]),
    ("tf.nn.gelu(x)", [0.8671875, 1.125, 1.0859375]),
    ("tf.reduce_logsumexp(x)", [0.12158203125, 0.33203125, 0.546875]),
    ("tf.math.reduce_std(x)", [-0.4453125, 0.08935546875, 0.357421875]),
    ("x ** 3.0", [0.75, 6.75, 12.0]),
    ("tf.nn.log_softmax(x)", [0.6328125, 0.00390625, -0.640625]),
    ("tf.cumsum(x)", [3.0, 2.0, 1.0]),
]


def gradient(text: str, value: Any, dtype: Any) -> Any:
    x = tf.constant(value, dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = eval(text, {"tf": tf, "x": x})
    return tape.gradient(y, x)


def traced_gradient(text: str, value: Any, dtype: Any, shape: Any) -> Any:
    @tf.function(input_signature=[tf.TensorSpec(shape, dtype)])
    def f(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = eval(text, {"tf": tf, "x": x})
        return tape.gradient(y, x)

    return f(tf.constant(value, dtype))


def check(g: Any, value: Any, expected: Any, dtype: Any, rtol: float) -> None:
    if expected is None:
        assert g is None
        return
    assert g.dtype is dtype
    assert g.shape == np.shape(value)
    flat = np.ravel(tf.convert_to_tensor(g).numpy()).astype(np.complex128)
    want = np.array(expected, np.complex128)
    np.testing.assert_allclose(flat.real, want.real, rtol=rtol, atol=rtol * 0.1)
    np.testing.assert_allclose(flat.imag, want.imag, rtol=rtol, atol=rtol * 0.1)


@pytest.mark.parametrize(("text", "value", "expected"), REAL)
def test_rough_points(text: str, value: Any, expected: Any) -> None:
    check(gradient(text, value, tf.float32), value, expected, tf.float32, 1e-5)
    unknown = [None] * np.ndim(value)
    for shape in (np.shape(value), unknown):
        g = traced_gradient(text, value, tf.float32, shape)
        check(g, value, expected, tf.float32, 1e-5)


@pytest.mark.parametrize(("text", "value", "expected"), COMPLEX)
def test_complex(text: str, value: Any, expected: Any) -> None:
    check(gradient(text, value, tf.complex64), value, expected, tf.complex64, 1e-5)


@pytest.mark.parametrize(("text", "expected"), FLOAT16)
def test_float16(text: str, expected: Any) -> None:
    value = [0.5, 1.5, 2.0]
    check(gradient(text, value, tf.float16), value, expected, tf.float16, 3e-3)


@pytest.mark.parametrize(("text", "expected"), BFLOAT16)
def test_bfloat16(text: str, expected: Any) -> None:
    value = [0.5, 1.5, 2.0]
    check(gradient(text, value, tf.bfloat16), value, expected, tf.bfloat16, 2e-2)


def test_a_gradient_of_zero_stays_zero_where_the_slope_is_infinite() -> None:
    x = tf.constant([0.0, 0.0])
    for f in (tf.sqrt, tf.math.rsqrt, tf.math.reciprocal, tf.norm):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        g = tape.gradient(y, x, output_gradients=tf.zeros_like(y))
        assert g.numpy().tolist() == [0, 0]


def test_the_second_gradient_where_the_first_is_zero() -> None:
    x = tf.constant(4.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = (tf.sqrt(x) - 2.0) ** 2
        first = inner.gradient(y, x)
    assert first.numpy() == 0
    assert outer.gradient(first, x).numpy() == 0.125


@pytest.mark.parametrize(
    "function",
    [
        tf.nn.relu,
        tf.nn.relu6,
        tf.nn.leaky_relu,
        tf.nn.crelu,
        lambda x: tf.nn.max_pool2d(tf.reshape(x, [1, 2, 3, 1]), 2, 1, "SAME"),
    ],
)
def test_the_second_gradient_of_piecewise_linear_functions_is_zero_not_none(function: Any) -> None:
    def twice(x: Any) -> Any:
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = function(x)
            first = inner.gradient(y, x)
        return outer.gradient(first, x)

    x = tf.constant([[0.3, -1.2, 2.5], [1.7, 0.1, -0.4]])
    for run in (twice, tf.function(twice)):
        assert run(x).numpy().tolist() == [[0, 0, 0], [0, 0, 0]]


# --- on purpose not as TensorFlow ----------------------------------------------------------------


def test_complex_cumprod_is_conjugate_like_everything_else() -> None:
    """TensorFlow forgets the conjugate here, and has it in reduce_prod."""
    value = [1 + 2j, -0.5j]
    last = gradient("tf.math.cumprod(x)[1]", value, tf.complex64)
    product = gradient("tf.reduce_prod(x)", value, tf.complex64)
    np.testing.assert_allclose(last, product)


def test_ops_without_a_gradient_give_none() -> None:
    """TensorFlow raises a LookupError for some of them, and gives None for others."""
    for text in ("tf.unique(x)[0]", "tf.math.is_nan(x)", "tf.argmax(x)"):
        assert gradient(text, [1.0, 2.0, 1.0], tf.float32) is None


def test_truncatemod_has_a_gradient() -> None:
    assert gradient("tf.truncatemod(x, 2.0)", [3.0], tf.float32).numpy().tolist() == [1]
