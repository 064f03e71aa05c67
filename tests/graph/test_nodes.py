"""Nodes and lists of nodes: what passes work with."""

from __future__ import annotations

import weft as tf
from weft._src.graph.ir import Graph, Node
from weft._src.graph.passes import optimize
from weft._src.graph.tracing import trace
from weft._src.graph.verify import verify


def example() -> Graph:
    return trace(lambda x, y: tf.exp(x) * 2.0 + y, [tf.TensorSpec([2, 3]), tf.TensorSpec([3])])


def test_the_body_of_a_graph_leaves_out_its_parameters() -> None:
    graph = example()
    assert [node.type for node in graph.body] == ["Exp", "Const", "Mul", "AddV2", "Identity"]
    assert [node.is_const for node in graph.body] == [False, True, False, False, False]
    assert [node for node in graph.nodes if node.is_parameter] == [x.node for x in graph.inputs]


def test_a_replaced_node_differs_in_one_field_only() -> None:
    node = example().body[0]
    other = node.replace(attrs={"a": 1})
    assert node.attrs == {}
    assert other.attrs == {"a": 1}
    slots = set(Node.__slots__) - {"__weakref__", "attrs"}
    assert all(getattr(other, slot) is getattr(node, slot) for slot in slots)


def test_a_copy_stands_in_another_graph_on_inputs_of_it() -> None:
    node = example().body[0]
    graph = Graph("other")
    x = graph.add_input(tf.TensorSpec([2, 3]), "x")
    copy = graph.add_copy(node, (x,), prefix="inner/")
    assert copy.graph is graph
    assert copy.op is node.op
    assert copy.name == f"inner/{node.name}"
    assert copy.location is node.location
    assert copy.outputs[0].spec == node.outputs[0].spec
    graph.outputs = [copy.outputs[0]]
    verify(graph)


def test_sizes_that_do_not_fit_are_not_folded() -> None:
    spec = tf.TensorSpec([2**31, 2], tf.float32)
    graph = trace(lambda x: (tf.size(x), tf.size(x, out_type=tf.int64), tf.rank(x)), [spec])
    nodes = [out.node for out in optimize(graph).outputs]
    assert [node.is_const for node in nodes] == [False, True, True]
    assert nodes[1].attrs["value"] == 2**32
