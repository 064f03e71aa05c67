"""Changing and reading parts of variables: scatter_*, slices, gather_nd, sparse_read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.threads import in_threads

START = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
Change = Callable[[tf.Variable], Any]


def slices(values: Any, indices: Any) -> tf.IndexedSlices:
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices))


def eagerly(v: tf.Variable, change: Change) -> None:
    change(v)


def traced(v: tf.Variable, change: Change) -> None:
    @tf.function
    def f() -> None:
        change(v)

    f()


def as_argument(v: tf.Variable, change: Change) -> None:
    @tf.function
    def f(v: tf.Variable) -> None:
        change(v)

    f(v)


def in_branch(v: tf.Variable, change: Change) -> None:
    def change_and_none() -> None:
        change(v)

    @tf.function
    def f(x: tf.Tensor) -> None:
        tf.cond(x > 0, change_and_none, lambda: None)
        tf.cond(x < 0, change_and_none, lambda: None)

    f(tf.constant(1))


def in_loop(v: tf.Variable, change: Change) -> None:
    def body(i: tf.Tensor) -> tf.Tensor:
        change(v)
        return i + 1

    @tf.function
    def f(n: tf.Tensor) -> None:
        tf.while_loop(lambda i: i < n, body, [tf.constant(0)])

    f(tf.constant(1))


def under_tape(v: tf.Variable, change: Change) -> None:
    with tf.GradientTape():
        change(v)


MODES = [eagerly, traced, as_argument, in_branch, in_loop, under_tape]

# What TensorFlow 2.21 leaves in the variable.
CHANGES: dict[str, tuple[Change, Any]] = {
    "update": (lambda v: v.scatter_update(slices([[10.0, 4], [2, 3]], [2, 0])),
               [[2, 3], [3, 4], [10, 4]]),
    "update, repeated": (lambda v: v.scatter_update(slices([[10.0, 4], [2, 3]], [0, 0])),
                         [[2, 3], [3, 4], [5, 6]]),
    "add": (lambda v: v.scatter_add(slices([[10.0, 4], [2, 3]], [0, 0])),
            [[13, 9], [3, 4], [5, 6]]),
    "sub": (lambda v: v.scatter_sub(slices([[10.0, 4], [2, 3]], [0, 0])),
            [[-11, -5], [3, 4], [5, 6]]),
    "mul": (lambda v: v.scatter_mul(slices([[10.0, 4], [2, 3]], [0, 0])),
            [[20, 24], [3, 4], [5, 6]]),
    "div": (lambda v: v.scatter_div(slices([[10.0, 4], [2, 3]], [2, 0])),
            [[0.5, 2 / 3], [3, 4], [0.5, 1.5]]),
    "min": (lambda v: v.scatter_min(slices([[10.0, 4], [2, 3]], [2, 0])),
            [[1, 2], [3, 4], [5, 4]]),
    "max": (lambda v: v.scatter_max(slices([[10.0, 4], [2, 3]], [0, 0])),
            [[10, 4], [3, 4], [5, 6]]),
    "scalar update": (lambda v: v.scatter_add(slices(1.0, [0, 2])), [[2, 3], [3, 4], [6, 7]]),
    "scalar index": (lambda v: v.scatter_add(slices([1.0, 2.0], 1)), [[1, 2], [4, 6], [5, 6]]),
    "no rows": (lambda v: v.scatter_add(tf.IndexedSlices(tf.zeros([0, 2]), tf.zeros([0], "int64"))),
                START),
    "nd update": (lambda v: v.scatter_nd_update([[0, 1], [2, 0]], [10.0, 20.0]),
                  [[1, 10], [3, 4], [20, 6]]),
    "nd add": (lambda v: v.scatter_nd_add([[0, 1], [0, 1]], [10.0, 20.0]),
               [[1, 32], [3, 4], [5, 6]]),
    "nd sub": (lambda v: v.scatter_nd_sub([[0]], [[10.0, 20.0]]), [[-9, -18], [3, 4], [5, 6]]),
    "nd min": (lambda v: v.scatter_nd_min([[0]], [[10.0, 0.0]]), [[1, 0], [3, 4], [5, 6]]),
    "nd max": (lambda v: v.scatter_nd_max([[0]], [[10.0, 0.0]]), [[10, 2], [3, 4], [5, 6]]),
    "nd all": (lambda v: v.scatter_nd_update(tf.zeros([2, 0], tf.int32), [-START, START * 2]),
               START * 2),
    "batch": (lambda v: v.batch_scatter_update(slices([[10.0], [20], [30]], [[1], [0], [1]])),
              [[1, 10], [20, 4], [5, 30]]),
    "slice": (lambda v: v[1:].assign([[7.0, 8], [9, 10]]), [[1, 2], [7, 8], [9, 10]]),
    "slice of a number": (lambda v: v[1:].assign(9.0), [[1, 2], [9, 9], [9, 9]]),
    "slice of a row": (lambda v: v[1:].assign([7.0, 8.0]), [[1, 2], [7, 8], [7, 8]]),
    "slice of a column": (lambda v: v[1:].assign([[7.0], [8.0]]), [[1, 2], [7, 7], [8, 8]]),
    "slice past the end": (lambda v: v[1:9].assign(np.ones((2, 2))), [[1, 2], [1, 1], [1, 1]]),
    "element": (lambda v: v[0, 1].assign(9.0), [[1, 9], [3, 4], [5, 6]]),
    "negative": (lambda v: v[-1, -1].assign(9.0), [[1, 2], [3, 4], [5, 9]]),
    "new axis": (lambda v: v[tf.newaxis, 0].assign([[9.0, 8.0]]), [[9, 8], [3, 4], [5, 6]]),
    "ellipsis": (lambda v: v[..., 0].assign([9.0, 9, 8]), [[9, 2], [9, 4], [8, 6]]),
    "backwards": (lambda v: v[::-1].assign([[1.0, 1], [2, 2], [3, 3]]), [[3, 3], [2, 2], [1, 1]]),
    "tensor index": (lambda v: v[tf.constant(2) - 1, : tf.constant(1)].assign([9.0]),
                     [[1, 2], [9, 4], [5, 6]]),
    "slice add": (lambda v: v[1:].assign_add([[1.0, 2], [3, 4]]), [[1, 2], [4, 6], [8, 10]]),
    "slice sub": (lambda v: v[:, 1].assign_sub(1.0), [[1, 1], [3, 3], [5, 5]]),
    "empty slice": (lambda v: v[3:].assign(9.0), START),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("label", CHANGES)
@pytest.mark.parametrize("shape", [[3, 2], [None, 2], None])
def test_changes(label: str, mode: Callable[..., None], shape: Any) -> None:
    change, expected = CHANGES[label]
    v = tf.Variable(START, shape=tf.TensorShape(shape))
    before = v.value()
    mode(v, change)
    np.testing.assert_allclose(v.numpy(), expected, 1e-6)
    assert before.numpy().tolist() == START.tolist()


@pytest.mark.parametrize("label", CHANGES)
def test_changes_return_the_variable(label: str) -> None:
    v = tf.Variable(START)
    assert CHANGES[label][0](v) is v
    f = tf.function(lambda: CHANGES[label][0](w) + 1.0)
    w = tf.Variable(START)
    np.testing.assert_allclose(f().numpy(), np.array(CHANGES[label][1]) + 1, 1e-6)


def test_large_variables_change_in_place_unless_somebody_holds_the_value() -> None:
    v = tf.Variable(np.zeros((4000, 3), np.float32))
    cell = v.handle._value
    buffer = cell.data
    v.scatter_add(slices([[1.0, 2, 3]], [7]))
    v[8].assign([4.0, 5, 6])
    v.scatter_nd_sub([[9, 0]], [1.0])
    v.assign_add(np.ones((4000, 3)))
    assert cell.data is buffer
    assert v.sparse_read([7, 8, 9]).numpy().tolist() == [[2, 3, 4], [5, 6, 7], [0, 1, 1]]
    assert cell.data is buffer
    held = v.value()
    v[0].assign(9.0)
    assert held[0].numpy().tolist() == [1, 1, 1]
    assert cell.data is not buffer


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8", "uint16", "int64"])
def test_dtypes(dtype: str) -> None:
    v = tf.Variable(tf.cast([6, 8, 9], dtype))
    for kind in ("add", "sub", "mul", "div", "min", "max", "update"):
        getattr(v, f"scatter_{kind}")(tf.IndexedSlices(tf.cast([2, 3], dtype), [0, 2]))
    v[1].assign_add(1)
    v[1:2].assign_sub([2])
    assert tf.cast(v, tf.int32).numpy().tolist() == [2, 7, 3]
    assert v.value().dtype == dtype


def test_integers_divide_towards_zero() -> None:
    v = tf.Variable([7, -7, 2**31 - 1])
    v.scatter_div(slices([2, 2, 3], [0, 1, 1]))
    assert v.numpy().tolist() == [3, -1, 2**31 - 1]
    big = tf.Variable([2**62 + 1], dtype=tf.int64)
    assert big.scatter_div(tf.IndexedSlices(tf.constant(1, tf.int64), [0])).numpy() == 2**62 + 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="scatter_div.*zero"):
        v.scatter_div(slices([1, 0], [0, 1]))
    assert v.numpy().tolist() == [3, -1, 2**31 - 1]


def test_strings_and_bools() -> None:
    s = tf.Variable(["a", "b", "c"])
    s.scatter_update(slices(["x"], [0]))
    s.scatter_nd_update([[1]], ["y"])
    s[2].assign("z")
    assert s.numpy().tolist() == [b"x", b"y", b"z"]
    s.scatter_update(tf.IndexedSlices("w", 1))
    assert s.numpy().tolist() == [b"x", b"w", b"z"]
    b = tf.Variable([True, False])
    b[1:].assign([True])
    assert b.numpy().all()


BAD: dict[str, tuple[Change, Any, str]] = {
    "rows": (lambda v: v.scatter_add(slices([1.0, 2.0], [0, 2])), ValueError,
             r"scatter_add: updates must be a scalar or have shape \(2, 2\).*got \(2,\)"),
    "range": (lambda v: v.scatter_add(slices([[1.0, 2.0]], [3])), tf.errors.InvalidArgumentError,
              r"index 3 is out of range; indices must be in \[0, 3\)"),
    "negative": (lambda v: v.scatter_max(slices([[1.0, 2.0]], [-1])),
                 tf.errors.InvalidArgumentError, "scatter_max: index -1"),
    "nd range": (lambda v: v.scatter_nd_add([[5]], [[1.0, 2.0]]), tf.errors.InvalidArgumentError,
                 r"scatter_nd_add: indices\[0\] = \[5\]"),
    "nd shape": (lambda v: v.scatter_nd_update([[0]], [1.0]), ValueError,
                 r"updates must have shape \(1, 2\)"),
    "no slices": (lambda v: v.scatter_add([1.0]), TypeError, "must be a tf.IndexedSlices, got"),
    "batch no slices": (lambda v: v.batch_scatter_update(1.0), TypeError, "tf.IndexedSlices, got"),
    "batch scalar": (lambda v: v.batch_scatter_update(slices(1.0, 0)), ValueError, "rank of at"),
    "dtype": (lambda v: v.scatter_add(slices([[1, 2]], [0])), ValueError, "float32.*int32"),
    "slice dtype": (lambda v: v[0].assign(tf.constant([1, 2])), ValueError, "float32.*int32"),
    "slice shape": (lambda v: v[1:].assign([[7.0, 8.0, 9.0]]), ValueError,
                    r"value of shape \(1, 3\) does not fit .* shape \(2, 2\)"),
    "slice rank": (lambda v: v[0].assign([[7.0, 8.0]]), ValueError, "does not fit"),
    "slice range": (lambda v: v[3].assign([7.0, 8.0]), ValueError, "index 3 is out of range"),
    "read range": (lambda v: v.sparse_read([3]), tf.errors.InvalidArgumentError, "index 3"),
    "nd read range": (lambda v: v.gather_nd([[0, 2]]), tf.errors.InvalidArgumentError, r"\[0, 2\]"),
}  # fmt: skip


# In a graph a read whose result nobody uses is dropped, so it cannot fail.
BAD_IN_MODES = [
    (label, mode)
    for label in BAD
    for mode in (eagerly, traced, in_loop)
    if mode is eagerly or "read" not in label
]


@pytest.mark.parametrize(("label", "mode"), BAD_IN_MODES)
@pytest.mark.parametrize("shape", [[3, 2], None])
def test_errors_leave_the_variable_alone(label: str, mode: Any, shape: Any) -> None:
    change, error, text = BAD[label]
    v = tf.Variable(START, shape=tf.TensorShape(shape))
    with pytest.raises(error, match=text):
        mode(v, change)
    assert v.numpy().tolist() == START.tolist()


def test_scalars_have_no_rows() -> None:
    with pytest.raises(ValueError, match="at least one axis"):
        tf.Variable(1.0).scatter_add(slices([1.0], [0]))


def test_only_slices_of_variables_can_be_assigned() -> None:
    v = tf.Variable(START)
    assert not hasattr(tf.constant([1.0]), "assign")
    assert not hasattr(v[0] + 1.0, "assign")
    assert not hasattr(v[tf.constant([True, False, True])], "assign")
    with pytest.raises(AttributeError, match=r"only variables, and slices of them"):
        tf.constant([1.0]).assign([2.0])

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        assert not hasattr(x, "assign")
        with pytest.raises(AttributeError, match=r"v\[1:3\]\.assign_add"):
            x.assign_add(1.0)
        return x

    f(tf.constant(1.0))


def test_slices_are_ordinary_tensors() -> None:
    v = tf.Variable(START)
    with tf.GradientTape() as tape:
        part = v[1:]
        y = tf.reduce_sum(part * part)
    assert tape.gradient(y, v).numpy().tolist() == [[0, 0], [6, 8], [10, 12]]
    part.assign(0.0)
    assert part.numpy().tolist() == [[3, 4], [5, 6]]

    @tf.function
    def f(i: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            y = v[i] * 2.0
            v[i].assign(y)
        return v[i], tape.gradient(y, v)

    value, gradient = f(tf.constant(0))
    assert value.numpy().tolist() == [2, 4]
    assert gradient.numpy().tolist() == [[2, 2], [0, 0], [0, 0]]


def test_an_index_is_taken_when_the_slice_is() -> None:
    v, i = tf.Variable([1, 2, 3]), tf.Variable(0)
    part = v[i]
    i.assign(2)
    part.assign(9)
    assert v.numpy().tolist() == [9, 2, 3]


def test_reading_parts() -> None:
    v = tf.Variable(START)

    def read(i: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            rows = v.sparse_read(i)
            elements = v.gather_nd([[0, 1], [2, 0]])
            thrice = elements * 3.0
        assert [w is v for w in tape.watched_variables()] == [True]
        return rows, elements, tape.gradient(rows, v), tape.gradient(thrice, v)

    f = tf.function(read, input_signature=[tf.TensorSpec([None], tf.int32)])
    for run in (read, f):
        rows, elements, by_rows, by_elements = run(tf.constant([2, 0, 2]))
        assert rows.numpy().tolist() == [[5, 6], [1, 2], [5, 6]]
        assert elements.numpy().tolist() == [2, 5]
        assert tf.convert_to_tensor(by_rows).numpy().tolist() == [[1, 1], [0, 0], [2, 2]]
        assert by_elements.numpy().tolist() == [[0, 3], [0, 0], [3, 0]]
    whole = v.gather_nd(np.zeros((1, 0), np.int32))
    v.assign(START * 0)
    assert whole.numpy().tolist() == [START.tolist()]


def test_reads_and_changes_keep_program_order() -> None:
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def f() -> Any:
        a = v.sparse_read([0])
        v.scatter_add(slices([10.0], [0]))
        b = v.sparse_read([0])
        v[0].assign(5.0)
        return a, b, v.sparse_read([0]), v.value()

    assert [t.numpy().tolist() for t in f()] == [[1], [11], [5], [5, 2, 3]]


def test_changes_are_atomic() -> None:
    v = tf.Variable(np.zeros((100, 20), np.float32))

    def work(_: int) -> None:
        for _ in range(200):
            v.scatter_add(slices([[1.0] * 20], [3]))
            v[4].assign_add(1.0)

    in_threads(work)
    assert v.numpy()[3].tolist() == v.numpy()[4].tolist() == [800] * 20
