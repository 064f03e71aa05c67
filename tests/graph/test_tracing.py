"""Tracing: nodes, names, captures, places in the user's code, and what leaks."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.tracing import trace
from weft._src.graph.verify import verify


def test_the_small_graph_of_the_documents() -> None:
    graph = trace(lambda x: tf.nn.relu(x @ x), [tf.TensorSpec((2, 2))])
    nodes = [(n.name, n.op, n.input) for n in graph.as_graph_def().node]
    assert nodes == [
        ("x", "Placeholder", []),
        ("matmul", "MatMul", ["x", "x"]),
        ("Relu", "Relu", ["matmul"]),
        ("Identity", "Identity", ["Relu"]),
    ]


def test_names_are_unique_and_scoped() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        y = x + x + x
        with tf.name_scope("layer"):
            y = tf.tanh(y)
            with tf.name_scope("inner") as scope:
                assert scope == "layer/inner/"
                y = y * y
        with tf.name_scope("layer"):
            return tf.tanh(y, name="out")

    graph = trace(f, [tf.TensorSpec([2])])
    assert [n.name for n in graph.nodes] == [
        "x", "add", "add_1", "layer/Tanh", "layer/inner/mul", "layer_1/out", "Identity",
    ]  # fmt: skip


def test_looking_up_by_name() -> None:
    graph = trace(lambda x: tf.tanh(x, name="y"), [tf.TensorSpec([2])])
    assert graph.get_tensor_by_name("y:0").op.type == "Tanh"
    assert graph.get_operation_by_name("x").type == "Placeholder"
    assert [op.name for op in graph.get_tensor_by_name("x:0").consumers()] == ["y"]
    assert [op.name for op in graph.get_operations()] == ["x", "y", "Identity"]
    for wrong, error in (("z:0", KeyError), ("y:3", KeyError), ("y", ValueError)):
        with pytest.raises(error):
            graph.get_tensor_by_name(wrong)


def test_nodes_know_the_users_line() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.tanh(x)  # this line

    node = trace(f, [tf.TensorSpec([2])]).get_operation_by_name("Tanh")
    assert node.location.file == __file__
    assert node.location.text.endswith("# this line")
    assert node.location.function == "f"


def test_eager_tensors_and_variables_are_captured_once() -> None:
    c, v = tf.constant([1.0, 2.0]), tf.Variable(3.0)
    graph = trace(lambda x: x + c + c * v + v, [tf.TensorSpec([2])])
    assert [id(outer) for outer, _ in graph.captures] == [id(c), id(v.handle)]
    values = [np.ones(2, np.float32), *[t._value for t, _ in graph.captures]]
    assert NumpyPlan(graph)(*values)[0].tolist() == [8, 12]


def test_captures_go_through_every_level() -> None:
    c = tf.constant(2.0)

    def f(p: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        return tf.cond(p, lambda: tf.cond(p, lambda: x * c, lambda: x), lambda: x)

    graph = trace(f, [tf.TensorSpec([], tf.bool), tf.TensorSpec([])])
    verify(graph)
    outer_if = graph.get_operation_by_name("cond")
    # the condition, and what the branches capture: x, c, and the condition of the inner one
    assert len(outer_if.inputs) == 4
    assert len(graph.captures) == 1


def test_nested_outputs_and_none() -> None:
    graph = trace(lambda x: {"b": x, "a": [None, x + 1]}, [tf.TensorSpec([])])
    assert len(graph.outputs) == 2
    assert graph.structured_outputs["a"][0] is None


def test_leaked_tensors_say_where_they_were_made() -> None:
    leaked = []
    trace(lambda x: leaked.append(x + 1), [tf.TensorSpec([])], name="first")
    with pytest.raises(ValueError, match="'first' made at .*test_tracing.py") as caught:
        tf.tanh(leaked[0])
    assert type(caught.value).__name__ == "InaccessibleTensorError"
    with pytest.raises(ValueError, match="cannot be used in 'second'"):
        trace(lambda x: x + leaked[0], [tf.TensorSpec([])], name="second")


def test_failed_tracing_leaves_the_context_clean() -> None:
    def broken(x: tf.Tensor) -> None:
        with tf.name_scope("s"), tf.GradientTape():
            raise RuntimeError("oops")

    with pytest.raises(RuntimeError, match="oops"):
        trace(broken, [tf.TensorSpec([])])
    assert tf.executing_eagerly()
    assert (tf.constant(1.0) + 1).numpy() == 2


def test_type_errors_while_tracing_carry_the_line() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        return x + tf.zeros([3])  # wrong

    with pytest.raises(ValueError, match=r"shapes \(2,\) and \(3,\)") as caught:
        trace(f, [tf.TensorSpec([2])])
    assert "# wrong" in str(caught.value)


def test_sizes_are_followed_through_shape_arithmetic() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        n = tf.shape(x)[0]
        y = tf.reshape(x, [n, 2, -1])
        assert y.spec.dims[0] is x.spec.dims[0]
        assert y.shape.as_list() == [None, 2, 3]
        assert tf.zeros([n, 5]).spec.dims[0] is x.spec.dims[0]
        assert tf.zeros(tf.shape(x)).spec.dims == x.spec.dims
        assert (x + tf.ones([n, 6])).spec.dims == x.spec.dims
        return y

    trace(f, [tf.TensorSpec([None, 6])])


def test_default_graph() -> None:
    graph = tf.Graph()
    with graph.as_default():
        assert not tf.executing_eagerly()
        t = tf.constant(1.0) + 2.0
    assert t.graph is graph
    assert tf.executing_eagerly()


def test_effects_of_nested_graphs_are_summarised() -> None:
    v, w = tf.Variable(0.0), tf.Variable(1.0)

    def f(p: tf.Tensor) -> tf.Tensor:
        return tf.cond(p, lambda: v.assign_add(w).value(), lambda: w.value())

    effects = trace(f, [tf.TensorSpec([], tf.bool)]).get_operation_by_name("cond").effects
    assert len(effects.reads) == 2
    assert len(effects.writes) == 1
    assert effects.must_run
    assert not effects.host_io
