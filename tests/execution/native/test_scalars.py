"""What pointwise ops do to one element of every dtype: the same as the eager kernels."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft as tf
from support.native import check, compare, compile_native, run_native
from weft._src.execution.native.machine import llvm

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]


def _dtype(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def _edges(name: str) -> np.ndarray:
    info = np.iinfo(name)
    small = [0, 1, 2, 3, 5, 7, 100]
    signed = [-1, -2, -3, -7, info.min, info.min + 1] if info.min else []
    return np.array([*small, *signed, info.max, info.max - 1, info.max // 2], name)


def _floats(name: str) -> np.ndarray:
    numbers = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, -3.7, 7.1, 1e-3, 300, -300,
               np.inf, -np.inf, np.nan, 1 / 3, 1e-6]  # fmt: skip
    return np.array(numbers, _dtype(name))


def _pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every value with every value, as vectors."""
    x, y = np.meshgrid(values, values, indexing="ij")
    return x.reshape(-1), y.reshape(-1)


def _common(x: Any, y: Any) -> dict[str, Any]:
    return {
        "add": x + y, "subtract": x - y, "multiply": x * y, "negative": -x, "square": tf.square(x),
        "abs": tf.abs(x), "sign": tf.sign(x), "maximum": tf.maximum(x, y),
        "minimum": tf.minimum(x, y), "less": x < y, "less_equal": x <= y, "greater": x > y,
        "greater_equal": x >= y, "equal": x == y, "not_equal": x != y,
        "where": tf.where(x < y, x, y), "relu": tf.nn.relu(x), "relu6": tf.nn.relu6(x),
        "squared_difference": tf.math.squared_difference(x, y),
    }  # fmt: skip


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name: str) -> None:
    x, y = _pairs(_edges(name))
    amount = (np.arange(x.size) % (8 * x.dtype.itemsize)).astype(name)

    def function(x: Any, y: Any, amount: Any) -> dict[str, Any]:
        divisor = tf.where(y == 0, tf.ones_like(y), y)
        return _common(x, y) | {
            "floordiv": x // divisor, "mod": x % divisor,
            "truncatediv": tf.truncatediv(x, divisor),
            "truncatemod": tf.truncatemod(x, divisor),
            "and": x & y, "or": x | y, "xor": x ^ y, "invert": ~x,
            "left": tf.bitwise.left_shift(x, amount),
            "right": tf.bitwise.right_shift(x, amount),
        }  # fmt: skip

    check(function, x, y, amount)


@pytest.mark.parametrize("name", FLOATS)
def test_floats(name: str) -> None:
    x, y = _pairs(_floats(name))
    # The kernels of narrow floats have rules of their own for the larger of 0.0 and -0.0.
    check(_common, x, y, signs=name in ("float32", "float64"))
    exact = {
        "divide": lambda x, y: x / y, "floor": lambda x, y: tf.floor(x),
        "ceil": lambda x, y: tf.math.ceil(x), "round": lambda x, y: tf.round(x),
        "rint": lambda x, y: tf.math.rint(x), "isnan": lambda x, y: tf.math.is_nan(x),
        "isinf": lambda x, y: tf.math.is_inf(x), "isfinite": lambda x, y: tf.math.is_finite(x),
        "sqrt": lambda x, y: tf.sqrt(x), "no nan": tf.math.divide_no_nan,
        "times no nan": tf.math.multiply_no_nan, "leaky": lambda x, y: tf.nn.leaky_relu(x, 0.3),
        "softsign": lambda x, y: tf.nn.softsign(x), "xdivy": tf.math.xdivy,
        "reciprocal": lambda x, y: tf.math.reciprocal(x),
    }  # fmt: skip
    check(lambda x, y: {k: f(x, y) for k, f in exact.items()}, x, y)


def test_remainders_of_floats() -> None:
    finite = np.array([0.0, -0.0, 1, -1, 2.5, -2.5, 7, -7, 0.1, 1e10], np.float32)
    x, y = _pairs(finite)
    keep = y != 0
    check(
        lambda x, y: {"floor_div": x // y, "floor_mod": x % y, "truncatemod": tf.truncatemod(x, y)},
        x[keep],
        y[keep],
    )


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_narrow_floats_are_rounded_after_every_op(name: str) -> None:
    rng = np.random.default_rng(3)
    x, y = [rng.normal(size=1000).astype(_dtype(name)) for _ in range(2)]
    check(lambda x, y: {"chain": (x + y) * x - y / x, "sum then product": (x + y) * (x - y)}, x, y)
    # One unit, and what NumPy's own functions are off on processors with half-precision arithmetic.
    unit = 2.0**-7 if name == "bfloat16" else 2.0**-10
    exact = np.tanh(y.astype(np.float32)).astype(y.dtype).astype(np.float32)
    off = np.max(np.abs(np.tanh(y).astype(np.float32) / exact - 1))
    check(
        lambda x, y: [tf.exp(x), tf.tanh(y), tf.math.log(tf.abs(x)), tf.sigmoid(x)],
        x,
        y,
        rtol=unit + off,
    )


def test_activations_and_their_gradients() -> None:
    x = np.linspace(-7, 7, 301, dtype=np.float32)
    functions = {
        "relu": tf.nn.relu, "relu6": tf.nn.relu6, "elu": tf.nn.elu, "selu": tf.nn.selu,
        "leaky": tf.nn.leaky_relu, "softsign": tf.nn.softsign, "softplus": tf.math.softplus,
        "gelu": tf.nn.gelu, "swish": tf.nn.silu, "tanh": tf.tanh, "sigmoid": tf.sigmoid,
        "log_sigmoid": tf.math.log_sigmoid,
    }  # fmt: skip

    def function(x: Any) -> dict[str, Any]:
        out = {}
        for name, f in functions.items():
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            out[name] = [y, tape.gradient(y, x)]
        return out

    check(function, x, rtol=2e-6, atol=1e-6)


def test_logic() -> None:
    x, y = np.array([True, True, False, False]), np.array([True, False, True, False])
    check(
        lambda x, y: [
            x & y, x | y, x ^ y, ~x, x == y, x != y, tf.where(x, y, ~y), tf.cast(x, tf.int8),
            tf.cast(x, tf.float16),
        ],
        x,
        y,
    )  # fmt: skip


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_casts(name: str) -> None:
    targets = [tf.as_dtype(t) for t in (*INTEGERS, *FLOATS, "bool")]
    values = _edges(name) if name in INTEGERS else _extremes(name)
    check(lambda x: {t.name: tf.cast(x, t) for t in targets}, values)
    # What is defined for one is so for many: processors have other code for whole vectors.
    check(lambda x: {t.name: tf.cast(x, t) for t in targets}, np.repeat(values, 37))
    check(lambda x: {t.name: tf.saturate_cast(x, t) for t in targets if t.is_numeric}, values)


def _extremes(name: str) -> np.ndarray:
    """Floats at, just below and just above the limits of all integers, and special ones."""
    limits = [sign * 2.0**bits for bits in (7, 8, 15, 16, 31, 32, 63, 64) for sign in (1, -1)]
    more = [0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, 0.999, 100.7, 300, -300, 65504, 65519.99999999999,
            1 + 2**-11 + 2**-40, 1e-40, 3e38, -3e38, 1e300, np.nan, np.inf, -np.inf]  # fmt: skip
    with np.errstate(all="ignore"):
        some = np.array([*limits, *more]).astype(_dtype(name))
        finite = some[np.isfinite(some)]
        ends = _dtype(name).type(np.inf)
        return np.concatenate([some, np.nextafter(finite, ends), np.nextafter(finite, -ends)])


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_casts_out_of_range_are_defined(name: str) -> None:
    """The bits x86 gives, whatever LLVM makes of the code around; the same for one and many."""
    values = np.array([1e10, -1e10, 1e20, -1e20, np.nan, np.inf, -np.inf], name)
    got = run_native(lambda x: [tf.cast(x, tf.int32), tf.cast(x, tf.int64)], values)
    low32, low64 = np.iinfo(np.int32).min, np.iinfo(np.int64).min
    np.testing.assert_array_equal(got[0], [low32] * 7)
    np.testing.assert_array_equal(got[1], [10**10, -(10**10), *[low64] * 5])
    again = run_native(lambda x: [tf.cast(x, tf.int32)], np.repeat(values, 100))
    np.testing.assert_array_equal(again[0], np.repeat(got[0], 100))


@pytest.mark.parametrize("name", ["int32", "uint8", "int64"])
def test_division_by_zero_is_refused(name: str) -> None:
    x = np.array([6, 7, 8], name)
    compiled, values = compile_native(lambda x, y: [x // y, x % y], x, np.array([1, 2, 3], name))
    compare(
        compiled(*values), [tf.constant(x // [1, 2, 3], name), tf.constant(x % [1, 2, 3], name)]
    )
    assert compiled(x, np.array([1, 0, 3], name)) is None  # and so NumPy reports it


@pytest.mark.parametrize("name", ["FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod"])
def test_the_error_of_a_division_by_zero(name: str) -> None:
    op = {"FloorDiv": lambda x, y: x // y, "FloorMod": lambda x, y: x % y,
          "TruncateDiv": tf.truncatediv, "TruncateMod": tf.truncatemod}[name]  # fmt: skip
    f = tf.function(op, jit_compile=True)
    x = tf.constant([5, -5])
    compare([f(x, tf.constant([2, 2])).numpy()], op(x, tf.constant([2, 2])))
    with pytest.raises(tf.errors.InvalidArgumentError, match="zero"):
        f(x, tf.constant([2, 0]))


def test_shifts_are_clamped() -> None:
    """Amounts outside of the width are not defined in C; here they never crash."""
    x = np.array([1, -1, 5], np.int32)
    got = run_native(
        lambda x, n: [tf.bitwise.left_shift(x, n), tf.bitwise.right_shift(x, n)],
        x,
        np.array([40, 40, -3], np.int32),
    )
    np.testing.assert_array_equal(got[0], [-(2**31), -(2**31), 5])
    np.testing.assert_array_equal(got[1], [0, -1, 5])


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_rough_points_are_those_of_the_kernels(name: str) -> None:
    """Powers of a half are no square roots, and gamma has the same limits on both sides."""
    x = np.array([-0.0, -np.inf, np.inf, -1.0, 4.0, np.nan, 0.0]).astype(_dtype(name))
    check(lambda x: [x**0.5, x**-0.5, tf.pow(x, x * 0 + 0.5), tf.pow(x[:, None], x[4:5] / 8)], x)
    check(lambda x: [tf.math.lgamma(x)], x[:4])


def test_nothing_divided_by_zero_is_nothing() -> None:
    for divide in (tf.math.floordiv, tf.math.floormod, tf.truncatediv):
        check(divide, np.zeros((0, 3), np.int32), np.zeros(3, np.int32))


@pytest.mark.parametrize("dtype", ["int32", "int8", "bfloat16", "float32"])
@pytest.mark.parametrize("size", [5, 9, 13, 17])
def test_no_store_is_wider_than_what_is_stored(dtype: str, size: int) -> None:
    """Loops that do not fill their last vector end at the last element, also of narrowed numbers.

    LLVM 22 makes eight-byte stores of four-byte ones if they are masked down to one element.
    """

    def narrowed(x: Any) -> Any:
        return (
            tf.cast(x + x, dtype),
            tf.cast(x * 3, dtype),
            tf.argsort(x),
            tf.sort(tf.cast(x, dtype)),
        )

    x = tf.cast(np.arange(size)[::-1] * 3 - 4, "int64")
    text = tf.function(narrowed).experimental_get_compiler_ir(x)(stage="llvm")
    assert "masked.store" not in str(llvm.optimized(text))
    check(narrowed, x.numpy())
