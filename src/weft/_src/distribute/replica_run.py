"""The op that runs a function on every replica, and how it runs without XLA: in threads.

The function is traced once. Its graph has places for the arguments of all replicas, so that it
lines up with the inputs of the op; a replica puts its own into the first ones. In threads every
replica runs the graph by itself, on the best tier there is, and meets the others in collectives. It
gets cells of its own for the variables, which share the memory until they are written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.cells import VariableCell
from weft._src.core.dtypes import ANY
from weft._src.core.lazily import cached_property
from weft._src.core.random_numbers.stream_state import REPLICA_BITS, RngCell
from weft._src.core.replica_cells import OnReadCell
from weft._src.core.specs import TensorSpec
from weft._src.core.xla_rules import Lowered
from weft._src.distribute.groups import Group, JobGroup, ThreadGroup
from weft._src.execution.devices import spans_processes
from weft._src.execution.tiers import TieredPlan
from weft._src.graph.ir import Graph
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, Op, define_op, each


class ReplicaProgram:
    """The graph of one replica, and how many of them run it in this process.

    `arguments` is the number of arguments of one; the graph has that many inputs for each.
    `devices` are the full names of theirs, in their order. `job` is what other processes with such
    replicas take part in, and the number of this one.
    """

    def __init__(
        self,
        graph: Graph,
        replicas: int,
        arguments: int,
        devices: Sequence[str],
        job: tuple[Group, int] | None = None,
    ) -> None:
        self.graph = graph
        self.devices = tuple(devices)
        self.job = job
        self._replicas, self._arguments = replicas, arguments

    @cached_property
    def _plan(self) -> TieredPlan:
        return TieredPlan(_with_plain_inputs(self.graph))

    @cached_property
    def _spanning(self) -> Any:
        """One program of XLA on the devices of all processes."""
        from weft._src.execution.xla.spanning import SpanningProgram

        return SpanningProgram(
            self.graph, self._replicas, self._arguments, self._in_threads, self._are_alike
        )

    def _are_alike(self, kinds: str) -> bool:
        """Whether all processes come with arguments of these types: else a program would hang."""
        assert self.job is not None
        group, number = self.job
        text = np.frombuffer(hashlib.sha256(kinds.encode()).digest(), np.uint8)
        found = [parts[0].tobytes() for parts in group.all_gather(number, [text])]
        return len(set(found)) == 1

    def run(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The results of the first replica of this process, of the second, and so on."""
        if self.job is not None and spans_processes():
            results: tuple[Any, ...] = self._spanning(values)
            return results
        return self._in_threads(values)

    def _in_threads(self, values: Sequence[Any]) -> tuple[Any, ...]:
        n, count = self._replicas, self._arguments
        captured = values[n * count :]
        # A plan of NumPy's, or machine code; all replicas share it.
        run = self._plan.run
        group = ThreadGroup(n) if self.job is None else JobGroup(n, *self.job)
        first = group.member_number(0)
        cells = [[_own(value, i, first) for value in captured] for i in range(n)]

        def replica(number: int) -> Any:
            own = list(values[number * count : (number + 1) * count])
            return run(*own * n, *cells[number])

        results = group.run(replica)
        for i, value in enumerate(captured):
            _take_over(value, [own[i] for own in cells], first)
        return tuple([x for result in results for x in result])


def _own(value: Any, number: int, first: int) -> Any:
    """What a replica gets in place of a variable or a random stream.

    `first` is what the first replica of this process is called among all of the job.
    """
    if isinstance(value, OnReadCell):
        return _cell(value.parts[number], value.name)
    if isinstance(value, VariableCell):
        return _cell(value.data, value.name)
    if isinstance(value, RngCell):  # every replica draws its own numbers
        state = value.read()
        state[1] += (first + number) << REPLICA_BITS
        return RngCell(state)
    return value


def _cell(data: Any, name: str) -> VariableCell:
    """A cell that shares an array until it is written."""
    cell = VariableCell(None, name)
    cell.data, cell.shared = data, True
    return cell


def _take_over(value: Any, own: Sequence[Any], first: int) -> None:
    """What replicas have written: where all agree, that of the first."""
    if isinstance(value, OnReadCell):
        value.parts = [cell.data for cell in own]
    elif isinstance(value, VariableCell):
        if own[0].data is not value.data:
            value.data, value.shared = own[0].data, own[0].shared
            value.version += 1
    elif isinstance(value, RngCell):
        state = own[0].read()
        state[1] -= first << REPLICA_BITS
        value.write(state)


def _with_plain_inputs(graph: Graph) -> Graph:
    """The graph with its captures as inputs: what is given for them changes from call to call."""
    new = Graph(graph.name)
    known = {id(x): new.add_input(x.spec, x.node.name) for x in graph.all_inputs}
    for node in graph.body:
        copy = new.add_copy(node, tuple([known[id(x)] for x in node.inputs]))
        for old, made in zip(node.outputs, copy.outputs, strict=True):
            known[id(old)] = made
    new.outputs = [known[id(out)] for out in graph.outputs]
    return new


def _infer(
    *specs: TensorSpec, body: Graph, program: ReplicaProgram, replicas: int, arguments: int
) -> tuple[TensorSpec, ...]:
    given = [specs[i * arguments : (i + 1) * arguments] for i in range(replicas)]
    alike = all([s.dims for s in one] == [s.dims for s in given[0]] for one in given)
    graph = body if alike else program.graph
    out = [t.spec if alike else t.spec.with_fresh_dims() for t in graph.outputs]
    return tuple(out * replicas)


def _kernel(
    xp: ArrayNamespace,
    *values: Any,
    body: Graph,
    program: ReplicaProgram,
    replicas: int,
    arguments: int,
) -> tuple[Any, ...]:
    return program.run(values)


# `body` is the graph of the program as passes see it; it tells what is read and written.
replica_run_op: Op = define_op(
    "ReplicaRun",
    each("*input", ANY),
    infer=_infer,
    kernel=_kernel,
    native=HOST_ONLY,
    xla=Lowered("replica_run"),
    vjp=NOT_DIFFERENTIABLE,
    outputs=None,
)
