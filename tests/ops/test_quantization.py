"""`tf.quantization` in every mode: traced, with unknown shapes, batched, with gradients, refused.

What the functions give is compared with TensorFlow in `test_quantization_recorded.py`.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, Sample, check_case, f32, f64
from weft._src.core.dtypes import stored_as

Q = tf.quantization
NAN, INF = np.nan, np.inf
ENDS = [np.float32([-1.5, 0.0, -0.1, 0.0]), np.float32([1.0, 3.0, 2.0, 0.0])]


def stored(dtype: tf.DType, *shape: int, seed: int = 0) -> np.ndarray:
    """An array of quantized numbers."""
    plain = stored_as(dtype).numpy_dtype
    info = np.iinfo(plain)
    numbers = np.random.default_rng(seed).integers(info.min, info.max, shape, plain, endpoint=True)
    return numbers.view(dtype.numpy_dtype)


def _gradients(function: Any, count: int) -> Any:
    """The gradients of a function of some tensors, weighted so that all elements differ."""

    def run(*xs: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(xs[:count])
            y = function(*xs)
            weights = tf.reshape(tf.range(1, tf.size(y) + 1), tf.shape(y))
            total = tf.reduce_sum(y * tf.cast(weights, y.dtype))
        return [y, *tape.gradient(total, xs[:count], unconnected_gradients="zero")]

    return run


def _case(function: Any, inputs: list[Any], label: str, **attrs: Any) -> Case:
    return Case(function, inputs, attrs, grad=False, rtol=0, atol=0, label=f"quantization {label}")


WITH_NAN = np.float32([[-9.0, -1.5, 0.2], [NAN, 0.75, INF]])
PER_CHANNEL = Q.fake_quant_with_min_max_vars_per_channel
TO_LEVELS = [
    _case(Q.fake_quant_with_min_max_args, [f32(3, 4, high=9)], "args", min=-1, max=2, num_bits=3),
    _case(Q.fake_quant_with_min_max_vars, [f32(3, 4), np.float32(-1), np.float32(1.5)], "vars"),
    _case(Q.fake_quant_with_min_max_vars, [WITH_NAN, np.float32(-1), np.float32(1.5)], "NaN"),
    _case(Q.fake_quant_with_min_max_vars, [f32(0, 3), np.float32(-1), np.float32(1)], "empty"),
    _case(Q.fake_quant_with_min_max_vars, [f32(), np.float32(-1), np.float32(1)], "scalar"),
    _case(PER_CHANNEL, [f32(3, 5, 4), *ENDS], "channels", num_bits=5, narrow_range=True),
    _case(PER_CHANNEL, [f32(4), *ENDS], "channels of a vector"),
    _case(
        _gradients(Q.fake_quant_with_min_max_vars, 3),
        [f32(3, 4), np.float32(-1), np.float32(1.5)],
        "gradients",
    ),
    _case(_gradients(PER_CHANNEL, 3), [f32(3, 5, 4), *ENDS], "gradients of channels"),
    _case(
        Q.fake_quant_with_min_max_vars_gradient,
        [f32(3, 4), f32(3, 4), np.float32(-1), np.float32(1.5)],
        "gradient",
    ),
    _case(Q.fake_quant_with_min_max_args_gradient, [f32(3, 4), f32(3, 4, high=9)], "args gradient"),
    _case(
        Q.fake_quant_with_min_max_vars_per_channel_gradient,
        [f32(3, 4), f32(3, 4), *ENDS],
        "channels gradient",
    ),
]


def _there_and_back(label: str, inputs: list[Any], **attrs: Any) -> list[Case]:
    return [
        _case(Q.quantize_and_dequantize, inputs, f"{label} straight", **attrs),
        _case(Q.quantize_and_dequantize_v2, inputs, f"{label} masked", **attrs),
    ]


LIMITS = [np.float32(-1.0), np.float32(1.5)]
ROWS = [np.float32([-1.0, -0.5, 0.0]), np.float32([1.5, 0.5, 2.0])]
GIVEN: dict[str, Any] = {"range_given": True}
THERE_AND_BACK = [
    *_there_and_back("found", [f32(3, 4), *LIMITS], num_bits=5),
    *_there_and_back("given", [f32(3, 4), *LIMITS], num_bits=3, round_mode="HALF_UP", **GIVEN),
    *_there_and_back("NaN", [WITH_NAN, *LIMITS], signed_input=False, **GIVEN),
    *_there_and_back("axis", [f32(2, 3, 4), *ROWS], axis=1, narrow_range=True, **GIVEN),
    *_there_and_back("last axis", [f32(2, 4, 3), *ROWS], axis=-1, **GIVEN),
    *_there_and_back("found axis", [f32(2, 3, 4), *LIMITS], axis=1),
    *_there_and_back("found first axis", [f32(2, 3, 4), *LIMITS], axis=0),
    *_there_and_back("found last axis", [f32(2, 3, 4), *LIMITS], axis=-1),
    *_there_and_back("empty", [f32(0, 3), *LIMITS]),
    *_there_and_back("float64", [f64(3), np.float64(-1), np.float64(1)], num_bits=20, **GIVEN),
    _case(
        _gradients(lambda x, a, b: Q.quantize_and_dequantize_v2(x, a, b, **GIVEN), 3),
        [f32(3, 4), *LIMITS],
        "masked gradients",
    ),
    _case(
        _gradients(lambda x, a, b: Q.quantize_and_dequantize(x, a, b, **GIVEN), 3),
        [f32(3, 4), *LIMITS],
        "straight gradients",
    ),
    _case(
        _gradients(lambda x: Q.quantize_and_dequantize_v2(x, 0.0, 0.0), 1),
        [f32(3, 4)],
        "gradients of a found range",
    ),
]

QUANTIZED = (tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32)
STORING = [
    *[
        _case(Q.quantize, [f32(3, 4), *LIMITS], f"quantize {t.name} {mode}", T=t, mode=mode)
        for t in QUANTIZED
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")
    ],
    *[
        _case(Q.dequantize, [stored(t, 3, 4), *LIMITS], f"dequantize {t.name} {mode}", mode=mode)
        for t in QUANTIZED
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")
    ],
    _case(Q.quantize, [f32(2, 3, 4), *ROWS], "quantize axis", T=tf.qint8, axis=1),
    _case(
        Q.quantize, [f32(2, 3), *ROWS], "quantize last axis", T=tf.quint8, axis=-1, mode="SCALED"
    ),
    _case(Q.quantize, [f32(0, 4), *LIMITS], "quantize nothing", T=tf.qint8),
    *[
        _case(Q.quantize, [f32(), *LIMITS], f"quantize one {mode}", T=tf.quint8, mode=mode)
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")
    ],
    _case(Q.dequantize, [stored(tf.qint16), *LIMITS], "dequantize one", mode="MIN_FIRST"),
    _case(Q.quantize, [WITH_NAN, *LIMITS], "quantize NaN", T=tf.qint8, mode="MIN_FIRST"),
    _case(Q.dequantize, [stored(tf.qint8, 2, 3, 4), *ROWS], "dequantize axis", axis=1),
    _case(Q.dequantize, [stored(tf.quint8, 5), *LIMITS], "dequantize narrow", dtype=tf.bfloat16),
    *[
        _case(
            lambda x, y, a, b, axis=axis: Q.quantized_concat(axis, [x, y], [a, b - 2.0], [b, 3.0]),
            [stored(t, 2, 3), stored(t, 2, 3, seed=1), *LIMITS],
            f"concat {t.name} {axis}",
        )
        for t in QUANTIZED
        for axis in (0, -1)
    ],
]
CASES = [*TO_LEVELS, *THERE_AND_BACK, *STORING]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_every_mode(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_floats_are_computed_in_float32(dtype: Any) -> None:
    x = Sample((40,), np.float32).draw(np.random.default_rng(1)).astype(dtype)
    low, high = dtype(-1), dtype(1.5)
    wide = [value.astype(np.float32) for value in (x, np.asarray(low), np.asarray(high))]
    got = Q.quantize_and_dequantize_v2(x, low, high).numpy()
    assert got.dtype == dtype
    wanted = Q.quantize_and_dequantize_v2(*wide).numpy().astype(dtype)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("mode", ["MIN_COMBINED", "MIN_FIRST", "SCALED"])
@pytest.mark.parametrize("dtype", QUANTIZED, ids=lambda t: t.name)
def test_numbers_come_back_within_a_step(dtype: tf.DType, mode: str) -> None:
    x = np.linspace(-1, 2, 101, dtype=np.float32)
    q, low, high = Q.quantize(x, -1.0, 2.0, dtype, mode=mode)
    back = Q.dequantize(q, low, high, mode=mode).numpy()
    step = 4.1 / 2.0 ** min(dtype.size * 8, 20)
    unsigned = dtype.name.startswith("qu") and mode == "SCALED"
    np.testing.assert_allclose(back, np.maximum(x, 0) if unsigned else x, 0, step)


def test_the_largest_qint32_do_not_turn_negative() -> None:
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        top = Q.quantize([9.0], -1.0, 1.0, tf.qint32, mode=mode)[0].numpy()[0]
        assert top == 2**31 - 128


# --- rows ----------------------------------------------------------------------------------------


def _rows_alone(function: Any, *stacked: tf.Tensor) -> list[np.ndarray]:
    made = [tf.nest.flatten(function(*row)) for row in zip(*stacked, strict=True)]
    return [np.stack([part.numpy() for part in parts]) for parts in zip(*made, strict=True)]


def _check_rows(function: Any, *stacked: Any) -> None:
    tensors = [tf.constant(x) for x in stacked]
    alone = _rows_alone(function, *tensors)
    together = tf.vectorized_map(lambda xs: function(*xs), tuple(tensors))
    for got, wanted in zip(tf.nest.flatten(together), alone, strict=True):
        np.testing.assert_array_equal(got.numpy(), wanted, strict=True)


X = np.random.default_rng(2).uniform(-2, 2, (5, 3, 4)).astype(np.float32)
LOWS, HIGHS = np.linspace(-1, 0, 5, dtype=np.float32), np.linspace(1, 2, 5, dtype=np.float32)


def test_rows_of_levels() -> None:
    _check_rows(lambda x: Q.fake_quant_with_min_max_vars(x, -1.0, 1.0), X)
    _check_rows(Q.fake_quant_with_min_max_vars, X, LOWS, HIGHS)
    _check_rows(lambda x: PER_CHANNEL(x, *ENDS), X)
    _check_rows(lambda a, b: Q.fake_quant_with_min_max_vars(X[0], a, b), LOWS, HIGHS)
    _check_rows(lambda x: Q.quantize_and_dequantize_v2(x, 0.0, 0.0, axis=1), X)
    _check_rows(
        lambda x, a, b: Q.quantize_and_dequantize(x, a, b, range_given=True), X, LOWS, HIGHS
    )


def test_rows_of_quantized_numbers() -> None:
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        _check_rows(lambda x, m=mode: Q.quantize(x, -1.0, 1.0, tf.qint8, mode=m), X)
        _check_rows(lambda x, a, b, m=mode: Q.quantize(x, a, b, tf.quint8, mode=m), X, LOWS, HIGHS)
        numbers = stored(tf.qint8, 5, 3, 4)
        _check_rows(lambda q, m=mode: Q.dequantize(q, -1.0, 1.0, mode=m), numbers)
        _check_rows(lambda q, a, b, m=mode: Q.dequantize(q, a, b, mode=m), numbers, LOWS, HIGHS)
    _check_rows(lambda x: Q.quantize(x, *ROWS, tf.qint8, axis=0), X)
    _check_rows(lambda x, a, b: Q.quantize(x, a[:3], b[:3], tf.qint8, axis=0), X,
                np.stack([LOWS] * 5), np.stack([HIGHS] * 5))  # fmt: skip
    _check_rows(lambda q: Q.quantized_concat(0, [q, q], [-1.0, -2.0], [1.0, 3.0]), numbers)
    _check_rows(
        lambda q, a, b: Q.quantized_concat(-1, [q, q], [a, -2.0], [b, 3.0]), numbers, LOWS, HIGHS
    )


# --- refusals ----------------------------------------------------------------------------------

BAD = [
    (lambda: Q.fake_quant_with_min_max_args([1.0], num_bits=1), "from 2 to 16, got 1"),
    (lambda: Q.fake_quant_with_min_max_args([1.0], num_bits=17), "from 2 to 16, got 17"),
    (lambda: Q.fake_quant_with_min_max_args([1.0], 2.0, 2.0), "min must be smaller than max"),
    (lambda: Q.fake_quant_with_min_max_args([1.0], "x"), "min must be a Python number"),
    (lambda: Q.fake_quant_with_min_max_args([1.0], np.zeros(1)), "min must be a Python number"),
    (lambda: Q.fake_quant_with_min_max_args(tf.constant([1])), "inputs must have dtype float32"),
    (lambda: Q.fake_quant_with_min_max_vars([1.0], [0.0], 1.0), "min must have rank 0"),
    (lambda: PER_CHANNEL(1.0, [0.0], [1.0]), "inputs must have rank at least 1"),
    (lambda: PER_CHANNEL([1.0, 2.0], 0.0, [1.0]), "min must have rank 1"),
    (lambda: PER_CHANNEL([1.0, 2.0], [0.0], [1.0]), "the size of min and that of the last axis"),
    (lambda: Q.fake_quant_with_min_max_vars_gradient([1.0], [1.0, 2.0], 0.0, 1.0), "equal shapes"),
    (lambda: Q.quantize_and_dequantize_v2([1.0], 2.0, 1.0, range_given=True), "must not be larger"),
    (lambda: Q.quantize_and_dequantize_v2([1.0], 0.0, 1.0, num_bits=62), "from 1 to 61"),
    (lambda: Q.quantize_and_dequantize_v2([1.0], 0.0, 1.0, num_bits=1, narrow_range=1), "from 2"),
    (lambda: Q.quantize_and_dequantize_v2([1.0], 0.0, 1.0, round_mode="UP"), "round_mode must be"),
    (lambda: Q.quantize_and_dequantize_v2([1.0], 0.0, 1.0, axis=1), "axis 1 is out of range"),
    (lambda: Q.quantize_and_dequantize_v2(np.int32([1]), 0, 1), "input has dtype int32"),
    (lambda: Q.quantize_and_dequantize_v2([1.0], [0.0], 1.0, range_given=True), "rank 0"),
    (lambda: Q.quantize_and_dequantize_v2([[1.0]], 0.0, 1.0, axis=0, range_given=True), "rank 1"),
    (lambda: Q.quantize([1.0], 1.0, 0.0, tf.qint8), "max_range must not be below min_range"),
    (lambda: Q.quantize([1.0], 0.0, 1.0, tf.int8), "T must be one of qint16"),
    (lambda: Q.quantize([1.0], 0.0, 1.0, tf.qint8, mode="MAX"), "mode must be one of MIN_COMBINED"),
    (lambda: Q.quantize([1.0], 0.0, 1.0, tf.qint8, round_mode="X"), "round_mode must be one of"),
    (lambda: Q.quantize([1.0], 0.0, 1.0, tf.qint8, round_mode="HALF_TO_EVEN"), "for mode SCALED"),
    (lambda: Q.quantize([1.0], 0.0, 1.0, tf.qint8, axis=0), "min_range must have rank 1"),
    (lambda: Q.quantize([1.0, 2.0], [0.0], [1.0], tf.qint8, axis=0), "the size of min_range"),
    (lambda: Q.quantize([1.0], [0.0], [1.0], tf.qint8), "min_range must have rank 0"),
    (lambda: Q.quantize(tf.constant([1], tf.float64), 0.0, 1.0, tf.qint8), "has dtype float64"),
    (lambda: Q.quantize([1.0], 0.0, 1.0, tf.qint8, ensure_minimum_range="x"), "must be a number"),
    (
        lambda: Q.quantize([1.0], 0.0, 1.0, tf.qint8, ensure_minimum_range=np.ones(1)),
        "must be a number",
    ),
    (lambda: Q.dequantize([1], 0.0, 1.0), "input has dtype int32, expected one of qint16"),
    (lambda: Q.dequantize(stored(tf.qint8, 2), 0.0, 1.0, dtype=tf.float64), "float32 or bfloat16"),
    (lambda: Q.quantized_concat(0, [], [], []), "at least one tensor"),
    (lambda: Q.quantized_concat(0, [stored(tf.qint8, 2)], [0.0, 1.0], [1.0]), "as many as values"),
    (lambda: Q.quantized_concat(0, [stored(tf.qint8, 2)], [[0.0]], [1.0]), "must be scalars"),
    (lambda: Q.quantized_concat(2, [stored(tf.qint8, 2)], [0.0], [1.0]), "axis 2 is out of range"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_refusals(call: Any, message: str) -> None:
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError, ValueError), match=message):
        call()


def test_a_range_that_is_refused_when_it_is_known() -> None:
    @tf.function
    def f(x: tf.Tensor, low: tf.Tensor, high: tf.Tensor) -> tf.Tensor:
        return Q.quantize_and_dequantize_v2(x, low, high, range_given=True) + 1.0

    one = tf.constant(1.0)
    assert f([0.5], -one, one).numpy() == pytest.approx(1.5, abs=0.01)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must not be larger than input_max"):
        f([0.5], one, -one)


def test_ranges_must_fit_where_shapes_were_unknown() -> None:
    anything = tf.TensorSpec(None)

    @tf.function(input_signature=[anything, anything, anything])
    def f(x: tf.Tensor, low: tf.Tensor, high: tf.Tensor) -> tf.Tensor:
        return PER_CHANNEL(x, low, high)

    f(tf.zeros([2, 3]), tf.zeros([3]), tf.ones([3]))
    with pytest.raises(tf.errors.ShapeError, match="must fit into the shape of the numbers"):
        f(tf.zeros([2, 1]), tf.zeros([3]), tf.ones([3]))
