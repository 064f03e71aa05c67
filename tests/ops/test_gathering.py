"""gather, gather_nd, boolean_mask, where with one argument, one_hot."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, boolean, c64, check_case, f32, i32
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.tracing import trace


def gathered(x, i, axis, batch):
    """gather, written as loops over batches."""
    if batch == 0:
        return np.take(x, i, axis)
    return np.stack([gathered(a, b, axis - 1, batch - 1) for a, b in zip(x, i, strict=True)])


def gathered_nd(x, i, batch):
    if batch == 0:
        return x[tuple(np.moveaxis(i, -1, 0))]
    return np.stack([gathered_nd(a, b, batch - 1) for a, b in zip(x, i, strict=True)])


def below(limit: int, *shape: int) -> np.ndarray:
    return np.arange(np.prod(shape, dtype=int)).reshape(shape) * 7 % limit


CASES = [
    Case(
        tf.gather,
        [f32(*p), below(p[a], *i)],
        {"axis": a, "batch_dims": b},
        lambda x, i, a=a, b=b: gathered(x, i, a, b),
        label=f"gather {p} {i} axis={a} batch={b}",
    )
    for p, i, a, b in [
        ((4,), (), 0, 0),
        ((4,), (5,), 0, 0),
        ((4, 3), (5, 2), 0, 0),
        ((2, 4, 3), (5, 2), 1, 0),
        ((2, 4, 3), (5,), -1 % 3, 0),
        ((2, 4, 3), (2, 5), 1, 1),
        ((2, 4, 3), (2, 5, 6), 1, 1),
        ((2, 4, 3), (2, 5), 2, 1),
        ((2, 4, 3), (2, 4), 2, 2),
        ((2, 4, 3, 5), (2, 6), 2, 1),
        ((0, 3), (0,), 0, 0),
    ]
]
CASES += [
    Case(tf.gather, [f32(2, 3), below(3, 4)], {"axis": -1}, lambda x, i: np.take(x, i, -1)),
    Case(
        tf.gather,
        [f32(2, 3), below(3, 2, 4)],
        {"batch_dims": -1},
        lambda x, i: gathered(x, i, 1, 1),
        label="gather batch_dims=-1",
    ),
    Case(tf.gather, [c64(4), below(4, 3)], {}, lambda x, i: x[i]),
    Case(tf.gather, [boolean(4), below(4, 3)], {}, lambda x, i: x[i]),
    Case(
        tf.gather, [i32(4, 2), below(4, 3).astype(np.int16)], {}, lambda x, i: x[i], label="int16"
    ),
    *[
        Case(
            tf.gather_nd,
            [f32(2, 4, 3), i],
            {"batch_dims": b},
            lambda x, i, b=b: gathered_nd(x, i, b),
            label=f"gather_nd {i.shape} batch={b}",
        )
        for i, b in [
            (np.array([[1], [0], [1]]), 0),
            (np.array([[0, 3], [1, 2]]), 0),
            (np.array([1, 3, 2]), 0),
            (np.array([[[0, 0, 1]], [[1, 1, 2]]]), 0),
            (np.array([[3], [1]]), 1),
            (np.array([[[3, 0]], [[1, 2]]]), 1),
            (np.zeros((0, 2), np.int64), 0),
        ]
    ],
    Case(
        tf.gather_nd,
        [f32(2, 3), np.zeros((4, 0), np.int32)],
        {},
        lambda x, i: np.broadcast_to(x, (4, 2, 3)),
        label="gather_nd of everything",
    ),
    Case(tf.where, [boolean(3, 4)], {}, np.argwhere),
    Case(tf.where, [i32(7, low=-1, high=2)], {}, np.argwhere),
    Case(
        lambda x: tf.boolean_mask(x, [True, False, True]),
        [f32(3, 4)],
        {},
        lambda x: x[[0, 2]],
        label="boolean_mask",
    ),
    Case(
        lambda x: tf.boolean_mask(x, [[True, False, True], [False, False, True]], axis=1),
        [f32(4, 2, 3, 5)],
        {},
        lambda x: x[:, np.array([[True, False, True], [False, False, True]])],
        label="boolean_mask axis",
    ),
    Case(
        lambda x, m: tf.boolean_mask(x, tf.ensure_shape(m, [None])),
        [f32(3, 2), np.array([False, True, True])],
        {},
        lambda x, m: x[m],
        label="boolean_mask by a tensor",
    ),
    Case(
        tf.one_hot,
        [np.array([[0, 2], [-1, 5]])],
        {"depth": 3},
        lambda i: np.eye(3)[np.clip(i, 0, 2)] * ((i >= 0) & (i < 3))[..., None],
        label="one_hot",
    ),
    *[
        Case(
            lambda i, n, a=a: tf.one_hot(i, n, on_value=5, off_value=-1, axis=a),
            [np.array([[0, 2, 1]]), np.int32(4)],
            {},
            lambda i, n, a=a: np.moveaxis(np.eye(4)[i] * 6 - 1, -1, a),
            label=f"one_hot axis={a}",
        )
        for a in (0, 1, -1)
    ],
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def test_strings() -> None:
    x = tf.constant(["a", "b", "c"])
    assert tf.gather(x, 1).numpy() == b"b"
    assert tf.gather(x, [2, 0]).numpy().tolist() == [b"c", b"a"]
    assert tf.gather_nd(x, [[1]]).numpy().tolist() == [b"b"]
    assert tf.gather_nd(x, [1]).numpy() == b"b"
    assert tf.boolean_mask(x, [True, False, True]).numpy().tolist() == [b"a", b"c"]
    plan = NumpyPlan(trace(lambda x: tf.gather(x, 1) + "!", [tf.TensorSpec([3], tf.string)]))
    assert plan(x.numpy())[0][()] == b"b!"


def test_one_hot_dtypes() -> None:
    assert tf.one_hot([1], 3).dtype == tf.float32
    assert tf.one_hot([1], 3, on_value=5).numpy().tolist() == [[0, 5, 0]]
    assert tf.one_hot([1], 3, off_value=2.0).numpy().tolist() == [[2, 1, 2]]
    assert tf.one_hot([1], 2, dtype=tf.bool).numpy().tolist() == [[False, True]]
    assert tf.one_hot([1], 2, True, False).dtype == tf.bool
    assert tf.one_hot([0], 2, "a", "b").numpy().tolist() == [[b"a", b"b"]]
    assert tf.one_hot(tf.constant([1], tf.uint8), 300).shape == (1, 300)
    assert tf.one_hot([0, 2], 0).shape == (2, 0)
    assert tf.one_hot(1, 3).shape == (3,)


def test_repeated_indices_add_their_gradients() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.gather(x, [2, 0, 2])
    assert tf.convert_to_tensor(tape.gradient(y, x)).numpy().tolist() == [[1, 1], [0, 0], [2, 2]]


@pytest.mark.parametrize("index", [3, -1])
def test_indices_out_of_range(index: int) -> None:
    text = rf"{index} is out of range; indices must be in \[0, 3\)"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tf.gather([1, 2, 3], [0, index])
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\[1\] = \[{index}\]"):
        tf.gather_nd([1, 2, 3], [[0], [index]])
    plan = NumpyPlan(trace(tf.gather, [tf.TensorSpec(None), tf.TensorSpec(None, tf.int32)]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        plan(np.zeros(3, np.float32), np.array([index], np.int32))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.gather(3, [0]), "gather: params must have at least one axis"),
        (lambda: tf.gather([[1, 2]], [0], axis=2), r"gather: axis 2 .*\[-2, 2\)"),
        (lambda: tf.gather([[1, 2]], [[0]], batch_dims=3), "batch_dims 3 is out of range"),
        (lambda: tf.gather([[1, 2]], [[0]], axis=0, batch_dims=1), "at most axis, which is 0"),
        (lambda: tf.gather([[1], [2]], [[0, 0]], batch_dims=1), r"\(2, 1\).*\(1, 2\)"),
        (lambda: tf.gather_nd([[1, 2]], 0), "indices must have at least one axis"),
        (lambda: tf.gather_nd([[1, 2]], [[0, 0, 0]]), "indices have 3 entries.*only 2 axes"),
        (lambda: tf.gather_nd([[1, 2]], [[0]], batch_dims=2), "less than the rank of indices, 2"),
        (lambda: tf.where(True), "where: condition must have"),
        (lambda: tf.boolean_mask([1, 2], True), "mask must have at least one axis"),
        (lambda: tf.boolean_mask([[1, 2]], [True, False]), r"boolean_mask.*\(1,\) and \(2,\)"),
        (lambda: tf.boolean_mask(3, [True]), r"boolean_mask.*\(\) and \(1,\)"),
        (lambda: tf.one_hot([1], -1), "one_hot: depth must not be negative, got -1"),
        (lambda: tf.one_hot([1], [3]), "one_hot: depth must have rank 0"),
        (lambda: tf.one_hot([1], 3, axis=3), "one_hot: axis 3 is out of range"),
    ],
)
def test_shape_errors(call, text) -> None:
    with pytest.raises(tf.errors.ShapeError, match=text):
        call()


def test_other_errors() -> None:
    with pytest.raises(tf.errors.DTypeError, match="indices has dtype uint8"):
        tf.gather([1, 2], tf.constant([0], tf.uint8))
    with pytest.raises(tf.errors.DTypeError, match="indices has dtype float32"):
        tf.gather([1, 2], [0.5])
    with pytest.raises(tf.errors.DTypeError, match="condition has dtype string"):
        tf.where(["a"])
    with pytest.raises(TypeError, match="on_value has dtype int32, but off_value has float32"):
        tf.one_hot([0], 3, on_value=5, off_value=2.0)
    with pytest.raises(TypeError, match="on_value has dtype int32, but dtype=float32"):
        tf.one_hot([0], 3, on_value=tf.constant(5), dtype=tf.float32)
    with pytest.raises(ValueError, match="bad_indices_policy"):
        tf.gather_nd([1], [[0]], bad_indices_policy="SKIP")
    mask = trace(tf.boolean_mask, [tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool)])
    with pytest.raises(tf.errors.ShapeError, match=r"reshape.*\(2,\).*\(3,\)"):
        NumpyPlan(mask)(np.zeros(3, np.float32), np.array([True, False]))
