"""The replicas of all processes of a job as one program of XLA.

Every process calls the same program at the same time, with the arguments of its own replicas. A
value of all processes is an array of jax of which each has a part: variables that are alike are
whole everywhere, and all else lies along a first axis, a row for each replica.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from weft._src.core.cells import VariableCell, lend
from weft._src.core.random_numbers.stream_state import REPLICA_BITS, RngCell
from weft._src.core.replica_cells import OnReadCell
from weft._src.errors import UnavailableError
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.xla.lowering import Cell, Lowering
from weft._src.execution.xla.rules.replicas import AXIS, Replicas
from weft._src.execution.xla.runtime import computing_on
from weft._src.graph.ir import Graph

_MOST_MEMORY = 1 << 16  # times as much as was guessed, for lists


class SpanningProgram:
    """The graph of a replica, on the devices of all processes.

    local: how many replicas this process has.
    arguments: how many arguments one of them has.
    fallback: runs the replicas in threads, if they cannot be a program, or a check failed.
    are_alike: whether all processes say the same; asked before each call, as one that has other
        shapes than the others would wait for them for ever.
    """

    def __init__(
        self,
        graph: Graph,
        local: int,
        arguments: int,
        fallback: Callable[..., Any],
        are_alike: Callable[[str], bool],
    ) -> None:
        self._graph, self._local, self._arguments = graph, local, arguments
        self._fallback, self._are_alike = fallback, are_alike
        self._scale = 1
        self._jitted: Any = None
        self._replicas: Replicas | None = None
        self._mesh = Mesh(np.array(jax.devices()), (AXIS,))
        self._everywhere = NamedSharding(self._mesh, PartitionSpec())
        self._rows = NamedSharding(self._mesh, PartitionSpec(AXIS))

    def __call__(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The results of the first replica of this process, of the second, and so on."""
        n, count = self._local, self._arguments
        own = [values[i * count : (i + 1) * count] for i in range(n)]
        captured = values[n * count :]
        kinds = {str([(x.dtype.name, x.shape) for x in one]) for one in own}
        if not self._are_alike(str(sorted(kinds))) or len(kinds) > 1:
            return self._fallback(values)
        try:
            with computing_on(None):
                results = self._run(own, captured)
        except NotCompilableError:
            return self._fallback(values)
        except jax.errors.JaxRuntimeError as error:
            raise UnavailableError(
                None,
                None,
                f"A program of all workers failed: {error}. Start the job again; "
                "tf.train.Checkpoint has what was saved.",
            ) from error
        return self._fallback(values) if results is None else results

    def _run(self, own: list[Sequence[Any]], captured: Sequence[Any]) -> tuple[Any, ...] | None:
        if self._jitted is None:
            self._jitted = self._compiled(captured)
        replicas = self._replicas
        assert replicas is not None
        alike = {i: self._whole(captured[i]) for i in replicas.alike}
        apart = {i: self._parts(captured[i]) for i in (*replicas.apart, *replicas.streams)}
        arguments = [self._along_rows(xs) for xs in zip(*own, strict=True)]
        plain = [None if _is_state(x) else self._whole(x) for x in captured]
        out, alike, apart, bits = self._jitted(alike, apart, arguments, plain)
        bad, full = np.asarray(bits)
        if full and not bad and self._scale < _MOST_MEMORY:
            self._scale *= 2
            self._jitted = None
            return self._run(own, captured)
        if bad or full:
            return None
        for i, value in alike.items():
            lend(captured[i], value)
        for i, value in apart.items():
            self._store(captured[i], self._own_rows(value))
        rows = [self._own_rows(x) for x in out]
        return tuple([x[r] for r in range(self._local) for x in rows])

    def _compiled(self, captured: Sequence[Any]) -> Any:
        cells = [
            Cell(
                i,
                self._graph.all_inputs[-len(captured) + i].node.name,
                x.aggregation if isinstance(x, OnReadCell) else None,
                is_stream=isinstance(x, RngCell),
            )
            if _is_state(x)
            else x
            for i, x in enumerate(captured)
        ]
        replicas = Replicas(Lowering({}, self._scale), self._graph, cells, len(self._mesh.devices))
        self._replicas = replicas
        spread = replicas.spread(self._mesh)

        def run(alike: Any, apart: Any, arguments: Any, plain: Any) -> Any:
            out, new_alike, new_apart, bad, full = spread(alike, apart, arguments, plain)
            failed = jnp.any(bad) | jnp.any(full)
            kept = {key: jnp.where(failed, alike[key], x) for key, x in new_alike.items()}
            kept_apart = {key: jnp.where(failed, apart[key], x) for key, x in new_apart.items()}
            return out, kept, kept_apart, jnp.stack([jnp.any(bad), jnp.any(full)])

        rows, whole = self._rows, self._everywhere
        return jax.jit(run, out_shardings=(rows, whole, rows, whole))

    # --- between this process and all --------------------------------------------------------

    def _whole(self, value: Any) -> Any:
        """A value that is the same in all processes."""
        if isinstance(value, VariableCell):
            if value.held is not None and value.held.sharding == self._everywhere:
                return value.held
            value = value.data
        return self._global(np.asarray(value), self._everywhere)

    def _parts(self, cell: Any) -> Any:
        """The values of the replicas of this process, as rows of those of all."""
        if isinstance(cell, OnReadCell):
            return self._along_rows(cell.parts)
        first = jax.process_index() * self._local
        states = []
        for i in range(self._local):
            state = cell.read()
            state[1] += (first + i) << REPLICA_BITS
            states.append(state)
        return self._along_rows(states)

    def _along_rows(self, parts: Sequence[Any]) -> Any:
        return self._global(np.stack([np.asarray(x) for x in parts]), self._rows)

    def _global(self, own: Any, sharding: NamedSharding) -> Any:
        return jax.make_array_from_process_local_data(sharding, own)

    def _own_rows(self, value: Any) -> list[Any]:
        shards = sorted(value.addressable_shards, key=lambda shard: shard.index[0].start or 0)
        return [np.asarray(shard.data)[0] for shard in shards]

    def _store(self, cell: Any, parts: list[Any]) -> None:
        if isinstance(cell, OnReadCell):
            cell.parts = list(parts)
            return
        state = np.array(parts[0])
        state[1] -= (jax.process_index() * self._local) << REPLICA_BITS
        cell.write(state)


def _is_state(value: Any) -> bool:
    return isinstance(value, (VariableCell, RngCell))
