"""Native code beside the reference interpreter: the same results, or the node that differs.

Whole graphs are compared first. If they disagree every node is compiled alone and run on the
reference's own inputs, so that the first wrong one is found and not what follows from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._src.core.cells import VariableCell
from weft._src.core.dtypes import SMALL_FLOATING
from weft._src.core.stack import Stack
from weft._src.execution import reference
from weft._src.execution.native.driver import compile_graph, types_of
from weft._src.execution.native.front.segments import calls_back
from weft._src.execution.native.front.specialize import specialize
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.graph.ir import Graph, Node

# Relative to the largest element compared; native sums and functions round in another order.
_TOLERANCES = {"float16": 2e-2, "bfloat16": 8e-2, "float32": 2e-4, "float64": 1e-9}
_TOLERANCES |= {dtype.name: 0.0 for dtype in SMALL_FLOATING}  # they are only moved


class TierDifferenceError(AssertionError):
    """Native code and the reference interpreter disagree."""


def check(graph: Graph, values: Sequence[Any], compiler: Any = compile_graph) -> bool:
    """Runs both on copies; False if the graph cannot be compiled. Raises where they differ.

    `compiler(graph, values, whole=...)` makes what is held against the reference: callable, and
    None for what it refuses.

    Nor is a graph compared that acts outside, which must not happen twice: Python callbacks,
    iterators that are advanced, generators.
    """
    if _acts_outside(graph, values):
        return False
    try:
        special = specialize(graph, *types_of(graph, values))
        compiled = compiler(graph, values, whole=False)
    except NotCompilableError:
        return False
    wanted, wanted_state = _on_copies(lambda vs: reference.run(special, vs), values)
    got, got_state = _on_copies(lambda vs: compiled(*vs), values)
    if got is None:  # a check failed, and the reference raised no error
        raise TierDifferenceError(f"{graph.name}: native code refuses what the reference runs.")
    problem = difference([*got, *got_state], [*wanted, *wanted_state], roughest(special))
    if problem is not None:
        found = first_difference(special, values, compiler)
        raise TierDifferenceError(
            f"{graph.name}: {found or f'every node agrees alone, together they differ: {problem}'}"
        )
    return True


def _acts_outside(graph: Graph, values: Sequence[Any]) -> bool:
    """Whether running a graph changes anything but variables, or asks somebody outside."""
    held = dict(zip(map(id, graph.all_inputs), values, strict=True))
    written = [held.get(id(t)) for t in graph.effects.writes]
    if any(not isinstance(value, VariableCell) for value in written):
        return True
    return any(calls_back(node) for node in graph.nodes)


def first_difference(
    graph: Graph, values: Sequence[Any], compiler: Any = compile_graph
) -> str | None:
    """The first node whose native form differs from the reference, described; None if all agree."""
    known = dict(zip(map(id, graph.all_inputs), [_copy(v) for v in values], strict=True))
    for node in graph.body:
        inputs = [known[id(x)] for x in node.inputs]
        problem = None if node.effects.host_io else _compare_node(node, inputs, compiler)
        if problem is not None:
            types = ", ".join(str(x.spec) for x in node.inputs)
            return f"{node.name} = {node.op.name}({types}) at {node.location} differs: {problem}"
        for tensor, value in zip(node.outputs, reference.run_node(node, inputs), strict=True):
            known[id(tensor)] = value
    return None


def _compare_node(node: Node, inputs: list[Any], compiler: Any) -> str | None:
    alone = Graph(node.name.replace("/", "_"))
    given = [alone.add_input(x.spec, x.node.name) for x in node.inputs]
    made = alone.add_copy(node, tuple(given))
    alone.outputs = list(made.outputs)
    try:
        compiled = compiler(alone, inputs, whole=True)
    except NotCompilableError:
        return None
    wanted, wanted_state = _on_copies(lambda vs: reference.run(alone, vs), inputs)
    got, got_state = _on_copies(lambda vs: compiled(*vs), inputs)
    if got is None:
        return "native code refuses what the reference runs"
    return difference([*got, *got_state], [*wanted, *wanted_state], roughest(alone))


def _copy(value: Any) -> Any:
    if not isinstance(value, VariableCell):
        return value
    return VariableCell(value.data, value.name)


def _on_copies(run: Callable[[list[Any]], Any], values: Sequence[Any]) -> tuple[Any, list[Any]]:
    """What comes out, and what the variables hold then; the variables themselves stay."""
    copies = [_copy(v) for v in values]
    out = run(copies)
    return out, [v.data for v in copies if isinstance(v, VariableCell)]


def roughest(graph: Graph) -> float:
    """The tolerance of the least precise floats of a graph: they may be cast to better ones."""
    inner = [roughest(body) for node in graph.nodes for _, body in node.nested]
    used = [t.dtype.name for node in graph.nodes for t in (*node.inputs, *node.outputs)]
    return max([_TOLERANCES.get(name, 0.0) for name in used] + inner, default=0.0)


def difference(got: Sequence[Any], wanted: Sequence[Any], tolerance: float) -> str | None:
    """The first output that is not what is wanted, described; None if all are."""
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if isinstance(a, Stack) and isinstance(b, Stack):
            problem = _stack_difference(a, b, tolerance)
        else:
            problem = _array_difference(np.asarray(a), np.asarray(b), tolerance)
        if problem is not None:
            return f"output {i}: {problem}"
    return None


def _stack_difference(got: Stack, wanted: Stack, tolerance: float) -> str | None:
    """Element by element; elements may be stacks themselves."""
    if got.length != wanted.length or list(got.written()) != list(wanted.written()):
        return f"native {got}, reference {wanted}"
    rows = [[_element(s.read(i)) for i in s.written()] for s in (got, wanted)]
    return difference(rows[0], rows[1], tolerance)


def _element(row: Any) -> Any:
    return row.item() if row.dtype == object else row


def _array_difference(got: Any, wanted: Any, tolerance: float) -> str | None:
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return f"native {got.dtype}{got.shape}, reference {wanted.dtype}{wanted.shape}"
    if got.dtype.name not in _TOLERANCES:
        return None if np.array_equal(got, wanted) else f"native {got}, reference {wanted}"
    a, b = got.astype(np.float64), wanted.astype(np.float64)
    finite = np.isfinite(b)
    scale = np.abs(b[finite]).max(initial=1.0)
    if np.allclose(a, b, rtol=tolerance, atol=tolerance * min(scale, 1e3) / 10, equal_nan=True):
        return None
    return f"native {got}, reference {wanted}"
