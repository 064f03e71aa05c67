"""Graphs as GraphDefs, out and in again.

That TensorFlow imports them is checked by checks/graph_defs_in_tensorflow.py, whose graphs are
written and imported here.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from checks import graph_defs_in_tensorflow as graphs, saved_models_in_tensorflow as models
from weft._src.raw_ops.signatures import signature_of

models.define(tf)


@pytest.mark.parametrize("name", graphs.names())
def test_every_graph_comes_back(name: str, tmp_path: Path) -> None:
    concrete = graphs.written(tf, name, tmp_path)
    data = (tmp_path / f"{name}.pb").read_bytes()
    outputs = [x.name for x in concrete.graph.outputs]
    graphs.agrees(tmp_path, name, graphs.imported(tf, name, data, outputs))
    with tf.Graph().as_default() as graph:
        found: Any = tf.import_graph_def(data, return_elements=outputs, name="")
    for x, y in zip(outputs, found, strict=True):
        assert graph.get_tensor_by_name(x) is y


def layer(x: Any) -> Any:
    with tf.name_scope("layer"):
        low, high = tf.split(x, 2, axis=1)
        return tf.reduce_sum(tf.tanh(low) @ tf.transpose(high), axis=1, name="total")


@pytest.fixture
def graph() -> Any:
    return tf.function(layer).get_concrete_function(tf.TensorSpec([None, 4], name="x")).graph


X = tf.constant(np.random.default_rng(0).normal(size=(3, 4)).astype("f"))


def test_nodes_are_tensorflows(graph: Any) -> None:
    definition = graph.as_graph_def(add_shapes=True)
    nodes = {node.name: node for node in definition.node}
    assert nodes["x"].op == "Placeholder"
    total = nodes["layer/total"]
    assert total.op == "Sum"
    assert nodes[total.input[1]].op == "Const"
    assert tf.make_ndarray(nodes[total.input[1]].attr["value"].tensor).tolist() == [1]
    split = next(node for node in definition.node if node.op == "Split")
    used = [text for node in definition.node for text in node.input]
    assert {split.name, f"{split.name}:1"} <= set(used)
    (shape,) = total.attr["_output_shapes"].list.shape
    assert [size.size for size in shape.dim] == [-1]
    for node in definition.node:
        signature = signature_of(node.op)
        assert signature is not None
        told = {attr.name for attr in signature.attributes} | {"_output_shapes"}
        assert set(node.attr) <= told


def test_bytes_of_a_message(graph: Any) -> None:
    definition = tf.compat.v1.GraphDef()
    definition.ParseFromString(graph.as_graph_def().SerializeToString())
    assert definition == graph.as_graph_def()
    (y,) = tf.import_graph_def(definition, {"x:0": X}, ["layer/total:0"]) or ()
    assert np.allclose(y, layer(X))


def test_into_a_graph_under_a_name(graph: Any) -> None:
    with tf.Graph().as_default() as whole:
        tensor, operation = (
            tf.graph_util.import_graph_def(
                graph.as_graph_def(), return_elements=["layer/total:0", "x"], name="net"
            )
            or ()
        )
        again = tf.import_graph_def(graph.as_graph_def(), {"x": tf.ones([2, 4])}, name="net")
    assert again is None
    assert tensor.name == "net/layer/total:0"
    assert operation.type == "Placeholder"
    assert operation.name == "net/x"
    assert whole.get_operation_by_name("net_1/layer/total").type == "Sum"


def test_into_a_function_that_is_differentiated(graph: Any) -> None:
    definition = graph.as_graph_def()

    @tf.function
    def f(x: Any) -> Any:
        (y,) = tf.import_graph_def(definition, {"x": x}, ["layer/total:0"]) or ()
        return 2.0 * y

    x = tf.Variable(X)
    with tf.GradientTape(persistent=True) as tape:
        ours, theirs = f(x), 2.0 * layer(x)
    assert np.allclose(ours, theirs)
    assert np.allclose(tape.gradient(ours, x), tape.gradient(theirs, x))


def test_an_inner_tensor_can_be_replaced(graph: Any) -> None:
    definition = graph.as_graph_def()
    split = next(node.name for node in definition.node if node.op == "Split")
    low, high = tf.zeros([3, 2]), tf.ones([3, 2])
    given = {"x": X, split: low, f"{split}:1": high}
    (y,) = tf.import_graph_def(definition, given, ["layer/total:0"]) or ()
    assert y.numpy().tolist() == [0.0] * 3


def test_variables_are_placeholders() -> None:
    v = tf.Variable([1.0, 2.0])
    graph = tf.function(lambda x: v * x).get_concrete_function(tf.TensorSpec([], name="x")).graph
    definition = graph.as_graph_def()
    placeholders = [node.name for node in definition.node if node.op == "Placeholder"]
    assert len(placeholders) == 2
    (handle,) = [name for name in placeholders if name != "x"]
    given = {"x": tf.constant(3.0), handle: v.handle}
    (y,) = tf.import_graph_def(definition, given, [graph.outputs[0].name]) or ()
    assert y.numpy().tolist() == [3.0, 6.0]


def test_ops_without_a_form_keep_their_names() -> None:
    f = tf.function(lambda x: tf.numpy_function(lambda y: y, [x], tf.float32))
    definition = f.get_concrete_function(tf.TensorSpec([3])).graph.as_graph_def()
    names = [node.op for node in definition.node]
    assert "Placeholder" in names
    with pytest.raises(tf.errors.UnsupportedError, match="Python"):
        tf.import_graph_def(definition, {"x": X[0, :3]})


def test_files(graph: Any, tmp_path: Path) -> None:
    text = Path(tf.io.write_graph(graph, tmp_path / "new", "g.pbtxt"))
    binary = Path(tf.io.write_graph(graph.as_graph_def(), tmp_path / "new", "g.pb", as_text=False))
    assert text == tmp_path / "new" / "g.pbtxt"
    assert 'name: "layer/total"' in text.read_text(encoding="utf-8")
    assert binary.read_bytes() == graph.as_graph_def().SerializeToString()
    assert sorted(path.name for path in text.parent.iterdir()) == ["g.pb", "g.pbtxt"]
    with pytest.raises(TypeError, match=r"a tf\.Graph or a GraphDef is expected, got 3"):
        tf.io.write_graph(3, tmp_path, "x")
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.io.write_graph(graph, text, "x")


def test_what_is_wrong_is_told(graph: Any) -> None:
    definition = graph.as_graph_def()
    with pytest.raises(TypeError, match="a GraphDef, or its bytes, are expected, got 'x'"):
        tf.import_graph_def("x")
    with pytest.raises(tf.errors.DataLossError, match="are no GraphDef"):
        tf.import_graph_def(b"\xff\xff")
    with pytest.raises(ValueError, match="input_map names 'y', which the graph does not have"):
        tf.import_graph_def(definition, {"y": X})
    with pytest.raises(ValueError, match=r"nothing is known of the placeholders 'x'.*input_map"):
        tf.import_graph_def(definition)
    with pytest.raises(ValueError, match=r"nothing is known of the placeholders 'x'"):
        tf.function(lambda: tf.import_graph_def(definition))()
    with pytest.raises(ValueError, match="return_elements names 'z:0'"):
        tf.import_graph_def(definition, {"x": X}, ["z:0"])
    with pytest.raises(ValueError, match="no operation of a graph here.*'layer/total:0'"):
        tf.import_graph_def(definition, {"x": X}, ["layer/total"])


def test_damaged_graphs(graph: Any) -> None:
    definition = graph.as_graph_def()
    total = next(node for node in definition.node if node.name == "layer/total")
    total.input[0] = "nobody"
    with pytest.raises(tf.errors.DataLossError, match="needs 'nobody', which is not in the graph"):
        tf.import_graph_def(definition, {"x": X})
    total.input[0] = "x:7"
    with pytest.raises(tf.errors.DataLossError, match="needs 'x:7'"):
        tf.import_graph_def(definition, {"x": X})
    total.input[0] = "layer/total"
    with pytest.raises(tf.errors.DataLossError, match="needs itself"):
        tf.import_graph_def(definition, {"x": X})
    total.op = "NoSuchOp"
    total.input[0] = "x"
    with pytest.raises(tf.errors.UnsupportedError, match="NoSuchOp"):
        tf.import_graph_def(definition, {"x": X})


def test_every_truncation_is_an_error_or_a_graph(graph: Any) -> None:
    data = graph.as_graph_def().SerializeToString()
    told = (tf.errors.OpError, ValueError, TypeError)
    for end in range(0, len(data), 7):
        with contextlib.suppress(*told):
            tf.import_graph_def(data[:end], {}, [])
