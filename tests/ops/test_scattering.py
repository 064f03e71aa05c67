"""scatter_nd and tensor_scatter_nd_*."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, boolean, c64, check_case, f32, i32
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.tracing import trace

ROWS = np.array([[2], [0], [2]])
POINTS = np.array([[[0, 1]], [[2, 0]]])


def at(ufunc):
    def combine(x, i, u):
        out = x.copy()
        ufunc.at(out, tuple(np.moveaxis(i, -1, 0)), u)
        return out

    return combine


def update(x, i, u):
    out = x.copy()
    out[tuple(np.moveaxis(i, -1, 0))] = u
    return out


CASES = [
    Case(
        lambda i, u: tf.scatter_nd(i, u, [4, 3]),
        [ROWS, f32(3, 3)],
        {},
        lambda i, u: at(np.add)(np.zeros((4, 3), u.dtype), i, u),
        label="scatter_nd rows",
    ),
    Case(
        tf.scatter_nd,
        [POINTS, f32(2, 1), np.array([3, 2])],
        {},
        lambda i, u, s: at(np.add)(np.zeros(s, u.dtype), i, u),
        label="scatter_nd points",
    ),
    Case(
        lambda i, u: tf.scatter_nd(i, u, [4]),
        [np.array([[1], [1]], np.int32), i32(2)],
        {},
        lambda i, u: at(np.add)(np.zeros(4, u.dtype), i, u),
        label="scatter_nd ints",
    ),
]
for name, fn, expect in (
    ("update", tf.tensor_scatter_nd_update, update),
    ("add", tf.tensor_scatter_nd_add, at(np.add)),
    ("sub", tf.tensor_scatter_nd_sub, at(np.subtract)),
    ("min", tf.tensor_scatter_nd_min, at(np.minimum)),
    ("max", tf.tensor_scatter_nd_max, at(np.maximum)),
):
    distinct = ROWS[:2]
    CASES += [
        Case(fn, [f32(4, 3), distinct, f32(2, 3)], {}, expect, label=f"{name} rows"),
        Case(fn, [f32(3, 2), POINTS, f32(2, 1)], {}, expect, label=f"{name} points"),
        Case(fn, [i32(4, 3), ROWS, i32(3, 3)], {}, expect, label=f"{name} repeated"),
        Case(fn, [i32(4), np.zeros((0, 1), int), i32(0)], {}, expect, label=f"{name} nothing"),
    ]
CASES += [
    Case(tf.tensor_scatter_nd_update, [boolean(4), ROWS[:2], boolean(2)], {}, update),
    Case(tf.tensor_scatter_nd_add, [c64(4), ROWS, c64(3)], {}, at(np.add)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def gradients(fn, *values):
    tensors = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        y = fn(*tensors)
    return [g.numpy().tolist() for g in tape.gradient(y, tensors)]


def test_gradients_where_updates_meet() -> None:
    index = [[0], [1], [1]]
    assert gradients(
        lambda x, u: tf.tensor_scatter_nd_max(x, index, u), [1.0, 2.0, 3.0], [1.0, 5.0, 5.0]
    ) == [[0.5, 0, 1], [0.5, 0.5, 0.5]]
    assert gradients(
        lambda x, u: tf.tensor_scatter_nd_min(x, index, u), [1.0, 2.0, 3.0], [1.0, 1.0, 0.0]
    ) == [[0.5, 0, 1], [0.5, 0, 1]]
    assert gradients(
        lambda x, u: tf.tensor_scatter_nd_update(x, index, u), [1.0, 2.0, 3.0], [1.0, 5.0, 6.0]
    ) == [[0, 0, 1], [1, 1, 1]]


def test_the_input_is_not_changed() -> None:
    x = tf.constant([1, 2, 3])
    assert tf.tensor_scatter_nd_update(x, [[0]], [9]).numpy().tolist() == [9, 2, 3]
    assert x.numpy().tolist() == [1, 2, 3]


def test_other_dtypes() -> None:
    assert tf.tensor_scatter_nd_update(["a", "b"], [[0]], ["c"]).numpy().tolist() == [b"c", b"b"]
    assert tf.scatter_nd([[0]], ["a"], [2]).numpy().tolist() == [b"a", b""]
    x = tf.tensor_scatter_nd_add(tf.zeros([2], tf.bfloat16), [[1]], [1.5])
    assert x.dtype == tf.bfloat16
    assert x.numpy().tolist() == [0, 1.5]
    assert tf.tensor_scatter_nd_update(
        [1, 2], tf.zeros([1, 0], tf.int32), [[7, 8]]
    ).numpy().tolist() == [7, 8]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: tf.scatter_nd([[1]], [[1, 2]], [3, 3]),
            r"updates must have shape \(1, 3\).*\(1, 2\)",
        ),
        (lambda: tf.scatter_nd([[1]], [1, 2], [3]), r"scatter_nd: updates must have shape \(1,\)"),
        (lambda: tf.scatter_nd([[1, 1]], [1], [3]), "indices have 2 entries.*only 1 axes"),
        (lambda: tf.scatter_nd([[0]], [1], [-3]), "scatter_nd: shape must not be negative"),
        (lambda: tf.tensor_scatter_nd_add([1, 2], [[0]], [[7]]), r"tensor_scatter_nd_add: updates"),
        (lambda: tf.tensor_scatter_nd_max([1, 2], 0, 7), "indices must have at least one axis"),
    ],
)
def test_shape_errors(call, text) -> None:
    with pytest.raises(tf.errors.ShapeError, match=text):
        call()


@pytest.mark.parametrize("index", [3, -1])
def test_indices_out_of_range(index: int) -> None:
    text = rf"indices\[0\] = \[{index}\] is out of range for axes of sizes \[3\]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"scatter_nd: {text}"):
        tf.scatter_nd([[index]], [1], [3])
    specs = [tf.TensorSpec(None), tf.TensorSpec(None, tf.int32), tf.TensorSpec(None)]
    plan = NumpyPlan(trace(tf.tensor_scatter_nd_update, specs))
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"tensor_scatter_nd_update: {text}"):
        plan(np.zeros(3, np.float32), np.array([[index]], np.int32), np.zeros(1, np.float32))


@pytest.mark.parametrize("scatter", ["add", "min", "max", "sub", "update"])
def test_nothing_is_scattered_over_everything(scatter: str) -> None:
    function = getattr(tf, f"tensor_scatter_nd_{scatter}")
    whole = np.zeros([2, 4, 0], np.int32)
    assert function(tf.ones([3, 0]), whole, tf.ones([2, 4, 3, 0])).shape == (3, 0)
    none = np.zeros([6, 0, 0], np.int32)
    np.testing.assert_array_equal(function(tf.ones([2]), none, tf.ones([6, 0, 2])), [1, 1])
    assert tf.scatter_nd(whole, tf.ones([2, 4, 0]), [0]).shape == (0,)
