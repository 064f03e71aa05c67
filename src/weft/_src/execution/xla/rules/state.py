"""Variables: their values go into the program, and new ones come out."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.xla.lowering import Cell, Lowering, Value
from weft._src.execution.xla.rules import lowers
from weft._src.execution.xla.rules.indexing import nd_index, placed, rows_outside, sliced
from weft._src.graph.ir import Node


def _cell(node: Node, cell: Value) -> Cell:
    if not isinstance(cell, Cell):
        raise NotCompilableError(f"{node.op.name} of what is no variable", node)
    return cell


def _value(lowering: Lowering, node: Node, cell: Value) -> Any:
    """The value of a variable; of one that replicas have apart, what they have together."""
    value = lowering.state[_cell(node, cell).key]
    if cell.apart is None:
        return value
    if cell.apart == "ONLY_FIRST_REPLICA":
        return value[0]
    if cell.apart == "NONE":
        raise NotCompilableError(f"{cell.name!r} has no one value outside of replicas", node)
    total = jnp.sum(value, axis=0, dtype=value.dtype)
    return (total / value.shape[0]).astype(value.dtype) if cell.apart == "MEAN" else total


@lowers("read_variable")
def _read(lowering: Lowering, node: Node, cell: Value) -> Any:
    return _value(lowering, node, cell)


@lowers("is_initialized")
def _is_initialized(lowering: Lowering, node: Node, cell: Value) -> Any:
    _cell(node, cell)  # one without a value would not have come so far
    return np.asarray(True)


@lowers("assign_variable")
def _assign(lowering: Lowering, node: Node, cell: Value, value: Value) -> tuple[()]:
    stored = _store(lowering, node, _cell(node, cell), jnp.asarray(value))
    # Who reads the variable has been given the tensor that was assigned.
    if cell.apart is None and not isinstance(value, np.ndarray):
        lowering.replace(node.inputs[1], stored)
    return ()


@lowers("update_variable")
def _update(
    lowering: Lowering, node: Node, cell: Value, value: Value, *, combination: str
) -> tuple[()]:
    before = _value(lowering, node, cell)
    _store(lowering, node, cell, getattr(jnp, combination)(before, value))
    return ()


def _store(lowering: Lowering, node: Node, cell: Cell, value: Value) -> Value:
    before = lowering.state[cell.key]
    if cell.apart is not None:  # each replica gets its share of a sum, or all of it
        share = (value / before.shape[0]).astype(value.dtype) if cell.apart == "SUM" else value
        value = jnp.broadcast_to(share, before.shape)
    if value.shape != before.shape or value.dtype != before.dtype:
        raise NotCompilableError(f"{cell.name!r} gets another shape or dtype", node)
    return lowering.store(cell.key, value)


# --- parts ---------------------------------------------------------------------------------------


@lowers("gather_variable")
def _gather(lowering: Lowering, node: Node, cell: Value, indices: Value) -> Any:
    value = _value(lowering, node, cell)
    lowering.check(rows_outside(indices, value.shape[0]))
    return jnp.take(value, indices, 0, mode="clip")


@lowers("gather_nd_variable")
def _gather_nd(lowering: Lowering, node: Node, cell: Value, indices: Value) -> Any:
    value = _value(lowering, node, cell)
    return value[(*nd_index(lowering, value.shape, indices, 0), ...)]


@lowers("scatter_variable")
def _scatter(
    lowering: Lowering,
    node: Node,
    cell: Value,
    indices: Value,
    updates: Value,
    *,
    combination: str | None,
) -> tuple[()]:
    value = _value(lowering, node, cell)
    lowering.check(rows_outside(indices, value.shape[0]))
    updates = jnp.broadcast_to(jnp.asarray(updates), (*np.shape(indices), *value.shape[1:]))
    _store(lowering, node, cell, placed(value, (indices,), updates, combination))
    return ()


@lowers("scatter_nd_variable")
def _scatter_nd(
    lowering: Lowering,
    node: Node,
    cell: Value,
    indices: Value,
    updates: Value,
    *,
    combination: str | None,
) -> tuple[()]:
    value = _value(lowering, node, cell)
    index = nd_index(lowering, value.shape, indices, node.attrs["batch_dims"])
    _store(lowering, node, cell, placed(value, index, jnp.asarray(updates), combination))
    return ()


@lowers("read_slice")
def _read_slice(lowering: Lowering, node: Node, cell: Value, *positions: Value) -> Any:
    value = _value(lowering, node, cell)
    return sliced(lowering, node, value, positions)[0]


@lowers("assign_slice")
def _assign_slice(
    lowering: Lowering,
    node: Node,
    cell: Value,
    value: Value,
    *positions: Value,
    combination: str | None,
) -> tuple[()]:
    before = _value(lowering, node, cell)
    part, put = sliced(lowering, node, before, positions)
    if combination is None:
        new = jnp.broadcast_to(jnp.asarray(value), part.shape)
    else:
        new = getattr(jnp, combination)(part, value)
    _store(lowering, node, cell, put(new))
    return ()
