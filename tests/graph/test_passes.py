"""Passes: simpler graphs that compute the same."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.execution import reference
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.ir import Graph
from weft._src.graph.passes import optimize
from weft._src.graph.passes.cse import merge_equal_nodes
from weft._src.graph.passes.dce import drop_dead_nodes
from weft._src.graph.passes.fold import fold_constants
from weft._src.graph.passes.forget import forget_gradients
from weft._src.graph.passes.inline import inline_calls
from weft._src.graph.passes.simplify import simplify
from weft._src.graph.rewrite import deeply_copied
from weft._src.graph.tracing import trace
from weft._src.graph.verify import verify
from weft._src.ops.control.call import call_op
from weft.errors import InternalError

F = tf.TensorSpec([2, 3])


def ops(graph: Graph) -> list[str]:
    return [n.op.name for n in graph.nodes if n.op.name != "Placeholder"]


def body(graph: Graph) -> str:
    return "\n".join(line.strip() for line in str(graph).splitlines()[1:])


def test_inline() -> None:
    inner = trace(lambda x, y: (x * y, x - y), [F, F], name="inner")

    def outer(x: tf.Tensor) -> tf.Tensor:
        p, d = call_op(x, x + 1.0, body=inner, name="call")
        return p + d

    graph = trace(outer, [F])
    flat = inline_calls(graph)
    verify(flat)
    assert "PartitionedCall" in ops(graph)
    assert "PartitionedCall" not in ops(flat)
    assert (
        flat.get_operation_by_name("call/mul").location
        == inner.get_operation_by_name("mul").location
    )
    x = np.ones((2, 3), np.float32)
    assert reference.run(graph, [x])[0].tolist() == reference.run(flat, [x])[0].tolist()


def test_fold() -> None:
    graph = fold_constants(trace(lambda x: x * (tf.constant(2.0) + 3.0), [F]))
    assert body(drop_dead_nodes(graph)).splitlines()[0] == "add = Const(value=5.) : float32[]"


def test_fold_takes_known_shapes_and_branches() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        n = tf.cast(tf.shape(x)[1], tf.float32)
        return tf.cond(tf.constant(True), lambda: x * n, lambda: x)

    assert ops(optimize(trace(f, [F]))) == ["Const", "Mul"]


def test_fold_leaves_failures_to_run_time() -> None:
    graph = fold_constants(trace(lambda: tf.constant(1) // tf.constant(0), []))
    assert "FloorDiv" in ops(graph)
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        NumpyPlan(graph)()


def test_cse() -> None:
    graph = merge_equal_nodes(trace(lambda x: tf.exp(x) + tf.exp(x) * 2.0 + 2.0, [F]))
    assert ops(graph).count("Exp") == 1
    assert ops(graph).count("Const") == 1


def test_cse_keeps_what_only_looks_equal() -> None:
    v = tf.Variable(1.0)

    def f(x: tf.Tensor) -> tf.Tensor:
        before = v.value()
        v.assign_add(1.0)
        true, one = tf.constant(True), tf.constant(1)
        return before + v + tf.cast(true, tf.float32) + tf.cast(one, tf.float32)

    graph = merge_equal_nodes(trace(f, [F]))
    assert ops(graph).count("ReadVariableOp") == 2
    assert ops(graph).count("Cast") == 2


def test_dce_drops_pure_code_and_keeps_effects() -> None:
    v = tf.Variable(1.0)

    def f(x: tf.Tensor) -> tf.Tensor:
        tf.exp(x)
        v.value()
        v.assign(2.0)
        tf.print("hello", output_stream=sys.stdout)
        return x

    assert ops(drop_dead_nodes(trace(f, [F]))) == [
        "Const", "AssignVariableOp", "PrintV2", "Identity",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("fn", "left"),
    [
        (lambda x: x * 1.0, []),
        (lambda x: x / 1.0, []),
        (lambda x: x - 0.0, []),
        (lambda x: 1.0 * x, []),
        (lambda x: x**1, []),
        (lambda x: x**2.0, ["Square"]),
        (lambda x: tf.negative(-x), []),
        (lambda x: tf.transpose(tf.transpose(x, [1, 0]), [1, 0]), []),
        (lambda x: tf.reshape(x, [2, 3]), []),
        (lambda x: tf.broadcast_to(x, [2, 3]), []),
        (lambda x: tf.identity(tf.identity(x)), []),
        (lambda x: tf.cast(tf.cast(x, tf.int32) + 0, tf.float32), ["Cast", "Cast"]),
        # not simplified: -0.0 + 0 is 0, and a factor may change the shape
        (lambda x: x + 0.0, ["Const", "AddV2"]),
        (lambda x: x * tf.ones([4, 2, 3]), ["Const", "Mul"]),
    ],
)
def test_simplify(fn: object, left: list[str]) -> None:
    graph = optimize(trace(fn, [F]))  # type: ignore[arg-type]
    assert ops(graph) == left
    assert ops(simplify(graph)) == left


def test_passes_enter_nested_graphs() -> None:
    def f(n: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(
            lambda i, x: i < n * 1, lambda i, x: (i + 1, x * 1.0 + (x - 0.0)), (0, x)
        )[1]

    graph = optimize(trace(f, [tf.TensorSpec([], tf.int32), F]))
    loop = next(n for n in graph.nodes if n.op.name == "While")
    assert ops(loop.attrs["body"]) == ["Const", "AddV2", "AddV2"]
    assert ops(loop.attrs["cond"]) == ["Less"]
    x = np.ones((2, 3), np.float32)
    assert NumpyPlan(graph)(np.int32(3), x)[0][0, 0] == 8


def test_verifier_names_the_node_and_the_line() -> None:
    graph = trace(lambda x: tf.exp(x) + 1.0, [F])
    graph.nodes.reverse()
    with pytest.raises(InternalError, match="not defined before") as caught:
        verify(graph)
    assert "-> " in str(caught.value)
    assert "test_passes.py" in str(caught.value)


def test_verifier_checks_types() -> None:
    graph = trace(lambda x: tf.exp(x), [F])
    node = graph.get_operation_by_name("Exp")
    node.outputs[0].spec = tf.TensorSpec([5], tf.int32)
    with pytest.raises(InternalError, match="should be float32"):
        verify(graph)


@pytest.mark.parametrize("fn", [lambda x: x * 1, lambda x: x / 1, lambda x: x - complex(0, -0.0)])
def test_complex_algebra_keeps_what_infinities_do(fn: Any) -> None:
    value = np.array([complex(np.inf, 0.0), complex(1.0, -0.0)])
    graph = trace(fn, [tf.TensorSpec([2], tf.complex128)])
    plain, optimized = NumpyPlan(graph)(value)[0], NumpyPlan(optimize(graph))(value)[0]
    np.testing.assert_array_equal(plain, optimized)
    np.testing.assert_array_equal(np.signbit(plain.imag), np.signbit(optimized.imag))


def test_zeros_of_different_sign_are_different_attributes() -> None:
    graph = trace(
        lambda x: (tf.nn.leaky_relu(x, 0.0), tf.nn.leaky_relu(x, -0.0)), [tf.TensorSpec([2])]
    )
    assert ops(merge_equal_nodes(graph)).count("LeakyRelu") == 2


def test_stops_and_custom_gradients_are_dropped_last() -> None:
    @tf.custom_gradient
    def f(x: tf.Tensor) -> object:
        e = tf.exp(x)
        return x * x, lambda dy: dy * e

    graph = optimize(trace(lambda x: f(tf.stop_gradient(x)), [F]))
    assert ops(graph) == ["StopGradient", "Exp", "Mul", "CustomGradient"]
    assert ops(optimize(forget_gradients(graph))) == ["Mul"]


def test_unused_results_of_branches_and_variables_of_loops_are_dropped() -> None:
    def f(x: tf.Tensor) -> object:
        a, _ = tf.cond(x[0, 0] > 0.0, lambda: (x * 2.0, tf.exp(x)), lambda: (x, tf.sin(x)))
        _, b, _, _ = tf.while_loop(
            lambda i, *_: i < 3,
            lambda i, b, c, d: (i + 1, b * 2.0, tf.cos(c), d + c),
            (tf.constant(0), a, x, x),
        )
        return b

    graph = optimize(trace(f, [F]))
    verify(graph)
    branch, loop = [node for node in graph.nodes if node.op.name in ("If", "While")]
    assert len(branch.outputs) == 1
    assert [ops(g) for g in branch.attrs["branches"]] == [["Const", "Mul"], []]
    assert len(loop.outputs) == 2
    assert "Cos" not in ops(loop.attrs["body"])
    x = np.ones((2, 3), np.float32)
    assert NumpyPlan(graph)(x)[0].tolist() == (x * 16).tolist()


def test_reads_after_an_assignment_use_the_assigned_value() -> None:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])

    def f(x: tf.Tensor) -> object:
        v.assign(x * 2.0)
        w.assign_add(x)
        a = v + w  # v is known, w is not
        tf.cond(x[0] > 0.0, lambda: v.assign(x), lambda: v)
        return a, v.value()

    graph = optimize(trace(f, [tf.TensorSpec([2])]))
    assert ops(graph).count("ReadVariableOp") == 2
    x = np.array([1.0, 5.0], np.float32)
    a, b = NumpyPlan(graph)(x, *[t._value for t, _ in graph.captures])
    assert a.tolist() == [6, 19]
    assert b.tolist() == [1, 5]


def test_a_variable_passed_twice_is_not_forwarded() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def f(a: tf.Variable, b: tf.Variable) -> tf.Tensor:
        a.assign(5.0)
        b.assign(7.0)
        return a.value()

    assert f(v, v).numpy() == 7


def test_the_length_of_a_range_needs_no_range() -> None:
    @tf.function(autograph=False)
    def count(n: tf.Tensor) -> tf.Tensor:
        return tf.shape(tf.range(n))[0]

    huge = tf.constant(2**31 - 1)
    names = ops(optimize(count.get_concrete_function(huge).graph))
    assert "RangeShape" in names
    assert "Range" not in names
    assert count(huge) == 2**31 - 1
    with pytest.raises(ValueError, match="more than int32 can count"):
        count(tf.constant(2**40, tf.int64))


def test_a_graph_in_which_nothing_changes_is_not_copied() -> None:
    variable = tf.Variable([1.0, 2.0, 3.0])

    def plain(x: tf.Tensor) -> tf.Tensor:
        _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(y) * x), (0, x))
        variable.assign_add(y[0])
        return y - variable

    graph = optimize(trace(plain, [F]))
    graph.is_optimized = False
    assert optimize(graph) is graph
    # What runs is another one in any case: a graph that is built by hand may still grow.
    assert forget_gradients(graph) is not graph


def test_a_deep_copy_shares_no_nodes() -> None:
    def looped(x: tf.Tensor) -> tf.Tensor:
        def body(i: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return i + 1, tf.cond(y[0, 0] > 0.5, lambda: tf.tanh(y), lambda: y * x)

        return tf.while_loop(lambda i, y: i < 3, body, (0, x))[1]

    def nodes(graph: Graph) -> set[int]:
        inner = [nodes(g) for node in graph.nodes for _, g in node.nested]
        return {id(node) for node in graph.nodes}.union(*inner)

    graph = optimize(trace(looped, [F]))
    copy = deeply_copied(graph)
    assert len(nodes(copy)) == len(nodes(graph)) > 10
    assert not nodes(copy) & nodes(graph)
    x = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(reference.run(copy, [x])[0], reference.run(graph, [x])[0])


def test_a_pass_that_changes_the_last_node_changes_nothing_before() -> None:
    graph = trace(lambda x: (tf.exp(x) + tf.exp(x), tf.abs(x) * 1.0), [F])
    before = str(graph)
    merged, simpler = merge_equal_nodes(graph), simplify(graph)
    verify(merged)
    verify(simpler)
    assert ops(merged).count("Exp") == 1
    assert "Mul" not in ops(simpler)
    assert str(graph) == before
    x = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)
    for made in (merged, simpler):
        for out, expected in zip(reference.run(made, [x]), reference.run(graph, [x]), strict=True):
            np.testing.assert_array_equal(out, expected)
