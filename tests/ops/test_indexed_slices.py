"""tf.IndexedSlices and its spec."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import weft as tf


def make() -> tf.IndexedSlices:
    values = tf.constant([[10.0, 4.0], [2.0, 3.0], [1.0, 1.0]])
    return tf.IndexedSlices(values, tf.constant([2, 0, 2]), tf.constant([4, 2]))


DENSE = [[2, 3], [0, 0], [11, 5], [0, 0]]


def test_what_it_is() -> None:
    x = make()
    assert x.shape == [4, 2]
    assert x.dtype is tf.float32
    assert x.values.shape == [3, 2]
    assert x.indices.numpy().tolist() == [2, 0, 2]
    assert x.dense_shape.numpy().tolist() == [4, 2]
    assert "CPU" in x.device
    assert tf.is_tensor(x)
    assert "indices=" in repr(x)
    with pytest.raises(AttributeError, match="names belong to"):
        _ = x.name
    assert tf.IndexedSlices([1.0], [0]).shape.rank is None


def test_conversion() -> None:
    assert tf.convert_to_tensor(make()).numpy().tolist() == DENSE
    assert (tf.add(make(), 1.0)).numpy().tolist() == (np.array(DENSE) + 1).tolist()
    assert tf.convert_to_tensor(-make()).numpy().tolist() == (-np.array(DENSE)).tolist()
    with pytest.raises(ValueError, match="int32 is wanted, got IndexedSlices of dtype float32"):
        tf.convert_to_tensor(make(), tf.int32)
    with pytest.raises(ValueError, match="without dense_shape"):
        tf.convert_to_tensor(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))


def test_in_functions_and_control_flow() -> None:
    @tf.function
    def f(x: tf.IndexedSlices, n: tf.Tensor) -> tf.IndexedSlices:
        def body(i: tf.Tensor, x: tf.IndexedSlices) -> tuple[tf.Tensor, tf.IndexedSlices]:
            return i + 1, tf.IndexedSlices(x.values * 2.0, x.indices, x.dense_shape)

        _, x = tf.while_loop(lambda i, x: i < n, body, (0, x))
        return tf.cond(n > 1, lambda: -x, lambda: x)

    out = f(make(), tf.constant(2))
    assert isinstance(out, tf.IndexedSlices)
    assert tf.convert_to_tensor(out).numpy().tolist() == (-4 * np.array(DENSE)).tolist()
    assert f.experimental_get_tracing_count() == 1
    f(make(), tf.constant(1))
    assert f.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("branches", [2, 3])
def test_branches_with_other_dtypes_of_indices(branches: int) -> None:
    """All get int64, as in TensorFlow; Keras' RMSprop of an embedding returns such."""
    values = [tf.constant([[1.0, 2.0], [3.0, 4.0]]) * (k + 1.0) for k in range(branches)]
    dtypes = [tf.int32, tf.int64, tf.int32][:branches]

    @tf.function
    def chosen(which: tf.Tensor) -> tf.Tensor:
        def slices(k: int) -> tf.IndexedSlices:
            return tf.IndexedSlices(values[k], tf.constant([k, 0], dtypes[k]), tf.constant([5, 2]))

        if branches == 2:
            made = tf.cond(which == 0, lambda: slices(0), lambda: slices(1))
        else:
            made = tf.switch_case(which, [lambda k=k: slices(k) for k in range(branches)])
        assert made.indices.dtype is tf.int64
        return tf.convert_to_tensor(made)

    for k in range(branches):
        expected = np.zeros((5, 2), np.float32)
        np.add.at(expected, [k, 0], values[k].numpy())
        np.testing.assert_array_equal(chosen(tf.constant(k)).numpy(), expected)


def test_branches_with_other_dtypes_of_values() -> None:
    @tf.function
    def chosen(condition: tf.Tensor) -> tf.IndexedSlices:
        def slices(dtype: tf.DType) -> tf.IndexedSlices:
            return tf.IndexedSlices(tf.ones([1, 2], dtype), tf.constant([0]), tf.constant([5, 2]))

        return tf.cond(condition, lambda: slices(tf.float32), lambda: slices(tf.float64))

    with pytest.raises(TypeError, match="must return the same structure"):
        chosen(tf.constant(True))


def test_gradients_flow_through_the_values() -> None:
    values = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(values)
        rows = tf.IndexedSlices(values, tf.constant([1, 0, 1]), tf.constant([3]))
        y = tf.convert_to_tensor(rows) * tf.constant([10.0, 20.0, 30.0])
    assert tape.gradient(y, values).numpy().tolist() == [20, 10, 20]


def test_spec() -> None:
    spec = tf.IndexedSlicesSpec([None, 2], tf.float32, tf.int32, tf.int32)
    assert spec == tf.IndexedSlicesSpec([None, 2], tf.float32, tf.int32, tf.int32)
    assert spec != tf.IndexedSlicesSpec([None, 2])
    assert hash(spec) == hash(copy.copy(spec))
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert spec.value_type is tf.IndexedSlices
    assert spec.is_compatible_with(make())
    assert not tf.IndexedSlicesSpec([None, 2]).is_compatible_with(make())
    assert repr(tf.type_spec_from_value(make())) == (
        "IndexedSlicesSpec(TensorShape([4, 2]), tf.float32, tf.int32, tf.int32, TensorShape([3]))"
    )
    exact = tf.type_spec_from_value(make())
    assert exact.is_subtype_of(spec)
    assert not spec.is_subtype_of(exact)
    assert exact.most_specific_compatible_type(spec) == spec
    with pytest.raises(ValueError, match="No type holds both"):
        exact.most_specific_compatible_type(tf.IndexedSlicesSpec([None, 2]))
