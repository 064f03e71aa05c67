"""Replicas: one program for all of them, each on a device of its own, and what they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, PartitionSpec

from weft._src.core.random_numbers.stream_state import REPLICA_BITS
from weft._src.execution.native.front.specialize import specialize
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.xla import runtime
from weft._src.execution.xla.lowering import Cell, Lowering, Value, spec_of
from weft._src.execution.xla.rules import lowers
from weft._src.execution.xla.stack_values import StackValue
from weft._src.graph.ir import Graph, Node

AXIS = "replica"
_SAME, _EACH = PartitionSpec(), PartitionSpec(AXIS)


def _require_replicas(lowering: Lowering, node: Node) -> None:
    """Elsewhere the replicas are threads or processes, which meet on the host."""
    if not lowering.replicas:
        raise NotCompilableError(f"{node.op.name}: the replicas are no devices of XLA", node)


@lowers("collective_reduce")
def _reduce(lowering: Lowering, node: Node, *values: Value) -> Sequence[Any]:
    _require_replicas(lowering, node)
    arrays = [jnp.asarray(x) for x in values]
    how = node.attrs["how"]
    if how == "FIRST":
        first = jax.lax.axis_index(AXIS) == 0
        arrays = [jnp.where(first, x, jnp.zeros_like(x)) for x in arrays]
    totals = jax.lax.psum(arrays, AXIS)
    if how != "MEAN":
        return totals
    n = lowering.replicas
    return [t / n if jnp.issubdtype(t.dtype, jnp.inexact) else t // n for t in totals]


@lowers("collective_gather")
def _gather(lowering: Lowering, node: Node, x: Value) -> Any:
    _require_replicas(lowering, node)
    axis = node.attrs["axis"] % x.ndim
    return jax.lax.all_gather(jnp.asarray(x), AXIS, axis=axis, tiled=True)


@lowers("collective_own_part")
def _own_part(lowering: Lowering, node: Node, x: Value, like: Value) -> Any:
    _require_replicas(lowering, node)
    axis = node.attrs["axis"] % like.ndim
    size = like.shape[axis]
    start = jax.lax.axis_index(AXIS) * size
    return jax.lax.dynamic_slice_in_dim(jnp.asarray(x), start, size, axis)


@lowers("replica_id")
def _replica_id(lowering: Lowering, node: Node) -> Any:
    _require_replicas(lowering, node)
    return jax.lax.axis_index(AXIS).astype(jnp.int32)


@lowers("replica_run")
def _replica_run(lowering: Lowering, node: Node, *inputs: Value) -> Sequence[Any]:
    n, graph = node.attrs["replicas"], node.attrs["program"].graph
    if node.attrs["program"].job is not None:
        raise NotCompilableError("there are replicas in other processes", node)
    count = node.attrs["arguments"]
    parts = [inputs[i * count : (i + 1) * count] for i in range(n)]
    if any(len({tuple(x.shape) for x in xs}) > 1 for xs in zip(*parts, strict=True)):
        raise NotCompilableError("replicas get arguments of different shapes", node)
    run = Replicas(lowering, graph, inputs[n * count :], n)
    stacked = [jnp.stack([jnp.asarray(x) for x in xs]) for xs in zip(*parts, strict=True)]
    out, state, bad, full = run(stacked, _devices(node))
    lowering.state.update(state)
    if run.checks:
        lowering.check(jnp.any(bad))
    if run.grows:
        lowering.check_room(jnp.any(full))
    return [x[i] for i in range(n) for x in out]


def _devices(node: Node) -> list[Any]:
    """The devices of jax that the replicas run on."""
    names = node.attrs["program"].devices
    try:
        return [runtime.device_of(name) for name in names]
    except (IndexError, RuntimeError):
        raise NotCompilableError(f"jax has not all of the devices {names}", node) from None


class Replicas:
    """The function of one replica, and how it is spread over devices.

    n: how many replicas there are.
    captured: what the function uses besides arguments, with a `Cell` for each variable.
    """

    def __init__(self, lowering: Lowering, graph: Graph, captured: Sequence[Any], n: int) -> None:
        self._around, self._graph = lowering, graph
        self._captured, self._n = captured, n
        cells = [x for x in captured if isinstance(x, Cell)]
        self.apart = [c.key for c in cells if c.apart is not None]
        self.streams = [c.key for c in cells if c.is_stream]
        self.alike = [c.key for c in cells if c.apart is None and not c.is_stream]
        self.checks = self.grows = False

    def __call__(self, arguments: list[Any], devices: list[Any]) -> Any:
        state = self._around.state
        alike = {key: jnp.asarray(state[key]) for key in self.alike}
        apart = {key: jnp.asarray(state[key]) for key in self.apart}
        streams = {key: self._spread(jnp.asarray(state[key])) for key in self.streams}
        plain = [None if isinstance(x, Cell) else jnp.asarray(x) for x in self._captured]
        spread = self.spread(Mesh(devices, (AXIS,)))
        out, alike, apart, bad, full = spread(alike, apart | streams, arguments, plain)
        for key in self.streams:  # they all have moved on alike
            apart[key] = apart[key][0]
        return out, alike | apart, bad, full

    def spread(self, mesh: Mesh) -> Any:
        """The function on all devices of a mesh.

        It takes and gives variables that are alike, and those of which each replica has its own,
        along a first axis; further arguments along such an axis, and what else is captured. It
        gives results along such an axis, and for each replica whether a check failed, or a list
        was too short.
        """
        return jax.shard_map(
            self._replica,
            mesh=mesh,
            in_specs=(_SAME, _EACH, _EACH, _SAME),
            out_specs=(_EACH, _SAME, _EACH, _EACH, _EACH),
            check_vma=False,  # variables that all replicas change alike are alike
        )

    def _spread(self, stream: Value) -> Any:
        """The states of a random stream for all replicas, each of which draws its own numbers."""
        numbers = jnp.arange(self._n, dtype=jnp.int64)
        states = jnp.tile(stream, (self._n, 1))
        return states.at[:, 1].add(numbers << REPLICA_BITS)

    def _replica(self, alike: Value, apart: Value, arguments: list[Any], plain: list[Any]) -> Any:
        state = dict(alike) | {key: x[0] for key, x in apart.items()}
        inner = Lowering(state, self._around.scale, replicas=self._n)
        # Those of other replicas have places in the graph, too, which nobody looks at.
        places = len(self._graph.all_inputs) - len(self._captured)
        own = [x[0] for x in arguments] * (places // max(len(arguments), 1))
        captured = [
            Cell(c.key, c.name, is_stream=c.is_stream) if isinstance(c, Cell) else x
            for c, x in zip(self._captured, plain, strict=True)
        ]
        values = [*own, *captured]
        special = specialize(
            self._graph,
            [
                t.spec if isinstance(v, Cell) else spec_of(v)
                for t, v in zip(self._graph.all_inputs, values, strict=True)
            ],
            [spec_of(state[v.key]) if isinstance(v, Cell) else None for v in values],
        )
        out = inner.run(special, values)
        if any(isinstance(x, (Cell, StackValue)) for x in out):
            raise NotCompilableError("a replica returns a list or a variable")
        self.checks, self.grows = inner.bad is not None, inner.full is not None
        bits = [jnp.zeros(1, bool) if b is None else b[None] for b in (inner.bad, inner.full)]
        return (
            [jnp.asarray(x)[None] for x in out],
            {key: inner.state[key] for key in self.alike},
            {key: inner.state[key][None] for key in (*self.apart, *self.streams)},
            *bits,
        )
