"""Traces: the graphs of functions that ran, and how long their nodes took."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from support.event_files import by_number, node_names, read_folder
from weft._src.messages.wire import contents


@tf.function
def layered(x: Any) -> Any:
    with tf.name_scope("first"):
        x = tf.nn.relu(tf.matmul(x, tf.ones([3, 4]), name="product"), name="activation")
    with tf.name_scope("second"):
        while tf.reduce_sum(x) < 100.0:
            x = x * 2.0
    return x


def graphs_of(run_metadata: bytes) -> list[bytes]:
    functions = contents(run_metadata, 4, "RunMetadata")
    return [by_number(function, "FunctionGraphs")[2] for function in functions]


def test_graph_with_name_scopes(tmp_path: Path) -> None:
    tf.summary.trace_on(graph=True)
    for _ in range(2):
        layered(tf.ones([2, 3]))
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.trace_export("layered", step=3)
    layered(tf.ones([2, 3]))  # not watched any more
    (value,) = read_folder(tmp_path).values
    assert (value.tag, value.step, value.plugin, value.content) == (
        "layered", 3, "graph_run_metadata_graph", b"1",
    )  # fmt: skip
    (graph,) = graphs_of(value.value[()])
    names = node_names(graph)
    assert {"x", "first/product", "first/activation", "second/while"} <= set(names)


def test_profile(tmp_path: Path) -> None:
    tf.config.execution, before = "numpy", tf.config.execution
    try:
        f = tf.function(lambda x: tf.math.log(tf.exp(x, name="e") + 1.0, name="l"))
        tf.summary.trace_on(graph=True, profiler=True)
        f(tf.ones([3]))
        with tf.summary.create_file_writer(str(tmp_path)).as_default():
            tf.summary.trace_export("f", step=0, profiler_outdir=str(tmp_path / "profile"))
    finally:
        tf.config.execution = before
    (value,) = read_folder(tmp_path).values
    assert value.plugin == "graph_run_metadata"
    run_metadata = value.value[()]
    stats = by_number(run_metadata, "RunMetadata")[1]
    device = by_number(stats, "StepStats")[1]
    timed = [by_number(node, "Node")[1] for node in contents(device, 2, "Device")]
    assert {b"e", b"l"} <= set(timed)
    assert {name.decode() for name in timed} <= set(node_names(graphs_of(run_metadata)[0]))
    (path,) = (tmp_path / "profile").rglob("*.trace.json.gz")
    spans = {e["name"]: e for e in json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]}
    whole = max(spans.values(), key=lambda e: e["dur"])
    assert whole["cat"] == "function"
    for name in ("e", "l"):
        assert whole["ts"] <= spans[name]["ts"]
        assert spans[name]["ts"] + spans[name]["dur"] <= whole["ts"] + whole["dur"]
    assert spans["e"]["ts"] < spans["l"]["ts"]


def test_recorded_and_nested_calls_are_watched(tmp_path: Path) -> None:
    inner = tf.function(lambda x: x * 3.0)
    outer = tf.function(lambda x: inner(x) + 1.0)
    tf.summary.trace_on(profiler=True, profiler_outdir=str(tmp_path / "p"))
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = outer(x)
    assert tape.gradient(y, x).numpy() == 3.0
    assert inner.get_concrete_function(tf.constant(1.0))(tf.constant(5.0)).numpy() == 15.0
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=0):
        tf.summary.trace_export("both")
    assert len(graphs_of(read_folder(tmp_path).values[0].value[()])) == 2
    assert list((tmp_path / "p").rglob("*.trace.json.gz"))


def test_run_graph(tmp_path: Path) -> None:
    concrete = layered.get_concrete_function(tf.TensorSpec([2, 3]))
    assert not tf.summary.graph(concrete.graph)  # there is no writer
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        assert tf.summary.graph(concrete.graph)
    (graph,) = read_folder(tmp_path).graphs
    assert graph == concrete.graph.as_graph_def().SerializeToString()
    with pytest.raises(TypeError, match="a tf.Graph or a GraphDef is expected, got 3"):
        tf.summary.graph(3)


def test_wrong_use(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING", logger="weft")
    with pytest.raises(ValueError, match="there is no trace. Begin one with"):
        tf.summary.trace_export("x", step=0)
    tf.summary.trace_on()
    tf.summary.trace_on()
    assert "a trace is on already" in caplog.text
    with (
        tf.summary.create_file_writer(str(tmp_path)).as_default(),
        pytest.raises(ValueError, match="there is no step"),
    ):
        tf.summary.trace_export("x")
    tf.summary.trace_off()
    tf.function(lambda: tf.summary.trace_on())()
    assert "no effect in a tf.function" in caplog.text
    with pytest.raises(ValueError, match="there is no trace"):
        tf.summary.trace_export("x", step=0)
