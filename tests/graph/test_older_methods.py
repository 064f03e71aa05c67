"""Methods of `tf.Graph` for graphs that are built by hand."""

from __future__ import annotations

import pytest

import weft as tf


def test_scopes_and_elements() -> None:
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        with graph.name_scope("outer") as scope, graph.device("/cpu:0"):
            with graph.control_dependencies([a]):
                b = tf.add(a, 2.0, name="b")
            assert (scope, graph.get_name_scope()) == ("outer/", "outer")
        assert (b.name, graph.get_name_scope()) == ("outer/b:0", "")
    assert graph.as_graph_element("a") is a.op
    assert graph.as_graph_element("outer/b:0") is b
    assert graph.as_graph_element(b) is b
    assert graph.num_operations() == len(graph.operations) == graph.version
    with pytest.raises(KeyError, match="has no operation 'none'"):
        graph.as_graph_element("none")
    with pytest.raises(ValueError, match="'a' is an operation, which is not wanted"):
        graph.as_graph_element("a", allow_operation=False)
    with pytest.raises(ValueError, match="'a:0' is a tensor, which is not wanted"):
        graph.as_graph_element("a:0", allow_tensor=False)
    with pytest.raises(ValueError, match="is not an element of the graph"):
        tf.Graph().as_graph_element(b)
    with pytest.raises(TypeError, match="An operation, tensor or name is expected, got 3"):
        graph.as_graph_element(3)


def test_collections() -> None:
    with tf.Graph().as_default() as graph:
        with graph.name_scope("part"):
            x = tf.constant(1.0)
        graph.add_to_collection("k", x)
        graph.add_to_collections(["k", "l", "l"], 2)
    assert graph.get_collection("k") == [x, 2]
    assert graph.get_collection("k", "part") == [x]
    assert graph.get_collection("l") == [2]
    graph.get_collection_ref("m").append(3)
    assert graph.get_all_collection_keys() == graph.collections == ["k", "l", "m"]
    graph.clear_collection("k")
    assert graph.get_collection("k") == []
    assert tf.Graph().collections == []


def test_a_graph_that_is_finalized() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.constant(1.0)
        assert not graph.finalized
        graph.finalize()
        assert graph.finalized
        with pytest.raises(RuntimeError, match="is finalized: nothing can be added"):
            tf.add(x, x)
