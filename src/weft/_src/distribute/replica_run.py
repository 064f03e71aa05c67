"""The op that runs a function on every replica, and how it runs without XLA: in threads.

The function is traced once. Its graph has places for the arguments of all replicas, so that it
lines up with the inputs of the op; a replica puts its own into the first ones. In threads every
replica runs the graph by itself, on the best tier there is, and meets the others in collectives. It
gets cells of its own for the variables, which share the memory until they are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.cells import VariableCell
from weft._src.core.dtypes import ANY
from weft._src.core.lazily import cached_property
from weft._src.core.random_numbers.stream_state import REPLICA_BITS, RngCell
from weft._src.core.replica_cells import OnReadCell
from weft._src.core.specs import TensorSpec
from weft._src.core.xla_rules import Lowered
from weft._src.distribute.groups import ThreadGroup
from weft._src.execution.tiers import TieredPlan
from weft._src.graph.ir import Graph
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, Op, define_op, each


class ReplicaProgram:
    """The graph of one replica, and how many of them run it.

    `arguments` is the number of arguments of one; the graph has that many inputs for each.
    """

    def __init__(self, graph: Graph, replicas: int, arguments: int) -> None:
        self.graph = graph
        self._replicas, self._arguments = replicas, arguments

    @cached_property
    def _plan(self) -> TieredPlan:
        return TieredPlan(_with_plain_inputs(self.graph))

    def run(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The results of replica 0, of replica 1, and so on."""
        n, count = self._replicas, self._arguments
        captured = values[n * count :]
        # A plan of NumPy's, or machine code; all replicas share it.
        run = self._plan.run
        cells = [[_own(value, i) for value in captured] for i in range(n)]

        def replica(number: int) -> Any:
            own = list(values[number * count : (number + 1) * count])
            return run(*own * n, *cells[number])

        results = ThreadGroup(n).run(replica)
        for i, value in enumerate(captured):
            _take_over(value, [own[i] for own in cells])
        return tuple([x for result in results for x in result])


def _own(value: Any, number: int) -> Any:
    """What a replica gets in place of a variable or a random stream."""
    if isinstance(value, OnReadCell):
        return _cell(value.parts[number], value.name)
    if isinstance(value, VariableCell):
        return _cell(value.data, value.name)
    if isinstance(value, RngCell):  # every replica draws its own numbers
        state = value.read()
        state[1] += number << REPLICA_BITS
        return RngCell(state)
    return value


def _cell(data: Any, name: str) -> VariableCell:
    """A cell that shares an array until it is written."""
    cell = VariableCell(None, name)
    cell.data, cell.shared = data, True
    return cell


def _take_over(value: Any, own: Sequence[Any]) -> None:
    """What replicas have written: where all agree, that of the first."""
    if isinstance(value, OnReadCell):
        value.parts = [cell.data for cell in own]
    elif isinstance(value, VariableCell):
        if own[0].data is not value.data:
            value.data, value.shared = own[0].data, own[0].shared
            value.version += 1
    elif isinstance(value, RngCell):
        value.write(own[0].read())


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
