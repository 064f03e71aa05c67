"""make_tensor_proto, make_ndarray and the bytes of a TensorProto."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import weft as tf
from weft._src.graph.tensor_proto import array_in, array_of
from weft._src.messages.tensors import TensorProto

VALUES = [
    1.5, [1, 2], [[1.0, 2.0]], ["a", b"\xff"], "x", True, [True, False], 1j, [1j, 2.0], [],
    np.zeros((2, 0)), np.array([1, 2], np.uint8), np.array(-7, np.int64), np.array(3, np.uint64),
    np.array(1.5, np.float16), np.array([1.5, 2.5], ml_dtypes.bfloat16), np.array(-3, np.int8),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_there_and_back(value: object) -> None:
    expected = tf.constant(value)._value
    proto = tf.make_tensor_proto(value)
    for message in (proto, TensorProto.FromString(proto.SerializeToString())):
        got = tf.make_ndarray(message)
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)


# What TensorFlow 2.21 writes.
BYTES = {
    1.0: b"\x08\x01\x12\x00*\x04\x00\x00\x80?",
    (1, 2): b'\x08\x03\x12\x04\x12\x02\x08\x02"\x08\x01\x00\x00\x00\x02\x00\x00\x00',
    ("a", "b"): b"\x08\x07\x12\x04\x12\x02\x08\x02B\x01aB\x01b",
    (True, False): b"\x08\n\x12\x04\x12\x02\x08\x02Z\x02\x01\x00",
    (): b"\x08\x01\x12\x02\x12\x00",
    1j: b"\x08\x12\x12\x00b\x10" + b"\x00" * 14 + b"\xf0?",
}


@pytest.mark.parametrize("value", BYTES, ids=repr)
def test_bytes_are_those_of_tensorflow(value: object) -> None:
    assert tf.make_tensor_proto(value).SerializeToString() == BYTES[value]


def test_the_last_element_fills_a_shape() -> None:
    assert tf.make_ndarray(tf.make_tensor_proto([1, 2], shape=[2, 2])).tolist() == [[1, 2], [2, 2]]
    assert tf.make_ndarray(tf.make_tensor_proto(1.0, shape=[3])).tolist() == [1.0, 1.0, 1.0]


def test_tensors_and_dtypes() -> None:
    proto = tf.make_tensor_proto(tf.constant([1, 2]))
    assert (proto.dtype, [d.size for d in proto.tensor_shape.dim]) == (3, [2])
    assert tf.make_ndarray(tf.make_tensor_proto([1], dtype=tf.float64)).dtype == np.float64


def test_errors() -> None:
    with pytest.raises(TypeError, match="make_tensor_proto: shape is"):
        tf.make_tensor_proto([1, 2], shape=[3], verify_shape=True)
    with pytest.raises(ValueError, match=r"shape \[1\] has 1 elements, but values 2"):
        tf.make_tensor_proto([1, 2], shape=[1])
    with pytest.raises(TypeError, match="make_ndarray: tensor must be a TensorProto"):
        tf.make_ndarray([1])
    with pytest.raises(TypeError, match="values have dtype int32, not float32"):
        tf.make_tensor_proto(tf.constant([1]), dtype=tf.float32)
    with pytest.raises(ValueError, match="no serialized TensorProto"):
        TensorProto.FromString(b"\x12\xff")


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_known_heads_change_nothing(value: object) -> None:
    """Bytes as they were written, and damaged ones: the same array, or the same error."""
    rng = np.random.default_rng(3)
    whole = bytearray(tf.io.serialize_tensor(tf.constant(value)).numpy())
    for _ in range(200):
        data = whole[: rng.integers(len(whole) + 1)] if rng.random() < 0.3 else whole[:]
        for at in rng.integers(len(data), size=rng.integers(3)) if data else ():
            data[at] = rng.integers(256) if rng.random() < 0.5 else rng.integers(16)
        found: list[object] = []
        for read in (array_in, lambda data: array_of(TensorProto.FromString(data))):
            try:
                array = read(bytes(data))
                found.append((array.dtype, array.shape, array.tobytes()))
            except (ValueError, tf.errors.ResourceExhaustedError) as error:
                found.append((type(error), str(error)))
        if tf.constant(value).dtype is tf.string:  # of objects the bytes are addresses
            found = [kept[:2] for kept in found]
        assert found[0] == found[1]
