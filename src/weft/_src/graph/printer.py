"""Graphs as text, for people and for tests: one node per line, nested graphs indented."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.dtypes import DType
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import SymbolicTensor
from weft._src.graph import ir


def type_text(spec: TensorSpec) -> str:
    """A type, like `float32[?, 3]`; `float32[...]` without a known rank."""
    if spec.dims is None:
        return f"{spec.dtype.name}[...]"
    sizes = ", ".join("?" if isinstance(d, Dim) else str(d) for d in spec.dims)
    return f"{spec.dtype.name}[{sizes}]"


def _tensor_text(tensor: SymbolicTensor) -> str:
    return tensor.node.name if tensor.index == 0 else tensor.name


def _attr_text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return np.array2string(value, threshold=6, edgeitems=2, separator=", ").replace("\n", "")
    if isinstance(value, DType):
        return value.name
    if isinstance(value, ir.Graph):
        return f"<{value.name}>"
    if isinstance(value, tuple):
        inner = ", ".join(_attr_text(item) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, Dim):
        return "?"
    return repr(value) if not callable(value) else getattr(value, "__name__", repr(value))


def describe_node(node: ir.Node) -> str:
    """One line: `add = AddV2(x, y) : float32[3]  (file.py:12)`."""
    return f"{node_text(node)}  ({node.location.short})"


def node_text(node: ir.Node) -> str:
    """One line without the place in the user's code."""
    inputs = [_tensor_text(x) for x in node.inputs]
    attrs = [f"{k}={_attr_text(v)}" for k, v in node.attrs.items()]
    types = ", ".join(type_text(out.spec) for out in node.outputs) or "()"
    return f"{node.name} = {node.op.name}({', '.join(inputs + attrs)}) : {types}"


def graph_text(graph: ir.Graph, *, locations: bool = False, indent: str = "") -> str:
    """The whole graph as text."""
    parameters = ", ".join(f"{_tensor_text(x)}: {type_text(x.spec)}" for x in graph.all_inputs)
    lines = [f"{indent}graph {graph.name}({parameters}):"]
    for node in graph.body:
        text = describe_node(node) if locations else node_text(node)
        lines.append(f"{indent}  {text}")
        for key, nested in node.nested:
            lines.append(f"{indent}    {key}:")
            lines.append(graph_text(nested, locations=locations, indent=indent + "      "))
    outputs = ", ".join(_tensor_text(t) for t in graph.outputs)
    lines.append(f"{indent}  return {outputs}" if outputs else f"{indent}  return")
    return "\n".join(lines)


def graph_as_data(graph: ir.Graph) -> dict[str, Any]:
    """The whole graph as plain lists, dicts and texts, for other programs."""
    return {
        "name": graph.name,
        "inputs": [{"name": _tensor_text(x), "type": type_text(x.spec)} for x in graph.all_inputs],
        "nodes": [
            {
                "name": node.name,
                "op": node.op.name,
                "inputs": [_tensor_text(x) for x in node.inputs],
                "attributes": {k: _attr_text(v) for k, v in node.attrs.items()},
                "types": [type_text(out.spec) for out in node.outputs],
                "file": node.location.file,
                "line": node.location.line,
                "graphs": {key: graph_as_data(nested) for key, nested in node.nested},
            }
            for node in graph.body
        ],
        "outputs": [_tensor_text(t) for t in graph.outputs],
    }
