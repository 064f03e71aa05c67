"""TensorArray: eager, in graphs, in loops, under a tape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.execution import reference
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.passes import optimize
from weft._src.graph.tracing import trace


def everywhere(fn: object, *arrays: object) -> list[object]:
    tensors = [tf.constant(a) for a in arrays]
    expected = [t.numpy() for t in tf.nest.flatten(fn(*tensors))]  # type: ignore[operator]
    for unknown in (False, True):
        specs = [tf.TensorSpec([None] * t.ndim if unknown else t.shape, t.dtype) for t in tensors]
        graph = trace(fn, specs)  # type: ignore[arg-type]
        values = [t._value for t in tensors] + [t._value for t, _ in graph.captures]
        for got in (
            reference.run(graph, values),
            NumpyPlan(graph)(*values),
            NumpyPlan(optimize(graph))(*values),
        ):
            for g, e in zip(got, expected, strict=True):
                np.testing.assert_array_equal(g, e)
    return expected


def test_write_and_stack_in_a_loop() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        n = tf.shape(x)[0]
        ta = tf.TensorArray(tf.float32, size=n)
        _, ta = tf.while_loop(
            lambda i, ta: i < n, lambda i, ta: (i + 1, ta.write(i, x[i] * 2.0)), (0, ta)
        )
        return ta.stack()

    (out,) = everywhere(f, np.arange(6, dtype=np.float32).reshape(3, 2))
    assert out.tolist() == [[0, 2], [4, 6], [8, 10]]


def test_dynamic_size() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in range(3):
            ta = ta.write(i, x[i] + 1)
        return ta.stack(), ta.size()

    stacked, size = everywhere(f, np.array([1, 2, 3], np.int32))
    assert stacked.tolist() == [2, 3, 4]
    assert size == 3


def test_read_unstack_gather_scatter_concat_split() -> None:
    def f(x: tf.Tensor) -> object:
        ta = tf.TensorArray(tf.float32, size=3).unstack(x)
        other = tf.TensorArray(tf.float32, size=4).scatter([2, 0], x[:2])
        parts = tf.TensorArray(tf.float32, size=3).split(tf.reshape(x, [-1]), [2, 2, 2])
        return ta.read(1), ta.gather([2, 0]), ta.concat(), other.stack(), parts.read(2)

    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    read, gathered, joined, scattered, part = everywhere(f, x)
    assert read.tolist() == [2, 3]
    assert gathered.tolist() == [[4, 5], [0, 1]]
    assert joined.tolist() == [0, 1, 2, 3, 4, 5]
    assert scattered.tolist() == [[2, 3], [0, 0], [0, 1], [0, 0]]
    assert part.tolist() == [4, 5]


def test_elements_of_different_lengths() -> None:
    def f(x: tf.Tensor, lengths: tf.Tensor) -> object:
        pieces = tf.TensorArray(tf.float32, 3).split(x, lengths)
        growing = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False)
        for i in range(3):
            growing = growing.write(i, pieces.read(2 - i) * 2.0)
        return pieces.concat(), growing.concat(), growing.read(2)

    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    back, joined, last = everywhere(f, x, np.array([1, 0, 5]))
    assert back.tolist() == x.tolist()
    assert joined.tolist() == [*(2 * x[1:]).tolist(), *(2 * x[:1]).tolist()]
    assert last.tolist() == [[0, 2]]
    assert tf.TensorArray(tf.float32, 0, element_shape=[None, 2]).concat().shape == (0, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"add up to 6, got \[1, 2\]"):
        tf.TensorArray(tf.float32, 2).split(x, [1, 2])
    wide = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, x).write(1, x[:, :1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="differ in the size of axis 0 only"):
        wide.concat()


def test_gradients_of_elements_of_different_lengths() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        pieces = tf.TensorArray(tf.float32, 3).split(x, [1, 2, 3])  # nobody reads the second
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False)
        for i in tf.range(3):
            array = array.write(i, x[: i + 1] ** 2)
        joined = tf.reduce_sum(array.concat() ** 2) + tf.reduce_sum(array.read(1))
        return joined + tf.reduce_sum(pieces.read(2) ** 3) + tf.reduce_sum(pieces.read(0))

    def first_and_second(f: Any, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            first = tape.gradient(y, x)
        return first, outer.gradient(first, x)

    x = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    expected = first_and_second(f, x)
    assert expected[0].numpy().tolist() == [15, 68, 108, 48, 75, 108]
    unknown = tf.function(f, input_signature=[tf.TensorSpec([None])])
    for traced in (tf.function(f), unknown):
        for got in (first_and_second(traced, x), tf.function(first_and_second)(traced, x)):
            np.testing.assert_allclose(got[0], expected[0])
            np.testing.assert_allclose(got[1], expected[1])
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as forward:
        y = unknown(x)
    np.testing.assert_allclose(forward.jvp(y), np.sum(expected[0]))


def test_the_old_array_stays_what_it_was_in_graphs() -> None:
    def f(x: tf.Tensor) -> object:
        a = tf.TensorArray(tf.float32, size=2, element_shape=[]).write(0, x)
        b = a.write(1, x * 2.0)
        c = a.write(1, x * 3.0)
        return b.stack(), c.stack()

    graph = trace(f, [tf.TensorSpec([])])
    b, c = NumpyPlan(graph)(np.float32(1))
    assert b.tolist() == [1, 2]
    assert c.tolist() == [1, 3]


def test_shapes_are_known_after_writing() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        ta = tf.TensorArray(tf.float32, size=2).write(0, x)
        assert ta.element_shape == [3]
        assert ta.read(0).shape == [3]
        out = ta.stack()
        assert out.shape.as_list() == [None, 3]
        return out

    trace(f, [tf.TensorSpec([3])])


def test_arrays_pass_through_branches() -> None:
    def f(p: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        ta = tf.TensorArray(tf.float32, size=1, element_shape=[])
        return tf.cond(p, lambda: ta.write(0, x), lambda: ta.write(0, -x)).stack()

    assert everywhere(f, True, 2.0)[0].tolist() == [2]
    assert everywhere(f, False, 2.0)[0].tolist() == [-2]


def test_gradients_of_straight_line_use() -> None:
    def f(x: tf.Tensor) -> object:
        with tf.GradientTape() as tape:
            tape.watch(x)
            ta = tf.TensorArray(tf.float32, size=2).write(0, x).write(1, x * x)
            ta = ta.write(0, ta.read(0) * 5.0)
            y = tf.reduce_sum(ta.stack() * [[1.0], [10.0]]) + tf.reduce_sum(ta.read(1))
        return tape.gradient(y, x)

    assert everywhere(f, np.array([1.0, 2.0], np.float32))[0].tolist() == [5 + 22, 5 + 44]


def test_misuse_is_named() -> None:
    ta = tf.TensorArray(tf.float32, size=2)
    with pytest.raises(tf.errors.OutOfRangeError, match=r"index 2 .*dynamic_size=True"):
        ta.write(2, 1.0)
    with pytest.raises(TypeError, match="holds float32, the value is int32"):
        ta.write(0, tf.constant(1))
    ta = ta.write(0, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"\(2,\)"):
        ta.write(1, [1.0])
    with pytest.raises(tf.errors.OutOfRangeError, match="index 9"):
        ta.read(9)
    with pytest.raises(tf.errors.InvalidArgumentError, match="size"):
        tf.TensorArray(tf.float32, size=-1)
    with pytest.raises(ValueError, match="scalar elements"):
        tf.TensorArray(tf.float32, size=1).write(0, 1.0).concat()


def test_repr_and_spec() -> None:
    ta = tf.TensorArray(tf.float32, size=2, element_shape=[3])
    assert repr(ta) == "<tf.TensorArray dtype=float32 element_shape=(3,)>"
    assert ta._type_spec == tf.TensorArraySpec([3], tf.float32)


def test_no_rows_of_an_array_are_joined_to_something_of_their_shape() -> None:
    def joined(x: Any) -> Any:
        return tf.TensorArray(tf.float32, 0).unstack(x).concat()

    x = tf.zeros([0, 3, 2])
    unknown = tf.function(joined, input_signature=[tf.TensorSpec([None, None, None])])
    assert joined(x).shape == unknown(x).shape == (0, 2)


def test_types_of_arrays() -> None:
    known, unknown = tf.TensorArraySpec([2]), tf.TensorArraySpec([None])
    assert known.is_subtype_of(unknown)
    assert not unknown.is_subtype_of(known)
    assert known.is_compatible_with(unknown)
    assert not known.is_compatible_with(tf.TensorArraySpec([2], tf.int32))
    assert not known.is_compatible_with(tf.TensorArraySpec([3]))

    @tf.function(input_signature=[unknown])
    def total(array: tf.TensorArray) -> tf.Tensor:
        return tf.reduce_sum(array.stack())

    array = tf.TensorArray(tf.float32, 1, element_shape=[2]).write(0, [1.0, 2.0])
    assert total(array).numpy() == 3.0
