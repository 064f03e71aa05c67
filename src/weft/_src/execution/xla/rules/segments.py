"""Reductions of rows by segment. The number of segments has to be known."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from weft._src.core import dtypes
from weft._src.execution.xla import namespace as xp
from weft._src.execution.xla.lowering import Lowering, Value, known
from weft._src.execution.xla.rules import lowers
from weft._src.execution.xla.rules.indexing import placed
from weft._src.graph.ir import Node


def _empty(combination: str, dtype: Value) -> Any:
    if combination == "add":
        return 0
    if combination == "multiply":
        return 1
    found = dtypes.from_numpy(np.dtype(dtype))
    return found.min if combination == "maximum" else found.max


@lowers("segments")
def _segments(
    lowering: Lowering, node: Node, data: Value, ids: Value, num: Value, *, combination: str
) -> Any:
    count = int(known(node, num))
    data, ids = jnp.asarray(data), jnp.asarray(ids)
    flat = jnp.reshape(ids, (-1,))
    inner = data.shape[ids.ndim :]
    if flat.size:
        lowering.check(jnp.any(flat >= count))
    rows = jnp.reshape(xp.widen(data), (flat.size, *inner))
    # One row more takes what is left out: negative ids.
    start = jnp.full((count + 1, *inner), _empty(combination, data.dtype), rows.dtype)
    places = jnp.where((flat < 0) | (flat >= count), count, flat)
    return placed(start, (places,), rows, combination)[:count].astype(data.dtype)


@lowers("spread_segments")
def _spread(lowering: Lowering, node: Node, g: Value, ids: Value) -> Any:
    g = jnp.asarray(g)
    if not g.shape[0]:
        return jnp.zeros((*ids.shape, *g.shape[1:]), g.dtype)
    lowering.check(jnp.any(ids >= g.shape[0]) if ids.size else np.asarray(False))
    rows = jnp.take(g, jnp.maximum(ids, 0), 0, mode="clip")
    mask = jnp.reshape(ids >= 0, (*ids.shape, *[1] * (rows.ndim - ids.ndim)))
    return jnp.where(mask, rows, jnp.zeros((), g.dtype))
