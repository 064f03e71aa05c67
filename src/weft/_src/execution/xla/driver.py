"""Running a graph on XLA: as one program if possible, else in segments, else with NumPy."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core import dtypes
from weft._src.errors import UnimplementedError
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.xla.plan import Program, are_variables
from weft._src.execution.xla.segments import Segmented, kinds_of
from weft._src.graph.ir import Graph

_log = logging.getLogger("weft")

_MOST_SHAPES = 8  # versions of a graph in segments


class XlaPlan:
    """The executable form of a graph on XLA.

    whole: whether it must be one program, as `jit_compile=True` asks.
    fallback: runs what XLA cannot run, and tells what is wrong with calls that fail.
    """

    def __init__(self, graph: Graph, fallback: Callable[..., Any], *, whole: bool) -> None:
        self._graph, self._fallback, self._whole = graph, fallback, whole
        self._cells = [i for i, x in enumerate(graph.all_inputs) if x.dtype is dtypes.resource]
        self.program: Program | None = None
        self.versions: list[Segmented] = []
        self.left_out: str | None = None  # why it is not one program
        try:
            self.program = Program(graph, fallback)
        except NotCompilableError as reason:
            self._refuse(reason)

    def __call__(self, *values: Any) -> Any:
        if self.program is None:
            return self._in_segments(values)
        if not self.program.is_usual(values) and not are_variables(values, self._cells):
            return self._without_values(values)
        try:
            return self.program(*values)
        except NotCompilableError as reason:
            if reason.fails:  # on every tier: NumPy says it best
                return self._fallback(*values)
            self._refuse(reason)
        return self._in_segments(values)

    def _without_values(self, values: Sequence[Any]) -> Any:
        """One variable twice, one without a value, or another resource: a generator's stream."""
        cells = [values[i] for i in self._cells]
        if len({id(c) for c in cells}) < len(cells) or any(
            getattr(c, "data", self) is None for c in cells
        ):
            return self._fallback(*values)
        self._refuse(NotCompilableError(f"{self._graph.name} uses resources that are no variables"))
        return self._in_segments(values)

    def _refuse(self, reason: NotCompilableError) -> None:
        self.program, self.left_out = None, str(reason)
        _log.info("%s is not one program of XLA: %s", self._graph.name, reason)
        if self._whole and not any(n.op.advances_stream for n in self._graph.nodes):
            raise UnimplementedError(
                None,
                None,
                f"jit_compile=True: {self._graph.name} cannot be one program of XLA, {reason}. "
                "Leave jit_compile out: then NumPy runs what XLA cannot.",
            ) from reason

    def _in_segments(self, values: Sequence[Any]) -> Any:
        kinds = kinds_of(values)
        for version in self.versions:
            if version.fits(kinds):
                return version(*values)
        try:
            made = Segmented(self._graph, values)
        except NotCompilableError:
            return self._fallback(*values)
        self.versions = [made, *self.versions[: _MOST_SHAPES - 1]]
        return made(*values)
