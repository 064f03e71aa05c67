"""Slices, gathers and scatters. XLA reads the nearest place for an index that is out of range, and
writes nothing; so every index that is not known is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.xla import namespace
from weft._src.execution.xla.lowering import Lowering, Value, known
from weft._src.execution.xla.rules import lowers
from weft._src.graph.ir import Node
from weft._src.ops.indexing import gathering, slicing

_COMBINED = {
    None: "set",
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply",
    "maximum": "max",
    "minimum": "min",
}


def rows_outside(indices: Value, size: int) -> Any:
    """Whether an index is out of range."""
    any_of = np.any if isinstance(indices, np.ndarray) else jnp.any
    return any_of((indices < 0) | (indices >= size))


def placed(x: Value, index: tuple[Any, ...], updates: Value, combination: str | None) -> Any:
    """x with updates combined into it at an index; repeated ones one after the other."""
    if not index:  # every update is for all of x
        return _all_at_once(x, updates, combination)
    at = x.at[index] if len(index) == x.ndim else x.at[(*index, ...)]
    if combination is not None:
        return getattr(at, _COMBINED[combination])(updates)
    return _last_placed(x, index, updates)


def _all_at_once(x: Value, updates: Value, combination: str | None) -> Any:
    each = jnp.reshape(updates, (-1, *x.shape))
    for i in range(each.shape[0]):
        x = each[i] if combination is None else getattr(jnp, combination)(x, each[i])
    return x


def _last_placed(x: Value, index: tuple[Any, ...], updates: Value) -> Any:
    """The last of repeated indices wins. XLA leaves it open which does, so who wins is found first:
    the largest number among the updates of a place.
    """
    lead = np.broadcast_shapes(*[np.shape(i) for i in index])
    count = int(np.prod(lead))
    if not count:
        return x
    numbers = jnp.arange(1, count + 1, dtype=jnp.int32).reshape(lead)
    winners = jnp.zeros(x.shape[: len(index)], jnp.int32).at[index].max(numbers)
    flat = jnp.reshape(jnp.broadcast_to(updates, (*lead, *x.shape[len(index) :])), (count, -1))
    chosen = flat[jnp.maximum(winners - 1, 0)].reshape(x.shape)
    mask = (winners > 0).reshape((*winners.shape, *[1] * (x.ndim - winners.ndim)))
    return jnp.where(mask, chosen, x)


# --- gather --------------------------------------------------------------------------------------


def _batches(sizes: Sequence[int], rank: int) -> list[Any]:
    return gathering.batch_positions(namespace, tuple(sizes), rank)


@lowers("gather")
def _gather(lowering: Lowering, node: Node, params: Value, indices: Value) -> Any:
    at, batch = gathering.normalized(
        **node.attrs, params_rank=params.ndim, indices_rank=indices.ndim
    )
    lowering.check(rows_outside(indices, params.shape[at]))
    params = jnp.asarray(params)
    if not batch:
        return jnp.take(params, indices, at, mode="clip")
    rows = jnp.moveaxis(params, at, batch)
    positions = _batches(params.shape[:batch], indices.ndim)
    safe = jnp.clip(indices, 0, max(params.shape[at] - 1, 0))
    picked = rows[(*positions, safe, ...)]
    return jnp.moveaxis(picked, *gathering.moves(at, batch, indices.ndim))


@lowers("gather_grad")
def _gather_grad(lowering: Lowering, node: Node, shape: Value, g: Value, indices: Value) -> Any:
    sizes = tuple(known(node, shape).tolist())
    at, batch = gathering.normalized(
        **node.attrs, params_rank=len(sizes), indices_rank=indices.ndim
    )
    lowering.check(rows_outside(indices, sizes[at]))
    places, sources = gathering.moves(at, batch, indices.ndim)
    moved = (*sizes[:batch], sizes[at], *sizes[batch:at], *sizes[at + 1 :])
    positions = _batches(sizes[:batch], indices.ndim)
    updates = jnp.moveaxis(jnp.asarray(g), sources, places)
    total = jnp.zeros(moved, updates.dtype).at[(*positions, indices)].add(updates)
    return jnp.moveaxis(total, batch, at)


def nd_index(
    lowering: Lowering, shape: Sequence[int], indices: Value, batch_dims: int
) -> tuple[Any, ...]:
    """The index that vectors of indices stand for, checked and kept inside."""
    depth = indices.shape[-1]
    sizes = np.asarray(shape[batch_dims : batch_dims + depth], indices.dtype)
    if depth and indices.size:
        any_of = np.any if isinstance(indices, np.ndarray) else jnp.any
        lowering.check(any_of((indices < 0) | (indices >= sizes)))
    inside = jnp.clip(indices, 0, np.maximum(sizes - 1, 0)) if depth else indices
    positions = _batches(shape[:batch_dims], indices.ndim - 1)
    if not depth:
        positions = [jnp.broadcast_to(p, indices.shape[:-1]) for p in positions]
    return (*positions, *[inside[..., i] for i in range(depth)])


@lowers("gather_nd")
def _gather_nd(lowering: Lowering, node: Node, params: Value, indices: Value) -> Any:
    batch = node.attrs["batch_dims"]
    params = jnp.asarray(params)
    if indices.shape[-1] == 0 and not batch:
        return jnp.broadcast_to(params, (*indices.shape[:-1], *params.shape))
    return params[(*nd_index(lowering, params.shape, indices, batch), ...)]


# --- scatter -------------------------------------------------------------------------------------


@lowers("scatter_nd")
def _scatter_nd(
    lowering: Lowering, node: Node, indices: Value, updates: Value, shape: Value
) -> Any:
    sizes = tuple(known(node, shape).tolist())
    updates = jnp.asarray(updates)
    index = nd_index(lowering, sizes, indices, node.attrs["batch_dims"])
    return placed(jnp.zeros(sizes, updates.dtype), index, updates, "add")


@lowers("tensor_scatter")
def _tensor_scatter(
    lowering: Lowering,
    node: Node,
    x: Value,
    indices: Value,
    updates: Value,
    *,
    combination: str | None,
) -> Any:
    index = nd_index(lowering, x.shape, indices, 0)
    return placed(jnp.asarray(x), index, jnp.asarray(updates), combination)


@lowers("take_along")
def _take_along(lowering: Lowering, node: Node, x: Value, indices: Value) -> Any:
    axis = node.attrs["axis"]
    lowering.check(rows_outside(indices, x.shape[axis]))
    safe = jnp.clip(indices, 0, max(x.shape[axis] - 1, 0))
    return jnp.take_along_axis(jnp.asarray(x), safe, axis)


# --- slices --------------------------------------------------------------------------------------


@lowers("strided_slice")
def _strided_slice(lowering: Lowering, node: Node, x: Value, *positions: Value) -> Any:
    return sliced(lowering, node, jnp.asarray(x), positions)[0]


@lowers("strided_slice_grad")
def _strided_slice_grad(
    lowering: Lowering, node: Node, shape: Value, g: Value, *positions: Value
) -> Any:
    g = jnp.asarray(g)
    zeros = jnp.zeros(tuple(known(node, shape).tolist()), g.dtype)
    part, put = sliced(lowering, node, zeros, positions)
    return put(jnp.broadcast_to(g, part.shape))


def sliced(
    lowering: Lowering, node: Node, x: Value, positions: Sequence[Any]
) -> tuple[Any, Callable[[Any], Any]]:
    """x[index], and a function that gives x with another part there."""
    index = node.attrs["index"]
    if all(isinstance(p, np.ndarray) for p in positions):
        at = (*slicing.runtime_index(x, tuple(positions), index), ...)
        return x[at], x.at[at].set
    return _moving(lowering, node, x, positions, slicing.expanded(index, x.ndim))


def _moving(
    lowering: Lowering, node: Node, x: Value, positions: Sequence[Any], entries: list[Any]
) -> tuple[Any, Callable[[Any], Any]]:
    """Single indices that are computed; bounds of slices have to be known, as sizes are."""
    starts: list[Any] = []
    sizes: list[int] = []
    rest: list[Any] = []  # of the index, for what was cut out
    for entry in entries:
        if entry == slicing.NEW_AXIS:
            rest.append(None)
            continue
        n = x.shape[len(starts)]
        if isinstance(entry, tuple) and entry[0] != "input":
            parts = [_known_part(node, part, positions) for part in entry]
            starts.append(0)
            sizes.append(n)
            rest.append(slice(*parts))
        else:
            i = positions[entry[1]] if isinstance(entry, tuple) else entry
            starts.append(_start(lowering, i, n))
            sizes.append(1)
            rest.append(0)
    starts = [jnp.asarray(s, jnp.int32) for s in starts]
    if 0 in x.shape:
        raise NotCompilableError("a slice of nothing", node)
    cut = jax.lax.dynamic_slice(x, starts, sizes)
    at = (*rest, ...)
    return cut[at], lambda part: jax.lax.dynamic_update_slice(x, cut.at[at].set(part), starts)


def _start(lowering: Lowering, i: Value, n: int) -> Any:
    """An index that counts from the beginning; one that is not known to be inside is checked."""
    if lowering.is_inside(i, n):
        return i
    lowering.check((i < -n) | (i >= n))
    return i % max(n, 1) if isinstance(i, int) else jnp.where(i < 0, i + n, i)


def _known_part(node: Node, part: Value, positions: Sequence[Any]) -> Any:
    if not isinstance(part, tuple):
        return part
    return int(known(node, positions[part[1]]))


@lowers("slice")
def _slice(lowering: Lowering, node: Node, x: Value, begin: Value, size: Value) -> Any:
    sizes = known(node, size)
    shape = np.asarray(x.shape)
    x = jnp.asarray(x)
    if isinstance(begin, np.ndarray):
        lengths = np.where(sizes < 0, shape - begin, sizes)
        return x[tuple([slice(b, b + n) for b, n in zip(begin.tolist(), lengths.tolist())])]
    if (sizes < 0).any():
        raise NotCompilableError("the size of a slice depends on data", node)
    lowering.check(jnp.any((begin < 0) | (begin + sizes > shape)))
    return jax.lax.dynamic_slice(x, list(begin), sizes.tolist())
