"""Random graphs on XLA, held against the reference interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fuzzing.native_graphs import check_with
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.xla.plan import Program
from weft._src.execution.xla.segments import Segmented
from weft._src.graph.ir import Graph


def check_xla_graph(seed: int) -> str | None:
    """Random graphs: programs of XLA against the reference interpreter."""
    return check_with(compile_for_xla, seed)


def compile_for_xla(graph: Graph, values: Sequence[Any], *, whole: bool) -> Callable[..., Any]:
    """A program, or segments; it gives None where a check fails."""
    try:
        program = Program(graph, lambda *values: None)
        program.lowered_for(values)
        return program
    except NotCompilableError:
        if whole:
            raise
        return Segmented(graph, values)
