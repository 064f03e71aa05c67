"""Growing stacks as machine code: TensorArrays, gradients of loops, scan and map_fn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check, check_program, compile_native

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)


def test_tensor_arrays() -> None:
    def function(x: Any) -> Any:
        squares = tf.TensorArray(tf.float32, 4)
        for i in tf.range(4):
            squares = squares.write(i, x[i] * x[i])
        last = squares.read(3)
        return squares.stack(), last, squares.gather([2, 0]), squares.concat()

    check_program(function, X)


def test_a_stack_that_grows() -> None:
    def function(n: Any, x: Any) -> Any:
        items = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        i = tf.constant(0)
        while i < n:
            items = items.write(i, x * tf.cast(i, tf.float32))
            i += 1
        return items.size(), items.read(n - 1)

    compiled, _ = compile_native(tf.autograph.to_graph(function), np.int32(3), X[0])
    for n in (1, 3, 100, 5000):  # larger than what was reserved at first
        size, last = compiled(np.array(n, np.int32), X[0])
        assert size == n
        np.testing.assert_array_equal(last, X[0] * np.float32(n - 1))
    assert compiled(np.array(0, np.int32), X[0]) is None  # there is no element -1


def test_reading_what_is_not_there_is_refused() -> None:
    def function(i: Any) -> Any:
        items = tf.TensorArray(tf.float32, 3).unstack([1.0, 2.0, 3.0])
        return items.read(i)

    compiled, _ = compile_native(function, np.int32(0))
    assert [compiled(np.array(i, np.int32))[0] for i in range(3)] == [1.0, 2.0, 3.0]
    assert compiled(np.array(3, np.int32)) is None
    assert compiled(np.array(-1, np.int32)) is None


def _gradient(loop: Any) -> Any:
    def function(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = loop(x, w)
        return [y, *tape.gradient(y, [x, w])]

    return function


def _newton(x: Any, w: Any) -> Any:
    _, out = tf.while_loop(
        lambda i, y: i < 6,
        lambda i, y: (i + 1, y - (y * y - x) / (2.0 * y) * w),
        (0, tf.ones_like(x)),
    )
    return tf.reduce_sum(out)


def _rnn(x: Any, w: Any) -> Any:
    """Every hidden state is read again by the gradient."""
    _, h = tf.while_loop(
        lambda i, h: i < 4, lambda i, h: (i + 1, tf.tanh(h @ w + x)), (0, tf.zeros([4, 3]))
    )
    return tf.reduce_sum(h * h)


def _data_dependent(x: Any, w: Any) -> Any:
    """The number of iterations is known only at run time."""
    _, y = tf.while_loop(
        lambda i, y: tf.reduce_sum(y) < 40.0, lambda i, y: (i + 1, y * (1.0 + w)), (0, tf.abs(x))
    )
    return tf.reduce_sum(y * y)


def _conditional(x: Any, w: Any) -> Any:
    def body(i: Any, y: Any) -> Any:
        return i + 1, tf.cond(i % 2 == 0, lambda: tf.sin(y) * w, lambda: y * y + x)

    return tf.reduce_sum(tf.while_loop(lambda i, y: i < 5, body, (0, x))[1])


@pytest.mark.parametrize(
    ("loop", "w"),
    [
        (_newton, np.float32(0.9)),
        (_rnn, np.float32([[0.1, 0.2, 0.3], [0.4, -0.5, 0.6], [-0.7, 0.8, 0.9]])),
        (_data_dependent, np.float32(0.5)),
        (_conditional, np.float32(1.1)),
    ],
    ids=lambda p: getattr(p, "__name__", "").strip("_") or "w",
)
def test_gradients_of_loops(loop: Any, w: Any) -> None:
    check(_gradient(loop), np.abs(X) + np.float32(0.5), w, rtol=2e-4, atol=1e-5)


def test_scan_and_map() -> None:
    check(
        lambda x: {
            "map": tf.map_fn(lambda row: tf.reduce_sum(row) * row, x),
            "scan": tf.scan(lambda a, row: a * 0.5 + row, x),
            "scan from": tf.scan(lambda a, row: a + tf.reduce_sum(row), x, initializer=1.0),
            "fold": tf.foldl(lambda a, row: a + row, x),
        },
        X,
        rtol=1e-6,
        atol=1e-6,
    )


def test_two_stacks_in_one_loop() -> None:
    def function(x: Any) -> Any:
        evens, odds = tf.TensorArray(tf.float32, 4), tf.TensorArray(tf.int32, 4)
        for i in tf.range(4):
            evens = evens.write(3 - i, x[i, 0])
            odds = odds.write(i, 2 * i + 1)
        return evens.stack(), odds.stack()

    check_program(function, X)


def test_calls_do_not_share_stacks() -> None:
    """Memory taken during a call is given back and does not show up in the next."""
    function = tf.autograph.to_graph(lambda x: tf.map_fn(lambda row: row * 2.0, x))
    compiled, values = compile_native(function, X)
    first = compiled(*values)[0].copy()
    for k in range(50):
        np.testing.assert_array_equal(compiled(X * np.float32(k))[0], 2 * X * np.float32(k))
    np.testing.assert_array_equal(compiled(*values)[0], first)
