"""The parts of convolutions as values that are compiled."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft._src.execution.native.front.lowering.movement import with_border
from weft._src.execution.native.front.lowering.products import panels, striped, tap_panels
from weft._src.execution.native.front.lowering.rules import reduced, reshaped
from weft._src.execution.native.loops.kernels.blocking import Places, RightSide
from weft._src.execution.native.loops.kernels.tiles import Tiles
from weft._src.execution.native.loops.values import Stored, Value
from weft._src.ops.nn.windows import Geometry

if TYPE_CHECKING:
    from weft._src.execution.native.front.lowering.graphs import Lowering


class ValueMaker:
    """Makes values for a graph (`direct.Maker`)."""

    def __init__(self, lowering: Lowering, label: str, like: Value) -> None:
        self.lowering, self.label, self.dtype = lowering, label, like.dtype

    def stripes(
        self, x: Value, shape: tuple[int, ...], *, copy: bool, rows: int, apart: int = 0
    ) -> RightSide:
        """Of a value whose elements are read in this shape."""
        matrix = reshaped(x, shape)
        found = panels(self.lowering, matrix, tb=False, copy=copy, rows=rows, apart=apart)
        # The same memory, which need not be copied to lose its axes.
        return dataclasses.replace(found, value=x) if found.value is matrix else found

    def turned_stripes(
        self, filters: Value, shape: tuple[int, int, int], rows: int, apart: int
    ) -> RightSide:
        """Of filters that lead back."""
        return tap_panels(self.lowering, reshaped(filters, shape), rows, apart)

    def channel_stripes(self, image: Value, width: int) -> Value:
        """Copied vector by vector."""
        channels = image.shape[-1]
        return striped(reshaped(image, (image.size // channels, channels)), width, turned=False)

    def bordered(self, x: Value, where: Geometry) -> Value:
        """With zeros around."""
        return with_border(x, where, 0)

    def product(
        self, a: Value, b: Value, shape: tuple[int, ...], regions: Sequence[Places]
    ) -> Value:
        """By tiles."""
        result = Stored(self.dtype, shape, self.label)
        self.lowering.add(Tiles(a, b, result, regions))
        return result

    def sum_of_parts(self, x: Value) -> Value:
        """In their order."""
        return reduced(x, (0,), "add", self.label)
