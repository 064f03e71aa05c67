"""Gradients of picked rows: tf.IndexedSlices in the cases in which TensorFlow 2.21 has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

TABLE = np.arange(8, dtype=np.float32).reshape(4, 2)
IDS = [1, 3, 1]


def squares(x: Any) -> Any:
    return tf.reduce_sum(x * x)


def make_variable() -> tf.Variable:
    return tf.Variable(TABLE)


# The expression, and what the gradient is: numbers of rows, or a tensor.
ROWS = {
    "gather": (lambda w, i: tf.gather(w, i), [1, 3, 1]),
    "matrix of ids": (lambda w, i: tf.gather(w, [[1, 2], [0, 1]]), [1, 2, 0, 1]),
    "one id": (lambda w, i: tf.gather(w, 2), [2]),
    "no ids": (lambda w, i: tf.gather(w, tf.zeros([0], tf.int32)), []),
    "axis 0": (lambda w, i: tf.gather(w, [1, 1], axis=0), [1, 1]),
    "gather_nd": (lambda w, i: tf.gather_nd(w, [[1], [2], [1]]), [1, 2, 1]),
    "embedding_lookup": (lambda w, i: tf.nn.embedding_lookup(w, i), [1, 3, 1]),
    "identity": (lambda w, i: tf.gather(tf.identity(w), i), [1, 3, 1]),
    "converted": (lambda w, i: tf.gather(tf.convert_to_tensor(w), i), [1, 3, 1]),
    "twice": (lambda w, i: tf.concat([tf.gather(w, i), tf.gather(w, [0])], 0), [1, 3, 1, 0]),
    "of rows": (lambda w, i: tf.gather(tf.gather(w, i), [0, 2]), [1, 3, 1]),
    "negative": (lambda w, i: tf.gather(-w, i), [1, 3, 1]),
    "cast": (lambda w, i: tf.gather(tf.cast(w, tf.float64), i), [1, 3, 1]),
    "sum": (lambda w, i: tf.gather(w + 1.0, i), [1, 3, 1]),
    "axis 1": (lambda w, i: tf.gather(w, [1, 1], axis=1), None),
    "axis -2": (lambda w, i: tf.gather(w, [1, 1], axis=-2), None),
    "batches": (lambda w, i: tf.gather(w, [[0], [1], [1], [0]], batch_dims=1), None),
    "elements": (lambda w, i: tf.gather_nd(w, [[1, 0], [2, 1]]), None),
    "and all of it": (lambda w, i: squares(tf.gather(w, i)) + squares(w), None),
    "computed": (lambda w, i: tf.gather(w * 2.0, i), None),
    "slice": (lambda w, i: w[1], None),
    "several slices": (lambda w, i: w[1] * w[-1] + w[i[0]], None),
    "slice and rows": (lambda w, i: squares(w[1]) + squares(tf.gather(w, i)), None),
    "mask": (lambda w, i: tf.boolean_mask(w, [True, False, True, True]), None),
    "repeat": (lambda w, i: tf.repeat(w, [1, 2, 0, 1], axis=0), None),
}


def by_differences(f: Callable[..., Any]) -> Any:
    """The gradient computed with dense ops only."""
    eps = 1e-2
    out = np.zeros_like(TABLE)
    for at in np.ndindex(TABLE.shape):
        ends = []
        for sign in (1, -1):
            moved = TABLE.copy()
            moved[at] += sign * eps
            ends.append(float(squares(f(tf.constant(moved), tf.constant(IDS)))))
        out[at] = (ends[0] - ends[1]) / (2 * eps)
    return out


def eagerly(f: Any, w: Any, ids: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = squares(f(w, ids))
    return tape.gradient(y, w)


def inside(f: Any, w: Any, ids: Any) -> Any:
    if isinstance(w, tf.Variable):
        return tf.function(lambda ids: eagerly(f, w, ids))(ids)
    return tf.function(lambda w, ids: eagerly(f, w, ids))(w, ids)


def called_under_a_tape(f: Any, w: Any, ids: Any) -> Any:
    inner = tf.function(lambda w, ids: f(w, ids))
    return eagerly(tf.function(lambda w, ids: inner(w, ids)), w, ids)


def by_tf_gradients(f: Any, w: Any, ids: Any) -> Any:
    if isinstance(w, tf.Variable):
        return tf.function(lambda ids: tf.gradients(squares(f(w, ids)), w)[0])(ids)
    return tf.function(lambda w, ids: tf.gradients(squares(f(w, ids)), w)[0])(w, ids)


MODES = [eagerly, inside, called_under_a_tape, by_tf_gradients]


@pytest.mark.parametrize("mode", MODES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("make", [make_variable, lambda: tf.constant(TABLE)], ids=["variable", "x"])
@pytest.mark.parametrize("name", ROWS)
def test_rows_or_tensor(name: str, make: Any, mode: Any) -> None:
    f, rows = ROWS[name]
    g = mode(f, make(), tf.constant(IDS))
    assert isinstance(g, tf.IndexedSlices) == (rows is not None)
    if rows is not None:
        assert g.indices.numpy().tolist() == rows
        assert g.values.dtype is tf.float32
        assert g.dense_shape.numpy().tolist() == [4, 2]
        assert g.values.shape == [len(rows), 2]
    np.testing.assert_allclose(tf.convert_to_tensor(g), by_differences(f), atol=0.05, rtol=1e-3)


def test_variables_are_not_read_as_a_whole() -> None:
    v = tf.Variable(TABLE)
    graph = tf.function(lambda i: tf.gather(v, i)).get_concrete_function(tf.constant(IDS)).graph
    assert [n.op for n in graph.as_graph_def().node if "ead" in n.op or "ather" in n.op] == [
        "ResourceGather"
    ]


def test_types_of_indices() -> None:
    v = make_variable()
    with tf.GradientTape(persistent=True) as tape:
        a, b = tf.gather(v, [1]), tf.gather(v, tf.constant([2], tf.int64))
    assert tape.gradient(b, v).indices.dtype is tf.int64
    both = tape.gradient([a, b], v)
    assert both.indices.dtype is tf.int64
    assert both.indices.numpy().tolist() == [1, 2]


def test_unknown_shapes() -> None:
    @tf.function(
        input_signature=[tf.TensorSpec(None, tf.float32), tf.TensorSpec([None, None], tf.int32)]
    )
    def f(w: Any, ids: Any) -> Any:
        return eagerly(lambda w, i: tf.gather(w, i), w, ids)

    g = f(tf.constant(TABLE), tf.constant([[1, 1, 0]]))
    assert g.indices.numpy().tolist() == [1, 1, 0]
    np.testing.assert_array_equal(g.values, 2 * TABLE[[1, 1, 0]])


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("mode", [inside, called_under_a_tape], ids=lambda f: f.__name__)
def test_branches(mode: Any, taken: bool) -> None:
    v = make_variable()
    ids = tf.constant([1, 3, 1] if taken else [0, 2, 1])

    def one(w: Any, ids: Any) -> Any:
        return tf.cond(ids[0] > 0, lambda: squares(tf.gather(w, ids)), lambda: 1.0)

    g = mode(one, v, ids)
    assert g.indices.numpy().tolist() == (IDS if taken else [])
    assert g.values.shape[1:] == [2]

    def mixed(w: Any, ids: Any) -> Any:
        return tf.cond(ids[0] > 0, lambda: squares(tf.gather(w, ids)), lambda: squares(w))

    dense = mode(mixed, v, ids)
    assert isinstance(dense, tf.Tensor)
    assert dense.shape == [4, 2]


@pytest.mark.parametrize("mode", [inside, called_under_a_tape], ids=lambda f: f.__name__)
def test_loops_give_tensors(mode: Any) -> None:
    def f(w: Any, ids: Any) -> Any:
        return tf.while_loop(
            lambda k, s: k < 2, lambda k, s: (k + 1, s + tf.gather(w, ids - k)[0]), (0, tf.zeros(2))
        )[1]

    g = mode(f, make_variable(), tf.constant(IDS))
    assert isinstance(g, tf.Tensor)
    total = 2 * (TABLE[1] + TABLE[0])
    np.testing.assert_allclose(g, [total, total, [0, 0], [0, 0]])


def test_jacobian_and_forward_mode_see_tensors() -> None:
    v = make_variable()
    for run in (lambda f: f(), lambda f: tf.function(f)()):

        def jacobian() -> Any:
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(tf.gather(v, [1, 3]), 1)
            return tape.jacobian(y, v)

        assert run(jacobian).numpy()[1].tolist() == [[0, 0], [0, 0], [0, 0], [1, 1]]
        with tf.autodiff.ForwardAccumulator(v, tf.ones([4, 2])) as acc:
            y = squares(tf.gather(v, [1, 3]))
        assert acc.jvp(y).numpy() == 36


def test_second_order() -> None:
    def second(v: tf.Variable) -> Any:
        with tf.GradientTape(persistent=True) as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(tf.gather(v, [1, 3]) ** 3)
            g = inner.gradient(y, v)
            total = tf.reduce_sum(tf.convert_to_tensor(g))
        return outer.gradient(total, v), outer.gradient(g, v)

    v = make_variable()
    for found in (*second(v), *tf.function(lambda: second(v))()):
        assert found.indices.numpy().tolist() == [1, 3]
        np.testing.assert_allclose(found.values, 6 * TABLE[[1, 3]])


@pytest.mark.parametrize("traced", [False, True])
def test_custom_gradients_may_return_rows(traced: bool) -> None:
    v = make_variable()

    @tf.custom_gradient
    def pick(x: Any) -> Any:
        def grad(dy: Any, variables: Any = None) -> Any:
            return tf.reduce_sum(dy), [tf.IndexedSlices(dy, [1, 2], [4, 2])]

        return tf.gather(v, [1, 2]) * x, grad

    def run() -> Any:
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(pick(x))
        return tape.gradient(y, [x, v])

    by_x, by_v = (tf.function(run) if traced else run)()
    assert by_x.numpy() == 4
    assert isinstance(by_v, tf.IndexedSlices)
    assert tf.convert_to_tensor(by_v).numpy().tolist() == [[0, 0], [1, 1], [1, 1], [0, 0]]


def gradient() -> tf.IndexedSlices:
    return eagerly(lambda w, i: tf.gather(w, i), make_variable(), tf.constant(IDS))


KEPT = {
    "clip_by_norm": (lambda g: tf.clip_by_norm(g, 1.0), 1 / 21.071308),
    "clip_by_global_norm": (lambda g: tf.clip_by_global_norm([g], 1.0)[0][0], 1 / 21.071308),
    "scalar_mul": (lambda g: tf.math.scalar_mul(2.0, g), 2),
    "negative": (lambda g: -g, -1),
    "identity": (lambda g: tf.identity(g), 1),
    "stop_gradient": (lambda g: tf.stop_gradient(g), 1),
    "cast": (lambda g: tf.cast(g, tf.float64), 1),
}


@pytest.mark.parametrize("name", KEPT)
def test_functions_that_keep_rows(name: str) -> None:
    f, factor = KEPT[name]
    for found in (f(gradient()), tf.function(f)(gradient())):
        assert found.indices.numpy().tolist() == IDS
        np.testing.assert_allclose(found.values, factor * 2 * TABLE[IDS], rtol=1e-6)


def test_clip_by_value_and_norm() -> None:
    assert tf.clip_by_value(gradient(), -1.0, 1.0).values.numpy().tolist() == [[1, 1]] * 3
    assert round(float(tf.linalg.global_norm([gradient()])), 4) == 21.0713


@pytest.mark.parametrize(
    "f",
    [
        lambda g: 0.5 * g,
        lambda g: g * 0.5,
        lambda g: g / 2.0,
        lambda g: tf.constant(0.5) * g,
        lambda g: tf.multiply(g, 0.5),
        lambda g: (g + 0.0) * 0.5,
        lambda g: 0.5 * (g - 0.0),
        lambda g: 0.5 * (0.0 + g),
        lambda g: -0.5 * (0.0 - g),
    ],
)
def test_arithmetic_gives_tensors(f: Any) -> None:
    expected = np.zeros_like(TABLE)
    np.add.at(expected, IDS, TABLE[IDS])
    np.testing.assert_allclose(f(gradient()), expected)


def test_updates_of_variables() -> None:
    start, g = make_variable(), gradient()
    expected = start.numpy() - tf.convert_to_tensor(g).numpy()
    for update in (
        lambda v: v.scatter_sub(g),
        lambda v: v.scatter_add(-g),
        lambda v: v.assign_sub(g),
        lambda v: v.assign_sub(1.0 * g),
    ):
        v = make_variable()
        update(v)
        np.testing.assert_array_equal(v, expected)


def test_update_without_a_tensor_of_the_whole_table() -> None:
    v = tf.Variable(tf.zeros([1000, 3]))

    @tf.function
    def step(ids: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(v, ids))
        v.scatter_sub(tf.math.scalar_mul(0.5, tape.gradient(loss, v)))

    step(tf.constant([2, 5]))
    assert tf.reduce_sum(v).numpy() == -3
    graph = step.get_concrete_function(tf.constant([2, 5])).graph
    sizes = [out.shape.num_elements() for op in graph.get_operations() for out in op.outputs]
    assert max(size or 0 for size in sizes) < 1000


def test_nest_and_printing(capsys: pytest.CaptureFixture[str]) -> None:
    g = gradient()
    assert len(tf.nest.flatten([g])) == 1
    assert len(tf.nest.flatten([g], expand_composites=True)) == 3
    assert repr(g).startswith("IndexedSlices(indices=tf.Tensor([1 3 1], shape=(3,), dtype=int32)")
    tf.print(g)
    assert capsys.readouterr().err == "[[0 0]\n [8 12]\n [0 0]\n [12 14]]\n"


def test_many_uses_are_joined_once() -> None:
    v = make_variable()
    with tf.GradientTape() as tape:
        parts = [tf.gather(v, [k % 4]) for k in range(50)]
    g = tape.gradient(parts, v)
    assert g.indices.numpy().tolist() == [k % 4 for k in range(50)]


def test_rows_need_the_shape() -> None:
    @tf.custom_gradient
    def pick(x: Any) -> Any:
        return tf.gather(x, [0]), lambda dy: tf.IndexedSlices(dy, tf.constant([0]))

    x = tf.constant(TABLE)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = pick(x * 2.0)
    with pytest.raises(ValueError, match="IndexedSlices without dense_shape"):
        tape.gradient(y, x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.signal.frame(x, 2, 1, axis=0),
        lambda x: tf.signal.stft(x[:, 0], 2, 1),
        lambda x: tf.sparse.segment_sum(x, [0, 2, 0], [0, 0, 1]),
        lambda x: tf.sparse.segment_mean(x, [0, 2, 0], [0, 0, 1]),
        lambda x: tf.sparse.segment_sqrt_n(x, [0, 2, 0], [2, 0, 1], num_segments=4),
        lambda x: tf.sparse.reorder(tf.SparseTensor([[2], [0], [1]], x[:, 0], [3])).values,
    ],
)
@pytest.mark.parametrize("traced", [False, True])
def test_gradients_of_functions_made_of_gather_are_tensors(function: Any, traced: bool) -> None:
    def gradient(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    found = (tf.function(gradient) if traced else gradient)(tf.ones([3, 2]))
    assert isinstance(found, tf.Tensor)
    assert found.shape == [3, 2]


def test_sparse_gradients_of_segments_on_request() -> None:
    x = tf.constant([[1.0], [2.0], [3.0]])
    for function in (tf.sparse.segment_sum, tf.sparse.segment_mean, tf.sparse.segment_sqrt_n):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            rows = function(x, [0, 2], [0, 0], sparse_gradient=True)
            whole = function(x, [0, 2], [0, 0])
        found = tape.gradient(rows, x)
        assert isinstance(found, tf.IndexedSlices)
        np.testing.assert_allclose(tf.convert_to_tensor(found), tape.gradient(whole, x))
