"""Arrays for other libraries, and from them: nothing that one side writes reaches the other."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core import dlpack

DTYPES = [
    tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64, tf.complex128, tf.bool,
    tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64,
]  # fmt: skip
to_dlpack, from_dlpack = tf.experimental.dlpack.to_dlpack, tf.experimental.dlpack.from_dlpack


class _Array(ctypes.Structure):
    """The structure that all capsules hold, from the specification of DLPack."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
    )  # fmt: skip


def inside(capsule: Any) -> tuple[_Array, int]:
    """The structure of a capsule, and its flags."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name = dlpack._name(capsule)
    at = pointer(capsule, name)
    if name == b"dltensor":
        return _Array.from_address(at), 0
    return _Array.from_address(at + 32), ctypes.c_uint64.from_address(at + 24).value


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_there_and_back(dtype: tf.DType, shape: tuple[int, ...]) -> None:
    x = tf.cast(tf.reshape(tf.range(int(np.prod(shape))), shape), dtype)
    for back in (from_dlpack(to_dlpack(x)), from_dlpack(x), from_dlpack(tf.Variable(x))):
        assert back.dtype is dtype
        np.testing.assert_array_equal(back.numpy(), x.numpy())
    turned = tf.transpose(x)
    np.testing.assert_array_equal(from_dlpack(turned).numpy(), turned.numpy())


@pytest.mark.parametrize("version", [None, (1, 0), (1, 3)])
@pytest.mark.parametrize("make", [tf.constant, tf.Variable], ids=["constant", "variable"])
def test_what_is_exported_is_a_copy(make: Any, version: Any) -> None:
    for dtype, code in ((tf.float32, 2), (tf.bfloat16, 4), (tf.int32, 0)):
        x = make(tf.cast([1, 2, 3], dtype))
        for copy in (None, True):
            capsule = x.__dlpack__(max_version=version, copy=copy)
            array, flags = inside(capsule)
            assert (array.code, array.bits, array.lanes) == (code, 8 * dtype.size, 1)
            assert (array.device, array.ndim, array.shape[0]) == (1, 1, 3)
            assert not flags & 1  # not read-only: it may be written
            ctypes.memset(array.data, 255, 3 * dtype.size)
            assert [float(n) for n in x.numpy()] == [1, 2, 3]
    assert x.__dlpack_device__() == (1, 0)


def test_a_trace_keeps_its_constants() -> None:
    c = tf.constant([1.0, 2.0])
    f = tf.function(lambda: c * 2)
    assert f().numpy().tolist() == [2, 4]
    ctypes.memset(inside(c.__dlpack__(max_version=(1, 0)))[0].data, 0, 8)
    assert f().numpy().tolist() == [2, 4]


def test_without_a_copy_only_on_request_and_read_only() -> None:
    for x in (tf.constant([1.0, 2.0]), tf.Variable(tf.ones([5000]))):
        view = np.from_dlpack(x, copy=False)
        assert not view.flags.writeable
        assert not np.from_dlpack(x).flags.owndata
        capsule = x.__dlpack__(max_version=(1, 0), copy=False)
        assert inside(capsule)[1] & 1
        for version in (None, (0, 8)):
            with pytest.raises(BufferError, match="read-only, and this library speaks a version"):
                x.__dlpack__(max_version=version, copy=False)
    v = tf.Variable(tf.ones([5000]))
    view = np.from_dlpack(v, copy=False)
    v.assign_add(tf.ones([5000]))
    tf.function(lambda: v.assign_add(tf.ones([5000])), jit_compile=True)()
    assert view[0] == 1  # the value it had
    assert v.numpy()[0] == 3


def test_what_cannot_be_exported() -> None:
    with pytest.raises(BufferError, match="a tensor of strings cannot be exported"):
        tf.constant(["a"]).__dlpack__()
    with pytest.raises(BufferError, match="a tensor of strings cannot be exported"):
        to_dlpack(tf.constant("a"))
    for value in ([1.0], np.ones(3), None, tf.ragged.constant([[1], [2, 3]])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="to_dlpack: a tensor that has a"):
            to_dlpack(value)
    v = tf.Variable(1.0)

    def export(x: Any) -> Any:
        with pytest.raises(tf.errors.InvalidArgumentError, match="to_dlpack: a tensor that has a"):
            to_dlpack(x)
        with pytest.raises(NotImplementedError, match=r"'x:0' cannot be exported \(DLPack\)"):
            np.from_dlpack(x)
        with pytest.raises(NotImplementedError, match="variable cannot be exported"):
            to_dlpack(v)
        return x

    tf.function(export)(tf.constant(1.0))


def test_what_is_imported_does_not_change() -> None:
    a = np.arange(6.0).reshape(2, 3)
    tensors = [from_dlpack(a), from_dlpack(a.__dlpack__()), from_dlpack(a.T), tf.constant(a)]
    a[...] = -1
    for t in tensors:
        assert sorted(t.numpy().ravel().tolist()) == [0, 1, 2, 3, 4, 5]
    assert from_dlpack(np.arange(10)[::3]).numpy().tolist() == [0, 3, 6, 9]


class OldLibrary:
    """Knows no versions of the protocol."""

    def __dlpack__(self, stream: Any = None) -> Any:
        return np.array([1.0, 2.0]).__dlpack__()


def test_imports() -> None:
    assert from_dlpack(OldLibrary()).numpy().tolist() == [1, 2]
    capsule = to_dlpack(tf.constant([1.0]))
    from_dlpack(capsule)
    with pytest.raises(tf.errors.InvalidArgumentError, match="'used_dltensor'. A capsule can be"):
        from_dlpack(capsule)
    elsewhere = to_dlpack(tf.constant([1.0]))
    dlpack._field(elsewhere, "device").value = 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="Pass the array itself instead"):
        from_dlpack(elsewhere)
    dlpack._field(elsewhere, "device").value = 1
    for value in (3, None, "a", [1.0], np.ndarray):
        with pytest.raises(TypeError, match="from_dlpack: a DLPack capsule, or an array"):
            from_dlpack(value)
    traced = tf.function(lambda: from_dlpack(np.array([1, 2])) * 2)
    assert traced().numpy().tolist() == [2, 4]


def test_tapes_learn_that_a_value_has_left() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.constant(np.from_dlpack(x)) * 2
    assert tape.gradient(y, x) is None


@pytest.mark.parametrize("size", [3, 5000])  # large variables share their buffer with readers
def test_nothing_else_can_be_written_through(size: int) -> None:
    def tries(view: Any) -> None:
        if view.flags.writeable:
            view[...] = 9

    x, v = tf.ones([size]), tf.Variable(tf.ones([size]))
    for t in (x, v):
        for made in (
            np.asarray, np.array, np.ravel, np.asanyarray, np.ascontiguousarray, np.from_dlpack,
            lambda t: np.expand_dims(t, 0), lambda t: np.array(t, copy=None), lambda t: t.numpy(),
            lambda t: np.asarray(memoryview(np.asarray(t))),
        ):  # fmt: skip
            tries(made(t))
            assert t.numpy()[0] == 1
        assert not hasattr(t, "__array_interface__")
        assert not hasattr(t, "__array_struct__")
    rows = tf.RaggedTensor.from_row_splits(x, [0, 1, size])
    for row in rows.numpy():
        tries(row)
    assert x.numpy()[0] == 1
    dataset = tf.data.Dataset.from_tensors(x)
    tries(next(dataset.as_numpy_iterator()))
    tf.numpy_function(lambda x: tries(x) or x, [x], tf.float32)
    tf.numpy_function(lambda x: tries(x) or x, [v], tf.float32)
    assert x.numpy()[0] == 1
    assert v.numpy()[0] == 1


# --- a library itself ----------------------------------------------------------------------------

WITH_JAX = """
import jax, ml_dtypes
import numpy as np
import weft as tf
from_dlpack = tf.experimental.dlpack.from_dlpack
for dtype in (tf.float32, tf.bfloat16, tf.int32, tf.bool):
    x = tf.cast([[1, 0, 3], [4, 5, 6]], dtype)
    for given in (x, tf.Variable(x)):
        array = jax.dlpack.from_dlpack(given)
        np.testing.assert_array_equal(np.asarray(array), x.numpy())
        np.testing.assert_array_equal(from_dlpack(array).numpy(), x.numpy())
assert np.asarray(jax.dlpack.from_dlpack(tf.constant(2.5))) == 2.5
assert from_dlpack(jax.numpy.ones(3, ml_dtypes.bfloat16)).dtype is tf.bfloat16
print("fine")
"""


def test_jax() -> None:
    """In a process of its own: JAX starts threads, and other tests fork."""
    path = os.pathsep.join(sys.path)
    ran = subprocess.run(
        [sys.executable, "-c", WITH_JAX],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu"},
    )
    assert ran.stdout == "fine\n", ran.stderr
