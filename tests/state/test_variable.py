"""tf.Variable."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import weakref

import numpy as np
import pytest

import weft as tf


def test_creation() -> None:
    v = tf.Variable([1.0, 2.0], name="w")
    assert repr(v) == (
        "<tf.Variable 'w:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    )
    assert v.name == "w:0"
    assert v.shape == v.get_shape() == [2]
    assert v.dtype is tf.float32
    assert v.trainable
    assert tf.Variable(lambda: 3).numpy() == 3
    assert tf.Variable(1, dtype=tf.float64).dtype is tf.float64
    assert tf.Variable(1, trainable=False).trainable is False
    with pytest.raises(ValueError, match="initial value"):
        tf.Variable()
    with pytest.raises(ValueError, match="does not fit"):
        tf.Variable([1.0], shape=[2])


def test_assignments() -> None:
    v = tf.Variable([1.0, 2.0])
    assert v.assign([3, 4]) is v
    v.assign_add([1, 1]).assign_sub([0.5, 0.5])
    assert v.numpy().tolist() == [3.5, 4.5]
    assert v.assign([0.0, 0.0], read_value=False) is None


def test_reads_are_snapshots() -> None:
    v = tf.Variable(np.zeros(5000, np.float32))
    before, same = v.value(), tf.convert_to_tensor(v)
    v.assign_add(np.ones(5000, np.float32))
    v.assign(v + 1.0)
    assert before.numpy().sum() == same.numpy().sum() == 0
    assert v.numpy()[0] == 2


def test_operators() -> None:
    v = tf.Variable([1.0, 2.0])
    assert (v + 1).numpy().tolist() == [2, 3]
    assert (1 - v).numpy().tolist() == [0, -1]
    assert (v * v).numpy().tolist() == [1, 4]
    assert (np.float32(2) / v).numpy().tolist() == [2, 1]
    assert (np.ones(2) + v).numpy().tolist() == [2, 3]
    assert (-v).numpy().tolist() == [-1, -2]
    assert (v > 1.5).numpy().tolist() == [False, True]
    assert (v == [1, 5]).numpy().tolist() == [True, False]
    assert v[1].numpy() == 2
    assert [float(x) for x in v] == [1, 2]
    assert len(v) == 2
    assert tf.reduce_sum(v).numpy() == 3
    assert float(tf.Variable(2.5)) == 2.5
    assert int(tf.Variable(2)) == [0, 1, 2][tf.Variable(2)]
    assert bool(tf.Variable(True))
    assert np.asarray(v).tolist() == [1, 2]
    assert f"{tf.Variable(1.25):.1f}" == "1.2"


def test_wrong_assignments_name_both_sides() -> None:
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        v.assign([1.0, 2.0, 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(2,\)"):
        v.assign_add(1.0)
    with pytest.raises(ValueError, match="float32"):
        v.assign(tf.constant([1, 2]))
    assert v.numpy().tolist() == [1, 2]


def test_unknown_shape_may_change() -> None:
    v = tf.Variable([1.0], shape=[None])
    v.assign([1.0, 2.0, 3.0])
    assert v.numpy().shape == (3,)
    assert v.shape == [None]
    with pytest.raises(ValueError, match="shapes"):
        v.assign([[1.0]])
    anything = tf.Variable([1.0], shape=tf.TensorShape(None))
    anything.assign([[1.0]])
    assert anything.numpy().shape == (1, 1)


def test_copies_are_independent() -> None:
    v = tf.Variable([1.0], name="w", trainable=False)
    for other in (copy.copy(v), copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        other.assign([5.0])
        assert v.numpy().tolist() == [1]
        assert other.name == "w:0"
        assert not other.trainable


def test_hash_and_ref() -> None:
    v = tf.Variable(1.0)
    with pytest.raises(TypeError, match=r"variable\.ref\(\)"):
        hash(v)
    assert {v.ref(): 1}[v.ref()] == 1
    assert v.ref().deref() is v


def test_variables_go_without_waiting_for_the_collector() -> None:
    gc.disable()
    try:
        v = tf.Variable(1.0)
        ref = weakref.ref(v)
        del v
        assert ref() is None
    finally:
        gc.enable()


def test_dtypes() -> None:
    for name in ("float16", "bfloat16", "int8", "uint64", "complex64"):
        v = tf.Variable(1, dtype=name)
        v.assign_add(1)
        assert v.value().dtype == name
    s = tf.Variable("a")
    s.assign("b")
    assert s.numpy() == b"b"
    b = tf.Variable(True)
    b.assign(False)
    assert not b.numpy()


def test_modes_and_initialisation() -> None:
    v = tf.Variable(1.0)
    assert v.synchronization is tf.VariableSynchronization.AUTO
    assert v.aggregation is tf.VariableAggregation.NONE
    assert v.is_initialized().numpy()
    assert v.initialized_value().numpy() == 1
    assert tf.function(lambda: v.is_initialized())().numpy()
    with pytest.raises(RuntimeError, match="is not kept"):
        _ = v.initial_value
    on_read = tf.VariableSynchronization.ON_READ
    assert not tf.Variable(1.0, synchronization=on_read).trainable
    assert tf.Variable(1.0, synchronization=on_read, trainable=True).trainable
    mean = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)
    assert copy.copy(mean).aggregation is tf.VariableAggregation.MEAN
    with pytest.raises(ValueError, match=r"tf\.VariableSynchronization, got 17"):
        tf.Variable(1.0, synchronization=17)
    with pytest.raises(ValueError, match=r"tf\.VariableAggregation, got 'sum'"):
        tf.Variable(1.0, aggregation="sum")
    with pytest.raises(ValueError, match="constraint must be callable"):
        tf.Variable(1.0, constraint=3)
    with pytest.raises(ValueError, match="variable_def"):
        tf.Variable(1.0, variable_def=3)
    assert "initial_value" in inspect.signature(tf.Variable).parameters


def test_creators() -> None:
    seen = []

    def note(next_creator, **kwargs):
        seen.append((kwargs["initial_value"], kwargs["name"]))
        return next_creator(**kwargs)

    def five(next_creator, **kwargs):
        return next_creator(**{**kwargs, "initial_value": 5.0})

    with tf.variable_creator_scope(note):
        with tf.variable_creator_scope(five):
            v = tf.Variable(1.0, name="inner")
        w = tf.Variable(2.0)
    tf.Variable(3.0)
    assert seen == [(5.0, "inner"), (2.0, None)]
    assert (v.numpy(), w.numpy()) == (5, 2)


def test_creators_may_make_something_else_and_see_functions() -> None:
    made = {}

    def share(next_creator, **kwargs):
        name = kwargs["name"]
        if name not in made:
            made[name] = next_creator(**kwargs)
        return made[name]

    holder = []

    @tf.function
    def f(x):
        if not holder:
            holder.append(tf.Variable(x, name="a"))
        return holder[0] + x

    with tf.variable_creator_scope(share):
        assert tf.Variable(1.0, name="a") is tf.Variable(2.0, name="a")
        assert f(tf.constant(2.0)).numpy() == 3
    with pytest.raises(TypeError, match="must be callable"), tf.variable_creator_scope(3):
        pass
    with pytest.raises(KeyError), tf.variable_creator_scope(lambda next_creator, **kw: {}["x"]):
        tf.Variable(1.0)
    assert tf.Variable(1.0).numpy() == 1


def test_subclasses_are_left_to_themselves() -> None:
    class Mine(tf.Variable):
        pass

    with tf.variable_creator_scope(lambda next_creator, **kwargs: None):
        assert tf.Variable(1.0) is None
        assert Mine(1.0).numpy() == 1


def test_names_that_no_other_variable_has() -> None:
    a, b = tf.Variable(1.0, name="w"), tf.Variable(1.0, name="w")
    assert a._unique_id == a._unique_id != b._unique_id
    assert a._unique_id.startswith("w_")
    assert a._shared_name == b._shared_name == "w"
    assert pickle.loads(pickle.dumps(a))._unique_id != a._unique_id


def test_names_of_variables_in_graphs_of_tensorflow_1() -> None:
    v = tf.Variable([1.0, 2.0])
    assert v.initializer is None
    v.load([3.0, 4.0])
    np.testing.assert_array_equal(v, [3, 4])


def test_set_shape_checks() -> None:
    v = tf.Variable([1.0, 2.0])
    v.set_shape([None])
    v.set_shape([2])
    with pytest.raises(ValueError, match="the shape is"):
        v.set_shape([3])
    assert v.shape == [2]


def test_counting_up_to_a_limit() -> None:
    v = tf.Variable(0)
    count = tf.function(lambda: v.count_up_to(3))
    assert [v.count_up_to(3).numpy(), count().numpy(), v.count_up_to(3).numpy()] == [0, 1, 2]
    with pytest.raises(tf.errors.OutOfRangeError, match="the limit 3 was reached"):
        v.count_up_to(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="the limit 3 was reached"):
        count()
    assert v.numpy() == 3
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.Variable([1]).count_up_to(3)
