"""What a graph becomes on XLA, as text for people, and as bytes for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.export
import jax.numpy as jnp

from weft._src.errors import UnimplementedError
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.xla.plan import Program, are_variables
from weft._src.execution.xla.runtime import wide_types
from weft._src.graph.ir import Graph


def text_of(graph: Graph, values: Sequence[Any], stage: str) -> str:
    """The program of a graph for inputs like these: "stablehlo", "hlo" or "optimized_hlo"."""
    program = _program(graph, values, "experimental_get_compiler_ir")
    lowered = program.lowered_for(values)
    if stage != "optimized_hlo":
        return str(lowered.as_text(stage))
    with wide_types():
        return str(lowered.compile().as_text())


def exported(graph: Graph, values: Sequence[Any]) -> bytes:
    """The program as `jax.export.deserialize` reads it, with the values of variables in it.

    `values` are those of all inputs; those that are no variables only tell their types.
    """
    program = _program(graph, values, "export")
    with wide_types():
        state = [jnp.asarray(values[i].data) for i in program.read]

        def call(*inputs: Any) -> Any:
            return program.run_traced([], state, list(inputs))[0]

        kinds = [jax.ShapeDtypeStruct(values[i].shape, values[i].dtype) for i in program.arrays]
        return bytes(jax.export.export(jax.jit(call))(*kinds).serialize())


def _program(graph: Graph, values: Sequence[Any], asked_by: str) -> Program:
    """The graph as one program, or an error that says why it is none."""
    try:
        program = Program(graph, _never)
        if not are_variables(values, program.cells):
            raise NotCompilableError("it uses a resource that is no variable with a value")
        program.lowered_for(values)
    except NotCompilableError as reason:
        raise UnimplementedError(
            None,
            None,
            f"{asked_by}: {graph.name} cannot be one program of XLA, {reason}.",
        ) from None
    return program


def _never(*values: Any) -> Any:
    raise AssertionError("the program is only looked at")
