"""Uniform and normal numbers: TensorFlow's, recorded, and what must hold for any of them."""

import hashlib
import math

import ml_dtypes
import numpy as np
import pytest

from weft._src.core.random_numbers import distributions
from weft._src.core.random_numbers.distributions import (
    blocks_used,
    normal,
    truncated_blocks_used,
    truncated_normal,
    uniform_float,
    uniform_full_int,
    uniform_int,
)
from weft._src.core.random_numbers.seeds import key_counter_from_seed, key_counter_from_state

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTS = ["int32", "int64", "uint32", "uint64"]
SIZES = [0, 1, 3, 5, 1025]

# Recorded from TensorFlow 2.21: seed, dtype, size, and the start of the SHA-256 of the bytes.
UNIFORM = [
    ((1, 2), "float16", 3, "cf3c243a9f0d671f"),
    ((1, 2), "float16", 1025, "18c459a2a4a72df0"),
    ((1, 2), "bfloat16", 3, "a3a861c63276bb4d"),
    ((1, 2), "bfloat16", 1025, "32f2e7a780fe5ca7"),
    ((1, 2), "float32", 3, "ea3a656818262992"),
    ((1, 2), "float32", 1025, "465b4b9161b00b75"),
    ((1, 2), "float64", 3, "ad70a36beb7a9138"),
    ((1, 2), "float64", 1025, "ae46d75f9401273e"),
    ((-7, 2147483647), "float16", 3, "d84f376ff3e1077d"),
    ((-7, 2147483647), "float16", 1025, "ed9b79553bc3945c"),
    ((-7, 2147483647), "bfloat16", 3, "a21ea13e7252e316"),
    ((-7, 2147483647), "bfloat16", 1025, "b55c6fa5da9b3a0d"),
    ((-7, 2147483647), "float32", 3, "e539a85c2b14a24a"),
    ((-7, 2147483647), "float32", 1025, "4c4b22066feba8ee"),
    ((-7, 2147483647), "float64", 3, "9d562c60d86de0cf"),
    ((-7, 2147483647), "float64", 1025, "5294e1be70926b37"),
    ((0, 0), "float16", 3, "d01f3ea21aa22fdc"),
    ((0, 0), "float16", 1025, "12cfa4d1ea21d3dd"),
    ((0, 0), "bfloat16", 3, "7e7598c2520b58e6"),
    ((0, 0), "bfloat16", 1025, "b612fd0c04e2c4c0"),
    ((0, 0), "float32", 3, "f88de0430f315218"),
    ((0, 0), "float32", 1025, "dcef48dbc34d827a"),
    ((0, 0), "float64", 3, "4d0a9a5f746ce75f"),
    ((0, 0), "float64", 1025, "afd83d4e87cb6a8a"),
]
FULL_INT = [
    ((1, 2), "int32", 1025, "280f59012a72752e"),
    ((1, 2), "int64", 1025, "19e643f3cb6f3a5c"),
    ((1, 2), "uint32", 1025, "280f59012a72752e"),
    ((1, 2), "uint64", 1025, "19e643f3cb6f3a5c"),
    ((-7, 2147483647), "int32", 1025, "1d2edb28ad7a3e30"),
    ((-7, 2147483647), "int64", 1025, "a845b2164cf9dba6"),
    ((-7, 2147483647), "uint32", 1025, "1d2edb28ad7a3e30"),
    ((-7, 2147483647), "uint64", 1025, "a845b2164cf9dba6"),
]
# With minval and maxval; 1025 numbers each.
INT = [
    ((1, 2), "int32", -1000, 123457, "8598f1ca33e9c43f"),
    ((1, 2), "int32", 0, 2, "ffc002ae53e76291"),
    ((1, 2), "int32", 0, 1, "1bf9e588060a73e6"),
    ((1, 2), "int32", -2147483648, 2147483647, "dd8cde9aa2491169"),
    ((1, 2), "int32", 5, 2147483647, "b0e94a6dcb511539"),
    ((1, 2), "int64", -1000, 123457, "ca6e4b588c9f934b"),
    ((1, 2), "int64", 0, 2, "ee67ae2479c64af8"),
    ((1, 2), "int64", 0, 1, "b9e4441d2f07bdab"),
    ((1, 2), "int64", -9223372036854775808, 9223372036854775807, "5f792b82d873c2b1"),
    ((1, 2), "int64", 5, 9223372036854775807, "faa080a191e3ab0d"),
    ((-7, 2147483647), "int32", -1000, 123457, "76319a6d92e43ccb"),
    ((-7, 2147483647), "int32", 0, 2, "a4826cb2c5d76a3e"),
    ((-7, 2147483647), "int32", 0, 1, "1bf9e588060a73e6"),
    ((-7, 2147483647), "int32", -2147483648, 2147483647, "b841e1067dfcd264"),
    ((-7, 2147483647), "int32", 5, 2147483647, "fc217516f7547c10"),
    ((-7, 2147483647), "int64", -1000, 123457, "f0ead01073108cb9"),
    ((-7, 2147483647), "int64", 0, 2, "8b0971919522ad4e"),
    ((-7, 2147483647), "int64", 0, 1, "b9e4441d2f07bdab"),
    ((-7, 2147483647), "int64", -9223372036854775808, 9223372036854775807, "d863f0c771182ec0"),
    ((-7, 2147483647), "int64", 5, 9223372036854775807, "72e1fa8704c3aab3"),
]
# Numbers 4 and 1024 of 1025, and the sum of all.
NORMAL = [
    ("normal", (1, 2), "float16", -1.3017578125, 0.168212890625, 6.63433),
    ("normal", (1, 2), "bfloat16", -1.3046875, 0.16796875, 6.75969),
    ("normal", (1, 2), "float32", -1.3015898, 0.16820592, 6.63308),
    ("normal", (1, 2), "float64", -0.7218813856153005, -0.7872817214842733, 56.85840),
    ("normal", (3, 4), "float16", -0.615234375, 0.638671875, -45.00898),
    ("normal", (3, 4), "bfloat16", -0.6171875, 0.63671875, -45.04248),
    ("normal", (3, 4), "float32", -0.6153246, 0.63851905, -45.01749),
    ("normal", (3, 4), "float64", -0.28597604593439324, 0.33739661365430873, 24.85342),
    ("truncated_normal", (1, 2), "float16", 0.168212890625, -1.841796875, 23.44286),
    ("truncated_normal", (1, 2), "bfloat16", 0.16796875, -1.84375, 23.44733),
    ("truncated_normal", (1, 2), "float32", 0.16820592, -1.8418494, 23.44030),
    ("truncated_normal", (1, 2), "float64", -0.39842023956588357, -0.2842030266509515, -13.44788),
    ("truncated_normal", (3, 4), "float16", 0.638671875, -0.3720703125, -48.82266),
    ("truncated_normal", (3, 4), "bfloat16", 0.63671875, -0.373046875, -48.91729),
    ("truncated_normal", (3, 4), "float32", 0.63851905, -0.3721589, -48.83596),
    ("truncated_normal", (3, 4), "float64", -0.5822817890198345, -0.9890321098949669, 30.77379),
]
# Generator states near a carry: 1025 uniform numbers; 0, 4, 8 of 9 truncated; 0, 49 of 50 normal.
CARRY = [
    (
        [4294967294, 0, 9],
        "b9e1ae43f5335ec2",
        [-1.8073188, 0.3870214, 0.44462436],
        [-1.8073188, -1.4158733],
    ),
    ([-3, 0, 9], "ce006bc22986a975", [0.966206, 0.9770427, 0.10920909], [0.966206, -0.23030853]),
    (
        [-3, -1, 9],
        "4718494ddd3af6df",
        [-1.1387006, -0.46959108, 1.5469906],
        [-1.1387006, -1.4801425],
    ),
    (
        [-3, 4294967295, 77],
        "94c78ba8554df94f",
        [1.4055487, -0.34093872, 1.6225052],
        [1.4055487, -0.96305466],
    ),
    ([-130, 0, 9], "f2be1a52ec4fec9c", [0.2594412, 0.27450284, -1.3074516], [2.5565474, 1.0921981]),
]


def as_dtype(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def assert_within_ulp(actual, expected, ulp):
    expected = np.asarray(expected).astype(actual.dtype)
    spacing = np.abs(expected).astype(np.float64) * float(ml_dtypes.finfo(actual.dtype).eps)
    error = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    assert np.all(error <= ulp * spacing), (actual, expected)


@pytest.mark.parametrize(("seed", "dtype", "size", "expected"), UNIFORM)
def test_uniform_float_equals_tensorflow(seed, dtype, size, expected):
    out = uniform_float(*key_counter_from_seed(seed), (size,), as_dtype(dtype))
    assert digest(out) == expected


@pytest.mark.parametrize(("seed", "dtype", "size", "expected"), FULL_INT)
def test_uniform_full_int_equals_tensorflow(seed, dtype, size, expected):
    assert digest(uniform_full_int(*key_counter_from_seed(seed), (size,), dtype)) == expected


@pytest.mark.parametrize(("seed", "dtype", "minval", "maxval", "expected"), INT)
def test_uniform_int_equals_tensorflow(seed, dtype, minval, maxval, expected):
    out = uniform_int(*key_counter_from_seed(seed), (1025,), dtype, minval, maxval)
    assert digest(out) == expected


@pytest.mark.parametrize(("name", "seed", "dtype", "fifth", "last", "total"), NORMAL)
def test_normals_are_near_tensorflow(name, seed, dtype, fifth, last, total):
    draw = getattr(distributions, name)
    out = draw(*key_counter_from_seed(seed), (1025,), as_dtype(dtype))
    assert_within_ulp(out[[4, 1024]], [fifth, last], ulp=4)
    tolerance = 0.01 if out.itemsize == 2 else 1e-4  # a few numbers may round the other way
    assert abs(out.astype(np.float64).sum() - total) < tolerance


@pytest.mark.parametrize(("state", "uniform", "truncated", "normals"), CARRY)
def test_carries_equal_tensorflow(state, uniform, truncated, normals):
    key, counter = key_counter_from_state(np.array(state))
    assert digest(uniform_float(key, counter, (1025,), np.float32)) == uniform
    assert_within_ulp(truncated_normal(key, counter, (9,), np.float32)[[0, 4, 8]], truncated, 4)
    assert_within_ulp(normal(key, counter, (50,), np.float32)[[0, 49]], normals, 4)


DRAWS = [
    *[(uniform_float, dtype) for dtype in FLOATS],
    *[(normal, dtype) for dtype in FLOATS],
    *[(truncated_normal, dtype) for dtype in FLOATS],
    *[(uniform_full_int, dtype) for dtype in INTS],
]


@pytest.mark.parametrize(("draw", "dtype"), DRAWS)
def test_shapes_and_prefixes(draw, dtype):
    dtype = as_dtype(dtype)
    many = draw(7, 100, (2048,), dtype)
    for size in SIZES:
        few = draw(7, 100, (size,), dtype)
        assert few.dtype == dtype
        assert few.shape == (size,)
        assert few.tobytes() == many[:size].tobytes()
    for shape in [(), (2, 3, 5), (4, 0, 2), [3, 1]]:
        out = draw(7, 100, shape, dtype)
        assert isinstance(out, np.ndarray)
        assert out.shape == tuple(shape)
        assert out.tobytes() == many[: math.prod(shape)].tobytes()


@pytest.mark.parametrize(("draw", "dtype"), DRAWS)
def test_the_next_draw_starts_where_blocks_used_says(draw, dtype):
    dtype = as_dtype(dtype)
    used = truncated_blocks_used if draw is truncated_normal else blocks_used
    size = 24
    both = draw(7, 2**64 - 3, (2 * size,), dtype)
    second = draw(7, 2**64 - 3 + used(size, dtype), (size,), dtype)
    assert second.tobytes() == both[size:].tobytes()


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_floats_are_uniform(dtype):
    x = uniform_float(11, 0, (100_000,), as_dtype(dtype)).astype(np.float64)
    assert x.min() >= 0
    assert x.max() < 1
    share = np.histogram(x, bins=16, range=(0, 1))[0] / x.size
    assert np.abs(share - 1 / 16).max() < 0.004


@pytest.mark.parametrize("dtype", FLOATS)
def test_normals_have_their_moments(dtype):
    x = normal(12, 0, (200_000,), as_dtype(dtype)).astype(np.float64)
    assert abs(x.mean()) < 0.01
    assert abs(x.std() - 1) < 0.01
    assert abs((x**4).mean() - 3) < 0.1
    assert abs(np.corrcoef(x[0::2], x[1::2])[0, 1]) < 0.015


@pytest.mark.parametrize("dtype", FLOATS)
def test_truncated_normals_have_their_moments(dtype):
    x = truncated_normal(13, 0, (200_000,), as_dtype(dtype)).astype(np.float64)
    assert np.abs(x).max() <= 2  # float16 and bfloat16 may round up to 2
    assert abs(x.mean()) < 0.01
    assert abs(x.std() - 0.8796) < 0.01
    assert np.abs(x).max() > 1.99


@pytest.mark.parametrize("dtype", INTS)
def test_uniform_int_covers_its_range(dtype):
    low = 0 if dtype.startswith("u") else -3
    out = uniform_int(5, 0, (10_000,), dtype, low, low + 7)
    assert np.unique(out).tolist() == list(range(low, low + 7))
    assert np.bincount((out - low).astype(np.int64)).min() > 1200


def test_uniform_int_refuses_an_empty_range_unless_nothing_is_drawn():
    with pytest.raises(ValueError, match="Need minval < maxval, got 5 >= 4"):
        uniform_int(1, 2, (3,), np.int32, 5, 4)
    assert uniform_int(1, 2, (0,), np.int32, 5, 4).shape == (0,)


def test_uniform_int_refuses_a_range_outside_its_type():
    with pytest.raises(ValueError, match=r"The range \[0, 4294967296\) does not fit int32"):
        uniform_int(1, 2, (3,), np.int32, 0, 2**32)


def test_wrong_dtypes_are_named():
    with pytest.raises(TypeError, match="Expected float16, bfloat16, float32 or float64, got int8"):
        uniform_float(1, 2, (3,), np.int8)
    with pytest.raises(TypeError, match="Expected int32, int64, uint32 or uint64, got float32"):
        uniform_full_int(1, 2, (3,), np.float32)
