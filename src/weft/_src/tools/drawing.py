"""Graphs as SVG: a box per node, coloured by name scope, nested graphs in frames below.

Nodes with effects are red; dashed lines go to what has to wait for them.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from weft._src.graph.ir import Graph, Node
from weft._src.graph.printer import describe_node, type_text
from weft._src.tools.layout import Box, Layout, place

_CHAR, _LINE, _PADDING = 6.7, 14.0, 8.0
_FRAME, _TITLE, _BETWEEN = 14.0, 24.0, 20.0
# Soft colours for name scopes; nodes outside of any are white.
_SCOPE_COLOURS = (
    "#dbe9f6", "#e2f0d9", "#fdebd0", "#eadcf4", "#fadbd8", "#d5f0ee", "#f6f1c9", "#e3e3ea",
)  # fmt: skip
_STYLE = (
    ".weft-graph text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#1f2430}"
    ".weft-graph .op{fill:#5d6475}.weft-graph .title{font-weight:600;font-size:12px}"
    ".weft-graph .edge{fill:none;stroke:#8a93a6;stroke-width:1.1}"
    ".weft-graph .effect{stroke:#c0392b;stroke-dasharray:4 3}"
    ".weft-graph .frame{fill:none;stroke:#b9c0cf}"
)


@dataclass
class _Picture:
    """A piece of SVG and its size."""

    width: float
    height: float
    content: str


def graph_svg(graph: Graph, title: str | None = None) -> str:
    """The drawing of a graph as an SVG document that stands alone.

    Args:
      graph: the graph of a trace, `f.get_concrete_function(...).graph`.
      title: stands above it; the name of the graph, if not given.

    Returns:
      The text of the document.

    >>> graph = tf.function(lambda x: x + 1).get_concrete_function(tf.constant(2)).graph
    >>> tf.tools.drawing.graph_svg(graph)[:4]
    '<svg'
    """
    colours: dict[str, str] = {}
    picture = _framed(graph, title or graph.name, colours)
    legend = _legend(colours)
    width = max(picture.width, legend.width) + 2
    height = picture.height + legend.height + 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="weft-graph" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="-1 -1 {width:.0f} {height:.0f}">'
        f"<style>{_STYLE}</style>"
        '<rect x="-1" y="-1" width="100%" height="100%" fill="#ffffff"/>'
        '<defs><marker id="weft-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" '
        'markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="#8a93a6"/></marker></defs>'
        f"{picture.content}{_moved(legend, 0, picture.height)}</svg>"
    )


def _framed(graph: Graph, title: str, colours: dict[str, str]) -> _Picture:
    pictures = [_flat(graph, colours)]
    for node in graph.nodes:
        for key, nested in node.nested:
            pictures.append(_framed(nested, f"{node.name}: {key}", colours))
    width = max(
        [picture.width for picture in pictures] + [len(title) * _CHAR * 1.15]
    )  # the title is bold
    content, y = [], _TITLE + _FRAME / 2
    for picture in pictures:
        content.append(_moved(picture, _FRAME + (width - picture.width) / 2, y))
        y += picture.height + _BETWEEN
    width, y = width + 2 * _FRAME, y - _BETWEEN + _FRAME
    content.append(
        f'<rect class="frame" width="{width:.1f}" height="{y:.1f}" rx="6"/>'
        f'<text class="title" x="{_FRAME}" y="18">{html.escape(title)}</text>'
    )
    return _Picture(width, y, "".join(content))


def _moved(picture: _Picture, x: float, y: float) -> str:
    return f'<g transform="translate({x:.1f} {y:.1f})">{picture.content}</g>'


def _flat(graph: Graph, colours: dict[str, str]) -> _Picture:
    """The nodes of one graph, without what is nested in them."""
    nodes = graph.nodes
    place_of = {id(node): i for i, node in enumerate(nodes)}
    boxes = [_box(node) for node in nodes]
    edges = {(place_of[id(x.node)], i) for i, node in enumerate(nodes) for x in node.inputs}
    order = _control_edges(nodes) - edges
    every = sorted(edges | order)
    layout = place(boxes, every)
    lines = [
        _edge(path, in_order=edge in order) for edge, path in zip(every, layout.paths, strict=True)
    ]
    drawn = [_drawn(node, box, colours) for node, box in zip(nodes, boxes, strict=True)]
    returned = {id(tensor.node) for tensor in graph.outputs}
    rings = [_ring(boxes[place_of[key]]) for key in returned if key in place_of]
    return _sized(layout, "".join([*lines, *rings, *drawn]))


def _control_edges(nodes: Sequence[Node]) -> set[tuple[int, int]]:
    """What has to wait for what, because of the resources they read and write, or of printing."""
    edges: set[tuple[int, int]] = set()
    writer: dict[object, int] = {}
    readers: dict[object, list[int]] = {}
    for i, node in enumerate(nodes):
        writes: list[object] = [id(tensor) for tensor in node.effects.writes]
        writes += ["the outside world"] if node.effects.host_io else []
        reads: list[object] = [id(tensor) for tensor in node.effects.reads]
        for key in reads:
            if key in writer:
                edges.add((writer[key], i))
            readers.setdefault(key, []).append(i)
        for key in writes:
            before = [*readers.pop(key, []), *([writer[key]] if key in writer else [])]
            edges.update([(other, i) for other in before if other != i])
            writer[key] = i
    return edges


def _sized(layout: Layout, content: str) -> _Picture:
    return _Picture(layout.width, layout.height + 4, content)


def _lines(node: Node) -> tuple[str, str]:
    types = ", ".join([type_text(out.spec) for out in node.outputs])
    kind = "input" if node.is_parameter else node.op.name
    if node.is_const and node.attrs["value"].size == 1:
        kind = f"{node.attrs['value'].item()!r}:"  # a number says more than that it is a constant
    return node.name.rpartition("/")[2], f"{kind} {types}".strip()


def _box(node: Node) -> Box:
    longest = max([len(line) for line in _lines(node)])
    return Box(longest * _CHAR + 2 * _PADDING, 2 * _LINE + _PADDING)


def _drawn(node: Node, box: Box, colours: dict[str, str]) -> str:
    scope = node.name.rpartition("/")[0]
    fill = "#ffffff"
    if scope:
        fill = colours.setdefault(scope, _SCOPE_COLOURS[len(colours) % len(_SCOPE_COLOURS)])
    radius = box.height / 2 if node.is_parameter or node.is_const else 4
    border = "#c0392b" if node.effects.must_run else "#6b7488"
    name, op = [html.escape(line) for line in _lines(node)]
    return (
        f'<g transform="translate({box.x - box.width / 2:.1f} {box.y:.1f})">'
        f"<title>{html.escape(describe_node(node))}</title>"
        f'<rect width="{box.width:.1f}" height="{box.height:.1f}" rx="{radius}" fill="{fill}" '
        f'stroke="{border}"/><text x="{box.width / 2:.1f}" y="{_LINE + 1}" '
        f'text-anchor="middle">{name}</text><text class="op" x="{box.width / 2:.1f}" '
        f'y="{2 * _LINE + 1}" text-anchor="middle">{op}</text></g>'
    )


def _ring(box: Box) -> str:
    """A second line around what the graph returns."""
    return (
        f'<rect x="{box.x - box.width / 2 - 3:.1f}" y="{box.y - 3:.1f}" rx="6" fill="none" '
        f'width="{box.width + 6:.1f}" height="{box.height + 6:.1f}" stroke="#6b7488"/>'
    )


def _edge(path: list[Box], *, in_order: bool) -> str:
    points = [(path[0].x, path[0].y + path[0].height)]
    points += [(box.x, box.y + box.height / 2) for box in path[1:-1]]
    points.append((path[-1].x, path[-1].y - 2))
    steps = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        middle = (y0 + y1) / 2
        steps.append(f"C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}")
    kind = "edge effect" if in_order else "edge"
    return f'<path class="{kind}" marker-end="url(#weft-arrow)" d="{"".join(steps)}"/>'


def _legend(colours: dict[str, str]) -> _Picture:
    """The name scopes and their colours."""
    if not colours:
        return _Picture(0, 0, "")
    pieces, x = [], 0.0
    for scope, colour in colours.items():
        pieces.append(
            f'<rect x="{x:.1f}" y="8" width="12" height="12" rx="2" fill="{colour}" '
            f'stroke="#6b7488"/><text x="{x + 17:.1f}" y="18">{html.escape(scope)}</text>'
        )
        x += 17 + len(scope) * _CHAR + 18
    return _Picture(x, 28, "".join(pieces))
