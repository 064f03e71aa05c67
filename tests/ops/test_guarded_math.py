"""Products that zero wins, angles, complex parts, zeta and polygamma, bits, casts, comparisons."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from scipy import special

import weft as tf
from support.op_cases import Case, boolean, c64, check_case, f32, f64, i32, i64
from weft._src.core import truncating

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


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]


def _whole(x: Any) -> int:
    return int(x) if isinstance(x, int | np.integer) else int(float(x))


def _extremes(dtype: tf.DType) -> list[int]:
    """The limits of all dtypes and their neighbours, as far as this dtype has them exactly."""
    others = [tf.as_dtype(name) for name in (*INTEGERS, *FLOATS)]
    some = [_whole(limit) + k for t in others for limit in (t.min, t.max) for k in (-1, 0, 1)]
    low, high = _whole(dtype.min), _whole(dtype.max)
    inside = {n for n in (0, 1, 2049, *some) if low <= n <= high}
    return sorted([n for n in inside if _nearest(n, dtype) == n])


def _nearest(n: int, dtype: tf.DType) -> int:
    return _whole(dtype.as_numpy_dtype(float(n))) if dtype.is_floating else n


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("source", [*INTEGERS, *FLOATS])
def test_saturate_cast_to_every_dtype(source: str) -> None:
    """Whole numbers that fit stay, others become the nearest number that both dtypes have."""
    dtype = tf.as_dtype(source)
    numbers = _extremes(dtype)
    exact = np.array(numbers, float if dtype.is_floating else dtype.as_numpy_dtype)
    x = tf.constant(exact.astype(dtype.as_numpy_dtype))
    for name in (*INTEGERS, *FLOATS):
        target = tf.as_dtype(name)
        got = [_whole(n) for n in tf.saturate_cast(x, target).numpy()]
        low = max(_whole(target.min), _whole(dtype.min))
        high = min(_whole(target.max), _whole(dtype.max))
        for before, after in zip(numbers, got, strict=True):
            inside = min(max(before, low), high)
            near = _nearest(inside, target)
            # A limit that the source cannot hold is rounded towards zero, by one part in 128.
            is_limit = before != inside and dtype.is_floating
            assert after == near or (is_limit and abs(near) * 0.99 <= abs(after) < abs(near))


@pytest.mark.filterwarnings("error")
def test_saturate_cast_of_what_is_not_finite() -> None:
    """As TensorFlow 2.21 does it: infinities become finite, also if the dtype stays."""
    both = [np.inf, -np.inf]
    for source, target, largest in [
        ("bfloat16", "float16", 65280.0),
        ("float32", "float32", np.finfo(np.float32).max),
        ("float16", "float64", 65504.0),
        ("float16", "bfloat16", 65536.0),
        ("bfloat16", "int8", 127),
        ("bfloat16", "int16", 32640),
        ("float64", "complex64", np.finfo(np.float32).max),
    ]:
        got = tf.saturate_cast(tf.constant(both, source), target).numpy().tolist()
        low = -128 if target == "int8" else -32768 if target == "int16" else -largest
        assert got == [largest, low], (source, target)
    for source in FLOATS:
        for target in FLOATS:
            assert np.isnan(float(tf.saturate_cast(tf.constant(np.nan, source), target)))
    got = tf.saturate_cast(tf.constant([complex(1e300, -np.inf)]), tf.complex64).numpy()
    largest = np.finfo(np.float32).max
    assert got.tolist() == [complex(largest, -largest)]
    wide = tf.saturate_cast(tf.constant([complex(np.inf, 1)], tf.complex64), tf.complex128)
    assert wide.numpy().tolist() == [complex(np.inf, 1)]


def test_casts_of_floats_that_do_not_fit_are_defined() -> None:
    """Cut to 32 or 64 bits, then to the dtype; on processors that do something else, too."""
    x = [np.nan, np.inf, -np.inf, 1e30, 300.0, -300.0, -1.0, 5e9, 1e19]
    low32, low64 = -(2**31), -(2**63)
    wanted = {
        "int8": [0, 0, 0, 0, 44, -44, -1, 0, 0],
        "uint16": [0, 0, 0, 0, 300, 65236, 65535, 0, 0],
        "int32": [low32] * 4 + [300, -300, -1, low32, low32],
        "uint32": [0, 0, 0, 0, 300, 2**32 - 300, 2**32 - 1, 5 * 10**9 - 2**32, 0],
        "int64": [low64] * 4 + [300, -300, -1, 5 * 10**9, low64],
        "uint64": [2**63] * 4 + [300, 2**64 - 300, 2**64 - 1, 5 * 10**9, 10**19],
    }
    for name, numbers in wanted.items():
        assert tf.cast(tf.constant(x, tf.float64), name).numpy().tolist() == numbers
        for source in (np.float32, np.float64, np.float16, ml_dtypes.bfloat16):
            with np.errstate(all="ignore"):
                floats = np.array(x).astype(source)
                slow = truncating._by_definition(floats, np.dtype(name))
            direct = tf.cast(floats, name).numpy()
            np.testing.assert_array_equal(direct, slow)
