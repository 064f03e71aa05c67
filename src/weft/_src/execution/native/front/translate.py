"""From a specialised graph to a program: the front half of the compiler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from weft._src.core import dtypes
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import EagerTensor
from weft._src.execution.native.front.lowering.graphs import Cell, Lowering
from weft._src.execution.native.front.lowering.rules import static_shape
from weft._src.execution.native.loops.blocks import Write
from weft._src.execution.native.loops.program import Program
from weft._src.execution.native.loops.stripes import Striping
from weft._src.execution.native.loops.values import NotCompilableError, Shape, Stored
from weft._src.execution.native.machine.builder import has_memory_type
from weft._src.graph.ir import Graph


class Translation(NamedTuple):
    """A program, and what each slot of its table stands for."""

    program: Program
    inputs: list[tuple[int, Stored]]  # (position among the graph's inputs, slot)
    stripes: list[tuple[int, Stored, Striping]]  # of inputs, which come behind all inputs
    constants: list[np.ndarray[Any, Any]]
    constant_slots: list[Stored]
    cells: frozenset[int]  # positions of variables
    written: frozenset[int]  # positions of variables that are changed
    outputs: list[Stored]


def translate(graph: Graph, variables: Sequence[TensorSpec | None]) -> Translation:
    """The program of a graph; `variables` tells the type of each input that is a variable."""
    program = Program()
    lowering = Lowering(program)
    given: list[Any] = []
    inputs: list[tuple[int, Stored]] = []
    lasting = _lasting(graph, variables)
    for position, (tensor, variable) in enumerate(zip(graph.all_inputs, variables, strict=True)):
        spec = tensor.spec if variable is None else variable
        if not has_memory_type(spec.dtype) or not spec.is_static:
            raise NotCompilableError(f"the input {tensor.node.name} is {spec}")
        stored = program.slot(Stored(spec.dtype, cast(Shape, spec.dims), tensor.node.name))
        inputs.append((position, stored))
        if id(tensor) in lasting:
            lowering.lasting[id(stored)] = position
        given.append(stored if variable is None else Cell(stored, tensor.node.name))
    values = lowering.lower(graph, given)
    cells = [x for x in given if isinstance(x, Cell)]
    outputs = []
    for i, (tensor, value) in enumerate(zip(graph.outputs, values, strict=True)):
        if tensor.dtype in (dtypes.resource, dtypes.variant):
            raise NotCompilableError(f"output {i} is a {tensor.dtype.name}")
        shape = static_shape(tensor.node, tensor.index)
        out = program.slot(Stored(tensor.dtype, shape, f"output {i}"))
        outputs.append(out)
        lowering.block.outputs.append(Write(out, value))
    lowering.flush(cells)
    written_tensors = {id(t) for t in graph.effects.writes}
    written = frozenset(i for i, t in enumerate(graph.all_inputs) if id(t) in written_tensors)
    variable_positions = frozenset(i for i, v in enumerate(variables) if v is not None)
    program.finish(lowering.block)
    return Translation(
        program,
        inputs,
        lowering.stripes,
        lowering.constants,
        lowering.constant_slots,
        variable_positions,
        written,
        outputs,
    )


def _lasting(graph: Graph, variables: Sequence[TensorSpec | None]) -> set[int]:
    """The inputs (by id) that are the same from call to call, as a rule.

    Captured tensors, and variables that are only read.
    """
    captured = {id(inner) for outer, inner in graph.captures if isinstance(outer, EagerTensor)}
    read = {id(x) for x, v in zip(graph.all_inputs, variables, strict=True) if v is not None}
    return (captured | read) - {id(t) for t in graph.effects.writes}
