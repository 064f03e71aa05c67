"""Norms, scaling to length one, clipping."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, c64, check_case, f32, f64, i32

INF = np.inf


def _vector_norm(x: np.ndarray, ord: object, axis: object) -> np.ndarray:
    order = 2 if ord == "euclidean" else ord
    return np.linalg.norm(x.ravel() if axis is None else x, order, axis)


def _l2(x: np.ndarray, axis: object) -> np.ndarray:
    return x / np.sqrt(np.sum(np.abs(x) ** 2, axis, keepdims=True))


def _row_norms(x: np.ndarray) -> np.ndarray:
    return np.linalg.norm(x, 2, 1, True)


def _clip_together(*tensors: tf.Tensor) -> list[tf.Tensor | None]:
    return tf.clip_by_global_norm(list(tensors), 0.5)[0]


CASES = [
    *[
        Case(
            tf.norm,
            [f32(2, 3, 4)],
            {"ord": o, "axis": a},
            lambda x, o=o, a=a: _vector_norm(x, o, a),
        )
        for o in ("euclidean", 1, 2, 3, 2.5, INF)
        for a in (None, 0, -1)
    ],
    *[
        Case(
            tf.norm,
            [f32(2, 3, 4)],
            {"ord": o, "axis": a},
            lambda x, o=o, a=a: np.linalg.norm(x, "fro" if o == "euclidean" else o, a),
        )
        for o in ("euclidean", "fro", 1, INF)
        for a in ((0, 1), (-1, 0))
    ],
    Case(
        tf.norm,
        [f64(2, 3, 4)],
        {"ord": 2, "axis": (0, 2)},
        lambda x: np.linalg.norm(x, 2, (0, 2)),
        unknown_shapes=False,
        second=False,
    ),
    Case(tf.norm, [f32(2, 3)], {"axis": 1, "keepdims": True}, _row_norms),
    Case(tf.norm, [i32(2, 3)], {"ord": 1}, lambda x: np.abs(x).sum()),
    Case(tf.norm, [c64(3)], {}, lambda x: np.linalg.norm(x) + 0j),
    Case(tf.linalg.normalize, [f32(2, 3)], {"axis": 1}, lambda x: (_l2(x, 1), _row_norms(x))),
    Case(tf.math.l2_normalize, [f32(2, 3)], {"axis": 1}, lambda x: _l2(x, 1)),
    Case(tf.math.l2_normalize, [c64(2, 3)], {"axis": [0, 1]}, lambda x: _l2(x, (0, 1))),
    Case(tf.clip_by_norm, [f32(2, 3)], {"clip_norm": 0.5}, lambda x: _l2(x, None) * 0.5),
    Case(tf.clip_by_norm, [f32(2, 3)], {"clip_norm": 50.0, "axes": [1]}, lambda x: x),
    Case(lambda *ts: tf.linalg.global_norm(list(ts)), [f64(2), f64(3, 1)], label="global_norm"),
    Case(_clip_together, [f64(2), f64(3, 1)]),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        # (as TensorFlow 2.21)
        (tf.norm, [np.nan, np.nan]),
        (lambda x: tf.norm(x, ord=1), [0, 0]),
        (lambda x: tf.norm(x, ord=INF), [0, 0]),
        (lambda x: tf.clip_by_norm(x, 1.0), [1, 1]),
        (lambda x: tf.math.l2_normalize(x), [1e6, 1e6]),
    ],
)
def test_gradients_at_zero(fn: object, expected: list[float]) -> None:
    x = tf.zeros([2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fn(x)
    np.testing.assert_allclose(tape.gradient(y, x), expected, rtol=1e-6)


def test_lists_may_hold_none() -> None:
    clipped, norm = tf.clip_by_global_norm([tf.constant([3.0]), None, tf.constant([4.0])], 2.5)
    assert float(norm) == 5.0
    assert clipped[1] is None
    assert [float(t[0]) for t in clipped if t is not None] == [1.5, 2.0]
    assert float(tf.linalg.global_norm([])) == 0.0
    clipped, norm = tf.clip_by_global_norm([tf.constant([3.0])], 2.5, use_norm=10.0)
    assert float(clipped[0][0]) == 0.75


def test_infinite_norms_turn_everything_to_nan() -> None:
    clipped, norm = tf.clip_by_global_norm([tf.constant([INF]), tf.constant([4.0])], 1.0)
    assert float(norm) == INF
    assert all(np.isnan(t.numpy()).all() for t in clipped)


@pytest.mark.parametrize(
    ("attrs", "text"),
    [
        ({"ord": "fro"}, "a vector norm must be 'euclidean' or a positive number, got 'fro'"),
        ({"ord": -1}, "must be 'euclidean' or a positive number, got -1"),
        ({"ord": 3, "axis": (0, 1)}, "ord of a matrix norm must be one of euclidean, fro"),
        ({"axis": (0, 0)}, r"axis must be None, a number or two different ones, got \(0, 0\)"),
        ({"axis": [0]}, r"two different ones, got \[0\]"),
    ],
)  # fmt: skip
def test_errors(attrs: dict, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        tf.norm(tf.ones([2, 3]), **attrs)


def test_global_norm_needs_a_list() -> None:
    with pytest.raises(TypeError, match="global_norm: t_list must be a list of tensors"):
        tf.linalg.global_norm(tf.ones([2]))


def test_axes_in_an_array_are_those_of_matrices() -> None:
    x = tf.reshape(tf.range(24.0), [2, 3, 4])
    for axes in (np.array([0, 1]), tf.constant([0, 1])):
        for order in (1, 2, np.inf):
            wanted = tf.norm(x, order, axis=(0, 1))
            np.testing.assert_array_equal(tf.norm(x, order, axis=axes), wanted)
    with pytest.raises(ValueError, match="axis must be None, a number or two different ones"):
        tf.norm(x, axis=np.array([0, 1, 2]))
