"""What loops save for their gradients, and how much work the gradients do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.autodiff.bodies import differentiable
from weft._src.autodiff.loops import LoopBody
from weft._src.core.stack import Stack
from weft._src.execution import reference
from weft._src.graph.passes import optimize


def loop_body(f: Callable[..., Any], *specs: tf.TensorSpec, repeatedly: bool = False) -> LoopBody:
    """What is known of the gradient of the one loop in a function."""
    graph = optimize(tf.function(f).get_concrete_function(*specs).graph)
    (loop,) = [node for node in graph.nodes if node.op.name == "While"]
    return differentiable(loop.attrs["body"], LoopBody, repeatedly=repeatedly)


def saved(f: Callable[..., Any], *specs: tf.TensorSpec) -> list[str]:
    """The ops whose results are pushed in every iteration."""
    return sorted(t.node.op.name for t in loop_body(f, *specs).pushed)


def saved_bytes(f: Callable[..., Any], *specs: tf.TensorSpec) -> int:
    pushed = loop_body(f, *specs).pushed
    return sum(math.prod(t.shape.as_list()) * t.dtype.size for t in pushed)


MATRIX = tf.TensorSpec([5, 7], tf.float32)
SQUARE = tf.TensorSpec([7, 7], tf.float32)
COUNT = tf.TensorSpec([], tf.int32)
UNKNOWN = tf.TensorSpec([None, 7], tf.float32)


def test_only_what_the_gradient_reads() -> None:
    def f(x: Any, n: Any) -> Any:
        for _ in tf.range(n):
            x = 3.0 * x + 1.0
        return x

    assert saved(f, MATRIX, COUNT) == []


def test_cheap_values_are_computed_again() -> None:
    def f(x: Any, n: Any) -> Any:
        for _ in tf.range(n):
            x = tf.sin(x) * tf.exp(x) + tf.square(x) / (1.0 + tf.abs(x))
        return x

    assert saved(f, MATRIX, COUNT) == ["Placeholder"]
    assert saved_bytes(f, MATRIX, COUNT) == 5 * 7 * 4


def test_the_narrowest_place_is_saved() -> None:
    def f(x: Any, n: Any) -> Any:
        for _ in tf.range(n):
            row = tf.reduce_sum(x, 0)  # one row instead of all of them
            x = x + tf.sin(row) * tf.cos(row)
        return x

    assert saved(f, MATRIX, COUNT) == ["Sum"]
    assert saved_bytes(f, MATRIX, COUNT) == 7 * 4


def test_products_of_matrices_are_not_computed_again() -> None:
    def f(x: Any, w: Any, n: Any) -> Any:
        for _ in tf.range(n):
            x = tf.tanh(x @ w)
        return x

    assert saved(f, MATRIX, SQUARE, COUNT) == ["Placeholder", "Tanh"]


def test_invariants_are_not_pushed() -> None:
    def f(x: Any, w: Any, n: Any) -> Any:
        for _ in tf.range(n):
            inner = tf.exp(w) @ w  # the same in every iteration, and expensive
            x = x @ inner
        return x

    body = loop_body(f, MATRIX, SQUARE, COUNT)
    assert [t.node.op.name for t in body.pushed] == ["Placeholder"]
    assert [t.node.op.name for t in body.once] == ["MatMul"]

    def passed_on(x: Any, w: Any, n: Any) -> Any:
        return tf.while_loop(
            lambda i, x, w: i < n, lambda i, x, w: (i + 1, x * tf.sin(w), w), (0, x, w)
        )[1]

    assert saved(passed_on, SQUARE, SQUARE, COUNT) == ["Placeholder"]


def test_sizes_are_saved_instead_of_values() -> None:
    def f(x: Any, n: Any) -> Any:
        s = tf.zeros([7])
        for _ in tf.range(n):
            x = tf.concat([x, x], 0)
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None, 7]))]
            )
            s += tf.reduce_sum(x, 0)
        return s

    pushed = loop_body(f, UNKNOWN, COUNT).pushed
    assert pushed
    assert all(t.dtype is tf.int32 for t in pushed)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_values_once_and_again_to_any_order(order: int) -> None:
    w = tf.constant([[0.3, -0.2], [0.5, 0.1]], tf.float64)

    def f(x: Any, w: Any, n: Any) -> Any:
        for _ in tf.range(n):
            x = tf.sin(x @ (tf.exp(w) @ w)) * tf.cos(x) + x
        return tf.reduce_sum(x)

    traced = tf.function(f)
    x = tf.constant([[0.2, 0.7]], tf.float64)
    for n in (0, 1, 3):
        tf.testing.check_grads(
            lambda x, w, n=n: traced(x, w, tf.constant(n)), [x.numpy(), w.numpy()], order=order
        )


# --- work ----------------------------------------------------------------------------------------


def of_array(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True).unstack(x)
    s = tf.zeros([3])
    for i in tf.range(1, tf.shape(x)[0]):
        s = tf.sin(s) + array.read(i) * array.read(i - 1)
    return s


def of_rows(x: Any) -> Any:
    s = tf.zeros([3])
    for i in tf.range(1, tf.shape(x)[0]):
        s = tf.sin(s) + x[i] * x[i - 1]
    return s


def of_gathered(x: Any) -> Any:
    s = tf.zeros([3])
    for i in tf.range(1, tf.shape(x)[0]):
        s = tf.sin(s) + tf.reduce_sum(tf.gather(x, [i, i - 1, i]), 0)
    return s


def recurrent(x: Any) -> Any:
    n = tf.shape(x)[0]
    array = tf.TensorArray(tf.float32, n, clear_after_read=False, element_shape=[3])
    array = array.write(0, x[0])
    for i in tf.range(1, n):
        array = array.write(i, tf.sin(array.read(i - 1)) + x[i])
    return array.stack()


def grown(x: Any) -> Any:
    rows = []
    for row in x:
        rows.append(tf.sin(row))  # noqa: PERF401 - that is what is tested
    return tf.stack(rows)


def mapped(x: Any) -> Any:
    return tf.map_fn(lambda row: tf.sin(row) * row, x)


def scanned(x: Any) -> Any:
    return tf.scan(lambda a, row: tf.sin(a) + row, x)


def elements_made(f: Callable[..., Any], n: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many numbers the nodes of the gradient's graph compute; a stack counts what it copies."""

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(f(x))
        return tf.convert_to_tensor(tape.gradient(y, x))

    made = 0
    run_node = reference.run_node
    zeros = np.zeros

    def counting(node: Any, arguments: Any) -> Any:
        nonlocal made
        results = run_node(node, arguments)
        if not list(node.nested):
            fresh = [r for r in results if not isinstance(r, Stack) and r.base is None]
            made += sum(r.size for r in fresh)
        return results

    def counting_zeros(shape: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal made
        made += math.prod(shape) if isinstance(shape, tuple) else int(shape)
        return zeros(shape, *args, **kwargs)

    graph = optimize(gradient.get_concrete_function().graph)
    with monkeypatch.context() as patched:
        patched.setattr(reference, "run_node", counting)
        patched.setattr(np, "zeros", counting_zeros)
        (found,) = reference.run(graph, [np.ones((n, 3), np.float32) * 0.1])
    assert found.shape == (n, 3)
    return made


@pytest.mark.parametrize(
    "f",
    [of_array, of_rows, of_gathered, recurrent, grown, mapped, scanned],
    ids=lambda f: f.__name__,
)
def test_work_grows_with_the_number_of_iterations(
    f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (elements_made(f, n, monkeypatch) for n in (50, 400))
    assert many < 10 * few  # 8 times as many iterations; growing with the square it would be 64


def test_rows_read_one_by_one_eagerly() -> None:
    x = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = sum(tf.reduce_sum(x[i] * x[i - 1]) for i in range(4))
    rows = x.numpy()
    expected = np.roll(rows, 1, 0) + np.roll(rows, -1, 0)
    np.testing.assert_allclose(tape.gradient(y, x), expected)


def test_no_element_read() -> None:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            array = tf.TensorArray(tf.float32, 0, dynamic_size=True).unstack(x)
            s = tf.reduce_sum(x[0])
            for i in tf.range(n):
                s += tf.reduce_sum(array.read(i)) + tf.reduce_sum(tf.gather(x, i))
        return tape.gradient(s, x)

    for n in (0, 1, 2):
        expected = np.zeros((4, 3))
        expected[:n] = 2
        expected[0] += 1
        np.testing.assert_array_equal(f(tf.ones([4, 3]), tf.constant(n)), expected)
