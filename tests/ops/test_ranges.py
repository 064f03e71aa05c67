"""range, linspace, eye, sequence_mask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, check_case, f32
from weft._src.graph.tracing import trace

CASES = [
    Case(tf.range, [np.int32(5)], {}, np.arange, label="range(5)"),
    Case(lambda n: tf.range(2, n, 3), [np.int32(12)], {}, lambda n: np.arange(2, n, 3), label="r"),
    Case(lambda n: tf.range(n, 0, -2), [np.int64(5)], {}, lambda n: np.arange(n, 0, -2)),
    Case(
        lambda n: tf.range(1.0, n, 0.25),
        [np.float32(2)],
        {},
        lambda n: np.arange(1, n, 0.25),
        grad=False,
    ),
    *[
        Case(
            lambda x, y, a=a: tf.linspace(x, y, 5, axis=a),
            [f32(2, 3), f32(2, 3)],
            expect=lambda x, y, a=a: np.linspace(x, y, 5, axis=a),
            label=f"linspace {a}",
        )
        for a in (0, 1, 2, -1, -2)
    ],
    Case(
        lambda x, y, n: tf.linspace(x, y, n),
        [f32(3), f32(), np.int32(4)],
        expect=lambda x, y, n: np.linspace(x, y, n),
        label="linspace broadcast",
    ),
    Case(
        lambda x, y: tf.linspace(x, y, 4),
        [f32(), f32()],
        expect=lambda x, y: np.linspace(x, y, 4),
        label="linspace scalars",
    ),
    Case(lambda n: tf.eye(n, 3), [np.int32(2)], expect=lambda n: np.eye(n, 3), label="eye"),
    Case(
        lambda n: tf.eye(2, batch_shape=[n, 3], dtype=tf.int64),
        [np.int32(2)],
        expect=lambda n: np.tile(np.eye(2), [n, 3, 1, 1]),
        label="eye batch",
    ),
    Case(
        tf.sequence_mask,
        [np.array([[1, 3], [2, 0]])],
        {},
        lambda n: np.arange(3) < n[..., None],
        label="sequence_mask",
    ),
    Case(
        lambda n: tf.sequence_mask(n, 2, tf.float32),
        [np.array([1, 3])],
        {},
        lambda n: (np.arange(2) < n[..., None]).astype(np.float32),
        label="sequence_mask to 2",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


def test_dtypes_of_range() -> None:
    wide = tf.constant(3, tf.int64)
    assert tf.range(5).dtype == tf.int32
    assert tf.range(0, 5.0).dtype == tf.float32
    assert tf.range(0, wide).dtype == tf.int64
    assert tf.range(0, 10, delta=wide).dtype == tf.int64
    assert tf.range(tf.constant(0.0), tf.constant(3.0, tf.float64)).dtype == tf.float64
    assert tf.range(tf.constant(3.0, tf.bfloat16)).dtype == tf.bfloat16
    assert tf.range(0, 5, dtype=tf.float64).dtype == tf.float64
    assert tf.range(2**40, 2**40 + 2).numpy().tolist() == [2**40, 2**40 + 1]
    assert tf.range(np.int64(3)).dtype == tf.int64
    assert tf.linspace(0, 1, 5).dtype == tf.float64
    assert tf.eye(2, dtype=tf.bool).numpy().tolist() == [[True, False], [False, True]]


def test_values_are_start_plus_multiples() -> None:
    # 0.1 added nine times would give 0.90000010 in float32.
    assert tf.range(0, 1, 0.1).numpy()[9] == np.float32(0.90000004)
    assert tf.range(0.0, 2.1, 0.3).shape == (7,)
    assert tf.range(0, 0, -1).shape == (0,)
    assert tf.linspace(0.0, 1.0, 1).numpy().tolist() == [0.0]
    assert tf.linspace(0.0, 1.0, 0).shape == (0,)
    assert tf.linspace(0.1, 0.7, 7).numpy()[-1] == np.float32(0.7)
    assert tf.sequence_mask(tf.zeros([0], tf.int32)).shape == (0, 0)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_many_integers(dtype: Any) -> None:
    """Made in blocks, up to the ends of what a dtype holds."""
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    step = (most - least) // 9000
    for start, limit, delta in (
        (0, 4095, 1), (0, 4096, 1), (0, 4097, 1), (5, -20000, -3), (0, 100_000, 7),
        (least, least + 20_000, 1), (most - 9000, most, 1), (most, most - 8193, -1),
        (most, most - 4096, -1), (least, most, step), (least, most - step, step),
        (most - 5, most, 3), (least + 5, least, -3), (7, 7, 1),
    ):  # fmt: skip
        found = tf.range(*[tf.constant(n, dtype) for n in (start, limit, delta)]).numpy()
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, np.array(list(range(start, limit, delta)), dtype))


def test_static_shapes_while_tracing() -> None:
    def shape(fn, *specs):
        return trace(fn, [tf.TensorSpec(*s) for s in specs]).outputs[0].shape

    assert shape(lambda: tf.range(2, 10, 3)) == (3,)
    assert shape(lambda x: tf.range(tf.shape(x)[1]), ([None, 4],)) == (4,)
    assert shape(lambda n: tf.range(n), ([], tf.int32)) == (None,)
    assert shape(lambda: tf.eye(3)) == (3, 3)
    assert shape(
        lambda x: tf.zeros([4, 1]) + tf.cast(tf.range(tf.size(x)), tf.float32), ([2, 3],)
    ) == (4, 6)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.range(5, 0), "range: start must be at most limit.*start 5 and limit 0"),
        (lambda: tf.range(0, 5, -1), "range: start must be at least limit"),
        (lambda: tf.range(0, 5, 0), "range: delta must not be 0"),
        (lambda: tf.eye(-1), "eye: num_rows must not be negative, got -1"),
    ],
)
def test_shape_errors(call, text) -> None:
    with pytest.raises(tf.errors.ShapeError, match=text):
        call()


def test_other_errors() -> None:
    with pytest.raises(tf.errors.DTypeError, match="range: limit has dtype int16, expected one of"):
        tf.range(tf.constant(3, tf.int16))
    with pytest.raises(TypeError, match="int32"):
        tf.range(0, 5.5, 1, dtype=tf.int32)
    with pytest.raises(TypeError, match="linspace: num must be an integer"):
        tf.linspace(0.0, 1.0, 2.5)
    with pytest.raises(TypeError, match="eye: dtype"):
        tf.eye(2, dtype=tf.string)
    with pytest.raises(ValueError, match="sequence_mask: maxlen must be a scalar"):
        tf.sequence_mask([1], [3])


def test_linspace_to_infinity_begins_at_start() -> None:
    got = tf.linspace([1.0, 2.0, 3.0], [np.inf, -np.inf, np.nan], 3).numpy()
    np.testing.assert_array_equal(got[0], [1, 2, 3])
    np.testing.assert_array_equal(got[2], [np.inf, -np.inf, np.nan])
    assert tf.linspace(1.0, np.inf, 1).numpy() == [1]


def test_sizes_of_an_identity_matrix() -> None:
    for size in (-1, tf.constant(-1)):
        with pytest.raises(ValueError, match="eye: num_rows must not be negative, got -1"):
            tf.eye(size)
    for size in (2.5, "a", [2]):
        with pytest.raises(TypeError, match="eye: num_columns must be an integer"):
            tf.eye(2, size)


def test_values_are_known_while_tracing() -> None:
    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        assert tf.get_static_value(tf.range(3)).tolist() == [0, 1, 2]
        assert tf.get_static_value(tf.range(7, 1, -2, dtype=tf.int64) * 10).tolist() == [70, 50, 30]
        assert tf.get_static_value(tf.range(tf.shape(x)[1])) is None
        assert tf.get_static_value(tf.range(tf.rank(x))).tolist() == [0, 1]
        assert tf.transpose(x, tf.range(1, -1, -1)).shape.as_list() == [None, 2]
        return tf.reverse(x, tf.range(x.shape.rank))

    f = tf.function(f.python_function, input_signature=[tf.TensorSpec([2, None])])
    np.testing.assert_array_equal(f(tf.constant([[1.0, 2, 3], [4, 5, 6]])), [[6, 5, 4], [3, 2, 1]])
