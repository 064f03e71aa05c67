"""From a Python function to a graph: run it once with symbolic tensors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from weft._src import nest
from weft._src.core.context import building
from weft._src.core.convert import convert_to_tensor
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import SymbolicTensor
from weft._src.graph.ir import Graph
from weft._src.graph.names import valid_name
from weft._src.ops.arrays.source import identity_op


def trace(fn: Callable[..., Any], specs: Sequence[Any], name: str | None = None) -> Graph:
    """The graph of `fn` called with tensors of the given (nested) specs.

    The graph's outputs are the flattened results of `fn`; `graph.structured_outputs` keeps their
    structure with the output tensors in it.
    """
    graph = Graph(name or str(getattr(fn, "__name__", "graph")))
    with building(graph):
        arguments = [
            _placeholders(graph, spec, parameter)
            for spec, parameter in zip(specs, _parameter_names(fn, len(specs)), strict=True)
        ]
        result = fn(*arguments)
        set_outputs(graph, result, identity_op)
    return graph


def set_outputs(graph: Graph, result: Any, wrap: Callable[[Any], Any] | None = None) -> None:
    """Makes the tensors in a nest of results the graph's outputs. None stays None."""

    def output(value: Any) -> Any:
        if value is None:
            return None
        tensor = convert_to_tensor(value)
        if wrap is not None:
            tensor = wrap(tensor)
        elif not isinstance(tensor, SymbolicTensor) or tensor.graph is not graph:
            tensor = graph.capture(tensor)
        graph.outputs.append(tensor)
        return tensor

    structure = nest.map_structure(output, result, expand_composites=True)
    graph.structured_outputs = structure


def _placeholders(graph: Graph, spec: Any, parameter: str) -> Any:
    leaves = nest.flatten(spec)
    names = [leaf.name or parameter for leaf in leaves if isinstance(leaf, TensorSpec)]
    tensors = [
        graph.add_input(leaf, valid_name(name)) for leaf, name in zip(leaves, names, strict=True)
    ]
    return nest.pack_sequence_as(spec, tensors)


def _parameter_names(fn: Callable[..., Any], count: int) -> list[str]:
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "arg")
    return [*names[:count], *[f"{rest}_{i}" for i in range(count - len(names[:count]))]]
