"""Calls that work, taken from the tables of the tests: what fuzzers of ops and functions vary.

functions()   one call of every public function, and all rows of the op tables
ops()         every op with the inputs that it gets in these calls and in their gradients
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import weft as tf
from fuzzing import stateful
from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.execution.reference import run_node
from weft._src.graph.ir import Graph
from weft._src.graph.tracing import trace
from weft._src.ops.registry import STRUCTURED, Op, all_ops

TESTS = Path(__file__).parents[1] / "tests"
_MOST_CALLS = 12  # of one op
_MOST_ELEMENTS = 2_000  # of an input: larger ones only take time


# What is a truth value is wider eagerly, as in TensorFlow.
_LEFT_OUT = frozenset({"cond", "case", "while_loop", "Assert", "debugging.Assert"})
# Of no elements, their functions are only called while tracing: they have to take what they get.
_OF_FUNCTIONS = frozenset({"foldl", "foldr", "map_fn", "scan"})


@dataclass(frozen=True, eq=False)
class Call:
    """A function of tensors, arrays it works with, and what is known about it."""

    name: str
    function: Callable[..., Any]
    arrays: tuple[Any, ...]
    text: str  # of the call, in a program that shows a failure
    judge: Callable[..., Any] | None = None  # the same of arrays, by NumPy or SciPy
    op: Op | None = None
    groups: tuple[int, ...] = ()  # of each array: those with the same number share their dtype

    def allowed(self, group: int) -> frozenset[DType]:
        """The dtypes that the arrays of a group may have."""
        if self.name in _OF_FUNCTIONS:
            return dtypes.NUMERIC | {dtypes.bool_}
        if self.op is None:
            return dtypes.DATA - {dtypes.string}
        return self.op.arg(self.groups.index(group)).allowed


def _load(path: Path) -> Any:
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    spec = importlib.util.spec_from_file_location(f"corpus_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _rows() -> Iterator[Call]:
    """The rows of the op tables."""
    for path in sorted((TESTS / "ops").rglob("test_*.py")):
        module = _load(path)
        for case in getattr(module, "CASES", ()):
            if not hasattr(case, "arrays"):
                continue
            text = f"corpus.named({case.id!r}).function"
            arrays = tuple(case.arrays())
            groups = tuple(_groups_by_dtype(arrays))
            yield Call(case.id, case.call, arrays, text, case.expect, None, groups)


def _groups_by_dtype(arrays: tuple[Any, ...]) -> list[int]:
    kinds = list(dict.fromkeys(a.dtype for a in arrays))
    return [kinds.index(a.dtype) for a in arrays]


def _public() -> Iterator[Call]:
    """One call of every public function that takes arrays."""
    module = _load(TESTS / "robustness" / "test_bad_input.py")
    for name, arguments in module.VALID.items():
        held = {k: v for k, v in arguments.items() if isinstance(v, (np.ndarray, np.generic))}
        arrays = tuple([np.asarray(v) for v in held.values()])
        if name in module.DRAWS | module.NOT_TRACED | _LEFT_OUT or not arrays:
            continue
        function = functools.partial(
            _called, module._call, module.FUNCTIONS[name], arguments, tuple(held)
        )
        text = f"corpus.named({name!r}).function"
        yield Call(name, function, arrays, text, None, None, tuple(_groups_by_dtype(arrays)))


def _called(call: Any, function: Any, arguments: Any, names: tuple[str, ...], *xs: Any) -> Any:
    return call(function, {**arguments, **dict(zip(names, xs, strict=True))})


@functools.cache
def functions() -> tuple[Call, ...]:
    """Public functions with arguments that work."""
    return (*_public(), *_rows())


def named(name: str) -> Call:
    """The call of a name, as reports give it."""
    return next(call for call in functions() if call.name == name)


# --- ops ----------------------------------------------------------------------------------------


@functools.cache
def ops() -> dict[str, tuple[Call, ...]]:
    """Calls of every op that works on plain arrays, by its name."""
    found: dict[str, dict[Any, Call]] = {op.name: {} for op in all_ops()}
    for call in functions():
        for graph, values in _graphs(call):
            _record(graph, values, found)
    for call in _stateful():
        found.setdefault(call.name, {})[call.text] = call
    return {name: tuple(calls.values()) for name, calls in found.items() if calls}


def _stateful() -> Iterator[Call]:
    for name, function, arrays in stateful.rows():
        text = f"corpus.ops()[{name!r}][-1].function"
        yield Call(name, function, arrays, text, None, None, tuple(_groups_by_dtype(arrays)))


def _graphs(call: Call) -> Iterator[tuple[Graph, list[Any]]]:
    """The graph of a call, and that of its gradient, with values for their inputs."""
    tensors = [tf.constant(a) for a in call.arrays]
    specs = [tf.TensorSpec(t.shape, t.dtype) for t in tensors]
    floating = [i for i, t in enumerate(tensors) if t.dtype in dtypes.FLOATING]

    def gradient(*xs: Any) -> Any:
        watched = [xs[i] for i in floating]
        with tf.GradientTape() as tape:
            tape.watch(watched)
            y = call.function(*xs)
        found = tape.gradient(y, watched)
        return [tf.convert_to_tensor(g) for g in found if g is not None]

    for function in (call.function, gradient) if floating else (call.function,):
        try:
            graph = trace(function, specs)
        except (TypeError, ValueError, tf.errors.OpError, LookupError, NotImplementedError):
            continue  # no gradient, or something has to be known while tracing
        yield graph, [t._value for t in (*tensors, *[outer for outer, _ in graph.captures])]


def _record(graph: Graph, values: list[Any], found: dict[str, dict[Any, Call]]) -> None:
    known = dict(zip(map(id, graph.all_inputs), values, strict=True))
    for node in graph.nodes:
        if node.op.name == "Placeholder":
            continue
        inputs = [known[id(x)] for x in node.inputs]
        try:
            results = run_node(node, inputs)
        except tf.errors.OpError:
            return
        if all(isinstance(value, np.ndarray) for value in results):
            _note(node.op, inputs, node.attrs, found.setdefault(node.op.name, {}))
        for tensor, value in zip(node.outputs, results, strict=True):
            known[id(tensor)] = value


def _note(op: Op, inputs: list[Any], attrs: dict[str, Any], calls: dict[Any, Call]) -> None:
    if len(calls) >= _MOST_CALLS or op.host_io or op.kernel is STRUCTURED or not inputs:
        return
    if not all(isinstance(v, np.ndarray) and v.size <= _MOST_ELEMENTS for v in inputs):
        return
    if any(isinstance(v, (np.ndarray, Graph)) for v in attrs.values()):
        return
    key = (*[(v.dtype, v.shape) for v in inputs], repr(attrs))
    given = ", ".join(f"{k}={v!r}" for k, v in attrs.items())
    groups = tuple(_groups(op, inputs))
    calls[key] = Call(
        op.name,
        functools.partial(_run_op, op, attrs),
        tuple([v.copy() for v in inputs]),
        f"functools.partial(find_op({op.name!r}), {given})",
        None,
        op,
        groups,
    )


def _groups(op: Op, inputs: list[Any]) -> list[int]:
    """Of lists of any dtypes (indices and data, say) those of one dtype belong together."""
    by_dtype = _groups_by_dtype(tuple(inputs))
    return [
        -1 - by_dtype[i] if op.arg(i).group < 0 else op.arg(i).group for i in range(len(inputs))
    ]


def _run_op(op: Op, attrs: dict[str, Any], *inputs: Any) -> Any:
    return op(*inputs, **attrs)
