"""A graph as a page to look around in: groups that open, search, zoom, details of each node.

What the page shows is put into it as data; the template beside this file draws it. Nodes are
folded by name scope, or by the line that made them if there are many: gradients and unrolled loops.
"""

from __future__ import annotations

import functools
import html
import json
import linecache
from collections.abc import Iterator
from importlib import resources
from typing import Any

from weft._src.graph.ir import Graph, Node
from weft._src.graph.printer import graph_as_data


def graph_html(graph: Graph, title: str | None = None) -> str:
    """A page in which one can look around in a graph.

    Args:
      graph: the graph of a trace, `f.get_concrete_function(...).graph`.
      title: of the page; the name of the graph, if not given.

    Returns:
      The text of the page, which needs no other files.

    >>> graph = tf.function(lambda x: x + 1).get_concrete_function(tf.constant(2)).graph
    >>> "<svg" in tf.tools.drawing.graph_html(graph)
    True
    """
    every = list(_nodes(graph, ""))
    data = {
        "graph": graph_as_data(graph),
        "count": len(every),
        "effects": [path for path, node in every if node.effects.must_run],
        "lines": _lines([node for _, node in every]),
    }
    parts = {
        "title": html.escape(title or graph.name),
        "text": html.escape(str(graph)),
        # Nothing in it may end the script that holds it.
        "data": json.dumps(data).replace("<", "\\u003c"),
    }
    page = _template()
    for name, text in parts.items():
        page = page.replace("{{" + name + "}}", text)
    return page


@functools.cache
def _template() -> str:
    return resources.files(__package__).joinpath("graph_page.html").read_text(encoding="utf-8")


def _nodes(graph: Graph, path: str) -> Iterator[tuple[str, Node]]:
    """All nodes with their places among nested graphs, as the page counts them."""
    for node in graph.body:
        here = f"{path}{node.name}"
        yield here, node
        for key, nested in node.nested:
            yield from _nodes(nested, f"{here}/{key}/")


def _lines(nodes: list[Node]) -> dict[str, Any]:
    """The lines of code that nodes come from."""
    places = {(node.location.file, node.location.line) for node in nodes}
    found = {f"{file}:{line}": linecache.getline(file, line).strip() for file, line in places}
    return {place: text for place, text in found.items() if text}
