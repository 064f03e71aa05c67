"""Stateful random numbers: seeds, streams of eager code and of graphs. Numbers of TensorFlow."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.threads import in_threads
from weft._src.execution import reference
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.ir import Graph
from weft._src.graph.passes import optimize
from weft._src.graph.tracing import trace
from weft._src.graph.verify import verify

LOGITS = np.log(np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]], np.float32))


@pytest.fixture(autouse=True)
def _no_seed_left_behind() -> Iterator[None]:
    tf.random.set_seed(None)
    yield
    tf.random.set_seed(None)


def near(x: Any, expected: list[float]) -> bool:
    want = np.float32(expected)
    return bool(np.all(np.abs(np.asarray(x) - want) <= 4 * np.spacing(np.abs(want))))


def runners(graph: Graph) -> list[Callable[..., Any]]:
    captured = [t._value for t, _ in graph.captures]
    plans = [NumpyPlan(graph), NumpyPlan(optimize(graph))]
    run = [lambda *xs: reference.run(graph, [*xs, *captured])]
    return run + [lambda *xs, plan=plan: plan(*xs, *captured) for plan in plans]


def test_calls_with_one_seed_go_on_with_one_stream() -> None:
    tf.random.set_seed(7)
    first, second = (tf.random.uniform([5], seed=1).numpy() for _ in range(2))
    assert (
        first.tolist()
        == np.float32([0.46037483, 0.9285182, 0.34555566, 0.35096502, 0.32147014]).tolist()
    )
    assert (
        second.tolist()
        == np.float32([0.04523921, 0.9159781, 0.67755115, 0.73266125, 0.5228021]).tolist()
    )
    # Another dtype, and another op, have streams of their own.
    half = tf.random.uniform([2], seed=1, dtype=tf.float16).numpy()
    assert half.tolist() == np.float16([0.3906, 0.421]).tolist()
    integers = [tf.random.uniform([5], 0, 1000, tf.int32, seed=1).numpy().tolist() for _ in "ab"]
    assert integers == [[728, 871, 403, 28, 719], [782, 93, 567, 176, 870]]
    tf.random.set_seed(7)
    assert tf.random.uniform([5], seed=1).numpy().tolist() == first.tolist()


def test_normal_numbers() -> None:
    tf.random.set_seed(7)
    assert near(tf.random.normal([3], seed=1), [-0.5408054, 1.122033, 1.174174])
    assert near(tf.random.normal([3], seed=1), [0.8731191, -1.0898885, 0.44136405])
    truncated = [tf.random.truncated_normal([5], seed=1) for _ in range(2)]
    assert near(truncated[0], [-0.5408054, 1.122033, 1.174174, -0.86401314, 1.0006256])
    assert near(truncated[1], [-1.2534562, -0.8771185, -0.09593531, 1.0515172, -1.3572594])


def test_classes_and_permutations() -> None:
    tf.random.set_seed(7)
    drawn = [tf.random.categorical(LOGITS, 5, seed=1).numpy().tolist() for _ in range(3)]
    assert drawn[0] == [[3, 3, 2, 2, 2], [0, 0, 2, 0, 1]]
    assert drawn[2] == [[1, 3, 2, 3, 3], [0, 2, 0, 2, 0]]
    orders = [tf.random.shuffle(np.arange(10), seed=1).numpy().tolist() for _ in range(3)]
    assert orders[0] == [8, 1, 5, 7, 2, 0, 6, 9, 4, 3]
    assert orders[2] == [7, 4, 5, 2, 3, 8, 6, 1, 0, 9]
    rows = tf.random.shuffle(np.arange(20).reshape(10, 2), seed=1).numpy()
    assert rows[:, 0].tolist() == [6, 18, 16, 4, 10, 2, 14, 0, 8, 12]
    assert tf.random.shuffle(5).numpy() == 5


def test_ops_without_a_seed_take_their_seeds_from_the_global_one() -> None:
    tf.random.set_seed(7)
    a = tf.random.uniform([3]).numpy()
    b = tf.random.normal([3])
    c = tf.random.shuffle(np.arange(10)).numpy()
    assert a.tolist() == np.float32([0.8344538, 0.23336661, 0.8796519]).tolist()
    assert near(b, [-2.2733312, -1.6592104, -0.2633568])
    assert c.tolist() == [8, 0, 3, 7, 9, 4, 1, 5, 6, 2]


def test_a_seed_without_a_global_one_is_reproducible_and_none_at_all_is_not() -> None:
    first = tf.random.uniform([4], seed=3).numpy()
    tf.random.set_seed(87654321)
    assert tf.random.uniform([4], seed=3).numpy().tolist() == first.tolist()
    tf.random.set_seed(None)
    assert tf.random.uniform([4]).numpy().tolist() != tf.random.uniform([4]).numpy().tolist()
    graph = trace(lambda: tf.random.uniform([4]), [])
    run = runners(graph)[1]
    assert run()[0].tolist() != run()[0].tolist()


def _mixed() -> Any:
    return (
        tf.random.uniform([3]),
        tf.random.uniform([3], seed=1),
        tf.random.normal([3]),
        tf.random.uniform([3], seed=1),
        tf.random.shuffle(tf.constant(np.arange(10))),
    )


@pytest.mark.parametrize("tier", [0, 1, 2], ids=["reference", "numpy", "optimised"])
def test_every_node_of_a_graph_has_its_own_stream(tier: int) -> None:
    tf.random.set_seed(7)
    graph = trace(_mixed, [])
    verify(graph)
    run = runners(graph)[tier]
    a, b, c, d, e = run()
    assert a.tolist() == np.float32([0.7537285, 0.0779376, 0.45880914]).tolist()
    assert b.tolist() == np.float32([0.46037483, 0.9285182, 0.34555566]).tolist()
    assert near(c, [-0.5408054, 1.122033, 1.174174])
    assert d.tolist() == b.tolist()
    assert e.tolist() == [5, 0, 4, 6, 7, 8, 2, 3, 9, 1]
    a2, b2, _, _, e2 = run()
    assert a2.tolist() == np.float32([0.79150355, 0.5101167, 0.5416639]).tolist()
    assert b2.tolist() == np.float32([0.37715578, 0.3925041, 0.9030999]).tolist()
    assert e2.tolist() == [3, 6, 7, 4, 9, 2, 8, 1, 5, 0]
    # The streams start again, with the seeds of the time of tracing.
    tf.random.set_seed(9)
    assert run()[0].tolist() == a.tolist()
    fresh = runners(trace(_mixed, []))[tier]
    assert fresh()[0].tolist() == np.float32([0.08012962, 0.52336264, 0.477072]).tolist()


@pytest.mark.parametrize("tier", [0, 1, 2], ids=["reference", "numpy", "optimised"])
def test_shapes_may_be_unknown_while_tracing(tier: int) -> None:
    def draw(x: Any, shape: Any) -> Any:
        return (
            tf.random.uniform(shape, seed=1),
            tf.random.shuffle(x, seed=1),
            tf.random.categorical(x, shape[0], seed=1),
        )

    specs = [tf.TensorSpec(None), tf.TensorSpec([None], tf.int32)]
    tf.random.set_seed(7)
    graph = trace(draw, specs)
    verify(graph)
    x, shape = np.arange(6, dtype=np.float32).reshape(3, 2), np.array([2, 3], np.int32)
    run = runners(graph)[tier]
    tf.random.set_seed(7)
    for _ in range(2):
        for got, want in zip(run(x, shape), draw(tf.constant(x), tf.constant(shape)), strict=True):
            assert got.tolist() == want.numpy().tolist()


def test_a_stream_in_a_loop_moves_on() -> None:
    def draw() -> Any:
        start = (tf.constant(0), tf.zeros([]))
        body = lambda i, total: (i + 1, total + tf.random.uniform([], seed=1))  # noqa: E731
        return tf.while_loop(lambda i, _: i < 3, body, start)[1]

    tf.random.set_seed(7)
    want = float(sum(tf.random.uniform([], seed=1) for _ in range(3)))
    tf.random.set_seed(7)
    for run in runners(trace(draw, [])):
        assert float(run()[0]) == pytest.approx(want)
        tf.random.set_seed(7)


def test_gradients_flow_to_bounds_and_not_to_the_stream() -> None:
    with tf.GradientTape() as tape:
        high = tf.constant(3.0)
        tape.watch(high)
        y = tf.random.uniform([4], 0.0, high, seed=1)
    assert np.allclose(tape.gradient(y, high), np.sum(y.numpy() / 3), rtol=1e-6)


def test_streams_of_a_graph_die_with_it() -> None:
    tf.random.set_seed(7)
    graph = trace(lambda: tf.random.uniform([2]), [])
    cell = weakref.ref(graph.captures[0][0]._value)
    assert cell() is not None
    del graph
    gc.collect()
    assert cell() is None


def test_threads_never_draw_the_same_numbers() -> None:
    tf.random.set_seed(7)
    drawn: list[Any] = []

    def work(_: int) -> None:
        drawn.extend(tf.random.uniform([], seed=1).numpy().item() for _ in range(200))

    in_threads(work)
    tf.random.set_seed(7)
    assert sorted(drawn) == sorted(tf.random.uniform([], seed=1).numpy().item() for _ in range(800))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda r: r.uniform([2], dtype=tf.int32), ValueError, "maxval must be given"),
        (lambda r: r.uniform([2], 0, 5, tf.uint32), ValueError, "got uint32"),
        (lambda r: r.uniform([[3]]), tf.errors.ShapeError, "shape must have rank 1"),
        (lambda r: r.uniform([2.0]), tf.errors.DTypeError, "shape must be int32 or int64"),
        (lambda r: r.uniform([2, -1]), tf.errors.InvalidArgumentError, "negative"),
        (lambda r: r.uniform([2], seed=1.5), TypeError, "seed must be an integer"),
        (lambda r: r.set_seed("a"), TypeError, "set_seed: seed must be an integer"),
        (lambda r: r.normal([2], [0.0, 1.0, 2.0]), tf.errors.ShapeError, r"\(2,\) and \(3,\)"),
        (lambda r: r.categorical([1.0, 2.0], 3), tf.errors.ShapeError, "logits must have rank 2"),
    ],
)
def test_errors(call: Any, error: type[BaseException], text: str) -> None:
    with pytest.raises(error, match=text):
        call(tf.random)


@pytest.mark.parametrize("dtype", [tf.string, tf.bool, tf.int8, tf.uint32])
def test_dtypes_of_uniform_numbers(dtype: tf.DType) -> None:
    with pytest.raises(ValueError, match="dtype must be floating, int32 or int64, got "):
        tf.random.uniform([2], 0, 5, dtype=dtype)
