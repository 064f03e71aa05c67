"""Tracing a Python function for given types: the graph, and what came out of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from weft._src import nest
from weft._src.autograph import met
from weft._src.autograph.conversion import converted
from weft._src.autograph.operators import staging
from weft._src.core.context import building, creating_variables, state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.location import beginning_of_trace
from weft._src.core.tensor import SymbolicTensor
from weft._src.errors import InaccessibleTensorError
from weft._src.function.signature import Parameters
from weft._src.function.trace_types import MakeInput, NestType, TraceType
from weft._src.function.user_errors import user_code
from weft._src.graph.ir import Graph
from weft._src.graph.names import valid_name
from weft._src.ops.arrays.source import identity_op

# One lock for all functions: two that call each other, traced by two threads, must not wait for
# each other. Tracing is Python and holds the interpreter's lock anyway.
lock = threading.RLock()


def _new_lock() -> None:
    """After a fork no other thread is left that could release the old one."""
    global lock  # noqa: PLW0603
    lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


def trace(
    python_function: Callable[..., Any],
    parameters: Parameters,
    types: Sequence[TraceType],
    policy: Any,
    *,
    autograph: bool,
) -> Graph:
    """The graph of the function called with placeholders of the given types."""
    graph = Graph(parameters.name, outer=state.graph, is_function=True)
    if autograph:
        python_function = converted(python_function)
    else:
        met.note_unconverted(python_function)
    with (
        building(graph),
        creating_variables(policy),
        staging.fresh(),
        user_code(),
        beginning_of_trace(),
    ):
        make = MakeInput(lambda spec, name: graph.add_input(spec, valid_name(name)))
        values = [
            trace_type.placeholders(make, trace_type.leaf_names(name))
            if collects and isinstance(trace_type, NestType)
            else trace_type.placeholder(make, name)
            for trace_type, name, collects in zip(
                types, parameters.input_names, parameters.collect, strict=True
            )
        ]
        graph.handles_of_arguments = make.handles
        before = [_copy_containers(value) for value in values]
        args, kwargs = parameters.spread(values)
        result = python_function(*args, **kwargs)
        _check_unchanged(parameters, before, values)
        _set_outputs(graph, result, parameters.name)
    return graph


def _copy_containers(value: Any) -> Any:
    return nest.map_structure(lambda leaf: leaf, value)


def _check_unchanged(parameters: Parameters, before: list[Any], after: list[Any]) -> None:
    changed = [
        name for name, a, b in zip(parameters.names, before, after, strict=True) if not _same(a, b)
    ]
    if changed:
        raise ValueError(
            f"{parameters.name}{parameters.signature} must not change its arguments, because the "
            f"graph would not: it changed {', '.join(changed)}. Change a copy instead."
        )


def _same(a: Any, b: Any) -> bool:
    try:
        nest.assert_same_structure(a, b)
    except (TypeError, ValueError):
        return False
    return all(x is y for x, y in zip(nest.flatten(a), nest.flatten(b), strict=True))


def _set_outputs(graph: Graph, result: Any, name: str) -> None:
    def output(leaf: Any) -> Any:
        if leaf is None:
            return None
        try:
            tensor = identity_op(convert_to_tensor(leaf))
        except InaccessibleTensorError:
            raise  # a tensor, but of another graph
        except (TypeError, ValueError) as e:
            raise TypeError(
                f"{name} must return tensors, numbers, strings or None (in any nest), got "
                f"{leaf!r} of type {type(leaf).__name__}. {e}"
            ) from e
        graph.outputs.append(tensor)
        return tensor

    graph.structured_outputs = nest.map_structure(output, result, expand_composites=True)


def captures_of_enclosing_trace(graph: Graph) -> bool:
    """Whether the graph uses tensors of the function in which it was traced."""
    return any(isinstance(outer, SymbolicTensor) for outer, _ in graph.captures)
