"""Where to draw the nodes of a graph: in layers from top to bottom, edges mostly straight.

The usual method in four steps: layers by the longest path, stand-ins where edges pass through a
layer, an order in each layer that avoids crossings, and then places near the neighbours.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

_GAP_X, _GAP_Y = 14.0, 34.0
_SWEEPS = 8


@dataclass(eq=False)
class Box:
    """Something to be placed; a stand-in for a passing edge has no size."""

    width: float = 0.0
    height: float = 0.0
    layer: int = 0
    x: float = 0.0  # the centre
    y: float = 0.0  # the top
    above: list[Box] = field(default_factory=list)
    below: list[Box] = field(default_factory=list)


@dataclass
class Layout:
    """The size of the drawing, and the places each edge goes through."""

    width: float
    height: float
    paths: list[list[Box]]


def place(boxes: Sequence[Box], edges: Sequence[tuple[int, int]]) -> Layout:
    """Sets x and y of the boxes. Edges go from earlier boxes to later ones."""
    _assign_layers(boxes, edges)
    layers: list[list[Box]] = [[] for _ in range(1 + max([b.layer for b in boxes], default=0))]
    for box in boxes:
        layers[box.layer].append(box)
    paths = [_path(boxes[a], boxes[b], layers) for a, b in edges]
    for path in paths:
        for upper, lower in itertools.pairwise(path):
            upper.below.append(lower)
            lower.above.append(upper)
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        for layer in layers if downwards else reversed(layers):
            _order(layer, downwards)
    _assign_places(layers)
    left = min([b.x - b.width / 2 for layer in layers for b in layer], default=0.0)
    y = 0.0
    for layer in layers:
        for box in layer:
            box.x, box.y = box.x - left, y
        y += max([b.height for b in layer], default=0.0) + _GAP_Y
    width = max([b.x + b.width / 2 for layer in layers for b in layer], default=0.0)
    return Layout(width, max(y - _GAP_Y, 0.0), paths)


def _assign_layers(boxes: Sequence[Box], edges: Sequence[tuple[int, int]]) -> None:
    for a, b in sorted(edges, key=lambda edge: edge[1]):
        boxes[b].layer = max(boxes[b].layer, boxes[a].layer + 1)
    # Then each as low as those that use it allow: reads and constants stand by their users.
    users: dict[int, list[int]] = {}
    for a, b in edges:
        users.setdefault(a, []).append(b)
    for a in sorted(users, reverse=True):
        boxes[a].layer = min([boxes[b].layer for b in users[a]]) - 1


def _path(start: Box, end: Box, layers: list[list[Box]]) -> list[Box]:
    path = [start]
    for layer in range(start.layer + 1, end.layer):
        stand_in = Box(width=8.0, layer=layer)
        layers[layer].append(stand_in)
        path.append(stand_in)
    return [*path, end]


def _order(layer: list[Box], downwards: bool) -> None:
    for i, box in enumerate(layer):
        box.x = float(i)

    def wanted(box: Box) -> float:
        others = box.above if downwards else box.below
        return sum([other.x for other in others]) / len(others) if others else box.x

    layer.sort(key=wanted)
    for i, box in enumerate(layer):
        box.x = float(i)


def _assign_places(layers: list[list[Box]]) -> None:
    for layer in layers:
        x = 0.0
        for box in layer:
            box.x = x + box.width / 2
            x += box.width + _GAP_X
        for box in layer:
            box.x -= x / 2
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            _move_towards_neighbours(layer)


def _move_towards_neighbours(layer: list[Box]) -> None:
    wanted = []
    for box in layer:
        others = [*box.above, *box.below]
        wanted.append(sum([other.x for other in others]) / len(others) if others else box.x)
    # From the left, nobody closer than allowed; then the whole layer back to where it wanted to be.
    edge = float("-inf")
    for box, x in zip(layer, wanted, strict=True):
        box.x = max(x, edge + box.width / 2)
        edge = box.x + box.width / 2 + _GAP_X
    shift = sum([x - box.x for box, x in zip(layer, wanted, strict=True)]) / max(len(layer), 1)
    for box in layer:
        box.x += shift
