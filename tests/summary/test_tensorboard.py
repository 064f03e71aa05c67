"""The `tensorboard` package reads what Weft writes; the other tests here need nothing of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing import event_accumulator as accumulator
from tensorboard.compat.proto import config_pb2 as protos, graph_pb2 as graphs

import weft as tf


@tf.function
def model(x: Any) -> Any:
    with tf.name_scope("layer"):
        x = tf.nn.relu(tf.matmul(x, tf.ones([3, 4]), name="product"))
    n = tf.constant(0)
    while n < 3:
        x, n = x + tf.cast(n, tf.float32), n + 1
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x, lambda: -x)


def loaded(folder: Path) -> Any:
    events = accumulator.EventAccumulator(str(folder), {"tensors": 0})
    return events.Reload()


def test_values(tmp_path: Path) -> None:
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        for step in range(5):
            tf.summary.scalar("loss", 1.0 / (step + 1), step=step, description="falls")
        tf.summary.histogram("weights", np.arange(7.0), step=2, buckets=3)
        tf.summary.image("picture", tf.zeros([1, 4, 5, 3]), step=0)
        tf.summary.text("note", "hello", step=0)
    events = loaded(tmp_path)
    assert events.Tags()["tensors"] == ["loss", "weights", "picture", "note"]
    losses = [float(tf.make_ndarray(e.tensor_proto)) for e in events.Tensors("loss")]
    assert losses == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5])
    metadata = events.SummaryMetadata("loss")
    assert (metadata.plugin_data.plugin_name, metadata.summary_description) == ("scalars", "falls")
    buckets = tf.make_ndarray(events.Tensors("weights")[0].tensor_proto)
    assert buckets.tolist() == [[0, 2, 2], [2, 4, 2], [4, 6, 3]]
    assert list(events.Tensors("picture")[0].tensor_proto.string_val)[:2] == [b"5", b"4"]
    assert list(events.Tensors("note")[0].tensor_proto.string_val) == [b"hello"]


def test_graphs(tmp_path: Path) -> None:
    tf.summary.trace_on(graph=True, profiler=True)
    model(tf.ones([2, 3]))
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=0):
        tf.summary.trace_export("model")
        tf.summary.graph(model.get_concrete_function(tf.ones([2, 3])).graph)
    events = loaded(tmp_path)
    content = events.Tensors("model")[0].tensor_proto.string_val[0]
    run_metadata = protos.RunMetadata.FromString(content)
    (function,) = run_metadata.function_graphs
    assert function.pre_optimization_graph == events.Graph()
    nodes = {node.name: node for node in events.Graph().node}
    assert nodes["layer/product"].op == "MatMul"
    assert "x" in nodes["layer/product"].input
    known = set(nodes) | {n.name for f in events.Graph().library.function for n in f.node_def}
    timed = [node for device in run_metadata.step_stats.dev_stats for node in device.node_stats]
    assert timed
    assert all(node.all_end_rel_micros > 0 for node in timed)
    assert {node.node_name for node in timed} & known


def test_attributes_survive() -> None:
    definition = model.get_concrete_function(tf.ones([2, 3])).graph.as_graph_def()
    message = graphs.GraphDef.FromString(definition.SerializeToString())
    assert [n.name for n in message.node] == [n.name for n in definition.node]
    assert [list(n.input) for n in message.node] == [n.input for n in definition.node]
    for read, made in zip(message.node, definition.node, strict=True):
        assert set(read.attr) == set(made.attr)
        assert all(read.attr[key].WhichOneof("value") for key in made.attr)
    constant = next(n for n in message.node if n.op == "Const" and n.attr["value"].tensor.dtype)
    assert tf.make_ndarray(constant.attr["value"].tensor) is not None
    names = {f.signature.name for f in definition.library.function}
    assert {f.signature.name for f in message.library.function} == names
