"""Graphs of which XLA can run parts: programs, and NumPy between them.

Which nodes a program can have is tried, node by node; the order of effects and data is kept by the
same rules as for machine code (`native.front.segments`).
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax

from weft._src.core import dtypes
from weft._src.core.cells import VariableCell
from weft._src.core.specs import TensorSpec
from weft._src.execution.native.front.segments import Splitter, Variables
from weft._src.execution.native.front.specialize import specialize
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.execution.xla.lowering import TYPES, Cell, Lowering, check_types
from weft._src.execution.xla.plan import Program
from weft._src.execution.xla.runtime import wide_types
from weft._src.graph.ir import Graph, Node
from weft._src.graph.passes import optimize


class XlaSplitter(Splitter):
    """Rewrites a graph into programs of XLA and what is left."""

    def __init__(self) -> None:
        super().__init__(_program, least_nodes=1)

    def _native_nodes(self, graph: Graph, variables: Variables) -> tuple[set[int], set[int]]:
        able: set[int] = set()
        checked: set[int] = set()
        keys = itertools.count()
        for node in graph.body:
            if node.is_const:
                continue
            try:
                if _tried(node, variables, keys):
                    checked.add(id(node))
                able.add(id(node))
            except NotCompilableError as reason:
                self.left_out.setdefault(node.op, str(reason))
        return able, checked


def _program(body: Graph, variables: list[TensorSpec | None]) -> Callable[..., Any]:
    return Program(body, NumpyPlan(body))


def _tried(node: Node, variables: Variables, keys: Any) -> bool:
    """Lowers a node alone; whether it is checked. NotCompilableError if XLA has no form of it."""
    check_types(node)
    if any(t.dtype is dtypes.variant for t in (*node.inputs, *node.outputs)):
        raise NotCompilableError("a list that others use, too", node)
    lowering = Lowering({})
    given: list[Any] = []
    shapes: list[jax.ShapeDtypeStruct] = []
    for x in node.inputs:
        held = variables.get(id(x))
        spec = x.spec if held is None else held
        if x.node.is_const:
            given.append(x.node.attrs["value"])
            continue
        if not spec.is_static or spec.dtype not in TYPES:
            raise NotCompilableError("an input has a type or shape only NumPy can handle", node)
        shapes.append(jax.ShapeDtypeStruct(spec.dims, spec.dtype.numpy_dtype))
        given.append(None if held is None else Cell(next(keys), x.node.name))
    if not all(t.spec.is_static for t in node.outputs):
        raise NotCompilableError("the shape of a result depends on data", node)

    def run(values: list[Any]) -> Any:
        rest = iter(values)
        inputs = []
        for value in given:
            if isinstance(value, Cell):
                lowering.state[value.key] = next(rest)
            inputs.append(next(rest) if value is None else value)
        lowering.lower(node, inputs)

    with wide_types():
        jax.eval_shape(run, shapes)
    return lowering.bad is not None or lowering.full is not None


class Segmented:
    """A plan of NumPy's for one set of shapes, in which segments are programs of XLA."""

    def __init__(
        self, graph: Graph, values: Sequence[Any], splitter: XlaSplitter | None = None
    ) -> None:
        started = time.perf_counter()
        self._kinds = kinds_of(values)
        specs: list[TensorSpec] = []
        variables: list[TensorSpec | None] = []
        for tensor, value in zip(graph.all_inputs, values, strict=True):
            held = _value(value) if isinstance(value, VariableCell) else None
            variables.append(None if held is None else _spec(held))
            is_array = tensor.dtype not in (dtypes.resource, dtypes.variant)
            specs.append(_spec(value) if is_array else tensor.spec)
        special = optimize(specialize(graph, specs, variables))
        known = {
            id(x): v for x, v in zip(special.all_inputs, variables, strict=True) if v is not None
        }
        splitter = splitter or XlaSplitter()
        self._plan = NumpyPlan(splitter.split(special, known))
        self.segments = splitter.segments
        self.left_out = splitter.left_out
        self.milliseconds = 1e3 * (time.perf_counter() - started)

    def fits(self, kinds: list[Any]) -> bool:
        """Whether values have the types this was made for."""
        return kinds == self._kinds

    def __call__(self, *values: Any) -> Any:
        return self._plan(*values)


def kinds_of(values: Sequence[Any]) -> list[Any]:
    """The dtypes and shapes of what a call is given."""
    found: list[Any] = [_value(v) if isinstance(v, VariableCell) else v for v in values]
    return [(v.dtype, v.shape) if hasattr(v, "dtype") else None for v in found]


def _value(cell: VariableCell) -> Any:
    """What a variable holds, wherever that is."""
    return cell.data if cell.held is None else cell.held


def _spec(value: Any) -> TensorSpec:
    return TensorSpec.of(dtypes.from_numpy(value.dtype), value.shape)
