"""Element types."""

from __future__ import annotations

import pickle

import ml_dtypes
import numpy as np
import pytest

import weft as tf

ALL = [
    "float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8",
    "uint16", "uint32", "uint64", "bool", "complex64", "complex128", "string",
]  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_names_numpy_and_pickle_agree(name: str) -> None:
    dtype = tf.as_dtype(name)
    assert getattr(tf, name) is dtype
    assert dtype.name == name
    assert dtype == name
    assert tf.as_dtype(dtype.as_numpy_dtype) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert repr(dtype) == f"tf.{name}"
    assert str(dtype) == f"<dtype: '{name}'>"
    assert tf.as_dtype(dtype.as_datatype_enum) is dtype


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float, tf.float32),
        (int, tf.int32),
        (bool, tf.bool),
        (str, tf.string),
        (np.float64, tf.float64),
        (np.dtype(">i4"), tf.int32),
        (ml_dtypes.bfloat16, tf.bfloat16),
        (np.dtype("U3"), tf.string),
        ("double", tf.float64),
        ("half", tf.float16),
    ],
)
def test_as_dtype(value: object, expected: tf.DType) -> None:
    assert tf.as_dtype(value) is expected


def test_comparison_with_names_and_numpy() -> None:
    assert tf.float32 == np.float32
    assert tf.float32 == "float32"
    assert np.dtype("float32") == tf.float32.as_numpy_dtype
    assert tf.float32 != tf.float64
    assert tf.float32 != "no such type"
    assert tf.float32 is not None
    assert tf.float32 != None  # noqa: E711
    assert len({tf.float32, tf.as_dtype("float32")}) == 1


def test_properties() -> None:
    assert tf.bfloat16.is_floating
    assert tf.bfloat16.size == 2
    assert tf.uint8.is_unsigned
    assert tf.uint8.is_integer
    assert tf.complex64.real_dtype is tf.float32
    assert not tf.bool.is_numeric
    assert tf.string.size == 1
    assert (tf.int8.min, tf.int8.max) == (-128, 127)
    assert float(tf.float16.max) == 65504.0
    assert float(tf.bfloat16.max) == float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)
    assert tf.float32.limits == (0, 1)
    assert tf.uint8.limits == (0, 255)
    assert tf.int16.limits == (0, 32767)


def test_wrong_use_is_named() -> None:
    with pytest.raises(TypeError, match="'floaty'"):
        tf.as_dtype("floaty")
    with pytest.raises(TypeError, match="no smallest or largest"):
        _ = tf.string.min
    with pytest.raises(TypeError, match="M8"):
        tf.as_dtype(np.dtype("datetime64[s]"))
