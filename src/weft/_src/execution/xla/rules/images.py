"""Axes with another size: products with a matrix that has few numbers in each row."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from weft._src.execution.xla.lowering import Lowering, Value, known
from weft._src.execution.xla.rules import lowers
from weft._src.graph.ir import Node
from weft._src.ops.image import kernels


@lowers("resize_axis")
def _resize_axis(
    lowering: Lowering, node: Node, x: Value, wanted: Value, *, back: bool = False
) -> Any:
    form = {key: value for key, value in node.attrs.items() if key != "axis"}
    axis = node.attrs["axis"]
    size, new = x.shape[axis], int(known(node, wanted))
    bands = kernels.resizing(size=new if back else size, wanted=size if back else new, **form)
    starts, weights = bands[2:] if back else bands[:2]
    return _banded(jnp.asarray(x), np.asarray(starts), np.asarray(weights), axis)


@lowers("resample")
def _resample(
    lowering: Lowering, node: Node, x: Value, starts: Value, weights: Value, *back: Value
) -> Any:
    axis = node.attrs["axis"]
    if starts.size:
        lowering.check(jnp.any((starts < 0) | (starts + weights.shape[1] > x.shape[axis])))
    return _banded(jnp.asarray(x), starts, weights, axis)


def _banded(x: Value, starts: Value, weights: Value, axis: int) -> Any:
    rows = jnp.moveaxis(x, axis, -1).astype(weights.dtype)
    total = jnp.zeros((*rows.shape[:-1], starts.shape[0]), weights.dtype)
    for i in range(weights.shape[1]):
        total = total + jnp.take(rows, starts + i, -1, mode="clip") * weights[:, i]
    return jnp.moveaxis(total, -1, axis)
