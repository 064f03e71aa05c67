"""Shapes as tensors, reshape, squeeze, expand_dims, transpose, broadcasting, ensure_shape."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, boolean, c64, check_case, f32, i32
from weft._src.execution import reference
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.tracing import trace

CASES = [
    Case(tf.shape, [f32(2, 3, 4)], {}, lambda x: np.array([2, 3, 4], np.int32), grad=False),
    Case(tf.shape, [i32()], {"out_type": tf.int64}, lambda x: np.zeros(0), grad=False),
    Case(tf.size, [f32(2, 3)], {}, lambda x: np.array(6), grad=False),
    Case(tf.rank, [f32(2, 3)], {}, lambda x: np.array(2), grad=False),
    Case(
        lambda x, y: tf.shape_n([x, y]),
        [f32(2), f32(3, 4)],
        {},
        lambda x, y: [np.array([2]), np.array([3, 4])],
        grad=False,
    ),
    *[
        Case(tf.reshape, [f32(2, 3, 4)], {"shape": s}, lambda x, s=s: x.reshape(s))
        for s in ([6, 4], [4, -1], [-1], [1, 2, 12], -1, [2, 3, 4])
    ],
    Case(
        tf.reshape,
        [f32(2, 6), np.array([3, -1])],
        {},
        lambda x, s: x.reshape(s),
        label="reshape tensor",
    ),
    Case(tf.reshape, [f32()], {"shape": [1, 1]}, lambda x: x.reshape(1, 1)),
    Case(tf.reshape, [f32(1, 1)], {"shape": []}, lambda x: x.reshape(())),
    Case(tf.reshape, [f32(0, 3)], {"shape": [0, -1]}, lambda x: x),
    Case(tf.reshape, [f32(3, 0)], {"shape": [-1, 2]}, lambda x: np.zeros((0, 2))),
    *[
        Case(tf.expand_dims, [f32(2, 3)], {"axis": a}, lambda x, a=a: np.expand_dims(x, a))
        for a in (0, 1, 2, -1, -3)
    ],
    *[
        Case(
            tf.squeeze,
            [f32(1, 3, 1)],
            {"axis": a},
            lambda x, a=a: np.squeeze(x, tuple(a) if isinstance(a, list) else a),
        )
        for a in (None, 0, [0, 2], -1)
    ],
    *[
        Case(tf.transpose, [f32(2, 3, 4)], {"perm": p}, lambda x, p=p: np.transpose(x, p))
        for p in (None, [2, 0, 1], [-1, 0, 1], [0, 1, 2])
    ],
    Case(tf.transpose, [c64(2, 3)], {"conjugate": True}, lambda x: np.conj(x.T)),
    *[
        Case(tf.broadcast_to, [x], {"shape": s}, lambda x, s=s: np.broadcast_to(x, s))
        for x, s in ((f32(3), [2, 3]), (f32(2, 1), [4, 2, 3]), (f32(), [2]), (f32(1), [0]))
    ],
    Case(tf.broadcast_to, [boolean(3), np.array([2, 3])], {}, lambda x, s: np.broadcast_to(x, s)),
    Case(tf.ensure_shape, [f32(2, 3)], {"shape": [None, 3]}, lambda x: x),
    Case(
        tf.broadcast_dynamic_shape,
        [np.array([2, 1, 4]), np.array([3, 1])],
        {},
        lambda x, y: np.array([2, 3, 4]),
        label="broadcast_dynamic_shape",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def test_reshape_of_empty_tensors_works_out_minus_one() -> None:
    # As TensorFlow does: with a 0 on both sides the other sizes are divided.
    assert tf.reshape(tf.zeros([0, 3]), [0, -1]).shape == (0, 3)
    assert tf.reshape(tf.zeros([2, 0]), [3, 0, -1]).shape == (3, 0, 0)
    assert tf.reshape(tf.zeros([3, 0]), [-1, 0, 0]).shape == (3, 0, 0)
    assert tf.reshape(tf.zeros([3, 0]), [-1]).shape == (0,)


def test_sizes_keep_their_identity_through_reshapes() -> None:
    def merge(x):
        y = tf.reshape(x, [tf.shape(x)[0], -1])
        return y, tf.reshape(y, [tf.shape(x)[0], 3, 4]), tf.zeros(tf.shape(x)[1:])

    graph = trace(merge, [tf.TensorSpec([None, 3, 4])])
    assert [t.shape.as_list() for t in graph.outputs] == [[None, 12], [None, 3, 4], [3, 4]]
    x = graph.inputs[0].spec.dims
    assert graph.outputs[0].spec.dims[0] is x[0]


def test_shape_arithmetic_is_followed() -> None:
    def sizes(x):
        s = tf.shape(x)
        return [
            tf.zeros(tf.concat([s[1:], [5]], 0)),
            tf.zeros([tf.reduce_prod(s[1:])]),
            tf.zeros(tf.gather(s, [2, 1])),
            tf.zeros(tf.reverse(s[1:], [0])),
            tf.zeros(tf.stack([s[2], tf.size(x[0])])),
            tf.zeros(tf.slice(s, [1], [1])),
            tf.zeros(s[s[0] :]),
        ]

    graph = trace(sizes, [tf.TensorSpec([None, 3, 4])])
    shapes = [t.shape for t in graph.outputs]
    assert [s.as_list() for s in shapes[:-1]] == [[3, 4, 5], [12], [4, 3], [4, 3], [4, 12], [3]]
    assert shapes[-1].rank is None


def test_broadcast_static_shape() -> None:
    def both(x, y):
        return tf.broadcast_static_shape(tf.TensorShape(x), tf.TensorShape(y)).dims

    assert both([2, 1], [3]) == [2, 3]
    assert both([2, None], [3]) == [2, 3]
    assert both([2, None], [2, 1]) == [2, None]
    assert both(None, [3]) is None
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        both([2], [3])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(2,\) and \(3,\)"):
        tf.broadcast_dynamic_shape([2], [3])
    assert tf.broadcast_dynamic_shape(tf.constant([2, 1], tf.int64), [3]).dtype == tf.int64


def test_ensure_shape_is_checked_when_it_runs() -> None:
    graph = trace(lambda x: tf.ensure_shape(x, [2, None]), [tf.TensorSpec([None, None])])
    assert graph.outputs[0].shape.as_list() == [2, None]
    for run in (lambda x: reference.run(graph, [x]), NumpyPlan(graph)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(3, 1\).*promised \(2, None\)"):
            run(np.zeros((3, 1), np.float32))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.reshape([1, 2, 3], [2, 2]), r"reshape: .*\(3,\) \(3 elements\).*\(2, 2\)"),
        (lambda: tf.reshape([1, 2, 3], [2, -1]), r"reshape: .*shape \(2, -1\)"),
        (lambda: tf.reshape([1, 2, 3], [-1, -1]), "only one size may be -1"),
        (lambda: tf.reshape(tf.zeros([2, 3]), [0, -1]), "reshape: .*6 elements"),
        (lambda: tf.squeeze([[1, 2]], axis=1), r"squeeze: axis 1 has size 2 .*\(1, 2\), not 1"),
        (lambda: tf.squeeze([[1, 2]], axis=2), r"squeeze: axis 2 .*\[-2, 2\)"),
        (lambda: tf.expand_dims([1, 2], axis=2), r"expand_dims: axis 2 .*\[-2, 2\)"),
        (lambda: tf.transpose([[1, 2]], [0]), r"transpose: perm \(0,\) has 1 entries"),
        (lambda: tf.transpose([[1, 2]], [0, 0]), "transpose: perm .* twice"),
        (lambda: tf.transpose([[1, 2]], [0, 2]), "transpose: perm 2 is out of range"),
        (lambda: tf.broadcast_to([1, 2], [2, 3]), r"broadcast_to: .*\(2,\) and \(2, 3\)"),
        (lambda: tf.broadcast_to([[1, 2]], [2]), r"broadcast_to: .*lower rank"),
        (lambda: tf.ensure_shape([1, 2], [3]), r"ensure_shape: the shape is \(2,\).*\(3,\)"),
    ],
)
def test_shape_errors(call, text) -> None:
    with pytest.raises(tf.errors.ShapeError, match=text):
        call()


def test_other_errors() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative"):
        tf.reshape([1, 2, 3], [-3])
    with pytest.raises(tf.errors.DTypeError, match="shape has dtype float32"):
        tf.reshape([1, 2, 3], [3.0])
    with pytest.raises(ValueError, match="None"):
        tf.reshape([1, 2], [None, 1])
    with pytest.raises(TypeError, match="expand_dims: axis must be one integer"):
        tf.expand_dims([1], [0, 1])
    graph = trace(
        lambda x, s: tf.reshape(x, s), [tf.TensorSpec(None), tf.TensorSpec(None, tf.int32)]
    )
    with pytest.raises(tf.errors.ShapeError, match=r"\(3,\).*\(2, 2\)"):
        NumpyPlan(graph)(np.zeros(3, np.float32), np.array([2, 2], np.int32))


def test_no_sizes_of_any_dtype() -> None:
    assert tf.reshape([5.0], np.array([])).shape == ()
    assert tf.function(lambda x: tf.reshape(x, np.array([])))(tf.constant([5.0])).shape == ()
