"""Traces that took Python values from around the function: they look whether these are still so.

Hot path: `WatchedTrace.run` is `ConcreteFunction.run` with one counter more (0.04 us). It looks at
the values in the first calls, and then in every few, the fewer the more values there are: 0.03 us a
call on average.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from weft._src.core.tensor import Tensor
from weft._src.function.captured_state import Change, PythonState
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.short_words import short_repr
from weft._src.function.signature import Parameters
from weft._src.function.trace_types import TraceType
from weft._src.graph.ir import Graph

_logger = logging.getLogger("weft")

_LOOK_AT_FIRST = 16  # calls that all look
_PAUSE = 7  # later calls that do not, and two more for each value

REMEDY = "Pass it as an argument, or keep it in a tf.Variable, which is read in every call"


class WatchedTrace(ConcreteFunction):
    """A trace that warns, once for each name, when it computes with a value of the past."""

    def __init__(
        self,
        graph: Graph,
        parameters: Parameters,
        types: Sequence[TraceType],
        python_state: PythonState,
        label: str,
    ) -> None:
        super().__init__(graph, parameters, types)
        self.python_state = python_state
        self._label = label
        self._told: set[str] = set()
        self._pause = _PAUSE + 2 * len(python_state.captured)
        self._until_look = 0

    def run(self, values: list[Any]) -> Any:
        self._until_look -= 1
        if self._until_look < 0:
            self._look()
        # What follows is ConcreteFunction.run: to call it would take as long as the counter.
        self.calls += 1
        plan = self._plan
        if plan is None:
            plan = self._prepare()
        if self._locked_cells or self._locked_arguments:
            return self._pack(self._run_locked(plan, values))
        return self._pack(plan.run(*values, *self._captured_values))

    def _call_recorded(self, tensors: Sequence[Tensor]) -> Any:
        self._look()
        return super()._call_recorded(tensors)

    def _look(self) -> None:
        self._until_look = 0 if self.calls < _LOOK_AT_FIRST else self._pause
        if self.python_state.holds():
            return
        changes = self.python_state.changes()
        if not changes:  # other objects, but equal: from now on these are what is compared with
            self.python_state = self.python_state.renewed()
        for change in changes:
            self._tell(change)

    def _tell(self, change: Change) -> None:
        name = change.captured.name
        if name in self._told:
            return
        self._told.add(name)
        was = short_repr(change.captured.value)
        _logger.warning(
            "%s was traced when %s was %s, and it is %s now: the trace still computes with %s. %s "
            "(tf.function(..., guard=True) traces again when it changes).",
            self._label,
            change.captured.words,
            was,
            short_repr(change.now),
            was,
            REMEDY,
        )
