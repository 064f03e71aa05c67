"""Places of the largest elements, sorting, searching, counting, and scans."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from weft._src.execution.xla import namespace as xp
from weft._src.execution.xla.lowering import Lowering, Value, known
from weft._src.execution.xla.rules import lowers
from weft._src.execution.xla.rules.indexing import rows_outside
from weft._src.graph.ir import Node


@lowers("first_place")
def _first_place(lowering: Lowering, node: Node, x: Value, *, best: str) -> Any:
    x = xp.widen(jnp.asarray(x))
    if np.dtype(x.dtype).kind == "f":  # NaN is never the best, as long as there is another
        worst = -np.inf if best == "maximum" else np.inf
        x = jnp.where(jnp.isnan(x), jnp.asarray(worst, x.dtype), x)
    find = jnp.argmax if best == "maximum" else jnp.argmin
    dtype = node.attrs["output_type"].numpy_dtype
    return find(x, axis=node.attrs["axis"]).astype(dtype)


def _order(x: Value, axis: int, descending: bool) -> Any:
    """Stable in both directions; NaN is the largest."""
    x = xp.widen(jnp.asarray(x))
    if not descending:
        return jnp.argsort(x, axis=axis, stable=True)
    last = x.shape[axis] - 1
    return last - jnp.flip(jnp.argsort(jnp.flip(x, axis), axis=axis, stable=True), axis)


@lowers("argsort")
def _argsort(lowering: Lowering, node: Node, x: Value) -> Any:
    return _order(x, **node.attrs).astype(jnp.int32)


@lowers("top_k")
def _top_k(lowering: Lowering, node: Node, x: Value, k: Value) -> tuple[Any, Any]:
    count = int(known(node, k))
    order = _order(x, -1, True)[..., :count]
    index_type = node.attrs["index_type"].numpy_dtype
    return jnp.take_along_axis(jnp.asarray(x), order, -1), order.astype(index_type)


@lowers("bound")
def _bound(lowering: Lowering, node: Node, sequence: Value, values: Value, *, side: str) -> Any:
    dtype = node.attrs["out_type"].numpy_dtype
    sequence, values = xp.widen(jnp.asarray(sequence)), xp.widen(jnp.asarray(values))
    rows = sequence.reshape(-1, sequence.shape[-1])
    wanted = values.reshape(-1, values.shape[-1])
    found = jax.vmap(lambda row, some: jnp.searchsorted(row, some, side=side))(rows, wanted)
    return found.reshape(values.shape).astype(dtype)


@lowers("put_along")
def _put_along(lowering: Lowering, node: Node, shape: Value, g: Value, indices: Value) -> Any:
    axis = node.attrs["axis"]
    g = jnp.asarray(g)
    out = jnp.zeros(tuple(known(node, shape).tolist()), g.dtype)
    lowering.check(rows_outside(indices, out.shape[axis]))
    return jnp.put_along_axis(out, jnp.asarray(indices), g, axis, inplace=False)


@lowers("bincount")
def _bincount(lowering: Lowering, node: Node, x: Value, size: Value, weights: Value) -> Any:
    bins = int(known(node, size))
    binary = node.attrs["binary_output"]
    weighed = not binary and (bool(weights.size) or weights.shape == x.shape)
    rows = jnp.reshape(x, (1, -1)) if x.ndim < 2 else jnp.asarray(x)
    if x.size:
        lowering.check(jnp.any(rows < 0))
    amounts = jnp.reshape(weights, rows.shape) if weighed else jnp.ones(rows.shape, weights.dtype)
    lines = jnp.arange(rows.shape[0])[:, None]
    # What is beyond the last bin is not counted: XLA drops it.
    out = jnp.zeros((rows.shape[0], bins), weights.dtype).at[lines, rows].add(amounts, mode="drop")
    if binary:
        out = (out > 0).astype(weights.dtype)
    return jnp.reshape(out, (*x.shape[:-1], bins) if x.ndim else (bins,))


@lowers("in_top_k")
def _in_top_k(lowering: Lowering, node: Node, predictions: Value, targets: Value, k: Value) -> Any:
    x = jnp.asarray(predictions)
    classes = x.shape[-1]
    inside = (targets >= 0) & (targets < classes)
    safe = jnp.clip(targets, 0, max(classes - 1, 0))
    wanted = jnp.take_along_axis(x, safe[:, None], 1)
    larger = jnp.sum(x > wanted, axis=1)
    return inside & jnp.all(jnp.isfinite(x), axis=1) & (larger < k)


# --- scans ---------------------------------------------------------------------------------------


@lowers("scan")
def _scan(lowering: Lowering, node: Node, x: Value, *, combination: str) -> Any:
    axis, reverse = node.attrs["axis"], node.attrs["reverse"]
    dtype = x.dtype
    x = xp.widen(jnp.asarray(x))
    axis %= x.ndim
    out = _SCANS[combination](x, axis, reverse)
    if node.attrs["exclusive"]:
        out = _shifted(out, axis, reverse, _STARTS[combination])
    return out.astype(dtype)


_SCANS: dict[str, Any] = {
    "add": jax.lax.cumsum,
    "multiply": jax.lax.cumprod,
    "logaddexp": jax.lax.cumlogsumexp,
}
_STARTS = {"add": 0, "multiply": 1, "logaddexp": -np.inf}


def _shifted(x: Value, axis: int, reverse: bool, start: float) -> Any:
    """Without each element itself: one place further on, the start before all."""
    if not x.shape[axis]:
        return x
    borders = [(0, 0, 0)] * x.ndim
    borders[axis] = (-1, 1, 0) if reverse else (1, -1, 0)
    return jax.lax.pad(x, jnp.asarray(start, x.dtype), borders)
