"""Graphs as pages: all nodes are in it, nothing is fetched, nothing of a program gets out of it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import weft as tf
from weft.tools.drawing import graph_html


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def trained() -> Any:
    v = tf.Variable(tf.ones([3, 2]))

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            with tf.name_scope("layer1"):
                y = tf.tanh(x @ v)
            i = tf.constant(0)
            while i < 3:
                y, i = y * 2.5, i + 1
            loss = tf.reduce_sum(y)
        v.assign_sub(0.1 * tape.gradient(loss, v))
        return loss

    return step.get_concrete_function(tf.TensorSpec([None, 3])).graph


def test_nodes_nested_graphs_effects_and_lines_are_in_the_page() -> None:
    graph = trained()
    data = data_of(graph_html(graph, "a step"))
    names = {node["name"] for node in data["graph"]["nodes"]}
    assert {"layer1/matmul", "layer1/Tanh", "while"} <= names
    loop = next(node for node in data["graph"]["nodes"] if node["name"] == "while")
    assert set(loop["graphs"]) == {"cond", "body"}
    assert data["effects"] == ["AssignSubVariableOp"]
    assert any("tape.gradient(loss, v)" in line for line in data["lines"].values())
    constants = [n for n in data["graph"]["nodes"] if n["op"] == "Const"]
    assert "0.1" in {n["attributes"]["value"] for n in constants}
    inner = sum(len(g["nodes"]) for g in loop["graphs"].values())
    assert data["count"] >= len(names) + inner


def test_the_page_stands_alone_and_names_its_parts() -> None:
    page = graph_html(trained())
    assert not re.search(r'(?:src|href)="', page)
    assert "{{" not in page

    class Parts(HTMLParser):
        labels = 0

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "button":
                self.labels += 1

    parts = Parts()
    parts.feed(page)
    assert parts.labels == 5
    assert 'role="application"' in page
    assert "prefers-color-scheme: dark" in page


def test_what_programs_say_stays_text() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.strings.join([x, "</script><script>alert(1)</script>"])

    graph = f.get_concrete_function(tf.TensorSpec([], tf.string)).graph
    page = graph_html(graph, "<b>title</b>")
    assert "<script>alert" not in page
    assert "<b>title" not in page
    assert "alert(1)" in str(data_of(page)["graph"])
