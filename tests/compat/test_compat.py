"""tf.compat."""

from __future__ import annotations

import logging

import pytest

import weft as tf


def test_graphs_built_by_hand() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, (None, 5), name="x")
        y = tf.compat.v1.placeholder(tf.float32)
        z = tf.matmul(x, tf.ones([5, 2])) + y
    assert [n.name for n in graph.as_graph_def().node][:2] == ["x", "Placeholder"]
    assert z.graph is graph
    assert isinstance(graph, tf.compat.v1.Graph)
    with pytest.raises(RuntimeError, match="as_default"):
        tf.compat.v1.placeholder(tf.float32)


def test_text() -> None:
    assert tf.compat.as_bytes("é") == "é".encode()
    assert tf.compat.as_bytes(bytearray(b"x")) == b"x"
    assert tf.compat.as_text("é".encode()) == tf.compat.as_str("é") == "é"
    for convert in (tf.compat.as_bytes, tf.compat.as_text):
        with pytest.raises(TypeError, match="got 3"):
            convert(3)
    assert [tf.compat.as_str_any(x) for x in (b"a", "b", 3, None)] == ["a", "b", "3", "None"]


def test_first_lines_of_programs() -> None:
    tf.compat.v1.enable_eager_execution()
    tf.compat.v1.enable_v2_behavior()
    assert tf.compat.v1.executing_eagerly()
    with tf.Graph().as_default():
        assert not tf.compat.v1.executing_eagerly()
        with pytest.raises(ValueError, match="a graph is being built"):
            tf.compat.v1.enable_eager_execution()


def test_logging(caplog: pytest.LogCaptureFixture) -> None:
    v1 = tf.compat.v1.logging
    before = tf.get_logger().level
    try:
        for level in (v1.ERROR, "ERROR"):
            v1.set_verbosity(level)
            assert v1.get_verbosity() == tf.get_logger().level == logging.ERROR
        v1.warning("too quiet")
        v1.set_verbosity(v1.DEBUG)
        for write in (v1.debug, v1.info, v1.warn, v1.error, v1.fatal):
            write("%s of %d", write.__name__, 5)
        texts = ["debug of 5", "info of 5", "warning of 5", "error of 5", "fatal of 5"]
        assert caplog.messages == texts
        with pytest.raises(ValueError, match="got 'LOUD'"):
            v1.set_verbosity("LOUD")
        with pytest.raises(AttributeError, match="vlog"):
            v1.vlog
    finally:
        tf.get_logger().setLevel(before)
