"""tf.compat."""

from __future__ import annotations

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
