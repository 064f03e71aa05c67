"""`tf.function(..., guard=True)`: traced again when Python values have changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from weft._src.function import tracing
from weft._src.function.captured_state import Change, PythonState
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.polymorphic import PolymorphicFunction
from weft._src.function.trace_table import TraceTable
from weft._src.function.trace_types import TraceType

_P = ParamSpec("_P")
_R = TypeVar("_R")


class GuardedFunction(PolymorphicFunction[_P, _R]):
    """Every call compares the values that traces have taken from around the function.

    Traces whose values have changed are put aside, and come back when the values do.
    """

    def _reset(self) -> None:
        super()._reset()
        self._aside: list[ConcreteFunction] = []
        self._changes: list[Change] = []
        self._checks: list[Callable[[], bool]] = []  # whether the values of each trace are as then

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        for holds in self._checks:
            if not holds():
                self._sort_out()
                break
        return super().__call__(*args, **kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        self._sort_out()
        return super().get_concrete_function(*args, **kwargs)

    def _sort_out(self) -> None:
        """Keeps the traces that are true now."""
        with tracing.lock:
            known = [*self._traces, *self._aside]
            self._aside, self._changes, self._traces = [], [], TraceTable()
            self._forget_calls()
            for concrete in known:
                changes = concrete.python_state.changes()
                if changes:
                    self._aside.append(concrete)
                    self._changes = changes
                else:
                    concrete.python_state = concrete.python_state.renewed()
                    self._traces.add(concrete.types, concrete)
            self._note_checks()

    def _note_checks(self) -> None:
        states = [concrete.python_state for concrete in self._traces]
        self._checks = [state.holds for state in states if state.captured]

    def _store(self, types: tuple[TraceType, ...], concrete: ConcreteFunction) -> None:
        super()._store(types, concrete)
        self._note_checks()

    def _concrete(
        self, graph: Any, types: tuple[TraceType, ...], python_state: PythonState
    ) -> ConcreteFunction:
        concrete = ConcreteFunction(graph, self._parameters, types)
        concrete.python_state = python_state
        return concrete

    def _changed_state(self) -> list[Change]:
        changes, self._changes = self._changes, []
        return changes

    @property
    def _decorator_options(self) -> dict[str, Any]:
        return {**super()._decorator_options, "guard": True}
