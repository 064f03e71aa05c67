"""Products that zero wins, angles, complex parts, zeta and polygamma, bits, casts, comparisons."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from scipy import special

import weft as tf
from support.op_cases import Case, boolean, c64, check_case, f32, f64, i32, i64

INF, NAN = np.inf, np.nan


def _guarded(name: str, ref: object, *, low: float = 0.5) -> list[Case]:
    fn = getattr(tf.math, name)
    return [
        Case(fn, [f32(2, 1, 3), f32(4, 1, low=low, high=3)], {}, ref),
        Case(fn, [c64(2, 3), c64(3, low=0.5, high=1)], {}, ref, rtol=1e-4),
    ]


def _polygamma(x: tf.Tensor) -> tf.Tensor:
    return tf.math.polygamma(tf.cast([1, 2, 3], x.dtype), x)


COMPARISONS = [
    (tf.equal, np.equal),
    (tf.not_equal, np.not_equal),
    (tf.less, np.less),
    (tf.less_equal, np.less_equal),
    (tf.greater, np.greater),
    (tf.greater_equal, np.greater_equal),
]
CASES = [
    *_guarded("divide_no_nan", np.divide),
    *_guarded("multiply_no_nan", np.multiply),
    *_guarded("xdivy", np.divide),
    *_guarded("xlogy", special.xlogy),
    *_guarded("xlog1py", special.xlog1py),
    Case(tf.math.squared_difference, [f32(2, 1, 3), f32(4, 1)], {}, lambda x, y: (x - y) ** 2),
    Case(tf.math.squared_difference, [c64(2, 3), c64(3)], {}, lambda x, y: np.abs(x - y) ** 2),
    Case(tf.math.squared_difference, [i32(2, 3), i32(3)], {}, lambda x, y: (x - y) ** 2),
    Case(tf.math.reciprocal_no_nan, [f32(2, 3, low=0.5)], {}, np.reciprocal),
    Case(tf.atan2, [f32(2, 1, 3), f32(4, 1)], {}, np.arctan2),
    Case(tf.math.angle, [c64(2, 3)], {}, np.angle),
    Case(tf.math.angle, [np.float32([-1.0, 0.0, 2.0])], {}, np.angle, grad=False),
    Case(tf.math.zeta, [f32(3, low=2, high=3), f32(3, low=1)], {}, special.zeta, grad=False),
    Case(lambda q: tf.math.zeta(2.5, q), [f64(3, low=1, high=2)], label="zeta gradient"),
    Case(_polygamma, [f32(2, 3, low=1)], {}, lambda x: special.polygamma([1, 2, 3], x)),
    Case(tf.math.conj, [c64(2, 3)], {}, np.conj),
    Case(tf.math.real, [c64(2, 3)], {}, np.real),
    Case(tf.math.imag, [c64(2, 3)], {}, np.imag),
    Case(tf.math.imag, [f32(2, 3)], {}, np.zeros_like, grad=False),
    Case(tf.complex, [f32(2, 1, 3), f32(4, 1)], {}, lambda x, y: x + 1j * y),
    Case(tf.bitwise.bitwise_and, [i32(2, 3), i32(3)], {}, np.bitwise_and),
    Case(tf.bitwise.bitwise_or, [i32(2, 3), i32(3)], {}, np.bitwise_or),
    Case(tf.bitwise.bitwise_xor, [i64(2, 3), i64(3)], {}, np.bitwise_xor),
    Case(tf.bitwise.invert, [i32(2, 3)], {}, np.invert),
    Case(tf.bitwise.left_shift, [i32(2, 3), i32(3, low=0, high=5)], {}, np.left_shift),
    Case(tf.bitwise.right_shift, [i32(2, 3), i32(3, low=0, high=5)], {}, np.right_shift),
    Case(tf.logical_and, [boolean(2, 3), boolean(3)], {}, np.logical_and),
    Case(tf.logical_or, [boolean(2, 3), boolean(3)], {}, np.logical_or),
    Case(tf.math.logical_xor, [boolean(2, 3), boolean(3)], {}, np.logical_xor),
    Case(tf.logical_not, [boolean(2, 3)], {}, np.logical_not),
    *[
        Case(fn, [x, x], {}, ref, label=f"{ref.__name__} {x.dtype.__name__}", grad=False)
        for fn, ref in COMPARISONS
        for x in (i32(2, 3, low=0, high=3), f32(2, 3))
    ],
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize(
    ("name", "x", "y", "out", "gx", "gy"),
    [
        # (as TensorFlow 2.21)
        ("divide_no_nan", INF, 0.0, 0.0, 0.0, 0.0),
        ("divide_no_nan", 1.0, NAN, NAN, NAN, NAN),
        ("multiply_no_nan", INF, 0.0, 0.0, 0.0, INF),
        ("multiply_no_nan", NAN, 0.0, 0.0, 0.0, NAN),
        ("xlogy", 0.0, 0.0, 0.0, 0.0, 0.0),
        ("xlogy", 0.0, -1.0, 0.0, 0.0, 0.0),
        ("xlogy", 1.0, 0.0, -INF, -INF, INF),
        ("xlog1py", 0.0, -1.0, 0.0, 0.0, 0.0),
        ("xdivy", 0.0, 0.0, 0.0, 0.0, 0.0),
        ("xdivy", 1.0, 0.0, INF, INF, -INF),
        ("atan2", 0.0, 0.0, 0.0, NAN, NAN),
    ],
)
def test_where_zero_wins(name: str, x: float, y: float, out: float, gx: float, gy: float) -> None:
    x, y = tf.constant(x), tf.constant(y)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        result = getattr(tf.math, name)(x, y)
    found = [result, *tape.gradient(result, [x, y])]
    np.testing.assert_array_equal([float(t) for t in found], [out, gx, gy])


def test_divide_no_nan_divides_integers_as_python_does() -> None:
    out = tf.math.divide_no_nan([7, 1], [2, 0])
    assert out.dtype is tf.float64
    assert out.numpy().tolist() == [3.5, 0.0]


def test_shifts_by_too_much() -> None:
    x = tf.constant([-16, 16])
    assert tf.bitwise.right_shift(x, 99).numpy().tolist() == [-1, 0]
    assert tf.bitwise.right_shift(x, -1).numpy().tolist() == [-16, 16]


def test_numbers_that_are_not_numeric() -> None:
    for fn in (tf.math.real, tf.math.imag, tf.math.conj, tf.math.angle):
        with pytest.raises(TypeError, match="must be numeric, got bool"):
            fn(True)
    with pytest.raises(TypeError, match="angle: input must be floating or complex, got int32"):
        tf.math.angle(1)


def test_comparing_nan_and_strings() -> None:
    nan = tf.constant([NAN, 1.0])
    assert (nan == [NAN, 1.0]).numpy().tolist() == [False, True]
    assert (nan != [NAN, 1.0]).numpy().tolist() == [True, False]
    assert (nan < INF).numpy().tolist() == [False, True]
    assert (tf.constant(["a", "b"]) == "a").numpy().tolist() == [True, False]
    assert (tf.constant([1 + 2j]) == [1 + 2j]).numpy().tolist() == [True]


def test_comparing_what_cannot_match() -> None:
    assert bool(tf.ones([2]) == tf.ones([3])) is False
    assert bool(tf.ones([2]) != tf.ones([3])) is True
    assert (tf.ones([2]) == None) is False  # noqa: E711
    with pytest.raises(TypeError, match="Less: x has dtype complex128, expected one of"):
        tf.less([1j], [2j])


CAST_TYPES = [
    np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int8, np.int64, np.uint8,
    np.uint32, np.complex64, np.bool_,
]  # fmt: skip


@pytest.mark.parametrize("target", CAST_TYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("source", CAST_TYPES, ids=lambda d: np.dtype(d).name)
def test_casts(source: type, target: type) -> None:
    x = np.array([0, 1, 2, 100]).astype(source)
    parts = x if target is np.complex64 else x.real
    expected = parts.astype(target)
    out = tf.cast(x, np.dtype(target).name)
    assert out.numpy().dtype == target
    assert out.numpy().tolist() == expected.tolist()


def test_cast_rows() -> None:
    check_case(Case(tf.cast, [f32(2, 3)], {"dtype": tf.int32}, lambda x: x.astype(int), grad=False))
    check_case(Case(tf.cast, [f64(2, 3)], {"dtype": tf.complex128}, lambda x: x + 0j))
    check_case(Case(tf.cast, [c64(2, 3)], {"dtype": tf.float64}, np.real))
    x = tf.constant([1.0])
    assert tf.cast(x, tf.float32) is x
    assert tf.cast([300, -1], tf.uint8).numpy().tolist() == [44, 255]
    with pytest.raises(TypeError, match="Cast: x has dtype string"):
        tf.cast("a", tf.int32)


def test_saturating_casts() -> None:
    """As TensorFlow 2.21."""
    cast = tf.saturate_cast
    assert cast([-1, 300], tf.uint8).numpy().tolist() == [0, 255]
    assert cast([1e10, -1e10], tf.int32).numpy().tolist() == [2147483520, -(2**31)]
    assert cast(tf.constant([2**40]), tf.int32).numpy().tolist() == [2**31 - 1]
    assert float(cast(np.float64(1e30), tf.float16)) == 65504.0
    assert cast([1 + 2j], tf.float32).numpy().tolist() == [1.0]
    assert cast([-5.0], tf.complex64).numpy().tolist() == [-5]
    assert cast(tf.constant([200], tf.uint8), tf.int8).numpy().tolist() == [127]


def test_small_functions() -> None:
    check_case(Case(tf.realdiv, [f32(2, 3), f32(3, low=0.5)], {}, np.divide))
    check_case(
        Case(lambda x: tf.math.scalar_mul(2, x), [f32(2, 3)], {}, lambda x: 2 * x, label="2x")
    )
    check_case(
        Case(lambda x: tf.math.polyval([1.0, 2.0, 3.0], x), [f32(2, 3)], {}, label="polynomial",
             expect=lambda x: np.polyval([1, 2, 3], x))
    )  # fmt: skip
    check_case(Case(tf.math.nextafter, [f32(2, 3), f32(3)], {}, np.nextafter, second=False))
    assert tf.math.polyval([], [1.0, 2.0]).numpy().tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"scalar_mul: scalar must have rank 0, got shape \(1,\)"):
        tf.math.scalar_mul([2.0], [1.0])
    with pytest.raises(ValueError, match="polyval: coeffs must be a list, got tuple"):
        tf.math.polyval((1.0,), 1.0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
def test_saturate_cast_of_every_float_to_every_integer(source: str) -> None:
    x = tf.constant([-2.0, 3.0, np.inf, -np.inf], source)
    for name in ("uint8", "int16", "int32", "uint32", "int64", "uint64"):
        wanted = tf.as_dtype(name)
        low, high = int(wanted.min), int(wanted.max)
        got = [int(n) for n in tf.saturate_cast(x, wanted).numpy()]
        assert got[:2] == [max(-2, low), 3]
        if source in ("float32", "float64"):  # whose range is wider
            assert low <= got[3] <= low * 0.99
            assert high * 0.99 <= got[2] <= high
