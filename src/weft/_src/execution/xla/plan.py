"""A graph as a program of XLA: calling it, and what goes in and comes out.

jax keeps one program for each set of shapes; a new set is specialised and lowered when jax traces.
A call takes the values of variables where jax has them (`arrays.py`). If a check fails, or a list
needs more memory than was guessed, variables keep their values: then NumPy runs the call and says
what is wrong, or the program is made again with more memory.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from weft._src.core import dtypes
from weft._src.core.cells import LentCell, VariableCell, lend_all
from weft._src.core.holding import run_holding
from weft._src.core.random_numbers.stream_state import RngCell
from weft._src.core.replica_cells import OnReadCell
from weft._src.core.specs import TensorSpec
from weft._src.execution.devices import names
from weft._src.execution.native.front.specialize import specialize
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.xla import arrays
from weft._src.execution.xla.lowering import TYPES, Cell, Lowering, spec_of
from weft._src.execution.xla.runtime import computing_on, wide_types
from weft._src.execution.xla.stack_values import StackValue
from weft._src.graph.ir import Graph

_MOST_MEMORY = 1 << 16  # times as much as was guessed, for lists
_RESOURCE = TensorSpec.of(dtypes.resource, ())

_log = logging.getLogger("weft")


class Program:
    """A graph that is one program: callable with the values of its inputs."""

    def __init__(
        self,
        graph: Graph,
        fallback: Callable[..., Any],
        backend: Any = None,
        *,
        keeps: bool = False,
    ) -> None:
        """Lowers nothing yet: that waits for shapes.

        Args:
          graph: what is to be a program.
          fallback: runs calls that fail, and tells what is wrong.
          backend: the device of jax that it runs on; None is the first one.
          keeps: whether results stay there, as arrays of jax.
        """
        refuse_types(graph)
        self._backend, self._keeps = backend, keeps
        self._graph = graph
        self._who = f"a call of {graph.name}"
        self._fallback = fallback
        inputs = graph.all_inputs
        self.cells = [i for i, x in enumerate(inputs) if x.dtype is dtypes.resource]
        self.arrays = [i for i, x in enumerate(inputs) if x.dtype is not dtypes.resource]
        written = {id(t) for t in graph.effects.writes}
        self.written = [i for i in self.cells if id(inputs[i]) in written]
        self.read = [i for i in self.cells if id(inputs[i]) not in written]
        self._scale = 1
        # How the values of replicas are combined, for variables of which each has its own.
        self._apart: dict[int, str] = {}
        self._streams: set[int] = set()  # which of the resources are random streams
        self._draws = _draws(graph)  # whether there are any
        # The variables of the call before, if each of them is one that jax has the value of.
        self._usual: list[Any] | None = None
        # Measured: entering the second one takes 5 us more.
        self._context = wide_types if backend is None else partial(computing_on, backend)
        self._jitted = self._compiled()

    def _compiled(self) -> Any:
        # The memory of what is written is used for the new values. Where NumPy looks at it, too,
        # jax takes new memory instead.
        return jax.jit(self.run_traced, donate_argnums=0)

    # --- what jax traces ---------------------------------------------------------------------

    def run_traced(self, written: list[Any], read: list[Any], inputs: list[Any]) -> Any:
        """The outputs, new values of variables, and two bits, or None: bad, and full."""
        before = dict(zip(self.written, written)) | dict(zip(self.read, read))
        special = (self._apart, self._streams)
        lowering, out = lowered(self._graph, self.arrays, before, inputs, self._scale, *special)
        kept = [lowering.kept(i) for i in self.written]
        if lowering.failed() is None:
            return out, kept, None
        bits = [jnp.zeros((), bool) if b is None else b for b in (lowering.bad, lowering.full)]
        return out, kept, jnp.stack(bits)

    # --- calls -------------------------------------------------------------------------------

    def __call__(self, *values: Any) -> Any:
        if self.written or not self.read:  # who writes holds the locks of all its variables
            return self._call(*values)
        # Another thread must not use the memory of what is read for a new value meanwhile.
        cells = sorted([c for i in self.read if hasattr(c := values[i], "lock")], key=id)
        return run_holding([cell.lock for cell in cells], self._call, values, self._who)

    def _call(self, *values: Any) -> Any:
        if not self._draws:
            out, failed = self._run(values)
        else:
            streams = [values[i] for i in self.written if isinstance(values[i], RngCell)]
            with contextlib.ExitStack() as stack:
                for stream in sorted(streams, key=id):
                    stack.enter_context(stream.lent())
                out, failed = self._run(values)
        return out if failed is None else self._again(values, bool(failed[0]))

    def _run(self, values: Sequence[Any]) -> tuple[Any, Any]:
        """The results, or None and two bits: whether a check failed, or a list was too short."""
        with self._context():
            is_usual = self.is_usual(values)
            out, new, bits = self._jitted(*self._given(values, is_usual=is_usual))
            if is_usual:
                lend_all([values[i] for i in self.written], new)
            else:
                for i, value in zip(self.written, new, strict=True):
                    arrays.store(values[i], value)
                self._note_usual(values)
            if bits is not None and (failed := np.asarray(bits)).any():
                return None, failed
            return tuple(out) if self._keeps else tuple([np.asarray(x) for x in out]), None

    def is_usual(self, values: Sequence[Any]) -> bool:
        """Whether the variables are those of the call before, and jax has all of their values.

        Then nothing else has to be looked at: a step with 19 variables takes 20 us less.
        """
        if names.of_other_processes:  # whose parts of a value are not here
            return False
        cells = [values[i] for i in self.cells]
        return cells == self._usual and not any([cell.held is None for cell in cells])  # noqa: C419 (0.5 us)

    def _note_usual(self, values: Sequence[Any]) -> None:
        cells = [values[i] for i in self.cells]
        if self._backend is None and all(type(cell) is LentCell for cell in cells):
            self._usual = cells

    def _given(
        self, values: Sequence[Any], *, is_usual: bool = False
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """What jax's function takes: variables that are written, those that are read, arrays."""
        if is_usual:
            state = [[values[i].held for i in places] for places in (self.written, self.read)]
        else:
            self._note_kinds(values)
            state = [
                [self._held(values[i]) for i in places] for places in (self.written, self.read)
            ]
        return state[0], state[1], self._inputs(values)

    def _note_kinds(self, values: Sequence[Any]) -> None:
        """Compiles anew if other resources than before are apart, or streams."""
        cells = [(i, values[i]) for i in self.cells]
        apart = {i: cell.aggregation for i, cell in cells if isinstance(cell, OnReadCell)}
        streams = {i for i, c in cells if isinstance(c, RngCell)} if self._draws else set()
        if apart != self._apart or streams != self._streams:
            self._apart, self._streams = apart, streams
            self._jitted = self._compiled()

    def _held(self, cell: Any) -> Any:
        """The value of a variable, where it is needed."""
        return arrays.held(cell, self._backend)

    def _inputs(self, values: Sequence[Any]) -> list[Any]:
        """The arrays, where they are needed."""
        return [arrays.given(values[i], self._backend) for i in self.arrays]

    def _again(self, values: Sequence[Any], is_bad: bool) -> Any:
        """After a check: NumPy says what is wrong. Without memory for a list: with more."""
        if is_bad or self._scale >= _MOST_MEMORY:
            hosted = [np.asarray(v) if isinstance(v, jax.Array) else v for v in values]
            return self._fallback(*hosted)
        self._scale *= 2
        _log.info(
            "%s: lists get %d times the memory that was guessed.", self._graph.name, self._scale
        )
        self._jitted = self._compiled()
        return self._call(*values)

    def lowered_for(self, values: Sequence[Any]) -> Any:
        """jax's `Lowered` for inputs like these."""
        with self._context():
            given = self._given(values)
            return self._jitted.lower(*given)


def lowered(
    graph: Graph,
    places: list[int],
    state: dict[int, Any],
    inputs: Sequence[Any],
    scale: int,
    apart: dict[int, str],
    streams: set[int],
) -> tuple[Lowering, list[Any]]:
    """Lowers a graph for traced values, and gives its outputs.

    Args:
      graph: what is lowered.
      places: the positions of inputs that are arrays.
      state: the values of the variables, by their positions.
      inputs: the arrays.
      scale: of the memory that lists get.
      apart: how the values of replicas are combined, of variables where each has its own.
      streams: the positions of random streams.
    """
    n = len(places) + len(state)
    specs: list[TensorSpec] = [_RESOURCE] * n
    variables: list[TensorSpec | None] = [None] * n
    values: list[Any] = [None] * n
    for i, x in zip(places, inputs, strict=True):
        specs[i], values[i] = spec_of(x), x
    for i, x in state.items():
        spec = spec_of(x)
        variables[i] = spec if i not in apart else spec.with_dims(spec.dims[1:])  # type: ignore[index]
        name = graph.all_inputs[i].node.name
        values[i] = Cell(i, name, apart.get(i), is_stream=i in streams)
    special = specialize(graph, specs, variables)
    lowering = Lowering(dict(state), scale)
    lowering.originals = state
    out = lowering.run(special, values)
    if any(isinstance(x, (Cell, StackValue)) for x in out):
        raise NotCompilableError(f"{graph.name} returns a list or a variable")
    return lowering, [jnp.asarray(x) for x in out]


def _draws(graph: Graph) -> bool:
    """Whether a graph, or one inside of it, moves a random stream on."""
    return any(
        node.op.advances_stream or any(_draws(inner) for _, inner in node.nested)
        for node in graph.body
    )


def refuse_types(graph: Graph) -> None:
    """NotCompilableError for a graph that takes or gives what XLA cannot hold."""
    for tensor in (*graph.all_inputs, *graph.outputs):
        if tensor.dtype not in TYPES and tensor.dtype is not dtypes.resource:
            raise NotCompilableError(f"{graph.name} takes or returns {tensor.dtype.name}")


def are_variables(values: Sequence[Any], cells: Sequence[int]) -> bool:
    """Whether the resources of a call are different variables that have values, or streams."""
    found = [values[i] for i in cells]
    usable = all(
        isinstance(c, RngCell)
        or (isinstance(c, VariableCell) and (c.held is not None or c.data is not None))
        for c in found
    )
    return usable and len({id(c) for c in found}) == len(found)
