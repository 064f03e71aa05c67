"""Small and quantized numbers: what their dtypes say, how values get in and out, casts.

Numbers and bytes here are what TensorFlow 2.21 gives.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft as tf
from weft._src.core import small_numbers
from weft._src.core.dtypes import QUANTIZED, SMALL, SMALL_FLOATING, plain
from weft._src.messages.tensors import TensorProto

# Number, size, smallest and largest value.
TABLE: dict[str, tuple[int, int, Any, Any]] = {
    "qint8": (11, 1, None, None),
    "quint8": (12, 1, None, None),
    "qint32": (13, 4, None, None),
    "qint16": (15, 2, None, None),
    "quint16": (16, 2, None, None),
    "float8_e5m2": (24, 1, -57344, 57344),
    "float8_e4m3fn": (25, 1, -448, 448),
    "float8_e4m3fnuz": (26, 1, -240, 240),
    "float8_e4m3b11fnuz": (27, 1, -30, 30),
    "float8_e5m2fnuz": (28, 1, -57344, 57344),
    "int4": (29, 1, -8, 7),
    "uint4": (30, 1, 0, 15),
    "int2": (31, 1, -2, 1),
    "uint2": (32, 1, 0, 3),
    "float4_e2m1fn": (33, 1, -6, 6),
}
ALL = [tf.as_dtype(name) for name in TABLE]
names = pytest.mark.parametrize("dtype", ALL, ids=lambda d: d.name)


def some(dtype: tf.DType) -> tf.Tensor:
    """A tensor [1, 0, 1]."""
    return tf.cast([1, 0, 1], dtype)


@names
def test_what_they_say(dtype: tf.DType) -> None:
    number, size, low, high = TABLE[dtype.name]
    assert dtype.as_datatype_enum == number
    assert tf.as_dtype(number) is dtype
    assert dtype.size == size
    assert dtype.is_quantized == dtype.name.startswith("q")
    assert dtype.is_floating == dtype.name.startswith("float")
    assert dtype.is_integer == dtype.name.startswith(("int", "uint"))
    assert dtype.is_unsigned == dtype.name.startswith("uint")
    assert dtype.is_numeric == dtype.is_quantized
    assert dtype.is_numpy_compatible
    assert not any((dtype.is_bool, dtype.is_complex, dtype.is_differentiable))
    assert dtype.base_dtype is dtype
    assert dtype.real_dtype is dtype
    if low is None:
        for name in ("min", "max"):
            with pytest.raises(TypeError, match=f"tf.{dtype.name} has no smallest or largest"):
                getattr(dtype, name)
    else:
        assert (float(dtype.min), float(dtype.max)) == (low, high)
    with pytest.raises(ValueError, match="no dtype of images"):
        _ = dtype.limits


@names
def test_names_numpy_and_pickle_agree(dtype: tf.DType) -> None:
    where = tf if dtype.is_quantized else tf.dtypes.experimental
    assert getattr(where, dtype.name) is dtype
    assert dtype == dtype.name
    assert tf.as_dtype(dtype.as_numpy_dtype) is dtype
    assert tf.as_dtype(np.dtype(dtype.as_numpy_dtype)) is dtype
    assert dtype == dtype.as_numpy_dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert repr(dtype) == f"tf.{dtype.name}"
    if dtype.is_quantized:
        stored = np.dtype(dtype.name.removeprefix("q"))
        assert dtype.as_numpy_dtype == np.dtype([(dtype.name, stored)])


def test_the_set_of_quantized_dtypes() -> None:
    assert {t for t in ALL if t.is_quantized} == tf.dtypes.QUANTIZED_DTYPES
    assert {t.is_quantized for t in (tf.float32, tf.int8, tf.string, tf.bool)} == {False}


# --- values --------------------------------------------------------------------------------------


@names
def test_constants(dtype: tf.DType) -> None:
    for value in ([1, 0, 1], (1, 0, 1), np.array([1, 0, 1]), np.array([1, 0, 1], np.float32)):
        x = tf.constant(value, dtype)
        assert x.dtype is dtype
        assert bool(tf.reduce_all(x == some(dtype)))
    one = tf.constant(1, dtype)
    assert (one.shape, one.dtype, int(one), float(one), bool(one)) == ((), dtype, 1, 1.0, True)
    assert tf.constant(1, dtype, shape=[2, 3]).numpy().tolist() == [[1, 1, 1], [1, 1, 1]]
    assert tf.constant(some(dtype)._value).dtype is dtype  # an array keeps its dtype
    assert tf.constant(some(dtype)).dtype is dtype
    assert tf.constant([], dtype).shape == (0,)
    assert tf.constant([[1], [0]], dtype).shape == (2, 1)


def test_numbers_that_do_not_fit_are_refused() -> None:
    for dtype, value in (("qint8", 128), ("quint16", -1), ("int4", 8), ("uint2", 4),
                         ("float8_e4m3fn", 500), ("float4_e2m1fn", 7)):  # fmt: skip
        with pytest.raises(ValueError, match=f"The value {value} does not fit"):
            tf.constant(value, dtype)
    for dtype, value in (("qint8", [128]), ("uint4", [1, -1]), ("int2", np.array([2]))):
        with pytest.raises(ValueError, match="does not fit"):
            tf.constant(value, dtype)
    for dtype in ("qint8", "int4"):
        for wrong in (1.5, [1.5], np.array([1.5])):
            with pytest.raises(TypeError, match=r"tf\.cast"):
                tf.constant(wrong, dtype)
        with pytest.raises(TypeError, match=r"tf\.strings\.to_number"):
            tf.constant("1", dtype)
    with pytest.raises(TypeError, match=r"tf\.cast"):  # quantized numbers are no others
        tf.constant(some(tf.qint8)._value, tf.int8)


def test_floats_round_or_become_infinite() -> None:
    assert float(tf.constant(1.1, "float8_e4m3fn")) == 1.125
    assert float(tf.constant(1e9, "float8_e5m2")) == np.inf
    assert np.isnan(float(tf.constant(1e9, "float8_e4m3fn")))
    assert float(tf.constant(1e9, "float4_e2m1fn")) == 6.0


@names
def test_numpy_gives_integers_for_quantized_numbers(dtype: tf.DType) -> None:
    x = some(dtype)
    wanted = np.dtype(dtype.name.removeprefix("q")) if dtype.is_quantized else dtype.numpy_dtype
    for array in (x.numpy(), np.asarray(x), np.array(x), tf.Variable(x).numpy()):
        assert array.dtype == wanted
        assert array.astype(np.float32).tolist() == [1, 0, 1]
    assert np.asarray(x, np.float64).tolist() == [1.0, 0.0, 1.0]
    assert type(x[0].numpy()) is wanted.type
    assert tf.get_static_value(x).dtype == wanted
    array = x.numpy()
    array[0] = 0  # is a copy
    assert int(x[0]) == 1


def test_quantized_numbers_as_text() -> None:
    x = tf.constant([[1, -2], [100, 4]], tf.qint8)
    assert repr(x[0]) == "<tf.Tensor: shape=(2,), dtype=qint8, numpy=array([ 1, -2], dtype=int8)>"
    assert str(x[0, 1]) == "tf.Tensor(-2, shape=(), dtype=qint8)"
    assert str(x) == "tf.Tensor(\n[[  1  -2]\n [100   4]], shape=(2, 2), dtype=qint8)"
    assert f"{x[0, 0]:03d}" == "001"
    assert repr(tf.Variable(x[1], name="w")) == (
        "<tf.Variable 'w:0' shape=(2,) dtype=qint8, numpy=array([100,   4], dtype=int8)>"
    )
    assert tf.strings.format("{} {}", [x, x[0, 1]]).numpy() == b"[[1 -2]\n [100 4]] -2"
    assert tf.strings.as_string(x).numpy().tolist() == [[b"1", b"-2"], [b"100", b"4"]]


def test_small_numbers_as_text() -> None:
    x = tf.constant([1.5, -448, 0.001953125], "float8_e4m3fn")
    assert tf.strings.format("{}", x).numpy() == b"[1.5 -448 0.00195312]"
    assert tf.strings.as_string(x, precision=2).numpy().tolist() == [b"1.50", b"-448.00", b"0.00"]
    assert tf.strings.as_string(tf.constant([-8, 7], "int4")).numpy().tolist() == [b"-8", b"7"]
    assert str(tf.constant([-8, 7], "int4")) == "tf.Tensor([-8 7], shape=(2,), dtype=int4)"
    assert str(tf.ragged.constant([[1.5], []], "float8_e5m2")) == "<tf.RaggedTensor [[1.5], []]>"


def test_a_quantized_number_as_an_index() -> None:
    assert "abc"[tf.constant(2, tf.qint8)] == "c"
    assert "abc"[tf.constant(1, "uint4")] == "b"
    with pytest.raises(TypeError, match="got float8_e5m2 of shape"):
        _ = "abc"[tf.constant(1, "float8_e5m2")]


@names
def test_copies_and_pickles(dtype: tf.DType) -> None:
    x = some(dtype)
    for other in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), tf.identity(x)):
        assert other.dtype is dtype
        assert bool(tf.reduce_all(x == other))


def test_no_dlpack_for_them() -> None:
    for dtype in (tf.qint8, "float8_e4m3fn", "float8_e5m2", "int4"):
        with pytest.raises(BufferError, match="DLPack: a tensor of dtype"):
            some(tf.as_dtype(dtype)).__dlpack__()


def test_what_does_not_fit_into_memory_has_its_name() -> None:
    for dtype in (tf.qint8, "float8_e5m2"):
        name = tf.as_dtype(dtype).name
        with pytest.raises(tf.errors.ResourceExhaustedError, match=f"and dtype {name} takes"):
            tf.zeros([2**20, 2**20, 2**10], dtype)


def test_equality_needs_the_same_dtype() -> None:
    x = some(tf.qint8)
    assert (x == [1, 1, 1]).numpy().tolist() == [True, False, True]
    assert (x != 1).numpy().tolist() == [False, True, False]
    assert (x == np.array([1, 0, 0], np.int8)).numpy().tolist() == [True, True, False]
    with pytest.raises(TypeError, match="x has dtype qint8, but y has dtype int8"):
        tf.equal(x, tf.constant([1, 0, 1], tf.int8))
    tf.debugging.assert_equal(x, x)


@names
def test_nothing_is_computed_with_them(dtype: tf.DType) -> None:
    x = some(dtype)
    calls = (lambda x: x + x, lambda x: -x, lambda x: x < x[0], tf.reduce_sum, tf.sort, tf.unique,
             lambda x: tf.matmul(x[None], x[:, None]), tf.exp, tf.reduce_max)  # fmt: skip
    for call in calls:
        for run in (call, tf.function(call)):
            with pytest.raises(TypeError, match=r"convert them with tf\.cast\(\w+, tf\.float32\)"):
                run(x)


# --- messages ------------------------------------------------------------------------------------

BYTES: dict[tuple[str, Any], bytes] = {
    ("qint8", (1, -2, 3)): b'\x08\x0b\x12\x04\x12\x02\x08\x03"\x03\x01\xfe\x03',
    ("qint8", 5): b"\x08\x0b\x12\x00:\x01\x05",
    ("quint16", (1, 65535)): b'\x08\x10\x12\x04\x12\x02\x08\x02"\x04\x01\x00\xff\xff',
    ("qint32", -7): b"\x08\r\x12\x00:\n\xf9\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    ("float8_e4m3fn", (1.5, 2)): b'\x08\x19\x12\x04\x12\x02\x08\x02"\x02<@',
    ("float8_e5m2", 3.0): b"\x08\x18\x12\x00\x92\x01\x01B",
    ("float4_e2m1fn", 3.0): b"\x08!\x12\x00\x92\x01\x01\x05",
    ("int4", (1, -2)): b"\x08\x1d\x12\x04\x12\x02\x08\x02:\x0b\x01\xfe" + b"\xff" * 8 + b"\x01",
    ("uint2", 3): b"\x08 \x12\x00:\x01\x03",
    ("float8_e5m2fnuz", (1.0, 2.0)): b'\x08\x1c\x12\x04\x12\x02\x08\x02"\x02@D',
}


@pytest.mark.parametrize(("name", "value"), BYTES, ids=str)
def test_bytes_are_those_of_tensorflow(name: str, value: Any) -> None:
    given = list(value) if isinstance(value, tuple) else value
    content = tf.make_tensor_proto(given, name).SerializeToString()
    assert content == BYTES[name, value]
    assert tf.make_tensor_proto(tf.constant(given, name)).SerializeToString() == content
    array = tf.make_ndarray(TensorProto.FromString(content))
    assert array.dtype == tf.as_dtype(name).numpy_dtype
    assert plain(array).astype(np.float64).tolist() == given
    parsed = tf.io.parse_tensor(content, name)
    assert parsed.dtype == name
    assert parsed.numpy().astype(np.float64).tolist() == given


@names
def test_serialized_tensors(dtype: tf.DType) -> None:
    for x in (some(dtype), some(dtype)[0], tf.zeros([2, 0], dtype)):
        parsed = tf.io.parse_tensor(tf.io.serialize_tensor(x), dtype)
        assert parsed.dtype is dtype
        assert parsed.shape == x.shape
        assert bool(tf.reduce_all(parsed == x))
        traced = tf.function(lambda x: tf.io.parse_tensor(tf.io.serialize_tensor(x), dtype))(x)
        assert traced.dtype is dtype


def test_bits_that_mean_nothing_are_dropped() -> None:
    for name, content, wanted in (
        ("int4", b"\xf7\x0f\x80", [7, -1, 0]),
        ("uint2", b"\xff\x04\x82", [3, 0, 2]),
        ("float4_e2m1fn", b"\xf2\x7f", [1.0, -6.0]),
    ):
        proto = TensorProto(dtype=int(tf.as_dtype(name)), tensor_content=content)
        proto.tensor_shape.dim.add().size = len(content)
        array = tf.make_ndarray(proto)
        assert array.astype(np.float64).tolist() == wanted
        canonical = tf.constant(wanted, name)._value
        assert array.view(np.uint8).tolist() == canonical.view(np.uint8).tolist()


# --- casts ---------------------------------------------------------------------------------------

OTHERS = [getattr(tf, name) for name in (
    "float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8",
    "uint16", "uint32", "uint64", "bool", "complex64", "complex128",
)]  # fmt: skip


@names
def test_every_cast_is_there(dtype: tf.DType) -> None:
    for other in [*OTHERS, *ALL]:
        there = tf.cast(some(dtype), other)
        assert there.dtype is other
        back = tf.cast(there, dtype)
        assert back.dtype is dtype
        assert tf.cast(back, tf.float32).numpy().tolist() == [1, 0, 1], other
    with pytest.raises(tf.errors.UnimplementedError, match="cannot be turned into string"):
        tf.cast(some(dtype), tf.string)


@pytest.mark.parametrize("dtype", sorted(SMALL_FLOATING, key=str), ids=lambda d: d.name)
@pytest.mark.parametrize("source", ["float32", "float16", "bfloat16", "float64", "int32"])
def test_tables_give_what_ml_dtypes_gives(dtype: tf.DType, source: str) -> None:
    """Large arrays are cast by tables; every number of 16 bits, and what lies between them."""
    bits = np.arange(1 << 16, dtype=np.uint32)
    if source in ("float16", "bfloat16"):
        x = bits.astype(np.uint16).view(tf.as_dtype(source).numpy_dtype)
    elif source == "int32":
        x = np.concatenate([bits.astype(np.int32) - (1 << 15), [2**31 - 1, -(2**31), 2**24 + 1]])
    else:
        between = [(bits << 16) | low for low in (0, 1, 0x7FFF, 0x8000, 0xFFFF)]
        with np.errstate(invalid="ignore"):  # NaN that signals
            x = np.concatenate(between).astype(np.uint32).view(np.float32).astype(source)
    assert x.size >= small_numbers._MANY
    with np.errstate(all="ignore"):
        wanted = x.astype(dtype.numpy_dtype)
    got = tf.cast(x, dtype)._value
    nan = np.isnan(wanted.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(got.astype(np.float32)), nan)
    np.testing.assert_array_equal(got.view(np.uint8)[~nan], wanted.view(np.uint8)[~nan])
    wide = tf.cast(tf.constant(got), tf.float32).numpy()
    np.testing.assert_array_equal(wide, got.astype(np.float32))
    # Not contiguous.
    turned, given = [a[: 1 << 16].reshape(256, 256).T for a in (got, x)]
    np.testing.assert_array_equal(small_numbers.widened(turned), turned.astype(np.float32))
    small = small_numbers.narrowed(given, dtype.numpy_dtype)
    np.testing.assert_array_equal(small.view(np.uint8), turned.view(np.uint8))


def test_casts_have_no_gradient() -> None:
    x = tf.constant([1.5, 2.5])
    for dtype in ("float8_e4m3fn", tf.qint8, "int4"):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cast(tf.cast(x, dtype), tf.float32)
        assert tape.gradient(y, x) is None


def test_saturating() -> None:
    x = [-1e9, -3.5, 3.5, 1e9]
    for name in ("float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "int4", "uint2"):
        dtype = tf.as_dtype(name)
        got = tf.saturate_cast(x, dtype).numpy().astype(np.float64)
        assert (got[0], got[-1]) == (float(dtype.min), float(dtype.max))
    assert tf.saturate_cast(x, tf.qint8).numpy().tolist() == [-128, -3, 3, 127]
    assert tf.saturate_cast(x, tf.quint16).numpy().tolist() == [0, 0, 3, 65535]
    small = tf.constant([448.0, -2.5], "float8_e4m3fn")
    assert tf.saturate_cast(small, tf.int8).numpy().tolist() == [127, -2]
    assert tf.saturate_cast(tf.constant([-7, 7], "int4"), "uint2").numpy().tolist() == [0, 3]
    assert tf.saturate_cast(tf.constant([-7, 7], tf.qint8), "uint4").numpy().tolist() == [0, 7]


def test_the_oldest_ml_dtypes_has_them() -> None:
    for dtype in SMALL:
        assert dtype.as_numpy_dtype is getattr(ml_dtypes, dtype.name)
    assert len(SMALL | QUANTIZED) == len(TABLE)
