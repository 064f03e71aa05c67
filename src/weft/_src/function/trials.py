"""Tries what is advised: the function is traced as it would be then, and the graph is forgotten.

Tracing runs the user's Python code. So it is done only for functions that do nothing to Python
themselves (`code_reading.action_of`), and only when an explanation is asked for or logged.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft._src.autograph.met import collecting
from weft._src.function import tracing
from weft._src.function.creation import LaterCalls
from weft._src.function.inspection import Inspected
from weft._src.function.trace_types import TraceType
from weft._src.graph.ir import Graph

Types = tuple[TraceType, ...]
_LONGEST = 1.0  # seconds: a trace that takes longer is not made to give advice


class Trials:
    """Trial traces of one function; each kind of arguments is tried once."""

    def __init__(self, function: Inspected) -> None:
        self._function = function
        self._known: dict[Types, Graph | None] = {}
        self.hindrance = self._found_hindrance()  # why nothing can be tried, in words

    def _found_hindrance(self) -> str | None:
        records = self._function._history.records
        if any(record.seconds > _LONGEST for record in records[-1:]):
            return "tracing takes long"
        found = (record.acts() for record in records)
        return next((action for action in found if action is not None), None)

    def works(self, types: Sequence[TraceType], like: Sequence[Types] = ()) -> bool:
        """Whether the function can be traced for such arguments; True if that cannot be tried.

        Args:
          types: the arguments.
          like: those of traces whose results must be of the same dtypes, and of shapes that fit: a
            tensor in the place of a number may well mean something else to Python.
        """
        key = tuple(types)
        if self.hindrance is not None:
            return True
        if key not in self._known:
            self._known[key] = self._tried(key)
        made = self._known[key]
        return made is not None and all(
            _is_like(made, record.concrete.graph)
            for record in self._function._history.records
            if record.given in like
        )

    def _tried(self, types: Types) -> Graph | None:
        function = self._function
        try:
            with tracing.lock, collecting():
                return tracing.trace(
                    function._python_function,
                    function._parameters,
                    types,
                    LaterCalls(function._label),
                    autograph=function._autograph,
                )
        except Exception:  # noqa: BLE001 - whatever it is: this is no remedy
            return None


def _is_like(made: Graph, known: Graph) -> bool:
    return len(made.outputs) == len(known.outputs) and all(
        a.dtype is b.dtype and a.shape.is_compatible_with(b.shape)
        for a, b in zip(made.outputs, known.outputs, strict=True)
    )
