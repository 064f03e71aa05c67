"""x[...], strided_slice, slice."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, check_case, f32
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.tracing import trace

KEYS = [
    np.s_[1],
    np.s_[-1],
    np.s_[1:],
    np.s_[:, 1:3],
    np.s_[..., 0],
    np.s_[0, ..., 1],
    np.s_[:, None, 2],
    np.s_[..., None],
    np.s_[None],
    np.s_[::-1],
    np.s_[:, ::-2, 3:0:-1],
    np.s_[5:1:-2],
    np.s_[-10:10],
    np.s_[:, 2:1],
    np.s_[0, 1, 2],
    np.s_[()],
    np.s_[...],
    np.s_[1:2, ..., ::3],
]
CASES = [
    Case(lambda x, k=k: x[k], [f32(2, 3, 4)], {}, lambda x, k=k: x[k], label=f"x[{k}]")
    for k in KEYS
]
CASES += [
    Case(lambda x: x[...], [f32()], {}, lambda x: x, label="scalar[...]"),
    Case(lambda x: x[None], [f32()], {}, lambda x: x[None], label="scalar[None]"),
    Case(lambda x: x[1:0], [f32(0, 3)], {}, lambda x: x[1:0], label="empty"),
    *[
        Case(fn, [f32(4, 5), np.int32(i), np.int32(j)], {}, fn, label=f"{label} {i} {j}")
        for i, j in ((1, 3), (-1, 2), (0, -1))
        for label, fn in (
            ("x[i, j]", lambda x, i, j: x[i, j]),
            ("x[i:, j]", lambda x, i, j: x[i:, j]),
            ("x[:, i:j]", lambda x, i, j: x[:, i:j]),
            ("x[i, None, ::2]", lambda x, i, j: x[i, None, ::2]),
        )
    ],
    Case(
        lambda x, s: x[::s],
        [f32(5, 2), np.int64(-2)],
        {},
        lambda x, s: x[::s],
        label="step tensor",
    ),
    Case(
        tf.slice,
        [f32(3, 4, 5)],
        {"begin": [1, 0, 2], "size": [2, -1, 1]},
        lambda x: x[1:3, :, 2:3],
    ),
    Case(
        tf.slice,
        [f32(3, 4), np.array([1, 0]), np.array([-1, 2])],
        {},
        lambda x, b, s: x[1:, :2],
        label="slice by tensors",
    ),
    Case(tf.slice, [f32()], {"begin": [], "size": []}, lambda x: x, label="slice scalar"),
    Case(tf.slice, [f32(4)], {"begin": [4], "size": [-1]}, lambda x: x[4:]),
    Case(
        tf.strided_slice,
        [f32(3, 4, 5)],
        {"begin": [0, -1, 1], "end": [2, -4, 4], "strides": [1, -2, 1]},
        lambda x: x[0:2, -1:-4:-2, 1:4],
    ),
    Case(
        lambda x, b, e: tf.strided_slice(x, b, e, begin_mask=1, end_mask=2),
        [f32(3, 4), np.array([9, 1]), np.array([2, 0])],
        {},
        lambda x, b, e: x[:2, 1:],
        label="strided_slice by tensors",
    ),
    Case(
        lambda x: tf.strided_slice(x, [0, 0, 1], [0, 0, 2], ellipsis_mask=1, new_axis_mask=2),
        [f32(2, 3)],
        {},
        lambda x: x[..., None, 1:2],
        label="strided_slice with masks",
    ),
    Case(
        lambda x: tf.strided_slice(x, [1, -1], [0, 0], shrink_axis_mask=3),
        [f32(2, 3)],
        {},
        lambda x: x[1, -1],
        label="strided_slice that shrinks",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    # Traced with unknown positions the length of the index vectors has to be known.
    if case.label == "strided_slice by tensors":
        case.unknown_shapes = False
    check_case(case)


def test_other_keys() -> None:
    x = tf.constant([1, 2, 3])
    assert x[np.int64(2)].numpy() == 3
    assert x[tf.constant(1, tf.int64)].numpy() == 2
    assert x[tf.constant([True, False, True])].numpy().tolist() == [1, 3]
    assert x[np.array([True, False, True])].numpy().tolist() == [1, 3]
    assert [int(v) for v in x] == [1, 2, 3]
    assert tf.constant(["a", "b"])[1].numpy() == b"b"


def test_sizes_known_while_tracing() -> None:
    def shapes(fn, shape):
        return trace(fn, [tf.TensorSpec(shape)]).outputs[0].shape.dims

    assert shapes(lambda x: x[:, 1:], [None, 4]) == [None, 3]
    assert shapes(lambda x: x[1:], [None, 4]) == [None, 4]
    assert shapes(lambda x: x[0, :0], [2, None]) == [0]
    assert shapes(lambda x: x[: tf.shape(x)[0]], [5, 4]) == [5, 4]
    assert shapes(lambda x: tf.slice(x, [1, 0], [2, -1]), [None, 4]) == [2, 4]
    assert shapes(lambda x: tf.slice(x, [0, 0], [-1, 2]), [None, 4]) == [None, 2]
    assert shapes(lambda x: x[1], None) is None


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (3, r"strided_slice: index 3 is out of range for axis 0 of size 3"),
        (-4, r"index -4 is out of range for axis 0 of size 3"),
        (np.s_[0, 0], "2 indices for a tensor of rank 1"),
        (np.s_[..., ...], "only one Ellipsis"),
        (np.s_[::0], "step of a slice must not be 0"),
    ],
)
def test_index_errors(key, text) -> None:
    with pytest.raises(tf.errors.ShapeError, match=text):
        tf.constant([1, 2, 3])[key]
    with pytest.raises(ValueError, match=text):
        trace(lambda x: x[key], [tf.TensorSpec([3])])


@pytest.mark.parametrize("key", [1.0, "a", True, [0, 1], np.array([0, 1])])
def test_keys_that_are_refused(key) -> None:
    with pytest.raises(TypeError, match="indexed with ints.*tf.gather"):
        tf.constant([1, 2, 3])[key]


def test_tensors_that_are_refused_as_keys() -> None:
    x = tf.constant([1, 2, 3])
    for key in (tf.constant([0, 1]), tf.constant(1, tf.uint8), tf.constant(1.0)):
        with pytest.raises(TypeError, match="scalar int32/int64"):
            x[key]


def test_positions_are_checked_when_they_become_known() -> None:
    plan = NumpyPlan(trace(lambda x, i: x[i], [tf.TensorSpec(None), tf.TensorSpec([], tf.int32)]))
    assert plan(np.arange(3.0, dtype=np.float32), np.int32(2))[0] == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="index 3 is out of range"):
        plan(np.arange(3.0, dtype=np.float32), np.int32(3))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.slice([1, 2, 3, 4], [1], [5]), r"size\[0\] must be -1 or in \[0, 3\], got 5"),
        (lambda: tf.slice([1, 2, 3, 4], [5], [-1]), r"begin\[0\] must be in \[0, 4\], got 5"),
        (lambda: tf.slice([1, 2, 3, 4], [-1], [1]), r"begin\[0\].*got -1"),
        (lambda: tf.slice([1, 2, 3, 4], [1], [-2]), r"size\[0\].*got -2"),
        (lambda: tf.slice([[1, 2]], [1], [1]), "slice: the rank of input_.*2 and 1"),
        (lambda: tf.strided_slice([1], [0], [1, 2]), "equal lengths, got 1, 2 and 1"),
        (lambda: tf.strided_slice([1], [0], [1], [0]), "must not be 0"),
        (lambda: tf.strided_slice([1], [0], [0], [-1], shrink_axis_mask=1), "has no step"),
    ],
)
def test_slice_errors(call, text) -> None:
    with pytest.raises(tf.errors.ShapeError, match=text):
        call()


def test_assigning_to_an_element_names_the_alternative() -> None:
    with pytest.raises(TypeError, match="tensor_scatter_nd_update"):
        tf.constant([1, 2])[0] = 3
