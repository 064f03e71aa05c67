"""From Python and NumPy values to tensors: nothing is rounded, wrapped or promoted silently."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        (1, tf.int32, ()),
        (2**40, tf.int64, ()),
        (1.5, tf.float32, ()),
        (True, tf.bool, ()),
        (1 + 2j, tf.complex128, ()),
        ("a", tf.string, ()),
        ([1, 2.5], tf.float32, (2,)),
        ([[1, 2], [3, 4]], tf.int32, (2, 2)),
        ([1, 2**40], tf.int64, (2,)),
        ([], tf.float32, (0,)),
        ([[], []], tf.float32, (2, 0)),
        (range(3), tf.int32, (3,)),
        (np.float64(1), tf.float64, ()),
        ([np.float64(1)], tf.float64, (1,)),
        ([np.int64(1)], tf.int32, (1,)),
        # In lists whole numbers are int32, and the first element says which floats they are.
        ([np.array([1, 2]), [3, 4]], tf.int32, (2, 2)),
        ([np.array([1, 2], np.uint8)], tf.int32, (1, 2)),
        ([np.array([1, 2**40])], tf.int64, (1, 2)),
        ([np.float32(1), 2.0], tf.float32, (2,)),
        ([0.0, np.float64(1)], tf.float32, (2,)),
        ([0, np.float64(1)], tf.float32, (2,)),
        ([np.float64(1), 2.0, 3], tf.float64, (3,)),
        ([np.float16(1), np.float64(2)], tf.float16, (2,)),
        ([np.zeros(3, np.float32), np.zeros(3)], tf.float32, (2, 3)),
        ([[1.0, 2.0], np.zeros(2)], tf.float32, (2, 2)),
        (collections.deque([np.zeros(3), np.zeros(3)]), tf.float64, (2, 3)),
        (np.zeros((2, 3)), tf.float64, (2, 3)),
        (np.zeros(3, ">f4"), tf.float32, (3,)),
        (np.array(["a", "bc"]), tf.string, (2,)),
        (["a", b"b"], tf.string, (2,)),
        (tf.TensorShape([2, 3]), tf.int32, (2,)),
    ],
)
def test_defaults(value: object, dtype: tf.DType, shape: tuple[int, ...]) -> None:
    for make in (tf.constant, tf.convert_to_tensor):
        t = make(value)
        assert t.dtype is dtype
        assert t.shape == shape


def test_strings_are_bytes() -> None:
    assert tf.constant("é").numpy() == "é".encode()
    assert tf.constant(["a", b"b"]).numpy().tolist() == [b"a", b"b"]


@pytest.mark.parametrize(
    ("value", "dtype", "error", "text"),
    [
        (1.5, tf.int32, TypeError, "1.5"),
        (1j, tf.float32, TypeError, "complex"),
        ("a", tf.int32, TypeError, r"'a' \(str\) .* int32.* tf\.strings\.to_number"),
        (np.array(["a", "b"]), tf.int32, TypeError, r"tf\.strings\.to_number\(x\)"),
        (3, tf.string, TypeError, r"3 \(int\) .* string.* tf\.strings\.as_string\(x\)"),
        (np.arange(2), tf.string, TypeError, r"tf\.strings\.as_string\(x\)"),
        (1, tf.string, TypeError, "string"),
        (300, tf.uint8, ValueError, "300 does not fit uint8"),
        (-1, tf.uint8, ValueError, "0..255"),
        (2**70, None, ValueError, "does not fit"),
        ([1.5], tf.int32, TypeError, "int32"),
        ([np.uint64(2**63), 1], None, ValueError, "No integer dtype"),
        ([1, 300], tf.uint8, ValueError, "300"),
        (np.array([300]), tf.uint8, ValueError, "300"),
        ([[1, 2], [3]], None, ValueError, r"item 0 has shape \(2,\), item 1 has shape \(1,\)"),
        ([1, [2]], None, ValueError, "ragged"),
        (None, None, ValueError, "NoneType"),
        ([None, 1], None, ValueError, "NoneType"),
        (object(), None, ValueError, "object"),
        ({1: 2}, None, ValueError, "dict"),
        (np.array([1, "a"], object), None, ValueError, "object array"),
        (np.datetime64("2020-01-01"), None, ValueError, "datetime64"),
    ],
)
def test_refusals(value: object, dtype: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        tf.constant(value, dtype)


def test_explicit_dtype() -> None:
    assert tf.constant(1, tf.float32).dtype is tf.float32
    assert tf.constant([1, 2], "int64").dtype is tf.int64
    assert tf.constant(True, tf.float32).numpy() == 1.0
    assert tf.constant(np.arange(3), tf.float16).dtype is tf.float16


def test_shape_argument() -> None:
    assert tf.constant(7, shape=[2, 3]).numpy().tolist() == [[7] * 3] * 2
    assert tf.constant([1, 2, 3, 4], shape=[2, 2]).numpy().tolist() == [[1, 2], [3, 4]]
    with pytest.raises(TypeError, match="2 elements for shape"):
        tf.constant([1, 2], shape=[2, 3])


def test_nested_tensors_are_packed() -> None:
    x = tf.constant([1.0, 2.0])
    assert tf.convert_to_tensor([x, [3, 4]]).numpy().tolist() == [[1, 2], [3, 4]]
    assert tf.convert_to_tensor([[x[0], 5.0], [6, x[1]]]).dtype is tf.float32
    with pytest.raises(tf.errors.InvalidArgumentError, match="equal shapes"):
        tf.convert_to_tensor([x, tf.constant([1.0])])


def test_tensor_of_another_dtype_is_refused() -> None:
    with pytest.raises(ValueError, match=r"tf\.cast"):
        tf.convert_to_tensor(tf.constant(1.0), tf.float64)
    with pytest.raises(TypeError, match=r"tf\.cast"):
        tf.constant(tf.constant(1.0), tf.float64)


def test_dtype_hint_is_only_a_hint() -> None:
    assert tf.convert_to_tensor(1, dtype_hint=tf.float32).dtype is tf.float32
    assert tf.convert_to_tensor(1.5, dtype_hint=tf.int32).dtype is tf.float32


def test_arrays_are_copied() -> None:
    a = np.zeros(3, np.float32)
    t = tf.constant(a)
    a[0] = 1
    assert t.numpy()[0] == 0
    strided = np.arange(12, dtype=np.float32).reshape(3, 4)[::2, ::-1]
    assert (tf.constant(strided).numpy() == strided).all()
    strided.flags.writeable = False
    assert (tf.constant(strided).numpy() == strided).all()


@pytest.mark.parametrize(
    ("value", "dtype", "message"),
    [
        (np.array([1.5]), tf.int32, "Cannot convert"),
        (np.array([np.nan]), tf.int32, "Cannot convert"),
        (np.array([1j]), tf.float32, "Cannot convert"),
        (np.array([300.0]), tf.int8, "does not fit int8"),
        (2**200, tf.float32, "does not fit float32"),
        (2**2000, tf.float64, "does not fit float64"),
    ],
)
def test_arrays_are_not_rounded_or_cut(value: object, dtype: tf.DType, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        tf.constant(value, dtype)


def test_float_arrays_of_whole_numbers_become_integers() -> None:
    assert tf.constant(np.array([1.0, -2.0]), tf.int32).numpy().tolist() == [1, -2]


def test_large_floats_become_infinite_quietly() -> None:
    assert tf.constant(1e300).numpy() == np.inf
    assert tf.constant(-1e6, tf.float16).numpy() == -np.inf
    assert tf.constant(np.array([1e300]), tf.float32).numpy()[0] == np.inf


def test_a_list_that_contains_itself_is_refused() -> None:
    items: list[object] = [1]
    items.append(items)
    with pytest.raises(ValueError, match="contains itself"):
        tf.constant(items)
    with pytest.raises(ValueError, match="contains itself"):
        tf.convert_to_tensor(items)


@pytest.mark.parametrize("traced", [False, True])
def test_lists_of_tensors_of_other_dtypes(traced: bool) -> None:
    run = tf.function if traced else lambda f: f
    one, two = tf.constant(1), tf.constant(2, tf.int64)
    for make, dtype in (
        (lambda: tf.convert_to_tensor([one, 2], tf.int64), tf.int64),
        (lambda: tf.convert_to_tensor([two - 1, 2], tf.int32), tf.int32),
        (lambda: tf.convert_to_tensor([one, 2.0], tf.float64), tf.float64),
        (lambda: tf.convert_to_tensor([one, two]), tf.int64),
        (lambda: tf.convert_to_tensor([two - 1, one * 2]), tf.int64),
    ):
        made = run(make)()
        assert made.dtype is dtype
        assert made.numpy().tolist() == [1, 2]
    nested = run(lambda: tf.convert_to_tensor([[one, 2], [two, 3]]))()
    assert nested.numpy().tolist() == [[1, 2], [2, 3]]
    assert run(lambda: tf.zeros([two, one]))().shape == (2, 1)
    with pytest.raises(ValueError, match="A tensor of dtype float32 is wanted, got .*int32"):
        run(lambda: tf.convert_to_tensor([tf.constant(1.0), one]))()


def test_lists_of_shapes() -> None:
    made = tf.convert_to_tensor([tf.TensorShape([1, 2]), [3, 4]])
    assert made.numpy().tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="unknown sizes"):
        tf.convert_to_tensor([tf.TensorShape([None, 2])])


def test_what_is_a_tensor() -> None:
    dataset = tf.data.Dataset.range(2)
    yes = [tf.constant(1), tf.Variable(1), tf.ragged.constant([[1]]), tf.sparse.from_dense([1])]
    no = [1, dataset, iter(dataset), tf.experimental.Optional.from_value(1), tf.TensorSpec([])]
    no.append(tf.TensorArray(tf.float32, 1))
    assert [tf.is_tensor(x) for x in yes] == [True] * 4
    assert [tf.is_tensor(x) for x in no] == [False] * 6
