"""Convolutions of arrays by tiles; NumPy does what does not suit them."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.execution.native.array_tiles import MAKERS, attempt
from weft._src.execution.native.front.lowering import direct
from weft._src.ops.nn.windows import Geometry

Array = np.ndarray[Any, Any]


def _contiguous(*arrays: Array) -> list[Array]:
    return [np.ascontiguousarray(x) for x in arrays]


class WindowKernels:
    """Convolutions of images with channels last in one group; None where NumPy is to do it."""

    def convolved(self, x: Array, filters: Array, where: Geometry) -> Array | None:
        """The convolution."""
        maker = MAKERS[x.dtype]
        channels, outputs = filters.shape[-2:]
        if not direct.suits(where, maker.dtype, x.shape[0], channels, outputs):
            return None
        x, filters = _contiguous(x, filters)
        return attempt(lambda: direct.convolved(maker, x, filters, where))

    def filter_gradient(
        self, x: Array, shape: tuple[int, ...], g: Array, where: Geometry
    ) -> Array | None:
        """The gradient for filters of a shape."""
        maker = MAKERS[x.dtype]
        if not direct.suits_filters(where, maker.dtype, x.shape[0], shape[-2], shape[-1]):
            return None
        x, g = _contiguous(where.pad(np, x), g)
        return attempt(lambda: direct.filter_gradient(maker, x, g, where))

    def input_gradient(
        self, shape: tuple[int, ...], filters: Array, g: Array, where: Geometry
    ) -> Array | None:
        """The gradient for images of a shape."""
        maker = MAKERS[g.dtype]
        inputs, outputs = filters.shape[-2:]
        if not direct.suits(where, maker.dtype, g.shape[0], outputs, inputs):
            return None
        filters, g = _contiguous(filters, g)
        return attempt(lambda: direct.input_gradient(maker, g, filters, where))

    def convolved_channels(self, x: Array, filters: Array, where: Geometry) -> Array | None:
        """The convolution with one filter (height, width, channels) for each channel."""
        maker = MAKERS[x.dtype]
        if not direct.suits(where, maker.dtype, x.shape[0], 1, filters.shape[-1]):
            return None
        x, filters = _contiguous(x, filters)
        return attempt(lambda: direct.convolved_channels(maker, x, filters, where))

    def channels_filter_gradient(self, x: Array, g: Array, where: Geometry) -> Array | None:
        """The gradient for these filters."""
        maker = MAKERS[x.dtype]
        if not direct.suits(where, maker.dtype, x.shape[0], 1, x.shape[-1]):
            return None
        x, g = _contiguous(x, g)
        return attempt(lambda: direct.channels_filter_gradient(maker, x, g, where))

    def channels_input_gradient(self, g: Array, filters: Array, where: Geometry) -> Array | None:
        """The gradient for images that were convolved with them."""
        maker = MAKERS[g.dtype]
        if not direct.suits(where, maker.dtype, g.shape[0], 1, g.shape[-1]):
            return None
        filters, g = _contiguous(filters, g)
        return attempt(lambda: direct.channels_input_gradient(maker, g, filters, where))
