"""How shapes that are computed, and stitched tensors, are written (see `ops.graph_forms`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.dtypes import int32
from weft._src.ops.graph_forms import FormBody, Written, cast


def _ones_at(b: FormBody, shape: Any, axes: Any) -> Any:
    """A shape with 1 in some places."""
    axes = cast(b, axes, int32)
    rank = b.add("Size", shape)
    places = b.add("ExpandDims", b.add("FloorMod", b.add("AddV2", axes, rank), rank), b.const(1))
    ones = b.add("Fill", b.add("Shape", axes), b.const(1, shape.dtype))
    return b.add("TensorScatterUpdate", shape, places, ones)


def reduced_shape(b: FormBody, shape: Written, *, axis: Any) -> Any:
    """The shape that a reduction with keepdims gives."""
    if axis is None:
        return b.add("Fill", b.add("Shape", shape), b.const(1, shape.dtype))
    return _ones_at(b, shape, b.const(np.atleast_1d(np.array(axis, np.int32)), int32))


def reduced_shapes(b: FormBody, shape: Written, axes: Written) -> Any:
    """The same for axes that are computed, and the shape without them."""
    axes = b.add("Reshape", cast(b, axes, int32), b.const([-1]))
    rank = b.add("Size", shape)
    places = b.add("FloorMod", b.add("AddV2", axes, rank), rank)
    others, _ = b.add("ListDiff", b.add("Range", b.const(0), rank, b.const(1)), places)
    return [_ones_at(b, shape, axes), b.add("GatherV2", shape, others, b.const(0))]


def stitch(b: FormBody, *indices_and_data: Any, num: int) -> Any:
    """DynamicStitch."""
    indices = [cast(b, x, int32) for x in indices_and_data[:num]]
    return b.add("DynamicStitch", indices, list(indices_and_data[num:]))


def sums_of_repetitions(b: FormBody, g: Written, multiples: Written, shape: Written) -> Any:
    """The gradient of tiling: each axis is cut into repetitions, which are added up."""
    pairs = b.add("Pack", [cast(b, multiples, int32), cast(b, shape, int32)], axis=1)
    cut = b.add("Reshape", pairs, b.const([-1]))
    axes = b.add("Range", b.const(0), b.add("Size", cut), b.const(2))
    return b.add("Sum", b.add("Reshape", g, cut), axes)
