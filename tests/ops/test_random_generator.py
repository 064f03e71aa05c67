"""`tf.random.Generator`: numbers recorded from TensorFlow, states, graphs, copies."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.execution import reference
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.passes import optimize
from weft._src.graph.tracing import trace
from weft._src.graph.verify import verify

Generator = tf.random.Generator


def seven() -> Any:
    return Generator.from_seed(7)


def test_numbers() -> None:
    assert seven().uniform([2]).numpy().tolist() == [0.399328351020813, 0.7840713262557983]
    assert seven().uniform([2], 0, 10, tf.int32).numpy().tolist() == [5, 5]
    assert seven().uniform([2], None, None, tf.int32).numpy().tolist() == [-1464656591, 182738035]
    full = seven().uniform_full_int([2])
    assert full.dtype is tf.uint64
    assert full.numpy().tolist() == [784853886890614065, 8349095772848317176]
    scaled = seven().uniform([2], [0.0, 1], [3.0, 5]).numpy().tolist()
    assert scaled == [1.197985053062439, 4.136285305023193]
    assert seven().normal([2], dtype=tf.bfloat16).numpy().tolist() == [-1.3203125, 0.287109375]
    assert np.allclose(seven().truncated_normal([2]), [-1.3240396, 0.28785667], rtol=5e-7)


@pytest.mark.parametrize(
    ("make", "state"),
    [
        (lambda: Generator.from_seed([1, 2]), [0, 1, 2]),
        (lambda: Generator.from_seed(-1), [-1, -1, -1]),
        (lambda: Generator.from_seed(tf.constant([5, 6])), [0, 5, 6]),
        (lambda: Generator.from_state([1, 2, 3], "philox"), [1, 2, 3]),
        (lambda: Generator.from_state(Generator.from_seed(3).state, "philox"), [3, 0, 0]),
        (lambda: Generator.from_key_counter(2**64 - 1, [1, 2], "philox"), [1, 2, -1]),
        (lambda: Generator(copy_from=Generator.from_seed(4)), [4, 0, 0]),
        (lambda: seven().split(2)[1], [0, 0, 8349095772848317176]),
    ],
)
def test_states(make: Any, state: list[int]) -> None:
    assert make().state.numpy().tolist() == state


def test_every_number_moves_the_counter_by_256() -> None:
    g = seven()
    g.normal([2, 3])
    g.uniform([4], 0, 9, tf.int64)
    assert g.state.numpy().tolist() == [7 + 256 * 10, 0, 0]
    assert g.skip(-10).numpy().tolist() == [7 + 256 * 10, 0, 0]
    assert g.state.numpy().tolist() == [7, 0, 0]
    assert g.make_seeds(2).numpy().tolist() == [[784853886890614065, 8349095772848317176], [0, 0]]
    g.reset_from_key_counter(1, [2, 3])
    assert g.state.numpy().tolist() == [2, 3, 1]
    assert int(g.key) == 1
    g.reset_from_seed(7)
    assert g.state.numpy().tolist() == [7, 0, 0]
    g.reset([1, 2, 3])
    assert g.state.numpy().tolist() == [1, 2, 3]
    assert (g.algorithm, Generator.from_seed(1, "auto_select").algorithm) == (1, 3)


@pytest.mark.parametrize("tier", ["reference", "numpy", "optimised"])
def test_a_graph_goes_on_with_the_generator_it_captured(tier: str) -> None:
    g = seven()

    def draw(shape: Any) -> Any:
        x = g.uniform(shape)
        return x, g.state, g.key, g.make_seeds(shape[0])

    graph = trace(draw, [tf.TensorSpec([None], tf.int32)])
    verify(graph)
    values = [np.array([2], np.int32), *[t._value for t, _ in graph.captures]]
    assert len(graph.captures) == 1
    plan = NumpyPlan(optimize(graph) if tier == "optimised" else graph)
    run = (lambda *v: reference.run(graph, v)) if tier == "reference" else plan
    twin = seven()
    for _ in range(2):
        for got, want in zip(run(*values), _eager(twin), strict=True):
            assert got.tolist() == want.numpy().tolist()
    assert g.state.numpy().tolist() == twin.state.numpy().tolist()


def _eager(g: Any) -> Any:
    return g.uniform([2]), g.state, g.key, g.make_seeds(2)


def test_a_graph_can_reset_a_generator() -> None:
    g = seven()

    def restart(seed: Any) -> Any:
        g.reset_from_seed(seed)
        return g.uniform([2])

    graph = trace(restart, [tf.TensorSpec([2], tf.int32)])
    values = [np.array([5, 6], np.int32), *[t._value for t, _ in graph.captures]]
    want = Generator.from_seed([5, 6]).uniform([2]).numpy().tolist()
    for run in (lambda *v: reference.run(graph, v), NumpyPlan(graph), NumpyPlan(optimize(graph))):
        assert run(*values)[0].tolist() == want


def test_set_seed_does_not_touch_generators() -> None:
    g = seven()
    g.uniform([1])
    tf.random.set_seed(3)
    assert g.state.numpy().tolist() == [263, 0, 0]
    tf.random.set_seed(None)


def test_copies_have_states_of_their_own() -> None:
    g = seven()
    for twin in (copy.copy(g), copy.deepcopy(g), pickle.loads(pickle.dumps(g))):
        twin.uniform([1])
        assert g.state.numpy().tolist() == [7, 0, 0]
        assert twin.state.numpy().tolist() == [263, 0, 0]


def test_the_global_generator() -> None:
    g = seven()
    tf.random.set_global_generator(g)
    assert tf.random.get_global_generator() is g
    with pytest.raises(TypeError, match=r"takes a tf\.random\.Generator, got 3"):
        tf.random.set_global_generator(3)  # type: ignore[arg-type]


def test_generators_are_made_outside_of_graphs() -> None:
    g = seven()
    for make in (seven, lambda: g.split(1)[0]):
        with pytest.raises(ValueError, match="inside of a traced function"):
            trace(lambda make=make: make().uniform([1]), [])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Generator(), ValueError, "give state and alg"),
        (lambda: Generator.from_state([1, 2], "philox"), ValueError, r"\(3,\), got \(2,\)"),
        (lambda: Generator.from_key_counter(5, [1], "philox"), ValueError, "counter must have"),
        (lambda: Generator.from_seed(7, "threefry"), NotImplementedError, "ThreeFry"),
        (lambda: Generator.from_seed(7, "foo"), ValueError, "got 'foo'"),
        (lambda: Generator.from_seed("a"), ValueError, "seed must be an integer"),
        (lambda: seven().reset([1, 2]), ValueError, r"\(3,\), got \(2,\)"),
        (lambda: seven().skip([1, 2]), tf.errors.ShapeError, "delta must have rank 0"),
        (lambda: seven().uniform([2], dtype=tf.int32), ValueError, "minval=0 and maxval=None"),
        (lambda: seven().uniform_full_int([2], tf.int8), TypeError, "got int8"),
        (lambda: seven().binomial([2], 3.0, 0.5, tf.uint8), TypeError, "binomial: dtype must be"),
        (lambda: seven().make_seeds(-1), tf.errors.InvalidArgumentError, "negative"),
    ],
)
def test_errors(call: Any, error: type[BaseException], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_the_state_is_a_variable() -> None:
    g = tf.random.Generator.from_seed(7)
    assert isinstance(g.state, tf.Variable)
    assert (g.state.dtype, g.state.shape, g.state.trainable) == (tf.int64, (3,), False)
    first = g.normal([5]).numpy()
    g.state.assign([7, 0, 0])
    np.testing.assert_array_equal(g.normal([5]), first)
    module = tf.Module()
    module.generator_state = g.state
    assert [id(v) for v in module.variables] == [id(g.state)]
    shared = tf.random.Generator.from_state(g.state, "philox")
    assert shared.state is g.state
    copied = tf.random.Generator.from_state(g.state.read_value(), "philox")
    copied.skip(1)
    np.testing.assert_array_equal(shared.normal([5]), g_after(first))
    assert copy.copy(g).state is not g.state


def g_after(first: Any) -> Any:
    g = tf.random.Generator.from_seed(7)
    np.testing.assert_array_equal(g.normal([5]), first)
    return g.normal([5])


@pytest.mark.parametrize("jit", [None, True])
def test_a_state_that_is_set_and_read_while_a_function_draws(jit: bool | None) -> None:
    g = tf.random.Generator.from_seed(7)
    eager = tf.random.Generator.from_seed(7)

    def draw(g: tf.random.Generator, x: tf.Tensor) -> Any:
        a = g.uniform([4]) * x
        before = g.state.read_value()
        g.reset_from_seed(9)
        return a, before, g.uniform([4]) + x, g.state.read_value()

    f = tf.function(lambda x: draw(g, x), jit_compile=jit)
    for k in range(3):
        x = tf.constant(float(k))
        for found, wanted in zip(f(x), draw(eager, x), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-6)
