"""Functions given to datasets: traced once for the type of the elements, then run as plans.

Hot path: a call is the call of a plan with the arrays of an element; no tensors are made.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from weft._src import nest
from weft._src.autograph.conversion import converted
from weft._src.core.aliases import SpecNest
from weft._src.core.context import building
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.data.core import structure
from weft._src.data.core.stage import Run
from weft._src.data.core.structure import Values
from weft._src.errors import OpError
from weft._src.execution.runner import locked_inputs, locks_of, plan_of, run_locked
from weft._src.function import tracing
from weft._src.function.creation import first_trace
from weft._src.function.signature import Parameters
from weft._src.function.trace_types import TraceType, type_of
from weft._src.graph.ir import Graph
from weft._src.ops.sampling.streams import is_seeded_stream


class Debug:
    """Whether functions run as Python instead of being traced (`enable_debug_mode`)."""

    enabled = False


NOT_TRIED: Any = object()


class Traced:
    """A function of the user for arguments of given specs: an attribute of dataset ops."""

    def __init__(self, function: Callable[..., Any], specs: Sequence[Any], method: str) -> None:
        if not callable(function):
            raise ValueError(f"Dataset.{method}: a function is expected, got {function!r}.")
        self.method = method
        self.specs = tuple(specs)
        name = getattr(function, "__name__", type(function).__name__)
        self.name = "function" if name == "<lambda>" else name
        parameters = Parameters(function, f"Dataset.{method}: {name}")
        types: list[TraceType] = [type_of(value) for value in parameters.bind(self.specs, {})]
        parameters.name = self.name
        called = converted(function)

        def finished(*args: Any, **kwargs: Any) -> Any:
            # Containers are made for each call, so a function may change them.
            own = nest.map_structure(lambda leaf: leaf, (args, kwargs))
            return _result(called(*own[0], **own[1]), method)

        def run(policy: Any) -> Graph:
            return tracing.trace(finished, parameters, types, policy, autograph=False)

        self.graph: Graph
        with tracing.lock:
            # Layers of Keras create their variables when they are first called.
            self.graph, self._created = first_trace(f"Dataset.{method}", run, None)
        self.function = function
        self.debug = Debug.enabled
        self.structure = self.graph.structured_outputs
        self.output_spec = structure.spec_of_element(self.structure)
        self.effects = self.graph.effects
        self.rows_graph: Any = NOT_TRIED  # the function of many elements, None if there is none

    @property
    def captures(self) -> list[Tensor]:
        """What the function uses from outside: inputs of the op that holds it."""
        return [outer for outer, _ in self.graph.captures]

    @property
    def is_pure(self) -> bool:
        """Whether running it has no effect that anybody could see."""
        return not self.effects.must_run and not self.debug

    def __repr__(self) -> str:
        return f"<{self.name} of Dataset.{self.method}>"


def _result(value: Any, method: str) -> Any:
    """What a function returned as an element: a list of tensors counts as a tuple."""
    try:
        return structure.normalize(tuple(value) if isinstance(value, list) else value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"Dataset.{method}: the function must return tensors, numbers, strings or None, in a "
            f"nest if there are several. {error}"
        ) from error


def of_element(function: Callable[..., Any], element_spec: SpecNest, method: str) -> Traced:
    """A function of one element: the parts of a tuple are arguments of their own."""
    return Traced(function, arguments(element_spec), method)


def arguments(element_spec: SpecNest) -> tuple[Any, ...]:
    """An element as the arguments of a function."""
    return element_spec if type(element_spec) is tuple else (element_spec,)


class Call:
    """A traced function together with the values it captures: callable with flat values."""

    __slots__ = ("_captured", "_eagerly", "_locks", "_plan", "traced")

    def __init__(self, traced: Traced, captured: Sequence[Any]) -> None:
        self.traced = traced
        self._captured = tuple(captured)
        self._plan: Any = None
        self._locks: list[Any] = []
        self._eagerly = _run_python if traced.debug else None

    def on(self, run: Run) -> Call:
        """The call for one iterator; whether it touches variables is noted in the run."""
        if any(hasattr(value, "lock") for value in self._captured):
            run.uses_variables = True
        if not any(map(is_seeded_stream, self._captured)):
            return self
        own = [_stream_of(value, run) if is_seeded_stream(value) else value
               for value in self._captured]  # fmt: skip
        return Call(self.traced, own)

    def __call__(self, values: Values) -> Values:
        """The flat results for one element."""
        try:
            if self._eagerly is not None:
                return self._eagerly(self.traced, values)
            plan = self._plan or self._prepare()
            if self._locks:
                return run_locked(self._locks, plan, (*values, *self._captured))
            return plan.run(*values, *self._captured)
        except OpError as error:
            raise self._named(error) from None

    def _named(self, error: OpError) -> OpError:
        """The error, which says to which transformation the function belongs."""
        if error.within is None:
            error.within = f"the function given to Dataset.{self.traced.method}"
        return error

    def _prepare(self) -> Any:
        graph = self.traced.graph
        first = len(graph.inputs)
        held = [self._captured[i - first] for i in locked_inputs(graph) if i >= first]
        self._locks = locks_of(held)
        self._plan = plan_of(graph)
        return self._plan

    def many(self, elements: Sequence[Values], results: list[Values]) -> None:
        """Appends the results for several elements; those before an error are there already."""
        if not self.traced.is_pure:
            results.extend(map(self, elements))
            return
        plan = self._plan or self._prepare()
        captured = self._captured
        append = results.append
        try:
            if plan.run is plan.numpy:
                plan.numpy.for_each([(*values, *captured) for values in elements], append)
                return
            for values in elements:
                append(plan.run(*values, *captured))
        except OpError as error:
            raise self._named(error) from None


def _stream_of(cell: Any, run: Run) -> Any:
    if id(cell) not in run.streams:
        run.streams[id(cell)] = (cell, cell.restarted())
    return run.streams[id(cell)][1]


_one_at_a_time = threading.RLock()


def _run_python(traced: Traced, values: Values) -> Values:
    """Runs the Python function itself on eager tensors, for debugging."""
    tensors = iter([structure.eager_tensor(value) for value in values])
    args = [
        structure.pack(spec, [next(tensors) for _ in structure.flat_specs(spec)])
        for spec in traced.specs
    ]
    with _one_at_a_time, building(None):
        result = _result(traced.function(*args), traced.method)
    nest.assert_same_structure(traced.output_spec, result)
    return tuple([t._value for t in structure.flatten_element(result)])  # type: ignore[attr-defined]


def is_scalar_bool(spec: SpecNest) -> bool:
    """Whether a function returns what a condition must be."""
    return isinstance(spec, TensorSpec) and spec.dtype.is_bool and spec.rank in (None, 0)
