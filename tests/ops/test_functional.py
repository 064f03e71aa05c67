"""map_fn, scan, foldl, foldr, vectorized_map: eager and traced, known and unknown lengths."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.both_ways import same

X = np.array([1, 2, 3], np.int32)
M = np.arange(12, dtype=np.float32).reshape(3, 4)


def everywhere(f: Any, *arrays: Any) -> Any:
    """The eager result; traced with known and with unknown sizes it must be the same."""
    tensors = [tf.constant(a) for a in arrays]
    eager = f(*tensors)
    same(eager, tf.function(f)(*tensors))
    specs = [tf.TensorSpec([None] * t.ndim, t.dtype) for t in tensors]
    same(eager, tf.function(f, input_signature=specs)(*tensors))
    return eager


def check(f: Any, expected: Any, *arrays: Any) -> None:
    same(everywhere(f, *arrays), expected)


def test_map_fn() -> None:
    check(lambda x: tf.map_fn(lambda v: v * 2, x), X * 2, X)
    check(lambda x: tf.map_fn(lambda row: tf.reduce_sum(row), x), M.sum(1), M)
    check(lambda x: tf.map_fn(lambda row: row[None, :2], x), M[:, None, :2], M)


def test_map_fn_over_nests() -> None:
    Pair = namedtuple("Pair", "a b")
    check(lambda x, y: tf.map_fn(lambda p: (p[1], p[0]), (x, y)), (X + 5, X), X, X + 5)
    check(
        lambda x, y: tf.map_fn(lambda p: p["a"] * p["b"], {"a": x, "b": y}, tf.int32), X * X, X, X
    )
    check(lambda x, y: tf.map_fn(lambda p: Pair(p.a + p.b, p.b), Pair(x, y)), Pair(2 * X, X), X, X)


@pytest.mark.parametrize("argument", ["dtype", "fn_output_signature"])
def test_other_dtypes_and_structures(argument: str) -> None:
    def f(x: Any) -> Any:
        return tf.map_fn(
            lambda v: (tf.cast(v, tf.float32) / 2, {"double": v * 2}),
            x,
            **{argument: (tf.float32, {"double": tf.int32})},
        )

    check(f, (X.astype(np.float32) / 2, {"double": X * 2}), X)


def test_map_fn_with_a_spec_and_no_rows() -> None:
    def f(x: Any) -> Any:
        return tf.map_fn(
            lambda v: tf.stack([v, v]), x, fn_output_signature=tf.TensorSpec([2], tf.float32)
        )

    check(f, np.zeros([0, 2], np.float32), np.zeros([0], np.float32))
    check(f, np.array([[1, 1]], np.float32), np.ones([1], np.float32))


def test_map_fn_of_nothing() -> None:
    v = tf.Variable(0.0)

    def f(row: Any) -> Any:
        v.assign_add(1.0)
        return row[:2] * 2

    for run in (lambda f: f, tf.function):
        assert run(lambda x: tf.map_fn(f, x))(tf.zeros([0, 3])).shape == [0, 2]
    assert v.numpy() == 0
    assert tf.map_fn(lambda row: row if row[0] > 0 else -row, tf.zeros([0, 3])).shape == [0]


def test_static_shapes_are_known() -> None:
    @tf.function(input_signature=[tf.TensorSpec([3, 4]), tf.TensorSpec([None, 4])])
    def f(x: Any, y: Any) -> Any:
        a = tf.map_fn(lambda row: row[:2], x)
        b = tf.map_fn(lambda row: row[:2], y)
        c = tf.scan(lambda s, row: s + row, y)
        assert a.shape == [3, 2]
        assert b.shape.as_list() == [None, 2]
        assert c.shape.as_list() == [None, 4]
        return a, b, c

    f(tf.constant(M), tf.constant(M))


def test_accepted_and_ignored() -> None:
    out = tf.map_fn(
        lambda v: v, X, parallel_iterations=3, back_prop=False, swap_memory=True, infer_shape=False,
        name="some",
    )  # fmt: skip
    np.testing.assert_array_equal(out, X)


def test_effects_happen_row_by_row() -> None:
    v = tf.Variable(0)
    check(lambda x: tf.map_fn(lambda k: v.assign(v * 0 + k) + 0, x), X, X)
    assert v.numpy() == 3


def test_control_flow_in_fn() -> None:
    def one(v: Any) -> Any:
        if v > 1:
            return v * 10
        return v

    def total(a: Any, v: Any) -> Any:
        for i in tf.range(v):
            a += i
        return a

    check(lambda x: tf.map_fn(one, x), np.array([1, 20, 30], np.int32), X)
    check(lambda x: tf.foldl(total, x, 0), np.int32(4), X)
    check(lambda x: tf.scan(total, x, 0), np.array([0, 1, 4], np.int32), X)
    check(lambda x: tf.vectorized_map(one, x), np.array([1, 20, 30], np.int32), X)


def test_nested_maps() -> None:
    check(lambda x: tf.map_fn(lambda row: tf.map_fn(lambda v: v + 1, row), x), M + 1, M)


def test_gradients() -> None:
    def gradient(f: Any) -> Any:
        x = tf.constant(M)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    same(gradient(lambda x: tf.map_fn(lambda row: tf.reduce_sum(row * row), x)), 2 * M)
    same(gradient(lambda x: tf.foldl(lambda a, row: a + row * row, x)), _with_first(2 * M))
    same(gradient(lambda x: tf.vectorized_map(lambda row: row * row, x)), 2 * M)
    weights = np.array([[3.0], [2.0], [1.0]], np.float32)
    same(gradient(lambda x: tf.scan(lambda a, row: a + row, x)), weights + 0 * M)


def _with_first(m: Any) -> Any:
    m = m.copy()
    m[0] = 1
    return m


def test_scan() -> None:
    check(lambda x: tf.scan(lambda a, v: a + v, x), np.cumsum(X), X)
    check(lambda x: tf.scan(lambda a, v: a + v, x, initializer=10), 10 + np.cumsum(X), X)
    check(lambda x: tf.scan(lambda a, v: a + v, x, reverse=True), np.array([6, 5, 3]), X)
    check(lambda x: tf.scan(lambda a, v: a * 10 + v, x, 0, reverse=True), np.array([321, 32, 3]), X)
    check(lambda x: tf.scan(lambda a, row: a + row, x), np.cumsum(M, 0), M)


def test_scan_with_nests() -> None:
    check(
        lambda x: tf.scan(lambda a, v: (a[0] + v, a[1] * 2), x, initializer=(0, 1.0)),
        (np.cumsum(X), np.array([2.0, 4.0, 8.0])),
        X,
    )
    check(
        lambda x, y: tf.scan(lambda a, v: (a[0] + v[1], a[1]), (x, y)),
        (np.array([1, 3, 6]), np.array([1, 1, 1])),
        X,
        X,
    )


def test_scan_of_nothing() -> None:
    check(lambda x: tf.scan(lambda a, v: a + v, x, 1.0), np.zeros([0]), np.zeros([0], np.float32))
    with pytest.raises(tf.errors.OutOfRangeError, match="scan: elems has no rows"):
        tf.scan(lambda a, v: a + v, tf.zeros([0]))


def test_folds() -> None:
    check(lambda x: tf.foldl(lambda a, v: a - v, x), np.int32(-4), X)
    check(lambda x: tf.foldr(lambda a, v: a - v, x), np.int32(0), X)
    check(lambda x: tf.foldl(lambda a, v: a * 10 + v, x, initializer=7), np.int32(7123), X)
    check(lambda x: tf.foldr(lambda a, v: a * 10 + v, x, initializer=7), np.int32(7321), X)
    check(lambda x, y: tf.foldl(lambda a, v: a + v[0] * v[1], (x, y), 0), np.int32(14), X, X)
    check(
        lambda x, y: tf.foldl(lambda a, v: (a[0] + v[0], a[1] * v[1]), (x, y)),
        (np.int32(6), np.int32(6)),
        X,
        X,
    )


def test_folds_of_nothing() -> None:
    nothing = np.zeros([0], np.float32)
    check(lambda x: tf.foldl(lambda a, v: a + v, x, initializer=1.0), np.float32(1), nothing)
    check(lambda x: tf.foldr(lambda a, v: a + v, x, initializer=1.0), np.float32(1), nothing)
    with pytest.raises(tf.errors.OutOfRangeError, match="foldl: elems has no rows"):
        tf.foldl(lambda a, v: a + v, nothing)


def test_vectorized_map() -> None:
    check(lambda x: tf.vectorized_map(lambda v: v * 2, x), X * 2, X)
    check(lambda x: tf.vectorized_map(lambda v: (v, tf.cast(v, tf.float32)), x), (X, X * 1.0), X)
    check(lambda x: tf.vectorized_map(lambda v: 5, x), np.array([5, 5, 5]), X)
    none = tf.zeros([0, 4])
    for run in (lambda f: f, tf.function):
        assert run(lambda x: tf.vectorized_map(lambda v: v[:2], x))(none).shape == [0, 2]
    five = tf.constant([5])
    check(lambda x: tf.vectorized_map(lambda p: p[0] * p[1], (x, five)), X * 5, X)


def test_errors() -> None:
    with pytest.raises(TypeError, match="map_fn: fn must be callable, got 5"):
        tf.map_fn(5, X)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="map_fn: elems must be tensors with at least one axis"):
        tf.map_fn(lambda v: v, [1, 2])
    with pytest.raises(ValueError, match="at least one tensor"):
        tf.map_fn(lambda v: v, [])
    with pytest.raises(ValueError, match=r"one length, got \[2, 3\]"):
        tf.map_fn(lambda v: v, (X, X[:2]))
    for run in (lambda f: f, tf.function):
        with pytest.raises(
            TypeError, match="(?s)fn returned float32 where int32 was expected.*sig"
        ):
            run(lambda x: tf.map_fn(lambda v: tf.cast(v, tf.float32), x))(tf.constant(X))
        with pytest.raises(ValueError, match="map_fn: fn must return the structure"):
            run(lambda x: tf.map_fn(lambda v: (v, v), x))(tf.constant(X))
    with pytest.raises(TypeError, match="must hold dtypes, TensorSpecs"):
        tf.map_fn(lambda v: v, X, fn_output_signature="nonsense")


def test_no_rows_in_a_new_process() -> None:
    code = "import weft as tf; print(tf.map_fn(lambda x: x * 2, tf.zeros([0, 3])).shape)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stdout == "(0, 3)\n"
