"""Compiling a graph for the values of one call."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from weft.core import dtypes
from weft.core.cells import VariableCell
from weft.core.specs import TensorSpec
from weft.execution.native import compiler
from weft.execution.native.executable import Executable
from weft.execution.native.specialize import specialize
from weft.execution.native.trampoline import full_text
from weft.execution.native.translate import Translation, translate
from weft.execution.native.values import NotCompilableError as NotCompilableError
from weft.graph.ir import Graph

_RESOURCE = TensorSpec.of(dtypes.resource, ())


def types_of(values: Sequence[Any]) -> tuple[list[TensorSpec], list[TensorSpec | None]]:
    """The specs of inputs, and those of the variables among them."""
    specs: list[TensorSpec] = []
    variables: list[TensorSpec | None] = []
    for value in values:
        if isinstance(value, VariableCell):
            if value.data is None:
                raise NotCompilableError(f"the variable {value.name!r} is not initialised")
            specs.append(_RESOURCE)
            variables.append(_spec(value.data))
        elif hasattr(value, "dtype") and hasattr(value, "shape"):
            specs.append(_spec(value))
            variables.append(None)
        else:
            raise NotCompilableError(f"an input is a {type(value).__name__}")
    return specs, variables


def _spec(array: Any) -> TensorSpec:
    return TensorSpec.of(dtypes.from_numpy(array.dtype), array.shape)


def translate_for(graph: Graph, values: Sequence[Any]) -> Translation:
    """The program of a graph for inputs like these."""
    specs, variables = types_of(values)
    return translate(specialize(graph, specs), variables)


class Compiled(Executable):
    """An executable and what is worth knowing about it."""

    def __init__(self, graph: Graph, values: Sequence[Any]) -> None:
        started = time.perf_counter()
        translation = translate_for(graph, values)
        self.text = full_text(translation)
        self.steps = translation.program.steps
        super().__init__(translation, compiler.compile_text(self.text))
        self.milliseconds = 1e3 * (time.perf_counter() - started)


def compile_graph(graph: Graph, values: Sequence[Any], *, whole: bool) -> Compiled:
    """Machine code for a graph; `whole` means that nothing may be left to NumPy."""
    return Compiled(graph, values)
