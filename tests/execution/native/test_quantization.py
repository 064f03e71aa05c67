"""Levels of quantized numbers as machine code: bit by bit what the kernels give."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft as tf
from support.native import check, run_native
from weft._src.execution.native.driver import Segmented, compile_graph
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.graph.tracing import trace

Q = tf.quantization
DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
RANGES = [(-6, 6), (0, 6), (-1, 0), (-0.1, 5.3), (0.5, 6), (-7, -2), (0, 0), (-3, 1e4), (1, 1)]


def _numbers(dtype: Any, low: float, high: float) -> np.ndarray:
    """Numbers inside and outside of a range, on levels and between them."""
    wide = np.random.default_rng(3).uniform(2 * low - high, 2 * high - low, 57)
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0]
    return np.concatenate([wide, np.linspace(low, high, 39), special]).astype(dtype)


def test_fake_quant() -> None:
    def function(low: tf.Tensor, high: tf.Tensor, *xs: tf.Tensor) -> list[tf.Tensor]:
        out = []
        for bits, narrow in itertools.product((2, 5, 8, 16), (False, True)):
            form = {"num_bits": bits, "narrow_range": narrow}
            for i, x in enumerate(xs):
                one = tf.ones_like(x)
                out.append(Q.fake_quant_with_min_max_vars(x, low[i], high[i], **form))
                gradient = Q.fake_quant_with_min_max_vars_gradient
                out.append(gradient(one, x, low[i], high[i], **form)[0])
        return out

    low, high = np.array(RANGES, np.float32).T
    check(function, low.copy(), high.copy(), *[_numbers(np.float32, *ends) for ends in RANGES])


def test_channels() -> None:
    x = _numbers(np.float32, -6, 6)[:100].reshape(25, 4)
    low, high = np.float32([-6, 0, -0.1, 0]), np.float32([6, 3, 5.3, 0])
    check(lambda *xs: Q.fake_quant_with_min_max_vars_per_channel(*xs, num_bits=5), x, low, high)


def test_gradients() -> None:
    def gradients(x: tf.Tensor, low: tf.Tensor, high: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, low, high])
            y = Q.fake_quant_with_min_max_vars_per_channel(x, low, high)
            z = Q.quantize_and_dequantize_v2(x * 2.0, -6.0, 6.0, range_given=True)
            total = tf.reduce_sum(y * 3.0) + tf.reduce_sum(z)
        return tape.gradient(total, [x, low, high])

    x = np.random.default_rng(1).uniform(-8, 8, (7, 4)).astype(np.float32)
    low, high = np.float32([-6, 0, -0.1, 0]), np.float32([6, 3, 5.3, 0])
    check(gradients, x, low, high, rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("given", [True, False])
def test_quantize_and_dequantize(dtype: Any, given: bool) -> None:
    modes = ("HALF_TO_EVEN", "HALF_UP")

    def function(low: tf.Tensor, high: tf.Tensor, *xs: tf.Tensor) -> list[tf.Tensor]:
        out = []
        for bits, mode, signed in itertools.product((2, 8, 31), modes, (False, True)):
            form = {"signed_input": signed, "narrow_range": bits == 8, "num_bits": bits}
            for i, x in enumerate(xs):
                ends = low[i], high[i]
                quantized = Q.quantize_and_dequantize_v2(
                    x, *ends, range_given=given, round_mode=mode, **form
                )
                out.append(quantized)
        return out

    low, high = np.array(RANGES, dtype).T
    numbers = [_numbers(dtype, *ends) for ends in RANGES]
    if not given:
        numbers = [x[np.isfinite(x.astype(np.float32))] for x in numbers]
    # Which zero is the largest of zeros with both signs is nobody's promise.
    check(function, low.copy(), high.copy(), *numbers, signs=given)


def test_slices_along_an_axis() -> None:
    x = np.random.default_rng(1).uniform(-8, 8, (5, 3, 4)).astype(np.float32)
    low, high = np.float32([-6, 0, -0.1]), np.float32([6, 3, 5.3])
    check(
        lambda *xs: [
            Q.quantize_and_dequantize_v2(*xs, axis=1, range_given=True, num_bits=5),
            Q.quantize_and_dequantize(*xs, axis=1, num_bits=5),
        ],
        x, low, high,
    )  # fmt: skip


def test_a_range_the_wrong_way_round_is_numpys_to_refuse() -> None:
    @tf.function(jit_compile=True)
    def f(x: tf.Tensor, low: tf.Tensor, high: tf.Tensor) -> tf.Tensor:
        return Q.quantize_and_dequantize_v2(x, low, high, range_given=True) * 2.0 + 1.0

    x, one = tf.range(64.0), tf.constant(1.0)
    f(x, -one, one)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must not be larger than input_max"):
        f(x, one, -one)


@pytest.mark.parametrize("name", ["qint8", "float8_e4m3fn", "int4"])
def test_small_and_quantized_numbers_are_left_to_numpy(name: str) -> None:
    dtype = tf.as_dtype(name)
    with pytest.raises(NotCompilableError, match=f"of {name} stays with NumPy"):
        run_native(lambda x: tf.cast(tf.cast(x, dtype), tf.float32), np.float32([1, 2]))

    def function(x: tf.Tensor) -> tf.Tensor:
        stored = tf.cast(tf.round(x * 0.5) + 2.0, dtype)
        return tf.cast(tf.reshape(stored, [4, -1]), tf.float32) * 2.0 + 1.0

    x = np.linspace(-3, 3, 64, dtype=np.float32)
    graph = trace(function, [tf.TensorSpec([64])])
    split = compile_graph(graph, [x], whole=False)
    assert isinstance(split, Segmented)
    assert split.segments == 2
    np.testing.assert_array_equal(split(x)[0], function(tf.constant(x)).numpy())
