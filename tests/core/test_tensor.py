"""The Tensor class: one for values and for places in a graph."""

from __future__ import annotations

import copy
import operator
import pickle
import weakref

import numpy as np
import pytest

import weft as tf
from weft._src.graph.tracing import trace


def test_reprs() -> None:
    assert repr(tf.constant(2)) == "<tf.Tensor: shape=(), dtype=int32, numpy=2>"
    assert str(tf.constant(2)) == "tf.Tensor(2, shape=(), dtype=int32)"
    assert repr(tf.constant([1.5])) == (
        "<tf.Tensor: shape=(1,), dtype=float32, numpy=array([1.5], dtype=float32)>"
    )
    assert repr(tf.constant([[1], [2]])) == (
        "<tf.Tensor: shape=(2, 1), dtype=int32, numpy=\narray([[1],\n       [2]], dtype=int32)>"
    )
    assert repr(tf.constant("ab")) == "<tf.Tensor: shape=(), dtype=string, numpy=b'ab'>"
    assert str(tf.constant(["a"])) == "tf.Tensor([b'a'], shape=(1,), dtype=string)"
    assert f"{tf.constant(1.25):.1f}" == "1.2"
    assert f"{tf.constant([1, 2])}" == "[1 2]"


def test_symbolic_reprs() -> None:
    seen = []
    trace(lambda x: seen.append(x + 1), [tf.TensorSpec([None], tf.int32)])
    assert repr(seen[0]) == "<tf.Tensor 'add:0' shape=(None,) dtype=int32>"
    assert str(seen[0]) == 'Tensor("add:0", shape=(None,), dtype=int32)'
    trace(lambda x: seen.append(x), [tf.TensorSpec(None, tf.int32)])
    assert str(seen[1]) == 'Tensor("x:0", dtype=int32)'
    assert seen[0].name == "add:0"
    assert seen[0].op.type == "AddV2"
    assert seen[0].device == ""


def test_attributes() -> None:
    t = tf.zeros([2, 3])
    assert t.shape == t.get_shape() == [2, 3]
    assert t.ndim == 2
    assert t.dtype is tf.float32
    assert "CPU" in t.device
    for missing in ("name", "op", "graph"):
        assert not hasattr(t, missing)
    t.set_shape([None, 3])
    with pytest.raises(ValueError, match="not compatible"):
        t.set_shape([3, 3])
    assert weakref.ref(t)() is t


def test_numpy_values() -> None:
    t = tf.constant([1.0, 2.0])
    a = t.numpy()
    a[0] = 9
    assert t.numpy()[0] == 1
    assert isinstance(tf.constant(1.0).numpy(), np.float32)
    assert tf.constant("a").numpy() == b"a"
    view = np.asarray(t)
    assert not view.flags.writeable
    assert np.array(t).flags.writeable
    assert np.asarray(t, np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="copy"):
        t.__array__(np.float64, copy=False)


def test_dlpack() -> None:
    t = tf.constant([1.0, 2.0])
    back = np.from_dlpack(t)
    assert back.tolist() == [1, 2]
    assert t.__dlpack_device__()[0] == 1


def test_python_numbers() -> None:
    assert int(tf.constant(3.7)) == 3
    assert float(tf.constant([2.5])) == 2.5
    assert complex(tf.constant(1 + 2j)) == 1 + 2j
    assert [10, 20, 30][tf.constant(1)] == 20
    assert bool(tf.constant(3))
    assert not tf.constant(False)
    assert round(tf.constant(2.567), 1) == pytest.approx(2.6)
    with pytest.raises(TypeError, match="one element"):
        float(tf.constant([1.0, 2.0]))
    with pytest.raises(TypeError, match="float32"):
        [1][tf.constant(0.0)]
    with pytest.raises(ValueError, match=r"shape \(2,\) is neither true nor false.*reduce_all"):
        bool(tf.constant([1, 2]))


def test_iteration_and_length() -> None:
    assert [int(x) for x in tf.constant([1, 2, 3])] == [1, 2, 3]
    assert len(tf.zeros([4, 2])) == 4
    with pytest.raises(TypeError, match="scalar"):
        len(tf.constant(1))
    with pytest.raises(TypeError, match="scalar"):
        iter(tf.constant(1))


@pytest.mark.parametrize(
    "op",
    [
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
        operator.mod, operator.pow, operator.lt, operator.le, operator.gt, operator.ge,
        operator.eq, operator.ne,
    ],
)  # fmt: skip
def test_operators_with_numbers_and_arrays_on_either_side(op: object) -> None:
    a = np.array([[3.0, 2.0, 5.0]], np.float32)
    for other in (2, 2.0, np.array([2.0, 3.0, 4.0]), np.float32(2), [2.0, 3.0, 4.0]):
        left = op(tf.constant(a), other)
        right = op(other, tf.constant(a))
        assert isinstance(left, tf.Tensor)
        assert isinstance(right, tf.Tensor)
        np.testing.assert_allclose(left.numpy(), op(a, np.float32(other)), rtol=1e-6)
        np.testing.assert_allclose(right.numpy(), op(np.float32(other), a), rtol=1e-6)


def test_logical_and_bitwise_operators() -> None:
    t, f = tf.constant(True), tf.constant(False)
    assert bool(t & t)
    assert bool(t | f)
    assert bool(t ^ f)
    assert bool(~f)
    five = tf.constant(5)
    assert int(five & 3) == 1
    assert int(five | 2) == 7
    assert int(five ^ 1) == 4
    assert int(~five) == -6
    assert int(-five) == -5
    assert int(abs(-five)) == 5


def test_matmul_operator() -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert ((tf.constant(a) @ a.T).numpy() == a @ a.T).all()
    assert ((a.T @ tf.constant(a)).numpy() == a.T @ a).all()


def test_equality() -> None:
    x = tf.constant([1, 2])
    assert (x == [1, 3]).numpy().tolist() == [True, False]
    assert (x == None) is False  # noqa: E711
    assert (x != None) is True  # noqa: E711
    assert bool(x == tf.constant([1, 2, 3])) is False
    assert bool(x != tf.constant([1, 2, 3])) is True


def test_mixed_dtypes_are_refused_by_name() -> None:
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"x has dtype int32, but y .* float32"
    ):
        tf.constant(1) + tf.constant(1.0)
    with pytest.raises(TypeError, match=r"tf\.cast"):
        tf.constant(1) + 1.5
    with pytest.raises(TypeError, match="string"):
        tf.constant(1) + "a"
    with pytest.raises(tf.errors.InvalidArgumentError, match="AddV2: x has dtype bool"):
        tf.constant(True) + tf.constant(True)


def test_mismatched_shapes_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"AddV2: shapes \(2,\) and \(3,\)") as caught:
        tf.zeros([2]) + tf.zeros([3])
    assert isinstance(caught.value, tf.errors.InvalidArgumentError)


def test_not_hashable_but_ref_is() -> None:
    x, y = tf.constant(1), tf.constant(1)
    with pytest.raises(TypeError, match=r"tensor\.ref\(\)"):
        hash(x)
    assert x.ref() == x.ref()
    assert x.ref() != y.ref()
    assert x.ref().deref() is x
    assert len({x.ref(), x.ref(), y.ref()}) == 2


def test_assignment_is_refused() -> None:
    with pytest.raises(TypeError, match="tensor_scatter_nd_update"):
        tf.zeros([2])[0] = 1.0
    x = tf.zeros([2])
    with pytest.raises(TypeError, match=r"deleting its elements.*tf\.boolean_mask"):
        del x[0]


def test_copy_and_pickle() -> None:
    x = tf.constant([1.0, 2.0])
    assert copy.copy(x) is x
    assert copy.deepcopy([x])[0] is x
    back = pickle.loads(pickle.dumps(x))
    assert back.dtype is tf.float32
    assert back.numpy().tolist() == [1, 2]


def test_symbolic_tensors_have_no_value() -> None:
    def check(x: tf.Tensor) -> None:
        with pytest.raises(AttributeError, match=r"tf\.print"):
            x.numpy()
        for use in (bool, int, float, len, iter, operator.index):
            with pytest.raises(TypeError, match="symbolic tensor 'x:0'"):
                use(x)
        with pytest.raises(NotImplementedError, match="NumPy"):
            np.sin(x)
        with pytest.raises(AttributeError, match="no_such"):
            _ = x.no_such
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(x)
        x.set_shape([3])
        assert [t.shape for t in x] == [tf.TensorShape([])] * 3
        assert len(x) == 3
        with pytest.raises(ValueError, match="incompatible"):
            x.set_shape([4])

    trace(check, [tf.TensorSpec([None], tf.int32)])


def test_is_tensor() -> None:
    assert tf.is_tensor(tf.constant(1))
    assert tf.is_tensor(tf.Variable(1))
    assert not tf.is_tensor(np.zeros(1))
    assert not tf.is_symbolic_tensor(tf.constant(1))


def test_floating_point_warnings_stay_the_users_own() -> None:
    assert np.isinf((tf.constant(1.0) / 0.0).numpy())
    with pytest.warns(RuntimeWarning, match="divide"):
        np.float32(1) / np.float32(0)


# --- attributes -----------------------------------------------------------------------------------


def test_attributes_can_be_set() -> None:
    x = tf.constant([1.0, 2.0])
    x._mask = [True, False]
    assert x._mask == [True, False]
    assert not hasattr(x + 0, "_mask")
    assert not hasattr(pickle.loads(pickle.dumps(x)), "_mask")
    traces = []

    @tf.function
    def f(y: tf.Tensor) -> tf.Tensor:
        traces.append(y)
        assert not hasattr(y, "_mask")
        y._kept = 3
        return y * y._kept

    assert f(x).numpy().tolist() == [3, 6]
    x._mask = None
    assert f(x).numpy().tolist() == [3, 6]
    assert len(traces) == 1  # attributes are no part of the key
    with pytest.raises(AttributeError):
        x.shape = [1]
