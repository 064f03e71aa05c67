"""Graphs in the form other tools read: `as_graph_def()` with TensorFlow's node names and ops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from weft._src.core.dtypes import DType
from weft._src.core.shapes import Dim
from weft._src.core.tensor import SymbolicTensor
from weft._src.graph import ir
from weft._src.graph.tensor_proto import make_tensor_proto
from weft._src.messages.graphs import (
    AttrValue,
    FunctionDef,
    FunctionDefLibrary,
    GraphDef,
    ListValue,
    NameAttrList,
    NodeDef,
    OpDef,
    VersionDef,
)
from weft._src.messages.tensors import shape_message

_PRODUCER = 1882  # the version of GraphDef that TensorFlow 2 began with


def as_graph_def(graph: ir.Graph) -> GraphDef:
    """The graph in the shape of TensorFlow's GraphDef."""
    names: dict[int, str] = {}
    functions = list(_nested(graph, names))
    return GraphDef(
        node=[_node_def(node, names) for node in graph.nodes],
        library=FunctionDefLibrary(function=functions),
        versions=VersionDef(producer=_PRODUCER),
    )


def _nested(graph: ir.Graph, names: dict[int, str]) -> Iterable[FunctionDef]:
    """All nested graphs, the innermost first; `names` gets what nodes call them."""
    for node in graph.nodes:
        for key, nested in node.nested:
            yield from _nested(nested, names)
            tag = "".join(c if c.isalnum() else "_" for c in key).strip("_")
            name = names[id(nested)] = f"{node.name}_{tag}_{len(names)}"
            nodes = [_node_def(inner, names) for inner in nested.nodes]
            yield FunctionDef(signature=OpDef(name=name), node_def=nodes)


def _input_name(tensor: SymbolicTensor) -> str:
    return tensor.node.name if tensor.index == 0 else tensor.name


def _node_def(node: ir.Node, names: dict[int, str]) -> NodeDef:
    attrs = {key: _attr(value, names) for key, value in node.attrs.items()}
    if node.op.name == "Const":
        attrs["dtype"] = AttrValue(type=node.outputs[0].dtype.as_datatype_enum)
    elif node.inputs and "T" not in attrs:
        attrs["T"] = AttrValue(type=node.inputs[0].dtype.as_datatype_enum)
    if node.op.name == "Placeholder":
        attrs["shape"] = AttrValue(shape=shape_message(_sizes(node.outputs[0].spec.dims)))
    inputs = [_input_name(x) for x in node.inputs]
    return NodeDef(name=node.name, op=node.op.name, input=inputs, attr=attrs)


def _sizes(dims: Any) -> list[int] | None:
    """Sizes with -1 for unknown ones; None for an unknown rank."""
    return None if dims is None else [-1 if isinstance(d, Dim) else d for d in dims]


def _attr(value: Any, names: dict[int, str]) -> AttrValue:
    if isinstance(value, (tuple, list)):
        return AttrValue(list=_list(value, names))
    kind, content = _simple(value, names)
    return AttrValue(**{kind: content})


def _list(values: Sequence[Any], names: dict[int, str]) -> ListValue:
    """Lists hold things of the kinds below; lists in lists are text."""
    parts: dict[str, list[Any]] = {}
    for value in values:
        kind, content = _simple(value, names)
        parts.setdefault(kind, []).append(content)
    return ListValue(**parts)


def _simple(value: Any, names: dict[int, str]) -> tuple[str, Any]:
    """Which field of an attribute holds a value, and what it holds."""
    if isinstance(value, bool):
        return "b", value
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return "i", value
    if isinstance(value, float):
        return "f", value
    if isinstance(value, str):
        return "s", value.encode()
    if isinstance(value, DType):
        return "type", value.as_datatype_enum
    if isinstance(value, np.ndarray):
        return "tensor", make_tensor_proto(value)
    if isinstance(value, ir.Graph):
        return "func", NameAttrList(name=names[id(value)])
    return "s", repr(value).encode()
