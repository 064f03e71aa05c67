"""Numbers that tracing does not know: as sizes they have an identity, but they may be negative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core.shapes import Dim, UnknownNumber
from weft._src.execution import reference
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.passes import optimize
from weft._src.graph.tracing import trace

VARIABLE = tf.Variable(3)
VECTOR, NUMBER = tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)


def reshaped(x: Any, n: Any) -> Any:
    return tf.reshape(x, [n])


def sliced(x: Any, n: Any) -> Any:
    return tf.slice(x, [0], [n])


def split(x: Any, n: Any) -> Any:
    return tf.split(x, tf.stack([n, tf.constant(0)]), num=2)[0]


@pytest.mark.parametrize("part", [reshaped, sliced, split])
def test_minus_one_gives_tensors_of_different_sizes(part: Callable[..., Any]) -> None:
    # Both sizes come from the same number, but they are equal only if it is not -1.
    graph = trace(lambda x, y, n: tf.exp(part(x, n)) + tf.exp(part(y, n)), [VECTOR, VECTOR, NUMBER])
    values = [np.zeros(3, np.float32), np.zeros(1, np.float32), np.array(-1, np.int32)]
    for result in (
        reference.run(graph, values),
        NumpyPlan(graph)(*values),
        NumpyPlan(optimize(graph))(*values),
    ):
        assert result[0].tolist() == [2.0, 2.0, 2.0]


def test_sizes_computed_from_sizes_stay_sizes() -> None:
    n, m, number = Dim(), Dim(), UnknownNumber()
    assert all(type(d) is Dim for d in (n + m, n * 2, n // m, 7 // n, n * m + 1))
    assert all(type(d) is UnknownNumber for d in (n - m, n - 1, 3 - n, n + number, n * -1))
    assert (n - n, n * 0, n + 0 is n, n * 1 is n) == (0, 0, True, True)


def test_a_constant_cast_to_an_integer_is_cut_before_it_is_a_size() -> None:
    graph = trace(lambda: tf.zeros([tf.cast(2.7, tf.int32)]), [])
    assert graph.outputs[0].shape == (2,)


def test_shape_arithmetic_that_fails_is_left_to_the_run() -> None:
    def fn(x: Any) -> Any:
        return tf.cond(x > 0, lambda: tf.zeros([4 // (tf.size(x) - 1)]), lambda: tf.zeros([1]))

    graph = trace(fn, [tf.TensorSpec([])])
    assert NumpyPlan(graph)(np.array(-1.0, np.float32))[0].tolist() == [0.0]


def test_long_chains_of_shape_arithmetic() -> None:
    def fn(x: Any) -> Any:
        n = tf.size(x)
        for _ in range(1500):
            n = n + 1
        for _ in range(60):
            n = n - n
        return tf.zeros([n + 3])

    assert trace(fn, [tf.TensorSpec([None])]).outputs[0].shape == (3,)


@pytest.mark.parametrize(
    ("part", "known"),
    [
        (lambda s, n: tf.expand_dims(s, 0), [[None, 3]]),
        (lambda s, n: tf.reshape(s, [1, 2]), [[None, 3]]),
        (lambda s, n: tf.stack([s, s]), [[None, 3], [None, 3]]),
        (lambda s, n: tf.transpose([s, s]), [[None, None], [3, 3]]),
        (lambda s, n: tf.split(s, 2)[1], [3]),
        (lambda s, n: tf.split(s, [1, 1])[1], [3]),
        (lambda s, n: tf.tile(s, [2]), [None, 3, None, 3]),
        (lambda s, n: tf.roll(s, 1, 0), [3, None]),
        (lambda s, n: tf.broadcast_to(s, [1, 2]), [[None, 3]]),
        (lambda s, n: tf.ensure_shape(s, [2]), [None, 3]),
        (lambda s, n: tf.stop_gradient(s), [None, 3]),
        (lambda s, n: [[n, 5], [6, 7]], [[None, 5], [6, 7]]),
        (lambda s, n: tf.dynamic_stitch([[0, 1], [1]], [s, [1]]), [None, 1]),
        (lambda s, n: tf.dynamic_stitch([[0, 3], [1]], [s, [7]]), [None, 7, 0, 3]),
        (lambda s, n: n, None),
        (lambda s, n: s[0], None),
    ],
)
def test_values_known_in_part_have_the_shape_of_the_tensor(part: Any, known: Any) -> None:
    def fn(x: Any, n: Any) -> Any:
        found.append(tf.get_static_value(part(tf.shape(x), n), partial=True))

    found: list[Any] = []
    trace(fn, [tf.TensorSpec([None, 3]), NUMBER])
    assert (None if found[0] is None else found[0].tolist()) == known


@pytest.mark.parametrize(
    ("made", "known"),
    [
        (lambda x, n: tf.math.invert_permutation([2, 0, 1]), [1, 2, 0]),
        (lambda x, n: tf.where(tf.constant(-1) < 0, tf.rank(x) - 1, 5), 1),
        (lambda x, n: tf.sort(tf.shape(x)[1:] * [3]), [9]),
        (lambda x, n: tf.cast(tf.math.ceil(tf.constant([0.5, 2.0]) * 3), tf.int32), [2, 6]),
        (lambda x, n: tf.reduce_max(tf.constant([1.5, 2.5])), 2.5),
        (lambda x, n: tf.equal(tf.constant([1, 2]), 2), [False, True]),
        (lambda x, n: tf.unique([4, 1, 4]).idx, [0, 1, 0]),
        # What depends on arguments, on variables, or on chance, is not known.
        (lambda x, n: tf.sort([n, 2]), None),
        (lambda x, n: tf.sort(tf.shape(x)), None),
        (lambda x, n: VARIABLE + 1, None),
        (lambda x, n: tf.random.uniform([2], 0, 5, tf.int32), None),
        (lambda x, n: tf.py_function(lambda: 3, [], tf.int32), None),
        (lambda x, n: tf.range(65) * 0 + 1, None),  # too large to be looked at
    ],
)
def test_what_is_computed_of_constants_is_known(made: Any, known: Any) -> None:
    def fn(x: Any, n: Any) -> Any:
        found.append(tf.get_static_value(made(x, n)))

    found: list[Any] = []
    trace(fn, [tf.TensorSpec([None, 3]), NUMBER])
    assert (None if found[0] is None else found[0].tolist()) == known


def test_what_fails_is_left_to_the_run() -> None:
    def fn(x: Any) -> Any:
        with_hole = tf.math.invert_permutation([0, 2])
        assert tf.get_static_value(with_hole) is None
        return tf.gather(x, with_hole)

    trace(fn, [tf.TensorSpec([2])])
