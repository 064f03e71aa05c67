"""Drawings: nothing overlaps, and edges go downwards."""

from __future__ import annotations

import itertools
import random

import pytest

from weft._src.tools.layout import Box, place


@pytest.mark.parametrize("seed", range(8))
def test_random_graphs(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randrange(1, 40)
    boxes = [Box(rng.uniform(20, 120), 30) for _ in range(count)]
    edges = sorted({
        tuple(sorted(rng.sample(range(count), 2))) for _ in range(2 * count) if count > 1
    })  # fmt: skip
    layout = place(boxes, edges)  # type: ignore[arg-type]
    for (a, b), path in zip(edges, layout.paths, strict=True):
        assert (path[0], path[-1]) == (boxes[a], boxes[b])
        assert all(lower.y > upper.y for upper, lower in itertools.pairwise(path))
    for one, other in itertools.combinations(boxes, 2):
        apart = abs(one.x - other.x) + 1e-6 >= (one.width + other.width) / 2
        assert apart or abs(one.y - other.y) >= 30
    for box in boxes:
        assert box.x - box.width / 2 >= -1e-6
        assert box.x + box.width / 2 <= layout.width + 1e-6
        assert box.y + box.height <= layout.height + 1e-6


def test_nothing() -> None:
    layout = place([], [])
    assert (layout.width, layout.height, layout.paths) == (0.0, 0.0, [])
