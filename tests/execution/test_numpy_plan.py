"""The NumPy plan: right answers, few buffers, readable code, errors with the user's line."""

from __future__ import annotations

import gc
import linecache
import traceback
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.execution import reference
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.passes import optimize
from weft._src.graph.tracing import trace
from weft._src.ops.nn.activations import relu_grad_op

V = tf.TensorSpec([None])


def run(fn: object, specs: list[tf.TensorSpec], *arrays: object) -> list[np.ndarray]:
    """The outputs on the plan, after checking them against the reference."""
    graph = trace(fn, specs)  # type: ignore[arg-type]
    values = [np.asarray(a) for a in arrays] + [t._value for t, _ in graph.captures]
    expected = reference.run(graph, values)
    for candidate in (graph, optimize(graph)):
        got = NumpyPlan(candidate)(*values)
        for g, e in zip(got, expected, strict=True):
            assert isinstance(g, np.ndarray)
            np.testing.assert_array_equal(g, e)
    return expected


def code(fn: object, specs: list[tf.TensorSpec]) -> list[str]:
    """The statements of a plan without comments."""
    source = NumpyPlan(optimize(trace(fn, specs))).source  # type: ignore[arg-type]
    return [s.strip() for s in source.splitlines()[2:-1] if not s.strip().startswith("#")]


def test_buffers_of_dead_values_are_reused() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.tanh(tf.exp(x * 2.0) + x)

    assert code(f, [V]) == [
        "mul = np_multiply(x, Const)",
        "Exp = np_exp(mul, out=mul)",
        "del mul",
        "add = np_add(Exp, x, out=Exp)",
        "del Exp",
        "Tanh = np_tanh(add, out=add)",
        "del add",
        "return (Tanh,)",
    ]
    run(f, [V], np.array([1.0, 2.0], np.float32))


def test_kernels_that_take_a_buffer_write_into_dead_values() -> None:
    def f(x: tf.Tensor, g: tf.Tensor) -> tf.Tensor:
        y = tf.nn.relu(x * 2.0)
        return relu_grad_op(g + 1.0, y)

    specs = [tf.TensorSpec([3])] * 2
    assert code(f, specs) == [
        "mul = np_multiply(x, Const)",
        "Relu = k_Relu(xp, mul, out=mul)",
        "del mul",
        "add = np_add(g, Const_1)",
        "ReluGrad = k_ReluGrad(xp, add, Relu, out=add)",
        "del add, Relu",
        "return (ReluGrad,)",
    ]
    run(f, specs, np.array([1.0, -2.0, np.nan], np.float32), np.array([3.0] * 3, np.float32))


def test_inputs_constants_and_outputs_are_never_overwritten() -> None:
    c = np.array([1.0, 2.0], np.float32)

    def f(x: tf.Tensor) -> object:
        y = tf.exp(x)
        z = tf.tanh(y) + tf.constant(c)
        return y, z, z * 2.0

    x = np.array([0.5, 1.5], np.float32)
    y, z, w = run(f, [V], x)
    np.testing.assert_allclose(y, np.exp(x))
    np.testing.assert_allclose(w, 2 * z)
    assert x.tolist() == [0.5, 1.5]


def test_views_keep_their_buffer_alive() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        y = tf.exp(x)
        view = tf.reshape(y, [2, 2])[:, 0]
        z = tf.tanh(y)  # must not write into y: the view is read below
        return view + z[:2]

    run(f, [tf.TensorSpec([4])], np.arange(4, dtype=np.float32))


def test_broadcast_results_do_not_go_into_small_buffers() -> None:
    def f(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return tf.exp(x) + tf.exp(y)

    spec = tf.TensorSpec([None, None])
    run(f, [spec, spec], np.ones((3, 1), np.float32), np.ones((1, 2), np.float32))


def test_one_plan_serves_all_shapes() -> None:
    plan = NumpyPlan(optimize(trace(lambda x: tf.reduce_sum(x * 2.0), [V])))
    for n in (0, 1, 5):
        assert plan(np.ones(n, np.float32))[0] == 2 * n


def test_scalars_come_out_as_arrays() -> None:
    (out,) = NumpyPlan(trace(lambda x: x + 1.0, [tf.TensorSpec([])]))(np.float32(1))
    assert type(out) is np.ndarray
    assert out.shape == ()
    assert out.dtype == np.float32


def test_control_flow_is_python_control_flow() -> None:
    def f(n: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(
            lambda i, x: i < n,
            lambda i, x: (i + 1, tf.cond(i % 2 == 0, lambda: x + 1.0, lambda: x * 2.0)),
            (0, x),
        )[1]

    scalar = tf.TensorSpec([], tf.int32)
    statements = code(f, [scalar, V])
    assert "while True:" in statements
    assert "else:" in statements
    for n in (0, 1, 4):
        run(f, [scalar, V], np.int32(n), np.array([1.0, 3.0], np.float32))


def test_values_of_a_loop_are_not_overwritten_between_iterations() -> None:
    def f(x: tf.Tensor) -> object:
        y = tf.exp(x)

        def step(i: tf.Tensor, a: tf.Tensor, b: tf.Tensor) -> object:
            t = a + y
            return i + 1, t * 2.0, a + t

        return tf.while_loop(lambda i, a, b: i < 3, step, (0, tf.zeros([2]), tf.ones([2])))[1:]

    run(f, [tf.TensorSpec([2])], np.array([0.1, 0.2], np.float32))


def test_effects_run_in_program_order() -> None:
    a, b = tf.Variable(1.0), tf.Variable(2.0)

    def f(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        a.assign(y * b)
        b.assign_add(x * a)
        return a + b

    graph = trace(f, [tf.TensorSpec([]), tf.TensorSpec([])])
    for candidate in (graph, optimize(graph)):
        a.assign(1.0)
        b.assign(2.0)
        captured = [t._value for t, _ in candidate.captures]
        assert NumpyPlan(candidate)(np.float32(1), np.float32(2), *captured)[0] == 10


def test_run_time_errors_carry_the_users_line() -> None:
    def f(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        z = tf.exp(x)
        return z + y  # the culprit

    plan = NumpyPlan(trace(f, [V, V]))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"AddV2: shapes \(2,\) and \(3,\)"
    ) as e:
        plan(np.ones(2, np.float32), np.ones(3, np.float32))
    assert "# the culprit" in str(e.value)
    assert __file__ in str(e.value)


def test_errors_in_nested_blocks_carry_their_line() -> None:
    def f(n: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(
            lambda i, x: i < n,
            lambda i, x: (i + 1, x // (i - 2)),  # fails at i == 2
            (0, tf.constant(7)),
        )[1]

    plan = NumpyPlan(trace(f, [tf.TensorSpec([], tf.int32)]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero") as e:
        plan(np.int32(5))
    assert "# fails at i == 2" in str(e.value)


def test_generated_code_shows_in_tracebacks_and_goes_with_the_plan() -> None:
    plan = NumpyPlan(trace(lambda x, y: tf.exp(x) + y, [V, V]))
    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        plan(np.ones(2, np.float32), np.ones(3, np.float32))
    text = "".join(traceback.format_exception(e.value))
    assert "add = np_add(Exp, y)" in text
    file = plan.file
    assert file in linecache.cache
    del plan, e
    gc.collect()
    NumpyPlan(trace(lambda x: x, [V]))  # making another one clears up
    assert file not in linecache.cache


def test_each_node_is_commented_with_its_line() -> None:
    source = NumpyPlan(trace(lambda x: tf.exp(x), [V])).source
    assert "# Exp = Exp(x) : float32[?]  (test_numpy_plan.py:" in source


def test_names_that_python_does_not_allow() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        with tf.name_scope("a/b"):
            y = tf.exp(x, name="while")
        return y + tf.identity(x, name="xp") * tf.tanh(x, name="as_value")

    run(f, [V], np.ones(2, np.float32))


def test_many_outputs_and_none_at_all() -> None:
    def f(x: tf.Tensor) -> object:
        a, b = tf.unstack(x)
        return b, a, x, tf.constant(3), x

    run(f, [tf.TensorSpec([2])], np.array([1.0, 2.0], np.float32))
    assert NumpyPlan(trace(lambda x: None, [V]))(np.ones(1, np.float32)) == ()


def test_floating_point_warnings_are_off_inside_only() -> None:
    plan = NumpyPlan(trace(lambda x: tf.math.log(x) / 0.0, [V]))
    assert np.isinf(plan(np.array([2.0], np.float32))[0]).all()
    assert np.geterr()["divide"] == "warn"


def test_graphs_nested_deeper_than_python_allows() -> None:
    def loops(x: Any, depth: int) -> Any:
        if not depth:
            return x + 1
        step = lambda i, y: (i + 1, loops(y, depth - 1))  # noqa: E731
        return tf.while_loop(lambda i, y: i < 1, step, (0, x))[1]

    number = tf.TensorSpec([])
    plan = NumpyPlan(trace(lambda x: loops(x, 25), [number]))
    assert plan(np.array(1.0, np.float32))[0] == 2
    many = [(lambda x, i=i: x < i, i) for i in range(120)]
    graph = trace(
        lambda x: tf.case([(test(x), lambda i=i: x * 0 + i) for test, i in many], lambda: x),
        [number],
    )
    assert NumpyPlan(graph)(np.array(77.5, np.float32))[0] == 78


def test_errors_of_deeply_nested_graphs_name_the_line() -> None:
    def nested(x: Any, depth: int) -> Any:
        if not depth:
            return tf.gather([1, 2], x)
        return tf.cond(x > 0, lambda: nested(x, depth - 1), lambda: x)

    plan = NumpyPlan(trace(lambda x: nested(x, 30), [tf.TensorSpec([], tf.int32)]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"tf\.gather\(\[1, 2\], x\)"):
        plan(np.array(5, np.int32))


# Kernels that would give an answer for arrays which the type rules of their ops refuse.
ROWS = np.arange(6.0, dtype=np.float32).reshape(3, 2)
ACCEPTING_KERNELS: dict[str, tuple[Any, list[np.ndarray], str]] = {
    "cross": (tf.linalg.cross, [ROWS, ROWS], "last axis and 3 must be equal"),
    "diag_part": (lambda x: tf.linalg.diag_part(x, k=(1, 2)), [ROWS], "k = 2 is outside"),
    "segment_sum": (tf.math.segment_sum, [ROWS, np.array([1])], "data and segment_ids"),
    "bitcast": (lambda x: tf.bitcast(x, tf.float64), [ROWS[:, :0]], "last axis must have size 2"),
    "dct": (lambda x: tf.signal.dct(x, type=1), [ROWS[:, :1]], "at least two elements"),
}


@pytest.mark.parametrize("rank_is_known", [True, False])
@pytest.mark.parametrize("name", ACCEPTING_KERNELS)
def test_sizes_unknown_while_tracing_are_checked_when_it_runs(
    name: str, rank_is_known: bool
) -> None:
    fn, arrays, message = ACCEPTING_KERNELS[name]
    shapes = [[None] * x.ndim if rank_is_known else None for x in arrays]
    graph = trace(fn, [tf.TensorSpec(s, x.dtype) for s, x in zip(shapes, arrays, strict=True)])
    for candidate in (graph, optimize(graph)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            NumpyPlan(candidate)(*arrays)


def test_what_is_known_while_tracing_is_not_checked_again() -> None:
    assert not any("checked_" in line for line in code(tf.nn.softmax, [tf.TensorSpec([2, 3])]))
    assert any("checked_Softmax" in line for line in code(tf.nn.softmax, [V]))


@pytest.mark.parametrize("times", [1, 2])
def test_a_transpose_of_unknown_rank_that_does_not_fit_is_not_optimised_away(times: int) -> None:
    def f(x: Any) -> Any:
        for _ in range(times):
            x = tf.transpose(x, [0, 1, 2] if times == 1 else [1, 0, 2])
        return x

    plan = NumpyPlan(optimize(trace(f, [tf.TensorSpec(None)])))
    with pytest.raises(tf.errors.InvalidArgumentError, match="perm 2 is out of range"):
        plan(ROWS)
