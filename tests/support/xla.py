"""The op tables on XLA: which rows are run, and how their graphs are compared."""

from __future__ import annotations

import functools
import importlib.util
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import weft as tf
from support.op_cases import Case
from weft._src.core import dtypes
from weft._src.core.xla_rules import XlaRule
from weft._src.execution import reference
from weft._src.execution.xla.lowering import TYPES
from weft._src.execution.xla.plan import Program
from weft._src.graph.ir import Graph, Node
from weft._src.graph.tracing import trace
from weft._src.ops.registry import FOLDED

TABLES = Path(__file__).parents[1] / "ops"
MOST = 1  # rows for each op and dtypes of its inputs; of ops with one kind, two


@dataclass(frozen=True)
class Row:
    """A graph of a row: its function or the gradients of it, and the values it is called with."""

    name: str
    graph: Graph
    values: tuple[Any, ...]


@functools.cache
def table_names() -> list[str]:
    """The tables of `tests/ops` that have rows."""
    return [p.relative_to(TABLES).as_posix() for p in sorted(TABLES.rglob("test_*.py"))]


@functools.cache
def cases_of(table: str) -> list[Case]:
    """The rows of a table, wherever they stand in its file."""
    path = TABLES / table
    spec = importlib.util.spec_from_file_location(f"table_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[int, Case] = {}
    for value in vars(module).values():
        marks = getattr(value, "pytestmark", [])
        for mark in marks if isinstance(marks, list) else []:
            value = [value, *mark.args[1:]]
        found.update({id(case): case for case in _cases_in(value)})
    return list(found.values())


def _cases_in(value: Any) -> Iterator[Case]:
    if isinstance(value, Case):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _cases_in(getattr(item, "values", item))


def rows_of(table: str) -> Iterator[Row]:
    """The graphs of a table, with known sizes: functions, and gradients where there are some."""
    for case in cases_of(table):
        tensors = [tf.convert_to_tensor(x) for x in case.arrays()]
        yield _row(case, "", case.call, tensors)
        if case.grad:
            yield _row(case, " gradients", functools.partial(_gradients, case), tensors)


def _gradients(case: Case, *xs: Any) -> list[Any]:
    wanted = [x for x in xs if x.dtype.is_differentiable]
    with tf.GradientTape() as tape:
        tape.watch(wanted)
        y = case.call(*xs)
    return [tf.convert_to_tensor(g) for g in tape.gradient(y, wanted) if g is not None]


def _row(case: Case, what: str, fn: Any, tensors: list[Any]) -> Row:
    """With integers that decide about shapes as constants, all else as arguments."""
    graph = _traced(fn, tensors)
    if not _sizes_are_known(graph):
        fixed = {i: t for i, t in enumerate(tensors) if t.dtype.is_integer}
        rest = [t for i, t in enumerate(tensors) if i not in fixed]

        def with_constants(*given: Any) -> Any:
            others = iter(given)
            return fn(
                *[_constant(fixed[i]) if i in fixed else next(others) for i in range(len(tensors))]
            )

        graph, tensors = _traced(with_constants, rest), rest
    values = [t._value for t in (*tensors, *[outer for outer, _ in graph.captures])]
    return Row(f"{case.id}{what}", graph, tuple(values))


def _constant(tensor: Any) -> Any:
    return tf.constant(tensor.numpy(), tensor.dtype)


def _traced(fn: Any, tensors: list[Any]) -> Graph:
    return trace(fn, [tf.TensorSpec(t.shape, t.dtype) for t in tensors])


def _sizes_are_known(graph: Graph) -> bool:
    """Whether no argument of the graph decides about a shape."""
    known = {id(out) for node in graph.nodes if node.is_const for out in node.outputs}
    for node in graph.body:
        if node.op.measures is not None or all(id(x) in known for x in node.inputs):
            known |= {id(out) for out in node.outputs}
        elif any(id(x) not in known for i, x in enumerate(node.inputs) if node.op.arg(i).is_shape):
            return False
    return True


# --- which rows ---------------------------------------------------------------------------------


def nodes_of(graph: Graph) -> Iterator[Node]:
    """All nodes, those of nested graphs included."""
    for node in graph.body:
        yield node
        for _, inner in node.nested:
            yield from nodes_of(inner)


def has_form(graph: Graph) -> bool:
    """Whether every op of a graph has a form in XLA, for these dtypes and shapes."""
    for node in nodes_of(graph):
        if not isinstance(node.op.xla, XlaRule) and node.op.xla is not FOLDED:
            return False
        for tensor in (*node.inputs, *node.outputs):
            if tensor.dtype not in TYPES and tensor.dtype not in (dtypes.resource, dtypes.variant):
                return False
    return all(t.dtype in TYPES and t.spec.is_static for t in (*graph.inputs, *graph.outputs))


def kinds_of(graph: Graph) -> set[tuple[Any, ...]]:
    """The ops of a graph with the dtypes they are given."""
    return {
        (node.op.name, *[x.dtype.name for x in node.inputs])
        for node in nodes_of(graph)
        if not node.is_const
    }


def sample(rows: Iterator[Row], met: Counter[tuple[Any, ...]]) -> Iterator[Row]:
    """Rows with something in them that was not run so often yet."""
    for row in rows:
        if not has_form(row.graph):
            continue
        kinds = kinds_of(row.graph)
        if any(met[kind] < MOST for kind in kinds):
            met.update(kinds)
            yield row


# --- running ------------------------------------------------------------------------------------


def compare(row: Row) -> None:
    """Holds a program of XLA against the reference interpreter."""
    expected = reference.run(row.graph, row.values)

    def fallback(*values: Any) -> Any:
        raise AssertionError(f"{row.name}: a check of XLA failed where NumPy finds nothing wrong")

    got = Program(row.graph, fallback)(*row.values)
    assert len(got) == len(expected)
    for value, wanted in zip(got, expected, strict=True):
        assert value.dtype == wanted.dtype, row.name
        assert value.shape == wanted.shape, row.name
        close(value, wanted, row.name)


def close(value: Any, wanted: Any, what: str) -> None:
    """Equal for whole numbers, within rounding for the others."""
    kind = np.dtype(wanted.dtype).kind
    if kind in "iub":
        np.testing.assert_array_equal(value, wanted, err_msg=what)
        return
    tolerance = {2: 2e-2, 4: 2e-4, 8: 2e-4 if kind == "c" else 1e-7, 16: 1e-7}
    rtol = tolerance[np.dtype(wanted.dtype).itemsize]
    wide = np.complex128 if kind == "c" else np.float64
    scale = np.abs(wanted.astype(wide)[np.isfinite(wanted.astype(wide))]).max(initial=1e-3)
    np.testing.assert_allclose(
        value.astype(wide), wanted.astype(wide), rtol, rtol * scale, err_msg=what
    )
