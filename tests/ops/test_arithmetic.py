"""Arithmetic on tensors: values, dtypes, broadcasting, rough points, errors."""

from __future__ import annotations

import operator

import ml_dtypes
import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, Sample, c64, check_case, f32, f64, i32, i64

INF, NAN = np.inf, np.nan
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]

BINARY = [
    (tf.add, np.add),
    (tf.subtract, np.subtract),
    (tf.multiply, np.multiply),
    (tf.divide, np.true_divide),
    (tf.maximum, np.maximum),
    (tf.minimum, np.minimum),
]
DIVISIONS = [
    (tf.math.floordiv, np.floor_divide),
    (tf.math.floormod, np.mod),
    (tf.truncatediv, lambda x, y: np.trunc(x / y)),
    (tf.truncatemod, np.fmod),
]
CASES = [
    *[
        Case(fn, [f32(2, 1, 3), f32(4, 1)], {}, ref, label=f"{ref.__name__} broadcasts")
        for fn, ref in BINARY
    ],
    *[Case(fn, [f32(), f32(3)], {}, ref, label=f"{ref.__name__} scalar") for fn, ref in BINARY],
    *[Case(fn, [f32(0, 3), f32(3)], {}, ref, label=f"{ref.__name__} empty") for fn, ref in BINARY],
    *[
        Case(fn, [c64(2, 3), c64(3)], {}, ref, label=f"{ref.__name__} complex")
        for fn, ref in BINARY[:4]
    ],
    Case(tf.pow, [f32(2, 3, low=0.5, high=2), f32(3)], {}, np.power),
    Case(tf.pow, [c64(2, 3), c64(3)], {}, np.power, rtol=1e-4),
    Case(tf.pow, [i32(2, 3), i32(3, low=0, high=4)], {}, np.power),
    Case(tf.negative, [f32(2, 3)], {}, np.negative),
    Case(tf.negative, [i64(2, 3)], {}, np.negative),
    Case(tf.math.log, [f32(2, 3, low=0.5, high=2)], {}, np.log),
    Case(tf.math.log, [c64(2, 3)], {}, np.log),
    *[
        Case(fn, [f32(2, 3), f32(3, low=1, high=2)], {}, ref, label=f"floats {i}", grad=False)
        for i, (fn, ref) in enumerate(DIVISIONS)
    ],
    *[
        Case(fn, [i32(2, 3), i32(3, low=1, high=5)], {}, ref, label=f"int division {i}")
        for i, (fn, ref) in enumerate(DIVISIONS)
    ],
    Case(tf.math.floormod, [f64(2, 3), np.array([0.7, -0.9, 1.1])], second=False),
    Case(tf.truncatemod, [f64(2, 3), np.array([0.7, -0.9, 1.1])], second=False),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize(("fn", "ref"), BINARY, ids=lambda f: getattr(f, "__name__", ""))
def test_all_floats_at_their_rough_points(fn: object, ref: object, dtype: type) -> None:
    base = np.array([-INF, -2.0, -0.0, 0.0, 0.5, 3.0, INF, NAN]).astype(dtype)
    x, y = np.repeat(base, base.size), np.tile(base, base.size)
    out = fn(x, y)
    assert out.dtype == dtype
    with np.errstate(all="ignore"):
        expected = ref(x, y)
    np.testing.assert_array_equal(out.numpy().astype(float), expected.astype(float))


@pytest.mark.parametrize("dtype", INTS, ids=lambda d: np.dtype(d).name)
def test_integers_wrap(dtype: type) -> None:
    info = np.iinfo(dtype)
    top = tf.constant([info.max], dtype)
    assert (top + 1).numpy().tolist() == [info.min]
    assert (tf.constant([info.min], dtype) - 1).numpy().tolist() == [info.max]
    assert (top * top).numpy().tolist() == [1]
    assert (top * 2).dtype == dtype


@pytest.mark.parametrize("dtype", INTS[:4], ids=lambda d: np.dtype(d).name)
def test_the_smallest_integer_divided_by_minus_one_wraps(dtype: type) -> None:
    low = np.iinfo(dtype).min
    x, y = tf.constant([low], dtype), tf.constant([-1], dtype)
    assert (x // y).numpy().tolist() == [low]
    assert (x % y).numpy().tolist() == [0]
    assert tf.truncatediv(x, y).numpy().tolist() == [low]
    assert tf.truncatemod(x, y).numpy().tolist() == [0]
    assert (-x).numpy().tolist() == [low]


@pytest.mark.parametrize("dtype", INTS, ids=lambda d: np.dtype(d).name)
def test_integer_division(dtype: type) -> None:
    signs = (1,) if np.iinfo(dtype).min == 0 else (1, -1)
    for a in signs:
        for b in signs:
            x, y = tf.constant([7 * a, 6 * a], dtype), tf.constant(3 * b, dtype)
            quotients = [7 * a / (3 * b), 6 * a / (3 * b)]
            assert (x // y).numpy().tolist() == [int(np.floor(q)) for q in quotients]
            assert (x % y).numpy().tolist() == [7 * a % (3 * b), 0]
            assert tf.truncatediv(x, y).numpy().tolist() == [int(q) for q in quotients]
            assert tf.truncatemod(x, y).numpy().tolist() == [a, 0]
    wide = np.float32 if np.dtype(dtype).itemsize < 4 else np.float64
    assert (tf.constant([7], dtype) / tf.constant([2], dtype)).numpy().dtype == wide


@pytest.mark.parametrize(
    ("fn", "name"),
    [
        (operator.floordiv, "FloorDiv"),
        (operator.mod, "FloorMod"),
        (tf.truncatediv, "TruncateDiv"),
        (tf.truncatemod, "TruncateMod"),
    ],
)
def test_integer_division_by_zero(fn: object, name: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{name}: integer division by zero"):
        fn(tf.constant([1, 2]), tf.constant([1, 0]))


def test_float_division_by_zero() -> None:
    """As TensorFlow 2.21 answers."""
    x = tf.constant([1.0, -1.0, 0.0, INF])
    np.testing.assert_array_equal(x / 0.0, [INF, -INF, NAN, INF])
    np.testing.assert_array_equal(x // 0.0, [INF, -INF, NAN, INF])
    np.testing.assert_array_equal(x % 0.0, [NAN, NAN, NAN, NAN])
    np.testing.assert_array_equal(x // tf.constant(INF), [0, 0, 0, NAN])
    np.testing.assert_array_equal((tf.constant([1]) / tf.constant([0])).numpy(), [INF])


@pytest.mark.parametrize(
    ("fn", "x", "y", "gx", "gy"),
    [
        # (gradients as TensorFlow 2.21 gives them)
        (tf.pow, 0.0, 2.0, 0.0, 0.0),
        (tf.pow, 0.0, 1.0, 1.0, 0.0),
        (tf.pow, 0.0, 0.0, NAN, 0.0),
        (tf.pow, -2.0, 2.0, -4.0, 0.0),
        (tf.pow, INF, -1.0, -0.0, NAN),
        (tf.pow, -INF, 2.0, -INF, NAN),
        (tf.maximum, 1.0, 1.0, 1.0, 0.0),
        (tf.minimum, 1.0, 1.0, 1.0, 0.0),
        (tf.maximum, NAN, 1.0, 0.0, 1.0),
        (tf.maximum, 1.0, NAN, 0.0, 1.0),
        (tf.divide, 1.0, 0.0, INF, -INF),
        (tf.math.floormod, 7.0, 2.0, 1.0, -3.0),
    ],
)
def test_gradients_at_rough_points(fn: object, x: float, y: float, gx: float, gy: float) -> None:
    x, y = tf.constant(x), tf.constant(y)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        out = fn(x, y)
    np.testing.assert_array_equal([float(g) for g in tape.gradient(out, [x, y])], [gx, gy])


def test_an_infinite_gradient_stays_on_its_side() -> None:
    x, y = tf.constant([1.0, 4.0]), tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        out = tf.maximum(x, y) * INF
    gx, gy = tape.gradient(out, [x, y])
    np.testing.assert_array_equal(gx, [0, INF])
    np.testing.assert_array_equal(gy, [INF, 0])


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]


@pytest.mark.parametrize("op", OPERATORS, ids=lambda f: f.__name__)
def test_numbers_and_arrays_on_either_side(op: object) -> None:
    x = tf.constant([1.0, 2.0, 4.0])
    array = np.array([2.0, 1.0, 3.0])  # float64: takes the dtype of the tensor
    for left, right in [(x, 3), (3, x), (x, 0.5), (0.5, x), (x, array), (x, np.float64(2))]:
        out = op(left, right)
        assert out.dtype is tf.float32
        np.testing.assert_allclose(out, op(np.asarray(left), np.asarray(right)), rtol=1e-6)
    # NumPy's operators would win on the left; tensors ask to be tried first.
    assert isinstance(op(array, x), tf.Tensor)


class Unit:
    """No tensor, but it says what `tensor * unit` is."""

    def of(self, other: object) -> str:
        return f"{int(other)} m"  # type: ignore[call-overload]

    __radd__ = __rmul__ = __rtruediv__ = __rmatmul__ = __ror__ = of


def test_operands_that_know_better() -> None:
    x, unit = tf.constant(3), Unit()
    for value in (x + unit, x * unit, x / unit, x @ unit, x | unit, tf.Variable(3) * unit):
        assert value == "3 m"
    with pytest.raises(ValueError, match="Cannot convert"):
        x - unit
    with pytest.raises((TypeError, ValueError), match="Cannot|mixed|dtype"):
        x * ["a", 1]


def test_numbers_that_do_not_fit_the_dtype() -> None:
    x = tf.constant([1, 2])
    with pytest.raises(TypeError, match="AddV2: x has dtype int32, but y has dtype float32"):
        x + 1.5
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError), match="uint8"):
        tf.constant([1], tf.uint8) + 300


def test_mixed_dtypes() -> None:
    text = "AddV2: x has dtype int32, but y has dtype float32. Both must be the same. Convert x"
    for error in (TypeError, tf.errors.InvalidArgumentError):
        with pytest.raises(error, match=text):
            tf.constant(1) + tf.constant(1.0)
    with pytest.raises(TypeError, match="Sub: x has dtype bool, expected one of"):
        tf.constant(True) - tf.constant(False)
    with pytest.raises(TypeError, match="RealDiv: x has dtype string, expected one of"):
        tf.constant("a") / tf.constant("b")


def test_shapes_that_do_not_broadcast() -> None:
    text = r"Mul: shapes \(2,\) and \(3,\) cannot be broadcast together"
    for error in (ValueError, tf.errors.InvalidArgumentError):
        with pytest.raises(error, match=text):
            tf.ones([2]) * tf.ones([3])


def test_integers_to_negative_powers() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Pow .* negative"):
        tf.pow(tf.constant([2]), -1)


def test_strings_are_joined() -> None:
    assert (tf.constant(["a", "b"]) + "c").numpy().tolist() == [b"ac", b"bc"]


def test_names() -> None:
    assert tf.math.mod is tf.math.floormod
    assert tf.math.add is tf.add


def test_bfloat16_rows() -> None:
    half = Sample((2, 3), ml_dtypes.bfloat16)
    check_case(Case(tf.multiply, [half, half], {}, np.multiply, grad=False, rtol=1e-2))
    check_case(Case(tf.math.floormod, [half, half], {}, np.mod, grad=False, rtol=1e-2))


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.bfloat16])
def test_powers_of_a_half(dtype: tf.DType) -> None:
    """They are not square roots: -0.0 gives 0.0, -inf gives inf, however the exponent comes."""
    x = tf.constant([-0.0, -INF, INF, -1.0, 4.0, NAN, 0.0], dtype)
    wanted = [0.0, INF, INF, NAN, 2.0, NAN, 0.0]
    half = tf.constant(0.5, dtype)
    exponents = [0.5, half, half[None], half[None, None], tf.fill([7], half), tf.fill([3, 1], half)]
    for graph in (False, True):
        power = tf.function(tf.pow, jit_compile=False) if graph else tf.pow
        for y in exponents:
            got = power(x, y).numpy().astype(np.float64).reshape(-1, 7)
            for row in got:
                np.testing.assert_array_equal(row, wanted)
                assert not np.signbit(row[np.array(wanted) == 0]).any()
    single = tf.constant(-0.0, dtype) ** tf.constant([0.5], dtype)
    assert single.shape == [1]
    assert not np.signbit(single.numpy().astype(np.float64)[0])
    assert (tf.zeros([0], dtype) ** 0.5).shape == [0]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    "divide", [tf.math.floordiv, tf.math.floormod, tf.truncatediv, tf.truncatemod]
)
def test_nothing_divided_by_zero_is_nothing(divide, traced: bool) -> None:
    if traced:
        divide = tf.function(divide)
    nothing = tf.zeros([0, 1], tf.int64)
    assert divide(nothing, tf.constant([0, 3], tf.int64)).shape == (0, 2)
